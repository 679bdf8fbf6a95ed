/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_noise - how uneven counters are: log-normal factors on what a job counts, never on what it
 * does.
 *
 * Three factors are multiplied: one a job (another input), one a phase of DAY_PHASE_S (what the
 * program is at), one a window of DAY_NOISE_S. Each has its sigma. Real series of 24 programs vary
 * by .1 to 58 % from window to window of 10 s (median 9 %), and by tens of percent with the input.
 *
 * Instructions and traffic have factors of their own: in 9 programs of SPEChpc at 4 to 71 ranks
 * (what a rank more changes beside its neighbours; data/real/spechpc-icelake.csv), instructions a
 * cycle and traffic a second are correlated by -.96 to .88, median .05. Accesses, misses and bytes
 * are traffic: they share most of their factor (DAY_NOISE_SHARED; no data: assumed). Time, CPU time
 * and cycles are as they are. */
#ifndef BERTH_BENCH_DAY_NOISE_H
#define BERTH_BENCH_DAY_NOISE_H

#include <stdbool.h>
#include <stdint.h>

#define DAY_PHASE_S 300
#define DAY_NOISE_S 10
#define DAY_NOISE_SHARED 0.9 /* correlation of two counters of traffic */

/* The sigmas; 0: none. */
struct day_noise {
    double job, phase, window;
};

/* The counters that are uneven. */
enum day_noisy { DAY_INSTRUCTIONS, DAY_ACCESSES, DAY_MISSES, DAY_BYTES, DAY_NOISIES };

static inline bool day_noise_is_on(const struct day_noise *noise)
{
    return noise->job > 0 || noise->phase > 0 || noise->window > 0;
}

/* Fills the factors of a job's counters in the window of time `at`, nanoseconds since the
 * simulation began: the same for the same seed, job and time. */
void day_noise_at(const struct day_noise *noise, uint64_t seed, uint32_t job, int64_t at,
                  double factor[DAY_NOISIES]);

/* Returns the end of the window in which `at` lies. */
int64_t day_noise_until(int64_t at);

#endif
