/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rates - see rates.h */
#include "packer/counters/rates.h"

#include <math.h>

const struct rate_info rate_info[RATES] = {
    [RATE_MISS_PMI] = {"miss_pmi", "misses per million instructions"},
    [RATE_ACCESS_PMI] = {"access_pmi", "cache accesses per million instructions"},
    [RATE_MISS_RATIO] = {"miss_ratio", "misses per cache access"},
    [RATE_IPC] = {"ipc", "instructions per cycle"},
    [RATE_STALLED] = {"stalled", "of the cycles waiting for memory"},
    [RATE_REMOTE] = {"remote", "of the lines read from remote memory"},
    [RATE_INSTRUCTIONS] = {"instructions_s", "instructions per second"},
    [RATE_MISSES] = {"misses_s", "misses per second"},
    [RATE_BYTES] = {"bytes_s", "bytes of memory traffic per second"},
    [RATE_CPU] = {"cpu", "cores in use"},
    [RATE_USER] = {"user", "cores in user space"},
    [RATE_SYSTEM] = {"system", "cores in the kernel"},
    [RATE_RUN_DELAY] = {"run_delay", "threads waiting for a CPU"},
    [RATE_LOCK_WAIT] = {"lock_wait", "threads waiting for a lock"},
    [RATE_VOLUNTARY] = {"voluntary_s", "voluntary context switches per second"},
    [RATE_INVOLUNTARY] = {"involuntary_s", "involuntary context switches per second"},
    [RATE_MIGRATIONS] = {"migrations_s", "migrations per second"},
    [RATE_FAULTS] = {"faults_s", "page faults per second"},
    [RATE_SWITCHES] = {"switches_s", "context switches per second"},
    [RATE_CYCLES_PMI] = {"cycles_pmi", "cycles per million instructions"},
    [RATE_STALLS_PMI] = {"stalls_pmi", "cycles of waiting per million instructions"},
    [RATE_REMOTE_PMI] = {"remote_pmi", "remote reads per million instructions"},
    [RATE_CORE_SPEED] = {"core_instructions_s", "instructions per CPU second"},
    [RATE_OCCUPANCY] = {"occupancy_bytes", "bytes of cache held"},
    [RATE_RSS] = {"rss_bytes", "bytes resident"},
};

/* What a rate is made of: y / y_unit per x / x_unit, two counters; or per second; or, for a gauge,
 * its mean. */
enum { PER_SECOND = -1, PER_WINDOW = -2 };
static const struct {
    int y, x;
    double y_unit, x_unit;
} made_of[RATES] = {
    [RATE_MISS_PMI] = {COUNTER_LLC_MISSES, COUNTER_INSTRUCTIONS, 1, 1e6},
    [RATE_ACCESS_PMI] = {COUNTER_LLC_ACCESSES, COUNTER_INSTRUCTIONS, 1, 1e6},
    [RATE_MISS_RATIO] = {COUNTER_LLC_MISSES, COUNTER_LLC_ACCESSES, 1, 1},
    [RATE_IPC] = {COUNTER_INSTRUCTIONS, COUNTER_CYCLES, 1, 1},
    [RATE_STALLED] = {COUNTER_STALLS, COUNTER_CYCLES, 1, 1},
    [RATE_REMOTE] = {COUNTER_READS_REMOTE, COUNTER_READS_LOCAL, 1, 1},
    [RATE_INSTRUCTIONS] = {COUNTER_INSTRUCTIONS, PER_SECOND, 1, 1},
    [RATE_MISSES] = {COUNTER_LLC_MISSES, PER_SECOND, 1, 1},
    [RATE_BYTES] = {COUNTER_BYTES, PER_SECOND, 1, 1},
    [RATE_CPU] = {COUNTER_CPU_NS, PER_SECOND, 1e9, 1},
    [RATE_USER] = {COUNTER_USER_NS, PER_SECOND, 1e9, 1},
    [RATE_SYSTEM] = {COUNTER_SYSTEM_NS, PER_SECOND, 1e9, 1},
    [RATE_RUN_DELAY] = {COUNTER_RUN_DELAY_NS, PER_SECOND, 1e9, 1},
    [RATE_LOCK_WAIT] = {COUNTER_LOCK_WAIT_NS, PER_SECOND, 1e9, 1},
    [RATE_VOLUNTARY] = {COUNTER_VOLUNTARY, PER_SECOND, 1, 1},
    [RATE_INVOLUNTARY] = {COUNTER_INVOLUNTARY, PER_SECOND, 1, 1},
    [RATE_MIGRATIONS] = {COUNTER_MIGRATIONS, PER_SECOND, 1, 1},
    [RATE_FAULTS] = {COUNTER_FAULTS, PER_SECOND, 1, 1},
    [RATE_SWITCHES] = {COUNTER_SWITCHES, PER_SECOND, 1, 1},
    [RATE_CYCLES_PMI] = {COUNTER_CYCLES, COUNTER_INSTRUCTIONS, 1, 1e6},
    [RATE_STALLS_PMI] = {COUNTER_STALLS, COUNTER_INSTRUCTIONS, 1, 1e6},
    [RATE_REMOTE_PMI] = {COUNTER_READS_REMOTE, COUNTER_INSTRUCTIONS, 1, 1e6},
    [RATE_CORE_SPEED] = {COUNTER_INSTRUCTIONS, COUNTER_CPU_NS, 1, 1e9},
    [RATE_OCCUPANCY] = {COUNTER_OCCUPANCY_BYTES, PER_WINDOW, 1, 1},
    [RATE_RSS] = {COUNTER_RSS_BYTES, PER_WINDOW, 1, 1},
};

const uint32_t rates_watched =
    1u << RATE_MISS_PMI | 1u << RATE_IPC | 1u << RATE_BYTES | 1u << RATE_CPU;

/* Of those that are watched: a twentieth of what makes a devil, of a cycle, of a slow channel, of a
 * core. */
const double rates_least[RATES] = {
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
        double y = difference(earlier, later, made_of[i].y);
        double x = difference(earlier, later, made_of[i].x);

        if (i == RATE_REMOTE)
            x += y; /* of all lines */
        window->y[i] = y / made_of[i].y_unit;
        window->x[i] = x / made_of[i].x_unit;
    }
}

double rates_scaling(const struct counters_sample *sample, enum rate_id id)
{
    double y = counters_know(sample, made_of[id].y) ? sample->error[made_of[id].y] : 0, x = 0;

    if (made_of[id].x >= 0 && counters_know(sample, made_of[id].x))
        x = sample->error[made_of[id].x];
    return hypot(x, y);
}
