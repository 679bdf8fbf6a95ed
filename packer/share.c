/* SPDX-License-Identifier: GPL-2.0-or-later */
/* share - see share.h
 *
 * A claim is what must stay together on its cores: steps of one job that Slurm let overlap. Claims
 * of different jobs that have cores in common, directly or by others, are a party. A party's cores
 * are dealt by a matching, which gives each claim one core if that is possible at all, and the rest
 * go one by one to who has least of what he needs (the method of D'Hondt). */
#include "share.h"

#include <stdlib.h>
#include <string.h>

#include "sample.h"

#define NOBODY ((size_t)-1)
#define BUSY 0.9   /* of its cores: it could use more */
#define LEAST 0.05 /* core, that anybody is taken to need */

struct claim {
    uint32_t job;
    struct cpus cores, part; /* sets of cores, not of CPUs */
    size_t party, got;
    bool shared; /* of the one that gives its party the number: there are others in it */
    double need; /* cores */
};

struct sharing {
    struct packer *packer;
    const struct pool *pool;
    size_t n, ncores;
    struct claim *claim; /* [n] */
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
    if (!sample_rate(step, RATE_CPU, &mean, &error) || mean > BUSY * (double)cpus_count(&use))
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
    s->claim[a].need += s->claim[b].need;
    cpus_zero(&s->claim[b].cores);
    for (size_t i = 0; i < nsteps; i++)
        if (s->of_step[i] == b)
            s->of_step[i] = a;
}

/* The newest claim and those of its job that it has cores in common with, and who these have,
 * become one. */
static void merge_newest(struct sharing *s, size_t nsteps)
{
    size_t mine = s->n - 1;

    for (size_t other = 0; other < s->n; other++) {
        size_t low = other < mine ? other : mine, high = other < mine ? mine : other;

        if (other == mine || s->claim[other].job != s->claim[mine].job ||
            !cpus_intersect(&s->claim[other].cores, &s->claim[mine].cores))
            continue;
        merge_claims(s, low, high, nsteps);
        mine = low;
        other = NOBODY; /* from the start: it is larger now */
    }
}

static void collect(struct sharing *s)
{
    const struct topo *topo = s->packer->topo;
    const struct step *step;
    size_t i = 0;

    TAILQ_FOREACH(step, &s->packer->steps.live, link)
    {
        struct claim claim = {.job = step->request.id.job};

        s->of_step[i++] = NOBODY;
        if (!claims(s->packer, step))
            continue;
        cores_of(topo, step, &claim.cores);
        claim.need = need_of(topo, step);
        s->claim[s->n] = claim;
        s->of_step[i - 1] = s->n++;
        merge_newest(s, i);
    }
    for (size_t c = 0; c < s->n; c++)
        s->claim[c].party = c;
}

/* Claims that have a core in common get one party's number. */
static void find_parties(struct sharing *s)
{
    for (size_t a = 0; a < s->n; a++)
        for (size_t b = a + 1; b < s->n; b++) {
            size_t from = s->claim[b].party, to = s->claim[a].party;

            if (!cpus_intersect(&s->claim[a].cores, &s->claim[b].cores))
                continue;
            s->claim[to].shared = true;
            for (size_t c = 0; from != to && c < s->n; c++)
                if (s->claim[c].party == from)
                    s->claim[c].party = to;
        }
}

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

    for (size_t c = 0; c < s->n; c++) {
        double want = s->claim[c].need / (double)(s->claim[c].got + 1);

        if (s->claim[c].party != party || !cpus_has(&s->claim[c].cores, core) || want <= most)
            continue;
        most = want;
        best = c;
    }
    return best;
}

/* One core for each claim of the party; false: they are too few, or not all in the pool. */
static bool deal_first(struct sharing *s, size_t party)
{
    for (size_t c = 0; c < s->n; c++) {
        if (s->claim[c].party != party || cpus_empty(&s->claim[c].cores))
            continue;
        cpus_foreach(core, &s->claim[c].cores) if (!pool_has(s->pool, core)) return false;
        memset(s->seen, 0, s->ncores * sizeof(*s->seen));
        if (!augment(s, c))
            return false;
    }
    return true;
}

static void deal_rest(struct sharing *s, size_t party)
{
    for (size_t core = 0; core < s->ncores; core++)
        if (s->owner[core] != NOBODY)
            s->claim[s->owner[core]].got++;
    for (size_t core = 0; core < s->ncores; core++) {
        size_t owner = s->owner[core];

        if (owner == NOBODY) {
            owner = neediest(s, party, core);
            if (owner == NOBODY)
                continue;
            s->claim[owner].got++;
        }
        cpus_add(&s->claim[owner].part, core);
    }
}

/* The CPUs of a part. */
static void part_of(const struct topo *topo, const struct claim *claim, struct cpus *cpus)
{
    cpus_zero(cpus);
    cpus_foreach(core, &claim->part) cpus_or(cpus, &topo->core[core].cpus);
}

/* Has each task of the party CPUs of its own in its claim's part? Others it does not get: it would
 * meet tasks there that Slurm kept apart from it. */
static bool serves_all(const struct sharing *s, size_t party)
{
    const struct step *step;
    size_t i = 0;

    TAILQ_FOREACH(step, &s->packer->steps.live, link)
    {
        size_t claim = s->of_step[i++];
        struct cpus part;

        if (claim == NOBODY || s->claim[claim].party != party)
            continue;
        part_of(s->packer->topo, &s->claim[claim], &part);
        for (size_t t = 0; t < step->body.ntasks; t++)
            if (!cpus_intersect(&step->body.task[t].sized, &part))
                return false;
    }
    return true;
}

static void deal(struct sharing *s, size_t party)
{
    for (size_t core = 0; core < s->ncores; core++)
        s->owner[core] = NOBODY;
    if (!deal_first(s, party))
        return;
    deal_rest(s, party);
    if (serves_all(s, party))
        return;
    for (size_t c = 0; c < s->n; c++)
        if (s->claim[c].party == party)
            cpus_zero(&s->claim[c].part);
}

/* Claims of other jobs in the claim's party. */
static size_t count_others(const struct sharing *s, const struct claim *claim)
{
    size_t count = 0;

    for (size_t c = 0; c < s->n; c++)
        count += s->claim[c].party == claim->party && s->claim[c].job != claim->job &&
                 !cpus_empty(&s->claim[c].cores);
    return count;
}

/* ---- and what comes of it for the steps ---- */

static void tell(struct sharing *s, struct step *step, const struct claim *claim)
{
    bool other_use = false;
    struct cpus part = {0};

    if (claim)
        part_of(s->packer->topo, claim, &part);
    for (size_t i = 0; i < step->body.ntasks; i++) {
        struct enforce_task *task = &step->body.task[i];
        struct cpus use = task->sized;

        if (!cpus_empty(&part))
            cpus_and(&use, &part);
        other_use = other_use || !cpus_equal(&use, &task->use);
        task->use = use;
    }
    step->share.due = step->share.due || other_use;
    step->share.others = claim ? count_others(s, claim) : 0;
    step->share.cores = claim ? cpus_count(&claim->part) : 0;
}

static bool alloc(struct sharing *s)
{
    size_t steps = s->packer->steps.nlive + 1, cores = s->ncores + 1; /* calloc(0) may be NULL */

    s->claim = calloc(steps, sizeof(*s->claim));
    s->of_step = calloc(steps, sizeof(*s->of_step));
    s->owner = calloc(cores, sizeof(*s->owner));
    s->seen = calloc(cores, sizeof(*s->seen));
    return s->claim && s->of_step && s->owner && s->seen;
}

void share_cores(struct packer *packer, const struct pool *pool)
{
    struct sharing s = {.packer = packer, .pool = pool, .ncores = packer->topo->cores};
    struct step *step;
    size_t i = 0;

    if (alloc(&s)) {
        collect(&s);
        find_parties(&s);
        for (size_t c = 0; c < s.n; c++)
            if (s.claim[c].party == c && s.claim[c].shared)
                deal(&s, c);
        TAILQ_FOREACH(step, &packer->steps.live, link)
        {
            size_t claim = s.of_step[i++];

            if (step_movable(step))
                tell(&s, step, claim == NOBODY ? NULL : &s.claim[claim]);
        }
    }
    free(s.claim);
    free(s.of_step);
    free(s.owner);
    free(s.seen);
}
