/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_benefit - the page's answer to whether berth helps: slowdowns predicted and measured in
 * columns of their own, winners and losers side by side. */
#include <math.h>

#include "packer/report/html_impl.h"

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

    if (hours->n == 0)
        return;
    fprintf(page->out, "<p>Core-hours %s, predicted: <b>%+.3f</b> (winners %+.3f, losers %+.3f).",
            what, hours->sum / 3600, hours->gained / 3600, hours->lost / 3600);
    if (energy->n)
        fprintf(page->out, " Energy %s, predicted: <b>%+.4g\xc2\xa0kJ</b>, of %zu metered.", what,
                energy->sum / 1e3, energy->n);
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

static void put_measured(struct report_html *page)
{
    const struct benefit_result *result = page->benefit;
    const struct benefit_pairs *pairs = &result->pairs;

    if (result->error.n)
        fprintf(page->out,
                "<p>Predicted less measured, where they stood: %+.1f points on average, off by "
                "%.1f points (%zu steps).</p>\n",
                result->bias.mean * 100, result->error.mean * 100, result->error.n);
    else
        fputs("<p>No slowdown was both predicted and measured: how far predictions are off is not "
              "known here.</p>\n",
              page->out);
    if (pairs->programs == 0) {
        fputs("<p>Measured gain: none can be told, as no program was measured twice at least both "
              "where Slurm put it and where berth did.</p>\n",
              page->out);
        return;
    }
    fprintf(page->out,
            "<p>Measured gain of %zu programs that ran both ways: %.1f\xc2\xa0%% as Slurm put them "
            "(%zu steps), %.1f\xc2\xa0%% as berth did (%zu); less by <b>%.1f points</b> (%.1f to "
            "%.1f). Their neighbours differed.</p>\n",
            pairs->programs, pairs->slurm.mean * 100, pairs->slurm.n, pairs->berth.mean * 100,
            pairs->berth.n, pairs->less.mean * 100, (pairs->less.mean - pairs->less.half) * 100,
            (pairs->less.mean + pairs->less.half) * 100);
}

static void put_steps(struct report_html *page, const char *title, const struct benefit_step *list,
                      size_t n)
{
    FILE *out = page->out;

    fprintf(out, "<h3>%s</h3>\n", title);
    if (n == 0) {
        fputs("<p>None.</p>\n", out);
        return;
    }
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
        put_cell(out, "%+.3f", list[i].core_s / 3600);
        fprintf(out, "<td class=\"w\"><code>%s</code></td></tr>\n", command);
    }
    fputs("</tbody></table></div>\n", out);
}

static void put_unknown(struct report_html *page)
{
    const struct benefit_result *result = page->benefit;

    for (int i = 0, first = 1; i < BENEFIT_WHYS; i++) {
        if (result->why[i].n == 0)
            continue;
        fputs(first ? "<h3>Not known</h3><ul>\n" : "", page->out);
        first = 0;
        fprintf(page->out, "<li>%zu steps, %.3f core-hours: ", result->why[i].n,
                result->why[i].sum / 3600);
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
        fprintf(page->out, "</code>: %.3f core-hours of ", result->program[i].core_s / 3600);
        page_text(page->out, result->program[i].user[0] ? result->program[i].user : "a user");
        fputs("</li>\n", page->out);
    }
    fputs("</ul>\n", page->out);
}

void page_benefit(struct report_html *page)
{
    const struct benefit_result *result = page->benefit;

    if (!result || result->steps == 0)
        return;
    fputs("<section><h2>Does berth help?</h2>\n"
          "<p class=\"soft\">Batch scripts are left out. What the model predicts and what was "
          "measured stand in columns of their own; the intervals are of the mean over these "
          "steps.</p>\n",
          page->out);
    put_group(page, &result->group[BENEFIT_PLACED], true);
    put_group(page, &result->group[BENEFIT_OBSERVED], false);
    put_measured(page);
    if (result->freed.n)
        fprintf(page->out, "<p>Sizes freed <b>%.3f core-hours</b> of %zu steps.</p>\n",
                result->freed.sum / 3600, result->freed.n);
    put_steps(page, "Winners", result->winner, result->winners);
    put_steps(page, "Losers", result->loser, result->losers);
    put_unknown(page);
    fputs("</section>\n", page->out);
}
