/* SPDX-License-Identifier: GPL-2.0-or-later */
/* variation_page - writes how much less the runs of programs vary, for a person and as JSON:
 * benefit.h, berthctl(1). */
#include <math.h>

#include "packer/base/json.h"
#include "packer/base/text.h"
#include "packer/report/benefit.h"
#include "packer/report/variation.h"
#include "enum_table.h"

#define NAME 28 /* columns of a program's name */

static const char *const TABLE(benefit_varies_text, BENEFIT_VARIES_WORDS) = {
    ROW(BENEFIT_VARIES_LESS) = "less",
    ROW(BENEFIT_VARIES_MORE) = "more",
    ROW(BENEFIT_VARIES_UNTOLD) = "untold",
};
TABLE_COMPLETE(benefit_varies_text);

/* ---- text ---- */

static void put_sentence(FILE *out, const struct benefit_variation *of)
{
    const struct benefit_part *less = &of->less;
    double by = 100 * fabs(less->mean);

    if (!of->programs)
        fprintf(out,
                "It cannot be told yet whether berth makes runs more even: no program has\n"
                "%d runs either way whose work and time were counted.\n",
                VARIATION_RUNS_LEAST);
    else if (of->word == BENEFIT_VARIES_UNTOLD)
        fprintf(out,
                "It cannot be told yet whether berth makes runs more even: they vary\n"
                "%.0f %% %s where berth put them (95 %%: %.0f to %.0f %% less).\n",
                by, less->mean < 0 ? "more" : "less", 100 * less->low, 100 * less->high);
    else
        fprintf(out,
                "Runs vary %s where berth put them, by %.0f %% (95 %%: %.0f to %.0f %% less).\n",
                benefit_varies_text[of->word], by, 100 * less->low, 100 * less->high);
    if (of->programs)
        fprintf(out, "%zu program%s: %zu jobs where Slurm put them, %zu where berth did%s.\n",
                of->programs, of->programs == 1 ? "" : "s", of->jobs[0], of->jobs[1],
                of->trial ? ", by the trial's lot" : "");
}

static void put_program(FILE *out, const struct benefit_varied *of)
{
    size_t length = text_fit(of->program, NAME);

    text_put(out, of->program, length);
    fprintf(out, "%*s %5u %6zu %7.1f%% %6zu %7.1f%% %5.0f%% (%.0f to %.0f)\n",
            (int)(NAME - text_columns(of->program, length)), "", of->cores, of->n[0],
            100 * of->cv[0], of->n[1], 100 * of->cv[1], 100 * of->less.mean, 100 * of->less.low,
            100 * of->less.high);
}

void variation_print(FILE *out, const struct benefit_result *result,
                     const struct benefit_about *about)
{
    const struct benefit_variation *of = &result->variation;

    (void)about;
    put_sentence(out, of);
    if (!of->listed)
        return;
    fprintf(out, "\n%-*s %5s %6s %8s %6s %8s %6s\n", NAME, "Coefficient of variation", "cores",
            "jobs", "Slurm", "jobs", "berth", "less");
    for (size_t i = 0; i < of->listed; i++)
        put_program(out, &of->list[i]);
}

/* ---- JSON ---- */

static void add_way(struct json_object *object, const char *key, size_t jobs, double cv)
{
    struct json_object *inner = json_object_new_object();

    json_add_u64(inner, "jobs", jobs);
    json_add_number(inner, "cv", cv);
    json_add(object, key, inner);
}

static struct json_object *varied_object(const struct benefit_varied *of)
{
    struct json_object *object = json_object_new_object();

    json_add_text(object, "program", of->program);
    json_add_text(object, "tag", of->tag);
    json_add_text(object, "user", of->user);
    json_add_u64(object, "uid", of->uid);
    json_add_u64(object, "cores", of->cores);
    add_way(object, "slurm", of->n[0], of->cv[0]);
    add_way(object, "berth", of->n[1], of->cv[1]);
    benefit_add_part(object, "less", &of->less);
    return object;
}

struct json_object *variation_json(const struct benefit_result *result,
                                   const struct benefit_about *about)
{
    const struct benefit_variation *of = &result->variation;
    struct json_object *object = json_object_new_object(), *list = json_object_new_array();

    json_add_text(object, "word", benefit_varies_text[of->word]);
    json_add_number(object, "since", (double)about->since);
    json_add_number(object, "until", (double)about->until);
    json_add_u64(object, "programs", of->programs);
    json_add_u64(object, "jobs_slurm", of->jobs[0]);
    json_add_u64(object, "jobs_berth", of->jobs[1]);
    json_add_bool(object, "trial", of->trial);
    benefit_add_part(object, "less", &of->less);
    for (size_t i = 0; i < of->listed; i++)
        json_append(list, varied_object(&of->list[i]));
    json_add(object, "list", list);
    return object;
}
