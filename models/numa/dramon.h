/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dramon - DraMon: the bandwidth that any number of cores of one node draw from its memory (Wang
 * 2015, chapter 4).
 *
 * A request finds its row open (hit), its bank closed (miss) or another row open (conflict); which
 * of them depends on what the co-runners do to the bank between two of a core's own requests there.
 * From the three ratios come the latencies, less what overlaps with other requests' transfers, and
 * from these the rate at which the memory serves. The sum over what every co-runner may do, 2^n
 * terms in the paper, is a binomial one where the co-runners are alike, and is computed as such.
 *
 * Readings: the paper has misses and conflicts follow "similarly" to hits (section 4.4.2): misses
 * are what the auto-close distance takes, conflicts half of case B. Where overlaps would make a
 * latency less than the transfer (eq. 4.21 to 4.24), it is the transfer. D_ac is met with a strict
 * "less" (eq. 4.14). A write's transfer, one cycle longer, is so in the terms of the overlap, too.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_NUMA_DRAMON_H
#define BERTH_MODELS_NUMA_DRAMON_H

#include <stddef.h>

#define DRAMON_CORES_MAX 16384
#define DRAMON_BRD_MAX 64
#define DRAMON_SUM_TOLERANCE 0.01 /* ratios and probabilities sum to 1 but for their rounding */

/* Table 4.1; times in ns, all >= 0. */
struct dramon_hardware {
    double channels, banks; /* banks of a rank; whole numbers >= 1 */
    double trcd_ns, tcas_ns, trp_ns;
    double tburst_ns; /* data transfer, > 0 */
    double twr_ns, trtrs_ns, twtr_ns;
    double tck_ns;        /* one DRAM cycle, which a write's transfer takes more */
    double request_bytes; /* > 0 */
    double auto_close;    /* requests after which a row is closed (D_ac), >= 0 */
};

/* A bank reuse distance, in requests (> 0), and its probability. */
struct dramon_brd {
    double distance, probability;
};

/* Table 4.2: the program with one thread. */
struct dramon_software {
    double issue_rate_single;     /* requests/s per channel, >= 0 */
    double hit, miss, conflict;   /* ratios of one thread alone, 0..1; they sum to 1 */
    const struct dramon_brd *brd; /* [brds], borrowed; the probabilities sum to 1 */
    size_t brds;                  /* 1..DRAMON_BRD_MAX */
    double read_ratio;            /* 0..1; the others are writes */
    double wtr, rtr;              /* requests that switch from write to read, between ranks: 0..1 */
    double ranks;                 /* accessed, a whole number >= 1 */
    /* Where a co-runner's request goes: to the same row, to another row of the same bank, to
     * another channel; the rest to another bank of the channel. From a trace; NAN: as at run time
     * (section 4.5.3), 0, 1 / (banks * ranks * channels) and 1 - 1 / channels. */
    double same_row, same_bank, other_channel;
};

struct dramon_point {
    size_t cores;
    double gbps;                /* 1e9 bytes/s */
    double hit, miss, conflict; /* they sum to 1 */
    double latency_ns;          /* average of overlapping requests: 1 / latency is the rate at which
                                   a channel serves */
};

/* The run-time bank reuse distances: a new channel after every eighth line of a row. */
#define DRAMON_BRDS_RUNTIME 2
extern const struct dramon_brd dramon_brd_runtime[DRAMON_BRDS_RUNTIME];

/* Fills point[0 .. cores - 1] for 1 .. cores cores (1..DRAMON_CORES_MAX), by eq. 4.5 to 4.26.
 * Ratios and probabilities that sum to 1 within DRAMON_SUM_TOLERANCE are scaled to do so. Returns
 * 0, or -1 with errno EINVAL (a figure out of its range, NAN or infinite) and nothing written. */
int dramon_curve(const struct dramon_hardware *hardware, const struct dramon_software *software,
                 size_t cores, struct dramon_point *point);

/* Returns the probability that of n co-runners at most `most` are on the channel, and none
 * elsewhere than here or there: sum over k = 0 .. most of C(n, k) here^k there^(n - k), here, there
 * >= 0. In time O(most), without loss for thousands of them. */
double dramon_binomial(size_t n, size_t most, double here, double there);

#endif
