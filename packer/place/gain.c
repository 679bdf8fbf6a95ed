/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gain - see gain.h */
#include "packer/place/gain.h"

#include <math.h>
#include <stdlib.h>

#include "packer/observe/classify.h"
#include "packer/place/forecast.h"
#include "packer/place/opinion.h"
#include "packer/place/place.h"
#include "packer/place/siblings.h"

/* Adds the miss rates of the scene's steps, core by core, to sums by package, memory node and
 * cache. */
static void add_rates(const struct scene *scene, double *package, double *node, double *llc)
{
    const struct packer *packer = scene->packer;
    const struct topo *topo = packer->world.topo;
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    for (size_t t = 0; !step_is_shell(step) && t < step->body.ntasks; t++) {
        struct cpus cpus = step->body.task[t].use, cores;

        if (stand_movable(scene, step))
            stand_image(packer, scene->pool, &step->body.task[t].use, &cpus);
        topo_cores_of(topo, &cpus, &cores);
        cpus_foreach(core, &cores)
        {
            package[topo->core[core].package] += classify_rate(packer, step);
            llc[topo->core[core].llc] += classify_rate(packer, step);
            node[topo->llc[topo->core[core].llc].node] += classify_rate(packer, step);
        }
    }
}

/* Returns DI's score; NAN when out of memory. */
static double di_score(const struct scene *scene)
{
    const struct topo *topo = scene->packer->world.topo;
    size_t n = topo->packages + topo->nodes + 1 + topo->llcs;
    double *sum = calloc(n, sizeof(*sum)), score = sum ? 0 : NAN;

    if (sum)
        add_rates(scene, sum, sum + topo->packages, sum + topo->packages + topo->nodes + 1);
    for (size_t i = 0; sum && i < n; i++)
        score += sum[i] * sum[i];
    free(sum);
    return score;
}

/* Returns the score of one of the schemes; NAN when out of memory. */
static double scheme_score(const struct scene *scene, enum wire_policy policy)
{
    size_t n, *slot;
    struct forecast_core *core = forecast_cores(scene, &n);
    struct opinion *opinion = NULL;
    double score = NAN;

    slot = core ? calloc(n + 1, sizeof(*slot)) : NULL;
    for (size_t i = 0; slot && i < n; i++)
        slot[i] = core[i].slot;
    if (slot)
        opinion = opinion_form(scene->packer->state->forecast, policy, n, slot);
    if (opinion)
        score = opinion_score(opinion, n, core);
    opinion_free(opinion);
    free(slot);
    free(core);
    return score;
}

static double score_of(const struct scene *scene, enum wire_policy policy)
{
    return policy == WIRE_POLICY_DI ? di_score(scene) : scheme_score(scene, policy);
}

/* Returns the gain by the score, which knows no hardware threads. */
static double gain_by_score(const struct scene *now, const struct scene *next,
                            enum wire_policy policy, double work, size_t cores)
{
    double before = score_of(now, policy), after = score_of(next, policy), lost;

    if (!(before > 0) || isnan(after))
        return before == after ? 0 : NAN;
    lost = isnan(work) ? 0 : (double)cores - work;
    if (cores == 0)
        cores = now->packer->steps->nlive;
    return (before - after) / before * fmax(lost, PLACE_AT_STAKE * (double)cores);
}

double gain_of(const struct scene *now, const struct scene *next, enum wire_policy policy)
{
    size_t cores = 0;
    double work = forecast_work(now, &cores);

    if (policy == WIRE_POLICY_CONTEND || policy == WIRE_POLICY_DIO_POWER)
        return forecast_work(next, NULL) - work;
    return gain_by_score(now, next, policy, work, cores) + siblings_lost(now) - siblings_lost(next);
}
