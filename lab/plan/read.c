/* SPDX-License-Identifier: GPL-2.0-or-later */
/* read - what `berthctl plan` is to place: the applications, the machine, the parts that
 * policies move about, and the model of their slowdowns. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/placing/dio_power.h"
#include "models/slowdown/missrate.h"
#include "packer/base/json_asked.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/input.h"
#include "lab/plan/observed.h"
#include "lab/plan/plan.h"
#include "lab/plan/stored.h"
#include "packer/conf/conf.h"
#include "packer/machine/type.h"
#include "packer/profiles/profiles.h"
#include "packer/system/rootfs.h"

void ctl_plan_note(struct ctl_plan *plan, const char *format, ...)
{
    va_list arguments;

    if (plan->notes == CTL_PLAN_NOTES)
        return;
    va_start(arguments, format);
    vsnprintf(plan->note[plan->notes++], sizeof(plan->note[0]), format, arguments);
    va_end(arguments);
}

/* ---- the workload and the machine ---- */

/* Reads the profile of this machine, if that is what is planned for and it was measured. */
static struct machine_profile *own_profile(const struct ctl_plan *plan)
{
    struct berth_error err;
    struct conf conf;

    if (plan->topology || ctl_conf(NULL, &conf, &err) < 0)
        return NULL;
    return machine_profile_read(conf.machine_profile, &err);
}

/* Completes the machine by what memory gives, where the input does not say it. */
static void complete_memory(struct ctl_plan *plan)
{
    struct app_machine *machine = &plan->apps.machine;
    struct machine_profile *profile = own_profile(plan);
    struct berth_error err;
    struct rootfs root;

    if (rootfs_open(&root, "/", &err) == 0) {
        bandwidth_find(plan->topo, plan->topology, profile, &root, &plan->bandwidth);
        rootfs_close(&root);
    }
    machine_profile_free(profile);
    machine->caches = topo_sharing(plan->topo);
    if (!(machine->port_gbps > 0))
        machine->port_gbps = plan->bandwidth.port_gbps;
    if (!(machine->core_gbps > 0))
        machine->core_gbps = plan->bandwidth.core_gbps;
    if (machine->dram_gbps > 0 || !(plan->bandwidth.gbps > 0))
        return;
    machine->dram_gbps = plan->bandwidth.gbps;
    machine->dram_calibrated = !bandwidth_assumed(&plan->bandwidth);
    plan->assumed = bandwidth_assumed(&plan->bandwidth);
}

/* Completes the machine by what of the cache the input does not say. */
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
    complete_memory(plan);
}

/* Finds the NUMA node next to each cache. */
static int find_memory(struct ctl_plan *plan)
{
    const struct topo *topo = plan->topo;
    struct cpus nodes, seen = {0};

    plan->memory = calloc(plan->tree.level[TOPO_CACHE].count, sizeof(*plan->memory));
    if (!plan->memory)
        return -1;
    for (size_t i = plan->tree.level[TOPO_CORE].count; i-- > 0;) {
        topo_nodes_of(topo, &topo->core[plan->tree.core_index[i]].cpus, &nodes);
        plan->memory[plan->tree.parent[TOPO_CORE][i]] =
            cpus_empty(&nodes) ? 0 : cpus_next(&nodes, 0);
    }
    for (size_t i = 0; i < plan->tree.level[TOPO_CACHE].count; i++) {
        plan->joined |= cpus_has(&seen, plan->memory[i]);
        cpus_add(&seen, plan->memory[i]);
    }
    return 0;
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
    if (find_memory(plan) < 0)
        return berth_no_memory(err);
    plan->room = calloc(plan->tree.level[TOPO_CACHE].count, sizeof(*plan->room));
    plan->by_di = calloc(plan->cores, sizeof(*plan->by_di));
    plan->core = calloc(plan->cores, sizeof(*plan->core));
    plan->slowdown = calloc(plan->apps.n, sizeof(*plan->slowdown));
    if (!plan->room || !plan->by_di || !plan->core || !plan->slowdown)
        return berth_no_memory(err);
    for (size_t i = 0; i < plan->tree.level[TOPO_CORE].count; i++)
        plan->room[plan->tree.parent[TOPO_CORE][i]]++;
    complete_machine(plan);
    return 0;
}

double ctl_plan_rank(const struct ctl_plan *plan, size_t app)
{
    double rate = missrate_of(&plan->apps.app[app]);

    return isnan(rate) ? CONF_NEUTRAL_MISS_PMI : rate;
}

/* Returns an app's hits per million instructions with all of a cache; NAN not known. */
static double hits_of(const struct app *app)
{
    double hits = 0;

    if (app->sdp.ways == 0)
        return 1000 * (app->llc_apki - app->llc_mpki);
    for (size_t i = 0; i < app->sdp.ways; i++)
        hits += app->sdp.hits[i];
    return hits;
}

/* Has some cache so many cores? */
static bool fits(const struct ctl_plan *plan, size_t cores)
{
    for (size_t i = 0; i < plan->tree.level[1].count; i++)
        if (plan->room[i] >= cores)
            return true;
    return false;
}

bool ctl_plan_divisible(const struct ctl_plan *plan, size_t app)
{
    const struct app *it = &plan->apps.app[app];

    if (it->cores < 2 || it->threads == APP_PACK || plan->measured.file)
        return false;
    return it->threads == APP_SPREAD || (ctl_plan_rank(plan, app) >= DIO_POWER_DEVIL_MISS_PMI &&
                                         !(isnan(it->shared) && fits(plan, it->cores)));
}

bool ctl_plan_apart(const struct ctl_plan *plan, size_t app)
{
    const struct app *it = &plan->apps.app[app];
    double half = app_far(it->cores, it->cores - it->cores / 2);

    return ctl_plan_divisible(plan, app) &&
           (it->threads == APP_SPREAD ||
            !(it->shared * half * hits_of(it) >= ctl_plan_rank(plan, app)));
}

static int compare_core(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

static int place_by_di(struct ctl_plan *plan, struct berth_error *err)
{
    struct di_unit *unit = calloc(plan->cores, sizeof(*unit));
    size_t n = 0;
    int rc = -1;

    for (size_t i = 0; unit && i < plan->apps.n; i++) {
        size_t cores = plan->apps.app[i].cores, pieces = ctl_plan_apart(plan, i) ? cores : 1;

        for (size_t j = 0; j < pieces; j++)
            unit[n++] = (struct di_unit){ctl_plan_rank(plan, i), cores / pieces};
    }
    if (unit)
        rc = di_place(&plan->tree.machine, n, unit, plan->by_di);
    for (size_t i = 0, at = 0; rc == 0 && i < plan->apps.n; at += plan->apps.app[i++].cores)
        qsort(plan->by_di + at, plan->apps.app[i].cores, sizeof(*plan->by_di), compare_core);
    free(unit);
    return rc == 0 ? 0 : berth_error_set(err, "DI: %s", strerror(errno));
}

/* ---- what is moved about ---- */

/* Returns a unit's kind: that of an earlier unit which is the same in all that is known, or another
 * core of the same app, else its own index. */
static size_t kind_of(const struct ctl_plan *plan, struct json_object *list, size_t index)
{
    const struct ctl_plan_unit *unit = &plan->unit[index];
    struct json_object *app = json_object_array_get_idx(list, unit->app);

    for (size_t i = 0; i < index; i++)
        if (plan->unit[i].app == unit->app && plan->unit_kind[i] == i &&
            ctl_plan_divisible(plan, unit->app))
            return i;
        else if (plan->unit_kind[i] == i && plan->unit_cores[i] == plan->unit_cores[index] &&
                 plan->unit[i].part == 1 && unit->part == 1 && plan->unit[i].app != unit->app &&
                 strcmp(plan->apps.name[plan->unit[i].app], plan->apps.name[unit->app]) == 0 &&
                 json_object_equal(json_object_array_get_idx(list, plan->unit[i].app), app))
            return i;
    return index;
}

/* Makes a unit of each app, of each of its parts where DI split it, or of each core. */
static int make_units(struct ctl_plan *plan, struct json_object *workload, struct berth_error *err)
{
    struct json_object *list = json_find(workload, "apps");
    const size_t *cache = plan->tree.parent[TOPO_CORE];
    size_t slot = 0;

    plan->unit = calloc(plan->cores, sizeof(*plan->unit));
    plan->unit_cores = calloc(plan->cores, sizeof(*plan->unit_cores));
    plan->unit_kind = calloc(plan->cores, sizeof(*plan->unit_kind));
    if (!plan->unit || !plan->unit_cores || !plan->unit_kind)
        return berth_no_memory(err);
    for (size_t i = 0; i < plan->apps.n; i++)
        for (size_t j = 0; j < plan->apps.app[i].cores; j++, slot++) {
            if (j == 0 || ctl_plan_divisible(plan, i) ||
                cache[plan->by_di[slot]] != cache[plan->by_di[slot - 1]])
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
                            : isnan(missrate_of(&plan->apps.app[i]))     ? "llc_mpki"
                            : app->sdp.ways == 0 && isnan(app->llc_apki) ? "sdp"
                                                                         : NULL;

        if (lacks) {
            ctl_plan_note(plan, "slowdowns are not predicted: apps[%zu].%s is not known", i, lacks);
            return false;
        }
    }
    return true;
}

/* Notes what contend had to assume. */
static void note_assumptions(struct ctl_plan *plan)
{
    size_t profiles = 0, demands = 0;

    for (size_t i = 0; i < plan->units; i++) {
        unsigned assumed = contend_assumed(plan->contend, i);

        if (i > 0 && plan->unit[i].app == plan->unit[i - 1].app)
            continue;
        profiles += (assumed & CONTEND_SDP) != 0;
        demands += (assumed & CONTEND_DEMAND) != 0;
    }
    if (profiles > 0)
        ctl_plan_note(plan,
                      "no sdp of %zu of %zu: their hits are taken to fall off exponentially with "
                      "their share",
                      profiles, plan->apps.n);
    if (demands > 0)
        ctl_plan_note(plan, "no demand misses of %zu of %zu: they are taken to wait for all misses",
                      demands, plan->apps.n);
    if (plan->assumed)
        ctl_plan_note(plan,
                      "no machine.dram_gbps: %zu x %.0f GB/s are assumed, %s, and what programs "
                      "take; none that is less even than DI's is taken",
                      plan->bandwidth.nodes, plan->bandwidth.gbps,
                      bandwidth_source_text[plan->bandwidth.source]);
    if (contend_assumed(plan->contend, plan->units) & CONTEND_CLOCK)
        ctl_plan_note(plan, "no machine.clock_ghz: 3 is assumed");
    if (plan->mixed)
        ctl_plan_note(plan, "the caches differ in size: all are taken for the largest one");
    if (plan->topo->kinds > 1)
        ctl_plan_note(plan, "the cores are of %zu kinds: all are taken for one", plan->topo->kinds);
    if (isnan(plan->apps.machine.llc_bytes))
        ctl_plan_note(plan, "no machine.llc_bytes: one MiB is assumed");
}

/* Adds the pairs that this machine's profile store has of the programs. A store that cannot be read
 * has none. */
static void add_own_pairs(struct ctl_plan *plan, struct json_object *workload)
{
    char type[PROFILE_MACHINE_MAX] = "";
    struct berth_error err;
    struct rootfs root;
    struct conf conf;
    size_t added = 0;

    if (ctl_conf(NULL, &conf, &err) < 0 || rootfs_open(&root, "/", &err) < 0)
        return;
    machine_type(plan->topo, &root, type, sizeof(type));
    rootfs_close(&root);
    if (!type[0] || ctl_stored_read_store(workload, &plan->apps, &conf, type, &added, &err) < 0)
        return;
    if (added > 0)
        ctl_plan_note(plan, "%zu pairs of these programs were measured here (berthctl pairs)",
                      added);
}

/* Adds measured pairs: from the file that was asked for, else of this machine where it is planned
 * for. */
static int add_pairs(struct ctl_plan *plan, struct json_object *workload, struct berth_error *err)
{
    size_t added;

    if (!plan->pairs) {
        if (!plan->topology)
            add_own_pairs(plan, workload);
        return 0;
    }
    if (ctl_stored_read_file(workload, &plan->apps, plan->pairs, &added, err) < 0)
        return berth_error_before(err, "%.300s: ", plan->pairs);
    ctl_plan_note(plan, "%zu measured pairs of %.150s are about these programs", added,
                  plan->pairs);
    return 0;
}

/* Reads what was measured of the programs beside each other, which corrects the model. */
static int read_observed(struct ctl_plan *plan, struct json_object *workload,
                         struct berth_error *err)
{
    struct contend *whole;
    int rc;

    plan->unit_app = calloc(plan->units, sizeof(*plan->unit_app));
    if (!plan->unit_app)
        return berth_no_memory(err);
    for (size_t i = 0; i < plan->units; i++)
        plan->unit_app[i] = (size_t)ctl_apps_index(&plan->apps, plan->apps.name[plan->unit[i].app]);
    if (!json_find(workload, "observed"))
        return 0;
    whole = contend_new(plan->apps.n, plan->apps.app, &plan->apps.machine, NULL);
    if (!whole)
        return berth_error_set(err, "contend: %s", strerror(errno));
    rc = ctl_observed_read(&plan->evidence, &plan->apps, whole, workload, err);
    contend_free(whole);
    return rc;
}

/* Makes the model of the slowdowns where it is asked for, or where the input suffices and nothing
 * is measured. */
static int make_contend(struct ctl_plan *plan, struct berth_error *err)
{
    bool asked = plan->policy && strcmp(plan->policy, "contend") == 0;
    struct app *app;

    if (!asked && (plan->measured.file || !predictable(plan)))
        return 0;
    app = calloc(plan->units, sizeof(*app));
    if (!app)
        return berth_no_memory(err);
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

int ctl_plan_read(struct ctl_plan *plan, struct json_object *workload)
{
    struct berth_error err;

    if (ctl_apps_read_workload(&plan->apps, workload, &err) < 0)
        return ctl_fail(ctl_input_name(plan->input), "%s", err.text);
    if (topo_read(&plan->topo, plan->topology, &err) < 0)
        return ctl_fail("topology", "%s", err.text);
    if (plan->threads && topo_split(plan->topo, &err) < 0)
        return ctl_fail("topology", "%s", err.text);
    if (plan->matrix && read_matrix(plan, &err) < 0)
        return ctl_fail(plan->matrix, "%s", err.text);
    if (read_machine(plan, &err) < 0 || place_by_di(plan, &err) < 0 ||
        make_units(plan, workload, &err) < 0 || make_contend(plan, &err) < 0 ||
        ((plan->contend || plan->pairs) && add_pairs(plan, workload, &err) < 0) ||
        (plan->contend && read_observed(plan, workload, &err) < 0))
        return ctl_fail("plan", "%s", err.text);
    if (plan->pairs && !plan->contend)
        ctl_plan_note(plan, "--pairs: nothing is predicted that they could correct");
    return 0;
}

void ctl_plan_clear(struct ctl_plan *plan)
{
    ctl_apps_free(&plan->apps);
    ctl_matrix_free(&plan->measured);
    contend_free(plan->contend);
    evidence_free(plan->evidence);
    topo_tree_free(&plan->tree);
    topo_free(plan->topo);
    free(plan->unit);
    free(plan->unit_cores);
    free(plan->unit_kind);
    free(plan->unit_app);
    free(plan->memory);
    free(plan->room);
    free(plan->by_di);
    free(plan->core);
    free(plan->slowdown);
}
