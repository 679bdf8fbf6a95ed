/* SPDX-License-Identifier: GPL-2.0-or-later */
/* policy - the table of the policies, whether they may do something, and what people are told of
 * them. See policy.h, inside.h. */
#include "packer/inside/policy.h"

#include "packer/base/text.h"
#include "packer/inside/inside.h"
#include "enum_table.h"

/* A new policy is a row here, and a word (CONTRIBUTING.md). */
const struct inside_policy *const TABLE(inside_policies, STEP_POLICIES) = {
    ROW(STEP_FAITHFUL) = &inside_faithful, ROW(STEP_TRANQUIL) = &inside_tranquil,
    ROW(STEP_SHUFFLE) = &inside_shuffle,   ROW(STEP_ADAPT) = &inside_adapt,
    ROW(STEP_FOLLOW) = &inside_follow,     ROW(STEP_FLEX) = &inside_flex,
    ROW(STEP_THROTTLE) = &inside_throttle, ROW(STEP_LOCKS) = &inside_locks,
    ROW(STEP_PREFETCH) = &inside_prefetch, ROW(STEP_FREQUENCY) = &inside_frequency,
};
TABLE_COMPLETE(inside_policies);

/* ---- what may be ---- */

bool inside_is_wanted(const struct step *step, enum step_policy i)
{
    return inside_policies[i]->asked(step) || text_lists(step->refused, step_policy_word[i]);
}

/* Returns why no step of this node can have the policy; NULL: one can. */
static const char *node_refusal(const struct packer *packer, enum step_policy i)
{
    if (!packer->world.enforce->way->touches)
        return "nothing is changed on this node (enforcement=dryrun)";
    return inside_policies[i]->lacks ? inside_policies[i]->lacks(packer) : NULL;
}

const char *inside_refusal(const struct packer *packer, const struct step *step, enum step_policy i)
{
    const char *why;

    if (!inside_policies[i]->asked(step))
        return "berth.conf does not allow it";
    if (step->inside.run && step->inside.run->why[0])
        return step->inside.run->why;
    if (!step->inside.run && step->inside.why)
        return step->inside.why;
    why = node_refusal(packer, i);
    return !why && inside_policies[i]->refuse ? inside_policies[i]->refuse(packer, step) : why;
}

/* ---- what people are told ---- */

const char *inside_vain(const struct packer *packer, const struct step *step, size_t *i,
                        const char **word)
{
    enum step_policy its = *i;

    *i = (*i + 1) % STEP_POLICIES;
    *word = its == STEP_FOLLOW ? "threads=follow" : step_policy_word[its]; /* as users write it */
    return inside_is_wanted(step, its) ? inside_refusal(packer, step, its) : NULL;
}

bool inside_about(const struct packer *packer, size_t i, struct inside_about *about)
{
    const struct conf *conf = &packer->world.conf;

    if (i >= STEP_POLICIES)
        return false;
    *about = (struct inside_about){
        .word = step_policy_word[i],
        .model = inside_policies[i]->model,
        .allowed = text_lists(conf->allow, step_policy_word[i]) ||
                   (inside_policies[i]->by_site && inside_policies[i]->by_site(conf)),
        .lacks = node_refusal(packer, (enum step_policy)i),
    };
    return true;
}
