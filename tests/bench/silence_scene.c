/* SPDX-License-Identifier: GPL-2.0-or-later */
/* silence_scene - see silence_scene.h */
#include "tests/bench/silence_scene.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "tests/bench/bench.h"
#include "tests/bench/berthd.h"

#define STACK (64 * 1024)
#define MEMORY_NODES 2
#define ALWAYS "job_program = off\n"
#define NOTHING ALWAYS "counters =\nenergy =\nmemory_rate = 0\n"

#define SCENE(scene, does, n, t, alone, ...)                                                       \
    {                                                                                              \
        .name = (scene), .what = (does), .cores = (n) ? (n) : 64, .tasks = (n), .threads = (t),    \
        .serial = (alone), .folder = (scene)[0] == 'f', __VA_ARGS__                                \
    }
#define EACH(scene, does, n, t, alone)                                                             \
    SCENE(scene, does, n, t, alone, .all = false),                                                 \
        SCENE(scene "-", does ", all on but the blackboard", n, t, alone, .all = true),            \
        SCENE(scene "+", does ", all on", n, t, alone, .all = true, .blackboard = true)

const struct silence_scene silence_scenes[] = {
    EACH("nobody", "nobody is on the node", 0, 0, false),
    EACH("step.64x1", "a step of 64 tasks of one thread has the node", 64, 1, false),
    EACH("folder.64x1", "the same step has cgroups of its own, as Slurm makes them", 64, 1, false),
    EACH("step.64x8", "a step of 64 tasks of eight threads has the node", 64, 8, false),
    EACH("step.192x1", "a step of 192 tasks of one thread has the node", 192, 1, false),
    EACH("step.192x8", "a step of 192 tasks of eight threads has the node", 192, 8, false),
    EACH("serial.64", "64 steps of one task have the node", 64, 1, true),
};
const size_t silence_scenes_n = sizeof(silence_scenes) / sizeof(silence_scenes[0]);

/* ---- the tasks ---- */

static void *sleeper(void *arg)
{
    for (;;)
        pause();
    return arg;
}

static void be_task(size_t threads)
{
    pthread_attr_t attr;
    pthread_t thread;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "task");
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK);
    for (size_t i = 1; i < threads; i++)
        if (pthread_create(&thread, &attr, sleeper, NULL) != 0)
            _exit(1);
    sleeper(NULL);
}

static void tasks_start(struct silence_stage *stage, const struct silence_scene *scene)
{
    stage->task = calloc(scene->tasks + 1, sizeof(*stage->task));
    if (!stage->task)
        bench_die("tasks", strerror(errno));
    for (size_t i = 0; i < scene->tasks; i++) {
        pid_t pid = fork();

        if (pid == 0)
            be_task(scene->threads);
        if (pid < 0)
            bench_die("fork", strerror(errno));
        stage->task[stage->tasks++] = pid;
    }
}

/* ---- berthd ---- */

/* What a plain node has: two packages with a memory node each, eight cores a cache. */
static pid_t berthd_start(const struct silence_stage *stage, const struct silence_scene *scene)
{
    static char topology[64];
    char more[512];

    snprintf(topology, sizeof(topology), "package:%d [numa] l3:%zu core:8 pu:1", MEMORY_NODES,
             scene->cores / MEMORY_NODES / 8);
    bench_berthd_topology(topology);
    bench_machine(stage->folder, MEMORY_NODES, (unsigned)scene->cores / MEMORY_NODES);
    snprintf(more, sizeof(more), ALWAYS "blackboard = %s\nenergy_root = %s\n",
             scene->blackboard ? "on" : "off", stage->folder);
    bench_berthd_ledger(scene->all);
    return bench_berthd_start(stage->folder, scene->all ? more : NOTHING);
}

/* Cores are those of the job's number by BENCH_CORES (berthd.h): these begin with core 0. */
static void tasks_register(const struct silence_stage *stage, const struct silence_scene *scene)
{
    if (!scene->serial && stage->tasks > 0)
        bench_register_whole(1, "silence", stage->task, stage->tasks);
    for (size_t i = 0; scene->serial && i < stage->tasks; i++)
        bench_register((uint32_t)(BENCH_CORES + i), "silence", stage->task[i]);
}

void silence_stage_open(struct silence_stage *stage, const struct silence_scene *scene,
                        const char *folder)
{
    *stage = (struct silence_stage){.began_s = clock_s()};
    snprintf(stage->folder, sizeof(stage->folder), "%.90s/%zu", folder,
             (size_t)(scene - silence_scenes));
    if (mkdir(stage->folder, 0700) < 0)
        bench_die(stage->folder, strerror(errno));
    silence_stage_meter(stage);
    tasks_start(stage, scene);
    if (scene->folder)
        silence_folder_make(&stage->cgroups, stage->task, stage->tasks);
    stage->berthd = berthd_start(stage, scene);
    tasks_register(stage, scene);
}

void silence_stage_meter(const struct silence_stage *stage)
{
    bench_meters(stage->folder, clock_s() - stage->began_s);
}

void silence_stage_close(struct silence_stage *stage)
{
    bench_berthd_stop(stage->berthd);
    for (size_t i = 0; i < stage->tasks; i++) {
        kill(stage->task[i], SIGKILL);
        waitpid(stage->task[i], NULL, 0);
    }
    silence_folder_remove(&stage->cgroups);
    free(stage->task);
}
