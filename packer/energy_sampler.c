/* SPDX-License-Identifier: GPL-2.0-or-later */
/* energy_sampler - see energy_sampler.h. The files belong to the thread, the rest to the mutex. */
#include "energy_sampler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mono.h"

struct sensor {
    struct energy_file file;
    struct energy_power power;
    int why; /* errno of the last read; 0: it went well */
};

struct energy_sampler {
    const struct rootfs *root;
    unsigned every_ms;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t ends;
    bool end;
    size_t n;
    struct sensor sensor[];
};

static void sample(struct energy_sampler *sampler, struct sensor *sensor)
{
    uint64_t uw;
    int rc = energy_file_read(&sensor->file, sampler->root, &uw), why = rc < 0 ? errno : 0;
    double at_s = mono_s();

    pthread_mutex_lock(&sampler->mutex);
    sensor->why = why;
    if (rc == 0)
        energy_power_take(&sensor->power, (double)uw * 1e-6, at_s);
    pthread_mutex_unlock(&sampler->mutex);
}

static struct timespec after(struct timespec time, unsigned ms)
{
    time.tv_nsec += (long)(ms % 1000) * 1000000;
    time.tv_sec += ms / 1000 + time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

static void *run(void *arg)
{
    struct energy_sampler *sampler = arg;
    struct timespec until;
    bool end = false;

    while (!end) {
        clock_gettime(CLOCK_MONOTONIC, &until);
        until = after(until, sampler->every_ms);
        for (size_t i = 0; i < sampler->n; i++)
            sample(sampler, &sampler->sensor[i]);
        pthread_mutex_lock(&sampler->mutex);
        while (!sampler->end &&
               pthread_cond_timedwait(&sampler->ends, &sampler->mutex, &until) != ETIMEDOUT)
            ;
        end = sampler->end;
        pthread_mutex_unlock(&sampler->mutex);
    }
    return NULL;
}

static void make_locks(struct energy_sampler *sampler)
{
    pthread_condattr_t clock;

    pthread_mutex_init(&sampler->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&sampler->ends, &clock);
    pthread_condattr_destroy(&clock);
}

static void destroy(struct energy_sampler *sampler)
{
    for (size_t i = 0; i < sampler->n; i++)
        energy_file_close(&sampler->sensor[i].file);
    pthread_cond_destroy(&sampler->ends);
    pthread_mutex_destroy(&sampler->mutex);
    free(sampler);
}

int energy_sampler_start(struct energy_sampler **out, const struct rootfs *root,
                         const struct energy_file *file, size_t n, unsigned every_ms,
                         struct berth_error *err)
{
    struct energy_sampler *sampler = calloc(1, sizeof(*sampler) + n * sizeof(sampler->sensor[0]));
    sigset_t all, before;
    int rc;

    if (!sampler)
        return berth_error_set(err, "out of memory");
    sampler->root = root;
    sampler->every_ms = every_ms;
    sampler->n = n;
    for (size_t i = 0; i < n; i++) {
        sampler->sensor[i].file = file[i];
        sampler->sensor[i].file.fd = -1;
    }
    make_locks(sampler);
    for (size_t i = 0; i < n; i++)
        sample(sampler, &sampler->sensor[i]); /* so that it is known from the start on */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the main thread's */
    rc = pthread_create(&sampler->thread, NULL, run, sampler);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc) {
        destroy(sampler);
        return berth_error_set(err, "cannot start a thread: %s", strerror(rc));
    }
    *out = sampler;
    return 0;
}

void energy_sampler_stop(struct energy_sampler *sampler)
{
    pthread_mutex_lock(&sampler->mutex);
    sampler->end = true;
    pthread_cond_signal(&sampler->ends);
    pthread_mutex_unlock(&sampler->mutex);
    pthread_join(sampler->thread, NULL);
    destroy(sampler);
}

int energy_sampler_get(struct energy_sampler *sampler, size_t i, double at_s, uint64_t *uj,
                       uint64_t *gaps)
{
    const struct sensor *sensor = &sampler->sensor[i];
    int why;

    pthread_mutex_lock(&sampler->mutex);
    *uj = sensor->power.uj;
    *gaps = sensor->power.gaps;
    why = sensor->why                                   ? sensor->why
          : !sensor->power.begun                        ? EAGAIN
          : at_s - sensor->power.at_s > ENERGY_SILENT_S ? ETIMEDOUT
                                                        : 0;
    pthread_mutex_unlock(&sampler->mutex);
    errno = why;
    return why ? -1 : 0;
}
