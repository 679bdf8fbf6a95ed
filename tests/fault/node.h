/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node - two steps in real cpusets (cgroup v1, named like Slurm's), and a real berthd that may swap
 * them: a quiet program at home on CPU 0, and one that needs the cache on CPU 1. */
#ifndef BERTH_TESTS_NODE_H
#define BERTH_TESTS_NODE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <sys/types.h>

#include "tests/unit/common/steps.h"

#define NODE_STEPS 2
#define NODE_WHY 512
#define NODE_JOB(i) (900001u + (unsigned)(i))

struct node {
    char dir[64], name[32], conf[96], socket[96];
    const char *berthd; /* the program */
    struct node_step {
        struct step_processes run;
        char leaf[256]; /* full path of Slurm's cgroup */
        bool gone;      /* it has ended */
    } step[NODE_STEPS];
    pid_t daemon; /* 0: none runs */
    int fd;       /* to it; -1 */
};

/* Why it cannot be made on this machine; NULL: it can. */
const char *node_missing(void);

struct node *node_open(const char *berthd);
void node_close(struct node *node); /* nothing is left of it */

/* Start a berthd, `traced` (trace.h) from its first instruction or not, and wait for it. false: it
 * ended. A traced one is only begun. */
bool node_start(struct node *node, bool traced);
bool node_up(struct node *node); /* does it answer by now? */
void node_kill(struct node *node);
/* Stop it in good order: its exit status, or -1. */
int node_stop(struct node *node);
void node_reset(struct node *node); /* empty state folder */

/* Say something to berthd (text with its newline), and has it answered in full? */
void node_hang_up(struct node *node);
bool node_say(struct node *node, const char *text);
bool node_answered(struct node *node);
/* Read an answer, at most a few seconds. The caller releases an array of its lines; NULL. */
struct json_object *node_answer(struct node *node);

/* The registration of step i. */
void node_registration(const struct node *node, size_t i, char *text, size_t size);

/* Step i ends, as Slurm ends it: its tasks, then its slurmstepd, then its cgroup. Or only the
 * tasks. node_revive starts it again. */
void node_end_tasks(struct node *node, size_t i);
void node_end_step(struct node *node, size_t i);
void node_revive(struct node *node);

/* Somebody writes into the cpuset of step i, where it stands. */
void node_rewrite(struct node *node, size_t i, const char *cpus);

/* ---- what holds ---- */

/* The one CPU that all threads of step i may run on; -1 and why: they differ, or have several. */
int node_cpu_of(const struct node *node, size_t i, char *why);

/* Each step stands on one CPU, no two on the same, where berthd says. */
bool node_holds(struct node *node, char *why);

/* Everybody is where Slurm had put him, and nothing of berth's is left. */
bool node_is_clean(struct node *node, char *why);

#endif
