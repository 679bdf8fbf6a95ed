/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target of the event table: a refused file is named with its line, and of one that was read
 * the events of a PMU are found, or none of its sections fits. */
#include <string.h>

#include "packer/counters/perf_events.h"
#include "tests/fuzz/fuzz.h"

static const char *const seeds[] = {
    "# a comment\n[hsw* bdw?]\ncycles = UNHALTED_CORE_CYCLES\nllc_misses = A:B + C | "
    "perf_raw::r412e\n"
    "    | D + E\nstalls = F\n\n[generic]\n"
    "instructions = PERF_COUNT_HW_INSTRUCTIONS\ncycles = perf::PERF_COUNT_HW_CPU_CYCLES\n"
    "llc_misses = perf_raw::r1+perf_raw::r2+perf_raw::r3|perf_raw::r4\n",
    "[generic]\ncycles=perf_raw::rff\n", "\n", NULL};

static void check_events(const struct perf_events *events)
{
    fuzz_assert(events->n <= PERF_EVENTS_MAX);
    for (size_t c = 0; c < COUNTERS; c++) {
        fuzz_assert(events->sum[c].n <= PERF_SUM_MAX);
        for (size_t i = 0; i < events->sum[c].n; i++)
            fuzz_assert(events->sum[c].event[i] < events->n);
    }
}

static void one(const uint8_t *data, size_t size)
{
    struct perf_table *table;
    struct perf_events events;
    struct berth_error err = {""};

    if (perf_table_read(&table, fuzz_file("events.conf", data, size), &err) < 0) {
        fuzz_assert(strstr(err.text, "events.conf:"));
        return;
    }
    if (perf_events_find(&events, table, "generic", NULL, NULL, &err) == 0)
        check_events(&events);
    else
        fuzz_assert(strstr(err.text, "no section of the event table fits"));
    perf_table_free(table);
}

const struct fuzz_target fuzz_event_table = {.name = "event_table", .one = one, .seed = seeds};
