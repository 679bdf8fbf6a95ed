/* SPDX-License-Identifier: GPL-2.0-or-later */
/* share - see share.h
 *
 * The cores of a party (claims.h) are dealt by a matching, which gives each claim one core if that
 * is possible at all, and the rest go one by one to who has least of what he needs (the method of
 * D'Hondt). */
#include "packer/size/share.h"

#include <stdlib.h>
#include <string.h>

#include "models/inside/adapt.h"
#include "packer/observe/window.h"
#include "packer/size/claims.h"
#include "packer/size/share_adapt.h"
#include "packer/size/share_wait.h"
#include "packer/steps/step_counts.h"

#define BUSY 0.9   /* of its cores: it could use more */
#define LEAST 0.05 /* core, that anybody is taken to need */

struct sharing {
    struct claims all;
    const struct pool *pool;
    bool *seen; /* [cores] by the matching */
};

/* ---- parts ---- */

/* Find a core for a claim, and for who has to give one up for it others (Kuhn); one that is free,
 * if there is. */
static bool augment(struct sharing *s, size_t claim)
{
    cpus_foreach(core, &s->all.claim[claim].cores) if (s->all.owner[core] == CLAIM_NONE)
    {
        s->all.owner[core] = claim;
        return true;
    }
    cpus_foreach(core, &s->all.claim[claim].cores)
    {
        if (s->seen[core])
            continue;
        s->seen[core] = true;
        if (augment(s, s->all.owner[core])) {
            s->all.owner[core] = claim;
            return true;
        }
    }
    return false;
}

/* Who gets a core that nobody has yet. */
static size_t neediest(const struct sharing *s, size_t party, size_t core)
{
    size_t best = CLAIM_NONE;
    double most = 0;

    foreach_claim(c, &s->all, party)
    {
        double want = s->all.claim[c].need / (double)(s->all.claim[c].got + 1);

        if (!cpus_has(&s->all.claim[c].cores, core) || want <= most)
            continue;
        most = want;
        best = c;
    }
    return best;
}

/* One core for each claim of the party; false: they are too few, or not all in the pool. */
static bool deal_first(struct sharing *s, size_t party)
{
    foreach_claim(c, &s->all, party)
    {
        cpus_foreach(core, &s->all.claim[c].cores) if (!pool_has(s->pool, core)) return false;
        memset(s->seen, 0, s->all.ncores * sizeof(*s->seen));
        if (!augment(s, c))
            return false;
    }
    return true;
}

static void deal_rest(struct sharing *s, size_t party)
{
    struct cpus cores = {0};

    foreach_claim(c, &s->all, party) cpus_or(&cores, &s->all.claim[c].cores);
    cpus_foreach(core, &cores) if (s->all.owner[core] != CLAIM_NONE)
        s->all.claim[s->all.owner[core]]
            .got++;
    cpus_foreach(core, &cores)
    {
        if (s->all.owner[core] == CLAIM_NONE)
            s->all.claim[s->all.owner[core] = neediest(s, party, core)].got++;
        cpus_add(&s->all.claim[s->all.owner[core]].part, core);
    }
}

/* Cores that the step needs: what it was seen to use, if it does not use all that it may. */
static double need_of(const struct topo *topo, const struct step *step)
{
    struct cpus cores, use = {0};
    double mean, error;

    claims_cores_of(topo, step, &cores);
    for (size_t i = 0; i < step->body.ntasks; i++)
        cpus_or(&use, &step->body.task[i].use);
    if (!step_counts_rate(step, RATE_CPU, &mean, &error) || mean > BUSY * (double)cpus_count(&use))
        return (double)cpus_count(&cores);
    return mean > LEAST ? mean : LEAST;
}

/* The CPUs of a part. */
static void part_of(const struct topo *topo, const struct claim *claim, struct cpus *cpus)
{
    cpus_zero(cpus);
    cpus_foreach(core, &claim->part) cpus_or(cpus, &topo->core[core].cpus);
}

/* Has each task of each party CPUs of its own in its claim's part? Others it does not get: it would
 * meet tasks there that Slurm kept apart from it. */
static void check_served(struct sharing *s)
{
    const struct step *step;
    size_t i = 0;

    TAILQ_FOREACH(step, &s->all.packer->steps->live, link)
    {
        size_t claim = s->all.of_step[i++];
        struct cpus part;

        if (claim == CLAIM_NONE || !s->all.claim[s->all.claim[claim].party].served)
            continue;
        part_of(s->all.packer->world.topo, &s->all.claim[claim], &part);
        for (size_t t = 0; t < step->body.ntasks; t++)
            if (!cpus_intersect(&step->body.task[t].sized, &part))
                s->all.claim[s->all.claim[claim].party].served = false;
    }
}

/* ---- ADAPT ---- */

static bool is_served(const struct sharing *s, size_t party)
{
    return s->all.claim[party].party == party && s->all.claim[party].served;
}

/* Tells all steps of a party why ADAPT is not asked about them. */
static void tell_party(const struct sharing *s, size_t party, const char *why)
{
    struct step *step;
    size_t i = 0;

    TAILQ_FOREACH(step, &s->all.packer->steps->live, link)
    {
        size_t claim = s->all.of_step[i++];

        if (claim != CLAIM_NONE && s->all.claim[claim].party == party)
            share_adapt_not(step, why);
    }
}

/* Is it ADAPT's to say who of the party gets what? */
static bool is_adapts(const struct sharing *s, size_t party)
{
    bool own = true; /* steps of one job that asked for it */

    foreach_claim(c, &s->all, party) own &=
        s->all.claim[c].apart && s->all.claim[c].job == s->all.claim[party].job;
    return own || s->all.packer->world.conf.share == CONF_SHARE_ADAPT;
}

/* The steps of a party, one a claim, in the order of their registration. */
struct party {
    size_t n;
    struct step *step[ADAPT_PROGRAMS_MAX];
    size_t claim[ADAPT_PROGRAMS_MAX];
    const char *why; /* why it is not to be asked about; NULL: it is */
};

/* Returns why ADAPT cannot be asked about a step of the claim beside those that the list has; NULL:
 * it can. */
static const char *why_not(const struct sharing *s, const struct party *list, size_t claim)
{
    const struct claim *its = &s->all.claim[claim];

    if (list->n == ADAPT_PROGRAMS_MAX)
        return "they are too many for the model";
    if (!cpus_equal(&its->cores, &s->all.claim[its->party].cores))
        return "they have other cores, too, which they do not share";
    for (size_t k = 0; k < list->n; k++)
        if (list->claim[k] == claim)
            return "a job has several steps on them";
    return NULL;
}

static void list_party(const struct sharing *s, size_t party, struct party *list)
{
    struct step *step;
    size_t i = 0;

    *list = (struct party){.n = 0};
    TAILQ_FOREACH(step, &s->all.packer->steps->live, link)
    {
        size_t claim = s->all.of_step[i++];

        if (claim == CLAIM_NONE || s->all.claim[claim].party != party)
            continue;
        list->why = why_not(s, list, claim);
        if (list->why)
            return;
        list->step[list->n] = step;
        list->claim[list->n++] = claim;
    }
}

/* Asks how many cores each of the party gets. What it has no answer to goes by need. */
static void ask_adapt(struct sharing *s, size_t party)
{
    size_t cores = cpus_count(&s->all.claim[party].cores);
    unsigned get[ADAPT_PROGRAMS_MAX];
    struct party list;
    bool whole = true;

    list_party(s, party, &list);
    if (list.why)
        tell_party(s, party, list.why);
    if (list.why || !share_adapt_decide(s->all.packer, list.n, list.step, cores, get))
        return;
    for (size_t i = 0; i < list.n; i++)
        whole &= get[i] == cores;
    for (size_t i = 0; i < list.n; i++) {
        s->all.claim[list.claim[i]].dealt = true;
        s->all.claim[list.claim[i]].need = get[i];
    }
    s->all.claim[party].served &= !whole;
}

static void add_needs(struct sharing *s)
{
    const struct step *step;
    size_t i = 0;

    TAILQ_FOREACH(step, &s->all.packer->steps->live, link)
    {
        size_t claim = s->all.of_step[i++];

        if (claim != CLAIM_NONE && s->all.claim[s->all.claim[claim].party].served &&
            !s->all.claim[claim].dealt)
            s->all.claim[claim].need += need_of(s->all.packer->world.topo, step);
    }
}

/* Deal each party's cores, if there are enough. */
static void deal_all(struct sharing *s)
{
    for (size_t core = 0; core < s->all.ncores; core++)
        s->all.owner[core] = CLAIM_NONE;
    for (size_t c = 0; c < s->all.n; c++)
        if (s->all.claim[c].party == c && s->all.claim[c].shared)
            s->all.claim[c].served = deal_first(s, c);
    share_adapt_begin(s->all.packer);
    for (size_t c = 0; c < s->all.n; c++)
        if (is_served(s, c) && is_adapts(s, c))
            ask_adapt(s, c);
    share_adapt_end(s->all.packer);
    add_needs(s);
    for (size_t c = 0; c < s->all.n; c++)
        if (is_served(s, c))
            deal_rest(s, c);
    check_served(s);
    for (size_t c = 0; c < s->all.n; c++)
        if (!s->all.claim[s->all.claim[c].party].served)
            cpus_zero(&s->all.claim[c].part);
}

/* Claims of others in the claim's party. */
static size_t count_others(const struct sharing *s, const struct claim *claim)
{
    size_t count = 0;

    foreach_claim(c, &s->all, claim->party) count +=
        s->all.claim[c].job != claim->job || (claim->apart && &s->all.claim[c] != claim);
    return count;
}

/* ---- and what comes of it for the steps ---- */

/* Has each task use what sizing left it, of that its part (empty: all). Returns whether a task uses
 * others than before. */
static bool use_part(struct step *step, const struct cpus *part)
{
    bool changed = false, all = cpus_empty(part), loops = !cpus_empty(&step->size.loop.only);

    for (size_t i = 0; i < step->body.ntasks; i++) {
        struct enforce_task *task = &step->body.task[i];
        struct cpus use = task->sized;

        if (loops) { /* of its home, not of what sizing left it */
            use = task->home;
            cpus_and(&use, &step->size.loop.only);
        }
        if (!all)
            cpus_and(&use, part);
        changed = changed || !cpus_equal(&use, &task->use);
        task->use = use;
    }
    return changed;
}

static void take_part(struct sharing *s, struct step *step, const struct claim *claim)
{
    struct cpus part = {0};

    if (claim)
        part_of(s->all.packer->world.topo, claim, &part);
    step->share.changes += use_part(step, &part);
    step->share.cores = claim ? cpus_count(&claim->part) : 0;
}

void share_begin(struct step *step)
{
    const struct cpus all = {0};

    step->share.changes += use_part(step, &all);
}

static const struct claim *claim_of(const struct sharing *s, size_t i)
{
    size_t claim = s->all.n > 0 ? s->all.of_step[i] : CLAIM_NONE;

    return claim == CLAIM_NONE ? NULL : &s->all.claim[claim];
}

/* Says beside how many others each step is. Returns whether one waits for its part. */
static bool note_others(const struct sharing *s)
{
    bool any = false;
    struct step *step;
    size_t i = 0;

    TAILQ_FOREACH(step, &s->all.packer->steps->live, link)
    {
        const struct claim *claim = claim_of(s, i++);

        step->share.others = claim ? count_others(s, claim) : 0;
        step->share.waits = step->share.others > 0 && share_wait_s(s->all.packer, step) > 0;
        any |= step->share.waits;
    }
    return any;
}

/* Reads the claims of those whose cores are to be divided, and sees to it that those who wait are
 * looked at again. 0, or -1: out of memory. */
static int read_claims(const struct packer *packer, struct sharing *s)
{
    if (claims_read(packer, false, &s->all) < 0)
        return -1;
    if (!note_others(s))
        return 0;
    packer_wake(packer, share_due(packer));
    claims_free(&s->all);
    return claims_read(packer, true, &s->all);
}

void share_cores(const struct packer *packer, const struct pool *pool)
{
    struct sharing s = {.pool = pool, .seen = calloc(packer->world.topo->cores + 1, sizeof(bool))};
    struct step *step;
    size_t i = 0;

    if (read_claims(packer, &s) == 0 && s.seen) {
        TAILQ_FOREACH(step, &packer->steps->live, link) share_adapt_not(step, NULL);
        if (s.all.n > 0)
            deal_all(&s);
        TAILQ_FOREACH(step, &packer->steps->live, link)
        {
            const struct claim *claim = claim_of(&s, i++);

            if (step_may_move(step))
                take_part(&s, step, claim);
        }
    }
    claims_free(&s.all);
    free(s.seen);
}
