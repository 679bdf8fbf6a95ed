/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cores - see cores.h */
#include "packer/size/cores.h"

#include <stdlib.h>
#include <string.h>

#include "packer/steps/stand.h"

/* ---- where cores stand ---- */

/* The NUMA node where what Slurm put on the core stands; topo->nodes where it has none. */
static size_t node_of(const struct packer *packer, size_t core)
{
    const struct topo *topo = packer->world.topo;
    size_t at = pool_has(packer->pool, core) ? packer->pool->stand[core] : core, i = 0;

    while (i < topo->nodes && !cpus_intersect(&topo->core[at].cpus, &topo->node[i].cpus))
        i++;
    return i;
}

void size_cores_union(const struct step *step, bool sized, struct cpus *cpus)
{
    cpus_zero(cpus);
    for (size_t i = 0; i < step->body.ntasks; i++)
        cpus_or(cpus, sized ? &step->body.task[i].sized : &step->body.task[i].home);
}

size_t size_cores_touched(const struct topo *topo, const struct cpus *cpus)
{
    struct cpus cores;

    topo_cores_of(topo, cpus, &cores);
    return cpus_count(&cores);
}

void size_cores_on_nodes(const struct packer *packer, const struct step *step, bool sized,
                         unsigned *count)
{
    const struct topo *topo = packer->world.topo;
    struct cpus cpus, cores;

    size_cores_union(step, sized, &cpus);
    topo_cores_of(topo, &cpus, &cores);
    for (size_t i = 0; i < topo->nodes; i++)
        count[i] = 0;
    cpus_foreach(core, &cores)
    {
        size_t node = node_of(packer, core);

        if (node < topo->nodes)
            count[node]++;
    }
}

/* ---- dealing them ---- */

struct dealing {
    const struct packer *packer;
    const struct step *step;
    unsigned *chosen; /* [NUMA nodes] still to be dealt */
    unsigned *others; /* [cores] steps that use it, too */
    struct cpus before, picked;
};

/* What speaks for a core: its node has more of them to deal, fewer other steps use it (those that
 * Slurm let onto the same ones, srun --overlap), and the step uses it already. */
struct claim {
    unsigned left;
    unsigned others;
    bool used;
};

static bool is_better(const struct claim *a, const struct claim *b)
{
    if (a->left != b->left)
        return a->left > b->left;
    return a->others != b->others ? a->others < b->others : a->used && !b->used;
}

/* Counts how many other steps use each of the step's cores. */
static void count_others(struct dealing *d)
{
    const struct step *other;
    struct cpus home, use, cores;

    size_cores_union(d->step, false, &home);
    TAILQ_FOREACH(other, &d->packer->steps->live, link)
    {
        if (other == d->step)
            continue;
        size_cores_union(other, true, &use);
        cpus_and(&use, &home);
        topo_cores_of(d->packer->world.topo, &use, &cores);
        cpus_foreach(core, &cores) d->others[core]++;
    }
}

/* The core of these CPUs to use next; topo->cores when all are used. */
static size_t next_core(const struct dealing *d, const struct cpus *home)
{
    const struct topo *topo = d->packer->world.topo;
    size_t best = topo->cores;
    struct claim most = {0};

    for (size_t core = 0; core < topo->cores; core++) {
        const struct cpus *cpus = &topo->core[core].cpus;
        struct claim claim;
        size_t node;

        if (!cpus_intersect(cpus, home) || cpus_intersect(cpus, &d->picked))
            continue;
        node = node_of(d->packer, core);
        claim = (struct claim){node < topo->nodes ? d->chosen[node] : 0, d->others[core],
                               cpus_intersect(cpus, &d->before)};
        if (best < topo->cores && !is_better(&claim, &most))
            continue;
        best = core;
        most = claim;
    }
    return best;
}

/* Let a task use one more of its cores; false: it uses all. */
static bool pick(struct dealing *d, const struct cpus *home)
{
    const struct topo *topo = d->packer->world.topo;
    size_t core = next_core(d, home), node;

    if (core == topo->cores)
        return false;
    node = node_of(d->packer, core);
    if (node < topo->nodes && d->chosen[node] > 0)
        d->chosen[node]--;
    cpus_or(&d->picked, &topo->core[core].cpus);
    return true;
}

/* Deal so many cores to the tasks in turn: they wait for each other. */
static void deal(struct dealing *d, unsigned total)
{
    bool more = true;

    while (more && total > 0) {
        more = false;
        for (size_t i = 0; i < d->step->body.ntasks && total > 0; i++)
            if (pick(d, &d->step->body.task[i].home)) {
                more = true;
                total--;
            }
    }
}

int size_cores_deal(const struct packer *packer, struct step *step, unsigned *chosen, unsigned most)
{
    struct dealing d = {.packer = packer, .step = step, .chosen = chosen};
    unsigned n = (unsigned)step->body.ntasks, total = 0, odd;

    d.others = calloc(packer->world.topo->cores + 1, sizeof(*d.others));
    if (!d.others)
        return -1;
    for (size_t i = 0; i < packer->world.topo->nodes; i++)
        total += chosen[i];
    odd = total % n;
    if (odd > 0 && total - odd + n <= most)
        total += n - odd;
    size_cores_union(step, true, &d.before);
    count_others(&d);
    deal(&d, total);
    for (size_t i = 0; i < n; i++) {
        step->body.task[i].sized = step->body.task[i].home;
        cpus_and(&step->body.task[i].sized, &d.picked);
    }
    free(d.others);
    return 0;
}

/* ---- what becomes of the others ---- */

void size_cores_freed(const struct packer *packer, const struct step *step, struct cpus *idle,
                      struct cpus *offered)
{
    const struct step *other;
    struct cpus left, free, theirs = {0}, use;

    size_cores_union(step, false, &left);
    size_cores_union(step, true, &use);
    cpus_andnot(&left, &use);
    free = left;
    TAILQ_FOREACH(other, &packer->steps->live, link)
    {
        if (other == step ||
            (step_is_shell(other) && other->request.id.job == step->request.id.job))
            continue;
        size_cores_union(other, true, &use);
        cpus_andnot(&free, &use);
        if (other->request.id.job == step->request.id.job)
            cpus_or(&theirs, &use);
    }
    cpus_and(&theirs, &left);
    stand_image(packer, packer->pool, &free, idle);
    stand_image(packer, packer->pool, &theirs, offered);
}

/* ---- one of each node ---- */

/* Picks a core of these CPUs that stands on the node (topo->nodes: on any) and was not picked yet.
 * Returns false where there is none. */
static bool pick_lone(const struct packer *packer, const struct cpus *home, size_t node,
                      struct cpus *only, unsigned *count)
{
    const struct topo *topo = packer->world.topo;

    for (size_t core = 0; core < topo->cores; core++) {
        size_t at = node_of(packer, core);

        if (!cpus_intersect(&topo->core[core].cpus, home) ||
            cpus_intersect(&topo->core[core].cpus, only) || at == topo->nodes ||
            (node < topo->nodes && at != node))
            continue;
        cpus_or(only, &topo->core[core].cpus);
        count[at]++;
        return true;
    }
    return false;
}

/* Picks for one task: of a node that has none yet, else of any one. */
static void pick_for_task(const struct packer *packer, const struct cpus *home, struct cpus *only,
                          unsigned *count)
{
    size_t nodes = packer->world.topo->nodes;

    for (size_t node = 0; node < nodes; node++)
        if (count[node] == 0 && pick_lone(packer, home, node, only, count))
            return;
    pick_lone(packer, home, nodes, only, count);
}

size_t size_cores_lone(const struct packer *packer, const struct step *step, struct cpus *only,
                       unsigned *count)
{
    size_t nodes = packer->world.topo->nodes, n = 0;
    struct cpus home;

    cpus_zero(only);
    memset(count, 0, nodes * sizeof(*count));
    for (size_t i = 0; i < step->body.ntasks; i++)
        pick_for_task(packer, &step->body.task[i].home, only, count);
    size_cores_union(step, false, &home);
    for (size_t node = 0; node < nodes; node++)
        if (count[node] == 0)
            pick_lone(packer, &home, node, only, count);
    for (size_t node = 0; node < nodes; node++)
        n += count[node];
    cpus_and(only, &home);
    return n;
}
