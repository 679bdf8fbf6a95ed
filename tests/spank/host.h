/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host - a fake of what loads a SPANK plugin: slurmstepd, srun and the rest.
 *
 * It loads the built plugin, answers its spank_* calls from a struct, and drives a step in the
 * order of slurmstepd's: the tasks are really forked, wait until the parent has done all
 * task_post_fork, and report what they run with. Any call of the plugin can be made to fail. */
#ifndef BERTH_TESTS_HOST_H
#define BERTH_TESTS_HOST_H

#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/wire/wire.h"

#define HOST_TASKS_MAX 8
#define HOST_ENV_MAX 16

/* What a task found itself to be in place of its exec. */
struct host_report {
    bool ran;         /* it came as far as exec */
    struct cpus cpus; /* Cpus_allowed_list of its /proc/self/status */
    int mempolicy;    /* MPOL_*; -1 unknown */
    char berth_cpus[64],
        omp_threads[64]; /* BERTH_CPUS, OMP_NUM_THREADS of its environment; "" not set */
    char page[128], preload[512],
        asan[128];  /* BERTH_RT_PAGE, LD_PRELOAD, ASAN_OPTIONS; "" not set */
    char said[256]; /* by the plugin in this task */
};

struct host {
    enum spank_context context;
    const char *argument[4]; /* of the plugin in plugstack.conf; ends at NULL */
    const char
        *option; /* --contention-aware=...; NULL when has_option is false or the option is bare */
    bool has_option;

    uint32_t job, step, nodes;
    uint32_t tasks;
    char *argv[9];
    char *env[HOST_ENV_MAX]; /* the job's environment, ends at NULL; spank_setenv adds to it */
    char *job_cores, *step_cores;
    gid_t groups[WIRE_GROUPS_MAX + 1]; /* [ngroups] */
    int ngroups;

    int fail_item; /* this item always fails; -1 none */
    int fail_call; /* the call of this number (from 0, any spank_* function) fails; -1 none */
    bool twice;    /* every callback of slurmstepd's is called twice */
    void (*forked)(
        const struct host *host); /* NULL, or called in the parent when the tasks are there */

    /* results */
    int calls; /* spank_* calls of the parent */
    int worst; /* the rc of the callbacks that is furthest from 0 */
    pid_t pid[HOST_TASKS_MAX];
    int status[HOST_TASKS_MAX]; /* wait status */
    struct host_report report[HOST_TASKS_MAX];
    char log[8192]; /* what the plugin said by slurm_error, slurm_info and slurm_spank_log */
};

/* A step of two tasks in slurmstepd that runs /bin/sh, nothing failing. */
void host_init(struct host *host);

/* Load the plugin $BERTH_PLUGIN (default: the built one). Exits when that cannot be: with 98 when
 * it is of another Slurm series than the headers that this program was built with. */
void host_load(void);

/* Call one callback by its name ("slurm_spank_init") about a task (-1: none). Its rc; 0 where the
 * plugin has none of that name. */
int host_call(struct host *host, const char *callback, int task);

/* Hand the option's argument to the plugin's callback as Slurm does. Its rc. */
int host_option(struct host *host, const char *argument, int remote);

/* The whole life of the step. */
void host_run_step(struct host *host);

#endif
