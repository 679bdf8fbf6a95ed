/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sim_check - what must hold on the simulated node after every event, judged by its own books. */
#include "tests/property/sim.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/enact/release.h"
#include "packer/size/share_wait.h"
#include "packer/steps/journal.h"
#include "packer/steps/journal_file.h"
#include "packer/steps/registers.h"

static bool say(char *why, const struct sim_step *step, const char *what, const struct cpus *cpus)
{
    char text[CPUS_TEXT_MAX] = "";

    if (cpus)
        cpus_format(cpus, text, sizeof(text));
    snprintf(why, SIM_WHY, "step %u.%u: %s %.200s", step->id.job, step->id.step, what, text);
    return false;
}

static const struct step *known(const struct sim *sim, const struct sim_step *step)
{
    return registry_find((struct registry *)sim->f->packer.steps, step->id);
}

/* Is it berthd's to answer for? Not where it was never told, nor while it cannot bring it home. */
static bool answers_for(const struct sim_step *step)
{
    return step->alive && step->told && !step->stuck;
}

/* The cores of these CPUs, as CPUs. */
static void cores_of(const struct sim *sim, const struct cpus *cpus, struct cpus *cores)
{
    cpus_zero(cores);
    cpus_foreach(cpu, cpus) cpus_or(
        cores,
        &sim->f->packer.world.topo->core[topo_core_of_cpu(sim->f->packer.world.topo, cpu)].cpus);
}

/* What Slurm has given to living jobs with a step that berthd may move, as far as it knows. */
static void pool_of(const struct sim *sim, struct cpus *pool)
{
    const struct step *step;

    cpus_zero(pool);
    if (sim->f->packer.world.conf.idle != CONF_IDLE_OFF) { /* others' cores are `apart` */
        sim_all_cpus(sim, pool);
        return;
    }
    TAILQ_FOREACH(step, &sim->f->packer.steps->live, link)
    for (size_t i = 0; step_movable(step) && i < SIM_JOBS; i++)
        if (sim->job[i].live && sim->job[i].id == step->request.id.job)
            cpus_or(pool, &sim->job[i].cpus);
}

/* One step by itself: inside the pool or its own, never more than it had, never touched without
 * having asked, and where berthd says it is. */
static bool step_holds(const struct sim *sim, const struct sim_step *s, const struct cpus *pool,
                       char *why)
{
    const struct step *step = known(sim, s);
    struct cpus may = *pool;

    cpus_or(&may, &s->home);
    if (!step)
        return say(why, s, "was forgotten", NULL);
    if (step->state == STEP_OBSERVED && s->touched)
        return say(why, s, "observed, and moved", NULL);
    for (size_t i = 0; i < s->ntasks; i++) {
        const struct sim_task *task = &s->task[i];

        if (cpus_empty(&task->stand) || cpus_count(&task->stand) > cpus_count(&task->home))
            return say(why, s, "more or less than Slurm gave:", &task->stand);
        if (!cpus_subset(&task->stand, &may))
            return say(why, s, "outside the pool:", &task->stand);
        if (!cpus_equal(&task->stand, &step->body.task[i].cpus))
            return say(why, s, "is not where berthd believes, but on", &task->stand);
        if (step_movable(step) &&
            cpus_intersect(&task->stand, &sim->f->packer.world.enforce->offline))
            return say(why, s, "is on CPUs that are off:", &task->stand);
        if (!step_movable(step) && !cpus_equal(&task->stand, &task->home))
            return say(why, s, "is not berth's and not at home, but on", &task->stand);
    }
    return true;
}

/* No thread has a slice of which berthd does not know. (One that it has lost may still be in the
 * books, where the journal could not be written.) */
static bool class_holds(const struct sim *sim, const struct sim_step *s, char *why)
{
    if (sched_getscheduler(s->thread) != SCHED_BATCH || known(sim, s)->inside.sliced)
        return true;
    return say(why, s, "has a slice that berthd forgot", NULL);
}

/* Has it only a part of cores on which Slurm put other jobs, too (share.h)? */
static bool has_part(const struct sim *sim, const struct sim_step *step)
{
    const struct step *its = known(sim, step);

    return its && its->share.cores > 0;
}

/* Has it all that Slurm gave it, or all that was asked for by name, while it is too young for a
 * part? */
static bool whole_at_first(const struct sim *sim, const struct sim_step *s, char *why)
{
    const struct step *step = known(sim, s);

    if (!step_movable(step) || share_wait_s(&sim->f->packer, step) == 0)
        return true;
    for (size_t i = 0; i < s->ntasks; i++)
        if (cpus_count(&s->task[i].stand) != cpus_count(&step->body.task[i].sized))
            return say(why, s, "was narrowed before its first window is over, to",
                       &s->task[i].stand);
    return true;
}

/* Whom Slurm kept apart stays apart, by CPUs and by cores: tasks of two steps, but steps as a whole
 * where they overlap and have to make do with a part of their cores. */
static bool apart(const struct sim *sim, const struct sim_step *a, const struct sim_step *b,
                  char *why)
{
    char text[64];

    if (cpus_intersect(&a->home, &b->home) && (has_part(sim, a) || has_part(sim, b)))
        return true;
    snprintf(text, sizeof(text), "kept apart from %u.%u, and both are on", b->id.job, b->id.step);
    for (size_t i = 0; i < a->ntasks; i++)
        for (size_t j = 0; j < b->ntasks; j++) {
            const struct sim_task *x = &a->task[i], *y = &b->task[j];
            struct cpus home_x, home_y, stand_x, stand_y;

            if (!cpus_intersect(&x->home, &y->home) && cpus_intersect(&x->stand, &y->stand))
                return say(why, a, text, &x->stand);
            cores_of(sim, &x->home, &home_x);
            cores_of(sim, &y->home, &home_y);
            cores_of(sim, &x->stand, &stand_x);
            cores_of(sim, &y->stand, &stand_y);
            if (!cpus_intersect(&home_x, &home_y) && cpus_intersect(&stand_x, &stand_y))
                return say(why, a, text, &stand_x);
        }
    return true;
}

/* Everybody's homes and places, for who has to find out why. */
void sim_print(const struct sim *sim)
{
    const struct step *step;

    TAILQ_FOREACH(step, &sim->f->packer.steps->live, link)
    for (size_t i = 0; i < step->body.ntasks; i++) {
        char home[CPUS_TEXT_MAX], use[CPUS_TEXT_MAX], cpus[CPUS_TEXT_MAX];

        cpus_format(&step->body.task[i].home, home, sizeof(home));
        cpus_format(&step->body.task[i].use, use, sizeof(use));
        cpus_format(&step->body.task[i].cpus, cpus, sizeof(cpus));
        print_message("       %u.%u task %zu, %s: at home on %s, uses %s, is to be on %s\n",
                      step->request.id.job, step->request.id.step, i, step_state_name[step->state],
                      home, use, cpus);
    }
    for (size_t core = 0; core < sim->f->packer.pool->cores; core++)
        if (pool_has(sim->f->packer.state->pool, core))
            print_message("       core %zu stands on %zu\n", core,
                          sim->f->packer.pool->stand[core]);
}

bool sim_holds(struct sim *sim, char *why)
{
    struct cpus pool;

    pool_of(sim, &pool);
    for (size_t i = 0; i < SIM_STEPS; i++) {
        const struct sim_step *a = &sim->step[i];

        if (!answers_for(a))
            continue;
        if (!step_holds(sim, a, &pool, why) || !class_holds(sim, a, why) ||
            !whole_at_first(sim, a, why))
            return false;
        for (size_t j = 0; j < i; j++)
            if (answers_for(&sim->step[j]) && !apart(sim, a, &sim->step[j], why))
                return false;
    }
    return true;
}

/* Does its cgroup stay, for it began elsewhere and may bind threads to where that was? */
static bool keeps_own(const struct sim *sim, const struct sim_step *step)
{
    const struct step *its = step->alive && step->keeps ? known(sim, step) : NULL;

    return its && !cpus_empty(&its->body.begun);
}

bool sim_all_home(struct sim *sim, char *why)
{
    for (size_t i = 0; i < SIM_STEPS; i++) {
        const struct sim_step *step = &sim->step[i];

        if (step->own && !keeps_own(sim, step))
            return say(why, step, "has a cgroup of berth's after the end", NULL);
        if (step->alive && sched_getscheduler(step->thread) != SCHED_OTHER)
            return say(why, step, "has a slice after the end", NULL);
        for (size_t t = 0; step->alive && t < step->ntasks; t++)
            if (!cpus_equal(&step->task[t].stand, &step->task[t].home))
                return say(why, step, "was left on", &step->task[t].stand);
    }
    return true;
}

/* ---- the journal ---- */

/* What differs; NULL: nothing. */
static const char *difference(const struct step *a, const struct step *b)
{
    if (!b)
        return "is missing";
    if (a->state != b->state || a->released != b->released || a->enacted.away != b->enacted.away)
        return "is in another state";
    if (a->inside.sliced != b->inside.sliced || a->inside.shuffled != b->inside.shuffled ||
        !cpus_equal(&a->inside.given_ms, &b->inside.given_ms))
        return "has threads that were given something else";
    if (strcmp(a->enacted.reason, b->enacted.reason) != 0)
        return "has another reason";
    if (!cpus_equal(&a->body.job_home, &b->body.job_home) ||
        !cpus_equal(&a->body.step_home, &b->body.step_home))
        return "has another home";
    if (a->body.ntasks != b->body.ntasks)
        return "has other tasks";
    for (size_t i = 0; i < a->body.ntasks; i++)
        if (!cpus_equal(&a->body.task[i].home, &b->body.task[i].home))
            return "has a task with another home";
        else if (!cpus_equal(&a->body.task[i].sized, &b->body.task[i].sized))
            return "has a task that was sized otherwise";
    return NULL;
}

static bool compare(const struct packer *now, struct packer *read, char *why)
{
    const struct step *step;

    if (now->steps->released != read->steps->released || now->steps->nlive != read->steps->nlive) {
        snprintf(why, SIM_WHY, "the journal has %zu steps%s, berthd has %zu%s", read->steps->nlive,
                 read->steps->released ? " and a release" : "", now->steps->nlive,
                 now->steps->released ? " and a release" : "");
        return false;
    }
    TAILQ_FOREACH(step, &now->steps->live, link)
    if (difference(step, registry_find(read->steps, step->request.id))) {
        snprintf(why, SIM_WHY, "step %u.%u (%s) %s in the journal", step->request.id.job,
                 step->request.id.step, step_state_name[step->state],
                 difference(step, registry_find(read->steps, step->request.id)));
        return false;
    }
    for (size_t core = 0; core < now->pool->cores; core++)
        if (now->pool->stand[core] != read->pool->stand[core]) {
            snprintf(why, SIM_WHY, "the journal has core %zu on %zd, berthd on %zd", core,
                     (ssize_t)read->pool->stand[core], (ssize_t)now->pool->stand[core]);
            return false;
        }
    return true;
}

/* Copies the journal, which stays as it is, to where it can be opened a second time. */
static bool copy_journal(const char *dir, char path[static 160])
{
    char from[160], byte[4096];
    FILE *in, *out;
    size_t n;

    snprintf(from, sizeof(from), "%s/journal", dir);
    snprintf(path, 160, "%s/journal.read", dir);
    in = fopen(from, "r");
    out = fopen(path, "w");
    while (in && out && (n = fread(byte, 1, sizeof(byte), in)) > 0)
        fwrite(byte, 1, n, out);
    return in && out && fclose(in) == 0 && fclose(out) == 0;
}

/* Reads it into books of its own: those of `read`. */
static bool read_journal(const struct sim *sim, struct packer *read, char *why)
{
    const struct packer *own = &sim->f->packer;
    struct berth_error err = {"it cannot be copied"};
    char path[160];

    if (pool_init(read->state->pool, own->pool->cores) == 0 && copy_journal(sim->f->dir, path) &&
        journal_open(read, path, &err) == 0 && journal_load(read, &err) == 0)
        return true;
    snprintf(why, SIM_WHY, "the journal cannot be read: %.400s", err.text);
    return false;
}

bool sim_journal_tells(struct sim *sim, char *why)
{
    struct berth_error err = {""};
    struct packer read;
    struct known_jobs jobs;
    bool same = false;

    if (packer_make(&read, &err) < 0)
        return false;
    free(read.world.enforce);
    read.world = sim->f->packer.world;
    registry_init(read.steps, 0);
    known_jobs_init(&jobs);
    read.state->jobs = &jobs;
    if (read_journal(sim, &read, why)) {
        release_leave(&read);
        same = compare(&sim->f->packer, &read, why);
    }
    journal_close(&read);
    known_jobs_free(&jobs);
    registry_free(read.steps);
    registers_free(read.state->registers);
    pool_free(read.state->pool);
    read.world.enforce = NULL;
    packer_free(&read);
    return same;
}
