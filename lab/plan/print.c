/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print - the answer of `berthctl plan`, for a program or for a person. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/slowdown/missrate.h"
#include "packer/base/json.h"
#include "packer/base/text.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/drawing.h"
#include "packer/cli/common/screen.h"
#include "lab/plan/plan.h"

/* Says where an app is: CPUs, indices of caches, numbers of NUMA nodes. */
struct place {
    struct cpus cpus, llcs, nodes;
};

static struct place place_of(const struct ctl_plan *plan, const size_t *core, size_t cores)
{
    struct place place = {0};

    for (size_t i = 0; i < cores; i++) {
        const struct topo_core *chosen = &plan->topo->core[plan->tree.core_index[core[i]]];

        cpus_or(&place.cpus, &chosen->cpus);
        cpus_add(&place.llcs, chosen->llc);
    }
    topo_nodes_of(plan->topo, &place.cpus, &place.nodes);
    return place;
}

/* Returns the least average slowdown of the policies; NAN where none was judged. */
static double least_average(const struct ctl_plan *plan)
{
    double best = NAN;

    for (size_t i = 0; i < plan->compared; i++)
        best = fmin(best, plan->other[i].average);
    return best;
}

/* Is the placement judged by a model? */
static bool is_predicted(const struct ctl_plan *plan)
{
    return plan->contend && !plan->measured.file;
}

/* ---- JSON ---- */

/* Adds the first of the set as `one`, and all of them as `all` where they are several. */
static void add_indices(struct json_object *object, const char *one, const char *all,
                        const struct cpus *set)
{
    struct json_object *list;

    if (cpus_empty(set))
        json_add_text(object, one, NULL);
    else
        json_add_u64(object, one, cpus_next(set, 0));
    if (cpus_count(set) < 2)
        return;
    list = json_object_new_array();
    cpus_foreach(index, set) json_append(list, json_object_new_uint64(index));
    json_add(object, all, list);
}

/* Adds a number, or null for NAN. */
static void add_number(struct json_object *object, const char *key, double value)
{
    json_add(object, key, isnan(value) ? NULL : json_object_new_double(value));
}

static struct json_object *policies(const struct ctl_plan *plan)
{
    struct json_object *list = json_object_new_array();

    for (size_t i = 0; i < plan->compared; i++) {
        struct json_object *policy = json_object_new_object();

        json_add_text(policy, "policy", plan->other[i].policy);
        add_number(policy, "average_slowdown", plan->other[i].average);
        add_number(policy, "above_best",
                   plan->compared > 1 ? plan->other[i].average - least_average(plan) : NAN);
        add_number(policy, "fairness", plan->other[i].fairness);
        json_append(list, policy);
    }
    return list;
}

static struct json_object *notes(const struct ctl_plan *plan)
{
    struct json_object *list = json_object_new_array();

    for (size_t i = 0; i < plan->notes; i++)
        json_append(list, json_object_new_string(plan->note[i]));
    return list;
}

int ctl_plan_print_json(const struct ctl_plan *plan)
{
    struct json_object *output = json_object_new_object();
    struct json_object *placement = json_object_new_array(), *predicted = json_object_new_array();
    const size_t *core = plan->core;

    for (size_t i = 0; i < plan->apps.n; core += plan->apps.app[i++].cores) {
        struct json_object *where = json_object_new_object(), *outlook = json_object_new_object();
        struct place place = place_of(plan, core, plan->apps.app[i].cores);

        json_add_text(where, "name", plan->apps.name[i]);
        json_add_cpus(where, "cpus", &place.cpus);
        add_indices(where, "llc", "llcs", &place.llcs);
        add_indices(where, "node", "nodes", &place.nodes);
        json_append(placement, where);
        json_add_text(outlook, "name", plan->apps.name[i]);
        add_number(outlook, "slowdown", plan->slowdown[i]);
        json_append(predicted, outlook);
    }
    json_add(output, "placement", placement);
    add_number(output, "score", plan->score);
    if (is_predicted(plan))
        add_number(output, "lost_cores", plan->lost);
    json_add(output, "predicted", predicted);
    json_add_text(output, "policy", plan->policy);
    json_add(output, "exact", json_object_new_boolean(plan->exact));
    json_add(output, "policies", policies(plan));
    json_add(output, "notes", notes(plan));
    return ctl_print_json(output);
}

/* ---- a page ---- */

/* Writes "3" or "0,2"; "-" for none. */
static void put_set(const struct cpus *set, char *text, size_t size)
{
    if (cpus_empty(set) || cpus_format(set, text, size) < 0)
        snprintf(text, size, "%s", cpus_empty(set) ? "-" : "...");
}

static void print_app(const struct ctl_plan *plan, size_t app, const struct place *place)
{
    char cpus[512], llcs[64], nodes[64], rate[32], loss[32], line[1024];

    put_set(&place->cpus, cpus, sizeof(cpus));
    put_set(&place->llcs, llcs, sizeof(llcs));
    put_set(&place->nodes, nodes, sizeof(nodes));
    snprintf(line, sizeof(line), "%-20s %-5s %-5s %8s %9s  %s", plan->apps.name[app], llcs, nodes,
             ctl_measure(missrate_of(&plan->apps.app[app]), 0, rate),
             screen_percent(plan->slowdown[app], loss), cpus);
    ctl_put_line(stdout, line, ctl_columns());
}

/* ---- the machine ---- */

/* Fills in what the caches are. */
static void draw_caches(struct drawing *drawing, const struct topo *topo)
{
    for (size_t i = 0; i < drawing->n; i++) {
        drawing->cache[i].number = i;
        drawing->cache[i].package = topo->llc[i].package;
        drawing->cache[i].size_bytes = topo->llc[i].size_bytes;
        drawing->cache[i].known = true;
    }
    for (size_t i = 0; drawing->n && i < topo->cores; i++)
        drawing->cache[topo->core[i].llc].cores++;
}

/* Makes the drawing of the placement. Returns 0, or -1 with ENOMEM. */
static int draw(struct drawing *drawing, const struct ctl_plan *plan)
{
    const struct topo *topo = plan->topo;
    const size_t *core = plan->core;
    int rc = drawing_new(drawing, topo->llcs);

    draw_caches(drawing, topo);
    for (size_t i = 0; rc == 0 && i < plan->apps.n; core += plan->apps.app[i++].cores) {
        struct place place = place_of(plan, core, plan->apps.app[i].cores);
        struct drawing_who who = {.slowdown = plan->slowdown[i], .predicted = !plan->measured.file};

        snprintf(who.name, sizeof(who.name), "%.*s",
                 (int)text_fit(plan->apps.name[i], DRAWING_NAME_MAX / 4 - 1), plan->apps.name[i]);
        for (size_t j = 0; rc == 0 && j < topo->llcs; j++)
            rc = drawing_add(&drawing->cache[j], &topo->llc[j].cpus, &place.cpus, &who);
    }
    for (size_t i = 0; i < drawing->n; i++)
        for (size_t j = 0; j < drawing->cache[i].n; j++)
            drawing->cache[i].used += drawing->cache[i].who[j].cores;
    return rc;
}

static void print_machine(const struct ctl_plan *plan)
{
    struct screen screen = screen_stdout();
    struct drawing drawing = {0};

    if (draw(&drawing, plan) == 0)
        drawing_put(&drawing, &screen);
    drawing_free(&drawing);
    putchar('\n');
}

int ctl_plan_write_svg(const struct ctl_plan *plan)
{
    struct drawing drawing = {0};
    struct berth_error err;
    char title[256];
    int rc = draw(&drawing, plan);

    snprintf(title, sizeof(title), "%.128s: %zu programs, placed by %.32s", plan->topo->name,
             plan->apps.n, plan->policy);
    drawing.title = title;
    if (rc < 0)
        ctl_fail("plan", "%s", strerror(errno));
    else if ((rc = drawing_write_svg(&drawing, plan->svg, &err)) < 0)
        ctl_fail(plan->svg, "%s", err.text);
    drawing_free(&drawing);
    return rc < 0 ? 1 : 0;
}

/* Returns what the score is of. */
static const char *measure(const char *policy)
{
    if (strcmp(policy, "contend") == 0)
        return "sum of predicted slowdowns";
    if (strcmp(policy, "perfect") == 0)
        return "sum of measured slowdowns";
    if (strcmp(policy, "di") == 0 || strcmp(policy, "dio-power") == 0)
        return "misses per million instructions in the busiest cache";
    return "sum of the scores of all pairs";
}

static void print_score(const struct ctl_plan *plan)
{
    char score[32];
    bool small = fabs(plan->score) < 1000;

    printf("score: %s (%s)\n",
           ctl_measure(plan->score, small && plan->score != floor(plan->score) ? 3 : 0, score),
           measure(plan->policy));
    if (is_predicted(plan))
        printf("lost work: %s of %zu cores (predicted)\n", ctl_measure(plan->lost, 3, score),
               plan->cores);
}

static void print_policies(const struct ctl_plan *plan)
{
    if (plan->compared == 0)
        return;
    printf("\n%-10s %18s %18s %9s\n", "POLICY", "AVERAGE SLOWDOWN %", "POINTS ABOVE BEST",
           "FAIRNESS");
    for (size_t i = 0; i < plan->compared; i++) {
        char average[32], above[32], fairness[32];

        printf("%-10s %18s %18s %9s\n", plan->other[i].policy,
               ctl_measure(100 * plan->other[i].average, 2, average),
               ctl_measure(plan->compared > 1 ? 100 * (plan->other[i].average - least_average(plan))
                                              : NAN,
                           2, above),
               ctl_measure(plan->other[i].fairness, 3, fairness));
    }
}

/* Has another policy of the table a smaller average slowdown? */
static bool is_beaten(const struct ctl_plan *plan)
{
    for (size_t i = 0; i < plan->compared; i++)
        if (strcmp(plan->other[i].policy, plan->policy) == 0)
            return 100 * (plan->other[i].average - least_average(plan)) >= 0.005; /* as printed */
    return false;
}

/* What is proven of the placement: what its policy seeks, which the table may not show. */
static const char *proof(const struct ctl_plan *plan)
{
    if (!plan->exact)
        return "";
    if (!is_beaten(plan))
        return ", proven best";
    return is_predicted(plan) ? ", proven to lose the least work"
                              : ", proven to have the least score";
}

int ctl_plan_print_table(const struct ctl_plan *plan)
{
    const size_t *core = plan->core;

    print_machine(plan);
    printf("%-20s %-5s %-5s %8s %9s  %s\n", "NAME", "LLC", "NODE", "MISS/MI", "SLOWDOWN", "CPUS");
    for (size_t i = 0; i < plan->apps.n; core += plan->apps.app[i++].cores) {
        struct place place = place_of(plan, core, plan->apps.app[i].cores);

        print_app(plan, i, &place);
    }
    printf("\n%s: %zu of %zu %s, placed by %s%s\n", plan->topo->name, plan->cores,
           plan->topo->cores, plan->topo->split ? "hardware threads" : "cores", plan->policy,
           proof(plan));
    print_score(plan);
    print_policies(plan);
    for (size_t i = 0; i < plan->notes; i++)
        printf("%snote: %s\n", i == 0 ? "\n" : "", plan->note[i]);
    return fflush(stdout) == 0 ? 0 : ctl_fail("stdout", "%s", strerror(errno));
}
