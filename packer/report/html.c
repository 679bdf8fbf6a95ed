/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "packer/base/file.h"
#include "packer/base/text.h"
#include "packer/report/html_impl.h"

#define BARS_MOST 15

/* ---- the head ---- */

static void put_at(FILE *out, int64_t at)
{
    time_t seconds = (time_t)at;
    struct tm tm;
    char text[64];

    if (localtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
        fputs(text, out);
}

/* Puts the cluster's name, where all are of one. */
static void put_cluster(struct report_html *page, const char *before)
{
    if (!*page->grand.text[REPORT_CLUSTER])
        return;
    fputs(before, page->out);
    page_text(page->out, page->grand.text[REPORT_CLUSTER]);
}

static void put_head(struct report_html *page)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<meta name=\"generator\" content=\"berth " PACKAGE_VERSION "\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n"
          "<title>berth: what steps cost",
          page->out);
    put_cluster(page, ", ");
    fprintf(page->out,
            "</title>\n<style>\n%s</style></head>\n<body><main>\n"
            "<header><h1>What steps cost</h1>\n<p class=\"soft\">",
            page_style);
    put_cluster(page, "Cluster ");
    fputs(*page->grand.text[REPORT_CLUSTER] ? ": steps that ran " : "Steps that ran ", page->out);
    if (page->about.since > 0) {
        fputs("from ", page->out);
        put_at(page->out, page->about.since);
    }
    fputs(" until ", page->out);
    put_at(page->out, page->about.until);
    fputs(" and have ended.</p>\n", page->out);
    page_verdict(page);
    fputs("</header>\n", page->out);
}

static void put_card(struct report_html *page, const char *name, const char *what)
{
    struct report_column *column;
    struct berth_error err;
    char text[REPORT_CELL_MAX];
    size_t n;

    if (report_columns_parse(name, &column, &n, &err) < 0)
        return;
    fputs("<li><b>", page->out);
    if (report_format_cell(&page->grand, column->field, &page->about.terms, text))
        page_cell(page, &page->grand, column->field);
    else
        fputs("not known", page->out);
    fprintf(page->out, "</b><span>%s</span></li>\n", what);
    free(column);
}

/* Says whether the site has told what the figure needs. */
static bool is_told(const struct report_html *page, const char *name)
{
    const struct report_terms *terms = &page->about.terms;

    return !(strcmp(name, "Cost") == 0 && !report_terms_price(terms)) &&
           !(strcmp(name, "CO2") == 0 && !report_terms_co2(terms));
}

/* Was it measured whether programs took less time where berth put them? */
static bool has_gain(const struct report_html *page)
{
    return page->benefit && page->benefit->verdict.programs > 0;
}

static void put_gain(struct report_html *page)
{
    const struct benefit_verdict *verdict = page->benefit ? &page->benefit->verdict : NULL;

    if (!has_gain(page))
        return;
    fprintf(page->out,
            "<li><b>%.1f\xc2\xa0%% %s</b><span>time where berth put programs, measured (%.1f to "
            "%.1f)</span></li>\n",
            fabs(verdict->gain) * 100, verdict->gain < 0 ? "more" : "less",
            (verdict->gain < 0 ? -verdict->high : verdict->low) * 100,
            (verdict->gain < 0 ? -verdict->low : verdict->high) * 100);
}

static void put_cards(struct report_html *page)
{
    static const char *const card[][2] = {
        {"Energy", "energy"},
        {"Cost", "what it cost"},
        {"CO2", "CO2 that it stands for"},
        {"EDP", "energy-delay product of the jobs"},
        {"AvePower", "average power of a job"},
        {"Avoided", "slowdown avoided, predicted"},
        {"Jobs", "jobs"},
        {"Steps", "steps"},
        {"CoreHours", "core-hours given"},
        {"UnusedHours", "of these not used"},
        {"Metered", "step records that were metered"},
    };

    fputs("<ul class=\"cards\">\n", page->out);
    put_gain(page);
    for (size_t i = 0; i < sizeof(card) / sizeof(card[0]); i++)
        if (is_told(page, card[i][0]) && !(has_gain(page) && strcmp(card[i][0], "Avoided") == 0))
            put_card(page, card[i][0], card[i][1]);
    fputs("</ul>\n", page->out);
}

/* ---- where the figures come from ---- */

static void put_energy_note(struct report_html *page)
{
    const struct report_row *all = &page->grand;
    uint32_t metered = all->energy[REPORT_ENERGY].metered;
    const char *source = all->text[REPORT_ENERGY_SOURCE];

    if (metered == 0) {
        fputs("<li>No meter was read while these steps ran: their energy is not known.</li>\n",
              page->out);
        return;
    }
    fputs("<li>Energy: ", page->out);
    page_text(page->out, *source ? source : "of a source that was not written down");
    fputs(". A step is billed its part of what the packages and their memory used, or the whole "
          "node where nothing finer is metered.",
          page->out);
    if (*all->text[REPORT_IDLE_ENERGY]) {
        fputs(" What these take when idle is billed by the rule idle_energy = ", page->out);
        page_text(page->out, all->text[REPORT_IDLE_ENERGY]);
        fputs(".", page->out);
    }
    if (text_lists(source, "model"))
        fputs(" <strong>Some of it is a model, an estimate that the site configured.</strong>",
              page->out);
    fputs("</li>\n", page->out);
    if (metered < all->records)
        fprintf(page->out,
                "<li>Of %u of %u step records the energy is not known; sums that lack some are "
                "marked \xe2\x89\xa5.</li>\n",
                all->records - metered, all->records);
}

static void put_source(struct report_html *page, enum report_text source, const char *what,
                       const char *without)
{
    const char *text = page->grand.text[source];

    fprintf(page->out, "<li>%s: ", what);
    page_text(page->out, *text ? text : without);
    fputs(".</li>\n", page->out);
}

static void put_notes(struct report_html *page)
{
    const struct report_row *all = &page->grand;
    bool plain = all->energy[REPORT_ENERGY].metered == all->records &&
                 !text_lists(all->text[REPORT_ENERGY_SOURCE], "model");

    fprintf(page->out, "<section%s>", plain ? "" : " class=\"note\"");
    fputs("<h2>Where these figures come from</h2><ul>\n", page->out);
    put_energy_note(page);
    put_source(page, REPORT_COUNTERS_SOURCE, "Instructions, misses and memory traffic",
               "nothing was counted");
    put_source(page, REPORT_SLOWDOWN_SOURCE,
               "Slowdowns, and the slowdown avoided (predicted where Slurm put them, less "
               "predicted where they stood)",
               "none was predicted or observed");
    fputs("<li>An empty cell is a figure that nobody measured. The energy-delay product of a job "
          "is its energy times its elapsed time; of a user, the sum of his jobs'.</li>\n"
          "</ul></section>\n",
          page->out);
}

/* ---- tables ---- */

static bool is_figure(const struct report_field *field)
{
    return field->form >= REPORT_FORM_SPAN;
}

static void put_row(struct report_html *page, const struct report_row *row,
                    const struct report_column *column, size_t n)
{
    char raw[REPORT_CELL_MAX];

    fputs("<tr>", page->out);
    for (size_t i = 0; i < n; i++) {
        if (is_figure(column[i].field)) {
            report_format_raw(row, column[i].field, &page->about.terms, raw);
            fprintf(page->out, "<td class=\"n\" data-v=\"%s\"", raw);
        } else {
            fputs("<td class=\"w\"", page->out);
        }
        fprintf(page->out, " data-t=\"%s\">", column[i].title);
        page_cell(page, row, column[i].field);
        fputs("</td>", page->out);
    }
    fputs("</tr>\n", page->out);
}

/* Puts a table of the first `shown` of n rows. */
static void put_table(struct report_html *page, const char *title, const char *format,
                      const struct report_row *row, size_t shown, size_t rows,
                      const struct report_row *total)
{
    struct report_column *column;
    struct berth_error err;
    char all[512];
    size_t n;

    snprintf(all, sizeof(all), "%s%s%s", format,
             page->about.fields && *page->about.fields ? "," : "",
             page->about.fields ? page->about.fields : "");
    if (report_columns_parse(all, &column, &n, &err) < 0)
        return;
    for (size_t i = 0; i < n; i++)
        if (column[i].field->form == REPORT_FORM_GROUP)
            column[i].title = "User";
    fprintf(page->out, "<section class=\"long\"><h2>%s</h2>\n", title);
    if (shown < rows)
        fprintf(page->out,
                "<p class=\"soft\">The %zu that used most energy, of %zu; --csv has all.</p>\n",
                shown, rows);
    fputs("<div class=\"scroll\" tabindex=\"0\"><table class=\"rows\"><thead><tr>", page->out);
    for (size_t i = 0; i < n; i++)
        fprintf(page->out, "<th scope=\"col\"%s>%s</th>",
                is_figure(column[i].field) ? " class=\"n\"" : "", column[i].title);
    fputs("</tr></thead>\n<tbody>\n", page->out);
    for (size_t i = 0; i < shown; i++)
        put_row(page, &row[i], column, n);
    fputs("</tbody>\n", page->out);
    if (total && rows > 1) {
        fputs("<tfoot>", page->out);
        put_row(page, total, column, n);
        fputs("</tfoot>", page->out);
    }
    fputs("</table></div></section>\n", page->out);
    free(column);
}

/* ---- the page ---- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void put_tables(struct report_html *page)
{
    bool price = report_terms_price(&page->about.terms);

    page->grand.group[0] = "all users";
    put_table(page, "Users",
              price ? "Group,Jobs,Steps,CoreHours,UnusedHours,Energy,Cost,AvePower,EDP,SlowdownObs,"
                      "Avoided,Metered"
                    : "Group,Jobs,Steps,CoreHours,UnusedHours,Energy,AvePower,EDP,SlowdownObs,"
                      "Avoided,Metered",
              page->user, least(page->users, PAGE_ROWS), page->users, &page->grand);
    put_table(page, "Jobs",
              price ? "JobID,JobName,User,Account,NCPUS,Elapsed,Energy,Cost,EDP,SlowdownObs,"
                      "Avoided,State"
                    : "JobID,JobName,User,Account,NCPUS,Elapsed,Energy,AvePower,EDP,SlowdownObs,"
                      "Avoided,State",
              page->job, page->kept, page->jobs, NULL);
}

static int put_page(struct report_html *page)
{
    put_head(page);
    put_cards(page);
    put_notes(page);
    page_benefit(page);
    if (page->jobs == 0)
        fputs("<section><p>No step of the kind that was asked for ended in this time.</p>"
              "</section>\n",
              page->out);
    page_bars(page, "Energy and EDP by user", page->user, least(page->users, BARS_MOST),
              page->users, "Group");
    page_bars(page, "Energy and EDP by job", page->job, least(page->kept, BARS_MOST), page->jobs,
              "JobID");
    page_power(page);
    page_slowdowns(page);
    if (page_days(page) < 0 || page_maps(page) < 0)
        return -1;
    if (page->jobs)
        put_tables(page);
    fputs("<footer>Made by berthctl report ", page->out);
    put_at(page->out, page->about.now);
    fputs(" from the ledger ", page->out);
    page_text(page->out, page->about.ledger);
    fprintf(page->out, ".</footer>\n</main>\n<script>\n%s</script></body></html>\n", page_script);
    return fflush(page->out) != 0 || ferror(page->out) ? -1 : 0;
}

static int put_report(struct report_html *page, FILE *out)
{
    page->out = out;
    page_conclude(page);
    return put_page(page);
}

/* Writes the page into a file, with the mode that this user gives to files. */
static int put_file(const char *path, const char *text, size_t length)
{
    mode_t mask = umask(0);

    umask(mask);
    return file_replace(path, 0666 & ~mask, FILE_SYNC | FILE_ANY, text, length);
}

int report_html_write(struct report_html *page, const struct benefit_result *benefit,
                      const char *path, struct berth_error *err)
{
    char *text = NULL;
    size_t length;
    FILE *out;
    int rc;

    page->benefit = benefit;
    if (strcmp(path, "-") == 0)
        return put_report(page, stdout) == 0 ? 0 : berth_error_set(err, "stdout: %m");
    out = open_memstream(&text, &length);
    if (!out)
        return berth_no_memory(err);
    rc = put_report(page, out);
    if (fclose(out) != 0 || rc < 0)
        rc = berth_no_memory(err);
    else if (put_file(path, text, length) < 0)
        rc = berth_error_set(err, "%s: %s", path,
                             errno == EINVAL ? "not a regular file" : strerror(errno));
    free(text);
    return rc;
}
