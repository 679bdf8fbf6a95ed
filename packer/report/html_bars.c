/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_bars - draws who used how much: a list with a bar of energy, and one with a bar of EDP. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/report/html_impl.h"

/* A list of bars. */
struct bars {
    struct report_html *page;
    const struct report_row *row; /* [n] */
    size_t n;
    const struct report_field *label, *figure;
    double most; /* of the scale */
    bool broken; /* a bar is longer than the scale */
};

void page_bar(FILE *out, double part, unsigned colour)
{
    bool over = part > 1;

    fputs("<i class=\"track\">", out);
    if (!isnan(part))
        fprintf(out, "<i class=\"c%u%s\" style=\"width:%.1f%%\"></i>", colour, over ? " over" : "",
                fmin(part, 1) * 100);
    fputs("</i>", out);
}

static double value_of(const struct bars *bars, const struct report_row *row)
{
    return bars->figure->form == REPORT_FORM_EDP ? row->number[REPORT_EDP]
                                                 : report_energy_j(&row->energy[REPORT_ENERGY]);
}

static void put_label(const struct bars *bars, const struct report_row *row)
{
    struct report_html *page = bars->page;
    char text[REPORT_CELL_MAX];

    fputs("<span>", page->out);
    report_format_cell(row, bars->label, &page->about.terms, text);
    page_text(page->out, *text ? text : "not known");
    if (row->kind == REPORT_JOB) {
        fputc(' ', page->out);
        page_text(page->out, row->text[REPORT_JOB_NAME]);
    }
    fputs("</span>", page->out);
}

static void put_line(const struct bars *bars, const struct report_row *row)
{
    struct report_html *page = bars->page;
    double value = value_of(bars, row);
    unsigned colour = page_colour(page, row->text[REPORT_USER], row->number[REPORT_UID]);

    fputs("<li class=\"bar\">", page->out);
    put_label(bars, row);
    page_bar(page->out, bars->most > 0 ? value / bars->most : value, colour);
    fputs("<b>", page->out);
    if (isnan(value))
        fputs("not known", page->out);
    else
        page_cell(page, row, bars->figure);
    fputs("</b></li>\n", page->out);
}

/* One much greater than all others is drawn broken: else these could not be told apart. */
static void find_scale(struct bars *bars, double *value)
{
    for (size_t i = 0; i < bars->n; i++)
        value[i] = value_of(bars, &bars->row[i]);
    bars->most = page_scale(value, bars->n, bars->n > 1 ? 1 - 0.5 / (double)(bars->n - 1) : 1);
    for (size_t i = 0; i < bars->n; i++)
        bars->broken |= value_of(bars, &bars->row[i]) > bars->most;
}

static void put_bars(struct bars *bars, const char *title)
{
    FILE *out = bars->page->out;
    double *value = malloc(bars->n * sizeof(*value));

    if (!value)
        return;
    find_scale(bars, value);
    fprintf(out, "<div><h3>%s</h3><ul class=\"bars\">\n", title);
    for (size_t i = 0; i < bars->n; i++)
        put_line(bars, &bars->row[i]);
    fputs("</ul>", out);
    if (bars->broken)
        fputs("<p class=\"soft\">A bar that ends in stripes is longer than drawn.</p>", out);
    fputs("</div>\n", out);
    free(value);
}

void page_bars(struct report_html *page, const char *title, const struct report_row *row,
               size_t lines, size_t n, const char *label_field)
{
    struct report_column *column;
    char format[64];
    size_t columns;
    struct berth_error err;

    snprintf(format, sizeof(format), "%s,Energy,EDP", label_field);
    if (lines == 0 || report_columns_parse(format, &column, &columns, &err) < 0)
        return;
    fprintf(page->out, "<section><h2>%s</h2>\n<div class=\"two\">\n", title);
    for (int i = 0; i < 2; i++)
        put_bars(&(struct bars){.page = page,
                                .row = row,
                                .n = lines,
                                .label = column[0].field,
                                .figure = column[1 + i].field},
                 i ? "Energy-delay product" : "Energy");
    fputs("</div>\n", page->out);
    if (n > lines)
        fprintf(page->out, "<p class=\"soft\">The %zu that used most energy, of %zu.</p>", lines,
                n);
    fputs("</section>\n", page->out);
    free(column);
}
