/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dram - DraMon's software parameters from a trace (`berthctl profile --dram`; Wang 2015, sections
 * 4.5.1 and 4.5.2: DraMon-T). */
#ifndef BERTH_PROBE_PROFILE_DRAM_H
#define BERTH_PROBE_PROFILE_DRAM_H

#include "probe/profile/profile.h"
#include "probe/trace/tracer.h"

/* Fills the memory that is simulated: the one that was given, else that of the machine profile.
 * Nothing is asked where args->dram is not set. 0, or -1 and err: it is not known. */
int profile_dram_memory(const struct profile_args *args, const struct conf *conf,
                        uint32_t line_bytes, struct dramsim_geometry *memory,
                        struct berth_error *err);

/* Fills DraMon's ratios. profile: of the run, whose instructions per second tell the rate of
 * requests. Returns whether there were requests. */
bool profile_dram_fill(const struct tracer_result *result, const struct profile *profile,
                       const struct dramsim_geometry *memory, struct profile_dram *dram);

/* Returns the object "software" of `berthctl model dramon`, with the bank reuse distances and,
 * where several threads were traced, where a co-runner's request goes. The caller releases it. */
struct json_object *profile_dram_json(const struct profile_dram *dram,
                                      const struct dramsim_counts *counted);

/* Prints it for people. */
void profile_dram_print(const struct profile_dram *dram, const struct dramsim_counts *counted,
                        FILE *out);

#endif
