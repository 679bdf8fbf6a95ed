/* SPDX-License-Identifier: GPL-2.0-or-later */
/* adapt - ADAPT (Pusukuri 2012, chapter 6) as a policy: what it decides for steps that share their
 * cores (size/share_adapt.h) is told here, and what it wants of their memory is done. The cores are
 * divided by size/share.h, and the slices that it wants are given by the policy `faithful`.
 *
 * A step whose user has said where its memory shall be keeps it there (mem=local, interleave,
 * bind), and so does one that `tranquil` sees to, which it does where no slices are wanted here. */
#include <math.h>

#include "packer/inside/deal.h"
#include "packer/inside/policy.h"

static bool asked(const struct step *step)
{
    return step->request.options.adapt || step->share.adapt.on;
}

static bool by_site(const struct conf *conf)
{
    return conf->share == CONF_SHARE_ADAPT;
}

/* Is it another one who says where the step's memory is? */
static bool is_anothers(const struct step *step)
{
    return step->request.options.mem != WIRE_MEM_AUTO || inside_tranquil.asked(step);
}

/* Shall its memory be elsewhere? Not while it is on its way after the step, which has moved. Who
 * takes over finds it where the program put it. */
static bool is_misplaced(const struct step *step, const struct inside_adapt *adapt)
{
    if (step->memory.running)
        return false;
    return is_anothers(step) ? adapt->dealt : adapt->deals != deal_is_out(step);
}

/* Is its memory to be dealt, and can it be? Where it is dealt already it stays so, also on one
 * node, which it follows the step to. */
static bool deals(const struct packer *packer, const struct step *step)
{
    return step->share.adapt.interleave && !deal_refusal(step) &&
           (deal_is_out(step) || deal_can(packer, step));
}

/* What it has decided of cores is there already: it is noted, here and in the ledger. */
static bool sample(const struct packer *packer, const struct step *step, struct inside_run *run)
{
    const struct step_adapt *adapt = &step->share.adapt;
    bool was = run->adapt.decided;

    run->adapt.deals = deals(packer, step);
    run->adapt.decided = adapt->on && !adapt->why;
    run->adapt.changed = run->adapt.decided && (!was || adapt->changes != run->adapt.changes);
    run->adapt.changed |= is_misplaced(step, &run->adapt);
    run->adapt.changes = adapt->changes;
    return run->adapt.changed;
}

static bool decide(struct inside_run *run)
{
    return run->adapt.changed;
}

static int enact(const struct packer *packer, struct step *step, struct berth_error *err)
{
    struct inside_adapt *adapt = &step->inside.run->adapt;

    if (!is_misplaced(step, adapt))
        return 0;
    adapt->dealt = adapt->deals && !is_anothers(step);
    if (adapt->dealt)
        return deal_out(packer, step, err);
    deal_back(packer, step);
    return 0;
}

/* What tranquil has dealt, or a berthd before this one, tranquil's undo takes back. */
static int undo(const struct packer *packer, struct step *step, struct berth_error *err)
{
    struct inside_run *run = step->inside.run;

    (void)err;
    if (run && run->adapt.dealt)
        deal_back(packer, step);
    if (run)
        run->adapt.dealt = false;
    return 0;
}

static bool in_effect(const struct step *step)
{
    return (step->share.adapt.on && !step->share.adapt.why) || step->inside.run->adapt.dealt;
}

const struct inside_policy inside_adapt = {.model = "adapt",
                                           .asked = asked,
                                           .by_site = by_site,
                                           .sample = sample,
                                           .decide = decide,
                                           .enact = enact,
                                           .ends_by_itself = true,
                                           .undo = undo,
                                           .in_effect = in_effect};
