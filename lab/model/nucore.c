/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nucore - `berthctl model numem`: the bandwidth of a given allocation of cores; and
 * `nucore`: the best allocation, of one program or of several. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/clock.h"
#include "packer/base/json_asked.h"
#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/input.h"
#include "lab/model/models.h"
#include "lab/model/nucore_proof.h"
#include "lab/model/numa.h"

/* ---- what a program gets ---- */

static int usage_init(struct numem_usage *usage, size_t nodes)
{
    usage->local = calloc(nodes, sizeof(*usage->local));
    usage->inter = calloc(nodes * nodes, sizeof(*usage->inter));
    usage->constraint = calloc(nodes, sizeof(*usage->constraint));
    return usage->local && usage->inter && usage->constraint ? 0 : -1;
}

static void usage_free(struct numem_usage *usage)
{
    free(usage->local);
    free(usage->inter);
    free(usage->constraint);
}

/* Adds "allocation", "bandwidth", "local", "inter" and "constraint". */
static void add_usage(struct json_object *output, const unsigned *allocation,
                      const struct numem_usage *usage, size_t nodes)
{
    static const struct json_field count = {.kind = JSON_UNSIGNED, .size = sizeof(*allocation)};
    static const struct json_field word = {
        .kind = JSON_WORD, .words = numem_constraint_name, .n = NUMEM_CONSTRAINTS};

    json_add(output, "allocation", json_new_list(nodes, &count, allocation, sizeof(*allocation)));
    json_add_double(output, "bandwidth", usage->bandwidth);
    json_add(output, "local", json_new_list(nodes, &json_number, usage->local, sizeof(double)));
    json_add(output, "inter",
             json_new_matrix(nodes, nodes, &json_number, usage->inter, sizeof(double)));
    json_add(output, "constraint",
             json_new_list(nodes, &word, usage->constraint, sizeof(usage->constraint[0])));
}

/* ---- numem ---- */

static struct json_object *answer_numem(const struct ctl_numa *numa, const unsigned *allocation,
                                        struct numem_usage *usage, struct berth_error *err)
{
    double start_s = clock_s();
    struct json_object *output;
    struct numem_fault fault;

    if (numem_solve(&numa->machine, &numa->program->use, allocation, usage, &fault) < 0) {
        if (fault.field)
            ctl_numa_fault(numa, &fault, 0, err);
        else
            berth_error_set(err, "%s", strerror(errno));
        return NULL;
    }
    output = json_object_new_object();
    add_usage(output, allocation, usage, numa->machine.nodes);
    json_add_text(output, "status", nucore_status_name(NUCORE_OPTIMAL));
    json_add_double(output, "seconds", clock_s() - start_s);
    return output;
}

static struct json_object *numem_of(struct json_object *input, struct berth_error *err)
{
    struct json_object *output = NULL;
    struct numem_usage usage = {0};
    struct ctl_numa numa;
    unsigned *allocation;

    if (ctl_numa_machine(&numa, input, err) < 0)
        goto out;
    json_asked_note(input, "programs");
    if (json_object_object_get_ex(input, "programs", NULL)) {
        berth_error_set(err, "programs: one program only; nucore takes several");
        goto out;
    }
    allocation = ctl_numa_counts(&numa, input, "allocation", numa.machine.nodes, err);
    if (!allocation || ctl_numa_programs(&numa, input, err) < 0)
        goto out;
    if (usage_init(&usage, numa.machine.nodes) == 0)
        output = answer_numem(&numa, allocation, &usage, err);
    else
        berth_error_set(err, "%s", strerror(ENOMEM));
out:
    usage_free(&usage);
    ctl_numa_free(&numa);
    return output;
}

/* ---- nucore ---- */

/* Adds the programs; the fields of a single one are the answer's own. */
static void add_programs(struct json_object *output, const struct ctl_numa *numa,
                         const struct nucore_result *result)
{
    size_t nodes = numa->machine.nodes;
    struct json_object *list, *program;

    if (!numa->name[0]) {
        add_usage(output, result->allocation, result->usage, nodes);
        return;
    }
    list = json_object_new_array();
    for (size_t p = 0; p < numa->programs; p++) {
        program = json_object_new_object();
        json_add(program, "name", json_object_get(numa->name[p]));
        add_usage(program, &result->allocation[p * nodes], &result->usage[p], nodes);
        json_add_double(program, "speed", result->speed[p]);
        json_add_measure(program, "solo_speed", result->solo[p]);
        json_append(list, program);
    }
    json_add(output, "programs", list);
}

/* Returns how far the objective may be from the optimum, as a fraction of the optimum. */
static double gap(const struct nucore_result *result, double bound)
{
    return fmax(0, bound - result->objective) / fmax(fabs(result->objective), 1e-9);
}

static struct json_object *describe(const struct ctl_numa *numa, const struct nucore_result *result,
                                    double bound)
{
    struct json_object *output = json_object_new_object();

    add_programs(output, numa, result);
    json_add_double(output, "objective", result->objective);
    json_add_measure(output, "bound", bound);
    json_add_measure(output, "gap", isnan(bound) ? NAN : gap(result, bound));
    json_add_text(output, "status", nucore_status_name(result->status));
    return output;
}

/* Says in err why there is no allocation. */
static void explain(const struct ctl_numa *numa, const struct nucore *nucore,
                    const struct nucore_result *result, struct berth_error *err)
{
    size_t p = result->culprit;

    if (result->status == NUCORE_UNKNOWN)
        berth_error_set(err, "time_limit_s: nothing was found so soon");
    else if (!numa->name[0])
        berth_error_set(err, "infeasible: cores_min, cores_max, least and cores contradict each "
                             "other");
    else if (p == numa->programs)
        berth_error_set(err, "programs: infeasible: the machine has too few cores for what all "
                             "must have");
    else if (nucore->fairness > 0 && !isnan(result->solo[p]))
        berth_error_set(err, "programs[%zu]: %s: infeasible: it cannot have %g of its speed alone",
                        p, json_object_get_string(numa->name[p]), nucore->fairness);
    else if (nucore->program[p].floor > 0)
        berth_error_set(err, "programs[%zu]: %s: infeasible: it cannot have %g GB/s", p,
                        json_object_get_string(numa->name[p]), nucore->program[p].floor);
    else
        berth_error_set(err, "programs[%zu]: %s: infeasible: it cannot have the cores it must have",
                        p, json_object_get_string(numa->name[p]));
}

static int solve(const struct ctl_numa *numa, const struct nucore *nucore,
                 struct nucore_result *result, struct berth_error *err)
{
    struct numem_fault fault;
    size_t program;

    if (nucore_check(nucore, &fault, &program) < 0)
        return ctl_numa_fault(numa, &fault, program, err);
    if (nucore_solve(nucore, result) < 0)
        return berth_error_set(err, "%s", strerror(errno));
    if (result->status == NUCORE_FOUND || result->status == NUCORE_LIMIT)
        return 0;
    explain(numa, nucore, result, err);
    return -1;
}

static void result_free(struct nucore_result *result, size_t programs)
{
    for (size_t p = 0; result->usage && p < programs; p++)
        usage_free(&result->usage[p]);
    free(result->allocation);
    free(result->usage);
    free(result->speed);
    free(result->solo);
}

static int result_init(struct nucore_result *result, size_t programs, size_t nodes)
{
    int rc = 0;

    *result = (struct nucore_result){0};
    result->allocation = calloc(programs * nodes, sizeof(*result->allocation));
    result->usage = calloc(programs, sizeof(*result->usage));
    result->speed = calloc(programs, sizeof(*result->speed));
    result->solo = calloc(programs, sizeof(*result->solo));
    for (size_t p = 0; result->usage && p < programs; p++)
        rc |= usage_init(&result->usage[p], nodes);
    return rc == 0 && result->allocation && result->usage && result->speed && result->solo ? 0 : -1;
}

/* How to look. */
struct search {
    double limit_s;
    bool prove;
};

/* Reads "fairness", "prove" and "time_limit_s". */
static int read_search(struct json_object *input, struct nucore *nucore, struct search *search,
                       struct berth_error *err)
{
    static const struct json_field fields[] = {
        JSON_FIELD(struct search, "prove", prove, OPTIONAL),
        JSON_END,
    };

    search->prove = false;
    if (json_get_double(input, "fairness", JSON_OPTIONAL, &nucore->fairness, err) < 0 ||
        json_read(input, fields, search, err) < 0)
        return -1;
    return ctl_input_time_limit(input, &search->limit_s, err);
}

static struct json_object *answer_nucore(const struct ctl_numa *numa, struct nucore *nucore,
                                         const struct search *search, struct berth_error *err)
{
    double start_s = clock_s(), end_s = start_s + search->limit_s, bound = NAN;
    struct json_object *output = NULL;
    struct nucore_result result;

    nucore->machine = &numa->machine;
    nucore->program = numa->program;
    nucore->programs = numa->programs;
    nucore->stop = ctl_input_is_late;
    nucore->stop_arg = &end_s;
    if (result_init(&result, numa->programs, numa->machine.nodes) < 0)
        berth_error_set(err, "%s", strerror(ENOMEM));
    else if (solve(numa, nucore, &result, err) == 0 &&
             (!search->prove || result.status != NUCORE_FOUND ||
              nucore_prove(nucore, end_s - clock_s(), &result, &bound, err) == 0)) {
        output = describe(numa, &result, bound);
        json_add_double(output, "seconds", clock_s() - start_s);
    }
    result_free(&result, numa->programs);
    return output;
}

static struct json_object *nucore_of(struct json_object *input, struct berth_error *err)
{
    struct json_object *output = NULL;
    struct nucore nucore = {0};
    struct ctl_numa numa;
    struct search search;

    if (ctl_numa_machine(&numa, input, err) == 0 && ctl_numa_programs(&numa, input, err) == 0 &&
        read_search(input, &nucore, &search, err) == 0)
        output = answer_nucore(&numa, &nucore, &search, err);
    ctl_numa_free(&numa);
    return output;
}

const struct ctl_filter ctl_filter_numem = {.whole = numem_of};
const struct ctl_filter ctl_filter_nucore = {.whole = nucore_of};
