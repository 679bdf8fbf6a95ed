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
#include <stdlib.h>

#define TIME_MAX 128.0     /* log2(ns): later than any point, however slow a program is */
#define ITERATIONS_MAX 100 /* of a root's search */
#define STEPS_MAX 1000     /* towards an equilibrium; a few are the rule */
#define TOLERANCE 1e-4     /* of a program's time */
#define LOAD_MAX 0.97      /* of the channel, by the others */
#define TIME_GUESS 20      /* where the search begins */

/* Those who run the same program on the same cache and memory node, at one step of the search:
 * they are all alike. */
struct tenant {
    const struct study *study;
    size_t program, memory;
    struct tenant *next; /* on the same cache; NULL: the last */
    double count;
    bool copied;          /* the program is on this cache more than once */
    double ns;            /* per instruction now */
    double slower;        /* log2(ns / ns alone) */
    double change, step;  /* of ns, the last that was due, and the part of it that was made */
    double wait_ns, late; /* with its present share */
    double load;          /* part of the channel's time that the lines of one of them take */
};

struct cache {
    struct tenant *first; /* NULL: nobody */
    bool fills;           /* with their footprints, sooner or later */
    double time;          /* log2(ns) in which they do; the next step starts from it */
};

/* Who is where; load has a memory node's, as part of its channel's time. */
struct stands {
    const struct contend *contend;
    size_t n, caches, memories;
    struct tenant *tenant;
    struct cache *cache;
    double *load;
    double others; /* load of each memory node by who is not here */
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
static double overflow(const struct contend *contend, const struct cache *cache, double time,
                       double *rise)
{
    double ways = -(double)contend->ways, slope;

    *rise = 0;
    for (const struct tenant *tenant = cache->first; tenant; tenant = tenant->next) {
        ways += tenant->count * footprint(tenant, time, &slope);
        *rise += tenant->count * slope * CONTEND_STEPS;
    }
    return ways;
}

/* Returns the time at which together they fill the cache: the root of a rising function, by
 * Newton's steps inside a bracket. At the end of all time where they never do. */
static double fill_time(const struct contend *contend, const struct cache *cache)
{
    double low = 0, high = TIME_MAX, time = cache->time, rise;

    if (!cache->fills)
        return high;
    for (int i = 0; i < ITERATIONS_MAX && high - low > TOLERANCE; i++) {
        double excess = overflow(contend, cache, time, &rise);

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
static void take_share(const struct contend *contend, struct tenant *tenant, double share)
{
    const struct study *study = tenant->study;
    size_t ways = contend->ways;

    tenant->wait_ns = at(study->wait_ns, share, ways, NULL);
    tenant->late = at(study->late, share, ways, NULL);
    if (tenant->copied) {
        tenant->wait_ns += at(study->copy_ns, share, ways, NULL);
        tenant->late += at(study->copy_late, share, ways, NULL);
    }
    tenant->load = contend->line_ns / tenant->ns * at(study->lines, share, ways, NULL);
}

/* Returns the time per instruction when the others take that part of the channel's time: never less
 * than alone. */
static double slowed(const struct contend *contend, const struct tenant *tenant, double others)
{
    const struct study *study = tenant->study;
    double load = fmin(fmax(0, others), LOAD_MAX);
    double delay_ns = contend->constants.queue_ns * load / (1 - load);
    double more_ns = tenant->wait_ns + tenant->late * delay_ns - study->wait_ns[contend->ways];

    return study->ns + fmax(0, more_ns);
}

/* Takes from each cache what each program has of it at the present speeds, and from that each
 * memory node's load. */
static void share_caches(struct stands *stands)
{
    for (size_t i = 0; i < stands->memories; i++)
        stands->load[i] = stands->others;
    for (size_t i = 0; i < stands->caches; i++) {
        struct cache *cache = &stands->cache[i];

        cache->time = fill_time(stands->contend, cache);
        for (struct tenant *tenant = cache->first; tenant; tenant = tenant->next) {
            take_share(stands->contend, tenant, footprint(tenant, cache->time, NULL));
            stands->load[tenant->memory] += tenant->count * tenant->load;
        }
    }
}

/* One step: shares of the present speeds, then speeds of these shares. A program whose speed swings
 * goes there by ever smaller parts of the way. Returns how much the speeds had to change. */
static double stands_step(struct stands *stands)
{
    double most = 0;

    share_caches(stands);
    for (size_t i = 0; i < stands->n; i++) {
        struct tenant *tenant = &stands->tenant[i];
        double others = stands->load[tenant->memory] - tenant->load;
        double change = slowed(stands->contend, tenant, others) - tenant->ns;

        most = fmax(most, fabs(change) / tenant->ns);
        tenant->step = change * tenant->change < 0 ? tenant->step / 2 : fmin(1, tenant->step * 1.5);
        tenant->change = change;
        tenant->ns = fmax(tenant->study->ns, tenant->ns + tenant->step * change);
        tenant->slower = log2(tenant->ns / tenant->study->ns);
    }
    return most;
}

/* Puts one of the program on a cache; returns the tenant that it is one of. */
static struct tenant *stands_add(struct stands *stands, size_t program, size_t cache, size_t memory)
{
    const struct study *study = &stands->contend->study[program];
    struct tenant *tenant, **end = &stands->cache[cache].first;
    bool copied = false;

    for (; (tenant = *end); end = &tenant->next)
        if (tenant->program == program) {
            copied = tenant->copied = true;
            if (tenant->memory == memory) {
                tenant->count++;
                return tenant;
            }
        }
    tenant = *end = &stands->tenant[stands->n++];
    *tenant = (struct tenant){.study = study,
                              .program = program,
                              .memory = memory,
                              .count = 1,
                              .copied = copied,
                              .ns = study->ns,
                              .step = 1};
    return tenant;
}

/* Finds the equilibrium. Returns whether it settled. */
static bool stands_solve(struct stands *stands)
{
    double rise;

    for (size_t i = 0; i < stands->caches; i++) {
        struct cache *cache = &stands->cache[i];

        cache->time = TIME_GUESS;
        cache->fills = overflow(stands->contend, cache, TIME_MAX, &rise) > 0;
    }
    for (int i = 0; i < STEPS_MAX; i++)
        if (stands_step(stands) < TOLERANCE)
            return true;
    return false;
}

static double slowdown_of(const struct tenant *tenant)
{
    return tenant->ns / tenant->study->ns - 1;
}

static int refuse(void)
{
    errno = EINVAL;
    return -1;
}

/* ---- one cache ---- */

int contend_cache(const struct contend *contend, double others_gbps, size_t n, const size_t *member,
                  double *slowdown, double *gbps)
{
    struct tenant tenant[CONTEND_GROUP_MAX], *of[CONTEND_GROUP_MAX];
    double load, scale = contend->line_ns / contend->line_bytes;
    struct cache cache = {0};
    struct stands stands = {contend, 0, 1, 1, tenant, &cache, &load, others_gbps * scale};
    bool settled;

    if (n == 0 || n > CONTEND_GROUP_MAX || !(others_gbps >= 0))
        return refuse();
    for (size_t i = 0; i < n; i++)
        if (member[i] >= contend->n)
            return refuse();
    for (size_t i = 0; i < n; i++)
        of[i] = stands_add(&stands, member[i], 0, 0);
    settled = stands_solve(&stands);
    for (size_t i = 0; i < n; i++)
        slowdown[i] = slowdown_of(of[i]);
    if (gbps)
        *gbps = scale > 0 ? (load - stands.others) / scale : 0;
    return settled ? 0 : 1;
}

int contend_group(const struct contend *contend, size_t n, const size_t *member, double *slowdown)
{
    return contend_cache(contend, 0, n, member, slowdown, NULL);
}

struct app_pair contend_pair(const struct contend *contend, size_t a, size_t b)
{
    const size_t member[2] = {a, b};
    double slowdown[2];

    contend_group(contend, 2, member, slowdown);
    return (struct app_pair){
        .score = slowdown[0] + slowdown[1], .a_given_b = slowdown[0], .b_given_a = slowdown[1]};
}

/* ---- a node ---- */

static int node_solve(struct stands *stands, size_t n, const struct contend_stand *stand,
                      struct tenant **of, double *slowdown)
{
    bool settled;

    for (size_t i = 0; i < n; i++)
        of[i] = stands_add(stands, stand[i].program, stand[i].cache, stand[i].memory);
    settled = stands_solve(stands);
    for (size_t i = 0; i < n; i++)
        slowdown[i] = slowdown_of(of[i]);
    return settled ? 0 : 1;
}

/* Counts the caches and the memory nodes. 0, or -1 with an index out of range. */
static int node_count(const struct contend *contend, size_t n, const struct contend_stand *stand,
                      struct stands *stands)
{
    for (size_t i = 0; i < n; i++) {
        if (stand[i].program >= contend->n || stand[i].cache >= CONTEND_PLACES_MAX ||
            stand[i].memory >= CONTEND_PLACES_MAX)
            return -1;
        stands->caches = stand[i].cache < stands->caches ? stands->caches : stand[i].cache + 1;
        stands->memories =
            stand[i].memory < stands->memories ? stands->memories : stand[i].memory + 1;
    }
    return 0;
}

int contend_node(const struct contend *contend, size_t n, const struct contend_stand *stand,
                 double *slowdown)
{
    struct stands stands = {.contend = contend};
    struct tenant **of;
    int rc = -1;

    if (node_count(contend, n, stand, &stands) < 0)
        return refuse();
    if (n == 0)
        return 0;
    of = malloc(n * sizeof(struct tenant *));
    stands.tenant = malloc(n * sizeof(*stands.tenant));
    stands.cache = calloc(stands.caches, sizeof(*stands.cache));
    stands.load = malloc(stands.memories * sizeof(*stands.load));
    if (of && stands.tenant && stands.cache && stands.load)
        rc = node_solve(&stands, n, stand, of, slowdown);
    free(of);
    free(stands.tenant);
    free(stands.cache);
    free(stands.load);
    return rc;
}
