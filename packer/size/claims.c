/* SPDX-License-Identifier: GPL-2.0-or-later */
/* claims - see claims.h */
#include "packer/size/claims.h"

#include <stdlib.h>

#include "packer/size/share_wait.h"

void claims_cores_of(const struct topo *topo, const struct step *step, struct cpus *cores)
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

static bool is_grown(const struct claims *s, const struct step *step)
{
    return !s->grown || share_wait_s(s->packer, step) == 0;
}

/* Does a step of the job run for which its batch script only waits? */
static bool job_runs(const struct claims *s, uint32_t job)
{
    const struct step *step;

    TAILQ_FOREACH(step, &s->packer->steps->live, link)
    if (step->request.id.job == job && !step_is_shell(step) && is_grown(s, step))
        return true;
    return false;
}

/* Does the step claim cores? A batch script does not, while steps of its job run. */
static bool claims(const struct claims *s, const struct step *step)
{
    return step_movable(step) && is_grown(s, step) &&
           !(step_is_shell(step) && job_runs(s, step->request.id.job));
}

/* Make b's cores and steps a's. */
static void merge_claims(struct claims *s, size_t a, size_t b, size_t nsteps)
{
    cpus_or(&s->claim[a].cores, &s->claim[b].cores);
    cpus_zero(&s->claim[b].cores);
    s->claim[a].apart = false;
    for (size_t i = 0; i < nsteps; i++)
        if (s->of_step[i] == b)
            s->of_step[i] = a;
}

/* Where the newest claim of the job is kept. */
static size_t *newest_of(struct claims *s, uint32_t job)
{
    size_t i = job & (s->slots - 1);

    while (s->slot[i] != CLAIM_NONE && s->claim[s->slot[i]].job != job)
        i = (i + 1) & (s->slots - 1);
    return &s->slot[i];
}

/* The newest claim and those of its job that it has cores in common with, and who these have,
 * become one. */
static void merge_newest(struct claims *s, size_t nsteps)
{
    size_t newest = s->n - 1, mine = newest, other = newest;

    while (other != CLAIM_NONE) {
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
static bool any_shared(struct claims *s)
{
    const struct step *step;
    struct cpus cores;

    TAILQ_FOREACH(step, &s->packer->steps->live, link)
    {
        if (!claims(s, step))
            continue;
        claims_cores_of(s->packer->world.topo, step, &cores);
        cpus_foreach(core, &cores)
        {
            if (s->owner[core] && s->owner[core] != owner_of(step))
                return true;
            s->owner[core] = owner_of(step);
        }
    }
    return false;
}

static void collect(struct claims *s)
{
    const struct topo *topo = s->packer->world.topo;
    const struct step *step;
    size_t i = 0;

    for (size_t slot = 0; slot < s->slots; slot++)
        s->slot[slot] = CLAIM_NONE;
    TAILQ_FOREACH(step, &s->packer->steps->live, link)
    {
        struct claim claim = {.job = step->request.id.job, .apart = step->request.options.adapt};

        s->of_step[i++] = CLAIM_NONE;
        if (!claims(s, step))
            continue;
        claims_cores_of(topo, step, &claim.cores);
        claim.same = *newest_of(s, claim.job);
        s->claim[s->n] = claim;
        *newest_of(s, claim.job) = s->n;
        s->of_step[i - 1] = s->n++;
        merge_newest(s, i);
    }
    for (size_t c = 0; c < s->n; c++)
        s->claim[c].party = c;
}

static size_t party_of(const struct claims *s, size_t claim)
{
    while (s->claim[claim].party != claim)
        claim = s->claim[claim].party;
    return claim;
}

static void join(struct claims *s, size_t a, size_t b)
{
    size_t first = a < b ? a : b;

    s->claim[a < b ? b : a].party = first;
    s->claim[first].shared = true;
}

/* Claims that have a core in common, directly or by others, are of one party. */
static void find_parties(struct claims *s)
{
    for (size_t core = 0; core < s->ncores; core++)
        s->owner[core] = CLAIM_NONE;
    for (size_t c = 0; c < s->n; c++)
        cpus_foreach(core, &s->claim[c].cores)
        {
            if (s->owner[core] == CLAIM_NONE)
                s->owner[core] = c;
            else
                join(s, party_of(s, s->owner[core]), party_of(s, c));
        }
    for (size_t c = 0; c < s->n; c++) {
        s->claim[c].party = party_of(s, c);
        s->claim[c].next = CLAIM_NONE;
    }
    for (size_t c = s->n; c-- > 0;) {
        struct claim *first = &s->claim[s->claim[c].party];

        if (first == &s->claim[c])
            continue;
        s->claim[c].next = first->next;
        first->next = c;
    }
}

static int alloc(struct claims *s)
{
    size_t steps = s->packer->steps->nlive + 1; /* calloc(0) may be NULL */

    for (s->slots = 1; s->slots < 2 * steps;)
        s->slots *= 2;
    s->claim = malloc(steps * sizeof(*s->claim)); /* each is written when it is taken */
    s->slot = calloc(s->slots, sizeof(*s->slot));
    s->of_step = calloc(steps, sizeof(*s->of_step));
    s->owner = calloc(s->ncores + 1, sizeof(*s->owner));
    return s->claim && s->slot && s->of_step && s->owner ? 0 : -1;
}

int claims_read(const struct packer *packer, bool grown, struct claims *claims)
{
    *claims =
        (struct claims){.packer = packer, .grown = grown, .ncores = packer->world.topo->cores};
    if (alloc(claims) < 0)
        return -1;
    if (any_shared(claims)) {
        collect(claims);
        find_parties(claims);
    }
    return 0;
}

void claims_free(struct claims *claims)
{
    free(claims->claim);
    free(claims->slot);
    free(claims->of_step);
    free(claims->owner);
}
