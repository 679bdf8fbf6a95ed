/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/counters/rates.h"
#include "enum_table.h"

#include <math.h>

enum { PER_SECOND = -1, PER_WINDOW = -2 }; /* in the place of x */

const struct rate_info TABLE(rate_info, RATES) = {
    ROW(RATE_MISS_PMI) = {"miss_pmi", "misses per million instructions", COUNTER_LLC_MISSES,
                          COUNTER_INSTRUCTIONS, 1, 1e6},
    ROW(RATE_ACCESS_PMI) = {"access_pmi", "cache accesses per million instructions",
                            COUNTER_LLC_ACCESSES, COUNTER_INSTRUCTIONS, 1, 1e6},
    ROW(RATE_MISS_RATIO) = {"miss_ratio", "misses per cache access", COUNTER_LLC_MISSES,
                            COUNTER_LLC_ACCESSES, 1, 1},
    ROW(RATE_IPC) = {"ipc", "instructions per cycle", COUNTER_INSTRUCTIONS, COUNTER_CYCLES, 1, 1},
    ROW(RATE_STALLED) = {"stalled", "of the cycles waiting for memory", COUNTER_STALLS,
                         COUNTER_CYCLES, 1, 1},
    ROW(RATE_REMOTE) = {"remote", "of the lines read from remote memory", COUNTER_READS_REMOTE,
                        COUNTER_READS_LOCAL, 1, 1},
    ROW(RATE_INSTRUCTIONS) = {"instructions_s", "instructions per second", COUNTER_INSTRUCTIONS,
                              PER_SECOND, 1, 1},
    ROW(RATE_MISSES) = {"misses_s", "misses per second", COUNTER_LLC_MISSES, PER_SECOND, 1, 1},
    ROW(RATE_BYTES) = {"bytes_s", "bytes of memory traffic per second", COUNTER_BYTES, PER_SECOND,
                       1, 1},
    ROW(RATE_CPU) = {"cpu", "cores in use", COUNTER_CPU_NS, PER_SECOND, 1e9, 1},
    ROW(RATE_USER) = {"user", "cores in user space", COUNTER_USER_NS, PER_SECOND, 1e9, 1},
    ROW(RATE_SYSTEM) = {"system", "cores in the kernel", COUNTER_SYSTEM_NS, PER_SECOND, 1e9, 1},
    ROW(RATE_RUN_DELAY) = {"run_delay", "threads waiting for a CPU", COUNTER_RUN_DELAY_NS,
                           PER_SECOND, 1e9, 1},
    ROW(RATE_LOCK_WAIT) = {"lock_wait", "threads waiting for a lock", COUNTER_LOCK_WAIT_NS,
                           PER_SECOND, 1e9, 1},
    ROW(RATE_VOLUNTARY) = {"voluntary_s", "voluntary context switches per second",
                           COUNTER_VOLUNTARY, PER_SECOND, 1, 1},
    ROW(RATE_INVOLUNTARY) = {"involuntary_s", "involuntary context switches per second",
                             COUNTER_INVOLUNTARY, PER_SECOND, 1, 1},
    ROW(RATE_MIGRATIONS) = {"migrations_s", "migrations per second", COUNTER_MIGRATIONS, PER_SECOND,
                            1, 1},
    ROW(RATE_FAULTS) = {"faults_s", "page faults per second", COUNTER_FAULTS, PER_SECOND, 1, 1},
    ROW(RATE_SWITCHES) = {"switches_s", "context switches per second", COUNTER_SWITCHES, PER_SECOND,
                          1, 1},
    ROW(RATE_CYCLES_PMI) = {"cycles_pmi", "cycles per million instructions", COUNTER_CYCLES,
                            COUNTER_INSTRUCTIONS, 1, 1e6},
    ROW(RATE_STALLS_PMI) = {"stalls_pmi", "cycles of waiting per million instructions",
                            COUNTER_STALLS, COUNTER_INSTRUCTIONS, 1, 1e6},
    ROW(RATE_REMOTE_PMI) = {"remote_pmi", "remote reads per million instructions",
                            COUNTER_READS_REMOTE, COUNTER_INSTRUCTIONS, 1, 1e6},
    ROW(RATE_CORE_SPEED) = {"core_instructions_s", "instructions per CPU second",
                            COUNTER_INSTRUCTIONS, COUNTER_CPU_NS, 1, 1e9},
    ROW(RATE_CLOCK) = {"clock_ghz", "GHz", COUNTER_CYCLES, COUNTER_CPU_NS, 1, 1},
    ROW(RATE_OCCUPANCY) = {"occupancy_bytes", "bytes of cache held", COUNTER_OCCUPANCY_BYTES,
                           PER_WINDOW, 1, 1},
    ROW(RATE_RSS) = {"rss_bytes", "bytes resident", COUNTER_RSS_BYTES, PER_WINDOW, 1, 1},
    ROW(RATE_THREADS) = {"threads", "threads", COUNTER_THREADS, PER_WINDOW, 1, 1},
};
TABLE_COMPLETE(rate_info);

const uint32_t rates_watched =
    1u << RATE_MISS_PMI | 1u << RATE_IPC | 1u << RATE_BYTES | 1u << RATE_CPU;

/* Of those that are watched: a twentieth of what makes a devil, of a cycle, of a slow channel, of a
 * core. */
const double SPARSE(rates_least, RATES) = {
    [RATE_MISS_PMI] = 100,
    [RATE_IPC] = 0.05,
    [RATE_BYTES] = 100e6,
    [RATE_CPU] = 0.05,
};

/* What a counter has counted between, or a gauge shows at the end; NAN when that is not known. */
static double difference(const struct counters_sample *earlier, const struct counters_sample *later,
                         int counter)
{
    double difference;

    if (counter == PER_SECOND)
        return later->at_s - earlier->at_s;
    if (counter == PER_WINDOW)
        return 1;
    if (!counters_know(later, counter))
        return NAN;
    if (counter_info[counter].gauge)
        return later->value[counter];
    if (!counters_know(earlier, counter))
        return NAN;
    difference = later->value[counter] - earlier->value[counter];
    return difference >= 0 ? difference : NAN;
}

void rates_window(const struct counters_sample *earlier, const struct counters_sample *later,
                  struct phase_window *window)
{
    for (size_t i = 0; i < RATES; i++) {
        double y = difference(earlier, later, rate_info[i].y);
        double x = difference(earlier, later, rate_info[i].x);

        if (i == RATE_REMOTE)
            x += y; /* of all lines */
        window->y[i] = y / rate_info[i].y_unit;
        window->x[i] = x / rate_info[i].x_unit;
    }
}

double rates_of(const struct phase_window *window, enum rate_id id)
{
    return window->x[id] > 0 ? window->y[id] / window->x[id] : NAN;
}

double rates_scaling(const struct counters_sample *sample, enum rate_id id)
{
    double y = counters_know(sample, rate_info[id].y) ? sample->error[rate_info[id].y] : 0, x = 0;

    if (rate_info[id].x >= 0 && counters_know(sample, rate_info[id].x))
        x = sample->error[rate_info[id].x];
    return hypot(x, y);
}
