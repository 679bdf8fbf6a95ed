/* SPDX-License-Identifier: GPL-2.0-or-later */
/* told - where the figures of a step are told: explain, status, the ledger. See figures.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "packer/base/clock.h"
#include "packer/base/json.h"
#include "packer/figures/figures.h"
#include "packer/inside/policy.h"
#include "packer/steps/effect.h"

/* Returns the numbers of the last-level caches that the CPUs belong to. */
static struct json_object *figures_caches(const struct topo *topo, const struct cpus *cpus)
{
    struct json_object *caches = json_object_new_array();

    for (size_t i = 0; i < topo->llcs; i++)
        if (cpus_intersect(&topo->llc[i].cpus, cpus))
            json_append(caches, json_object_new_uint64(i));
    return caches;
}

void figures_add(struct json_object *object, const char *of, const struct packer *packer,
                 const struct step *step, bool hidden)
{
    char text[FIGURE_WORD_MAX];

    for (enum fact_id id = fact_next(of, 0); id < FACTS; id = fact_next(of, id + 1)) {
        const struct fact *told = &fact[id];

        if (hidden && told->who == FACT_ROOT)
            json_add(object, told->key, NULL);
        else if (told->kind == FACT_CACHES)
            json_add(object, told->key, figures_caches(packer->world.topo, figure_set(step, id)));
        else if (told->kind == FACT_TEXT || told->kind == FACT_CPU_LIST)
            fact_add_word(object, id, figure_word(step, id, hidden, text));
        else
            fact_add(object, id, figure(step, id));
    }
}

struct json_object *figures_object(const char *of, const struct packer *packer,
                                   const struct step *step, bool hidden)
{
    struct json_object *object;

    if (hidden && fact_is_of_others(of))
        return NULL;
    object = json_object_new_object();
    figures_add(object, of, packer, step, hidden);
    return object;
}

static struct json_object *inside_object(const struct packer *packer, const struct step *step,
                                         enum step_policy i)
{
    const struct step_effect *effect = &step->inside.effect[i];
    struct json_object *object;
    const char *why;

    if (!inside_is_wanted(step, i))
        return NULL;
    why = inside_refusal(packer, step, i);
    object = json_object_new_object();
    json_add_text(object, "refused", why);
    json_add_measure(object, "seconds", effect->changes ? effect_s(effect, clock_s()) : NAN);
    if (!why)
        figures_add(object, step_policy_word[i], packer, step, false);
    if (!why && inside_policies[i]->explain)
        inside_policies[i]->explain(step, object);
    return object;
}

void figures_inside(const struct packer *packer, const struct step *step,
                    struct json_object *explain)
{
    for (enum step_policy i = 0; i < STEP_POLICIES; i++)
        json_add(explain, step_policy_word[i], inside_object(packer, step, i));
}

/* Copies as much as there is room for; a list of CPUs that is too long ends in ",.." where it was
 * cut. */
static void keep(enum fact_id id, const char *text, char *member, size_t size)
{
    bool fits = !text || strlen(text) < size;
    char *comma;

    snprintf(member, size, "%s", text ? text : "");
    if (fits || fact[id].kind != FACT_CPU_LIST)
        return;
    member[size - 3] = '\0';
    comma = strrchr(member, ',');
    strcpy(comma ? comma : member, ",..");
}

/* What is not known is 0, of a number that is whole. */
#define KEPT_double(value) (value)
#define KEPT_uint32_t(value) (uint32_t) fmax(value, 0)
#define KEPT_uint64_t(value) (uint64_t) fmax(value, 0)

void figures_record(const struct step *step, struct ledger_record *record)
{
    char text[FIGURE_WORD_MAX];

#define FACT_KEPT(ID, member, type) record->member = KEPT_##type(figure(step, FACT_##ID));
#define FACT_WORD_KEPT(ID, member, size)                                                           \
    keep(FACT_##ID, figure_word(step, FACT_##ID, false, text), record->member, size);
#include "packer/fact/facts.def"
}
