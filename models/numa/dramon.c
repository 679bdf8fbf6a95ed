/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/numa/dramon.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

#define HUGE_TERM 1e100

const struct dramon_brd dramon_brd_runtime[DRAMON_BRDS_RUNTIME] = {{1, 7.0 / 8}, {8, 1.0 / 8}};

/* Where a co-runner's requests go; the four sum to 1. */
struct share {
    double same_row, same_bank, same_channel, other_channel;
};

struct ratios {
    double hit, miss, conflict;
};

/* ---- what is believed ---- */

static bool between(double x, double least, double most)
{
    return x >= least && x <= most;
}

static bool whole(double x)
{
    return between(x, 1, 1e6) && floor(x) == x;
}

static bool sums_to_one(double sum)
{
    return fabs(sum - 1) <= DRAMON_SUM_TOLERANCE;
}

static bool hardware_valid(const struct dramon_hardware *hw)
{
    const double time[] = {hw->trcd_ns, hw->tcas_ns,  hw->trp_ns,  hw->tburst_ns,
                           hw->twr_ns,  hw->trtrs_ns, hw->twtr_ns, hw->tck_ns};

    for (size_t i = 0; i < sizeof(time) / sizeof(time[0]); i++)
        if (!between(time[i], 0, 1e12))
            return false;
    return whole(hw->channels) && whole(hw->banks) && hw->tburst_ns > 0 && hw->request_bytes > 0 &&
           hw->request_bytes <= 1e12 && between(hw->auto_close, 0, 1e12);
}

static bool brds_valid(const struct dramon_software *sw)
{
    double sum = 0;

    if (!sw->brd || sw->brds == 0 || sw->brds > DRAMON_BRD_MAX)
        return false;
    for (size_t i = 0; i < sw->brds; i++) {
        if (!(sw->brd[i].distance > 0 && sw->brd[i].distance <= 1e12) ||
            !between(sw->brd[i].probability, 0, 1))
            return false;
        sum += sw->brd[i].probability;
    }
    return sums_to_one(sum);
}

static bool software_valid(const struct dramon_software *sw)
{
    return between(sw->issue_rate_single, 0, 1e18) && between(sw->hit, 0, 1) &&
           between(sw->miss, 0, 1) && between(sw->conflict, 0, 1) &&
           sums_to_one(sw->hit + sw->miss + sw->conflict) && between(sw->read_ratio, 0, 1) &&
           between(sw->wtr, 0, 1) && between(sw->rtr, 0, 1) && whole(sw->ranks) && brds_valid(sw);
}

/* Section 4.5.3, unless a trace says it. */
static bool find_share(const struct dramon_hardware *hw, const struct dramon_software *sw,
                       struct share *share)
{
    double row = isnan(sw->same_row) ? 0 : sw->same_row;
    double bank = isnan(sw->same_bank) ? 1 / (hw->banks * sw->ranks * hw->channels) : sw->same_bank;
    double other = isnan(sw->other_channel) ? 1 - 1 / hw->channels : sw->other_channel;
    double rest = 1 - row - bank - other;

    *share = (struct share){row, bank, fmax(rest, 0), other};
    return row >= 0 && bank >= 0 && other >= 0 && rest >= -1e-9;
}

/* ---- hit, miss, conflict (section 4.4.2) ---- */

double dramon_binomial(size_t n, size_t most, double here, double there)
{
    double term = 1, sum = 1, log_scale;

    if (most >= n)
        return pow(here + there, (double)n);
    if (there <= here / HUGE_TERM) /* all n are here, and that is too many */
        return 0;
    log_scale = (double)n * log(there);
    for (size_t k = 0; k < most; k++) {
        term *= (double)(n - k) / (double)(k + 1) * (here / there);
        sum += term;
        if (sum > HUGE_TERM) {
            term /= HUGE_TERM;
            sum /= HUGE_TERM;
            log_scale += log(HUGE_TERM);
        }
    }
    return exp(log(sum) + log_scale);
}

/* Returns how many co-runners may be on the channel, `distance` requests of each, before these
 * reach the auto-close distance (eq. 4.7, 4.12, 4.14); -1: not even none. */
static double most_open(double auto_close, double distance)
{
    return ceil(auto_close / distance) - 1;
}

/* Returns the ratios of one of `others` + 1 threads for requests of one bank reuse distance. */
static struct ratios at_distance(const struct dramon_hardware *hw, struct ratios single,
                                 const struct share *share, size_t others, double distance)
{
    double here = share->same_bank + share->same_channel, n = (double)others;
    double no_bank = pow(1 - share->same_bank, n), no_row = pow(1 - share->same_row, n);
    double case_a = fmax(no_bank - pow(share->same_channel + share->other_channel, n), 0);
    double case_b = fmax(1 - no_row - case_a, 0);
    double case_2 = 1 - case_a - case_b;
    double most = most_open(hw->auto_close, distance), open = 0;

    if (most >= 0)
        open =
            dramon_binomial(others, most < n ? (size_t)most : others, here, share->other_channel);
    open = fmin(open, case_2);
    return (struct ratios){
        .hit = case_a + case_b / 2 + single.hit * open,
        .miss = single.miss * open + (case_2 - open),
        .conflict = case_b / 2 + single.conflict * open,
    };
}

/* Eq. 4.16. */
static struct ratios find_ratios(const struct dramon_hardware *hw, const struct dramon_software *sw,
                                 const struct share *share, size_t others)
{
    double whole_single = sw->hit + sw->miss + sw->conflict, sum = 0;
    struct ratios single = {sw->hit / whole_single, sw->miss / whole_single,
                            sw->conflict / whole_single};
    struct ratios all = {0};

    for (size_t i = 0; i < sw->brds; i++) {
        struct ratios one = at_distance(hw, single, share, others, sw->brd[i].distance);
        double probability = sw->brd[i].probability;

        all.hit += probability * one.hit;
        all.miss += probability * one.miss;
        all.conflict += probability * one.conflict;
        sum += probability;
    }
    return (struct ratios){all.hit / sum, all.miss / sum, all.conflict / sum};
}

/* ---- latencies (section 4.4.3) ---- */

/* Returns how many hits overlap with each of what is that rare (eq. 4.21). */
static double overlapping_hits(double max_banks, double hit, double rare)
{
    return rare > 0 ? fmin(max_banks - 1, hit / rare) : 0;
}

/* Returns the average latency of reads or of writes: column is tCAS or tWR, transfer the time on
 * the data bus. A write's transfer is one cycle longer wherever the paper has tBurst (its last
 * paragraph). */
static double average_latency(const struct dramon_hardware *hw, struct ratios ratio, double ranks,
                              size_t threads, double column, double transfer)
{
    double max_banks = 4 * ranks;
    double rows = fmin(max_banks - 1, (double)threads * (ratio.miss + ratio.conflict) - 1);
    double opening = hw->trcd_ns + column + transfer - fmax(rows, 0) * transfer;
    double miss = opening - overlapping_hits(max_banks, ratio.hit, ratio.miss) * transfer;
    double conflict =
        hw->trp_ns + opening - overlapping_hits(max_banks, ratio.hit, ratio.conflict) * transfer;

    return ratio.hit * transfer + ratio.miss * fmax(miss, transfer) +
           ratio.conflict * fmax(conflict, transfer);
}

/* Eq. 4.3, 4.25, 4.26. */
static double find_latency(const struct dramon_hardware *hw, const struct dramon_software *sw,
                           struct ratios ratio, size_t threads)
{
    double read = average_latency(hw, ratio, sw->ranks, threads, hw->tcas_ns, hw->tburst_ns);
    double write =
        average_latency(hw, ratio, sw->ranks, threads, hw->twr_ns, hw->tburst_ns + hw->tck_ns);

    return sw->read_ratio * read + (1 - sw->read_ratio) * write + sw->wtr * hw->twtr_ns +
           sw->rtr * hw->trtrs_ns;
}

int dramon_curve(const struct dramon_hardware *hardware, const struct dramon_software *software,
                 size_t cores, struct dramon_point *point)
{
    struct share share;

    if (cores == 0 || cores > DRAMON_CORES_MAX || !hardware_valid(hardware) ||
        !software_valid(software) || !find_share(hardware, software, &share)) {
        errno = EINVAL;
        return -1;
    }
    for (size_t n = 1; n <= cores; n++) {
        struct ratios ratio = find_ratios(hardware, software, &share, n - 1);
        double latency_ns = find_latency(hardware, software, ratio, n);
        double rate = fmin((double)n * software->issue_rate_single, 1e9 / latency_ns);

        point[n - 1] = (struct dramon_point){
            .cores = n,
            .gbps = hardware->channels * rate * hardware->request_bytes / 1e9,
            .hit = ratio.hit,
            .miss = ratio.miss,
            .conflict = ratio.conflict,
            .latency_ns = latency_ns,
        };
    }
    return 0;
}
