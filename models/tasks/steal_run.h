/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steal_run - a run of the model steal (steal.h): what its files share.
 *
 * steal.c has the program, steal_look.c who looks where, steal_state.c events and queues. */
#ifndef BERTH_MODELS_TASKS_STEAL_RUN_H
#define BERTH_MODELS_TASKS_STEAL_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/tasks/chance.h"
#include "models/tasks/steal.h"
#include "models/tasks/threshold.h"

#define NOBODY UINT32_MAX

/* A task, with all that it creates: tasks number .. number + n - 1. */
struct item {
    uint32_t number, n;
};

/* A ring that grows. */
struct queue {
    struct item *item;
    size_t room, first, n;
    bool is_victim;
};

enum doing {
    DOING_CREATE,  /* the first worker of a flat program */
    DOING_RUN,     /* until its task ends */
    DOING_LOOK,    /* for a victim, when it comes to that */
    DOING_ATTEMPT, /* on its way to the victim */
    DOING_WAIT     /* for another one of its domain */
};

struct worker {
    uint32_t domain, queue;
    enum doing doing;
    struct item item; /* that it runs; DOING_CREATE: that are still to be created */
    uint32_t victim;  /* a queue */
    unsigned looks;   /* since it had a task */
    struct threshold threshold;
    uint64_t pushed, run;
    bool was_empty;
    double at_s; /* of its event */
};

struct domain {
    uint32_t first, n; /* workers */
    uint32_t idle;
    uint32_t outside; /* who of them went to another domain, until he has run what he found */
};

struct run {
    const struct steal_program *program;
    struct steal_outcome *outcome;
    struct chance chance;
    struct worker *worker;
    struct queue *queue;
    struct domain domain[STEAL_DOMAINS_MAX];
    uint32_t *heap; /* workers with an event, the soonest first */
    size_t events;
    uint32_t workers, queues;
    uint32_t left; /* tasks that have not ended */
    double now_s;
    bool failed; /* no memory */
};

/* Adds an event of the worker, who does that from then on; one who waits has none. */
void run_set_doing(struct run *run, uint32_t w, enum doing doing, double at_s);

/* Takes the worker whose event is next. */
uint32_t run_take_event(struct run *run);

/* Adds a task to the worker's own queue; run->failed: there was no memory. */
void run_push(struct run *run, struct worker *worker, struct item item);

/* Takes the oldest task of a queue that has any. */
struct item run_take_oldest(struct queue *queue, const struct threshold *threshold);

/* Those that wait for one of the domain look again. */
void run_end_waits(struct run *run, uint32_t domain);

/* The worker has a task from then on, or none. */
void run_start(struct run *run, uint32_t w, struct item item, double at_s);
void run_proceed(struct run *run, uint32_t w, double at_s);

/* Sets the worker's thresholds by what it has done until now (eq. 3.3 and 3.4). */
void run_set_thresholds(const struct run *run, struct worker *worker);

/* Says that the worker is at home again. */
void run_come_home(struct run *run, uint32_t w);

/* The worker, who has nothing to do, looks for a victim. */
void run_look(struct run *run, uint32_t w);

/* It has come to its victim. */
void run_attempt(struct run *run, uint32_t w);

#endif
