/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steps - real processes arranged like a Slurm step, for the tests of enforcement: a "slurmstepd"
 * and its tasks, each with a second thread and a child. */
#ifndef BERTH_TESTS_STEPS_H
#define BERTH_TESTS_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define STEP_TASKS_MAX 4
#define STEP_TREE_SIZE 611  /* the task, */
#define STEP_TREE_CHAIN 110 /* so many below each other, the others below the task */

enum step_kind {
    STEP_QUIET,    /* sleeps */
    STEP_FORKING,  /* each task keeps making short-lived children and threads */
    STEP_ORPHAN,   /* each task's child has lost its parent, and calls itself slurmstepd */
    STEP_TREE,     /* each task has a tree of STEP_TREE_SIZE processes, a chain among them */
    STEP_INNER,    /* tasks in a PID namespace of their own, and what they say is its numbers */
    STEP_HEADLESS, /* each task's main thread has ended, the other one runs on */
    STEP_PROGRAM,  /* the task is a program (step_start_program) */
    STEP_CHAINS /* from step_let_fork on, processes each of which is soon replaced by its child */
};

struct step_processes {
    pid_t stepd;
    size_t n;
    pid_t task[STEP_TASKS_MAX];
    pid_t child[STEP_TASKS_MAX]; /* of STEP_QUIET and STEP_ORPHAN */
};

/* Start the step in the cgroup folder `dir` (NULL: where the test is), its task i bound to CPU
 * home[i]. */
void step_start(struct step_processes *step, const char *dir, size_t n, const unsigned *home,
                enum step_kind kind);

/* Starts a step of one task, which is the program argv[0], where all CPUs of the folder are. */
void step_start_program(struct step_processes *step, const char *dir, const char *const *argv);

/* Gives the slurmstepd the title that the real one has, as /proc/PID/cmdline tells it. */
void step_give_title(const struct step_processes *step, const char *title);

/* Let the chains of STEP_CHAINS begin; they end by themselves after seconds. */
void step_let_fork(const struct step_processes *step);

/* Kill and reap all of it. */
void step_stop(struct step_processes *step);

/* Kill and reap all but the slurmstepd. */
void step_end_tasks(struct step_processes *step);

/* Has each thread of the process exactly this Cpus_allowed_list? */
bool step_runs_on(pid_t pid, const char *list);

/* The cpuset (cgroup v1) that the process is in, e.g. "/berth/1.0". */
void step_cpuset(pid_t pid, char *path, size_t size);

#endif
