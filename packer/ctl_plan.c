/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl_plan - `berthctl plan`: place a workload on a machine, real or not, as berthd would or
 * better; no daemon needed.
 *
 * Read the applications, read the machine, let the policy place them, say what follows from the
 * placement: the score, each one's slowdown, and how much worse the other policies are. A figure
 * that nobody measured and nothing predicts is null. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../models/missrate.h"
#include "conf.h"
#include "ctl.h"
#include "ctl_input.h"
#include "ctl_plan.h"
#include "json.h"

static const char usage[] =
    "usage: berthctl plan [--topology XML|SYNTHETIC] [--policy P] [--matrix FILE] [--json]\n"
    "                     [--samples FILE] [--time-limit S] [FILE]\n\n"
    "Place a workload on a machine. FILE (or stdin) is a JSON object:\n"
    "  {\"apps\":[{\"name\":\"mcf\",\"cores\":1,\"ipc\":0.4,\"llc_apki\":40,\"llc_mpki\":21.5,"
    "\"mem_gbps\":3,\n"
    "            \"sdp\":{\"hits\":[...],\"misses\":21500}},...],\n"
    "   \"machine\":{\"llc_bytes\",\"llc_ways\",\"line_bytes\",\"dram_gbps\",\"clock_ghz\"}}\n"
    "What of the cache is not in \"machine\" is the topology's. The miss rate is llc_mpki * 1000, "
    "else\n"
    "sdp.misses (per million instructions), else unknown: such an application ranks as neutral.\n\n"
    "  --topology T     an hwloc XML file, or a synthetic topology (\"package:2 l3:2 core:4 "
    "pu:1\");\n"
    "                   this machine where not given\n"
    "  --policy P       contend: least slowdown as predicted; the default where ipc, llc_mpki and\n"
    "                   sdp (or llc_apki) are known of every application, else di\n"
    "                   perfect: least measured slowdown; the default with --matrix\n"
    "                   di: Distributed Intensity; dio-power: as few caches as keep devils apart\n"
    "                   missrate, pain, sdc, animal: least score of all pairs "
    "(Blagodurov 2010)\n"
    "  --matrix FILE    measured degradation, {\"apps\":[names],\"degradation\":[[fractions]]}, "
    "row i\n"
    "                   what i suffers beside each: slowdown is then the sum over an "
    "application's\n"
    "                   neighbours in its cache\n"
    "  --samples FILE   applications from a file of samples (berthctl record), one of each step:\n"
    "                   ipc, llc_apki, llc_mpki, mem_gbps and cores as they were counted; fields "
    "of\n"
    "                   the same application in FILE win, and FILE is not needed\n"
    "  --time-limit S   seconds to search for a placement, 1 where not given\n"
    "  --json           "
    "{\"placement\":[{\"name\",\"cpus\",\"llc\",\"node\"}],\"score\",\"predicted\":[{\"name\",\n"
    "                   \"slowdown\"}],\"policy\",\"exact\",\"policies\":[{\"policy\","
    "\"average_slowdown\",\n"
    "                   \"above_best\"}],\"notes\"}; \"llcs\" and \"nodes\" list them where an "
    "application\n"
    "                   has several\n\n"
    "score: what the policy makes small. contend, perfect: the sum of slowdowns; di, dio-power: "
    "the "
    "sum\n"
    "over the cores of one last-level cache of the miss rates of what runs there (misses per "
    "million\n"
    "instructions), at the cache where it is greatest (null: a miss rate is unknown); else the sum "
    "of\n"
    "the pairs' scores.\n";

void ctl_plan_note(struct ctl_plan *plan, const char *format, ...)
{
    va_list arguments;

    if (plan->notes == CTL_PLAN_NOTES)
        return;
    va_start(arguments, format);
    vsnprintf(plan->note[plan->notes++], sizeof(plan->note[0]), format, arguments);
    va_end(arguments);
}

double ctl_plan_rate(const struct ctl_plan *plan, size_t app)
{
    return missrate_of(&plan->apps.app[app]);
}

/* ---- the workload and the machine ---- */

/* What of the cache the input does not say. */
static void complete_machine(struct ctl_plan *plan)
{
    struct app_machine *machine = &plan->apps.machine;
    const struct topo_llc *llc = plan->topo->llc;
    bool alike = true;

    for (size_t i = 1; i < plan->topo->llcs; i++)
        alike = alike && llc[i].size_bytes == llc->size_bytes;
    if (isnan(machine->llc_bytes) && llc->size_bytes > 0) {
        machine->llc_bytes = (double)llc->size_bytes;
        plan->mixed = !alike;
    }
    if (machine->llc_ways == 0 && llc->ways <= CTL_APPS_WAYS_MAX)
        machine->llc_ways = llc->ways;
    if (machine->line_bytes == 0)
        machine->line_bytes = llc->line_bytes;
}

static int read_machine(struct ctl_plan *plan, struct berth_error *err)
{
    for (size_t i = 0; i < plan->apps.n; i++)
        plan->cores += plan->apps.app[i].cores;
    if (plan->cores > plan->topo->cores)
        return berth_error_set(err, "apps: they ask for %zu cores, %s has %zu", plan->cores,
                               plan->topo->name, plan->topo->cores);
    if (topo_tree_build(&plan->tree, plan->topo, &plan->topo->cpus, err) < 0)
        return -1;
    plan->room = calloc(plan->tree.level[1].count, sizeof(*plan->room));
    plan->by_di = calloc(plan->cores, sizeof(*plan->by_di));
    plan->core = calloc(plan->cores, sizeof(*plan->core));
    plan->slowdown = calloc(plan->apps.n, sizeof(*plan->slowdown));
    if (!plan->room || !plan->by_di || !plan->core || !plan->slowdown)
        return berth_error_set(err, "out of memory");
    for (size_t i = 0; i < plan->tree.level[2].count; i++)
        plan->room[plan->tree.parent[2][i]]++;
    complete_machine(plan);
    return 0;
}

/* An unprofiled application ranks as berthd ranks it by default. */
static int place_by_di(struct ctl_plan *plan, struct berth_error *err)
{
    struct di_unit *unit = calloc(plan->apps.n, sizeof(*unit));
    struct conf conf;
    int rc = -1;

    conf_init(&conf);
    for (size_t i = 0; unit && i < plan->apps.n; i++) {
        unit[i].miss_pmi = ctl_plan_rate(plan, i);
        if (isnan(unit[i].miss_pmi))
            unit[i].miss_pmi = conf.neutral_miss_pmi;
        unit[i].cores = plan->apps.app[i].cores;
    }
    if (unit)
        rc = di_place(&plan->tree.machine, plan->apps.n, unit, plan->by_di);
    free(unit);
    return rc == 0 ? 0 : berth_error_set(err, "DI: %s", strerror(errno));
}

/* ---- what is moved about ---- */

/* The same kind as an earlier unit that is the same in all that is known. */
static size_t kind_of(const struct ctl_plan *plan, struct json_object *list, size_t index)
{
    const struct ctl_plan_unit *unit = &plan->unit[index];
    struct json_object *app = json_object_array_get_idx(list, unit->app);

    for (size_t i = 0; i < index; i++)
        if (plan->unit_kind[i] == i && plan->unit_cores[i] == plan->unit_cores[index] &&
            plan->unit[i].part == unit->part && plan->unit[i].app != unit->app &&
            strcmp(plan->apps.name[plan->unit[i].app], plan->apps.name[unit->app]) == 0 &&
            json_object_equal(json_object_array_get_idx(list, plan->unit[i].app), app))
            return i;
    return index;
}

/* The apps, those that DI split as their parts. */
static int make_units(struct ctl_plan *plan, struct json_object *workload, struct berth_error *err)
{
    struct json_object *list = json_object_object_get(workload, "apps");
    const size_t *cache = plan->tree.parent[2];
    size_t slot = 0;

    plan->unit = calloc(plan->cores, sizeof(*plan->unit));
    plan->unit_cores = calloc(plan->cores, sizeof(*plan->unit_cores));
    plan->unit_kind = calloc(plan->cores, sizeof(*plan->unit_kind));
    if (!plan->unit || !plan->unit_cores || !plan->unit_kind)
        return berth_error_set(err, "out of memory");
    for (size_t i = 0; i < plan->apps.n; i++)
        for (size_t j = 0; j < plan->apps.app[i].cores; j++, slot++) {
            if (j == 0 || cache[plan->by_di[slot]] != cache[plan->by_di[slot - 1]])
                plan->unit[plan->units++] = (struct ctl_plan_unit){.app = i, .first = slot};
            plan->unit_cores[plan->units - 1]++;
        }
    for (size_t i = 0; i < plan->units; i++) {
        plan->unit[i].part =
            (double)plan->unit_cores[i] / (double)plan->apps.app[plan->unit[i].app].cores;
        plan->unit_kind[i] = kind_of(plan, list, i);
    }
    return 0;
}

/* Is enough known of each app to predict by how much it slows down? */
static bool predictable(struct ctl_plan *plan)
{
    for (size_t i = 0; i < plan->apps.n; i++) {
        const struct app *app = &plan->apps.app[i];
        const char *lacks = isnan(app->ipc) || app->ipc == 0             ? "ipc"
                            : isnan(ctl_plan_rate(plan, i))              ? "llc_mpki"
                            : app->sdp.ways == 0 && isnan(app->llc_apki) ? "sdp"
                                                                         : NULL;

        if (lacks) {
            ctl_plan_note(plan, "slowdowns are not predicted: apps[%zu].%s is not known", i, lacks);
            return false;
        }
    }
    return true;
}

/* Say what contend had to assume. */
static void note_assumptions(struct ctl_plan *plan)
{
    size_t profiles = 0, demands = 0;

    for (size_t i = 0; i < plan->units; i++) {
        profiles += (contend_assumed(plan->contend, i) & CONTEND_SDP) != 0;
        demands += (contend_assumed(plan->contend, i) & CONTEND_DEMAND) != 0;
    }
    if (profiles > 0)
        ctl_plan_note(plan,
                      "no sdp of %zu of %zu: their hits are taken as spread evenly over the ways",
                      profiles, plan->units);
    if (demands > 0)
        ctl_plan_note(plan, "no demand misses of %zu of %zu: they are taken to wait for all misses",
                      demands, plan->units);
    if (contend_assumed(plan->contend, plan->units) & CONTEND_BANDWIDTH)
        ctl_plan_note(plan, "no machine.dram_gbps: the way to memory is taken as never full");
    if (contend_assumed(plan->contend, plan->units) & CONTEND_CLOCK)
        ctl_plan_note(plan, "no machine.clock_ghz: 3 is assumed");
    if (plan->mixed)
        ctl_plan_note(plan, "the caches differ in size: all are taken for the first one");
    if (isnan(plan->apps.machine.llc_bytes))
        ctl_plan_note(plan, "no machine.llc_bytes: one MiB is assumed");
}

/* The model of the slowdowns: where the input suffices or it is asked for, and not measured. */
static int make_contend(struct ctl_plan *plan, struct berth_error *err)
{
    bool asked = plan->policy && strcmp(plan->policy, "contend") == 0;
    struct app *app;

    if (!asked && (plan->measured.file || !predictable(plan)))
        return 0;
    app = calloc(plan->units, sizeof(*app));
    if (!app)
        return berth_error_set(err, "out of memory");
    for (size_t i = 0; i < plan->units; i++) {
        app[i] = plan->apps.app[plan->unit[i].app];
        app[i].cores = plan->unit_cores[i];
        app[i].mem_gbps *= plan->unit[i].part;
        app[i].mem_read_gbps *= plan->unit[i].part;
        app[i].mem_write_gbps *= plan->unit[i].part;
    }
    plan->contend = contend_new(plan->units, app, &plan->apps.machine, NULL);
    free(app);
    if (!plan->contend)
        return berth_error_set(err, "contend: %s", strerror(errno));
    note_assumptions(plan);
    return 0;
}

static int read_matrix(struct ctl_plan *plan, struct berth_error *err)
{
    if (ctl_matrix_read(&plan->measured, plan->matrix, err) < 0)
        return -1;
    for (size_t i = 0; i < plan->apps.n; i++)
        if (ctl_matrix_index(&plan->measured, plan->apps.name[i]) < 0)
            return berth_error_set(err, "apps: the workload's apps[%zu] is not among them", i);
    return 0;
}

/* ---- the verb ---- */

static int read_time_limit(struct ctl_plan *plan, const char *text)
{
    char *end;

    errno = 0;
    plan->limit_s = strtod(text, &end);
    if (errno || end == text || *end || !(plan->limit_s >= 0) || plan->limit_s > 86400)
        return ctl_usage("plan", "--time-limit %s: 0 to 86400 seconds expected", text);
    return 0;
}

/* Read the options. 0, 2 after saying what is wrong with them, -1 after --help. */
static int read_options(struct ctl_plan *plan, int argc, char **argv)
{
    static const struct option options[] = {
        {"topology", required_argument, NULL, 't'}, {"policy", required_argument, NULL, 'p'},
        {"matrix", required_argument, NULL, 'm'},   {"samples", required_argument, NULL, 's'},
        {"json", no_argument, NULL, 'j'},           {"time-limit", required_argument, NULL, 'l'},
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
        case 's':
            plan->samples = optarg;
            break;
        case 'l':
            if (read_time_limit(plan, optarg) != 0)
                return 2;
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

/* Read, place and judge. 0, or 1 after saying what is wrong. */
static int make(struct ctl_plan *plan, struct json_object *workload)
{
    struct berth_error err;

    if (ctl_apps_read_workload(&plan->apps, workload, &err) < 0)
        return ctl_fail(ctl_input_name(plan->input), "%s", err.text);
    if (topo_read(&plan->topo, plan->topology, &err) < 0)
        return ctl_fail("topology", "%s", err.text);
    if (plan->matrix && read_matrix(plan, &err) < 0)
        return ctl_fail(plan->matrix, "%s", err.text);
    if (read_machine(plan, &err) < 0 || place_by_di(plan, &err) < 0 ||
        make_units(plan, workload, &err) < 0 || make_contend(plan, &err) < 0 ||
        ctl_plan_place(plan, &err) < 0)
        return ctl_fail("plan", "%s", err.text);
    return 0;
}

static void release(struct ctl_plan *plan)
{
    ctl_apps_free(&plan->apps);
    ctl_matrix_free(&plan->measured);
    contend_free(plan->contend);
    topo_tree_free(&plan->tree);
    topo_free(plan->topo);
    free(plan->unit);
    free(plan->unit_cores);
    free(plan->unit_kind);
    free(plan->room);
    free(plan->by_di);
    free(plan->core);
    free(plan->slowdown);
}

/* From FILE or stdin; with samples neither is needed. NULL after saying what is wrong. */
static struct json_object *read_workload(const struct ctl_plan *plan)
{
    struct json_object *workload;
    struct berth_error err;

    workload = plan->samples && !plan->input ? json_object_new_object()
                                             : ctl_input_read(plan->input, &err);
    if (!workload) {
        ctl_fail(ctl_input_name(plan->input), "%s", err.text);
        return NULL;
    }
    if (!plan->samples || ctl_plan_add_samples(workload, plan->samples, &err) == 0)
        return workload;
    ctl_fail("plan", "%s", err.text);
    json_object_put(workload);
    return NULL;
}

int ctl_plan(int argc, char **argv)
{
    struct ctl_plan plan = {.limit_s = 1};
    struct json_object *workload;
    int rc = read_options(&plan, argc, argv);

    if (rc != 0)
        return rc < 0 ? 0 : rc;
    if (plan.policy && !ctl_plan_policy_known(plan.policy))
        return ctl_fail("plan", "policy %s: unknown; there are " CTL_PLAN_POLICY_NAMES,
                        plan.policy);
    workload = read_workload(&plan);
    if (!workload)
        return 1;
    rc = make(&plan, workload);
    if (rc == 0)
        rc = plan.json ? ctl_plan_print_json(&plan) : ctl_plan_print_table(&plan);
    release(&plan);
    json_object_put(workload);
    return rc;
}
