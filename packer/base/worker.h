/* SPDX-License-Identifier: GPL-2.0-or-later */
/* worker - runs a thread beside the event loop, with a mutex, and an end that does not wait for
 * ever.
 *
 * Disks, database servers and firmware take their time, and berthd's event loop must not wait for
 * them. Who has such work puts a struct worker into a structure of its own: the mutex guards that
 * structure, and both sides say with worker_changed() that the other one should look at it again.
 *
 * A thread that hangs in the kernel cannot be ended. worker_close() then leaves it alone: what it
 * can reach must never be freed. */
#ifndef BERTH_BASE_WORKER_H
#define BERTH_BASE_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "packer/base/error.h"

#define WORKER_CLOSE_S 2 /* how long worker_close() waits */

struct worker {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    void (*run)(void *arg);
    void *arg;
    atomic_bool stopping; /* run() shall return; may be read without the mutex */
    bool stopped;         /* run() has returned */
};

/* Starts a thread with all signals blocked: they are for the event loop's thread. 0, or an errno.
 */
int worker_thread(pthread_t *thread, void *(*run)(void *arg), void *arg);

/* Starts a thread that calls run(arg) once, with the mutex held and all signals blocked. run() lets
 * go of the mutex for what takes time. Returns 0, or -1 and err; there is nothing to be closed
 * then. */
int worker_open(struct worker *worker, void (*run)(void *arg), void *arg, struct berth_error *err);

/* Sets `stopping`, wakes the thread and waits WORKER_CLOSE_S at most for run() to return. Returns
 * true when it has: thread and mutex are gone. False when it has not: the thread goes on whenever
 * it can, so the worker and all that run() uses must stay as they are. */
bool worker_close(struct worker *worker);

/* Sets `stopping` and wakes the thread; nobody waits. worker_close() follows. */
void worker_stop(struct worker *worker);

void worker_lock(struct worker *worker);
void worker_unlock(struct worker *worker);

/* Wakes whoever waits for a change. Called with the mutex held. */
void worker_changed(struct worker *worker);

/* Waits, with the mutex let go, for a change or for the time at_s (CLOCK_MONOTONIC in seconds;
 * INFINITY: for a change only). Returns false when that time has come. Called with the mutex held,
 * on either side; like pthread_cond_wait(3) it may return true for nothing. */
bool worker_wait_until(struct worker *worker, double at_s);

#endif
