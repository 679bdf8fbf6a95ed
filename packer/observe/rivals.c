/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rivals - see rivals.h */
#include "packer/observe/rivals.h"

#include <math.h>

#include "packer/enforce/enforce.h"
#include "packer/steps/step_counts.h"
#include "packer/steps/stranger_list.h"

#define AT_WORK 0.05 /* cores in use: who uses less takes nobody's CPU */

/* Are they where the step is, and at work? A shell that waits is not. */
static bool is_there(const struct step *other, const struct cpus *cpus)
{
    struct cpus stands;

    if (step_is_shell(other) || (other->counts && other->counts->window.cpu < AT_WORK))
        return false;
    enforce_union(&other->body, ENFORCE_PLACE, &stands);
    return cpus_intersect(&stands, cpus);
}

static bool has_strangers(const struct packer *packer, const struct cpus *cpus)
{
    const struct stranger *stranger;

    for (size_t i = 0; (stranger = strangers_at(packer, i)); i++)
        if (stranger->counts && cpus_intersect(&stranger->cpus, cpus))
            return true;
    return false;
}

/* Returns who has had CPUs of the step. */
static enum step_rival rival_of(const struct packer *packer, const struct step *step,
                                const struct cpus *cpus)
{
    const struct step *other;
    bool jobs = step->share.others > 0 || has_strangers(packer, cpus);

    TAILQ_FOREACH(other, &packer->steps->live, link)
    {
        if (other == step || !is_there(other, cpus))
            continue;
        if (other->request.id.job == step->request.id.job)
            return RIVAL_OWN_JOB;
        jobs = true;
    }
    return jobs ? RIVAL_JOBS : RIVAL_OUTSIDE;
}

/* Finds the other hardware threads of its cores. Returns its cores. */
static size_t find_siblings(const struct topo *topo, const struct cpus *cpus, struct cpus *siblings)
{
    struct cpus cores;

    topo_cores_of(topo, cpus, &cores);
    cpus_zero(siblings);
    cpus_foreach(core, &cores) cpus_or(siblings, &topo->core[core].cpus);
    cpus_andnot(siblings, cpus);
    return cpus_count(&cores);
}

void rivals_read(const struct packer *packer, struct step *step, const struct cpus *cpus,
                 const struct cpu_busy *busy, bool same)
{
    const struct last_window *window = &step->counts->window;
    struct step_rivals *rivals = &step->counts->rivals;
    double here_s = cpu_busy_sum(busy, cpus), beside_s, taken_s;
    struct cpus siblings;
    size_t cores = find_siblings(packer->world.topo, cpus, &siblings);

    beside_s = cpu_busy_sum(busy, &siblings);
    taken_s = here_s - rivals->here_s - window->cpu * window->seconds;
    if (same && !isnan(taken_s)) {
        rivals->room_s += window->seconds * (double)cpus_count(cpus);
        rivals->cores_s += window->seconds * (double)cores;
        rivals->siblings_s += fmax(0, beside_s - rivals->beside_s);
        if (taken_s > 0)
            rivals->taken_s[rival_of(packer, step, cpus)] += taken_s;
    }
    rivals->here_s = here_s;
    rivals->beside_s = beside_s;
}
