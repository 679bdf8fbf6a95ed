/* SPDX-License-Identifier: GPL-2.0-or-later */
/* isolation - see isolation.h */
#include "packer/place/isolation.h"

#include <stdio.h>
#include <string.h>

#include "models/slowdown/pain.h"
#include "packer/conf/admit.h"
#include "packer/observe/classify.h"
#include "packer/place/place.h"
#include "packer/steps/stand.h"

/* Does the step suffer from neighbours? Says why, or why not. */
static bool is_sensitive(const struct step *step, char *why, size_t size)
{
    const struct step_profile *profile = &step->profile;
    double lost = 0;

    if (step->class.id == STEP_UNPROFILED) {
        snprintf(why, size, "nothing is known of its cache use");
        return false;
    }
    if (step->class.id == STEP_DEVIL) {
        snprintf(why, size, "a devil");
        return true;
    }
    if (profile->ways)
        lost =
            pain_of(&(struct app_sdp){profile->ways, profile->hits, profile->miss_pmi}).sensitivity;
    if (profile->ways)
        snprintf(why, size, "a turtle with %.0f hits per million instructions to lose", lost);
    else
        snprintf(why, size, "a turtle");
    return lost >= ISOLATION_SENSITIVE;
}

bool isolation_wanted(const struct step *step)
{
    char why[96];

    return step->request.options.isolate && is_sensitive(step, why, sizeof(why));
}

/* ---- where it stands ---- */

/* Now, or where the pool puts it. */
static void stand_of(const struct packer *packer, const struct pool *pool, const struct step *step,
                     struct cpus *cpus)
{
    struct cpus image;

    *cpus = step->state == STEP_OBSERVED ? step->place.home : step->place.cpus;
    if (!pool || !step_movable(step))
        return;
    cpus_zero(cpus);
    for (size_t i = 0; i < step->body.ntasks; i++) {
        stand_image(packer, pool, &step->body.task[i].use, &image);
        cpus_or(cpus, &image);
    }
}

/* Another step that is a devil and stands on these CPUs; NULL: none. A shell only waits. */
static const struct step *devil_on(const struct packer *packer, const struct pool *pool,
                                   const struct step *step, const struct cpus *domain)
{
    const struct step *other;
    struct cpus cpus;

    TAILQ_FOREACH(other, &packer->steps->live, link)
    {
        if (other == step || step_is_shell(other) ||
            !(classify_rate(packer, other) >= packer->world.conf.devil_miss_pmi))
            continue;
        stand_of(packer, pool, other, &cpus);
        if (cpus_intersect(&cpus, domain))
            return other;
    }
    return NULL;
}

static void add_number(char *text, size_t size, bool *first, size_t number)
{
    size_t used = strlen(text);

    snprintf(text + used, size - used, "%s%zu", *first ? "" : ", ", number);
    *first = false;
}

/* All CPUs of the packages (else the caches) that these are of, and their name. */
static void domain_of(const struct packer *packer, const struct cpus *stand, bool packages,
                      struct cpus *cpus, char *name, size_t size)
{
    const struct topo *topo = packer->world.topo;
    size_t last = topo->packages, count = 0;
    char list[80] = "";
    bool first = true;

    cpus_zero(cpus);
    for (size_t i = 0; i < topo->llcs; i++) {
        struct cpus package = {0};

        for (size_t j = 0; j < topo->llcs; j++)
            if (packages ? topo->llc[j].package == topo->llc[i].package : i == j)
                cpus_or(&package, &topo->llc[j].cpus);
        if (!cpus_intersect(&package, stand))
            continue;
        cpus_or(cpus, &package);
        if (packages && topo->llc[i].package == last)
            continue;
        last = topo->llc[i].package;
        add_number(list, sizeof(list), &first, packages ? last : i);
        count++;
    }
    snprintf(name, size, "%s%s %s", packages ? "package" : "cache", count == 1 ? "" : "s", list);
}

/* ---- what came of it ---- */

/* The devil in the step's domain, a package or, if there is one in that, a cache; NULL: it has one
 * without, called name. */
static const struct step *devil_beside(const struct packer *packer, const struct pool *pool,
                                       const struct step *step, char *name, size_t size)
{
    const struct step *devil = NULL;
    struct cpus stand, domain;

    stand_of(packer, pool, step, &stand);
    for (int packages = 1; packages >= 0; packages--) {
        domain_of(packer, &stand, packages, &domain, name, size);
        devil = devil_on(packer, pool, step, &domain);
        if (!devil)
            return NULL;
    }
    return devil;
}

static void judge_place(const struct packer *packer, const struct step *step, const char *why,
                        struct isolation *isolation)
{
    char name[sizeof(isolation->domain)];
    const struct step *devil = devil_beside(packer, NULL, step, name, sizeof(name));

    isolation->granted = !devil;
    if (!devil) {
        strcpy(isolation->domain, name);
        snprintf(isolation->reason, sizeof(isolation->reason),
                 "sensitive (%s); no %s devil is in %s", why,
                 step->class.id == STEP_DEVIL ? "other" : "known", name);
        return;
    }
    snprintf(isolation->reason, sizeof(isolation->reason), "sensitive (%s), but %s", why,
             step_movable(devil)
                 ? "the devils in the pool find too few cores outside of any domain for it"
                 : "a devil that berth does not place stands beside it");
}

size_t isolation_missing(const struct packer *packer, const struct pool *pool)
{
    char name[sizeof(((struct isolation *)NULL)->domain)];
    const struct step *step;
    size_t n = 0;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    n += step_movable(step) && isolation_wanted(step) &&
         devil_beside(packer, pool, step, name, sizeof(name));
    return n;
}

void isolation_of(const struct packer *packer, const struct step *step, struct isolation *isolation)
{
    bool refused = step->isolate_refused;
    char why[96];

    memset(isolation, 0, sizeof(*isolation));
    isolation->asked = step->request.options.isolate || refused;
    if (!isolation->asked)
        return;
    if (refused)
        snprintf(isolation->reason, sizeof(isolation->reason), "%s",
                 admit_refusal(&packer->world.conf, &step->request, &step->identity.is,
                               step->identity.isolate_waits, "isolate"));
    else if (step->ended_at || (step->state != STEP_PLACED && step->state != STEP_OBSERVED))
        snprintf(isolation->reason, sizeof(isolation->reason), "berth does not place it");
    else if (!is_sensitive(step, why, sizeof(why)))
        snprintf(isolation->reason, sizeof(isolation->reason), "not sensitive: %s", why);
    else if (step->state == STEP_OBSERVED)
        snprintf(isolation->reason, sizeof(isolation->reason), "sensitive (%s), but only observed",
                 why);
    else
        judge_place(packer, step, why, isolation);
}

void isolation_note(const struct packer *packer, const struct step *step, char *text, size_t size)
{
    struct isolation isolation;

    text[0] = '\0';
    isolation_of(packer, step, &isolation);
    if (isolation.granted)
        snprintf(text, size, "; isolated in %s", isolation.domain);
    else if (isolation.asked)
        snprintf(text, size, "; not isolated: %s", isolation.reason);
}
