/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prefetch - see prefetch.h */
#include "models/inside/prefetch.h"
#include "enum_table.h"

#include <math.h>

const char *const TABLE(prefetch_state_name, PREFETCH_STATES) = {
    ROW(PREFETCH_WAITING) = "waiting",
    ROW(PREFETCH_TEST_ON) = "testing-on",
    ROW(PREFETCH_TEST_OFF) = "testing-off",
    ROW(PREFETCH_ON) = "on",
    ROW(PREFETCH_OFF) = "off",
};
TABLE_COMPLETE(prefetch_state_name);

static bool is_testing(const struct prefetch *prefetch)
{
    return prefetch->state == PREFETCH_TEST_ON || prefetch->state == PREFETCH_TEST_OFF;
}

double prefetch_due(const struct prefetch *prefetch, uint64_t phase, double now_s)
{
    bool decided = prefetch->state == PREFETCH_ON || prefetch->state == PREFETCH_OFF;

    if (is_testing(prefetch) || prefetch->began_s == 0)
        return 0;
    if (decided && phase == prefetch->phase)
        return -1;
    return fmax(prefetch->began_s + PREFETCH_REST_S - now_s, 0);
}

void prefetch_begin(struct prefetch *prefetch, uint64_t phase, double now_s)
{
    *prefetch = (struct prefetch){
        .state = PREFETCH_TEST_ON, .ratio = NAN, .began_s = now_s, .phase = phase};
}

void prefetch_again(struct prefetch *prefetch)
{
    if (is_testing(prefetch))
        prefetch->state = PREFETCH_TEST_ON;
}

bool prefetch_helps(double on, double off)
{
    return on > PREFETCH_WORTH * off;
}

static double ratio_of(double on, double off)
{
    return on >= 0 && off > 0 ? on / off : NAN;
}

static void decide(struct prefetch *prefetch)
{
    const struct prefetch_half *on = &prefetch->on, *off = &prefetch->off;
    bool helps;

    prefetch->ratio = ratio_of(on->ipj, off->ipj);
    prefetch->by_energy = !isnan(prefetch->ratio);
    if (!prefetch->by_energy)
        prefetch->ratio = ratio_of(on->ips, off->ips);
    prefetch->tested = !isnan(prefetch->ratio);
    helps =
        prefetch->by_energy ? prefetch_helps(on->ipj, off->ipj) : prefetch_helps(on->ips, off->ips);
    prefetch->state = !prefetch->tested ? PREFETCH_WAITING : helps ? PREFETCH_ON : PREFETCH_OFF;
}

void prefetch_tell(struct prefetch *prefetch, const struct prefetch_half *half)
{
    if (prefetch->state == PREFETCH_TEST_ON) {
        prefetch->on = *half;
        prefetch->state = PREFETCH_TEST_OFF;
    } else if (prefetch->state == PREFETCH_TEST_OFF) {
        prefetch->off = *half;
        decide(prefetch);
    }
}
