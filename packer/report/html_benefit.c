/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_benefit - the page's answer to whether berth helps: slowdowns predicted and measured in
 * columns of their own, winners and losers side by side. */
#include <math.h>

#include "packer/report/html_impl.h"
#include "enum_table.h"

static void put_cell(FILE *out, const char *format, double value)
{
    fputs("<td class=\"n\">", out);
    if (!isnan(value))
        fprintf(out, format, value);
    fputs("</td>", out);
}

static void put_mean(FILE *out, const struct benefit_mean *mean)
{
    put_cell(out, "%.1f\xc2\xa0%%", mean->mean * 100);
    put_cell(out, "\xc2\xb1\xe2\x80\xaf%.1f", mean->half * 100);
    fprintf(out, "<td class=\"n\">%zu</td>", mean->n);
}

static void put_line(FILE *out, const char *name, const struct benefit_mean *predicted,
                     const struct benefit_mean *measured)
{
    static const struct benefit_mean nothing = {0, NAN, NAN};

    fprintf(out, "<tr><td class=\"w\">%s</td>", name);
    put_mean(out, predicted ? predicted : &nothing);
    put_mean(out, measured ? measured : &nothing);
    fputs("</tr>\n", out);
}

static void put_amounts(struct report_html *page, const struct benefit_group *group,
                        const char *what)
{
    const struct benefit_amount *hours = &group->core_time, *energy = &group->energy;
    char sum[REPORT_NUMBER_MAX + 1], gained[REPORT_NUMBER_MAX], lost[REPORT_NUMBER_MAX];

    if (hours->n == 0)
        return;
    benefit_hours(hours->sum, true, sum);
    benefit_hours(hours->gained, true, gained);
    benefit_hours(hours->lost, true, lost);
    fprintf(page->out, "<p>Core-hours %s, predicted: <b>%s</b> (winners %s, losers %s).", what, sum,
            gained, lost);
    if (energy->n) {
        benefit_energy(energy->sum, sum);
        fprintf(page->out, " Energy %s, predicted: <b>%s</b>, of %zu metered.", what, sum,
                energy->n);
    }
    if (group->judged)
        fprintf(page->out, " %zu of %zu measured were slower than predicted where Slurm put them.",
                group->slower, group->judged);
    fputs("</p>\n", page->out);
}

static void put_group(struct report_html *page, const struct benefit_group *group, bool placed)
{
    if (group->steps == 0)
        return;
    fprintf(page->out,
            "<h3>%s: %zu steps</h3>\n<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>"
            "<th scope=\"col\">Slowdown</th><th scope=\"col\" class=\"n\">predicted</th>"
            "<th scope=\"col\" class=\"n\">95\xc2\xa0%%</th>"
            "<th scope=\"col\" class=\"n\">steps</th>"
            "<th scope=\"col\" class=\"n\">measured</th>"
            "<th scope=\"col\" class=\"n\">95\xc2\xa0%%</th>"
            "<th scope=\"col\" class=\"n\">steps</th></tr></thead>\n<tbody>\n",
            placed ? "Placed by berth" : "Only observed", group->steps);
    put_line(page->out, "as Slurm put them", &group->slurm, placed ? NULL : &group->measured);
    put_line(page->out, placed ? "as berth put them" : "as berth would have", &group->berth,
             placed ? &group->measured : NULL);
    fputs("</tbody></table></div>\n", page->out);
    put_amounts(page, group, placed ? "saved" : "savable");
}

static void put_error(struct report_html *page)
{
    const struct benefit_result *result = page->benefit;

    if (result->error.n)
        fprintf(page->out,
                "<p>Predicted less measured, where they stood: %+.1f points on average, off by "
                "%.1f points (%zu steps).</p>\n",
                result->bias.mean * 100, result->error.mean * 100, result->error.n);
    else
        fputs("<p>No slowdown was both predicted and measured: how far predictions are off is not "
              "known here.</p>\n",
              page->out);
}

/* Says how many of a list stand there. */
static void put_title(FILE *out, const char *title, size_t shown, size_t all)
{
    fprintf(out, "<h3>%s", title);
    if (shown < all)
        fprintf(out, ": %zu of %zu", shown, all);
    fputs("</h3>\n", out);
}

static void put_compared(struct report_html *page, const char *title,
                         const struct benefit_compared *list, size_t n, size_t all)
{
    FILE *out = page->out;
    char hours[REPORT_NUMBER_MAX];

    put_title(out, title, n, all);
    if (n == 0) {
        fputs("<p>None.</p>\n", out);
        return;
    }
    fputs("<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">Program</th>"
          "<th scope=\"col\" class=\"n\">Cores</th><th scope=\"col\" class=\"n\">Slurm</th>"
          "<th scope=\"col\" class=\"n\">jobs</th><th scope=\"col\" class=\"n\">berth</th>"
          "<th scope=\"col\" class=\"n\">jobs</th><th scope=\"col\" class=\"n\">Core-hours</th>"
          "</tr></thead>\n<tbody>\n",
          out);
    for (size_t i = 0; i < n; i++) {
        benefit_hours(list[i].core_s, true, hours);
        fputs("<tr><td class=\"w\">", out);
        page_text(out, *list[i].tag ? list[i].tag : list[i].program);
        fprintf(out, "</td><td class=\"n\">%u</td>", list[i].cores);
        put_cell(out, "%.1f\xc2\xa0%%", list[i].slurm.mean * 100);
        fprintf(out, "<td class=\"n\">%zu</td>", list[i].slurm.n);
        put_cell(out, "%.1f\xc2\xa0%%", list[i].berth.mean * 100);
        fprintf(out, "<td class=\"n\">%zu</td><td class=\"n\">%s</td></tr>\n", list[i].berth.n,
                hours);
    }
    fputs("</tbody></table></div>\n", out);
}

/* What was measured of programs that ran both ways. */
static void put_measured(struct report_html *page)
{
    const struct benefit_result *result = page->benefit;
    const struct benefit_pairs *pairs = &result->pairs;
    char hours[REPORT_NUMBER_MAX];

    if (pairs->programs == 0)
        return;
    benefit_hours(fabs(pairs->core_s), false, hours);
    fprintf(page->out, "<p>%zu programs ran both ways, beside other neighbours", pairs->programs);
    if (!isnan(pairs->slurm.mean)) /* of each program only its speed is known, else */
        fprintf(
            page->out,
            ": measured, they were %.1f\xc2\xa0%% slower than alone as Slurm put them (%zu jobs), "
            "and %.1f\xc2\xa0%% as berth did (%zu)",
            pairs->slurm.mean * 100, pairs->slurm.n, pairs->berth.mean * 100, pairs->berth.n);
    fprintf(page->out, ". Core-hours %s: <b>%s</b>.</p>\n", pairs->core_s < 0 ? "lost" : "saved",
            hours);
    put_compared(page, "Programs that gained, measured", result->gain, result->gained,
                 result->all_gained);
    put_compared(page, "Programs that lost, measured", result->loss, result->lost,
                 result->all_lost);
}

static void put_steps(struct report_html *page, const char *title, const struct benefit_step *list,
                      size_t n, size_t all)
{
    FILE *out = page->out;
    char hours[REPORT_NUMBER_MAX];

    if (n == 0)
        return;
    put_title(out, title, n, all);
    fputs("<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">Program</th>"
          "<th scope=\"col\" class=\"n\">Cores</th><th scope=\"col\" class=\"n\">Slurm</th>"
          "<th scope=\"col\" class=\"n\">berth</th><th scope=\"col\" class=\"n\">Measured</th>"
          "<th scope=\"col\" class=\"n\">Core-hours</th><th scope=\"col\">Why</th></tr></thead>\n"
          "<tbody>\n",
          out);
    for (size_t i = 0; i < n; i++) {
        char command[BENEFIT_COMMAND_MAX];

        benefit_command(&list[i], command);
        fputs("<tr><td class=\"w\">", out);
        page_text(out, list[i].program);
        fprintf(out, "</td><td class=\"n\">%u</td>", list[i].cores);
        put_cell(out, "%.1f\xc2\xa0%%", list[i].slurm * 100);
        put_cell(out, "%.1f\xc2\xa0%%", list[i].berth * 100);
        put_cell(out, "%.1f\xc2\xa0%%", list[i].measured * 100);
        benefit_hours(list[i].core_s, true, hours);
        fprintf(out, "<td class=\"n\">%s</td>", hours);
        fprintf(out, "<td class=\"w\"><code>%s</code></td></tr>\n", command);
    }
    fputs("</tbody></table></div>\n", out);
}

static void put_unknown(struct report_html *page)
{
    const struct benefit_result *result = page->benefit;
    char hours[REPORT_NUMBER_MAX];

    for (int i = 0, first = 1; i < BENEFIT_WHYS; i++) {
        if (result->why[i].n == 0)
            continue;
        fputs(first ? "<h3>Not known</h3><ul>\n" : "", page->out);
        first = 0;
        benefit_hours(result->why[i].sum, false, hours);
        fprintf(page->out, "<li>%zu steps, %s core-hours: ", result->why[i].n, hours);
        page_text(page->out, benefit_why_text[i]);
        fputs("</li>\n", page->out);
    }
    for (int i = 0; i < BENEFIT_WHYS; i++)
        if (result->why[i].n) {
            fputs("</ul>\n", page->out);
            break;
        }
    if (result->programs == 0)
        return;
    fputs("<h3>Worth profiling first, by core-hours</h3><ul>\n", page->out);
    for (size_t i = 0; i < result->programs; i++) {
        fputs("<li><code>berthctl profile -- ", page->out);
        page_text(page->out, result->program[i].program);
        benefit_hours(result->program[i].core_s, false, hours);
        fprintf(page->out, "</code>: %s core-hours of ", hours);
        page_text(page->out, result->program[i].user[0] ? result->program[i].user : "a user");
        fputs("</li>\n", page->out);
    }
    fputs("</ul>\n", page->out);
}

void page_benefit(struct report_html *page)
{
    const struct benefit_result *result = page->benefit;
    char hours[REPORT_NUMBER_MAX];

    if (!result || result->steps == 0)
        return;
    fputs("<section><h2>Does berth help?</h2>\n"
          "<p class=\"soft\">Batch scripts are left out. What the model predicts and what was "
          "measured stand in columns of their own; the intervals are of the mean over these "
          "steps.</p>\n",
          page->out);
    put_measured(page);
    put_group(page, &result->group[BENEFIT_PLACED], true);
    put_group(page, &result->group[BENEFIT_OBSERVED], false);
    put_error(page);
    if (result->on_idle.n) {
        benefit_hours(result->on_idle.sum, false, hours);
        fprintf(page->out,
                "<p>%zu steps stood on cores that Slurm had given to nobody, for <b>%s "
                "core-hours</b>.</p>\n",
                result->on_idle.n, hours);
    }
    if (result->freed.n) {
        benefit_hours(result->freed.sum, false, hours);
        fprintf(page->out, "<p>Sizes freed <b>%s core-hours</b> of %zu steps.</p>\n", hours,
                result->freed.n);
    }
    put_steps(page, "Predicted to gain (program not measured both ways)", result->winner,
              result->winners, result->all_winners);
    put_steps(page, "Predicted to lose (program not measured both ways)", result->loser,
              result->losers, result->all_losers);
    put_unknown(page);
    fputs("</section>\n", page->out);
}

void page_verdict(struct report_html *page)
{
    static const char *const TABLE(class, BENEFIT_WORDS) = {
        ROW(BENEFIT_HELPS) = "helps",
        ROW(BENEFIT_HURTS) = "hurts",
        ROW(BENEFIT_NO_GAIN) = "even",
        ROW(BENEFIT_UNTOLD) = "open",
    };
    TABLE_COMPLETE(class);
    char sentence[BENEFIT_SENTENCE_MAX];

    if (!page->benefit)
        return;
    benefit_sentence(page->benefit, sentence);
    fprintf(page->out, "<p class=\"verdict %s\">", class[page->benefit->verdict.word]);
    page_text(page->out, sentence);
    fputs("</p>\n", page->out);
}
