/* SPDX-License-Identifier: GPL-2.0-or-later */
/* folders [JOBS [ROUNDS]] - what reading Slurm's folders costs berthd, with JOBS (200) jobs of the
 * pool on real cpusets of cgroup v1, as root: at a registration (its job's steps), at a decision
 * (the pool's members: stand_sync) and at a sweep (all steps). Each job has an external step and
 * one with a process, all on CPU 0. Medians of ROUNDS (200) in
 * microseconds of CPU time. Run in the build
 * folder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/base/array.h"
#include "packer/base/clock.h"
#include "packer/machine/topo.h"
#include "packer/steps/packer.h"
#include "packer/steps/stand.h"
#include "packer/slurm/steps/strangers.h"
#include "tests/bench/bench.h"
#include "tests/unit/common/folder.h"

#define CPUSET "/sys/fs/cgroup/cpuset/"

static char top[64];

static void make(const char *path)
{
    char file[256];

    if (mkdir(path, 0755) < 0)
        bench_die(path, "cannot be made");
    snprintf(file, sizeof(file), "%s/cpuset.cpus", path);
    file_put(file, "0");
    snprintf(file, sizeof(file), "%s/cpuset.mems", path);
    file_put(file, "0");
}

static void make_job(struct packer *packer, uint32_t job)
{
    struct wire_task task = {.pid = 1};
    struct wire_register request = {.id = {job, 0}, .node = "bench", .ntasks = 1};
    struct step *step;
    char path[128];

    snprintf(path, sizeof(path), CPUSET "%s/uid_0/job_%u", top, job);
    make(path);
    strcat(path, "/step_extern");
    make(path);
    strcpy(strrchr(path, '/'), "/step_0");
    make(path);
    request.task = malloc(sizeof(task));
    if (!request.task)
        bench_die("folders", "out of memory");
    *request.task = task;
    snprintf(request.node, sizeof(request.node), "%s", top + strlen("slurm_"));
    step = registry_add(packer->steps, &request);
    if (!step || step_go(step, STEP_PLACED) < 0)
        bench_die("folders", "no step");
    snprintf(step->body.leaf, sizeof(step->body.leaf), "%s/uid_0/job_%u/step_0", top, job);
    cpus_add(&step->body.job_home, 0);
    step->body.step_home = step->body.task[0].home = step->body.job_home;
}

static void remove_all(void)
{
    char command[192];

    snprintf(command, sizeof(command), "find " CPUSET "%s -depth -type d -exec rmdir {} +", top);
    if (system(command) != 0)
        fprintf(stderr, "folders: %s is left\n", top);
}

static void at_registration(struct packer *packer)
{
    strangers_read_job(packer, 1);
}

static void at_decision(struct packer *packer)
{
    struct scene scene = {packer, packer->state->pool, false};

    stand_sync(&scene);
}

static void at_sweep(struct packer *packer)
{
    strangers_read(packer);
}

static void time_it(const char *what, void (*doing)(struct packer *), struct packer *packer,
                    size_t rounds)
{
    double *us = calloc(rounds, sizeof(*us));

    for (size_t i = 0; us && i < rounds; i++) {
        uint64_t began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

        doing(packer);
        us[i] = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns) * 1e-3;
    }
    printf("%-14s %8.1f us\n", what, us ? array_median(us, rounds) : 0);
    free(us);
}

int main(int argc, char **argv)
{
    size_t jobs = argc > 1 ? strtoul(argv[1], NULL, 10) : 200;
    size_t rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 200;
    static struct packer packer;
    struct berth_error err = {""};
    char path[128];

    snprintf(top, sizeof(top), "slurm_bench%d", (int)getpid());
    if (packer_make(&packer, &err) < 0)
        bench_die("folders", err.text);
    registry_init(packer.steps, 1);
    if (rootfs_open(&packer.world.root, "/", &err) < 0 ||
        enforce_open(packer.world.enforce, &packer.world.root, "/sys/fs/cgroup", "cgroup1", &err) <
            0 ||
        topo_read(&packer.world.topo, "package:8 l3:3 core:8 pu:1", &err) < 0 ||
        pool_init(packer.state->pool, packer.world.topo->cores) < 0)
        bench_die("folders", err.text);
    snprintf(path, sizeof(path), CPUSET "%s", top);
    make(path);
    strcat(path, "/uid_0");
    make(path);
    for (uint32_t job = 1; job <= jobs; job++)
        make_job(&packer, job);
    time_it("registration", at_registration, &packer, rounds);
    time_it("decision", at_decision, &packer, rounds);
    time_it("sweep", at_sweep, &packer, rounds);
    remove_all();
    return 0;
}
