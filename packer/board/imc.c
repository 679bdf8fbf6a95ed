/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/board/imc.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <linux/capability.h>
#include <unistd.h>

#include "packer/base/array.h"
#include "packer/base/file.h"
#include "packer/system/capabilities.h"
#include "packer/system/perf_open.h"
#include "packer/system/uncore.h"

#define MIB 1048576.0
#define EVENTS 4 /* of one PMU, that are added up */

static const char *const event_name[] = {
    "cas_count_read",
    "cas_count_write",
    "cas_count_read_sch0",
    "cas_count_read_sch1",
    "cas_count_write_sch0",
    "cas_count_write_sch1",
    "data_reads",
    "data_writes",
    "data_read",
    "data_write",
    "read",
    "write",
};

/* What of a PMU counts traffic. */
struct pmu {
    uint32_t type;
    size_t n;
    struct uncore_event event[EVENTS];
    struct cpus cpus;
};

/* The events of a PMU on one CPU, which are read together. */
struct group {
    size_t package, n;
    int fd[EVENTS]; /* the first one leads */
    double bytes[EVENTS];
    uint64_t last[EVENTS];
    bool known;
};

struct imc {
    size_t packages, n, room;
    struct group *group; /* [n] */
    struct whole {
        bool counted, broken; /* one of its controllers is; one cannot be */
    } * whole;                /* [packages] */
    double read_s;
    imc_opener *open_event;
    void *arg;
    int why; /* errno of the last event that could not be opened */
};

static int ask_kernel(const struct perf_event_attr *attr, int cpu, int leader, void *arg)
{
    (void)arg;
    return perf_open(attr, -1, cpu, leader, 0);
}

/* ---- opening ---- */

/* Returns whether the PMU counts traffic. */
static bool pmu_read(const struct rootfs *root, const char *name, struct pmu *pmu)
{
    struct berth_error err;

    *pmu = (struct pmu){.n = 0};
    for (size_t i = 0; i < sizeof(event_name) / sizeof(event_name[0]) && pmu->n < EVENTS; i++)
        pmu->n += uncore_event(root, name, event_name[i], "MiB", &pmu->event[pmu->n]);
    return pmu->n > 0 && uncore_type(root, name, &pmu->type) == 0 &&
           uncore_cpus(root, name, &pmu->cpus, &err) == 0;
}

static void group_close(struct group *group)
{
    for (size_t i = 0; i < group->n; i++)
        file_close(group->fd[i]);
    group->n = 0;
}

/* All events of the PMU, or none. 0, or -1 with errno. */
static int group_open(struct group *group, const struct imc *imc, const struct pmu *pmu, int cpu)
{
    struct perf_event_attr attr = {
        .size = sizeof(attr), .type = pmu->type, .read_format = PERF_FORMAT_GROUP};

    for (size_t i = 0; i < pmu->n; i++) {
        attr.config = pmu->event[i].config;
        group->fd[i] = imc->open_event(&attr, cpu, i ? group->fd[0] : -1, imc->arg);
        if (group->fd[i] < 0) {
            group_close(group);
            return -1;
        }
        group->bytes[i] = pmu->event[i].scale * MIB;
        group->n++;
    }
    return 0;
}

/* 0, or -1: no memory. */
static int open_on(struct imc *imc, const struct pmu *pmu, size_t package, size_t cpu)
{
    struct group group = {.package = package};

    if (array_grow(&imc->group, &imc->room, imc->n + 1, sizeof(*imc->group)) < 0)
        return -1;
    if (group_open(&group, imc, pmu, (int)cpu) == 0) {
        imc->group[imc->n++] = group;
        imc->whole[package].counted = true;
    } else {
        imc->why = errno;
        imc->whole[package].broken = true;
    }
    return 0;
}

static int open_pmu(struct imc *imc, const struct topo *topo, const struct pmu *pmu)
{
    cpus_foreach(cpu, &pmu->cpus)
    {
        long core = topo_core_of_cpu(topo, cpu);

        if (core >= 0 && open_on(imc, pmu, topo->core[core].package, cpu) < 0)
            return -1;
    }
    return 0;
}

/* Free-running counters are asked where there are no others: they count the same. */
static bool is_of_kind(const char *name, bool free_running)
{
    return strncmp(name, "uncore_imc", strlen("uncore_imc")) == 0 &&
           (strstr(name, "free_running") != NULL) == free_running;
}

static int open_kind(struct imc *imc, const struct rootfs *root, const struct topo *topo,
                     bool free_running)
{
    char **names = rootfs_list(root, UNCORE_DEVICES);
    struct pmu pmu;
    int rc = 0;

    for (size_t i = 0; names && names[i] && rc == 0; i++)
        if (is_of_kind(names[i], free_running) && pmu_read(root, names[i], &pmu))
            rc = open_pmu(imc, topo, &pmu);
    rootfs_list_free(names);
    return rc;
}

static int open_all(struct imc *imc, const struct rootfs *root, const struct topo *topo,
                    struct berth_error *err)
{
    if (open_kind(imc, root, topo, false) < 0 ||
        (imc->n == 0 && !imc->why && open_kind(imc, root, topo, true) < 0))
        return berth_no_memory(err);
    if (imc->n > 0)
        return 0;
    if (imc->why)
        return berth_error_set(err, "memory controllers: perf_event_open: %s",
                               capabilities_why(CAPABILITY(CAP_PERFMON), imc->why));
    return berth_error_set(err, "the kernel has no counters of memory controllers here");
}

int imc_open(struct imc **out, const struct rootfs *root, const struct topo *topo,
             imc_opener *open_event, void *arg, struct berth_error *err)
{
    struct imc *imc;

    if (!open_event && !rootfs_is_machine(root))
        return berth_error_set(err, "a recorded tree has no counters of memory controllers");
    imc = calloc(1, sizeof(*imc));
    if (!imc)
        return berth_no_memory(err);
    imc->packages = topo->packages;
    imc->open_event = open_event ? open_event : ask_kernel;
    imc->arg = arg;
    imc->whole = calloc(topo->packages, sizeof(*imc->whole));
    if ((imc->whole ? open_all(imc, root, topo, err) : berth_no_memory(err)) < 0) {
        imc_close(imc);
        return -1;
    }
    *out = imc;
    return 0;
}

void imc_close(struct imc *imc)
{
    if (!imc)
        return;
    for (size_t i = 0; i < imc->n; i++)
        group_close(&imc->group[i]);
    free(imc->group);
    free(imc->whole);
    free(imc);
}

/* ---- reading ---- */

/* Bytes since the last reading; NAN not known. */
static double group_read(struct group *group)
{
    uint64_t value[1 + EVENTS]; /* how many, and each */
    ssize_t size = (ssize_t)((1 + group->n) * sizeof(*value));
    bool known = group->known;
    double sum = 0;

    group->known = read(group->fd[0], value, (size_t)size) == size && value[0] == group->n;
    if (!group->known)
        return NAN;
    for (size_t i = 0; i < group->n; i++) {
        sum += (double)(value[1 + i] - group->last[i]) * group->bytes[i];
        group->last[i] = value[1 + i];
    }
    return known ? sum : NAN;
}

void imc_read(struct imc *imc, double at_s, double *traffic)
{
    double seconds = at_s - imc->read_s;

    for (size_t p = 0; p < imc->packages; p++)
        traffic[p] = imc->whole[p].counted && !imc->whole[p].broken ? 0 : NAN;
    for (size_t i = 0; i < imc->n; i++)
        traffic[imc->group[i].package] += group_read(&imc->group[i]);
    for (size_t p = 0; p < imc->packages; p++)
        traffic[p] = seconds > 0 ? traffic[p] / seconds : NAN;
    imc->read_s = at_s;
}
