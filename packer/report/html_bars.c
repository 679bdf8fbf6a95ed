/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_bars - draws who used how much: a line each, with a bar of energy and one of EDP. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/report/html_impl.h"

#define WIDTH 1000
#define LABEL 170  /* where the first bar begins */
#define BAR 280    /* the longest */
#define SECOND 600 /* where the second one begins */
#define LINE 26

static void put_bar(struct page *page, int x, int y, double part, unsigned colour)
{
    if (isnan(part))
        return;
    fprintf(page->out,
            "<rect class=\"track\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"14\" rx=\"3\"/>", x, y,
            BAR);
    fprintf(page->out,
            "<rect class=\"bar c%u\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"14\" rx=\"3\"/>",
            colour, x, y, fmax(part * BAR, 1.5));
}

static void put_value(struct page *page, int x, int y, const struct report_row *row,
                      const struct report_field *field, bool known)
{
    fprintf(page->out, "<text%s x=\"%d\" y=\"%d\">", known ? "" : " class=\"s\"", x, y);
    if (known)
        page_cell(page, row, field);
    else
        fputs("not known", page->out);
    fputs("</text>", page->out);
}

/* A name cut to what fits before the bars. */
static void put_label(struct page *page, const struct report_row *row,
                      const struct report_field *field, int y)
{
    char text[REPORT_CELL_MAX], name[REPORT_CELL_MAX] = "";

    report_format_cell(row, field, &page->about->terms, text);
    if (row->kind == REPORT_JOB)
        snprintf(name, sizeof(name), "%.40s %.60s", text, row->text[REPORT_JOB_NAME]);
    else
        snprintf(name, sizeof(name), "%.100s", text);
    if (strlen(name) > 24)
        strcpy(name + 22, "..");
    fprintf(page->out, "<text class=\"e\" x=\"%d\" y=\"%d\">", LABEL - 12, y);
    page_text(page->out, *name ? name : "not known");
    fputs("</text>", page->out);
}

static void put_line(struct page *page, const struct report_row *row,
                     const struct report_column *column, int y, const double most[2])
{
    double energy = report_energy_j(&row->energy[REPORT_ENERGY]), edp = row->number[REPORT_EDP];
    unsigned colour = page_colour(page, row->text[REPORT_USER], row->number[REPORT_UID]);

    fputs("<g><title>", page->out);
    for (int i = 0; i < 3; i++) {
        fputs(i ? "; " : "", page->out);
        page_text(page->out, i ? column[i].title : "");
        fputs(i ? " " : "", page->out);
        page_cell(page, row, column[i].field);
    }
    fputs("</title>", page->out);
    put_label(page, row, column[0].field, y + 11);
    put_bar(page, LABEL, y, most[0] > 0 ? energy / most[0] : energy, colour);
    put_value(page, LABEL + BAR + 10, y + 11, row, column[1].field, !isnan(energy));
    put_bar(page, SECOND, y, most[1] > 0 ? edp / most[1] : edp, colour);
    put_value(page, SECOND + BAR + 10, y + 11, row, column[2].field, !isnan(edp));
    fputs("</g>\n", page->out);
}

void page_bars(struct page *page, const char *title, const struct report_row *row, size_t n,
               size_t most, const char *label_field)
{
    struct report_column *column;
    char format[64];
    double greatest[2] = {0, 0};
    size_t columns, lines = n < most ? n : most;
    struct berth_error err;

    snprintf(format, sizeof(format), "%s,Energy,EDP", label_field);
    if (lines == 0 || report_columns_parse(format, &column, &columns, &err) < 0)
        return;
    for (size_t i = 0; i < lines; i++) {
        greatest[0] = fmax(greatest[0], report_energy_j(&row[i].energy[REPORT_ENERGY]));
        greatest[1] = fmax(greatest[1], row[i].number[REPORT_EDP]);
    }
    fprintf(page->out,
            "<section><h2>%s</h2>\n<figure><svg viewBox=\"0 0 %d %zu\" role=\"img\" "
            "aria-label=\"%s\">\n<text class=\"s\" x=\"%d\" y=\"12\">energy</text>"
            "<text class=\"s\" x=\"%d\" y=\"12\">energy-delay product</text>\n",
            title, WIDTH, 24 + lines * LINE, title, LABEL, SECOND);
    for (size_t i = 0; i < lines; i++)
        put_line(page, &row[i], column, 24 + (int)i * LINE, greatest);
    fputs("</svg>", page->out);
    if (n > lines)
        fprintf(page->out, "<figcaption>The %zu that used most, of %zu.</figcaption>", lines, n);
    fputs("</figure></section>\n", page->out);
    free(column);
}
