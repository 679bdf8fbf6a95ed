/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recorded - a file of samples (counters/sample_line.h), whole in memory, and what was counted at
 * any time of it.
 *
 * JSON lines where its first byte is '{', else CSV. Lines of one step ascend in time, and its
 * counts never fall; steps may be interleaved. Blank lines are skipped. */
#ifndef BERTH_COUNTERS_RECORDED_H
#define BERTH_COUNTERS_RECORDED_H

#include <stddef.h>

#include "packer/base/error.h"
#include "packer/counters/counters.h"

/* Bounds, of a file that is refused when it is larger: some 100 MiB of memory in all. */
#define RECORDED_STEPS_MAX 1024
#define RECORDED_SAMPLES_MAX (1u << 20)
#define RECORDED_VALUES_MAX (8u << 20) /* known counters, errors and nodes of all samples */

struct recorded;

/* Read a file. 0 and *out, or -1 and err: "FILE:LINE: FIELD: what would be right". It must be a
 * regular file and hold a sample. */
int recorded_read(struct recorded **out, const char *path, struct berth_error *err);
void recorded_free(struct recorded *replay); /* NULL is fine */

/* How many steps it has; the name of each, borrowed; the one of that name, or -1. */
size_t recorded_steps(const struct recorded *replay);
const char *recorded_name(const struct recorded *replay, size_t step);
long recorded_find(const struct recorded *replay, const char *name);

/* Of all steps together: samples, and values as they are bounded. */
size_t recorded_samples(const struct recorded *replay);
size_t recorded_values(const struct recorded *replay);

/* What any sample of the step knows; its samples, which are at least one; one of them, in which
 * what is counted by node is *by (NULL: not asked for). */
uint32_t recorded_known(const struct recorded *replay, size_t step);
size_t recorded_samples_of(const struct recorded *replay, size_t step);
void recorded_sample(const struct recorded *replay, size_t step, size_t index,
                     struct counters_sample *sample, struct by_node *by);

/* Add, by counters_set, what the step had counted `at_s` seconds after its registration, and set
 * sample->at_s to that; to *sample->by_node, too, where there is room for it.
 *
 * Counts between two samples grow linearly, from 0 before the first one; they are known where both
 * samples know them. A gauge is that of the sample before. After the last sample the recording
 * plays again from its start, and counts go on: over growing at_s no count ever falls. */
void recorded_at(const struct recorded *replay, size_t step, double at_s,
                 struct counters_sample *sample);

#endif
