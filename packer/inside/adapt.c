/* SPDX-License-Identifier: GPL-2.0-or-later */
/* adapt - ADAPT (Pusukuri 2012, chapter 6) as a policy: what it decides for steps that share their
 * cores (size/share_adapt.h) is told here. The cores are divided by size/share.h, and the slices
 * that it wants are given by the policy `faithful`. */
#include <math.h>

#include "packer/base/json.h"
#include "packer/inside/policy.h"

static bool asked(const struct step *step)
{
    return step->request.options.adapt || step->share.adapt.on;
}

static bool by_site(const struct conf *conf)
{
    return conf->share == CONF_SHARE_ADAPT;
}

/* What it has decided is there already: it is noted, here and in the ledger. */
static bool sample(const struct packer *packer, const struct step *step, struct inside_run *run)
{
    const struct step_adapt *adapt = &step->share.adapt;
    bool was = run->adapt.decided;

    (void)packer;
    run->adapt.decided = adapt->on && !adapt->why;
    run->adapt.changed = run->adapt.decided && (!was || adapt->changes != run->adapt.changes);
    run->adapt.changes = adapt->changes;
    return run->adapt.changed;
}

static bool decide(struct inside_run *run)
{
    return run->adapt.changed;
}

static int enact(struct packer *packer, struct step *step, struct berth_error *err)
{
    (void)packer, (void)step, (void)err;
    return 0;
}

static int undo(struct packer *packer, struct step *step, struct berth_error *err)
{
    (void)packer, (void)step, (void)err;
    return 0;
}

static bool in_effect(const struct step *step)
{
    return step->share.adapt.on && !step->share.adapt.why;
}

static const char *word_of(const struct step_adapt *adapt)
{
    if (!adapt->on || adapt->why)
        return NULL;
    return adapt->parts ? "sets" : "all";
}

static void explain(const struct step *step, struct json_object *object)
{
    const struct step_adapt *adapt = &step->share.adapt;
    bool decided = word_of(adapt) != NULL;

    json_add_text(object, "configuration", word_of(adapt));
    json_add_text(object, "why",
                  adapt->on ? adapt->why : "no other step of its kind has its cores");
    json_add_measure(object, "user_all", decided ? adapt->usr_all : NAN);
    json_add_measure(object, "user_sets", decided ? adapt->usr_parts : NAN);
    json_add_text(object, "rule", decided ? adapt->rule : NULL);
    json_add_u64(object, "changes", adapt->changes);
    json_add_bool(object, "faithful", adapt->faithful);
}

const struct inside_policy inside_adapt = {.model = "adapt",
                                           .asked = asked,
                                           .by_site = by_site,
                                           .sample = sample,
                                           .decide = decide,
                                           .enact = enact,
                                           .undo = undo,
                                           .in_effect = in_effect,
                                           .explain = explain};
