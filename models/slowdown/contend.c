/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contend - see contend.h
 *
 * Two things are sought together. For given speeds the time at which the footprints fill the cache
 * is the root of a rising function, and gives the shares; for given shares and the others' speeds a
 * program's speed is what its misses and its delay make of it. Both are iterated from the speeds
 * alone. With two programs and an idle channel that iteration is monotone (the one that is slowed
 * down loses cache, and is slowed down more) and bounded, so it converges. The channel works the
 * other way (one that is slowed down disturbs the others less), which can swing: each program's
 * steps are halved when it does. */
#include "models/slowdown/contend_study.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

#define TIME_MAX 128.0     /* log2(ns): later than any point, however slow a program is */
#define ITERATIONS_MAX 100 /* of a root's search */
#define STEPS_MAX 1000     /* towards an equilibrium; a few are the rule */
#define TOLERANCE 1e-4     /* of a program's time */
#define LOAD_MAX 0.97      /* of the channel, by the others */
#define TIME_GUESS 20      /* where the search begins */

/* One program of a group, at one step of the search. */
struct tenant {
    const struct study *study;
    bool copied;          /* it is in the group more than once */
    double ns;            /* per instruction now */
    double slower;        /* log2(ns / ns alone) */
    double change, step;  /* of ns, the last that was due, and the part of it that was made */
    double wait_ns, late; /* with its present share */
    double load,
        delays_by; /* parts of the channel's time that its lines take, and take of others */
};

/* What does not change during a group's search, and the root that the next step starts from. */
struct group {
    const struct contend *contend;
    size_t n;
    struct tenant *tenant;
    bool fills;  /* the footprints, sooner or later */
    double time; /* log2(ns) in which they fill the cache */
};

/* Returns a curve at `x` points, x within it; *slope may be NULL. */
static double at(const double *curve, double x, size_t last, double *slope)
{
    size_t i = (size_t)x;

    if (i >= last)
        i = last - 1;
    if (slope)
        *slope = curve[i + 1] - curve[i];
    return curve[i] + (curve[i + 1] - curve[i]) * (x - (double)i);
}

/* Returns the ways of a program after 2^time ns of the group; a program that is slowed down is
 * behind. */
static double footprint(const struct tenant *tenant, double time, double *slope)
{
    double x = (time - tenant->slower) * CONTEND_STEPS;

    x = x > 0 ? x : 0;
    x = x < CONTEND_POINTS - 1 ? x : CONTEND_POINTS - 1;
    return at(tenant->study->footprint, x, CONTEND_POINTS - 1, slope);
}

/* Returns the ways by which their footprints are more than the cache has, and how fast that rises.
 */
static double overflow(const struct group *group, double time, double *rise)
{
    double ways = -(double)group->contend->ways, slope;

    *rise = 0;
    for (size_t i = 0; i < group->n; i++) {
        ways += footprint(&group->tenant[i], time, &slope);
        *rise += slope * CONTEND_STEPS;
    }
    return ways;
}

/* Returns the time at which together they fill the cache: the root of a rising function, by
 * Newton's steps inside a bracket. At the end of all time where they never do. */
static double fill_time(const struct group *group)
{
    double low = 0, high = TIME_MAX, time = group->time, rise;

    if (!group->fills)
        return high;
    for (int i = 0; i < ITERATIONS_MAX && high - low > TOLERANCE; i++) {
        double excess = overflow(group, time, &rise);

        if (fabs(excess) < TOLERANCE)
            break;
        *(excess > 0 ? &high : &low) = time;
        time = rise > 0 ? time - excess / rise : -1;
        if (!(time > low && time < high))
            time = (low + high) / 2;
    }
    return time;
}

/* Finds what a program waits for with that share of the cache, and what its lines take of the
 * channel. */
static void take_share(const struct group *group, struct tenant *tenant, double share)
{
    const struct study *study = tenant->study;
    size_t ways = group->contend->ways;

    tenant->wait_ns = at(study->wait_ns, share, ways, NULL);
    tenant->late = at(study->late, share, ways, NULL);
    if (tenant->copied) {
        tenant->wait_ns += at(study->copy_ns, share, ways, NULL);
        tenant->late += at(study->copy_late, share, ways, NULL);
    }
    tenant->load = group->contend->line_ns / tenant->ns * at(study->lines, share, ways, NULL);
}

/* Returns the time per instruction when the others take that part of the channel's time: never less
 * than alone. */
static double slowed(const struct group *group, const struct tenant *tenant, double others)
{
    const struct study *study = tenant->study;
    double load = fmin(fmax(0, others), LOAD_MAX);
    double delay_ns = group->contend->constants.queue_ns * load / (1 - load);
    double more_ns =
        tenant->wait_ns + tenant->late * delay_ns - study->wait_ns[group->contend->ways];

    return study->ns + fmax(0, more_ns);
}

/* One step: shares of the present speeds, then speeds of these shares. A program whose speed swings
 * goes there by ever smaller parts of the way. Returns how much the speeds had to change. */
static double group_step(struct group *group)
{
    double load = 0, most = 0;

    group->time = fill_time(group);
    for (size_t i = 0; i < group->n; i++) {
        struct tenant *tenant = &group->tenant[i];

        take_share(group, tenant, footprint(tenant, group->time, NULL));
        load += tenant->load;
    }
    for (size_t i = 0; i < group->n; i++) {
        struct tenant *tenant = &group->tenant[i];
        double change = slowed(group, tenant, load - tenant->load) - tenant->ns;

        most = fmax(most, fabs(change) / tenant->ns);
        tenant->step = change * tenant->change < 0 ? tenant->step / 2 : fmin(1, tenant->step * 1.5);
        tenant->change = change;
        tenant->ns = fmax(tenant->study->ns, tenant->ns + tenant->step * change);
        tenant->slower = log2(tenant->ns / tenant->study->ns);
    }
    return most;
}

static void group_begin(struct group *group, const size_t *member)
{
    double rise;

    for (size_t i = 0; i < group->n; i++) {
        const struct study *study = &group->contend->study[member[i]];

        group->tenant[i] = (struct tenant){.study = study, .ns = study->ns, .step = 1};
        for (size_t j = 0; j < i; j++)
            if (member[j] == member[i])
                group->tenant[i].copied = group->tenant[j].copied = true;
    }
    group->fills = overflow(group, TIME_MAX, &rise) > 0;
}

/* Whether it settled. */
static bool group_solve(struct group *group, const size_t *member)
{
    group_begin(group, member);
    for (int i = 0; i < STEPS_MAX; i++)
        if (group_step(group) < TOLERANCE)
            return true;
    return false;
}

int contend_group(const struct contend *contend, size_t n, const size_t *member, double *slowdown)
{
    struct tenant tenant[CONTEND_GROUP_MAX];
    bool settled;
    struct group group = {.contend = contend, .n = n, .tenant = tenant, .time = TIME_GUESS};

    for (size_t i = 0; i < n && n <= CONTEND_GROUP_MAX; i++)
        if (member[i] >= contend->n)
            n = 0;
    if (n == 0 || n > CONTEND_GROUP_MAX) {
        errno = EINVAL;
        return -1;
    }
    settled = group_solve(&group, member);
    for (size_t i = 0; i < n; i++)
        slowdown[i] = tenant[i].ns / tenant[i].study->ns - 1;
    return settled ? 0 : 1;
}

struct app_pair contend_pair(const struct contend *contend, size_t a, size_t b)
{
    const size_t member[2] = {a, b};
    double slowdown[2];

    contend_group(contend, 2, member, slowdown);
    return (struct app_pair){
        .score = slowdown[0] + slowdown[1], .a_given_b = slowdown[0], .b_given_a = slowdown[1]};
}
