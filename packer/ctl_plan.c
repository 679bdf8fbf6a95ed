/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl_plan - `berthctl plan`: place a workload on a machine, real or not, as berthd would; no
 * daemon needed.
 *
 * Read the applications, read the machine, let the policy place them, say what follows from the
 * placement: the score, and with a degradation matrix each one's slowdown. A figure that nobody
 * measured is null. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../models/di.h"
#include "conf.h"
#include "ctl.h"
#include "ctl_input.h"
#include "ctl_matrix.h"
#include "json.h"
#include "topo.h"

static const char usage[] =
    "usage: berthctl plan [--topology XML|SYNTHETIC] [--policy P] [--matrix FILE] [--json] "
    "[FILE]\n\n"
    "Place a workload on a machine as berthd would. FILE (or stdin) is a JSON object:\n"
    "  {\"apps\":[{\"name\":\"mcf\",\"cores\":1,\"llc_mpki\":21.5},...]}\n"
    "The miss rate is llc_mpki * 1000, else sdp.misses (per million instructions), else unknown: "
    "such\n"
    "an application ranks as neutral.\n\n"
    "  --topology T   an hwloc XML file, or a synthetic topology (\"package:2 l3:2 core:4 "
    "pu:1\");\n"
    "                 this machine where not given\n"
    "  --policy P     di: Distributed Intensity (Blagodurov 2010)\n"
    "  --matrix FILE  measured degradation, {\"apps\":[names],\"degradation\":[[fractions]]}, row "
    "i what\n"
    "                 i suffers beside each: slowdown is then the sum over an application's\n"
    "                 neighbours in its caches\n"
    "  --json         "
    "{\"placement\":[{\"name\",\"cpus\",\"llc\",\"node\"}],\"score\",\"predicted\":[{\"name\",\n"
    "                 \"slowdown\"}]}; \"llcs\" and \"nodes\" list them where an application has "
    "several\n\n"
    "score: the sum, over the cores of one last-level cache, of the miss rates of what runs there\n"
    "(misses per million instructions), at the cache where it is greatest. null: a miss rate is "
    "unknown.\n";

#define MISS_PMI_MAX 1e9 /* a thousand misses per instruction: no program does that */

struct app {
    char name[256];
    uint32_t cores;
    double miss_pmi; /* NAN: unprofiled */
    struct cpus cpus, llcs,
        nodes;       /* where it is placed: CPUs, indices of caches, numbers of NUMA nodes */
    double slowdown; /* a fraction, NAN: nothing to tell it from */
};

struct plan {
    const char *topology, *policy, *matrix, *input; /* as asked; NULL: not given */
    bool json;
    struct topo *topo;
    struct app *app; /* [n] */
    size_t n, cores; /* applications, and cores that they ask for */
    double score;    /* greatest miss rate of a cache, NAN: unknown */
};

/* ---- the applications ---- */

/* What one core of it misses, per million instructions: llc_mpki, else the misses of its
 * stack-distance profile. */
static int read_miss_rate(struct json_object *object, double *miss_pmi, struct berth_error *err)
{
    struct json_object *sdp = NULL;
    double misses = NAN, mpki = NAN;
    struct berth_error why;

    if (json_get_double(object, "llc_mpki", JSON_OPTIONAL, &mpki, err) < 0 ||
        json_get_object(object, "sdp", JSON_OPTIONAL, &sdp, err) < 0)
        return -1;
    if (sdp && json_get_double(sdp, "misses", JSON_OPTIONAL, &misses, &why) < 0)
        return berth_error_set(err, "sdp.%.400s", why.text);
    if (mpki < 0 || mpki > MISS_PMI_MAX / 1000)
        return berth_error_set(err, "llc_mpki: between 0 and %g expected", MISS_PMI_MAX / 1000);
    if (misses < 0 || misses > MISS_PMI_MAX)
        return berth_error_set(err, "sdp.misses: between 0 and %g expected", MISS_PMI_MAX);
    *miss_pmi = isnan(mpki) ? misses : mpki * 1000;
    return 0;
}

static int read_app(struct json_object *object, struct app *app, struct berth_error *err)
{
    *app = (struct app){.cores = 1, .slowdown = NAN};
    if (json_get_text(object, "name", JSON_REQUIRED, app->name, sizeof(app->name), err) < 0 ||
        json_get_u32(object, "cores", JSON_OPTIONAL, &app->cores, err) < 0 ||
        read_miss_rate(object, &app->miss_pmi, err) < 0)
        return -1;
    if (!app->name[0])
        return berth_error_set(err, "name: empty");
    return app->cores > 0 ? 0 : berth_error_set(err, "cores: at least 1 expected");
}

static int read_apps(struct plan *plan, struct json_object *input, struct berth_error *err)
{
    struct json_object *list;
    struct berth_error why;

    if (ctl_input_list(input, "apps", json_type_object, &list, err) < 0)
        return -1;
    plan->app = calloc(json_object_array_length(list), sizeof(*plan->app));
    if (!plan->app)
        return berth_error_set(err, "apps: out of memory");
    plan->n = json_object_array_length(list);
    for (size_t i = 0; i < plan->n; i++) {
        if (read_app(json_object_array_get_idx(list, i), &plan->app[i], &why) < 0)
            return berth_error_set(err, "apps[%zu].%.400s", i, why.text);
        plan->cores += plan->app[i].cores;
    }
    return 0;
}

/* ---- the placement ---- */

/* Note the cores of the machine that DI chose for an application. */
static void settle(struct app *app, const struct topo *topo, const struct topo_tree *tree,
                   const size_t *core)
{
    for (size_t i = 0; i < app->cores; i++) {
        const struct topo_core *chosen = &topo->core[tree->core_index[core[i]]];

        cpus_or(&app->cpus, &chosen->cpus);
        cpus_add(&app->llcs, chosen->llc);
    }
    topo_nodes_of(topo, &app->cpus, &app->nodes);
}

/* Place by DI; an unprofiled application ranks as berthd ranks it by default. */
static int place_by_di(struct plan *plan, const struct topo_tree *tree, struct berth_error *err)
{
    struct di_unit *unit = calloc(plan->n, sizeof(*unit));
    size_t *core = calloc(plan->cores, sizeof(*core)), *next = core;
    struct conf conf;
    int rc = -1;

    conf_init(&conf);
    for (size_t i = 0; unit && i < plan->n; i++) {
        const struct app *app = &plan->app[i];

        unit[i].miss_pmi = isnan(app->miss_pmi) ? conf.neutral_miss_pmi : app->miss_pmi;
        unit[i].cores = app->cores;
    }
    if (!unit || !core || di_place(&tree->machine, plan->n, unit, core) < 0) {
        berth_error_set(err, "DI: %s", strerror(errno));
        goto out;
    }
    for (size_t i = 0; i < plan->n; next += plan->app[i++].cores)
        settle(&plan->app[i], plan->topo, tree, next);
    rc = 0;
out:
    free(unit);
    free(core);
    return rc;
}

static int place(struct plan *plan, struct berth_error *err)
{
    struct topo_tree tree;
    int rc;

    if (plan->cores > plan->topo->cores)
        return berth_error_set(err, "apps: they ask for %zu cores, %s has %zu", plan->cores,
                               plan->topo->name, plan->topo->cores);
    if (topo_tree_build(&tree, plan->topo, &plan->topo->cpus, err) < 0)
        return -1;
    rc = place_by_di(plan, &tree, err);
    topo_tree_free(&tree);
    return rc;
}

/* ---- what follows from it ---- */

/* The miss rate of a cache: the sum over its cores of the rates of what runs there. NAN when one is
 * unknown. */
static double rate_of_llc(const struct plan *plan, size_t llc)
{
    double rate = 0;

    for (size_t i = 0; i < plan->topo->cores; i++)
        for (size_t j = 0; j < plan->n && plan->topo->core[i].llc == llc; j++)
            if (cpus_intersect(&plan->topo->core[i].cpus, &plan->app[j].cpus))
                rate += plan->app[j].miss_pmi;
    return rate;
}

/* What DI evens out: the miss rate of the cache that misses most. */
static void score(struct plan *plan)
{
    plan->score = 0;
    for (size_t llc = 0; llc < plan->topo->llcs; llc++) {
        double rate = rate_of_llc(plan, llc);

        if (isnan(rate) || rate > plan->score)
            plan->score = rate;
        if (isnan(rate))
            return;
    }
}

/* An application's slowdown: what it suffers beside each application that shares a cache with it.
 */
static double slowdown(const struct plan *plan, size_t victim, const struct ctl_matrix *matrix,
                       const size_t *row)
{
    double sum = 0;

    for (size_t i = 0; i < plan->n; i++)
        if (i != victim && cpus_intersect(&plan->app[i].llcs, &plan->app[victim].llcs))
            sum += ctl_matrix_at(matrix, row[victim], row[i]);
    return sum;
}

static int predict(struct plan *plan, const struct ctl_matrix *matrix, struct berth_error *err)
{
    size_t *row = calloc(plan->n, sizeof(*row));
    int rc = row ? 0 : berth_error_set(err, "out of memory");

    for (size_t i = 0; rc == 0 && i < plan->n; i++) {
        long found = ctl_matrix_index(matrix, plan->app[i].name);

        if (found < 0)
            rc = berth_error_set(err, "apps: the workload's apps[%zu] is not among them", i);
        else
            row[i] = (size_t)found;
    }
    for (size_t i = 0; rc == 0 && i < plan->n; i++)
        plan->app[i].slowdown = slowdown(plan, i, matrix, row);
    free(row);
    return rc;
}

/* ---- the answer ---- */

/* The first of the set as `one`, and all of them as `all` where they are several. */
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
    cpus_foreach(index, set) json_object_array_add(list, json_object_new_uint64(index));
    json_object_object_add(object, all, list);
}

/* A number, or null for NAN. */
static void add_number(struct json_object *object, const char *key, double value)
{
    json_object_object_add(object, key, isnan(value) ? NULL : json_object_new_double(value));
}

static int print_json(const struct plan *plan)
{
    struct json_object *output = json_object_new_object();
    struct json_object *placement = json_object_new_array(), *predicted = json_object_new_array();

    for (size_t i = 0; i < plan->n; i++) {
        struct json_object *place = json_object_new_object(), *outlook = json_object_new_object();
        const struct app *app = &plan->app[i];

        json_add_text(place, "name", app->name);
        json_add_cpus(place, "cpus", &app->cpus);
        add_indices(place, "llc", "llcs", &app->llcs);
        add_indices(place, "node", "nodes", &app->nodes);
        json_object_array_add(placement, place);
        json_add_text(outlook, "name", app->name);
        add_number(outlook, "slowdown", app->slowdown);
        json_object_array_add(predicted, outlook);
    }
    json_object_object_add(output, "placement", placement);
    add_number(output, "score", plan->score);
    json_object_object_add(output, "predicted", predicted);
    return ctl_print_json(output);
}

/* "3", "0,2"; "-" for none. */
static void put_set(const struct cpus *set, char *text, size_t size)
{
    if (cpus_empty(set) || cpus_format(set, text, size) < 0)
        snprintf(text, size, "%s", cpus_empty(set) ? "-" : "...");
}

/* A measure with `digits` after the point; "-" where there is none. */
static void put_measure(double value, int digits, char text[32])
{
    snprintf(text, 32, "%.*f", digits, value);
    if (isnan(value))
        snprintf(text, 32, "-");
}

static void print_app(const struct app *app)
{
    char cpus[512], llcs[64], nodes[64], rate[32], loss[32], line[1024];

    put_set(&app->cpus, cpus, sizeof(cpus));
    put_set(&app->llcs, llcs, sizeof(llcs));
    put_set(&app->nodes, nodes, sizeof(nodes));
    put_measure(app->miss_pmi, 0, rate);
    put_measure(app->slowdown, 3, loss);
    snprintf(line, sizeof(line), "%-20s %-5s %-5s %8s %9s  %s", app->name, llcs, nodes, rate, loss,
             cpus);
    ctl_put_line(stdout, line, ctl_columns());
}

static int print_table(const struct plan *plan)
{
    char rate[32];

    printf("%-20s %-5s %-5s %8s %9s  %s\n", "NAME", "LLC", "NODE", "MISS/MI", "SLOWDOWN", "CPUS");
    for (size_t i = 0; i < plan->n; i++)
        print_app(&plan->app[i]);
    put_measure(plan->score, 0, rate);
    printf("\n%s: %zu of %zu cores, placed by %s\n", plan->topo->name, plan->cores,
           plan->topo->cores, plan->policy);
    printf("score: %s (misses per million instructions in the busiest cache)\n", rate);
    return fflush(stdout) == 0 ? 0 : ctl_fail("stdout", "%s", strerror(errno));
}

/* ---- the verb ---- */

/* Read the options. 0, 2 after saying what is wrong with them, -1 after --help. */
static int read_options(struct plan *plan, int argc, char **argv)
{
    static const struct option options[] = {
        {"topology", required_argument, NULL, 't'}, {"policy", required_argument, NULL, 'p'},
        {"matrix", required_argument, NULL, 'm'},   {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},           {0}};
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1)
        switch (option) {
        case 't':
            plan->topology = optarg;
            break;
        case 'p':
            plan->policy = optarg;
            break;
        case 'm':
            plan->matrix = optarg;
            break;
        case 'j':
            plan->json = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return -1;
        case ':':
            return ctl_usage("plan", "%s: a value is missing", argv[optind - 1]);
        default:
            return ctl_usage("plan", "%s: no such option", argv[optind - 1]);
        }
    if (optind + 1 < argc)
        return ctl_usage("plan", "%s: one FILE only", argv[optind + 1]);
    plan->input = argv[optind];
    return 0;
}

/* Read, place and predict. 0, or 1 after saying what is wrong. */
static int make(struct plan *plan, struct json_object *input)
{
    struct ctl_matrix matrix;
    struct berth_error err;
    int rc;

    if (read_apps(plan, input, &err) < 0)
        return ctl_fail(ctl_input_name(plan->input), "%s", err.text);
    if (topo_read(&plan->topo, plan->topology, &err) < 0)
        return ctl_fail("topology", "%s", err.text);
    if (place(plan, &err) < 0)
        return ctl_fail("plan", "%s", err.text);
    score(plan);
    if (!plan->matrix)
        return 0;
    rc = ctl_matrix_read(&matrix, plan->matrix, &err);
    if (rc == 0)
        rc = predict(plan, &matrix, &err);
    ctl_matrix_free(&matrix);
    return rc == 0 ? 0 : ctl_fail(plan->matrix, "%s", err.text);
}

int ctl_plan(int argc, char **argv)
{
    struct plan plan = {.policy = "di"};
    struct json_object *input;
    struct berth_error err;
    int rc = read_options(&plan, argc, argv);

    if (rc != 0)
        return rc < 0 ? 0 : rc;
    if (strcmp(plan.policy, "di") != 0)
        return ctl_fail("plan", "policy %s: not built into this berthctl; built in: di",
                        plan.policy);
    input = ctl_input_read(plan.input, &err);
    if (!input)
        return ctl_fail(ctl_input_name(plan.input), "%s", err.text);
    rc = make(&plan, input);
    if (rc == 0)
        rc = plan.json ? print_json(&plan) : print_table(&plan);
    json_object_put(input);
    topo_free(plan.topo);
    free(plan.app);
    return rc;
}
