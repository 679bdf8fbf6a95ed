/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_events - see memory_events.h
 *
 * Sources of the table. Intel: home agents (UNC_H_REQUESTS of Haswell and Broadwell), caching and
 * home agents (UNC_CHA_REQUESTS, from Skylake on), memory controllers (the kernel's cas_count_*;
 * ACT_COUNT, PRE_COUNT.PAGE_MISS and WMM_TO_RMM of Haswell to Cascade Lake, whose cas_count_read
 * is 0x04 with umask 0x03), Nehalem-EX and Westmere-EX (the kernel's bbox_cmds_*). AMD: the data
 * fabric of Zen 4 and 5, beats of 64 bytes by coherent station; the northbridge of family 10h (BKDG
 * 31116, events 0E0h, 0E3h, 1E3h, 1E5h, 1E7h, 1F0h: those of Wang 2015, Table 4.3), which is one of
 * each NUMA node. Zen 1 to 3 do not tell own processors from others'. */
#include "packer/counters/memory_events.h"

#include <errno.h>
#include <fnmatch.h>
#include <linux/capability.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/array.h"
#include "packer/base/file.h"
#include "packer/counters/perf_scale.h"
#include "packer/system/capabilities.h"
#include "packer/system/perf_open.h"
#include "packer/system/uncore.h"

#define CORES "cpu" /* the cores' own PMU */
#define CHANNELS 12 /* of AMD's data fabric */
#define CHANNEL_STEP 0x40

/* Where a row holds: the file has this text. */
struct place {
    const char *file, *has;
};
static const struct place family_10h = {"/proc/cpuinfo", "cpu family\t: 16\n"},
                          zen_4 = {UNCORE_DEVICES "/amd_df/format/event", "config:0-7,32-37"},
                          cas_04_03 = {UNCORE_DEVICES "/uncore_imc_0/events/cas_count_read",
                                       "event=0x04,umask=0x03\n"};

/* Rows of one kind and one PMU are added up; of several PMUs the first that there is counts. */
struct row {
    enum by_node_kind kind;
    const char *pmu;           /* a pattern */
    const char *name;          /* as the kernel calls it; NULL: event and umask */
    unsigned event, umask;     /* of channel 0 */
    unsigned target;           /* of a matrix: the node whose memory is asked */
    unsigned channels;         /* more than 1: CHANNEL_STEP apart */
    const struct place *where; /* NULL: wherever there is such a PMU */
};

/* AMD family 10h: reads but changes to dirty, and writes and victims, to one node. */
#define TARGET(node)                                                                               \
    {.kind = BY_NODE_ALL_READS_FROM,                                                               \
     .pmu = CORES,                                                                                 \
     .event = (node) < 4 ? 0x1e3 : 0x1e5,                                                          \
     .umask = 0x10u << (node) % 4 | 0x07,                                                          \
     .target = (node),                                                                             \
     .where = &family_10h},                                                                        \
    {                                                                                              \
        .kind = BY_NODE_ALL_WRITES_TO, .pmu = CORES, .event = 0x1e7,                               \
        .umask = 0x10u << (node) % 4 | ((node) < 4 ? 0x06 : 0x0e), .target = (node),               \
        .where = &family_10h                                                                       \
    }
#define CORE(which, code, mask)                                                                    \
    {                                                                                              \
        .kind = (which), .pmu = CORES, .event = (code), .umask = (mask), .where = &family_10h      \
    }
#define NAMED(which, of, its)                                                                      \
    {                                                                                              \
        .kind = (which), .pmu = (of), .name = (its)                                                \
    }
#define AGENT(which, of, code, mask)                                                               \
    {                                                                                              \
        .kind = (which), .pmu = (of), .event = (code), .umask = (mask)                             \
    }
#define FABRIC(which, mask)                                                                        \
    {                                                                                              \
        .kind = (which), .pmu = "amd_df", .event = 0x1f, .umask = (mask), .channels = CHANNELS,    \
        .where = &zen_4                                                                            \
    }
#define CONTROLLER(which, code, mask)                                                              \
    {                                                                                              \
        .kind = (which), .pmu = IMC, .event = (code), .umask = (mask), .where = &cas_04_03         \
    }
#define IMC "uncore_imc_[0-9]*"
#define MBOX "uncore_mbox_*"
#define CHA "uncore_cha_*"
#define HA "uncore_ha*"

static const struct row rows[] = {
    NAMED(BY_NODE_MEMORY_READS, IMC, "cas_count_read"),
    NAMED(BY_NODE_MEMORY_READS, IMC, "cas_count_read_sch0"),
    NAMED(BY_NODE_MEMORY_READS, IMC, "cas_count_read_sch1"),
    NAMED(BY_NODE_MEMORY_READS, MBOX, "bbox_cmds_read"),
    FABRIC(BY_NODE_MEMORY_READS, 0xffe),
    CORE(BY_NODE_MEMORY_READS, 0x1f0, 0x02),

    NAMED(BY_NODE_MEMORY_WRITES, IMC, "cas_count_write"),
    NAMED(BY_NODE_MEMORY_WRITES, IMC, "cas_count_write_sch0"),
    NAMED(BY_NODE_MEMORY_WRITES, IMC, "cas_count_write_sch1"),
    NAMED(BY_NODE_MEMORY_WRITES, MBOX, "bbox_cmds_write"),
    FABRIC(BY_NODE_MEMORY_WRITES, 0xfff),
    CORE(BY_NODE_MEMORY_WRITES, 0x1f0, 0x01),

    AGENT(BY_NODE_MEMORY_READS_REMOTE, CHA, 0x50, 0x02),
    AGENT(BY_NODE_MEMORY_READS_REMOTE, HA, 0x01, 0x02),
    FABRIC(BY_NODE_MEMORY_READS_REMOTE, 0xbfe),

    AGENT(BY_NODE_MEMORY_WRITES_REMOTE, CHA, 0x50, 0x08),
    AGENT(BY_NODE_MEMORY_WRITES_REMOTE, HA, 0x01, 0x08),
    FABRIC(BY_NODE_MEMORY_WRITES_REMOTE, 0xbff),

    CORE(BY_NODE_DRAM_REQUESTS, 0xe0, 0x3f),
    CORE(BY_NODE_DRAM_OPENINGS, 0xe0, 0x36),
    CORE(BY_NODE_DRAM_CONFLICTS, 0xe0, 0x24),
    CORE(BY_NODE_DRAM_WRITE_TO_READ, 0xe3, 0x24),
    CORE(BY_NODE_DRAM_RANK_TURNS, 0xe3, 0x09),
    CONTROLLER(BY_NODE_DRAM_REQUESTS, 0x04, 0x0f),
    CONTROLLER(BY_NODE_DRAM_OPENINGS, 0x01, 0x0b),
    CONTROLLER(BY_NODE_DRAM_CONFLICTS, 0x02, 0x01),
    CONTROLLER(BY_NODE_DRAM_WRITE_TO_READ, 0xc0, 0x07),

    TARGET(0),
    TARGET(1),
    TARGET(2),
    TARGET(3),
    TARGET(4),
    TARGET(5),
    TARGET(6),
    TARGET(7),
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* One event on one CPU. */
struct event {
    enum by_node_kind kind;
    size_t index; /* in the kind's numbers */
    struct perf_event_attr attr;
    int cpu, fd;
    struct perf_scale scale;
    struct perf_estimate kept; /* of the times before it rested */
};

struct memory_events {
    const struct rootfs *root;
    const struct topo *topo;
    memory_opener *open_event;
    void *arg;
    size_t nodes, n, room;
    struct event *event; /* [n] */
    uint32_t can;
    int why; /* errno of the last event that could not be opened */
};

static int ask_kernel(const struct perf_event_attr *attr, int cpu, void *arg)
{
    (void)arg;
    return perf_open(attr, -1, cpu, -1, 0);
}

/* ---- finding ---- */

static bool holds(const struct memory_events *events, const struct place *where)
{
    char *text = where ? rootfs_read(events->root, where->file) : NULL;
    bool has = !where || (text && strstr(text, where->has));

    free(text);
    return has;
}

static long node_of_cpu(const struct topo *topo, size_t cpu)
{
    for (size_t i = 0; i < topo->nodes; i++)
        if (cpus_has(&topo->node[i].cpus, cpu))
            return (long)topo->node[i].os_index;
    return -1;
}

static int add_event(struct memory_events *events, const struct row *row, uint32_t type,
                     const struct uncore_code *code, size_t cpu)
{
    long node = node_of_cpu(events->topo, cpu);
    bool matrix = row->kind >= BY_NODE_READS_FROM;
    struct event event = {
        .kind = row->kind,
        .attr = {.size = sizeof(event.attr),
                 .type = type,
                 .config = code->config[0],
                 .config1 = code->config[1],
                 .config2 = code->config[2],
                 .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING},
        .cpu = (int)cpu,
        .fd = -1};

    if (node < 0)
        return 0;
    event.index = matrix ? (size_t)node * events->nodes + row->target : (size_t)node;
    if (array_grow(&events->event, &events->room, events->n + 1, sizeof(event)) < 0)
        return -1;
    events->event[events->n++] = event;
    return 0;
}

/* The CPUs that are asked: the kernel's choice, or one of each node. */
static bool find_cpus(const struct memory_events *events, const char *pmu, struct cpus *cpus)
{
    const struct topo *topo = events->topo;
    struct berth_error err;

    if (strcmp(pmu, CORES) != 0)
        return uncore_cpus(events->root, pmu, cpus, &err) == 0;
    cpus_zero(cpus);
    for (size_t i = 0; i < topo->nodes; i++)
        if (!cpus_empty(&topo->node[i].cpus))
            cpus_add(cpus, cpus_next(&topo->node[i].cpus, 0));
    return true;
}

/* The code of a row's event on one of its channels. */
static bool encode(const struct memory_events *events, const struct row *row, const char *pmu,
                   unsigned channel, struct uncore_code *code)
{
    char terms[64];

    if (row->name)
        return uncore_named(events->root, pmu, row->name, code);
    snprintf(terms, sizeof(terms), "event=%#x,umask=%#x", row->event + channel * CHANNEL_STEP,
             row->umask);
    return uncore_terms(events->root, pmu, terms, code);
}

/* Returns how many events of the row a PMU has; -1: no memory. */
static int add_pmu(struct memory_events *events, const struct row *row, const char *pmu)
{
    unsigned channels = row->channels > 1 ? row->channels : 1;
    struct uncore_code code;
    struct cpus cpus;
    uint32_t type;
    int added = 0;

    if (uncore_type(events->root, pmu, &type) < 0 || !find_cpus(events, pmu, &cpus))
        return 0;
    for (unsigned channel = 0; channel < channels; channel++) {
        if (!encode(events, row, pmu, channel, &code))
            continue;
        cpus_foreach(cpu, &cpus)
        {
            if (add_event(events, row, type, &code, cpu) < 0)
                return -1;
            added++;
        }
    }
    return added;
}

/* Can the row be of use on such a machine? */
static bool suits(const struct memory_events *events, const struct row *row)
{
    bool by_node = strcmp(row->pmu, CORES) == 0 || events->topo->nodes == events->topo->packages;

    return by_node && holds(events, row->where) &&
           (row->kind < BY_NODE_READS_FROM || row->target < events->nodes);
}

static int add_row(struct memory_events *events, const struct row *row, char *const *pmus,
                   const char *taken[BY_NODE_KINDS])
{
    const char *before = taken[row->kind]; /* the PMU of the rows that were taken for its kind */

    if ((before && strcmp(before, row->pmu) != 0) || !suits(events, row))
        return 0;
    for (size_t i = 0; pmus && pmus[i]; i++) {
        int added = fnmatch(row->pmu, pmus[i], 0) == 0 ? add_pmu(events, row, pmus[i]) : 0;

        if (added < 0)
            return -1;
        if (added > 0)
            taken[row->kind] = row->pmu;
    }
    return 0;
}

/* Leaves out the kinds of which one event may not be opened. */
static void try_all(struct memory_events *events)
{
    uint32_t broken = 0;
    size_t left = 0;

    for (size_t i = 0; i < events->n; i++) {
        const struct event *event = &events->event[i];
        int fd = broken & 1u << event->kind
                     ? -1
                     : events->open_event(&event->attr, event->cpu, events->arg);

        if (fd < 0 && !(broken & 1u << event->kind))
            events->why = errno;
        if (fd < 0)
            broken |= 1u << event->kind;
        file_close(fd);
    }
    for (size_t i = 0; i < events->n; i++)
        if (!(broken & 1u << events->event[i].kind)) {
            events->can |= 1u << events->event[i].kind;
            events->event[left++] = events->event[i];
        }
    events->n = left;
}

static int find_all(struct memory_events *events, struct berth_error *err)
{
    const char *taken[BY_NODE_KINDS] = {NULL};
    char **pmus = rootfs_list(events->root, UNCORE_DEVICES);
    int rc = 0;

    for (size_t i = 0; i < ROWS && rc == 0; i++)
        rc = add_row(events, &rows[i], pmus, taken);
    rootfs_list_free(pmus);
    if (rc < 0)
        return berth_no_memory(err);
    try_all(events);
    if (events->n > 0)
        return 0;
    if (events->why)
        return berth_error_set(err, "perf_event_open: %s",
                               capabilities_why(CAPABILITY(CAP_PERFMON), events->why));
    return berth_error_set(err, "the kernel has no counters of memories here that are known");
}

/* One more than the greatest number of a node; 0: there are too many, or one memory. */
static size_t count_nodes(const struct topo *topo)
{
    size_t nodes = 0;

    for (size_t i = 0; i < topo->nodes; i++)
        nodes = topo->node[i].os_index >= nodes ? topo->node[i].os_index + 1 : nodes;
    return nodes <= BY_NODE_MAX ? nodes : 0;
}

int memory_events_open(struct memory_events **out, const struct rootfs *root,
                       const struct topo *topo, memory_opener *open_event, void *arg,
                       struct berth_error *err)
{
    struct memory_events *events;

    if (!open_event && !rootfs_is_machine(root))
        return berth_error_set(err, "a recorded tree counts nothing");
    if (count_nodes(topo) == 0)
        return berth_error_set(err, "there are more than %d NUMA nodes", BY_NODE_MAX);
    events = calloc(1, sizeof(*events));
    if (!events)
        return berth_no_memory(err);
    *events = (struct memory_events){.root = root,
                                     .topo = topo,
                                     .open_event = open_event ? open_event : ask_kernel,
                                     .arg = arg,
                                     .nodes = count_nodes(topo)};
    if (find_all(events, err) < 0) {
        memory_events_close(events);
        return -1;
    }
    *out = events;
    return 0;
}

void memory_events_close(struct memory_events *events)
{
    for (size_t i = 0; events && i < events->n; i++)
        file_close(events->event[i].fd);
    if (events)
        free(events->event);
    free(events);
}

uint32_t memory_events_can(const struct memory_events *events)
{
    return events->can;
}

/* ---- reading ---- */

/* Returns whether the event was read. */
static bool event_read(const struct memory_events *events, struct event *event)
{
    uint64_t value[3]; /* the count, time enabled, time running */

    if (event->fd < 0)
        event->fd = events->open_event(&event->attr, event->cpu, events->arg);
    if (event->fd < 0 || read(event->fd, value, sizeof(value)) != sizeof(value))
        return false;
    perf_scale_add(&event->scale, value[0], value[1], value[2]);
    return true;
}

/* What one kind has counted; one estimate for each of its numbers. */
struct tally {
    bool known;
    struct perf_estimate sum[BY_NODE_MAX > BY_NODE_PAIRS *BY_NODE_PAIRS
                                 ? BY_NODE_MAX
                                 : BY_NODE_PAIRS *BY_NODE_PAIRS];
};

static void enter(const struct memory_events *events, enum by_node_kind kind,
                  const struct tally *tally, struct by_node *by)
{
    double value[BY_NODE_PAIRS * BY_NODE_PAIRS], error = 0;
    size_t n = by_node_count(events->nodes, kind);

    for (size_t i = 0; i < n; i++) {
        if (!perf_estimate_known(&tally->sum[i]))
            return;
        value[i] = tally->sum[i].value;
        error = fmax(error, perf_estimate_error(&tally->sum[i]));
    }
    if (n > 0)
        by_node_set(by, kind, events->nodes, value, error);
}

static void read_kind(struct memory_events *events, enum by_node_kind kind, struct by_node *by)
{
    struct tally tally = {.known = true};

    for (size_t i = 0; i < events->n; i++) {
        struct event *event = &events->event[i];

        if (event->kind != kind)
            continue;
        tally.known = event_read(events, event) && tally.known;
        perf_estimate_add(&tally.sum[event->index], &event->scale);
        perf_estimate_join(&tally.sum[event->index], &event->kept);
    }
    if (tally.known)
        enter(events, kind, &tally, by);
}

void memory_events_read(struct memory_events *events, struct by_node *by)
{
    for (enum by_node_kind kind = 0; kind < BY_NODE_KINDS; kind++)
        if (events->can & 1u << kind)
            read_kind(events, kind, by);
}

void memory_events_rest(struct memory_events *events)
{
    for (size_t i = 0; i < events->n; i++) {
        struct event *event = &events->event[i];

        if (event->fd < 0)
            continue;
        event_read(events, event);
        perf_estimate_add(&event->kept, &event->scale);
        event->kept.open_ns = 0;
        event->scale = (struct perf_scale){0};
        close(event->fd);
        event->fd = -1;
    }
}
