/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stand - see stand.h */
#include "packer/steps/stand.h"

#include <stdlib.h>

#include "packer/machine/topo.h"
#include "packer/steps/stranger_list.h"

/* ---- CPUs and cores ---- */

/* May the core be exchanged with others of its kind while a job holds `cpus`? All its threads must
 * be the job's. */
static bool core_whole(const struct topo *topo, size_t core, const struct cpus *cpus)
{
    return cpus_subset(&topo->core[core].cpus, cpus);
}

enum wire_left stand_unfit(const struct packer *packer, const struct enforce_step *body)
{
    for (size_t i = 0; i < body->ntasks; i++) {
        if (cpus_empty(&body->task[i].home))
            return WIRE_LEFT_NO_CPUS;
        cpus_foreach(cpu, &body->task[i].home)
        {
            long core = topo_core_of_cpu(packer->world.topo, cpu);

            if (core < 0)
                return WIRE_LEFT_TOPOLOGY;
            if (cpus_intersect(&packer->world.topo->core[core].cpus,
                               &packer->world.enforce->offline))
                return WIRE_LEFT_CORE_OFF;
            if (!core_whole(packer->world.topo, (size_t)core, &body->job_home))
                return WIRE_LEFT_CORE_SHARED;
        }
    }
    return WIRE_NOT_LEFT;
}

size_t stand_counterpart(const struct cpus *to, const struct cpus *from, size_t cpu)
{
    size_t image = cpus_next(to, 0);

    for (size_t at = cpus_next(from, 0); at < cpu && image < CPUS_MAX; at = cpus_next(from, at + 1))
        image = cpus_next(to, image + 1);
    return image;
}

void stand_image(const struct packer *packer, const struct pool *pool, const struct cpus *home,
                 struct cpus *cpus)
{
    const struct topo *topo = packer->world.topo;

    cpus_zero(cpus);
    cpus_foreach(cpu, home)
    {
        long core = topo_core_of_cpu(topo, cpu);

        if (core >= 0 && pool_has(pool, (size_t)core))
            cpus_add(cpus, stand_counterpart(&topo->core[pool->stand[core]].cpus,
                                             &topo->core[core].cpus, cpu));
        else
            cpus_add(cpus, cpu);
    }
}

/* ---- members of the pool ---- */

bool stand_movable(const struct scene *scene, const struct step *step)
{
    return step_movable(step) || (scene->as_if && step->state == STEP_OBSERVED);
}

bool stand_decides(const struct scene *scene, const struct step *step)
{
    return scene->as_if ? step->state == STEP_OBSERVED : step_movable(step);
}

/* Adds the other CPUs of the packages that `cpus` touch. */
static void widen(const struct topo *topo, struct cpus *cpus)
{
    struct cpus seen = {0};

    for (size_t i = 0; i < topo->cores; i++)
        if (cpus_intersect(&topo->core[i].cpus, cpus) && topo->core[i].package < CPUS_MAX)
            cpus_add(&seen, topo->core[i].package);
    for (size_t i = 0; i < topo->cores; i++)
        if (topo->core[i].package < CPUS_MAX && cpus_has(&seen, topo->core[i].package))
            cpus_or(cpus, &topo->core[i].cpus);
}

/* Jobs that no step in berth's care is of. */
struct others {
    const struct scene *scene;
    struct slurm_cgroups slurm;
    struct step_index index;  /* of the live steps */
    const struct cpus *where; /* only there do they matter */
    bool packages;            /* one CPU stands for its whole package */
    struct cpus *cpus;
};

/* A job that only left its folder behind takes nothing: it is looked at where it would. */
static void add_job(const struct slurm_job *job, const struct cpus *cpus, void *arg)
{
    struct others *others = arg;
    const struct step_index *index = &others->index;
    struct cpus more = *cpus;

    cpus_and(&more, others->where);
    cpus_andnot(&more, others->cpus);
    if (cpus_empty(&more))
        return;
    for (size_t i = step_index_of_job(index, job->job);
         i < index->n && index->step[i]->request.id.job == job->job; i++)
        if (stand_movable(others->scene, index->step[i]))
            return;
    if (!slurm_job_lives(others->slurm, job))
        return;
    cpus_or(others->cpus, cpus);
    if (others->packages)
        widen(others->scene->packer->world.topo, others->cpus);
}

/* Is it a batch script that stays only since nobody knows what it starts? */
static bool is_unread_script(const struct step *step)
{
    return step_is_shell(step) && step->state == STEP_LEFT &&
           step->request.pin == WIRE_PIN_STARTS && !step->request.bound_by_hand;
}

/* Adds the CPUs of a live step that does not count as movable. Such a script holds nothing of what
 * the steps of its job have, for which it waits: it stays where it is, whoever comes there. */
static void add_held(const struct scene *scene, const struct step *step, struct cpus *cpus)
{
    struct cpus held = step->body.step_home;
    const struct step *other;

    if (is_unread_script(step))
        TAILQ_FOREACH(other, &scene->packer->steps->live, link)
        {
            if (other->request.id.job == step->request.id.job && stand_movable(scene, other))
                cpus_andnot(&held, &other->body.step_home);
        }
    cpus_or(cpus, &held);
}

/* Collects the CPUs of live steps that do not count as movable, of steps that are not registered,
 * and of jobs that have no step here that does; all that lie in `where`, and maybe more. With
 * `packages`, whole packages. 0, or -1 for want of memory. */
static int find_others(const struct scene *scene, const struct cpus *where, bool packages,
                       struct cpus *cpus)
{
    const struct packer *packer = scene->packer;
    struct others others = {.scene = scene,
                            .slurm = enforce_slurm(packer->world.enforce),
                            .where = where,
                            .packages = packages,
                            .cpus = cpus};
    const struct step *step;

    cpus_zero(cpus);
    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (!stand_movable(scene, step))
        add_held(scene, step, cpus);
    strangers_add_steps(packer, cpus);
    if (packages)
        widen(packer->world.topo, cpus);
    step = TAILQ_FIRST(&packer->steps->live); /* all of them are on this node */
    if (!packer->world.enforce->way->jobs || !step)
        return 0;
    if (step_index_make(packer->steps, &others.index) < 0)
        return -1;
    packer->world.enforce->way->jobs(others.slurm, step->request.node, add_job, &others);
    step_index_free(&others.index);
    return 0;
}

void stand_awake(const struct scene *scene, bool *awake)
{
    const struct topo *topo = scene->packer->world.topo;
    struct cpus others;

    if (find_others(scene, &topo->cpus, true, &others) < 0)
        others = topo->cpus; /* none of them is known to sleep */
    for (size_t i = 0; i < topo->cores; i++)
        if (cpus_intersect(&topo->core[i].cpus, &others))
            awake[topo->core[i].package] = true;
}

/* Sets wanted[core] to the value for the cores that `cpus` touch; to true for whole ones only. */
static void mark(const struct topo *topo, const struct cpus *cpus, bool *wanted, bool value)
{
    cpus_foreach(cpu, cpus)
    {
        long core = topo_core_of_cpu(topo, cpu);

        if (core >= 0 && (!value || core_whole(topo, (size_t)core, cpus)))
            wanted[core] = value;
    }
}

bool stand_idle(const struct scene *scene)
{
    const struct packer *packer = scene->packer;
    const struct step *step;
    bool any = false;

    if (packer->world.conf.idle == CONF_IDLE_OFF ||
        packer->state->idle.unasked >= STRANGERS_UNASKED_MAX)
        return false;
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        any = any || stand_movable(scene, step);
        if (packer->world.enforce->way->touches && !step->body.leaf[0])
            return false;
    }
    return any;
}

bool stand_idle_proved(const struct packer *packer)
{
    return packer->world.conf.idle != CONF_IDLE_AUTO ||
           (packer->world.enforce->way->touches &&
            packer->state->idle.asked >= STRANGERS_ASKED_MIN);
}

/* Adds the CPUs that may be idle, of all nodes or of those of the homes, as berth.conf has it:
 * whether they are is another question. None where those who start would not ask for them. */
static void add_idle(const struct scene *scene, const struct cpus *homes, struct cpus *cpus)
{
    const struct packer *packer = scene->packer;
    const struct topo *topo = packer->world.topo;
    bool asked = packer->state->idle.marked || scene->as_if || !packer->world.enforce->way->touches;

    if (!asked || !stand_idle(scene) || !stand_idle_proved(packer))
        return;
    if (packer->world.conf.idle != CONF_IDLE_NEAR)
        cpus_or(cpus, &topo->cpus);
    for (size_t i = 0; i < topo->nodes; i++)
        if (cpus_intersect(homes, &topo->node[i].cpus))
            cpus_or(cpus, &topo->node[i].cpus);
    cpus_andnot(cpus, &packer->state->idle.never);
    cpus_andnot(cpus, &packer->state->idle.used);
}

/* Nobody else of the pool is put on the cores of a stranger, even where Slurm lets jobs share them.
 * Idle cores are nobody's: they join as the cores of a job without a step would, and leave as soon
 * as anybody has them. */
static int find_members(const struct scene *scene, bool *wanted)
{
    const struct packer *packer = scene->packer;
    struct cpus others, homes = {0}, idle = {0}, nobody;
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (stand_movable(scene, step)) {
        cpus_or(&homes, &step->body.job_home);
        mark(packer->world.topo, &step->body.job_home, wanted, true);
    }
    add_idle(scene, &homes, &idle);
    mark(packer->world.topo, &idle, wanted, true);
    nobody = idle;
    cpus_or(&idle, &homes);
    if (find_others(scene, &idle, false, &others) < 0)
        return -1;
    cpus_or(&others, &packer->world.enforce->offline);
    mark(packer->world.topo, &others, wanted, false);
    cpus_andnot(&nobody, &homes);
    cpus_andnot(&nobody, &others);
    if (!scene->as_if)
        packer->state->idle.nobody = nobody;
    return 0;
}

int stand_sync(const struct scene *scene)
{
    struct pool *pool = scene->pool;
    bool *wanted = calloc(pool->cores ? pool->cores : 1, sizeof(*wanted));

    if (!wanted || find_members(scene, wanted) < 0) {
        free(wanted);
        return -1;
    }
    for (size_t core = 0; core < pool->cores; core++)
        if (wanted[core])
            pool_join(pool, core);
        else
            pool_leave(pool, core);
    free(wanted);
    return 0;
}
