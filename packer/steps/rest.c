/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rest - see rest.h */
#include "packer/steps/rest.h"

#include <math.h>

#include "packer/steps/stand.h"
#include "packer/steps/together.h"

#define EARLY_S 0.001 /* a turn that is early by so much is the one of the instant */
#define WINDOWS 4     /* of a step that are as long as ever, after the first one */

/* Has it been read often enough for its class and its profile? */
static bool is_known(const struct packer *packer, const struct step *step)
{
    const struct conf *conf = &packer->world.conf;
    double ms = (double)(conf->startup_ms + conf->first_window_ms + WINDOWS * conf->window_ms);

    return clock_s() - step->started_mono_s >= ms / 1000;
}

/* Does something that was asked for follow what it does? */
static bool is_followed(const struct step *step)
{
    const struct wire_options *options = &step->request.options;

    return options->size || options->edp || options->adapt || options->mem_auto ||
           options->throttle != WIRE_THROTTLE_OFF || options->prefetch == WIRE_PREFETCH_AUTO ||
           step->inside.run || step->size.loop.run || step->share.waits || step->share.others > 0;
}

/* Are its tasks where Slurm put them, and nobody else of the pool anywhere but there? */
static bool has_pool(const struct packer *packer, const struct step *step)
{
    const struct topo *topo = packer->world.topo;
    struct cpus home;

    if (!enforce_at_home(&step->body) || step->enacted.away)
        return false;
    if (packer->steps->nlive == 1)
        return true;
    enforce_union(&step->body, ENFORCE_HOME, &home);
    for (size_t core = 0; core < topo->cores; core++)
        if (pool_has(packer->pool, core) && !cpus_intersect(&topo->core[core].cpus, &home))
            return false;
    return true;
}

bool rest_nothing_to_decide(const struct packer *packer)
{
    const struct registry *steps = packer->steps;
    const struct conf *conf = &packer->world.conf;
    const struct step *step;

    if (conf->rest_ms == 0 || steps->changed)
        return false;
    if (conf->blackboard == CONF_ON &&
        steps->nlive > 0) /* programs read there what windows have said */
        return false;
    TAILQ_FOREACH(step, &steps->live, link)
    if (!is_known(packer, step) || is_followed(step) || !has_pool(packer, step))
        return false;
    return true;
}

bool rest_may(const struct packer *packer)
{
    return clock_s() - packer->state->tally->asked_s >= REST_ASKED_S &&
           rest_nothing_to_decide(packer);
}

double rest_until(const struct packer *packer, double in_s)
{
    double now_s = clock_s(), rest_s = (double)packer->world.conf.rest_ms / 1000;

    if (in_s < 0 || !rest_may(packer))
        return in_s;
    return fmax(in_s, together_next(packer, now_s + EARLY_S - rest_s / 2, rest_s) - now_s);
}

void rest_asked(const struct packer *packer)
{
    bool rests = rest_may(packer);

    packer->state->tally->asked_s = clock_s();
    if (rests)
        packer_wake(packer, 0);
}
