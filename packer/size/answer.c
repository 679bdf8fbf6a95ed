/* SPDX-License-Identifier: GPL-2.0-or-later */
/* size_answer - see size/answer.h */
#include "packer/size/answer.h"
#include "packer/size/size_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/numa/nucore.h"

#define EQUAL 1e-9 /* speeds that are as near as that are the same */

/* An answer to the question with these bounds. */
struct found {
    bool is;
    struct size_bounds *bounds; /* [steps] */
    unsigned *chosen;           /* [steps * nodes] */
    struct size_answer answer;
};

static int found_make(struct found *found, size_t steps, size_t nodes)
{
    found->is = false;
    found->bounds = calloc(steps + 1, sizeof(*found->bounds));
    found->chosen = calloc(steps * nodes + 1, sizeof(*found->chosen));
    return found->bounds && found->chosen ? 0 : -1;
}

static void found_free(struct found *found)
{
    free(found->bounds);
    free(found->chosen);
}

/* What each may have; with `keep`, who runs has what he uses. */
static void bound(const struct sizings *all, bool keep, struct found *found)
{
    for (size_t s = 0; s < all->n; s++) {
        const struct sizing *sizing = &all->sizing[s];
        struct size_bounds *bounds = &found->bounds[sizing->number];

        if (sizing->number == SIZING_NOT_ASKED)
            continue;
        *bounds = sizing->bounds;
        if (!keep || sizing->step == all->newcomer)
            continue;
        *bounds = (struct size_bounds){.needed = sizing->now};
        for (size_t i = 0; i < all->packer->world.topo->nodes; i++)
            bounds->least = bounds->most += sizing->now[i];
    }
}

/* Asks; where nobody can be given what he would have without sizing, once more without that. */
static void ask(const struct size_model *model, double patience_s, struct found *found,
                struct berth_error *err)
{
    size_t steps = size_model_steps(model);

    found->is = size_model_choose(model, found->bounds, patience_s, found->chosen, &found->answer,
                                  err) == 0;
    if (found->is || steps == 1)
        return;
    for (size_t s = 0; s < steps; s++)
        found->bounds[s].floor_gbps = 0;
    found->is = size_model_choose(model, found->bounds, patience_s, found->chosen, &found->answer,
                                  err) == 0;
}

/* By which fraction all must be faster for anybody to be moved: no more than anybody may lose. */
static double doubt(const struct sizings *all, const struct size_model *model)
{
    double least = size_model_doubt(model);

    for (size_t s = 0; s < all->n; s++)
        least = fmin(least, wire_size_loss(&all->sizing[s].step->request.options));
    return least;
}

static bool is_worth_it(const struct sizings *all, const struct size_model *model,
                        const struct size_answer *now, const struct size_answer *then)
{
    double gain = then->speed - now->speed;

    if (gain > doubt(all, model) * now->speed + EQUAL)
        return true;
    return then->cores < now->cores &&
           gain >= -NUCORE_SPEED_PER_CORE * (double)(now->cores - then->cores) - EQUAL;
}

static void take_found(struct sizings *all, const struct found *found)
{
    size_t nodes = all->packer->world.topo->nodes;

    for (size_t s = 0; s < all->n; s++)
        if (all->sizing[s].number != SIZING_NOT_ASKED)
            memcpy(all->sizing[s].chosen, &found->chosen[all->sizing[s].number * nodes],
                   nodes * sizeof(*found->chosen));
}

static bool runs(const struct sizings *all, size_t s)
{
    return all->sizing[s].number != SIZING_NOT_ASKED && all->sizing[s].step != all->newcomer;
}

static bool anybody_runs(const struct sizings *all)
{
    for (size_t s = 0; s < all->n; s++)
        if (runs(all, s))
            return true;
    return false;
}

/* Does the answer leave who runs what he uses? */
static bool is_kept(const struct sizings *all, const struct found *found)
{
    size_t nodes = all->packer->world.topo->nodes;

    for (size_t s = 0; s < all->n; s++)
        if (runs(all, s) && memcmp(&found->chosen[all->sizing[s].number * nodes],
                                   all->sizing[s].now, nodes * sizeof(*found->chosen)) != 0)
            return false;
    return true;
}

/* Asks about all, who runs included; a newcomer that is observed changes nobody. */
static void ask_all(const struct sizings *all, const struct size_model *model, struct found *best,
                    struct berth_error *err)
{
    const struct packer *packer = all->packer;
    bool waits = all->newcomer && anybody_runs(all);

    if (waits && all->newcomer->state == STEP_OBSERVED)
        return;
    bound(all, false, best);
    ask(model,
        waits           ? packer->state->size->together_s
        : all->newcomer ? packer->state->size->patience_s
                        : packer->state->size->unhurried_s,
        best, err);
}

static enum size_found find_size(struct sizings *all, const struct size_model *model,
                                 struct found *kept, struct found *best, bool *proven,
                                 struct berth_error *err)
{
    bool observed = all->newcomer && all->newcomer->state == STEP_OBSERVED;

    ask_all(all, model, best, err);
    *proven = (best->is && best->answer.proven) || (observed && anybody_runs(all));
    if (anybody_runs(all) && !(best->is && best->answer.proven && is_kept(all, best))) {
        bound(all, true, kept);
        ask(model, all->packer->state->size->patience_s, kept, err);
    }
    if (best->is && (!kept->is || is_worth_it(all, model, &kept->answer, &best->answer))) {
        take_found(all, best);
        return SIZE_FOUND_TOGETHER;
    }
    if (!kept->is)
        return SIZE_FOUND_NOTHING;
    take_found(all, kept);
    return SIZE_FOUND_KEPT;
}

enum size_found size_answer_find(struct sizings *all, const struct size_model *model, bool *proven,
                                 struct berth_error *err)
{
    size_t steps = size_model_steps(model), nodes = all->packer->world.topo->nodes;
    struct found kept = {0}, best = {0};
    enum size_found result = SIZE_FOUND_NOTHING;

    *proven = true;
    if (found_make(&kept, steps, nodes) < 0 || found_make(&best, steps, nodes) < 0)
        berth_no_memory(err);
    else if (steps > 0)
        result = find_size(all, model, &kept, &best, proven, err);
    found_free(&kept);
    found_free(&best);
    return result;
}
