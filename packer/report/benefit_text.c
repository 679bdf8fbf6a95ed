/* SPDX-License-Identifier: GPL-2.0-or-later */
/* benefit_text - writes what berth's benefit is for a person: benefit.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/base/text.h"
#include "packer/report/benefit.h"
#include "packer/report/fields.h"

#define SHOWN 5 /* of each list; JSON has more of it */
#define LINE 79

void benefit_command(const struct benefit_step *step, char text[BENEFIT_COMMAND_MAX])
{
    char name[WIRE_STEP_NAME_MAX];

    wire_step_name(step->id, name);
    snprintf(text, BENEFIT_COMMAND_MAX, "berthctl explain %s", name);
}

/* ---- figures ---- */

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

static void put_percent(FILE *out, double value)
{
    if (isnan(value))
        fprintf(out, " %9s", "-");
    else
        fprintf(out, " %8.1f%%", value * 100);
}

static void put_mean(FILE *out, const struct benefit_mean *mean)
{
    put_percent(out, mean->mean);
    if (isnan(mean->half))
        fprintf(out, " %7s", "-");
    else
        fprintf(out, " %6.1f%%", mean->half * 100);
    fprintf(out, " %7zu", mean->n);
}

/* A word of people, cut to so many columns and padded. */
static void put_word(FILE *out, const char *word, size_t columns)
{
    size_t length = text_fit(word, columns);

    text_put(out, word, length);
    fprintf(out, "%*s ", (int)(columns - text_columns(word, length)), "");
}

static void put_time(FILE *out, int64_t at)
{
    time_t seconds = (time_t)at;
    struct tm tm;
    char text[32];

    if (localtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &tm))
        fputs(text, out);
}

/* ---- the parts ---- */

/* A sentence, in lines of 80. */
static void put_wrapped(FILE *out, const char *text)
{
    while (strlen(text) > LINE) {
        size_t length = LINE;

        while (length > 0 && text[length] != ' ')
            length--;
        if (length == 0)
            break;
        fprintf(out, "%.*s\n", (int)length, text);
        text += length + 1;
    }
    fprintf(out, "%s\n", text);
}

static void put_head(FILE *out, const struct benefit_result *result,
                     const struct benefit_about *about)
{
    char hours[REPORT_NUMBER_MAX], sentence[BENEFIT_SENTENCE_MAX];

    benefit_sentence(result, sentence);
    put_wrapped(out, sentence);
    if (result->steering.known) {
        benefit_steering_sentence(&result->steering, sentence);
        put_wrapped(out, sentence);
    }
    benefit_hours(result->core_s, false, hours);
    fputs("\nSteps that ran", out);
    if (about->since > 0) {
        fputs(" from ", out);
        put_time(out, about->since);
    }
    fputs(" until ", out);
    put_time(out, about->until);
    fprintf(out, "\n%zu step%s on %zu node%s, %s core-hours; batch scripts are left out.\n",
            result->steps, plural(result->steps), result->nodes, plural(result->nodes), hours);
}

static void put_amount(FILE *out, const char *name, const char *const text[3], size_t n)
{
    fprintf(out, "  %-21s %9s %9s %9s %7zu\n", name, text[0], text[1], text[2], n);
}

static void put_amounts(FILE *out, const struct benefit_group *group, const char *what)
{
    const struct benefit_amount *amount[] = {&group->core_time, &group->energy};
    char text[2][3][REPORT_NUMBER_MAX + 1];

    if (group->core_time.n == 0)
        return;
    fprintf(out, "  predicted %-11s %9s %9s %9s %7s\n", what, "sum", "winners", "losers", "steps");
    for (int i = 0; i < 2; i++) {
        const double value[] = {amount[i]->sum, amount[i]->gained, amount[i]->lost};
        const char *const cell[] = {text[i][0], text[i][1], text[i][2]};

        for (int k = 0; k < 3; k++)
            if (amount[i]->n == 0)
                strcpy(text[i][k], "-");
            else if (i == 0)
                benefit_hours(value[k], true, text[i][k]);
            else
                benefit_energy(value[k], text[i][k]);
        put_amount(out, i == 0 ? "core-hours" : "energy", cell, amount[i]->n);
    }
}

static void put_group(FILE *out, const struct benefit_group *group, enum benefit_kind kind)
{
    static const struct benefit_mean nothing = {0, NAN, NAN};
    bool placed = kind == BENEFIT_PLACED;
    char hours[REPORT_NUMBER_MAX];

    if (group->steps == 0)
        return;
    benefit_hours(group->core_s, false, hours);
    fprintf(out, "\n%s: %zu step%s, %s core-hours\n", placed ? "Placed by berth" : "Only observed",
            group->steps, plural(group->steps), hours);
    fprintf(out, "  %-21s %9s %7s %7s %9s %7s %7s\n", "slower than alone", "predicted", "+-",
            "steps", "measured", "+-", "steps");
    fprintf(out, "  %-21s", "where Slurm put them");
    put_mean(out, &group->slurm);
    put_mean(out, placed ? &nothing : &group->measured);
    fprintf(out, "\n  %-21s", placed ? "as berth put them" : "as berth would have");
    put_mean(out, &group->berth);
    put_mean(out, placed ? &group->measured : &nothing);
    fputc('\n', out);
    put_amounts(out, group, placed ? "saved" : "savable");
    if (group->judged)
        fprintf(out, "  %zu of %zu measured were slower than predicted where Slurm put them\n",
                group->slower, group->judged);
}

static void put_error(FILE *out, const struct benefit_result *result)
{
    if (result->error.n == 0) {
        fputs("\nNo slowdown was both predicted and measured: how far predictions are off is not\n"
              "known here.\n",
              out);
        return;
    }
    fprintf(out,
            "\nPredicted less measured, where they stood, in percentage points: %+.1f on\n"
            "average; off by %.1f (%zu step%s).\n",
            result->bias.mean * 100, result->error.mean * 100, result->error.n,
            plural(result->error.n));
}

static void put_short_percent(FILE *out, double value, int width)
{
    if (isnan(value))
        fprintf(out, " %*s", width, "-");
    else
        fprintf(out, " %*.1f%%", width - 1, value * 100);
}

/* A table has its rows by magnitude: says which of them stand there. */
static void put_title(FILE *out, const char *title, size_t shown, size_t all)
{
    if (shown < all)
        fprintf(out, "\n%s, %zu of %zu, by core-hours\n", title, shown, all);
    else
        fprintf(out, "\n%s, by core-hours\n", title);
}

static void put_compared(FILE *out, const struct benefit_compared *of)
{
    char hours[REPORT_NUMBER_MAX];

    benefit_hours(of->core_s, true, hours);
    fputs("  ", out);
    put_word(out, *of->tag ? of->tag : of->program, 20);
    fprintf(out, "%5u", of->cores);
    put_short_percent(out, of->slurm.mean, 8);
    fprintf(out, " %6zu", of->slurm.n);
    put_short_percent(out, of->berth.mean, 8);
    fprintf(out, " %6zu", of->berth.n);
    put_short_percent(out, of->less.mean, 8);
    fprintf(out, " %8s\n", hours);
}

static void put_programs_compared(FILE *out, const char *title, const struct benefit_compared *list,
                                  size_t n, size_t all)
{
    size_t shown = n < SHOWN ? n : SHOWN;

    if (n == 0) {
        fprintf(out, "\n%s: none\n", title);
        return;
    }
    put_title(out, title, shown, all);
    fprintf(out, "  %-20s %5s %8s %6s %8s %6s %8s %8s\n", "program", "cores", "Slurm", "jobs",
            "berth", "jobs", "less", "core-h");
    for (size_t i = 0; i < shown; i++)
        put_compared(out, &list[i]);
}

/* What was measured of programs that ran both ways. */
static void put_pairs(FILE *out, const struct benefit_result *result)
{
    const struct benefit_pairs *pairs = &result->pairs;
    char hours[REPORT_NUMBER_MAX];

    if (pairs->programs == 0)
        return;
    benefit_hours(fabs(pairs->core_s), false, hours);
    fprintf(out, "\nMeasured: %zu program%s that ran both ways (beside other neighbours)\n",
            pairs->programs, plural(pairs->programs));
    if (pairs->control)
        fprintf(out, "  in the trial: the lot left %zu step%s where Slurm put them, of %zu\n",
                pairs->control, plural(pairs->control), pairs->control + pairs->treated);
    fprintf(out, "  %-21s %9s %7s\n", "slower than alone", "measured", "jobs");
    fprintf(out, "  %-21s", "where Slurm put them");
    put_percent(out, pairs->slurm.mean);
    fprintf(out, " %7zu\n  %-21s", pairs->slurm.n, "as berth put them");
    put_percent(out, pairs->berth.mean);
    fprintf(out, " %7zu", pairs->berth.n);
    fprintf(out, "\n  core-hours %s: %s\n", pairs->core_s < 0 ? "lost" : "saved", hours);
    put_programs_compared(out, "Programs that gained, measured", result->gain, result->gained,
                          result->all_gained);
    put_programs_compared(out, "Programs that lost, measured", result->loss, result->lost,
                          result->all_lost);
}

/* What cores brought that Slurm had given to nobody. */
static void put_idle(FILE *out, const struct benefit_result *result)
{
    char hours[REPORT_NUMBER_MAX], saved[REPORT_NUMBER_MAX] = "-";

    if (result->on_idle.n == 0)
        return;
    benefit_hours(result->on_idle.sum, false, hours);
    if (result->idle_core_time.n)
        benefit_hours(result->idle_core_time.sum, true, saved);
    fprintf(out,
            "\n%zu step%s stood on idle cores for %s core-hours.\n"
            "  predicted saved by %s: %s core-hours\n",
            result->on_idle.n, plural(result->on_idle.n), hours,
            result->on_idle.n == 1 ? "it" : "them", saved);
}

static void put_sizes(FILE *out, const struct benefit_result *result)
{
    char hours[REPORT_NUMBER_MAX];

    if (result->freed.n == 0)
        return;
    benefit_hours(result->freed.sum, false, hours);
    fprintf(out, "\nSizes freed %s core-hours of %zu step%s.\n", hours, result->freed.n,
            plural(result->freed.n));
    if (result->size_loss.n)
        fprintf(out, "  their speed fell by %.1f%%, as measured of %zu\n",
                result->size_loss.mean * 100, result->size_loss.n);
}

static void put_step(FILE *out, const struct benefit_step *step)
{
    char command[BENEFIT_COMMAND_MAX], hours[REPORT_NUMBER_MAX];

    benefit_command(step, command);
    benefit_hours(step->core_s, true, hours);
    fputs("  ", out);
    put_word(out, step->program[0] ? step->program : "-", 10);
    fprintf(out, "%4u", step->cores);
    put_short_percent(out, step->slurm, 7);
    put_short_percent(out, step->berth, 7);
    put_short_percent(out, step->measured, 8);
    fprintf(out, " %8s  %s\n", hours, command);
}

static void put_steps(FILE *out, const char *title, const struct benefit_step *list, size_t n,
                      size_t all)
{
    size_t shown = n < SHOWN ? n : SHOWN;

    if (n == 0)
        return;
    put_title(out, title, shown, all);
    fprintf(out, "  %-10s %4s %7s %7s %8s %8s  %s\n", "program", "core", "Slurm", "berth",
            "measured", "core-h", "why");
    for (size_t i = 0; i < shown; i++)
        put_step(out, &list[i]);
}

static void put_unknown(FILE *out, const struct benefit_result *result)
{
    size_t unknown = 0;
    char hours[REPORT_NUMBER_MAX];

    for (int i = 0; i < BENEFIT_WHYS; i++)
        unknown += result->why[i].n;
    fprintf(out, "\nNot known of %zu of %zu step%s%s\n", unknown, result->steps,
            plural(result->steps), unknown ? ":" : "");
    for (int i = 0; i < BENEFIT_WHYS; i++) {
        if (result->why[i].n == 0)
            continue;
        benefit_hours(result->why[i].sum, false, hours);
        fprintf(out, "  %7zu, %8s core-h: %s\n", result->why[i].n, hours, benefit_why_text[i]);
    }
}

static void put_programs(FILE *out, const struct benefit_result *result)
{
    if (result->programs == 0)
        return;
    fputs("\nWorth profiling first (berthctl profile -- PROGRAM), by core-hours\n", out);
    fprintf(out, "  %-20s %-12s %7s %9s  %s\n", "program", "user", "steps", "core-h",
            "known until now");
    for (size_t i = 0; i < result->programs && i < SHOWN; i++) {
        const struct benefit_program *program = &result->program[i];
        char hours[REPORT_NUMBER_MAX], uid[16];

        benefit_hours(program->core_s, false, hours);
        snprintf(uid, sizeof(uid), "%u", program->uid);
        fputs("  ", out);
        put_word(out, program->program, 20);
        put_word(out, program->user[0] ? program->user : uid, 12);
        fprintf(out, "%7zu %9s  %s\n", program->steps, hours,
                program->knowledge[0] ? program->knowledge : "not recorded");
    }
}

void benefit_print(FILE *out, const struct benefit_result *result,
                   const struct benefit_about *about)
{
    put_head(out, result, about);
    if (result->steps == 0)
        return;
    put_pairs(out, result);
    for (int kind = 0; kind < BENEFIT_KINDS; kind++)
        put_group(out, &result->group[kind], kind);
    put_error(out, result);
    put_idle(out, result);
    put_sizes(out, result);
    put_steps(out, "Predicted to gain (program not measured both ways)", result->winner,
              result->winners, result->all_winners);
    put_steps(out, "Predicted to lose (program not measured both ways)", result->loser,
              result->losers, result->all_losers);
    put_unknown(out, result);
    put_programs(out, result);
    fputs("\n+- is half of the 95% interval of the mean over these steps, by core time.\n"
          "Of a step that its berthd has forgotten: berthctl report -j STEP -o ALL\n",
          out);
}
