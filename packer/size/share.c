/* SPDX-License-Identifier: GPL-2.0-or-later */
/* share - see share.h
 *
 * A claim is what must stay together on its cores: steps of one job that Slurm let overlap, unless
 * they asked for `adapt`. Claims of different jobs that have cores in common, directly or by
 * others, are a party. A party's cores are dealt by a matching, which gives each claim one core if
 * that is possible at all, and the rest go one by one to who has least of what he needs (the method
 * of D'Hondt). */
#include "packer/size/share.h"

#include <stdlib.h>
#include <string.h>

#include "models/inside/adapt.h"
#include "packer/observe/window.h"
#include "packer/size/share_adapt.h"
#include "packer/steps/step_counts.h"

#define NOBODY ((size_t)-1)
#define BUSY 0.9   /* of its cores: it could use more */
#define LEAST 0.05 /* core, that anybody is taken to need */

struct claim {
    uint32_t job;
    struct cpus cores, part; /* sets of cores, not of CPUs */
    size_t same;             /* the one before it of its job; NOBODY: there is none */
    size_t party;            /* the first of it */
    size_t next;             /* the next of its party; NOBODY: it is the last */
    size_t got;
    bool shared; /* of the first: there are others */
    bool served; /* of the first: each task has CPUs of its own in its claim's part */
    bool apart;  /* its step asked for `adapt`: it is no one with others of its job that did */
    bool dealt;  /* ADAPT has said how many it gets: its need */
    double need; /* cores */
};

struct sharing {
    struct packer *packer;
    const struct pool *pool;
    size_t n, ncores;
    struct claim *claim; /* [n] */
    size_t slots, *slot; /* [slots] the newest claim of a job, or NOBODY: hashed by its number */
    size_t *of_step;     /* [live steps, in their order] claim, or NOBODY */
    size_t *owner;       /* [ncores] claim */
    bool *seen;          /* [ncores] by the matching */
};

/* ---- claims ---- */

static void cores_of(const struct topo *topo, const struct step *step, struct cpus *cores)
{
    cpus_zero(cores);
    for (size_t i = 0; i < step->body.ntasks; i++)
        cpus_foreach(cpu, &step->body.task[i].sized)
        {
            long core = topo_core_of_cpu(topo, cpu);

            if (core >= 0)
                cpus_add(cores, (size_t)core);
        }
}

/* Cores that the step needs: what it was seen to use, if it does not use all that it may. */
static double need_of(const struct topo *topo, const struct step *step)
{
    struct cpus cores, use = {0};
    double mean, error;

    cores_of(topo, step, &cores);
    for (size_t i = 0; i < step->body.ntasks; i++)
        cpus_or(&use, &step->body.task[i].use);
    if (!step_counts_rate(step, RATE_CPU, &mean, &error) || mean > BUSY * (double)cpus_count(&use))
        return (double)cpus_count(&cores);
    return mean > LEAST ? mean : LEAST;
}

/* Does the step claim cores? A batch script does not, while steps of its job run. */
static bool claims(const struct packer *packer, const struct step *step)
{
    return step_movable(step) &&
           !(step_is_shell(step) && registry_job_lives(&packer->steps, step->request.id.job, true));
}

/* Make b's cores and steps a's. */
static void merge_claims(struct sharing *s, size_t a, size_t b, size_t nsteps)
{
    cpus_or(&s->claim[a].cores, &s->claim[b].cores);
    cpus_zero(&s->claim[b].cores);
    s->claim[a].apart = false;
    for (size_t i = 0; i < nsteps; i++)
        if (s->of_step[i] == b)
            s->of_step[i] = a;
}

/* Where the newest claim of the job is kept. */
static size_t *newest_of(struct sharing *s, uint32_t job)
{
    size_t i = job & (s->slots - 1);

    while (s->slot[i] != NOBODY && s->claim[s->slot[i]].job != job)
        i = (i + 1) & (s->slots - 1);
    return &s->slot[i];
}

/* The newest claim and those of its job that it has cores in common with, and who these have,
 * become one. */
static void merge_newest(struct sharing *s, size_t nsteps)
{
    size_t newest = s->n - 1, mine = newest, other = newest;

    while (other != NOBODY) {
        size_t low = other < mine ? other : mine, high = other < mine ? mine : other;

        if (other == mine || (s->claim[other].apart && s->claim[mine].apart) ||
            !cpus_intersect(&s->claim[other].cores, &s->claim[mine].cores)) {
            other = s->claim[other].same;
            continue;
        }
        merge_claims(s, low, high, nsteps);
        mine = low;
        other = newest; /* from the start: it is larger now */
    }
}

/* Returns who has the step's cores: its job, or the step by itself. */
static size_t owner_of(const struct step *step)
{
    const size_t steps = (size_t)1 << 32; /* behind all jobs */

    return step->request.options.adapt ? steps + step->serial : 1 + (size_t)step->request.id.job;
}

/* Does any core belong to two of them? Seldom. */
static bool any_shared(struct sharing *s)
{
    const struct step *step;
    struct cpus cores;

    TAILQ_FOREACH(step, &s->packer->steps.live, link)
    {
        if (!claims(s->packer, step))
            continue;
        cores_of(s->packer->topo, step, &cores);
        cpus_foreach(core, &cores)
        {
            if (s->owner[core] && s->owner[core] != owner_of(step))
                return true;
            s->owner[core] = owner_of(step);
        }
    }
    return false;
}

static void collect(struct sharing *s)
{
    const struct topo *topo = s->packer->topo;
    const struct step *step;
    size_t i = 0;

    for (size_t slot = 0; slot < s->slots; slot++)
        s->slot[slot] = NOBODY;
    TAILQ_FOREACH(step, &s->packer->steps.live, link)
    {
        struct claim claim = {.job = step->request.id.job, .apart = step->request.options.adapt};

        s->of_step[i++] = NOBODY;
        if (!claims(s->packer, step))
            continue;
        cores_of(topo, step, &claim.cores);
        claim.same = *newest_of(s, claim.job);
        s->claim[s->n] = claim;
        *newest_of(s, claim.job) = s->n;
        s->of_step[i - 1] = s->n++;
        merge_newest(s, i);
    }
    for (size_t c = 0; c < s->n; c++)
        s->claim[c].party = c;
}

static size_t party_of(const struct sharing *s, size_t claim)
{
    while (s->claim[claim].party != claim)
        claim = s->claim[claim].party;
    return claim;
}

static void join(struct sharing *s, size_t a, size_t b)
{
    size_t first = a < b ? a : b;

    s->claim[a < b ? b : a].party = first;
    s->claim[first].shared = true;
}

/* Claims that have a core in common, directly or by others, are of one party. */
static void find_parties(struct sharing *s)
{
    for (size_t core = 0; core < s->ncores; core++)
        s->owner[core] = NOBODY;
    for (size_t c = 0; c < s->n; c++)
        cpus_foreach(core, &s->claim[c].cores)
        {
            if (s->owner[core] == NOBODY)
                s->owner[core] = c;
            else
                join(s, party_of(s, s->owner[core]), party_of(s, c));
        }
    for (size_t c = 0; c < s->n; c++) {
        s->claim[c].party = party_of(s, c);
        s->claim[c].next = NOBODY;
    }
    for (size_t c = s->n; c-- > 0;) {
        struct claim *first = &s->claim[s->claim[c].party];

        if (first == &s->claim[c])
            continue;
        s->claim[c].next = first->next;
        first->next = c;
    }
}

#define foreach_claim(c, s, party) for (size_t c = (party); c != NOBODY; c = (s)->claim[c].next)

/* ---- parts ---- */

/* Find a core for a claim, and for who has to give one up for it others (Kuhn); one that is free,
 * if there is. */
static bool augment(struct sharing *s, size_t claim)
{
    cpus_foreach(core, &s->claim[claim].cores) if (s->owner[core] == NOBODY)
    {
        s->owner[core] = claim;
        return true;
    }
    cpus_foreach(core, &s->claim[claim].cores)
    {
        if (s->seen[core])
            continue;
        s->seen[core] = true;
        if (augment(s, s->owner[core])) {
            s->owner[core] = claim;
            return true;
        }
    }
    return false;
}

/* Who gets a core that nobody has yet. */
static size_t neediest(const struct sharing *s, size_t party, size_t core)
{
    size_t best = NOBODY;
    double most = 0;

    foreach_claim(c, s, party)
    {
        double want = s->claim[c].need / (double)(s->claim[c].got + 1);

        if (!cpus_has(&s->claim[c].cores, core) || want <= most)
            continue;
        most = want;
        best = c;
    }
    return best;
}

/* One core for each claim of the party; false: they are too few, or not all in the pool. */
static bool deal_first(struct sharing *s, size_t party)
{
    foreach_claim(c, s, party)
    {
        cpus_foreach(core, &s->claim[c].cores) if (!pool_has(s->pool, core)) return false;
        memset(s->seen, 0, s->ncores * sizeof(*s->seen));
        if (!augment(s, c))
            return false;
    }
    return true;
}

static void deal_rest(struct sharing *s, size_t party)
{
    struct cpus cores = {0};

    foreach_claim(c, s, party) cpus_or(&cores, &s->claim[c].cores);
    cpus_foreach(core, &cores) if (s->owner[core] != NOBODY) s->claim[s->owner[core]].got++;
    cpus_foreach(core, &cores)
    {
        if (s->owner[core] == NOBODY)
            s->claim[s->owner[core] = neediest(s, party, core)].got++;
        cpus_add(&s->claim[s->owner[core]].part, core);
    }
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

    TAILQ_FOREACH(step, &s->packer->steps.live, link)
    {
        size_t claim = s->of_step[i++];
        struct cpus part;

        if (claim == NOBODY || !s->claim[s->claim[claim].party].served)
            continue;
        part_of(s->packer->topo, &s->claim[claim], &part);
        for (size_t t = 0; t < step->body.ntasks; t++)
            if (!cpus_intersect(&step->body.task[t].sized, &part))
                s->claim[s->claim[claim].party].served = false;
    }
}

/* ---- ADAPT ---- */

static bool is_dealt(const struct sharing *s, size_t party)
{
    return s->claim[party].party == party && s->claim[party].served;
}

/* Tells all steps of a party why ADAPT is not asked about them. */
static void tell_party(const struct sharing *s, size_t party, const char *why)
{
    struct step *step;
    size_t i = 0;

    TAILQ_FOREACH(step, &s->packer->steps.live, link)
    {
        size_t claim = s->of_step[i++];

        if (claim != NOBODY && s->claim[claim].party == party)
            share_adapt_not(step, why);
    }
}

/* Is it ADAPT's to say who of the party gets what? */
static bool is_adapts(const struct sharing *s, size_t party)
{
    bool own = true; /* steps of one job that asked for it */

    foreach_claim(c, s, party) own &= s->claim[c].apart && s->claim[c].job == s->claim[party].job;
    return own || s->packer->conf.share == CONF_SHARE_ADAPT;
}

/* The steps of a party, one a claim, in the order of their registration. */
struct party {
    size_t n;
    struct step *step[ADAPT_PROGRAMS_MAX];
    size_t claim[ADAPT_PROGRAMS_MAX];
    const char *why; /* why it is not to be asked about; NULL: it is */
};

static void list_party(const struct sharing *s, size_t party, struct party *out)
{
    struct step *step;
    size_t i = 0;

    *out = (struct party){.n = 0};
    TAILQ_FOREACH(step, &s->packer->steps.live, link)
    {
        size_t claim = s->of_step[i++];

        if (claim == NOBODY || s->claim[claim].party != party || out->why)
            continue;
        if (out->n == ADAPT_PROGRAMS_MAX)
            out->why = "they are too many for the model";
        else if (!cpus_equal(&s->claim[claim].cores, &s->claim[party].cores))
            out->why = "they have other cores, too, which they do not share";
        else
            for (size_t k = 0; k < out->n; k++)
                if (out->claim[k] == claim)
                    out->why = "a job has several steps on them";
        if (out->why)
            continue;
        out->step[out->n] = step;
        out->claim[out->n++] = claim;
    }
}

/* Asks how many cores each of the party gets. What it has no answer to goes by need. */
static void ask_adapt(struct sharing *s, size_t party)
{
    size_t cores = cpus_count(&s->claim[party].cores);
    unsigned get[ADAPT_PROGRAMS_MAX];
    struct party list;
    bool whole = true;

    list_party(s, party, &list);
    if (list.why)
        tell_party(s, party, list.why);
    if (list.why || !share_adapt_decide(s->packer, list.n, list.step, cores, get))
        return;
    for (size_t i = 0; i < list.n; i++)
        whole &= get[i] == cores;
    for (size_t i = 0; i < list.n; i++) {
        s->claim[list.claim[i]].dealt = true;
        s->claim[list.claim[i]].need = get[i];
    }
    s->claim[party].served &= !whole;
}

static void add_needs(struct sharing *s)
{
    const struct step *step;
    size_t i = 0;

    TAILQ_FOREACH(step, &s->packer->steps.live, link)
    {
        size_t claim = s->of_step[i++];

        if (claim != NOBODY && s->claim[s->claim[claim].party].served && !s->claim[claim].dealt)
            s->claim[claim].need += need_of(s->packer->topo, step);
    }
}

/* Deal each party's cores, if there are enough. */
static void deal_all(struct sharing *s)
{
    for (size_t core = 0; core < s->ncores; core++)
        s->owner[core] = NOBODY;
    for (size_t c = 0; c < s->n; c++)
        if (s->claim[c].party == c && s->claim[c].shared)
            s->claim[c].served = deal_first(s, c);
    share_adapt_begin(s->packer);
    for (size_t c = 0; c < s->n; c++)
        if (is_dealt(s, c) && is_adapts(s, c))
            ask_adapt(s, c);
    share_adapt_end(s->packer);
    add_needs(s);
    for (size_t c = 0; c < s->n; c++)
        if (is_dealt(s, c))
            deal_rest(s, c);
    check_served(s);
    for (size_t c = 0; c < s->n; c++)
        if (!s->claim[s->claim[c].party].served)
            cpus_zero(&s->claim[c].part);
}

/* Claims of others in the claim's party. */
static size_t count_others(const struct sharing *s, const struct claim *claim)
{
    size_t count = 0;

    foreach_claim(c, s, claim->party) count +=
        s->claim[c].job != claim->job || (claim->apart && &s->claim[c] != claim);
    return count;
}

/* ---- and what comes of it for the steps ---- */

static void take_part(struct sharing *s, struct step *step, const struct claim *claim)
{
    bool changed = false;
    struct cpus part = {0};

    if (claim)
        part_of(s->packer->topo, claim, &part);
    for (size_t i = 0; i < step->body.ntasks; i++) {
        struct enforce_task *task = &step->body.task[i];
        struct cpus use = task->sized;

        if (!cpus_empty(&step->size.loop.only)) { /* of its home, not of what sizing left it */
            use = task->home;
            cpus_and(&use, &step->size.loop.only);
        }
        if (!cpus_empty(&part))
            cpus_and(&use, &part);
        changed = changed || !cpus_equal(&use, &task->use);
        task->use = use;
    }
    step->share.changes += changed;
    step->share.others = claim ? count_others(s, claim) : 0;
    step->share.cores = claim ? cpus_count(&claim->part) : 0;
}

static bool alloc(struct sharing *s)
{
    size_t steps = s->packer->steps.nlive + 1, cores = s->ncores + 1; /* calloc(0) may be NULL */

    for (s->slots = 1; s->slots < 2 * steps;)
        s->slots *= 2;
    s->claim = malloc(steps * sizeof(*s->claim)); /* each is written when it is taken */
    s->slot = calloc(s->slots, sizeof(*s->slot));
    s->of_step = calloc(steps, sizeof(*s->of_step));
    s->owner = calloc(cores, sizeof(*s->owner));
    s->seen = calloc(cores, sizeof(*s->seen));
    return s->claim && s->slot && s->of_step && s->owner && s->seen;
}

void share_cores(struct packer *packer, const struct pool *pool)
{
    struct sharing s = {.packer = packer, .pool = pool, .ncores = packer->topo->cores};
    struct step *step;
    size_t i = 0;

    if (alloc(&s)) {
        bool shared = any_shared(&s);

        TAILQ_FOREACH(step, &packer->steps.live, link) share_adapt_not(step, NULL);
        if (shared) {
            collect(&s);
            find_parties(&s);
            deal_all(&s);
        }
        TAILQ_FOREACH(step, &packer->steps.live, link)
        {
            size_t claim = shared ? s.of_step[i++] : NOBODY;

            if (step_movable(step))
                take_part(&s, step, claim == NOBODY ? NULL : &s.claim[claim]);
        }
    }
    free(s.claim);
    free(s.slot);
    free(s.of_step);
    free(s.owner);
    free(s.seen);
}
