/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exchange - see exchange.h */
#include "packer/enact/exchange.h"

#include "packer/enact/rearrange.h"

void exchange_isolated(const struct packer *packer, struct cpus *isolated)
{
    const struct topo *topo = packer->world.topo;
    const struct step *step;
    struct cpus its;

    cpus_zero(isolated);
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (!step->request.options.isolate)
            continue;
        enforce_union(&step->body, ENFORCE_PLACE, &its);
        for (size_t i = 0; i < topo->llcs; i++)
            if (cpus_intersect(&topo->llc[i].cpus, &its))
                cpus_or(isolated, &topo->llc[i].cpus);
    }
}

/* Is one of the step's cores of another kind? */
static bool is_mixed(const struct topo *topo, const struct step *step, size_t core)
{
    struct cpus own, of_kind;

    enforce_union(&step->body, ENFORCE_PLACE, &own);
    topo_cpus_of_kind(topo, topo->core[core].kind, &of_kind);
    return !cpus_subset(&own, &of_kind);
}

const char *exchange_barred(const struct packer *packer, const struct step *step, size_t core,
                            const struct cpus *isolated)
{
    const struct cpus *cpus = &packer->world.topo->core[core].cpus;
    struct cpus nodes;

    topo_nodes_of(packer->world.topo, cpus, &nodes);
    if (step->request.options.isolate)
        return "it is to be isolated, and stays";
    if (!step_may_use(step, &nodes))
        return "its memory is bound elsewhere";
    if (step->near.holds && !cpus_subset(cpus, &step->near.cpus))
        return "its devices are elsewhere";
    if (cpus_intersect(cpus, isolated))
        return "somebody is to be isolated there";
    if (packer->world.topo->kinds > 1 && is_mixed(packer->world.topo, step, core))
        return "that core is of another kind";
    return NULL;
}

int exchange_cores(const struct packer *packer, size_t n, const size_t *from, const size_t *to,
                   struct berth_error *err)
{
    struct pool next;

    if (pool_copy(&next, packer->pool) < 0)
        return berth_no_memory(err);
    for (size_t pair = 0; pair < n; pair++)
        for (size_t i = 0; i < next.cores; i++) {
            if (next.stand[i] == from[pair])
                next.stand[i] = to[pair];
            else if (next.stand[i] == to[pair])
                next.stand[i] = from[pair];
        }
    return rearrange_as(packer, &next, 0, err);
}
