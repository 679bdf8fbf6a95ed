/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters_resctrl - occupancy of the last-level caches and memory traffic of a step, from the
 * kernel's resctrl file system (Documentation/filesystems/resctrl.rst; Intel RDT, AMD QoS, Arm
 * MPAM).
 *
 * Each step gets a monitoring group (resctrl_group.h); one that somebody else monitors already is
 * left to him.
 *
 * What the numbers are worth:
 *   - The hardware's counters are of 24 to 62 bits and wrap; the kernel reads them once a second
 *     and adds up 64 bits, since it has had monitoring groups (Linux 4.14). So 64 bits are assumed
 *     here, and a difference is taken modulo 2^64. What falls for another reason (a domain whose
 *     CPUs were offline, counters that were configured or assigned anew) makes a difference that no
 *     memory can have moved: it is absent once, and counting goes on from there.
 *   - A domain that says "Unavailable", "Unassigned" or "Error" makes the sum absent: a sum
 *     without it would be too low.
 *   - A group's RMID may have been somebody else's before: up to info/L3_MON's
 *     max_threshold_occupancy bytes of the occupancy may be his. For the same reason a freed RMID
 *     cannot be used again until its lines have left the cache. */
#include "packer/counters/counters.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/counters/resctrl_caches.h"
#include "packer/counters/resctrl_group.h"
#include "enum_table.h"

/* Above what the memory of any one cache can deliver: 10 TB/s. */
#define MOST_BYTES_PER_S 1e13

enum event { OCCUPANCY, TOTAL, LOCAL, EVENTS };

static const struct {
    const char *file;
    enum counter counter;
    enum by_node_kind kind; /* of what is counted, apart for each NUMA node */
} TABLE(events, EVENTS) = {
    ROW(OCCUPANCY) = {"llc_occupancy", COUNTER_OCCUPANCY_BYTES, BY_NODE_KINDS},
    ROW(TOTAL) = {"mbm_total_bytes", COUNTER_BYTES, BY_NODE_BYTES},
    ROW(LOCAL) = {"mbm_local_bytes", COUNTER_BYTES_LOCAL, BY_NODE_BYTES_LOCAL},
};
TABLE_COMPLETE(events);

struct resctrl {
    struct counters_node node;
    bool has[EVENTS];
    struct resctrl_caches caches;
};

/* A domain's file of an event, and what it said last. */
struct source {
    int fd; /* open as long as the step lives; -1: it could not be opened */
    bool known;
    uint64_t value;
    double bytes; /* counted since the step was attached */
    double at_s;  /* the step's elapsed time */
};

struct domain {
    char name[RESCTRL_NAME_MAX]; /* mon_L3_00 */
    size_t node;                 /* its NUMA node */
    struct source source[EVENTS];
};

struct resctrl_step {
    struct resctrl_group group;
    size_t nodes; /* of all its domains it is known which NUMA node's they are; 0: not so */
    size_t domains;
    struct domain *domain;
};

/* ---- is it there? ---- */

/* Does a line of the file contain the word? */
static bool file_has(const struct rootfs *root, const char *path, const char *word)
{
    char *text = rootfs_read(root, path);
    bool has = text && strstr(text, word);

    free(text);
    return has;
}

static int why_not(const struct rootfs *root, struct berth_error *err)
{
    bool cpu = file_has(root, "/proc/cpuinfo", " cqm_llc") ||
               file_has(root, "/proc/cpuinfo", " cqm_mbm_total");

    if (rootfs_exists(root, RESCTRL "/info"))
        return berth_error_set(err, RESCTRL " is mounted, but this machine monitors no cache");
    if (file_has(root, "/proc/filesystems", "\tresctrl\n"))
        return berth_error_set(err, "not mounted: mount -t resctrl resctrl " RESCTRL);
    if (cpu)
        return berth_error_set(err, "the processor monitors its caches (cqm), but the kernel has "
                                    "no resctrl, or it was turned off when it was booted");
    return berth_error_set(err, "neither the processor (as it is shown here) monitors its caches, "
                                "nor has the kernel resctrl");
}

static int resctrl_open(const struct counters_node *node, void **state, uint32_t *can,
                        char say[COUNTERS_SAY], struct berth_error *err)
{
    char *features = rootfs_read(node->root, RESCTRL_L3_MON "/mon_features"), rmids[32],
         names[128] = "";
    struct resctrl *resctrl;

    if (!features)
        return why_not(node->root, err);
    resctrl = calloc(1, sizeof(*resctrl));
    *can = 0;
    for (size_t e = 0; resctrl && e < EVENTS; e++) {
        resctrl->has[e] = resctrl_has_line(features, events[e].file);
        if (!resctrl->has[e])
            continue;
        *can |= 1u << events[e].counter;
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", *names ? ", " : "",
                 events[e].file);
    }
    free(features);
    if (!resctrl || *can == 0) {
        free(resctrl);
        return berth_error_set(err, resctrl ? RESCTRL_L3_MON
                                        "/mon_features names nothing that is used"
                                            : "out of memory");
    }
    resctrl->node = *node;
    resctrl_caches_find(&resctrl->caches, node->root, node->topo);
    resctrl_rmids(node->root, rmids);
    snprintf(say, COUNTERS_SAY, "%s by a monitoring group per step; %s groups (RMIDs) in all",
             names, rmids);
    *state = resctrl;
    return 0;
}

static void resctrl_close(void *state)
{
    resctrl_caches_free(&((struct resctrl *)state)->caches);
    free(state);
}

/* ---- reading ---- */

/* The number in the file. 0, or -1 and err with what is there instead. */
static int read_number(const struct source *source, uint64_t *value, struct berth_error *err)
{
    char text[64], *end;
    ssize_t got = pread(source->fd, text, sizeof(text) - 1, 0);

    if (got < 0)
        return berth_error_set(err, "%s", strerror(errno));
    text[got] = '\0';
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (end == text || text[0] == '-' || errno || (*end && *end != '\n'))
        return berth_error_set(err, "'%.*s'", (int)strcspn(text, "\n"), text);
    return 0;
}

/* Add what a domain counted since the last time. 0, or -1 and err: that is not known. */
static int add_count(struct source *source, uint64_t value, double at_s, struct berth_error *err)
{
    double grown = (double)(value - source->value), passed_s = at_s - source->at_s;
    bool sound = source->known && grown <= MOST_BYTES_PER_S * (passed_s > 1 ? passed_s : 1);

    source->known = true;
    source->value = value;
    source->at_s = at_s;
    if (!sound)
        return berth_error_set(err, "began anew");
    source->bytes += grown;
    return 0;
}

/* Read an event of a domain: what it counts now is its `bytes`, what it holds its `value`. 0, or -1
 * and err. */
static int read_source(struct source *source, enum event event, double at_s,
                       struct berth_error *err)
{
    uint64_t value = 0;

    if (read_number(source, &value, err) < 0)
        return -1;
    if (event != OCCUPANCY)
        return add_count(source, value, at_s, err);
    source->value = value;
    return 0;
}

/* Read an event of all domains. 0, or -1 and err: one does not say. */
static int read_event(struct resctrl_step *step, enum event event, double at_s,
                      struct berth_error *err)
{
    struct berth_error why;
    int rc = 0;

    for (size_t d = 0; d < step->domains; d++)
        if (read_source(&step->domain[d].source[event], event, at_s, &why) < 0)
            rc = berth_error_set(err, "%.300s: %s of %.64s: %.100s", step->group.dir,
                                 events[event].file, step->domain[d].name, why.text);
    return rc;
}

/* Enter what was read: of all domains together, and of those of each NUMA node. */
static void set_event(const struct resctrl_step *step, enum event event,
                      struct counters_sample *sample)
{
    double of_node[BY_NODE_MAX] = {0}, sum = 0;

    for (size_t d = 0; d < step->domains; d++) {
        const struct source *source = &step->domain[d].source[event];
        double value = event == OCCUPANCY ? (double)source->value : source->bytes;

        sum += value;
        if (step->nodes > 0)
            of_node[step->domain[d].node] += value;
    }
    counters_set(sample, events[event].counter, sum);
    if (sample->by_node && step->nodes > 0 && events[event].kind < BY_NODE_KINDS)
        by_node_set(sample->by_node, events[event].kind, step->nodes, of_node, 0);
}

/* Open the domain's files of the events that there are. */
static void open_domain(const struct resctrl *resctrl, struct resctrl_step *step,
                        struct domain *domain, const char *name)
{
    char path[CGROUP_DIR_MAX + 2 * RESCTRL_NAME_MAX];
    long node = resctrl_caches_node(&resctrl->caches, name);

    snprintf(domain->name, sizeof(domain->name), "%s", name);
    domain->node = node < 0 ? 0 : (size_t)node;
    if (node < 0)
        step->nodes = 0;
    for (enum event e = 0; e < EVENTS; e++) {
        snprintf(path, sizeof(path), "%s/mon_data/%s/%s", step->group.dir, name, events[e].file);
        domain->source[e].fd =
            resctrl->has[e] ? rootfs_openat(resctrl->node.root, path, O_RDONLY) : -1;
    }
}

/* Open the files of the group's domains, and see where their counters stand. 0, or -1 and err. */
static int open_domains(const struct resctrl *resctrl, struct resctrl_step *step, double at_s,
                        struct berth_error *err)
{
    char path[CGROUP_DIR_MAX + 16], **name;
    size_t n = 0;

    step->nodes = resctrl->caches.nodes;
    snprintf(path, sizeof(path), "%s/mon_data", step->group.dir);
    name = rootfs_list(resctrl->node.root, path);
    while (name && name[n])
        n++;
    step->domain = calloc(n + 1, sizeof(*step->domain));
    for (size_t i = 0; step->domain && i < n; i++)
        if (strncmp(name[i], "mon_L3_", strlen("mon_L3_")) == 0)
            open_domain(resctrl, step, &step->domain[step->domains++], name[i]);
    rootfs_list_free(name);
    if (step->domains == 0)
        return berth_error_set(err, "%.400s: no domain of a cache in it", path);
    for (enum event e = 0; e < EVENTS; e++)
        if (resctrl->has[e])
            read_event(step, e, at_s, NULL);
    return 0;
}

/* ---- the backend ---- */

static void free_step(struct resctrl_step *step)
{
    for (size_t d = 0; d < step->domains; d++)
        for (enum event e = 0; e < EVENTS; e++)
            file_close(step->domain[d].source[e].fd);
    free(step->domain);
    free(step);
}

static int resctrl_attach(void *state, const struct counters_target *target, void **out,
                          struct berth_error *err)
{
    const struct resctrl *resctrl = state;
    struct enforce *enforce = resctrl->node.enforce;
    struct resctrl_step *step = calloc(1, sizeof(*step));

    if (!step)
        return berth_no_memory(err);
    if (resctrl_group_make(&step->group, enforce, target->body, err) < 0) {
        free_step(step);
        return -1;
    }
    if (open_domains(resctrl, step, target->elapsed_s, err) < 0 ||
        resctrl_group_fill(&step->group, enforce, target->body, err) < 0) {
        resctrl_group_remove(&step->group, enforce);
        free_step(step);
        return -1;
    }
    *out = step;
    return 0;
}

static int resctrl_read(void *state, void *opaque, const struct counters_target *target,
                        struct counters_sample *sample, struct berth_error *err)
{
    const struct resctrl *resctrl = state;
    struct resctrl_step *step = opaque;
    bool any = false;

    if (resctrl_group_check(&step->group, resctrl->node.enforce, target->body, err) < 0)
        return -1;
    for (enum event e = 0; e < EVENTS; e++)
        if (resctrl->has[e] && read_event(step, e, target->elapsed_s, err) == 0) {
            set_event(step, e, sample);
            any = true;
        }
    return any ? 0 : -1;
}

static void resctrl_detach(void *state, void *opaque)
{
    const struct resctrl *resctrl = state;
    struct resctrl_step *step = opaque;

    resctrl_group_remove(&step->group, resctrl->node.enforce);
    free_step(step);
}

static void resctrl_sweep(void *state, const struct wire_step_id *known, size_t n)
{
    resctrl_group_sweep(((const struct resctrl *)state)->node.enforce, known, n);
}

const struct counters_backend counters_resctrl = {
    .name = "resctrl",
    .without = "cache occupancy and memory traffic are not known",
    .open = resctrl_open,
    .close = resctrl_close,
    .attach = resctrl_attach,
    .read = resctrl_read,
    .detach = resctrl_detach,
    .sweep = resctrl_sweep};
