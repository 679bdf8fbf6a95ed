/* SPDX-License-Identifier: GPL-2.0-or-later */
/* merge - makes the figures of a whole from those of its parts: report.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "models/energy/edp.h"
#include "packer/base/text.h"
#include "packer/report/report.h"
#include "enum_table.h"

enum rule {
    SAME, /* where all parts say the same */
    SUM,  /* where all are known */
    SUM_KNOWN,
    MOST,
    WEIGHTED, /* mean by CPU time given, over the parts that know it */
    NONE,     /* of no meaning */
};

/* By what is merged: nodes of a step, steps of a job, jobs of a total. The facts of facts.def name
 * one of these. */
/* clang-format off */
#define RULES_SAME {SAME, SAME, SAME}
#define RULES_RESTARTS {SAME, SAME, NONE}
#define RULES_TASKS {SUM, NONE, NONE}
#define RULES_CORES {SUM, MOST, NONE}
#define RULES_ADDED {SUM, SUM, SUM}
#define RULES_TIME {SUM, SUM, SUM_KNOWN}
#define RULES_MOST {MOST, MOST, MOST}
#define RULES_ELAPSED {MOST, NONE, SUM}
#define RULES_EDP {NONE, NONE, SUM_KNOWN}
#define RULES_NONE {NONE, NONE, NONE}
#define RULES_SPAN {MOST, SUM, SUM}
#define RULES_KNOWN {SUM_KNOWN, SUM_KNOWN, SUM_KNOWN}
#define RULES_MOST_KNOWN {MOST, SUM_KNOWN, SUM_KNOWN}
#define RULES_WORST {MOST, WEIGHTED, WEIGHTED}
#define RULES_MEAN {WEIGHTED, WEIGHTED, WEIGHTED}
/* clang-format on */
static const unsigned char TABLE(merge, REPORT_NUMBERS)[3] = {
    ROW(REPORT_NNODES) = {NONE, NONE, NONE},
    ROW(REPORT_CPU_TIME_S) = {SUM, SUM, SUM_KNOWN},
    ROW(REPORT_ALLOCATED_S) = {SUM, SUM, SUM_KNOWN},
    ROW(REPORT_WAITED_S) = {NONE, NONE, SUM_KNOWN},
    ROW(REPORT_UNUSED_S) = {NONE, NONE, SUM_KNOWN},
    ROW(REPORT_COST) = {SUM_KNOWN, SUM_KNOWN, SUM_KNOWN},
    ROW(REPORT_CO2) = {SUM_KNOWN, SUM_KNOWN, SUM_KNOWN},
    ROW(REPORT_JOBS) = {MOST, MOST, SUM},
    ROW(REPORT_STEPS) = {MOST, SUM, SUM},
#define FACT_COLUMN(ID, name, width, key, form, parts) ROW(REPORT_##ID) = RULES_##parts,
#include "packer/fact/facts.def"
};
TABLE_COMPLETE(merge);

/* Which number a mean is, and which mean a number is; of one that is none it says nothing. */
static const enum report_number TABLE(mean_number, REPORT_MEANS) = {
#define FACT_MEAN(ID, ...) ROW(REPORT_MEAN_##ID) = REPORT_##ID,
#include "packer/fact/facts.def"
};
TABLE_COMPLETE(mean_number);
static const unsigned char SPARSE(mean_of, REPORT_NUMBERS) = {
#define FACT_MEAN(ID, ...) [REPORT_##ID] = REPORT_MEAN_##ID,
#include "packer/fact/facts.def"
};

/* Texts of which a whole has a list. */
#define PARTS_SAME false
#define PARTS_LIST true
static const bool SPARSE(is_list, REPORT_TEXTS) = {
    [REPORT_COUNTERS_SOURCE] = true,
#define FACT_WORD_COLUMN(ID, name, width, key, parts) [REPORT_##ID] = PARTS_##parts,
#include "packer/fact/facts.def"
};

/* What a user has said of his job is not known. */
static void read_texts(const struct ledger_record *record, bool known, const char **text)
{
#define FACT_WORD_COLUMN(ID, ...)                                                                  \
    text[REPORT_##ID] = known || !fact[FACT_##ID].said ? ledger_word(record, FACT_##ID) : "";
#include "packer/fact/facts.def"
    text[REPORT_NODES] = record->node;
    text[REPORT_COUNTERS_SOURCE] = record->counters_source;
}

static double known_count(uint32_t count)
{
    return count ? count : NAN;
}

static void read_numbers(const struct ledger_record *record, bool known, double *number)
{
#define FACT_COLUMN(ID, name, width, key, form, parts)                                             \
    number[REPORT_##ID] = ledger_fact(record, FACT_##ID);
#include "packer/fact/facts.def"
    number[REPORT_NNODES] = 1;
    number[REPORT_TASKS] = known_count(record->tasks);
    number[REPORT_CORES_GIVEN] = known_count(record->cores_given);
    number[REPORT_USED_CORES] = known_count(record->cores_used);
    number[REPORT_RESTARTS] = known ? record->restart : NAN;
    number[REPORT_CPU_TIME_S] = record->elapsed_s * number[REPORT_CORES_GIVEN];
    number[REPORT_ALLOCATED_S] = number[REPORT_CPU_TIME_S];
    number[REPORT_WAITED_S] = number[REPORT_UNUSED_S] = NAN;
    number[REPORT_COST] = number[REPORT_CO2] = NAN;
    number[REPORT_JOBS] = 1;
    number[REPORT_STEPS] = 1;
}

static void read_weights(struct report_row *row)
{
    double time_s = row->number[REPORT_CPU_TIME_S];

    if (isnan(time_s))
        time_s = row->number[REPORT_ELAPSED_S];
    for (int i = 0; i < REPORT_MEANS; i++)
        row->weight_s[i] = isnan(row->number[mean_number[i]]) || !(time_s > 0) ? 0 : time_s;
}

static struct report_energy energy_of(double uj)
{
    uint64_t whole = uj >= 0 && uj < 0x1p63 ? (uint64_t)(uj + 0.5) : 0;

    if (!(uj >= 0))
        return (struct report_energy){0};
    return (struct report_energy){whole / 1000000, (uint32_t)(whole % 1000000), 1};
}

void report_energy_add(struct report_energy *sum, const struct report_energy *part)
{
    sum->uj += part->uj;
    sum->j += part->j + sum->uj / 1000000;
    sum->uj %= 1000000;
    sum->metered += part->metered;
}

double report_energy_j(const struct report_energy *energy)
{
    return energy->metered ? (double)energy->j + energy->uj * 1e-6 : NAN;
}

static struct report_energy energy_in_all(const struct report_energy *domain)
{
    struct report_energy all = {0};
    bool known[ENERGY_DOMAINS];

    for (enum energy_domain d = 0; d < ENERGY_DOMAINS; d++)
        known[d] = domain[d].metered > 0;
    for (enum energy_domain d = 0; d < ENERGY_DOMAINS; d++)
        if (energy_counts(known, d)) {
            report_energy_add(&all, &domain[d]);
            all.metered = 1;
        }
    return all;
}

/* A record of an older berth has its beginning in whole seconds, and how long it took. */
static void read_moments(const struct ledger_record *record, struct report_row *row)
{
    row->start_ms = record->start_ms ? record->start_ms : record->start * 1000;
    row->end_ms = record->end_ms ? record->end_ms : record->end * 1000;
    if (!record->end_ms && record->elapsed_s >= 0 && record->elapsed_s < 1e12)
        row->end_ms = row->start_ms + (int64_t)(record->elapsed_s * 1e3);
}

void report_row_of(const struct ledger_record *record, struct report_row *row)
{
    bool known = ledger_is_known(record);

    *row = (struct report_row){
        .kind = REPORT_STEP,
        .id = record->id,
        .array_job = known ? record->array_job : 0,
        .array_task = known ? record->array_task : 0,
        .records = 1,
        .exit_status = record->exit_status,
        .start = record->start,
        .end = record->end,
        .said = known,
    };
    read_moments(record, row);
    read_texts(record, known, row->text);
    read_numbers(record, known, row->number);
    read_weights(row);
    for (int i = 0; i < ENERGY_DOMAINS; i++)
        row->energy[i] = energy_of(record->uj[i]);
    row->energy[REPORT_ENERGY] = energy_in_all(row->energy);
    row->energy[REPORT_IDLE] = energy_of(record->uj_idle);
}

/* ---- dividing ---- */

/* What adds up over jobs; how many they are, and their EDP, is looked at elsewhere. */
static bool is_amount(int number)
{
    unsigned char rule = merge[number][REPORT_MERGE_JOBS];

    return (rule == SUM || rule == SUM_KNOWN) && number != REPORT_JOBS && number != REPORT_STEPS &&
           number != REPORT_EDP;
}

/* The part of a whole that is there after `at` of `all` milliseconds. */
static uint64_t whole_part(uint64_t whole, uint64_t at, uint64_t all)
{
    return at >= all ? whole : (uint64_t)((unsigned __int128)whole * at / all);
}

#define FRACTION                                                                                   \
    0x1p20 /* what is not whole is divided into so small pieces, which add up exactly */

static double value_part(double value, uint64_t at, uint64_t all)
{
    double scale = value == nearbyint(value) || value > 0x1p42 ? 1 : FRACTION;

    if (at >= all || !(value >= 0 && value < 0x1p63))
        return at >= all ? value : at ? NAN : 0;
    return (double)whole_part((uint64_t)(value * scale), at, all) / scale;
}

static struct report_energy energy_part(const struct report_energy *energy, uint64_t from,
                                        uint64_t to, uint64_t all)
{
    uint64_t uj = energy->j * 1000000 + energy->uj; /* of one record */
    uint64_t part = whole_part(uj, to, all) - whole_part(uj, from, all);

    return (struct report_energy){part / 1000000, (uint32_t)(part % 1000000), energy->metered};
}

void report_divide(const struct report_row *row, int64_t from_ms, int64_t to_ms,
                   struct report_row *part)
{
    uint64_t all = (uint64_t)(row->end_ms - row->start_ms);
    uint64_t from = (uint64_t)(from_ms - row->start_ms), to = (uint64_t)(to_ms - row->start_ms);

    *part = *row;
    if (all == 0 || (from == 0 && to >= all))
        return;
    for (int i = 0; i < REPORT_NUMBERS; i++)
        if (is_amount(i))
            part->number[i] =
                value_part(row->number[i], to, all) - value_part(row->number[i], from, all);
    for (int i = 0; i < REPORT_ENERGIES; i++)
        part->energy[i] = energy_part(&row->energy[i], from, to, all);
    for (int i = 0; i < REPORT_MEANS; i++)
        part->weight_s[i] = row->weight_s[i] * (double)(to - from) / (double)all;
    part->number[REPORT_STEPS] = to >= all;
    part->number[REPORT_EDP] = part->number[REPORT_EDP_PER_INSTRUCTION] = NAN;
    part->start_ms = from_ms;
    part->end_ms = to_ms;
    part->start = from ? from_ms / 1000 : row->start;
    part->end = to >= all ? row->end : to_ms / 1000;
}

/* ---- merging ---- */

static double merged(enum rule rule, double a, double b, double weight_a, double weight_b)
{
    switch (rule) {
    case SAME:
        return a == b ? a : NAN;
    case SUM:
        return a + b;
    case SUM_KNOWN:
        return isnan(a) ? b : isnan(b) ? a : a + b;
    case MOST:
        return fmax(a, b); /* the other one where one is NAN */
    case WEIGHTED:
        if (isnan(a) || isnan(b))
            return isnan(a) ? b : a;
        return weight_a + weight_b > 0 ? (a * weight_a + b * weight_b) / (weight_a + weight_b) : a;
    case NONE:
        break;
    }
    return NAN;
}

/* The sources of both, as a list. */
static const char *join(const char *a, const char *b,
                        const char *(*intern)(void *arg, const char *text), void *arg)
{
    char text[256], words[256], *word, *rest;
    size_t used;

    if (a == b || !*b || !*a)
        return *a ? a : b;
    used = (size_t)snprintf(text, sizeof(text), "%s", a);
    snprintf(words, sizeof(words), "%s", b);
    for (word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        if (!text_lists(a, word) && used + strlen(word) + 2 < sizeof(text))
            used += (size_t)sprintf(text + used, ",%s", word);
    return used > strlen(a) ? intern(arg, text) : a;
}

/* The worse one: a signal, then the greatest code; known before not known. */
static int worse(int a, int b)
{
    int rank_a = a < 0 ? -1 : WIFSIGNALED(a) ? 256 + WTERMSIG(a) : WEXITSTATUS(a);
    int rank_b = b < 0 ? -1 : WIFSIGNALED(b) ? 256 + WTERMSIG(b) : WEXITSTATUS(b);

    return rank_b > rank_a ? b : a;
}

static void merge_numbers(struct report_row *whole, const struct report_row *part,
                          enum report_merge what)
{
    double *weight = whole->weight_s;
    const double *added = part->weight_s;

    for (int i = 0; i < REPORT_NUMBERS; i++)
        whole->number[i] = merged(merge[i][what], whole->number[i], part->number[i],
                                  weight[mean_of[i]], added[mean_of[i]]);
    for (int i = 0; i < REPORT_MEANS; i++)
        weight[i] += added[i];
}

int report_merge(struct report_row *whole, const struct report_row *part, enum report_merge what,
                 const char *(*intern)(void *arg, const char *text), void *arg)
{
    merge_numbers(whole, part, what);
    if (part->start && (part->start < whole->start || !whole->start))
        whole->start = part->start;
    if (part->end > whole->end)
        whole->end = part->end;
    if (part->start_ms && (part->start_ms < whole->start_ms || !whole->start_ms))
        whole->start_ms = part->start_ms;
    if (part->end_ms > whole->end_ms)
        whole->end_ms = part->end_ms;
    whole->exit_status = worse(whole->exit_status, part->exit_status);
    whole->records += part->records;
    for (int i = 0; i < REPORT_ENERGIES; i++)
        report_energy_add(&whole->energy[i], &part->energy[i]);
    if (whole->text[REPORT_NODES] != part->text[REPORT_NODES] &&
        strcmp(whole->text[REPORT_NODES], part->text[REPORT_NODES]) != 0)
        whole->text[REPORT_HOME] = whole->text[REPORT_CPUS] = whole->text[REPORT_PROPOSED] =
            ""; /* of one node each */
    for (int i = 0; i < REPORT_TEXTS; i++) {
        if (is_list[i])
            whole->text[i] = join(whole->text[i], part->text[i], intern, arg);
        else if (whole->text[i] != part->text[i] && strcmp(whole->text[i], part->text[i]) != 0)
            whole->text[i] = "";
        if (!whole->text[i])
            return -1;
    }
    return 0;
}

static void fill(double *number, double value)
{
    if (isnan(*number))
        *number = value;
}

/* Of what was given and not used: threads waited for a CPU in a part of it, others had it or
 * nobody. */
static void derive_unused(double *number)
{
    double left = number[REPORT_CPU_TIME_S] - number[REPORT_USER_S] - number[REPORT_SYSTEM_S];
    double waited = number[REPORT_CPU_WAIT_S];

    if (left < 0)
        left = 0;
    number[REPORT_WAITED_S] = isnan(left) || isnan(waited) ? NAN : fmin(waited, left);
    number[REPORT_UNUSED_S] = isnan(waited) ? left : left - number[REPORT_WAITED_S];
}

/* Records know theirs themselves, as a rule. */
void report_derive(struct report_row *row)
{
    const struct report_energy *energy = &row->energy[REPORT_ENERGY];
    double energy_j = energy->metered == row->records ? report_energy_j(energy) : NAN;
    double *number = row->number, elapsed_s, instructions = number[REPORT_INSTRUCTIONS];

    if (row->kind != REPORT_TOTAL && row->end_ms >= row->start_ms)
        fill(&number[REPORT_ELAPSED_S], (double)(row->end_ms - row->start_ms) * 1e-3);
    elapsed_s = number[REPORT_ELAPSED_S];
    fill(&number[REPORT_POWER_W], elapsed_s > 0 ? energy_j / elapsed_s : NAN);
    if (row->kind == REPORT_TOTAL)
        return;
    if (row->kind == REPORT_JOB)
        number[REPORT_CPU_TIME_S] = number[REPORT_ALLOCATED_S];
    derive_unused(number);
    fill(&number[REPORT_EDP], edp_classic(energy_j, elapsed_s));
    if (instructions > 0)
        fill(&number[REPORT_EDP_PER_INSTRUCTION],
             edp_per_instruction(energy_j, elapsed_s, instructions));
}
