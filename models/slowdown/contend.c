/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contend - see contend.h
 *
 * Two things are sought together, the shares of the caches and the stretch of the ways to memory;
 * each is a root, and unique. They are found in turn from the speeds alone. With two programs the
 * turns are monotone (the one that is slowed down loses cache, and is slowed down more) and
 * bounded, so they converge; should they swing, each goes only half of the way after a while. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "models/slowdown/contend_stands.h"

#define TURNS_MAX 100  /* towards an equilibrium; a few are the rule */
#define TURNS_WHOLE 10 /* of them, those that go the whole way */

/* One turn: shares of the present speeds, then speeds of these shares, of which each goes that part
 * of the way. Returns how much the speeds had to change. */
static double stands_turn(struct stands *stands, double part)
{
    double most = 0;

    for (size_t i = 0; i < stands->caches; i++)
        cache_share(stands->contend, &stands->cache[i]);
    for (size_t i = 0; i < stands->memories; i++)
        way_time(stands, &stands->memory[i]);
    for (size_t i = 0; i < stands->caches && stands->carry->port_gbps > 0; i++)
        way_time(stands, &stands->cache[i].port);
    for (size_t i = 0; i < stands->n; i++) {
        struct tenant *tenant = &stands->tenant[i];
        double change = tenant_ns(tenant, tenant->memory_time + tenant->port_time) - tenant->ns;

        most = fmax(most, fabs(change) / tenant->ns);
        tenant->ns += part * change;
    }
    return most;
}

/* Finds the equilibrium. Returns whether it settled. */
static bool stands_solve(struct stands *stands)
{
    for (int i = 0; i < TURNS_MAX; i++)
        if (stands_turn(stands, i < TURNS_WHOLE ? 1 : 0.5) < STANDS_TOLERANCE)
            return true;
    return false;
}

/* Puts one of the program on a cache; returns the tenant that it is one of. */
static struct tenant *stands_add(struct stands *stands, size_t program, size_t cache, size_t memory,
                                 struct contend_apart apart)
{
    const struct study *study = &stands->contend->study[program];
    struct tenant *tenant, **end = &stands->cache[cache].port.first;
    bool copied = false;

    for (; (tenant = *end); end = &tenant->next)
        if (tenant->program == program) {
            copied = tenant->copied = true;
            if (tenant->memory == memory && tenant->apart.lost == apart.lost &&
                tenant->apart.crowd == apart.crowd && tenant->apart.siblings == apart.siblings) {
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
                              .apart = apart,
                              .ns = study->ns,
                              .memory_time = 1};
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

static bool apart_valid(const struct contend_apart *apart)
{
    return apart->lost >= 0 && apart->lost <= 1 && apart->crowd > -1 && isfinite(apart->crowd) &&
           apart->small >= 0 && apart->small < 1 && apart->siblings >= 0 &&
           isfinite(apart->siblings);
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
                  const struct contend_apart *apart, double *slowdown, double *gbps)
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
        if (member[i] >= contend->n || (apart && !apart_valid(&apart[i])))
            return refuse();
    ways_open(&stands, others_gbps);
    for (size_t i = 0; i < n; i++)
        of[i] = stands_add(&stands, member[i], 0, 0, apart ? apart[i] : (struct contend_apart){0});
    settled = stands_solve(&stands);
    for (size_t i = 0; i < n; i++)
        slowdown[i] = slowdown_of(of[i]);
    if (gbps)
        *gbps = cache_gbps(&memory);
    return settled ? 0 : 1;
}

int contend_group(const struct contend *contend, size_t n, const size_t *member, double *slowdown)
{
    return contend_cache(contend, 0, n, member, NULL, slowdown, NULL);
}

static struct app_pair pair_of(const struct contend *contend, size_t a, size_t b,
                               const struct contend_apart *apart)
{
    const size_t member[2] = {a, b};
    double slowdown[2];

    contend_cache(contend, 0, 2, member, apart, slowdown, NULL);
    return (struct app_pair){
        .score = slowdown[0] + slowdown[1], .a_given_b = slowdown[0], .b_given_a = slowdown[1]};
}

struct app_pair contend_pair(const struct contend *contend, size_t a, size_t b)
{
    return pair_of(contend, a, b, NULL);
}

struct app_pair contend_siblings(const struct contend *contend, size_t a, size_t b)
{
    const struct contend_apart apart[2] = {{.siblings = contend_sibling(contend, a, b)},
                                           {.siblings = contend_sibling(contend, b, a)}};

    return pair_of(contend, a, b, apart);
}

/* ---- a node ---- */

static int node_solve(struct stands *stands, size_t n, const struct contend_stand *stand,
                      struct tenant **of, double *slowdown)
{
    bool settled;

    ways_open(stands, 0);
    for (size_t i = 0; i < n; i++)
        of[i] =
            stands_add(stands, stand[i].program, stand[i].cache, stand[i].memory, stand[i].apart);
    settled = stands_solve(stands);
    for (size_t i = 0; i < n; i++)
        slowdown[i] = slowdown_of(of[i]);
    return settled ? 0 : 1;
}

/* Counts the caches and the memory nodes. 0, or -1 with an index or a part out of range. */
static int node_count(const struct contend *contend, size_t n, const struct contend_stand *stand,
                      struct stands *stands)
{
    for (size_t i = 0; i < n; i++) {
        if (stand[i].program >= contend->n || stand[i].cache >= CONTEND_PLACES_MAX ||
            stand[i].memory >= CONTEND_PLACES_MAX || !apart_valid(&stand[i].apart))
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
