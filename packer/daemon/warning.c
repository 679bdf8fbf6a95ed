/* SPDX-License-Identifier: GPL-2.0-or-later */
/* warning - see warning.h */
#include "packer/daemon/warning.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "packer/base/text.h"
#include "packer/counters/counters.h"
#include "packer/inside/inside.h"
#include "packer/place/bound.h"
#include "packer/place/isolation.h"
#include "packer/place/reason.h"
#include "packer/place/threads.h"

/* The text so far. */
struct warning {
    char *text;
    size_t size;
};

static void add(struct warning *warning, const char *word, const char *why)
{
    size_t used = strlen(warning->text);

    snprintf(warning->text + used, warning->size - used, "%s%s has no effect: %s", used ? "; " : "",
             word, why);
}

/* Who shares a cache is all that these words are about. */
static void add_policy(struct warning *warning, const struct packer *packer,
                       const struct step *step)
{
    const struct wire_options *options = &step->request.options;
    char word[32], why[128];

    if (!options->policy_given && !options->edp)
        return;
    snprintf(word, sizeof(word), "%s%s", options->policy_given ? "policy=" : "edp",
             options->policy_given ? wire_policy_name[options->policy] : "");
    reason_another(step, why, sizeof(why));
    if (packer->world.topo->llcs == 1)
        add(warning, word, "the node has one cache of the last level");
    else if (why[0])
        add(warning, word, why);
}

static void add_size(struct warning *warning, const struct step *step)
{
    const struct wire_options *options = &step->request.options;

    if (options->size && !step->size.modelled && step->size.given == step->size.cores)
        add(warning, "size", step->size.reason);
    else if (!options->size && options->cores_max > 0)
        add(warning, "cores",
            text_lists(step->refused, "size") ? "it bounds size, which berth.conf does not allow"
                                              : "it bounds size, which was not asked for");
}

static void add_threads(struct warning *warning, const struct packer *packer,
                        const struct step *step)
{
    struct threads_state state;

    threads_state(packer, step, &state);
    if (state.vain)
        add(warning, threads_word_name[state.asked], state.vain);
}

static void add_memory(struct warning *warning, const struct packer *packer,
                       const struct step *step)
{
    enum wire_mem mem = step->request.options.mem;
    char word[32];

    if (mem == WIRE_MEM_AUTO || packer->world.topo->nodes > 1)
        return;
    snprintf(word, sizeof(word), "mem=%s", wire_mem_name[mem]);
    add(warning, word, "the node has one memory node");
}

static void add_thread_count(struct warning *warning, const struct step *step)
{
    if (!step->request.options.threads_auto || step->size.stored)
        return;
    add(warning, "threads=auto",
        step->request.user_omp_threads
            ? "OMP_NUM_THREADS is set already"
            : "of its program the profile store has no number for so many cores of such a machine "
              "(berthctl threads finds it)");
}

static void add_flexible(struct warning *warning, const struct step *step)
{
    const struct wire_options *o = &step->request.options;

    char word[32];

    if (!o->flex || o->flex_threads == 0 || !step->request.user_omp_threads)
        return;
    snprintf(word, sizeof(word), "flex=%u", o->flex_threads);
    add(warning, word, "OMP_NUM_THREADS is set already");
}

static void add_inside(struct warning *warning, const struct packer *packer,
                       const struct step *step)
{
    const char *word, *why;
    size_t i = 0;

    do {
        if ((why = inside_vain(packer, step, &i, &word)))
            add(warning, word, why);
    } while (i > 0);
}

static void add_nocount(struct warning *warning, const struct packer *packer,
                        const struct step *step)
{
    if (step->request.options.nocount &&
        !(counters_can(packer->state->counters) & 1u << COUNTER_INSTRUCTIONS))
        add(warning, "nocount", "nothing here uses hardware counters");
}

/* Mutexes are handed on within a memory node, or a cache, before another one has them. */
static void add_cohorts(struct warning *warning, const struct packer *packer,
                        const struct step *step)
{
    if (step->inside.effect[STEP_LOCKS].changes > 0 && packer->world.topo->nodes < 2 &&
        packer->world.topo->llcs < 2)
        add(warning, "locks=cohort", "the node has one memory node, with one cache");
}

/* Does another sentence tell of the word, if it is refused? */
static bool is_told(const char *word)
{
    for (enum step_policy i = 0; i < STEP_POLICIES; i++)
        if (strcmp(word, step_policy_word[i]) == 0)
            return true;
    return strcmp(word, "isolate") == 0 || strcmp(word, "max-slowdown") == 0;
}

static void add_refused(struct warning *warning, const struct step *step)
{
    char refused[sizeof(step->refused)], *rest = refused;

    memcpy(refused, step->refused, sizeof(refused));
    for (const char *word; (word = strsep(&rest, ","));)
        if (word[0] && !is_told(word))
            add(warning, word, "berth.conf does not allow it");
}

static void add_priority(struct warning *warning, const struct packer *packer,
                         const struct step *step)
{
    struct isolation isolation;
    struct bound bound;

    isolation_of(packer, step, &isolation);
    if (isolation.asked && !isolation.granted)
        add(warning, "isolate", isolation.reason);
    bound_of(packer, step, &bound);
    if (bound.asked && isnan(bound.predicted))
        add(warning, "max-slowdown", bound.reason);
}

void warning_write(const struct packer *packer, const struct step *step, char *text, size_t size)
{
    struct warning warning = {text, size};

    text[0] = '\0';
    if (step->state != STEP_PLACED || step_is_shell(step))
        return;
    add_policy(&warning, packer, step);
    add_size(&warning, step);
    add_threads(&warning, packer, step);
    add_memory(&warning, packer, step);
    add_thread_count(&warning, step);
    add_flexible(&warning, step);
    add_inside(&warning, packer, step);
    add_cohorts(&warning, packer, step);
    add_nocount(&warning, packer, step);
    add_refused(&warning, step);
    add_priority(&warning, packer, step);
}
