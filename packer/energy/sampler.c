/* SPDX-License-Identifier: GPL-2.0-or-later */
/* energy_sampler - see energy/sampler.h. The files belong to the thread, the rest to the mutex. */
#include "packer/energy/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/clock.h"
#include "packer/base/worker.h"

struct sensor {
    struct energy_file file;
    struct energy_power power;
    uint64_t told_uj; /* of power.uj */
    int why;          /* errno of the last read; 0: it went well */
};

struct energy_sampler {
    struct worker worker;
    struct rootfs root; /* its own: a thread that hangs still has it */
    unsigned every_ms;
    bool rests; /* it samples once in ENERGY_SAMPLE_REST_S */
    bool begun; /* the first sample is there */
    size_t n;
    struct sensor sensor[];
};

/* Reads one sensor. The mutex is held, but not meanwhile. */
static void sample(struct energy_sampler *sampler, struct sensor *sensor)
{
    double at_s;
    uint64_t uw;
    int rc, why;

    worker_unlock(&sampler->worker);
    rc = energy_file_read(&sensor->file, &sampler->root, &uw);
    why = rc < 0 ? errno : 0;
    at_s = clock_s();
    worker_lock(&sampler->worker);
    sensor->why = why;
    if (rc == 0)
        energy_power_take(&sensor->power, (double)uw * 1e-6, at_s);
}

/* Between two samples, s. */
static double every_s(const struct energy_sampler *sampler)
{
    return sampler->rests ? ENERGY_SAMPLE_REST_S : sampler->every_ms / 1e3;
}

static void sample_meters(void *arg)
{
    struct energy_sampler *sampler = arg;
    struct worker *worker = &sampler->worker;

    while (!worker->stopping) {
        double began_s = clock_s();

        for (size_t i = 0; i < sampler->n; i++)
            sample(sampler, &sampler->sensor[i]);
        sampler->begun = true;
        worker_changed(worker);
        while (!worker->stopping && worker_wait_until(worker, began_s + every_s(sampler)))
            ; /* the rest may be over */
    }
}

static void sampler_free(struct energy_sampler *sampler)
{
    for (size_t i = 0; i < sampler->n; i++)
        energy_file_close(&sampler->sensor[i].file);
    rootfs_close(&sampler->root);
    free(sampler);
}

int energy_sampler_start(struct energy_sampler **out, const struct rootfs *root,
                         const struct energy_file *file, size_t n, unsigned every_ms,
                         struct berth_error *err)
{
    struct energy_sampler *sampler = calloc(1, sizeof(*sampler) + n * sizeof(sampler->sensor[0]));

    if (!sampler)
        return berth_no_memory(err);
    sampler->every_ms = every_ms;
    sampler->n = n;
    for (size_t i = 0; i < n; i++) {
        sampler->sensor[i].file = file[i];
        sampler->sensor[i].file.fd = -1;
    }
    sampler->root.fd = fcntl(root->fd, F_DUPFD_CLOEXEC, 0);
    if (sampler->root.fd < 0)
        berth_error_set(err, "cannot keep the root open: %s", strerror(errno));
    if (sampler->root.fd < 0 || worker_open(&sampler->worker, sample_meters, sampler, err) < 0) {
        sampler_free(sampler);
        return -1;
    }
    worker_lock(&sampler->worker);
    while (!sampler->begun)
        worker_wait_until(&sampler->worker, INFINITY);
    worker_unlock(&sampler->worker);
    *out = sampler;
    return 0;
}

void energy_sampler_stop(struct energy_sampler *sampler)
{
    if (worker_close(&sampler->worker))
        sampler_free(sampler);
}

void energy_sampler_rest(struct energy_sampler *sampler, bool rests)
{
    worker_lock(&sampler->worker);
    if (sampler->rests && !rests)
        worker_changed(&sampler->worker);
    sampler->rests = rests;
    worker_unlock(&sampler->worker);
}

int energy_sampler_get(struct energy_sampler *sampler, size_t i, double at_s, uint64_t *uj,
                       uint64_t *gaps)
{
    struct sensor *sensor = &sampler->sensor[i];
    int why;

    worker_lock(&sampler->worker);
    *uj = sensor->told_uj = sensor->power.uj;
    *gaps = sensor->power.gaps;
    why = sensor->why            ? sensor->why
          : !sensor->power.begun ? EAGAIN
          : at_s - sensor->power.at_s > ENERGY_SILENT_S + ENERGY_SAMPLE_REST_S * sampler->rests
              ? ETIMEDOUT
              : 0;
    worker_unlock(&sampler->worker);
    errno = why;
    return why ? -1 : 0;
}

size_t energy_sampler_keep(struct energy_sampler *sampler, size_t i, struct energy_last *last)
{
    const struct sensor *sensor = &sampler->sensor[i];
    bool begun;

    worker_lock(&sampler->worker);
    begun = sensor->power.begun;
    *last = (struct energy_last){sensor->power.at_s, sensor->power.uj - sensor->told_uj,
                                 sensor->power.last_w};
    worker_unlock(&sampler->worker);
    return begun;
}

/* What was sampled since the opening is part of the time from then to the last sample. */
bool energy_sampler_resume(struct energy_sampler *sampler, size_t i, const struct energy_last *last)
{
    struct sensor *sensor = &sampler->sensor[i];
    struct energy_power power = {
        .begun = true, .last_w = last->figure, .at_s = last->at_s, .uj = last->uj};
    bool begun;

    worker_lock(&sampler->worker);
    begun = sensor->power.begun;
    if (begun) {
        energy_power_take(&power, sensor->power.last_w, sensor->power.at_s);
        sensor->power = power;
    }
    worker_unlock(&sampler->worker);
    return begun;
}
