/* SPDX-License-Identifier: GPL-2.0-or-later */
/* silence_scene - who is on the node while berthd is watched: processes of this machine that sleep,
 * on a node that has a core for each of them. */
#ifndef BERTH_BENCH_SILENCE_SCENE_H
#define BERTH_BENCH_SILENCE_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "tests/bench/silence_folder.h"

struct silence_scene {
    const char *name, *what;
    size_t cores;          /* of the node */
    size_t tasks, threads; /* of each task */
    bool serial;           /* each task is a step of a job of its own; else all are one step */
    bool folder;           /* its step has cgroups of its own */
    bool all;              /* counters, energy, memory and ledger are on; else off */
    bool blackboard;       /* is on, too */
};

extern const struct silence_scene silence_scenes[];
extern const size_t silence_scenes_n;

struct silence_stage {
    pid_t berthd;
    char folder[128]; /* berthd's files */
    pid_t *task;
    size_t tasks;
    struct silence_folder cgroups;
    double began_s;
};

/* Starts the tasks and a berthd with its files in a folder below `folder`, and registers them. */
void silence_stage_open(struct silence_stage *stage, const struct silence_scene *scene,
                        const char *folder);
void silence_stage_close(struct silence_stage *stage);

/* The meters count on: to be called some times a second. */
void silence_stage_meter(const struct silence_stage *stage);

#endif
