/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node - steps in real cpusets (cgroup v1, named like Slurm's) of a machine with two CPUs, which
 * counts as two packages, and a real berthd that may change them. Which steps there are, and what
 * berthd does to them, is the node's kind. */
#ifndef BERTH_TESTS_NODE_H
#define BERTH_TESTS_NODE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include "tests/unit/common/steps.h"

#define NODE_STEPS_MAX 2
#define NODE_WHY 512
/* Others' tests may run on this machine, whose steps are not ours. */
#define NODE_JOB(i) (900001u + NODE_STEPS_MAX * (unsigned)getpid() + (unsigned)(i))
#define NODE_PATIENCE_S 60.0 /* a hung daemon is a failure, a slow machine is not */

struct node {
    char dir[64], name[32], conf[96], socket[96];
    const struct node_kind *kind;
    bool allowed; /* what berth.conf says now */
    struct node_step {
        struct step_processes run;
        char leaf[256]; /* full path of Slurm's cgroup */
        bool gone;      /* it has ended */
    } step[NODE_STEPS_MAX];
    pid_t daemon; /* 0: none runs */
    double started_s;
    int fd; /* to it; -1 */
};

struct node_kind {
    const char *name, *berthd; /* the program: where the build has it */
    size_t steps;
    struct {
        const char *cpus, *options; /* that Slurm gave; of its registration, as JSON */
    } step[NODE_STEPS_MAX];
    /* Makes what berthd reads beside berth.conf; NULL: there is nothing. */
    void (*files)(const struct node *node);
    /* Adds to berth.conf what allows the steps what they ask for; NULL: there is nothing. */
    void (*allow)(const struct node *node, FILE *conf);
    /* Adds what berth.conf says in any case; NULL: there is nothing. */
    void (*always)(const struct node *node, FILE *conf);
    /* Starts the processes of step i in its leaf. */
    void (*start)(struct node_step *step, size_t i);
    /* Has berthd done to all of them what it does here? `later`: some time after its answer. */
    bool (*changed)(struct node *node, char *why);
    bool later;
    /* Is everything as berthd says, whatever has happened? It is asked until it is: berthd may have
     * turns to go. */
    bool (*holds)(struct node *node, char *why);
    /* Is step i as it was before berthd? */
    bool (*is_home)(struct node *node, size_t i, char *why);
};

/* Two steps of a CPU each that change places: a quiet program at home on CPU 0, and one that needs
 * the cache on CPU 1. */
extern const struct node_kind node_pair;

/* One step of both CPUs, whose threads wait for locks, and are given a class and slice and a
 * package each. */
extern const struct node_kind node_crowd;

/* One step of CPU 0, whose core's prefetchers are switched off. */
extern const struct node_kind node_registers;

/* Why it cannot be made on this machine; NULL: it can. */
const char *node_missing(void);

struct node *node_open(const struct node_kind *kind);
void node_close(struct node *node); /* nothing is left of it */

/* Start a berthd, `traced` (trace.h) from its first instruction or not, and wait for it. false: it
 * ended. A traced one is only begun. */
bool node_start(struct node *node, bool traced);
bool node_up(struct node *node); /* does it answer by now? */
void node_kill(struct node *node);
/* Stop it in good order: its exit status, or -1. */
int node_stop(struct node *node);
void node_reset(struct node *node); /* empty state folder */

/* Writes berth.conf, in which steps are allowed what they ask for, or nothing. */
void node_configure(struct node *node, bool allowed);

/* Asks again and again until it is so. false, and why: it is not so when all patience is gone. */
bool node_await(struct node *node, bool (*is_so)(struct node *node, char *why), char *why);

/* Does berthd's log have this? */
bool node_logged(const struct node *node, const char *text);
void node_print_log(const struct node *node); /* all of it, on stderr */

/* Say something to berthd (text with its newline), and has it answered in full? */
void node_hang_up(struct node *node);
bool node_say(struct node *node, const char *text);
bool node_answered(struct node *node);
/* Read an answer. The caller releases an array of its lines; NULL. */
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

/* Is the process in Slurm's cgroup of step i? */
bool node_in_leaf(const struct node *node, size_t i, pid_t pid, char *why);

/* Has Slurm's cpuset of step i the CPUs that Slurm gave? */
bool node_leaf_is_slurms(const struct node *node, size_t i, char *why);

/* Everybody is where Slurm had put him, and nothing of berth's is left. */
bool node_is_clean(struct node *node, char *why);

#endif
