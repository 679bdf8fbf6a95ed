/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters_perf - hardware and software events of a step, counted by the kernel for its cgroup on
 * the CPUs where it may run, so that every process of the step is in it.
 *
 * What each event counts is the event table's matter (perf_events.h), what fits into the PMU at
 * once perf_plan.h's, and which cgroup it is perf_cgroup.h's. */
#include "packer/counters/counters.h"

#include <errno.h>
#include <linux/capability.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/counters/perf_cgroup.h"
#include "packer/counters/perf_events.h"
#include "packer/counters/perf_group.h"
#include "packer/counters/perf_plan.h"
#include "packer/system/capabilities.h"
#include "packer/system/perf_open.h"

#define STRAYS_MAX 64
#define CPU_CLOCK 0 /* of the software events: the time on a CPU */

struct state {
    struct counters_node node;
    struct perf_hierarchy hierarchy;
    struct perf_plan plan;
    struct perf_events events; /* n 0: software events only */
    uint32_t can;
    size_t strays; /* steps whose cgroups were busy when they were to be removed */
    struct wire_step_id stray[STRAYS_MAX];
};

struct step {
    struct wire_step_id id;
    struct perf_cgroup cgroup;
    int fd; /* the cgroup's directory */
    struct perf_set set;
    struct berth_error broken; /* why it could not follow the step; "" it could */
};

/* Every event of every step on each of its CPUs is a descriptor. */
static void raise_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Which CPU is of which NUMA node, where there are several: their counts are told apart. */
static void note_nodes(struct perf_plan *plan, const struct topo *topo)
{
    for (size_t i = 0; i < topo->nodes && topo->nodes > 1; i++) {
        const struct topo_node *node = &topo->node[i];

        if (node->os_index >= BY_NODE_MAX) {
            plan->nodes = 0;
            return;
        }
        plan->nodes = plan->nodes > node->os_index ? plan->nodes : node->os_index + 1;
        cpus_foreach(cpu, &node->cpus) plan->node[cpu] = (unsigned char)node->os_index;
    }
}

/* Does the kernel count by cgroup, and may this process? 0, or -1 and err. */
static int try_cgroup(const struct state *state, struct berth_error *err)
{
    const struct counters_node *node = &state->node;
    int cpu = (int)cpus_next(&node->topo->cpus, 0), fd, saved;
    int dir = perf_tree_open(&state->hierarchy, node->enforce, err);

    if (dir < 0)
        return -1;
    fd = perf_open(&state->plan.event[0], dir, cpu, -1, PERF_FLAG_PID_CGROUP);
    if (fd < 0 && errno == ENOENT && perf_hierarchy_wake(&state->hierarchy, node->root))
        fd = perf_open(&state->plan.event[0], dir, cpu, -1, PERF_FLAG_PID_CGROUP);
    saved = errno;
    perf_tree_close(&state->hierarchy, node->enforce, dir);
    if (fd < 0)
        return berth_error_set(err, "events cannot be counted by cgroup (%s): %s",
                               state->hierarchy.mount,
                               capabilities_why(CAPABILITY(CAP_PERFMON), saved));
    close(fd);
    return 0;
}

/* ---- hardware events ---- */

/* Has the kernel's own watchdog taken a counter? */
static bool has_watchdog(const struct rootfs *root)
{
    char *text = rootfs_read(root, "/proc/sys/kernel/nmi_watchdog");
    bool has = text && text[0] == '1';

    free(text);
    return has;
}

/* "stalls, reads_remote": what the table has for this PMU and the kernel or libpfm4 has not. */
static void list_missing(const struct perf_events *events, const struct perf_table *table,
                         char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t c = 0; c < COUNTERS && used < size; c++)
        if (perf_table_mentions(table, events->pmu, (enum counter)c) && events->sum[c].n == 0)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     counter_info[c].name);
}

static void say_hardware(const struct state *state, const struct perf_table *table, char *say,
                         size_t size)
{
    char missing[200];
    int used = snprintf(say, size, "%s: %zu hardware events in %zu group%s", state->events.pmu,
                        state->events.n, state->plan.groups - 1,
                        state->plan.groups == 2 ? "" : "s, in turns");

    list_missing(&state->events, table, missing, sizeof(missing));
    if (missing[0] && (size_t)used < size)
        used += snprintf(say + used, size - (size_t)used, "; not here: %s", missing);
    if (state->plan.groups > 2 && has_watchdog(state->node.root) && (size_t)used < size)
        snprintf(say + used, size - (size_t)used, "; kernel.nmi_watchdog=1 takes a counter");
}

/* Why a plain cycle counter cannot be opened. */
static void say_no_pmu(char *say, size_t size)
{
    const struct perf_event_attr cycles = {.type = PERF_TYPE_HARDWARE,
                                           .config = PERF_COUNT_HW_CPU_CYCLES};

    if (perf_plan_usable(&cycles, NULL))
        snprintf(say, size, "no hardware events: none of the event table's works here");
    else if (errno == ENOENT || errno == EOPNOTSUPP || errno == ENODEV)
        snprintf(say, size, "no hardware events: this machine, or the virtual one, has no PMU");
    else
        snprintf(say, size, "no hardware events: %s",
                 capabilities_why(CAPABILITY(CAP_PERFMON), errno));
}

static bool is_usable(const struct perf_event_attr *attr, void *state)
{
    return perf_plan_usable(attr, ((const struct state *)state)->node.root);
}

/* Add the hardware events that work here; say tells which, or why none. */
static void open_hardware(struct state *state, char *say, size_t size)
{
    struct perf_table *table;
    struct berth_error err;

    if (perf_table_read(&table, state->node.conf->event_table, &err) < 0) {
        snprintf(say, size, "no hardware events: %.300s", err.text);
        return;
    }
    if (perf_events_find(&state->events, table, NULL, is_usable, state, &err) < 0) {
        snprintf(say, size, "no hardware events: %.300s", err.text);
        state->events.n = 0;
    } else if (state->events.n == 0) {
        say_no_pmu(say, size);
    } else {
        perf_plan_hardware(&state->plan, &state->events);
        say_hardware(state, table, say, size);
    }
    perf_table_free(table);
}

/* ---- the node ---- */

static uint32_t known_here(const struct state *state)
{
    uint32_t can = 0;

    for (size_t i = 0; i < PERF_SOFTWARE; i++)
        can |= 1u << perf_software[i];
    for (size_t c = 0; c < COUNTERS; c++)
        if (state->events.n && state->events.sum[c].n)
            can |= 1u << c;
    return can;
}

static int perf_backend_open(const struct counters_node *node, void **out, uint32_t *can,
                             char say[COUNTERS_SAY], struct berth_error *err)
{
    struct state *state = calloc(1, sizeof(*state));
    char hardware[COUNTERS_SAY - 128];

    if (!state)
        return berth_no_memory(err);
    state->node = *node;
    raise_files();
    if (perf_plan_software(&state->plan, err) < 0 ||
        perf_hierarchy_find(&state->hierarchy, node->root, err) < 0 || try_cgroup(state, err) < 0) {
        free(state);
        return -1;
    }
    note_nodes(&state->plan, node->topo);
    open_hardware(state, hardware, sizeof(hardware));
    snprintf(say, COUNTERS_SAY, "software events by cgroup; %s", hardware);
    *can = state->can = known_here(state);
    *out = state;
    return 0;
}

static void perf_backend_close(void *state)
{
    free(state);
}

/* ---- a step ---- */

/* Where it may run; everywhere, where that is not known. */
static const struct cpus *cpus_of(const struct state *state, const struct counters_target *target)
{
    return cpus_empty(&target->cpus) ? &state->node.topo->cpus : &target->cpus;
}

/* End a step's cgroup; what its last processes keep busy is tried again when another step begins or
 * ends. */
static void leave(struct state *state, const struct step *step)
{
    if (!perf_cgroup_leave(&step->cgroup, &state->hierarchy, state->node.root) &&
        state->strays < STRAYS_MAX)
        state->stray[state->strays++] = step->id;
}

/* Remove what could not be removed before; `begins` is a step that has its cgroup again. */
static void tidy(struct state *state, const struct wire_step_id *begins)
{
    size_t left = 0;

    for (size_t i = 0; i < state->strays; i++) {
        const struct wire_step_id id = state->stray[i];

        if (begins && enforce_step_known(id, begins, 1))
            continue;
        if (!perf_cgroup_remove(&state->hierarchy, state->node.enforce, id))
            state->stray[left++] = id;
    }
    state->strays = left;
}

static int perf_backend_attach(void *arg, const struct counters_target *target, void **out,
                               struct berth_error *err)
{
    struct state *state = arg;
    const struct rootfs *root = state->node.root;
    struct step *step = calloc(1, sizeof(*step));

    if (!step)
        return berth_no_memory(err);
    step->id = target->body->id;
    tidy(state, &step->id);
    if (perf_cgroup_enter(&step->cgroup, &state->hierarchy, state->node.enforce, target->body,
                          target->listed ? target->listed->n : 0, err) < 0) {
        free(step);
        return -1;
    }
    step->fd = rootfs_openat(root, step->cgroup.dir, O_RDONLY | O_DIRECTORY);
    if (step->fd < 0)
        berth_error_set(err, "%s: %s", step->cgroup.dir, strerror(errno));
    if (step->fd >= 0 &&
        perf_set_open(&step->set, &state->plan, step->fd, cpus_of(state, target), err) == 0) {
        *out = step;
        return 0;
    }
    file_close(step->fd);
    leave(state, step);
    free(step);
    return -1;
}

static void perf_backend_follow(void *arg, void *of, const struct counters_target *target)
{
    struct state *state = arg;
    struct step *step = of;

    if (!step->broken.text[0])
        perf_set_follow(&step->set, cpus_of(state, target), &step->broken);
}

/* The events of a sum on all CPUs, or on those of one node. Returns whether all were measured. */
static bool sum_up(const struct step *step, const struct perf_sum *sum, const size_t *node,
                   struct perf_estimate *all)
{
    struct perf_estimate one;

    *all = (struct perf_estimate){0};
    for (size_t i = 0; i < sum->n; i++) {
        size_t event = perf_plan_index(sum->event[i]);

        if (node)
            perf_set_estimate_on(&step->set, event, *node, &one);
        else
            perf_set_estimate(&step->set, event, &one);
        if (!perf_estimate_known(&one))
            return false;
        perf_estimate_join(all, &one);
    }
    return sum->n > 0;
}

static void set_hardware(const struct state *state, const struct step *step, enum counter counter,
                         struct counters_sample *sample)
{
    struct perf_estimate all;

    if (counters_know(sample, counter) || !sum_up(step, &state->events.sum[counter], NULL, &all))
        return;
    counters_set(sample, counter, all.value);
    sample->error[counter] = perf_estimate_error(&all);
}

/* The events of a sum, apart for each node, as that kind. */
static void set_by_node(const struct step *step, const struct perf_sum *sum, enum by_node_kind kind,
                        struct counters_sample *sample)
{
    double value[BY_NODE_MAX], error = 0;
    size_t nodes = step->set.plan->nodes;
    struct perf_estimate all;

    for (size_t node = 0; node < nodes; node++) {
        if (!sum_up(step, sum, &node, &all))
            return;
        value[node] = all.value;
        error = fmax(error, perf_estimate_error(&all));
    }
    by_node_set(sample->by_node, kind, nodes, value, error);
}

static void set_nodes(const struct state *state, const struct step *step,
                      struct counters_sample *sample)
{
    struct perf_estimate one;
    double cpu_ns[BY_NODE_MAX];

    for (size_t node = 0; node < state->plan.nodes; node++) {
        perf_set_estimate_on(&step->set, CPU_CLOCK, node, &one);
        cpu_ns[node] = one.value;
    }
    by_node_set(sample->by_node, BY_NODE_CPU_NS, state->plan.nodes, cpu_ns, 0);
    if (state->events.n == 0)
        return;
    set_by_node(step, &state->events.sum[COUNTER_READS_LOCAL], BY_NODE_READS_LOCAL, sample);
    set_by_node(step, &state->events.sum[COUNTER_READS_REMOTE], BY_NODE_READS_REMOTE, sample);
}

static int perf_backend_read(void *arg, void *of, const struct counters_target *target,
                             struct counters_sample *sample, struct berth_error *err)
{
    struct state *state = arg;
    struct step *step = of;
    struct perf_estimate one;

    (void)target;
    if (step->broken.text[0])
        return berth_error_set(err, "%s", step->broken.text);
    if (perf_set_read(&step->set, err) < 0)
        return -1;
    for (size_t i = 0; i < PERF_SOFTWARE; i++) {
        perf_set_estimate(&step->set, i, &one);
        counters_set(sample, perf_software[i], one.value);
    }
    for (size_t c = 0; state->events.n && c < COUNTERS; c++)
        set_hardware(state, step, (enum counter)c, sample);
    if (sample->by_node && state->plan.nodes > 1)
        set_nodes(state, step, sample);
    return 0;
}

static void perf_backend_detach(void *arg, void *of)
{
    struct state *state = arg;
    struct step *step = of;

    perf_set_close(&step->set);
    close(step->fd);
    tidy(state, NULL);
    leave(state, step);
    free(step);
}

static void perf_backend_sweep(void *arg, const struct wire_step_id *known, size_t n)
{
    struct state *state = arg;

    perf_cgroup_sweep(&state->hierarchy, state->node.enforce, known, n);
}

static int perf_cgroup_fd(void *step)
{
    return ((struct step *)step)->fd;
}

const struct counters_backend counters_perf = {.name = "perf",
                                               .hardware = true,
                                               .without =
                                                   "miss rates come from the profile store alone",
                                               .open = perf_backend_open,
                                               .close = perf_backend_close,
                                               .attach = perf_backend_attach,
                                               .follow = perf_backend_follow,
                                               .read = perf_backend_read,
                                               .detach = perf_backend_detach,
                                               .cgroup = perf_cgroup_fd,
                                               .sweep = perf_backend_sweep};
