/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/numa/usage.h"

#include <math.h>

#define NS_PER_S 1e9
#define PERCENT 100.0

/* to - from; NAN where it cannot be. */
static double grown(double from, double to)
{
    return to >= from ? to - from : NAN;
}

/* Returns a / b; NAN where b is not positive. */
static double ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

struct usage usage_between(const struct usage_sample *from, const struct usage_sample *to,
                           double threads, double cores)
{
    double elapsed_s = to->at_s - from->at_s;
    double thread_ns = elapsed_s * threads * NS_PER_S, core_ns = elapsed_s * cores * NS_PER_S;
    double user_ns = grown(from->user_ns, to->user_ns);
    double system_ns = grown(from->system_ns, to->system_ns);

    return (struct usage){
        .usr = PERCENT * ratio(user_ns, thread_ns),
        .sys = PERCENT * ratio(system_ns, thread_ns),
        .lat = PERCENT * ratio(grown(from->run_delay_ns, to->run_delay_ns), thread_ns),
        .lock = PERCENT * ratio(grown(from->lock_wait_ns, to->lock_wait_ns), thread_ns),
        .mpa = ratio(grown(from->llc_misses, to->llc_misses),
                     grown(from->llc_accesses, to->llc_accesses)),
        .ct = ratio(cores, threads),
        .vcx = ratio(grown(from->voluntary, to->voluntary), elapsed_s),
        .icx = ratio(grown(from->involuntary, to->involuntary), elapsed_s),
        .migr = ratio(grown(from->migrations, to->migrations), elapsed_s),
        .cpu_util = PERCENT * ratio(user_ns + system_ns, core_ns)};
}
