/* SPDX-License-Identifier: GPL-2.0-or-later */
/* own_cpus - see own_cpus.h */
#include "packer/daemon/own_cpus.h"

#include <unistd.h>

#include "packer/base/log.h"
#include "packer/steps/stranger_list.h"

/* Adds where the step is, and where it may be from the next moment on. */
static void add_step(const struct step *step, struct cpus *taken)
{
    struct cpus cpus;

    enforce_union(&step->body, ENFORCE_HOME, &cpus);
    cpus_or(taken, &cpus);
    enforce_union(&step->body, ENFORCE_PLACE, &cpus);
    cpus_or(taken, &cpus);
}

struct cpus own_cpus_choose(const struct packer *packer, const struct cpus *given)
{
    const struct topo *topo = packer->world.topo;
    struct cpus taken, core, free = *given;
    const struct step *step;

    cpus_zero(&taken);
    strangers_add_steps(packer, &taken);
    TAILQ_FOREACH(step, &packer->steps->live, link) add_step(step, &taken);
    for (size_t i = 0; i < topo->cores; i++)
        if (cpus_intersect(&topo->core[i].cpus, &taken)) {
            topo_whole(topo, i, &core);
            cpus_andnot(&free, &core);
        }
    return cpus_empty(&free) ? *given : free;
}

/* Has a step come, gone or moved since it was asked last? */
static bool is_news(struct own_cpus *own, const struct packer *packer)
{
    const struct registry *steps = packer->steps;
    uint64_t moves = packer->state->tally->moves;

    if (own->steps == steps->serial && own->live == steps->nlive && own->moves == moves)
        return false;
    own->steps = steps->serial;
    own->live = steps->nlive;
    own->moves = moves;
    return true;
}

void own_cpus_follow(struct own_cpus *own, const struct packer *packer)
{
    const struct rootfs *root = &packer->world.root;
    struct berth_error err;
    struct cpus next;

    if (!is_news(own, packer) || !rootfs_is_machine(root))
        return;
    if (cpus_empty(&own->given)) {
        if (enforce_get_affinity(0, &own->given) < 0)
            return;
        own->now = own->given;
    }
    next = own_cpus_choose(packer, &own->given);
    if (cpus_equal(&next, &own->now))
        return;
    own->now = next;
    if (enforce_set_affinity(packer->world.enforce, (struct wire_step_id){0}, getpid(), &next,
                             &err) < 0)
        log_warn("berthd's own threads: %s", err.text);
}
