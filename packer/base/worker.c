/* SPDX-License-Identifier: GPL-2.0-or-later */
/* worker - see worker.h */
#include "packer/base/worker.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "packer/base/clock.h"

static void *worker_main(void *arg)
{
    struct worker *worker = arg;

    worker_lock(worker);
    worker->run(worker->arg);
    worker->stopped = true;
    worker_changed(worker);
    worker_unlock(worker);
    return NULL;
}

static void make_locks(struct worker *worker)
{
    pthread_condattr_t clock;

    pthread_mutex_init(&worker->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&worker->changed, &clock);
    pthread_condattr_destroy(&clock);
}

static void destroy_locks(struct worker *worker)
{
    pthread_cond_destroy(&worker->changed);
    pthread_mutex_destroy(&worker->mutex);
}

int worker_thread(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
    sigset_t all, before;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(thread, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

int worker_open(struct worker *worker, void (*run)(void *arg), void *arg, struct berth_error *err)
{
    int rc;

    worker->run = run;
    worker->arg = arg;
    worker->stopping = worker->stopped = false;
    make_locks(worker);
    rc = worker_thread(&worker->thread, worker_main, worker);
    if (rc == 0)
        return 0;
    destroy_locks(worker);
    return berth_error_set(err, "no thread: %s", strerror(rc));
}

void worker_stop(struct worker *worker)
{
    worker_lock(worker);
    worker->stopping = true;
    worker_changed(worker);
    worker_unlock(worker);
}

bool worker_close(struct worker *worker)
{
    double until_s = clock_s() + WORKER_CLOSE_S;
    bool stopped;

    worker_lock(worker);
    worker->stopping = true;
    worker_changed(worker);
    while (!worker->stopped && worker_wait_until(worker, until_s))
        ;
    stopped = worker->stopped;
    worker_unlock(worker);
    if (!stopped) {
        pthread_detach(worker->thread);
        return false;
    }
    pthread_join(worker->thread, NULL);
    destroy_locks(worker);
    return true;
}

void worker_lock(struct worker *worker)
{
    pthread_mutex_lock(&worker->mutex);
}

void worker_unlock(struct worker *worker)
{
    pthread_mutex_unlock(&worker->mutex);
}

void worker_changed(struct worker *worker)
{
    pthread_cond_broadcast(&worker->changed);
}

bool worker_wait_until(struct worker *worker, double at_s)
{
    return clock_wait(&worker->changed, &worker->mutex, at_s);
}
