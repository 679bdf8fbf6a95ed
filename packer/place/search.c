/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search - see search.h */
#include "packer/place/search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/placing/improve.h"
#include "packer/place/search_impl.h"

/* Changes at a time while steps run, of up to three moves each: some 6 ms with 200 steps. What is
 * left to gain is for the next decision. */
#define CHANGES_MAX 5
/* And for each part of a step that has just come, and the best of how many. */
#define FRESH_CHANGES_MAX 2
#define FRESH_CHANGES_MOST 16 /* for all of them */
#define FRESH_TRIES 4

bool search_can(enum wire_policy policy)
{
    return policy != WIRE_POLICY_DI && policy != WIRE_POLICY_DIO_POWER;
}

static void search_clear(struct search *search)
{
    opinion_free(search->opinion);
    free(search->part);
    free(search->by_part);
    free(search->cache_of);
    free(search->first_like);
    free(search->room);
    free(search->held);
    free(search->nodes);
    free(search->price);
    free(search->focus);
    free(search->before);
    free(search->core);
    free(search->slowdown);
    free(search->fixed_press);
}

static int search_init(struct search *search)
{
    size_t total = search->units->total + 1, caches = search_topo(search)->llcs;
    size_t cores = search_topo(search)->cores + total; /* the fixed ones, and the parts' */

    search->caches = caches;
    for (search->slots = 1; search->slots < 2 * total;)
        search->slots *= 2;
    search->part = calloc(total, sizeof(*search->part));
    search->by_part = calloc(total, sizeof(*search->by_part));
    search->cache_of = calloc(5 * total, sizeof(*search->cache_of));
    search->first_like = calloc(search->slots, sizeof(*search->first_like));
    search->room = calloc(4 * caches, sizeof(*search->room));
    search->held = calloc(search_topo(search)->cores + 1, sizeof(*search->held));
    search->nodes = calloc(caches, sizeof(*search->nodes));
    search->price = calloc(total * caches + 2 * total + 2 * caches, sizeof(*search->price));
    search->focus = calloc(total, sizeof(*search->focus));
    search->before = calloc(caches, sizeof(*search->before));
    search->core = calloc(2 * cores, sizeof(*search->core));
    search->slowdown = calloc(2 * cores, sizeof(*search->slowdown));
    search->fixed_press =
        calloc(3 * caches + search_topo(search)->packages, sizeof(*search->fixed_press));
    if (!search->part || !search->by_part || !search->cache_of || !search->first_like ||
        !search->room || !search->held || !search->nodes || !search->price || !search->focus ||
        !search->before || !search->core || !search->slowdown || !search->fixed_press)
        return -1;
    search->cores = search->cache_of + total;
    search->kind = search->cores + total;
    search->like = search->kind + total;
    search->before_at = search->like + total;
    search->domain = search->room + caches;
    search->wholes = search->domain + caches;
    search->package = search->wholes + caches;
    search->asks = search->price + total * caches;
    search->minds = search->asks + total;
    search->fixed_asks = search->minds + total;
    search->small = search->fixed_asks + caches;
    search->press = search->fixed_press + caches;
    return 0;
}

/* Gives the parts that have moved free cores of their new caches; all others keep theirs. */
static void take_targets(const struct search *search)
{
    const struct topo *topo = search_topo(search);
    const struct pool *pool = search->scene->pool;
    struct units *units = search->units;
    size_t *taken = units->of_target;

    for (size_t core = 0; core < pool->cores; core++)
        taken[core] = !units_may_have(units, search->scene, core) || search->held[core];
    for (size_t p = 0; p < search->n; p++)
        for (size_t i = 0;
             search->cache_of[p] == search->part[p].cache && i < search->part[p].cores; i++) {
            size_t at = search->by_part[search->part[p].first + i];

            units->to[at] = pool->stand[units->from[at]];
            taken[units->to[at]] = true;
        }
    for (size_t p = 0; p < search->n; p++)
        for (size_t i = 0, core = 0;
             search->cache_of[p] != search->part[p].cache && i < search->part[p].cores; i++) {
            while (taken[core] || topo->core[core].llc != search->cache_of[p])
                core++;
            taken[core] = true;
            units->to[search->by_part[search->part[p].first + i]] = core;
        }
}

/* Returns how many parts may still move; 0: any number. */
static size_t moves_left(const struct place_terms *terms, size_t moved)
{
    return terms && terms->moves_max ? terms->moves_max - moved : 0;
}

/* Returns how many changes may be made; 0: any number. */
static size_t changes_left(const struct search *search)
{
    size_t fresh = 0;

    if (!search->terms)
        return 0;
    if (!search_focuses(search))
        return CHANGES_MAX;
    for (size_t p = 0; p < search->n; p++)
        fresh += FRESH_CHANGES_MAX * search->focus[p];
    return fresh < FRESH_CHANGES_MOST ? fresh : FRESH_CHANGES_MOST;
}

/* Improves where the parts stand. *moved is how many have moved before, and then. */
static int improve(struct search *search, size_t *moved)
{
    const struct place_terms *terms = search->terms;
    struct improve_found found;
    struct improve problem;

    if (search_judge(search) < 0)
        return -1;
    problem = (struct improve){.n = search->n,
                               .cores = search->cores,
                               .kind = search->kind,
                               .like = search->like,
                               .caches = search->caches,
                               .room = search->room,
                               .domain = search->domain,
                               .price = search->price,
                               .focus = search_focuses(search) ? search->focus : NULL,
                               .horizon = terms ? fmax(terms->horizon_s, HORIZON_LEAST) : 1,
                               .moves_max = moves_left(terms, *moved),
                               .changes_max = changes_left(search),
                               .tries = search_focuses(search) ? FRESH_TRIES : 0,
                               .pair = search_pair,
                               .asks = search->asks,
                               .minds = search->minds,
                               .lost = search_lost,
                               .arg = search};
    if (improve_solve(&problem, search->cache_of, &found) < 0)
        return -1;
    *moved += found.moved;
    take_targets(search);
    return 0;
}

/* Finds what each step may bear for others' gain, where contend decides about steps that run. At
 * its first look a step meets others where they are. */
static void find_bearable(struct search *search)
{
    search->bears = search->policy == WIRE_POLICY_CONTEND && search->terms && !search->units->alone;
    if (search->bears)
        forecast_bearable(search->scene, search->scene->packer->world.conf.sacrifice);
}

/* Tasks move as they are first, then those that may be divided core by core, if that is better. */
static int solve(struct search *search)
{
    const struct pool *pool = search->scene->pool;
    struct units *units = search->units;
    size_t moved = 0;

    for (size_t i = 0; i < units->total; i++)
        units->to[i] = pool->stand[units->from[i]];
    find_bearable(search);
    search_machine(search);
    search_parts(search);
    search_even_begin(search);
    if (improve(search, &moved) < 0)
        return -1;
    if (search->terms && search->terms->moves_max && moved >= search->terms->moves_max)
        return 0;
    search->divides = true;
    return search_parts(search) ? improve(search, &moved) : 0;
}

int search_units(const struct scene *scene, const struct place_terms *terms,
                 enum wire_policy policy, struct units *units, struct berth_error *err)
{
    struct search search = {.scene = scene, .terms = terms, .units = units, .policy = policy};
    int rc = search_init(&search);

    if (rc == 0)
        rc = solve(&search);
    if (rc < 0)
        berth_error_set(err, "%s: %s", wire_policy_name[policy], strerror(errno));
    search_clear(&search);
    return rc;
}
