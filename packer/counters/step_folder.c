/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step_folder - see step_folder.h */
#include "packer/counters/step_folder.h"

void step_folder_open(struct step_folder *folder, const struct counters_node *node,
                      struct wire_step_id id, const pid_t *pid, size_t n)
{
    struct step_cgroup_memory memory;

    *folder = (struct step_folder){.cpu = false};
    folder->cpu = step_cgroup_open(&folder->cgroup, node->root, node->enforce->cgroup_root, id, pid,
                                   n) == 0 &&
                  step_cgroup_read(&folder->cgroup, &folder->base) == 0;
    folder->memory = step_cgroup_read_memory(&folder->cgroup, &memory) == 0;
    folder->base_faults = folder->memory ? memory.faults : 0;
    folder->threads = step_cgroup_threads(&folder->cgroup) >= 0;
}

void step_folder_close(struct step_folder *folder)
{
    step_cgroup_close(&folder->cgroup);
}

static void add_cpu(const struct step_folder *folder, struct counters_sample *sample)
{
    struct step_cgroup_cpu now;

    if (!folder->cpu || step_cgroup_read(&folder->cgroup, &now) < 0)
        return;
    counters_set(sample, COUNTER_CPU_NS, now.cpu_ns - folder->base.cpu_ns);
    counters_set(sample, COUNTER_USER_NS, now.user_ns - folder->base.user_ns);
    counters_set(sample, COUNTER_SYSTEM_NS, now.system_ns - folder->base.system_ns);
}

static void add_memory(const struct step_folder *folder, struct counters_sample *sample)
{
    struct step_cgroup_memory now;

    if (!folder->memory || step_cgroup_read_memory(&folder->cgroup, &now) < 0)
        return;
    counters_set(sample, COUNTER_FAULTS, now.faults - folder->base_faults);
    counters_set(sample, COUNTER_RSS_BYTES, now.rss_bytes);
}

void step_folder_add(const struct step_folder *folder, struct counters_sample *sample)
{
    long threads = folder->threads ? step_cgroup_threads(&folder->cgroup) : -1;

    add_cpu(folder, sample);
    add_memory(folder, sample);
    if (threads >= 0)
        counters_set(sample, COUNTER_THREADS, (double)threads);
}
