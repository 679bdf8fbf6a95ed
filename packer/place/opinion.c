/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opinion - see opinion.h */
#include "packer/place/opinion.h"

#include <math.h>
#include <stdlib.h>

#include "models/slowdown/animal.h"
#include "models/slowdown/missrate.h"
#include "models/slowdown/pain.h"
#include "models/slowdown/sdc.h"
#include "packer/place/ladder.h"

/* A slot as the schemes see it. */
struct view {
    bool seen;
    struct app app;
    double hits[PROFILE_WAYS_MAX];
    struct pain pain;
    enum animal animal;
};

struct opinion {
    enum wire_policy policy;
    size_t ways, slots;
    struct view *view; /* [slots] */
};

/* Looks at a slot as the policy needs it. */
static void look(struct opinion *opinion, const struct forecast *forecast, size_t slot)
{
    static const struct animal_limits limits = {.devil_miss_pmi = ANIMAL_DEVIL_MISS_PMI,
                                                .turtle_access_pmi = ANIMAL_TURTLE_ACCESS_PMI,
                                                .rabbit_loss_pmi = ANIMAL_RABBIT_LOSS_PMI};
    struct view *view = &opinion->view[slot];

    view->seen = true;
    if (slot == FORECAST_IDLE)
        return;
    view->app = *forecast_app(forecast, slot);
    ladder_distances(&view->app, opinion->ways, view->hits);
    view->pain = pain_of(&view->app.sdp);
    view->animal = animal_of(&view->app.sdp, &limits);
}

struct opinion *opinion_form(const struct forecast *forecast, enum wire_policy policy, size_t n,
                             const size_t *slot)
{
    struct opinion *opinion;

    if (policy == WIRE_POLICY_DI || policy == WIRE_POLICY_DIO_POWER ||
        policy == WIRE_POLICY_CONTEND)
        return NULL;
    opinion = calloc(1, sizeof(*opinion));
    if (!opinion)
        return NULL;
    *opinion = (struct opinion){.policy = policy, .ways = forecast_ways(forecast), .slots = 1};
    for (size_t i = 0; i < n; i++)
        opinion->slots = slot[i] < opinion->slots ? opinion->slots : slot[i] + 1;
    opinion->view = calloc(opinion->slots, sizeof(*opinion->view));
    if (!opinion->view) {
        free(opinion);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        if (!opinion->view[slot[i]].seen)
            look(opinion, forecast, slot[i]);
    return opinion;
}

void opinion_free(struct opinion *opinion)
{
    if (opinion)
        free(opinion->view);
    free(opinion);
}

static double rate_of(const struct view *view)
{
    double rate = missrate_of(&view->app);

    return isnan(rate) ? CONF_NEUTRAL_MISS_PMI : rate;
}

double opinion_pair(const struct opinion *opinion, size_t a, size_t b)
{
    const struct view *x = &opinion->view[a], *y = &opinion->view[b];

    if (a == FORECAST_IDLE || b == FORECAST_IDLE)
        return 0;
    switch (opinion->policy) {
    case WIRE_POLICY_PAIN:
        return pain_pair(&x->pain, &y->pain).score;
    case WIRE_POLICY_SDC:
        return sdc_pair(&x->app.sdp, &y->app.sdp, opinion->ways).score;
    case WIRE_POLICY_ANIMAL:
        return animal_pair(x->animal, y->animal).score;
    default:
        return missrate_pair(rate_of(x), rate_of(y)).score;
    }
}

double opinion_score(const struct opinion *opinion, size_t n, const struct forecast_core *core)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (core[i].cache == core[j].cache && core[i].owner != core[j].owner)
                sum += opinion_pair(opinion, core[i].slot, core[j].slot);
    return sum;
}
