/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/counters/perf_group.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/system/perf_open.h"

struct perf_cpu {
    size_t cpu;
    int fd[PERF_PLAN_EVENTS]; /* -1 not open */
    struct perf_scale scale[PERF_PLAN_EVENTS];
};

static void close_cpu(const struct perf_plan *plan, struct perf_cpu *cpu)
{
    for (size_t i = plan->n; i > 0; i--) /* leaders last */
        file_close(cpu->fd[i - 1]);
}

static int open_event(const struct perf_set *set, size_t cpu, size_t event, int leader)
{
    return perf_open(&set->plan->event[event], set->cgroup, (int)cpu, leader, PERF_FLAG_PID_CGROUP);
}

static int open_group(const struct perf_set *set, struct perf_cpu *cpu, size_t group)
{
    size_t first = set->plan->first[group];

    for (size_t i = first; i < set->plan->first[group + 1]; i++) {
        cpu->fd[i] = open_event(set, cpu->cpu, i, i == first ? -1 : cpu->fd[first]);
        if (cpu->fd[i] < 0)
            return -1;
    }
    return ioctl(cpu->fd[first], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
}

/* 0, or -1 with errno; nothing is open then */
static int open_cpu(const struct perf_set *set, struct perf_cpu *cpu, size_t number)
{
    memset(cpu, 0, sizeof(*cpu));
    cpu->cpu = number;
    for (size_t i = 0; i < PERF_PLAN_EVENTS; i++)
        cpu->fd[i] = -1;
    for (size_t group = 0; group < set->plan->groups; group++) {
        if (open_group(set, cpu, group) == 0)
            continue;
        close_cpu(set->plan, cpu);
        return -1;
    }
    return 0;
}

static int read_group(const struct perf_plan *plan, struct perf_cpu *cpu, size_t group)
{
    uint64_t value[3 + PERF_PLAN_EVENTS]; /* number, time enabled, time running, counts */
    size_t first = plan->first[group], n = plan->first[group + 1] - first;
    ssize_t want = (ssize_t)((3 + n) * sizeof(value[0]));

    if (read(cpu->fd[first], value, (size_t)want) != want)
        return -1;
    for (size_t i = 0; i < n; i++)
        perf_scale_add(&cpu->scale[first + i], value[3 + i], value[1], value[2]);
    return 0;
}

static int read_cpu(const struct perf_plan *plan, struct perf_cpu *cpu)
{
    for (size_t group = 0; group < plan->groups; group++)
        if (read_group(plan, cpu, group) < 0)
            return -1;
    return 0;
}

static size_t nodes_of(const struct perf_plan *plan)
{
    return plan->nodes > 1 ? plan->nodes : 1;
}

/* What was counted on CPUs of the node that the step has left. */
static struct perf_estimate *kept_of(const struct perf_set *set, size_t node)
{
    return set->kept + node * PERF_PLAN_EVENTS;
}

/* Close what the step has left; what was counted there stays. */
static void leave(struct perf_set *set, const struct cpus *cpus)
{
    size_t left = 0;

    for (size_t i = 0; i < set->n; i++) {
        struct perf_cpu *cpu = &set->cpu[i];

        if (cpus_has(cpus, cpu->cpu)) {
            if (left != i)
                set->cpu[left] = *cpu;
            left++;
            continue;
        }
        read_cpu(set->plan, cpu); /* where it fails, what was read before counts */
        for (size_t event = 0; event < set->plan->n; event++)
            perf_estimate_add(&kept_of(set, set->plan->node[cpu->cpu])[event], &cpu->scale[event]);
        close_cpu(set->plan, cpu);
    }
    set->n = left;
}

static bool is_open(const struct perf_set *set, size_t cpu)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->cpu[i].cpu == cpu)
            return true;
    return false;
}

int perf_set_follow(struct perf_set *set, const struct cpus *cpus, struct berth_error *err)
{
    struct perf_cpu *grown;

    leave(set, cpus);
    grown = realloc(set->cpu, (cpus_count(cpus) + set->n + 1) * sizeof(*grown));
    if (!grown)
        return berth_no_memory(err);
    set->cpu = grown;
    cpus_foreach(cpu, cpus)
    {
        if (is_open(set, cpu))
            continue;
        if (open_cpu(set, &set->cpu[set->n], cpu) == 0)
            set->n++;
        else if (errno != ENODEV) /* offline: nothing runs there */
            return berth_error_set(err, "perf_event_open on CPU %zu: %s", cpu,
                                   errno == EMFILE ? "too many open files (LimitNOFILE= of berthd)"
                                                   : strerror(errno));
    }
    return 0;
}

int perf_set_open(struct perf_set *set, const struct perf_plan *plan, int cgroup,
                  const struct cpus *cpus, struct berth_error *err)
{
    *set = (struct perf_set){.plan = plan, .cgroup = cgroup};
    set->kept = calloc(nodes_of(plan) * PERF_PLAN_EVENTS, sizeof(*set->kept));
    if (!set->kept)
        return berth_no_memory(err);
    if (perf_set_follow(set, cpus, err) == 0)
        return 0;
    perf_set_close(set);
    return -1;
}

void perf_set_close(struct perf_set *set)
{
    for (size_t i = 0; i < set->n; i++)
        close_cpu(set->plan, &set->cpu[i]);
    free(set->cpu);
    free(set->kept);
    *set = (struct perf_set){.plan = set->plan};
}

int perf_set_read(struct perf_set *set, struct berth_error *err)
{
    for (size_t i = 0; i < set->n; i++)
        if (read_cpu(set->plan, &set->cpu[i]) < 0)
            return berth_error_set(err, "cannot read the events of CPU %zu: %s", set->cpu[i].cpu,
                                   strerror(errno));
    return 0;
}

void perf_set_estimate_on(const struct perf_set *set, size_t event, size_t node,
                          struct perf_estimate *estimate)
{
    *estimate = kept_of(set, node)[event];
    for (size_t i = 0; i < set->n; i++)
        if (set->plan->node[set->cpu[i].cpu] == node)
            perf_estimate_add(estimate, &set->cpu[i].scale[event]);
}

void perf_set_estimate(const struct perf_set *set, size_t event, struct perf_estimate *estimate)
{
    *estimate = (struct perf_estimate){0};
    for (size_t node = 0; node < nodes_of(set->plan); node++)
        perf_estimate_join(estimate, &kept_of(set, node)[event]);
    for (size_t i = 0; i < set->n; i++)
        perf_estimate_add(estimate, &set->cpu[i].scale[event]);
}
