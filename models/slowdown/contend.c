/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contend - see contend.h
 *
 * Two things are sought together. For given speeds the time at which the footprints fill a cache is
 * the root of a rising function, and gives the shares. For given shares the stretch of a memory
 * node is the root of another: the longer memory takes, the less is asked of it, and the less a
 * node is asked the shorter it takes; that gives the speeds. Both roots are unique, and are found
 * in turn from the speeds alone. With two programs the turns are monotone (the one that is slowed
 * down loses cache, and is slowed down more) and bounded, so they converge; should they swing, each
 * goes only half of the way after a while. */
#include "models/slowdown/contend_study.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define ROOT_MAX 60        /* steps towards a root; a few are the rule */
#define TURNS_MAX 100      /* towards an equilibrium; a few are the rule */
#define TURNS_WHOLE 10     /* of them, those that go the whole way */
#define TOLERANCE 1e-3     /* of a program's time */
#define FULL 1e-6          /* a cache that lacks less than that part of it */
#define LOAD_ALONE 0.95    /* of what memory gives, by a program alone */
#define STRETCH_MAX 100.0  /* of memory's time */
#define STRETCH_LEAST 1e-9 /* more than 1: less is none */

/* Those who run the same program on the same cache and memory node: they are all alike. */
struct tenant {
    const struct study *study;
    size_t program, memory;
    struct tenant *next;   /* on the same cache; NULL: the last */
    struct tenant *behind; /* the same memory node; NULL: the last */
    double count;
    bool copied;        /* the program is on this cache more than once */
    size_t cell;        /* in which its footprint ended last */
    double ns;          /* per instruction now */
    double base_ns;     /* with its present share, while memory is as it was alone */
    double late_ns;     /* of that, what grows with memory's time */
    double gbps;        /* that it would ask of memory if an instruction took 1 ns */
    double memory_time; /* that a line takes now, of what it takes while memory is idle */
    double port_time;   /* what comes to that at the cache's port */
    double alone_time;  /* both, while it was alone */
};

/* The way to a memory node, or a cache's port, the way from a cache to all of them. */
struct way {
    struct tenant *first; /* NULL: nobody */
    bool port;
    double gbps;   /* that it can carry; 0: nobody asks anything, or nothing is known of it */
    double others; /* GB/s asked of it by who is not here */
};

struct cache {
    struct way port; /* its first is the first on the cache */
    double time;     /* ns in which the footprints fill it; INFINITY: they never do */
};

/* Who is where. */
struct stands {
    const struct contend *contend;
    double memory_gbps, port_gbps; /* of each way, as in struct way */
    double roof;
    size_t n, caches, memories;
    struct tenant *tenant;
    struct cache *cache;
    struct way *memory;
};

/* ---- shares of a cache ---- */

/* Returns the part of the cache, in cells, that a program has touched after that many ns of all;
 * one that is slowed down is behind. Fills in how fast that grows. */
static double footprint(const struct contend *contend, struct tenant *tenant, double time,
                        double *growth)
{
    const struct study_point *point = tenant->study->point;
    double own = tenant->study->ns / tenant->ns, late = time * own, width;
    size_t cell = tenant->cell;

    while (cell > 0 && late < point[cell].time_ns)
        cell--;
    while (cell < contend->cells && late >= point[cell + 1].time_ns)
        cell++;
    tenant->cell = cell;
    *growth = 0;
    if (cell == contend->cells || point[cell + 1].time_ns >= FLT_MAX)
        return (double)cell; /* it never touches more */
    width = point[cell + 1].time_ns - point[cell].time_ns;
    *growth = own / width;
    return (double)cell + (late - point[cell].time_ns) / width;
}

/* Returns the cells by which the footprints are more than the cache has, and how fast that rises.
 */
static double overflow(const struct contend *contend, const struct cache *cache, double time,
                       double *rise)
{
    double cells = -(double)contend->cells, growth;

    *rise = 0;
    for (struct tenant *tenant = cache->port.first; tenant; tenant = tenant->next) {
        cells += tenant->count * footprint(contend, tenant, time, &growth);
        *rise += tenant->count * growth;
    }
    return cells;
}

/* Returns the time at which together they fill the cache, by Newton's steps from the left: it rises
 * ever more slowly, so that none goes too far; from the right they may, back to the beginning. */
static double fill_time(const struct contend *contend, const struct cache *cache)
{
    double time = isfinite(cache->time) ? cache->time : 0, rise;

    for (int i = 0; i < ROOT_MAX; i++) {
        double excess = overflow(contend, cache, time, &rise);

        if (fabs(excess) < FULL * (double)contend->cells)
            break;
        if (!(rise > 0))
            return excess > 0 ? time : INFINITY;
        time = fmax(0, time - excess / rise);
    }
    return time;
}

/* Finds what a program waits for with that share of the cache, in cells, and what its lines ask of
 * memory. */
static void take_share(const struct contend *contend, struct tenant *tenant, double share)
{
    const struct study *study = tenant->study;
    size_t cell = (size_t)share < contend->cells ? (size_t)share : contend->cells - 1;
    const struct study_point *a = &study->point[cell], *b = a + 1;
    double part = share - (double)cell;
    double wait_ns = a->wait_ns + part * (b->wait_ns - a->wait_ns);
    double late_ns = a->late_ns + part * (b->late_ns - a->late_ns);

    if (tenant->copied) {
        wait_ns = a->copy_wait_ns + part * (b->copy_wait_ns - a->copy_wait_ns);
        late_ns = a->copy_late_ns + part * (b->copy_late_ns - a->copy_late_ns);
    }
    tenant->base_ns = study->ns + wait_ns;
    tenant->late_ns = fmin(late_ns, tenant->base_ns);
    tenant->gbps = contend->line_bytes * (a->lines + part * (b->lines - a->lines));
}

/* Whether a program is alone on a cache, or behind a memory node. */
static bool is_alone(const struct tenant *first, const struct tenant *second)
{
    return !second && first->count == 1;
}

static void share_cache(const struct contend *contend, struct cache *cache)
{
    double growth, time;

    if (!cache->port.first)
        return;
    time =
        is_alone(cache->port.first, cache->port.first->next) ? INFINITY : fill_time(contend, cache);
    cache->time = time;
    for (struct tenant *tenant = cache->port.first; tenant; tenant = tenant->next)
        take_share(contend, tenant,
                   isfinite(time) ? footprint(contend, tenant, time, &growth)
                                  : (double)contend->cells);
}

/* ---- stretch of memory ---- */

/* Returns by how much longer than idle memory takes when it is asked for that part of what it can
 * give: what makes n copies of a program that only waits for memory follow (1 + u^p)^(1/p), u what
 * they would ask if memory were idle. */
static double stretch_of(double load, double roof)
{
    return pow(1 - pow(load, roof), -1 / roof);
}

/* Returns the part of what memory can give at which it takes that much longer, and its rise. */
static double load_of(double stretch, double roof, double *rise)
{
    double power = pow(stretch, -roof), load = pow(1 - power, 1 / roof);

    *rise = load * power / (stretch * (1 - power));
    return load;
}

/* How long a memory node takes at that load. */
struct pace {
    double stretch, rise; /* and how fast it grows with the stretch */
    double load;
};

static struct pace pace_of(double stretch, double roof)
{
    struct pace pace = {.stretch = stretch};

    pace.load = load_of(stretch, roof, &pace.rise);
    return pace;
}

/* Returns how long a line takes a program on that way, and by how much that rises with the stretch.
 * A line that is hidden by others is not missed when it comes a little later; but all wait where
 * memory cannot give more. */
static double time_on(const struct way *way, const struct tenant *tenant, const struct pace *pace,
                      double *rise)
{
    double queue = way->port ? 0 : tenant->study->queue;

    *rise = 1 + queue * pace->rise;
    return pace->stretch + queue * pace->load;
}

static double ns_of(const struct tenant *tenant, double time)
{
    return fmax(tenant->study->ns,
                tenant->base_ns + tenant->late_ns * (time / tenant->alone_time - 1));
}

static struct tenant *next_on(const struct way *way, const struct tenant *tenant)
{
    return way->port ? tenant->next : tenant->behind;
}

/* Returns what a way is asked for, as part of what it can carry. Fills in how fast that falls with
 * the stretch. */
static double asked(const struct way *way, const struct pace *pace, double *fall)
{
    double gbps = way->others, rise;

    *fall = 0;
    for (const struct tenant *tenant = way->first; tenant; tenant = next_on(way, tenant)) {
        double other = way->port ? tenant->memory_time - 1 : tenant->port_time;
        double ns = ns_of(tenant, time_on(way, tenant, pace, &rise) + other);
        double part = tenant->count * tenant->gbps / ns;

        gbps += part;
        *fall += part * tenant->late_ns / tenant->alone_time * rise / ns;
    }
    *fall /= way->gbps;
    return gbps / way->gbps;
}

/* Returns the pace that a program alone finds. */
static struct pace pace_alone(const struct study *study, double gbps, double roof)
{
    double load = gbps > 0 ? fmin(study->gbps / gbps, LOAD_ALONE) : 0;

    return (struct pace){.stretch = stretch_of(load, roof), .load = load};
}

/* Finds the pace at which a way carries what it is asked for: what is asked falls with the stretch,
 * what can be carried rises. Newton's steps within a bracket, from what programs would have that
 * only wait for memory. */
static struct pace pace_find(const struct way *way, double roof)
{
    double low = 1, high = STRETCH_MAX, fall;
    struct pace pace = {.stretch = 1};
    double stretch = pow(1 + pow(asked(way, &pace, &fall), roof), 1 / roof);

    stretch = fmin(stretch, STRETCH_MAX);
    for (int i = 0; i < ROOT_MAX && stretch > 1 + STRETCH_LEAST; i++) {
        double more, step;

        pace = pace_of(stretch, roof);
        more = asked(way, &pace, &fall) - pace.load;
        *(more > 0 ? &low : &high) = stretch;
        step = more / (fall + pace.rise);
        if (fabs(step) < TOLERANCE / 4 * stretch)
            break;
        stretch += step;
        if (!(stretch > low && stretch < high))
            stretch = (low + high) / 2;
    }
    return pace;
}

/* Finds how long a line takes the programs on a way. */
static void way_time(const struct stands *stands, const struct way *way)
{
    struct pace pace = {.stretch = 1};
    double rise;

    if (!way->first || !(way->gbps > 0))
        return;
    if (is_alone(way->first, next_on(way, way->first)) && way->others == 0)
        pace = pace_alone(way->first->study, way->gbps, stands->roof);
    else
        pace = pace_find(way, stands->roof);
    for (struct tenant *tenant = way->first; tenant; tenant = next_on(way, tenant)) {
        double time = time_on(way, tenant, &pace, &rise);

        *(way->port ? &tenant->port_time : &tenant->memory_time) = way->port ? time - 1 : time;
    }
}

/* ---- both ---- */

/* One turn: shares of the present speeds, then speeds of these shares, of which each goes that part
 * of the way. Returns how much the speeds had to change. */
static double stands_turn(struct stands *stands, double part)
{
    double most = 0;

    for (size_t i = 0; i < stands->caches; i++)
        share_cache(stands->contend, &stands->cache[i]);
    for (size_t i = 0; i < stands->memories; i++)
        way_time(stands, &stands->memory[i]);
    for (size_t i = 0; i < stands->caches && stands->port_gbps > 0; i++)
        way_time(stands, &stands->cache[i].port);
    for (size_t i = 0; i < stands->n; i++) {
        struct tenant *tenant = &stands->tenant[i];
        double change = ns_of(tenant, tenant->memory_time + tenant->port_time) - tenant->ns;

        most = fmax(most, fabs(change) / tenant->ns);
        tenant->ns += part * change;
    }
    return most;
}

/* Finds the equilibrium. Returns whether it settled. */
static bool stands_solve(struct stands *stands)
{
    for (int i = 0; i < TURNS_MAX; i++)
        if (stands_turn(stands, i < TURNS_WHOLE ? 1 : 0.5) < TOLERANCE)
            return true;
    return false;
}

/* Finds what the ways can carry. The more channels there are, the fuller they are before lines meet
 * on one of them. */
static void stands_open(struct stands *stands, double others_gbps)
{
    double channels, caches = (double)stands->contend->machine.caches;

    study_memory(stands->contend, &stands->memory_gbps, &channels);
    stands->roof = sqrt(channels);
    if (caches > stands->contend->constants.port)
        stands->port_gbps = stands->memory_gbps * stands->contend->constants.port / caches;
    for (size_t i = 0; i < stands->memories; i++)
        stands->memory[i] = (struct way){NULL, false, stands->memory_gbps,
                                         fmin(others_gbps, LOAD_ALONE * stands->memory_gbps)};
    for (size_t i = 0; i < stands->caches; i++)
        stands->cache[i] = (struct cache){.port = {NULL, true, stands->port_gbps, 0}};
}

/* Returns a line's time for a program alone. */
static double time_alone(const struct stands *stands, const struct study *study)
{
    struct pace memory = pace_alone(study, stands->memory_gbps, stands->roof);
    struct pace port = pace_alone(study, stands->port_gbps, stands->roof);

    return memory.stretch + study->queue * memory.load + (port.stretch - 1);
}

/* Puts one of the program on a cache; returns the tenant that it is one of. */
static struct tenant *stands_add(struct stands *stands, size_t program, size_t cache, size_t memory)
{
    const struct study *study = &stands->contend->study[program];
    struct tenant *tenant, **end = &stands->cache[cache].port.first;
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
                              .behind = stands->memory[memory].first,
                              .count = 1,
                              .copied = copied,
                              .ns = study->ns,
                              .memory_time = 1,
                              .alone_time = time_alone(stands, study)};
    stands->memory[memory].first = tenant;
    return tenant;
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

static double cache_gbps(const struct way *way)
{
    double gbps = 0;

    for (const struct tenant *tenant = way->first; tenant; tenant = tenant->behind)
        gbps += tenant->count * tenant->gbps / tenant->ns;
    return gbps;
}

int contend_cache(const struct contend *contend, double others_gbps, size_t n, const size_t *member,
                  double *slowdown, double *gbps)
{
    struct tenant tenant[CONTEND_GROUP_MAX], *of[CONTEND_GROUP_MAX];
    struct cache cache;
    struct way memory;
    struct stands stands = {.contend = contend,
                            .caches = 1,
                            .memories = 1,
                            .tenant = tenant,
                            .cache = &cache,
                            .memory = &memory};
    bool settled;

    if (n == 0 || n > CONTEND_GROUP_MAX || !(others_gbps >= 0))
        return refuse();
    for (size_t i = 0; i < n; i++)
        if (member[i] >= contend->n)
            return refuse();
    stands_open(&stands, others_gbps);
    for (size_t i = 0; i < n; i++)
        of[i] = stands_add(&stands, member[i], 0, 0);
    settled = stands_solve(&stands);
    for (size_t i = 0; i < n; i++)
        slowdown[i] = slowdown_of(of[i]);
    if (gbps)
        *gbps = cache_gbps(&memory);
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

    stands_open(stands, 0);
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
    stands.cache = malloc(stands.caches * sizeof(*stands.cache));
    stands.memory = malloc(stands.memories * sizeof(*stands.memory));
    if (of && stands.tenant && stands.cache && stands.memory)
        rc = node_solve(&stands, n, stand, of, slowdown);
    free(of);
    free(stands.tenant);
    free(stands.cache);
    free(stands.memory);
    return rc;
}
