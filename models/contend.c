/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contend - see contend.h
 *
 * A group is three nested searches. For given speeds the time at which the footprints fill the
 * cache is the root of a rising function, and gives the shares; for given shares the channel's load
 * is the root of a rising function, and gives the speeds; speeds and shares are iterated from those
 * alone. With two programs and an idle channel that iteration is monotone (the one that is slowed
 * down loses cache, and is slowed down more) and bounded, so it converges; else it is damped where
 * it swings. */
#include "contend_study.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

#define TIME_MAX 128.0     /* log2(ns): later than any point, however slow a program is */
#define ITERATIONS_MAX 100 /* of a root's search */
#define STEPS_MAX 1000     /* towards an equilibrium; a few are the rule */
#define TOLERANCE 1e-5     /* of a program's time */
#define LOAD_MAX 0.999
#define LOAD_GUESS 0.9 /* where the searches begin */
#define TIME_GUESS 20

/* One program of a group, at one step of the search. */
struct tenant {
    const struct study *study;
    double ns;                  /* per instruction now */
    double slower;              /* log2(ns / ns alone) */
    double change, step;        /* of ns, the last that was due, and the part of it that was made */
    double misses, late, lines; /* with its present share */
    double waits_ns;            /* for memory, per instruction, alone */
    double scale;               /* by which that is too much for its time alone */
};

/* What does not change during a group's search, and the two roots that the next step starts from.
 */
struct group {
    const struct contend *contend;
    size_t n;
    struct tenant *tenant;
    double line_ns;
    bool fills;  /* the footprints, sooner or later */
    double time; /* log2(ns) in which they fill the cache */
    double load;
};

/* A curve at `x` points, x within it; *slope may be NULL. */
static double at(const double *curve, double x, size_t last, double *slope)
{
    size_t i = (size_t)x;

    if (i >= last)
        i = last - 1;
    if (slope)
        *slope = curve[i + 1] - curve[i];
    return curve[i] + (curve[i + 1] - curve[i]) * (x - (double)i);
}

/* Ways of a program after 2^time ns of the group; a program that is slowed down is behind. */
static double footprint(const struct tenant *tenant, double time, double *slope)
{
    double x = (time - tenant->slower) * CONTEND_STEPS;

    x = x > 0 ? x : 0;
    x = x < CONTEND_POINTS - 1 ? x : CONTEND_POINTS - 1;
    return at(tenant->study->footprint, x, CONTEND_POINTS - 1, slope);
}

/* Ways by which their footprints are more than the cache has, and how fast that rises. */
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

/* The time at which together they fill the cache: the root of a rising function, by Newton's steps
 * inside a bracket. At the end of all time where they never do. */
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

/* Time per instruction with that delay in the queue: never less than alone. */
static double slowed(const struct group *group, const struct tenant *tenant, double delay_ns)
{
    double waits_ns = tenant->misses * group->contend->constants.miss_ns + tenant->late * delay_ns;

    if (waits_ns <= tenant->waits_ns)
        return tenant->study->ns;
    return tenant->study->ns + (waits_ns - tenant->waits_ns) * tenant->scale;
}

/* The load at which the delay slows the programs down to that load: again the root of a rising
 * function, load less what it makes of itself. */
static double find_load(const struct group *group)
{
    const struct contend *contend = group->contend;
    double low = 0, high = LOAD_MAX, load = group->load;

    for (int i = 0; i < ITERATIONS_MAX && high - low > TOLERANCE / 100; i++) {
        double delay_ns = contend_queue_ns(contend, group->line_ns, load);
        double steep = contend->constants.burst * group->line_ns / (1 - load) / (1 - load);
        double excess = load, rise = 1, next;

        for (size_t j = 0; j < group->n; j++) {
            const struct tenant *tenant = &group->tenant[j];
            double per_ns = 1 / slowed(group, tenant, delay_ns);
            double part = group->line_ns * tenant->lines * per_ns;

            excess -= part;
            rise += part * per_ns * tenant->scale * tenant->late * steep;
        }
        *(excess > 0 ? &high : &low) = load;
        next = load - excess / rise;
        if (!(next > low && next < high))
            next = (low + high) / 2;
        if (fabs(next - load) < TOLERANCE / 100)
            return next;
        load = next;
    }
    return load;
}

/* One step: shares of the present speeds, then speeds of these shares. A program whose speed swings
 * goes there by ever smaller parts of the way. Returns how much the speeds had to change. */
static double group_step(struct group *group)
{
    size_t ways = group->contend->ways;
    double delay_ns, most = 0;

    group->time = fill_time(group);
    for (size_t i = 0; i < group->n; i++) {
        struct tenant *tenant = &group->tenant[i];
        double share = footprint(tenant, group->time, NULL);

        tenant->misses = at(tenant->study->misses, share, ways, NULL);
        tenant->late = at(tenant->study->late, share, ways, NULL);
        tenant->lines = at(tenant->study->lines, share, ways, NULL);
    }
    group->load = find_load(group);
    delay_ns = contend_queue_ns(group->contend, group->line_ns, group->load);
    for (size_t i = 0; i < group->n; i++) {
        struct tenant *tenant = &group->tenant[i];
        double change = slowed(group, tenant, delay_ns) - tenant->ns;

        most = fmax(most, fabs(change) / tenant->ns);
        tenant->step = change * tenant->change < 0 ? tenant->step / 2 : fmin(1, tenant->step * 1.5);
        tenant->change = change;
        tenant->ns += tenant->step * change;
        tenant->slower = log2(tenant->ns / tenant->study->ns);
    }
    return most;
}

static void group_begin(struct group *group, const size_t *member)
{
    const struct contend *contend = group->contend;
    size_t ways = contend->ways;
    double busiest = 0, rise;

    for (size_t i = 0; i < group->n; i++) {
        const struct study *study = &contend->study[member[i]];

        group->tenant[i] = (struct tenant){.study = study, .ns = study->ns, .step = 1};
        busiest = fmax(busiest, study->lines[ways] / study->ns);
    }
    group->line_ns =
        fmin(contend->line_ns, busiest > 0 ? contend->constants.efficiency / busiest : INFINITY);
    for (size_t i = 0; i < group->n; i++) {
        struct tenant *tenant = &group->tenant[i];
        const struct study *study = tenant->study;
        double alone = study->lines[ways] / study->ns * group->line_ns;
        double delay_ns = contend_queue_ns(contend, group->line_ns, alone);

        tenant->waits_ns =
            study->misses[ways] * contend->constants.miss_ns + study->late[ways] * delay_ns;
        tenant->scale = fmin(1, study->ns / (tenant->waits_ns + study->hit_ns));
        group->load += alone;
    }
    group->load = fmin(group->load, LOAD_GUESS);
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
