/* SPDX-License-Identifier: GPL-2.0-or-later */
/* energy_perf - RAPL by perf's PMU "power", for zones that powercap does not have.
 *
 * /sys/bus/event_source/devices/power says the PMU's type, one CPU of each package (cpumask; one of
 * each die where a package has several, which are added up), and for each event its number and how
 * many joules a count is (events/energy-pkg is "event=0x02", energy-pkg.scale "2.3e-10",
 * energy-pkg.unit "Joules"). The kernel's counts are of 64 bits: it sees to the hardware's wrapping
 * around itself. Linux: arch/x86/events/rapl.c. */
#include "packer/energy/parts.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/system/capabilities.h"
#include "packer/system/perf_open.h"
#include "packer/system/uncore.h"

#define PMU "power"
#define EVENTS 64

static const struct {
    const char *name;
    enum energy_domain domain;
} known[] = {
    {"energy-pkg", ENERGY_PACKAGE}, {"energy-ram", ENERGY_DRAM}, {"energy-psys", ENERGY_NODE}};

struct event {
    size_t zone;
    int fd;
    double scale_uj; /* microjoules of a count */
    bool begun;
    uint64_t first;
};

struct perf {
    size_t events, zones;
    int why; /* errno of the last event that could not be opened */
    struct event event[EVENTS];
};

/* What is to be opened: on which CPUs, by whom. */
struct plan {
    const struct energy_node *node;
    struct energy_zone *zone;
    uint32_t type;
    struct cpus cpus;
};

static int open_real(const struct perf_event_attr *attr, int cpu, void *arg)
{
    (void)arg;
    return perf_open(attr, -1, cpu, -1, 0);
}

/* ---- opening ---- */

/* On one CPU. False: no further one is wanted. */
static bool open_on(struct perf *perf, struct plan *plan, size_t k, const struct uncore_event *its,
                    size_t cpu)
{
    struct perf_event_attr attr = {.size = sizeof(attr), .type = plan->type, .config = its->config};
    const struct energy_node *node = plan->node;
    long core = topo_core_of_cpu(node->topo, cpu);
    bool whole = known[k].domain == ENERGY_NODE;
    unsigned package = whole || core < 0 ? 0 : (unsigned)node->topo->core[core].package;
    struct event *event = &perf->event[perf->events];

    if (core < 0 || perf->events == EVENTS || energy_had(node, known[k].domain, package))
        return true;
    event->fd = (node->perf_open ? node->perf_open : open_real)(&attr, (int)cpu, node->perf_arg);
    if (event->fd < 0) {
        perf->why = errno;
        return true;
    }
    event->begun = false;
    event->scale_uj = its->scale * 1e6;
    event->zone =
        energy_zone_index(plan->zone, &perf->zones, known[k].domain, package, "rapl-perf");
    perf->events++;
    return !whole;
}

static void open_event(struct perf *perf, struct plan *plan, size_t k)
{
    struct uncore_event event;

    if (!uncore_event(plan->node->root, PMU, known[k].name, "Joules", &event))
        return;
    cpus_foreach(cpu, &plan->cpus)
    {
        if (!open_on(perf, plan, k, &event, cpu))
            break;
    }
}

static void perf_close(void *state)
{
    struct perf *perf = state;

    for (size_t i = 0; i < perf->events; i++)
        close(perf->event[i].fd);
    free(perf);
}

/* Is there a PMU to ask? 0, or -1 and err. */
static int make_plan(struct plan *plan, const struct energy_node *node, struct berth_error *err)
{
    if (!node->perf_open && strcmp(node->conf->energy_root, "/") != 0)
        return berth_error_set(err, "energy_root is a recorded tree: the kernel is not asked");
    if (uncore_type(node->root, PMU, &plan->type) < 0)
        return berth_error_set(err, "the kernel has no PMU \"power\" (" UNCORE_DEVICES "/" PMU ")");
    return uncore_cpus(node->root, PMU, &plan->cpus, err);
}

static int perf_open_all(const struct energy_node *node, void **state, struct energy_zone *zone,
                         size_t *zones, char say[ENERGY_SAY], struct berth_error *err)
{
    struct plan plan = {.node = node, .zone = zone};
    struct perf *perf;

    if (make_plan(&plan, node, err) < 0)
        return -1;
    perf = calloc(1, sizeof(*perf));
    if (!perf)
        return berth_no_memory(err);
    for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
        open_event(perf, &plan, k);
    if (perf->events == 0) {
        if (perf->why)
            berth_error_set(err, "perf_event_open: %s",
                            capabilities_why(CAPABILITY(CAP_PERFMON), perf->why));
        else
            berth_error_set(err, "it has no zone that is not read already");
        perf_close(perf);
        return -1;
    }
    snprintf(say, ENERGY_SAY, "RAPL by perf: %zu zones", perf->zones);
    *zones = perf->zones;
    *state = perf;
    return 0;
}

/* ---- reading ---- */

static int perf_read(void *state, size_t i, double at_s, double busy_s, uint64_t *uj,
                     uint64_t *gaps)
{
    struct perf *perf = state;
    uint64_t count;

    (void)at_s;
    (void)busy_s;
    *uj = *gaps = 0;
    for (size_t e = 0; e < perf->events; e++) {
        struct event *event = &perf->event[e];

        if (event->zone != i)
            continue;
        errno = ENODATA; /* nothing is read of an event that the kernel has given up */
        if (read(event->fd, &count, sizeof(count)) != sizeof(count))
            return -1;
        if (!event->begun)
            event->first = count;
        event->begun = true;
        *uj += (uint64_t)((double)(count - event->first) * event->scale_uj);
    }
    return 0;
}

const struct energy_way energy_perf = {.name = "perf",
                                       .without = "RAPL is what powercap has of it",
                                       .open = perf_open_all,
                                       .close = perf_close,
                                       .read = perf_read};
