/* SPDX-License-Identifier: GPL-2.0-or-later */
/* benefit_programs - see benefit_programs.h: runs are sorted by what is compared, and each stretch
 * of equals is one program. */
#include "packer/report/benefit_programs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/report/benefit_mean.h"
#include "packer/wire/wire_program.h"

#define RUNS_LEAST 2 /* of each kind: one alone has no spread */

void benefit_programs_clear(struct benefit_programs *programs)
{
    free(programs->run);
    *programs = (struct benefit_programs){0};
}

bool benefit_is_program(const char *name)
{
    return name[0] && (!wire_program_starts_others(name) || wire_program_interprets(name));
}

int benefit_programs_add(struct benefit_programs *programs, struct report_intern *words,
                         const struct ledger_record *record, double core_s)
{
    struct benefit_run *run;

    if ((!benefit_is_program(record->program) && !record->tag[0]) || !(core_s > 0))
        return 0;
    if (array_grow(&programs->run, &programs->room, programs->n + 1, sizeof(*run)) < 0)
        return -1;
    run = &programs->run[programs->n];
    *run = (struct benefit_run){
        .user = report_intern_keep(words, record->user),
        .program = report_intern_keep(words, record->program),
        .tag = report_intern_keep(words, record->tag),
        .knowledge = report_intern_keep(words, record->knowledge),
        .uid = record->uid,
        .cores = record->cores_given,
        .placed = strcmp(record->state, "placed") == 0,
        .at_home = strcmp(record->state, "observed") == 0 ||
                   (strcmp(record->state, "left") == 0 && record->moves == 0),
        .unknown = isnan(record->slowdown_predicted),
        .end = record->end,
        .measured = record->slowdown_observed,
        .core_s = core_s,
    };
    if (!run->user || !run->program || !run->tag || !run->knowledge)
        return -1;
    programs->n++;
    return 0;
}

/* ---- the order ---- */

static int by_number(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_text(const char *a, const char *b)
{
    return a == b ? 0 : strcmp(a, b);
}

static int compare_program(const struct benefit_run *a, const struct benefit_run *b)
{
    int order = by_number(a->uid, b->uid);

    return order ? order : by_text(a->program, b->program);
}

/* What is compared: the same tag and cores, too. */
static int compare_alike(const struct benefit_run *a, const struct benefit_run *b)
{
    int order = compare_program(a, b);

    if (order == 0)
        order = by_text(a->tag, b->tag);
    return order ? order : by_number(a->cores, b->cores);
}

static int compare(const void *a, const void *b)
{
    return compare_alike(a, b);
}

/* ---- both ways ---- */

struct both {
    struct benefit_sum slurm, berth;
    double weight, less, squares; /* of the differences, program by program */
    double core_s;
    size_t programs;
};

/* Takes in the runs of one program. */
static void add_alike(const struct benefit_run *run, size_t n, struct both *both)
{
    struct benefit_sum slurm = {0}, berth = {0};
    struct benefit_mean home, placed;

    for (size_t i = 0; i < n; i++)
        if (run[i].placed)
            benefit_sum_add(&berth, run[i].measured, run[i].core_s);
        else if (run[i].at_home)
            benefit_sum_add(&slurm, run[i].measured, run[i].core_s);
    if (slurm.n < RUNS_LEAST || berth.n < RUNS_LEAST)
        return;
    both->programs++;
    home = benefit_sum_mean(&slurm);
    placed = benefit_sum_mean(&berth);
    both->weight += berth.w;
    both->less += berth.w * (home.mean - placed.mean);
    both->squares += berth.w * berth.w * (home.half * home.half + placed.half * placed.half);
    both->core_s += berth.w * ((1 + home.mean) / (1 + placed.mean) - 1);
    for (size_t i = 0; i < n; i++)
        if (run[i].placed || run[i].at_home)
            benefit_sum_add(run[i].placed ? &both->berth : &both->slurm, run[i].measured,
                            run[i].core_s);
}

/* ---- to be profiled ---- */

/* Is as much known as a profile tells? */
static bool is_profiled(const char *knowledge)
{
    return strcmp(knowledge, "stack distances") == 0 || strcmp(knowledge, "measured pairs") == 0;
}

/* Keeps a program among the first by core time; what was known of it last counts. */
static void rank_program(const struct benefit_run *run, size_t n, struct benefit_result *result)
{
    struct benefit_program program = {.user = run->user, .program = run->program, .uid = run->uid};
    const struct benefit_run *last = run;
    size_t at;

    for (size_t i = 0; i < n; i++) {
        program.steps++;
        program.unknown += run[i].unknown;
        program.core_s += run[i].core_s;
        if (run[i].end > last->end)
            last = &run[i];
    }
    program.knowledge = last->knowledge;
    if (is_profiled(last->knowledge))
        return;
    if (result->programs == BENEFIT_LIST) {
        if (result->program[BENEFIT_LIST - 1].core_s >= program.core_s)
            return;
        result->programs--;
    }
    for (at = result->programs++; at > 0 && result->program[at - 1].core_s < program.core_s; at--)
        result->program[at] = result->program[at - 1];
    result->program[at] = program;
}

void benefit_programs_conclude(struct benefit_programs *programs, struct benefit_result *result)
{
    const struct benefit_run *run = programs->run;
    struct both both = {.programs = 0};
    size_t n = programs->n;

    result->programs = 0;
    if (n)
        qsort(programs->run, n, sizeof(*run), compare);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && compare_alike(&run[i], &run[end]) == 0;)
            end++;
        add_alike(&run[i], end - i, &both);
    }
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && compare_program(&run[i], &run[end]) == 0;)
            end++;
        if (benefit_is_program(run[i].program))
            rank_program(&run[i], end - i, result);
    }
    result->pairs = (struct benefit_pairs){.programs = both.programs,
                                           .slurm = benefit_sum_mean(&both.slurm),
                                           .berth = benefit_sum_mean(&both.berth),
                                           .less = {both.programs, NAN, NAN},
                                           .core_s = both.programs ? both.core_s : NAN};
    if (both.programs)
        result->pairs.less = (struct benefit_mean){both.programs, both.less / both.weight,
                                                   sqrt(both.squares) / both.weight};
}
