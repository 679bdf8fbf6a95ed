/* SPDX-License-Identifier: GPL-2.0-or-later */
/* energy_sampler - powers, read twice a second and integrated, on a thread of its own.
 *
 * A sensor that says watts has to be read often, whether somebody asks for its energy or not; and
 * firmware takes its time to answer: an ACPI power meter that asks a management controller, up to
 * hundreds of milliseconds. berthd's event loop may not wait for that. What is got here is as of
 * the last sample. */
#ifndef BERTH_ENERGY_SAMPLER_H
#define BERTH_ENERGY_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "packer/energy/parts.h"

#define ENERGY_SAMPLE_MS 500
#define ENERGY_SAMPLE_REST_S 10.0 /* while berthd rests: each sample is a wake of the thread */

/* A sensor that has said nothing for so long is not known. */
#define ENERGY_SILENT_S 10.0

struct energy_sampler;

/* Begin with n files of microwatts, which are copied. Returns when the first sample is taken, which
 * may take its time. 0, or -1 and err. */
int energy_sampler_start(struct energy_sampler **out, const struct rootfs *root,
                         const struct energy_file *file, size_t n, unsigned every_ms,
                         struct berth_error *err);

/* Ends and frees it; a read that hangs is not waited for longer than WORKER_CLOSE_S (worker.h). */
void energy_sampler_stop(struct energy_sampler *sampler);

/* Samples that seldom from now on, or as often as ever. */
void energy_sampler_rest(struct energy_sampler *sampler, bool rests);

/* The i-th one's energy and gaps since its first sample; at_s: now, CLOCK_MONOTONIC. 0, or -1 with
 * errno: not known now. */
int energy_sampler_get(struct energy_sampler *sampler, size_t i, double at_s, uint64_t *uj,
                       uint64_t *gaps);

/* Fills in what the i-th one has said at last, and what nobody was told of since. 1, or 0 where it
 * has said nothing. */
size_t energy_sampler_keep(struct energy_sampler *sampler, size_t i, struct energy_last *last);

/* The i-th one goes on from there. False: it has said nothing yet. */
bool energy_sampler_resume(struct energy_sampler *sampler, size_t i,
                           const struct energy_last *last);

#endif
