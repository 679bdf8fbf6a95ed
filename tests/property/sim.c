/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sim - see sim.h */
#include "tests/property/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/enact/offline.h"
#include "packer/steps/journal.h"
#include "tests/unit/common/attributes.h"
#include "tests/unit/common/folder.h"

/* ---- numbers (splitmix64) ---- */

static uint64_t next_random(struct sim *sim)
{
    uint64_t x = sim->random += 0x9e3779b97f4a7c15u;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

size_t sim_random(struct sim *sim, size_t n)
{
    return (size_t)(next_random(sim) % n);
}

bool sim_chance(struct sim *sim, unsigned per_cent)
{
    return sim_random(sim, 100) < per_cent;
}

/* ---- threads that there are ---- */

static pid_t thread[SIM_STEPS];

void sim_threads_start(void)
{
    for (size_t i = 0; i < SIM_STEPS; i++) {
        thread[i] = fork();
        assert_true(thread[i] >= 0);
        if (thread[i] > 0)
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
}

void sim_threads_end(void)
{
    for (size_t i = 0; i < SIM_STEPS; i++) {
        kill(thread[i], SIGKILL);
        waitpid(thread[i], NULL, 0);
    }
}

static void show_threads(const struct sim *sim)
{
    char path[64];

    for (size_t i = 0; i < SIM_STEPS; i++) {
        snprintf(path, sizeof(path), "proc/%d/task/%d", (int)thread[i], (int)thread[i]);
        folder_make(sim->f->dir, path);
    }
}

/* A new process has the usual class. */
static void begin_thread(struct sim *sim, struct sim_step *step)
{
    struct attributes usual;

    step->thread = thread[step - sim->step];
    assert_int_equal(attributes_get(step->thread, &usual), 0);
    usual.policy = SCHED_OTHER;
    usual.runtime_ns = 0;
    assert_int_equal(attributes_set(step->thread, &usual), 0);
}

/* ---- the kernel: berthd's way ---- */

static struct sim *sim_of(struct enforce *enforce)
{
    return fixture_of(enforce)->owner;
}

static void save_journal(struct sim *sim)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/journal", sim->f->dir);
    file = fopen(path, "r");
    assert_non_null(file);
    free(sim->journal);
    sim->journal = malloc(journal_size(&sim->f->packer) + 1);
    assert_non_null(sim->journal);
    sim->journal_file_size = fread(sim->journal, 1, journal_size(&sim->f->packer), file);
    fclose(file);
}

/* Does the call happen? */
static bool enter(struct sim *sim)
{
    if (!sim->dead && sim->calls_left == 0) {
        save_journal(sim);
        sim->dead = true;
        sim->killed++;
    }
    sim->calls_left -= sim->calls_left > 0;
    return !sim->dead;
}

struct sim_step *sim_find(struct sim *sim, struct wire_step_id id)
{
    for (size_t i = 0; i < SIM_STEPS; i++)
        if (sim->step[i].alive && sim->step[i].id.job == id.job && sim->step[i].id.step == id.step)
            return &sim->step[i];
    return NULL;
}

/* The processes of a step that berthd knows; NULL: others run under its name. */
static struct sim_step *find_same(struct sim *sim, const struct enforce_step *step)
{
    struct sim_step *found = sim_find(sim, step->id);
    uint64_t known = step->ntasks ? step->task[0].started : 0;

    return found && (!known || known == found->born) ? found : NULL;
}

static int sim_locate(struct enforce *enforce, const char *node, struct enforce_step *step,
                      struct berth_error *err)
{
    struct sim_step *found = find_same(sim_of(enforce), step);

    (void)node;
    if (!found || found->ntasks != step->ntasks)
        return berth_error_set(err, "the step is gone");
    step->job_home = found->job;
    step->step_home = found->home;
    cpus_zero(&step->mems_home);
    cpus_add(&step->mems_home, 0);
    snprintf(step->leaf, sizeof(step->leaf), "slurm/job_%u/step_%u", step->id.job, step->id.step);
    for (size_t i = 0; i < step->ntasks; i++) {
        step->task[i].home = found->task[i].home;
        step->task[i].started = found->born;
    }
    return 0;
}

/* A failure, and a death, can come when some of the tasks have moved. */
static int sim_apply(struct enforce *enforce, const struct enforce_step *step,
                     struct berth_error *err)
{
    struct sim *sim = sim_of(enforce);
    struct sim_step *found = find_same(sim, step);
    bool was_dead = sim->dead, happens = enter(sim), fails = sim_chance(sim, sim->fail_apply);
    size_t moves = step->ntasks;

    if (was_dead)
        return 0;
    if (!found)
        return berth_error_set(err, "the step is gone");
    if (!happens || fails)
        moves = sim_random(sim, step->ntasks + 1);
    for (size_t i = 0; i < moves; i++)
        found->task[i].stand = step->task[i].cpus;
    for (size_t i = 0; i < moves; i++)
        found->own |= !cpus_subset(&step->task[i].cpus, &step->job_home);
    found->touched |= moves > 0;
    sim->applied++;
    if (!happens || !fails)
        return 0;
    sim->failed++;
    return berth_error_set(err, "the simulation fails");
}

static void go_home(struct sim_step *step)
{
    for (size_t i = 0; i < step->ntasks; i++)
        step->task[i].stand = step->task[i].home;
    step->own = step->stuck = false;
}

static int sim_restore(struct enforce *enforce, const struct enforce_step *step,
                       struct berth_error *err)
{
    struct sim *sim = sim_of(enforce);
    struct sim_step *found = find_same(sim, step);

    if (!enter(sim) || !found)
        return 0;
    if (sim_chance(sim, sim->fail_restore)) {
        found->stuck = true;
        sim->failed++;
        return berth_error_set(err, "the simulation fails");
    }
    go_home(found);
    return 0;
}

static int sim_clean(struct enforce *enforce, const struct wire_step_id *known, size_t n,
                     struct berth_error *err)
{
    struct sim *sim = sim_of(enforce);

    (void)err;
    if (!enter(sim))
        return 0;
    for (size_t i = 0; i < SIM_STEPS; i++) {
        bool is_known = false;

        for (size_t k = 0; k < n; k++)
            is_known |=
                known[k].job == sim->step[i].id.job && known[k].step == sim->step[i].id.step;
        if (sim->step[i].own && !is_known)
            go_home(&sim->step[i]);
    }
    return 0;
}

static int sim_pids(struct enforce *enforce, const struct enforce_step *step,
                    struct enforce_pids *list)
{
    struct sim_step *found = find_same(sim_of(enforce), step);

    for (size_t i = 0; found && i < step->ntasks; i++)
        if (enforce_pids_add(list, step->task[i].pid) < 0)
            return -1;
    return found && found->thread ? enforce_pids_add(list, found->thread) : 0;
}

/* The node that uses idle cores: a copy of its struct enforce is asked. */
static const struct sim *with_idle;

/* All jobs of the node: in each of them runs what nobody can look at. */
static void sim_jobs(struct slurm_cgroups slurm, const char *node, slurm_visit_job *visit,
                     void *arg)
{
    const struct sim *sim = with_idle;

    (void)slurm, (void)node;
    for (size_t i = 0; i < SIM_JOBS; i++) {
        struct slurm_job job = {.job = sim->job[i].id, .unified = true, .dir = "/dev/null"};

        if (sim->job[i].live)
            visit(&job, &sim->job[i].cpus, arg);
    }
}

void sim_use_idle(struct sim *sim)
{
    sim->f->conf.idle = sim->f->packer.world.conf.idle = CONF_IDLE_ON;
    sim->f->conf.move = sim->f->packer.world.conf.move = CONF_MOVE_KNOWN;
    sim->f->way.jobs = sim_jobs;
    with_idle = sim;
}

struct sim *sim_open(const char *topology, bool split)
{
    struct sim *sim = calloc(1, sizeof(*sim));

    assert_non_null(sim);
    sim->f = fixture_open(topology);
    if (split)
        fixture_split(sim->f);
    fixture_gpu(sim->f, "0000:3b:00.0", "0", "0-3");
    fixture_gpu(sim->f, "0000:86:00.0", "1", "4-7");
    fixture_restart(sim->f);
    sim->f->owner = sim;
    sim->f->conf.idle = sim->f->packer.world.conf.idle = CONF_IDLE_OFF; /* sim_use_idle() */
    sim->f->way = enforce_dryrun;
    sim->f->way.touches = true;
    sim->f->way.name = "sim";
    sim->f->way.locate = sim_locate;
    sim->f->way.apply = sim_apply;
    sim->f->way.restore = sim_restore;
    sim->f->way.clean = sim_clean;
    sim->f->way.pids = sim_pids;
    sim->f->packer.world.enforce->way = &sim->f->way;
    sim->calls_left = -1;
    sim_all_cpus(sim, &sim->online);
    show_threads(sim);
    return sim;
}

void sim_close(struct sim *sim)
{
    fixture_close(sim->f);
    free(sim->journal);
    free(sim);
}

/* ---- Slurm ---- */

void sim_all_cpus(const struct sim *sim, struct cpus *cpus)
{
    cpus_zero(cpus);
    for (size_t i = 0; i < sim->f->packer.world.topo->cores; i++)
        cpus_or(cpus, &sim->f->packer.world.topo->core[i].cpus);
}

/* Up to `cores` cores of `from`, whole or, rarely, a single CPU of each. */
static void take(struct sim *sim, const struct cpus *from, size_t cores, struct cpus *taken)
{
    const struct topo *topo = sim->f->packer.world.topo;
    size_t first = sim_random(sim, topo->cores);
    bool single = sim_chance(sim, 8);

    cpus_zero(taken);
    for (size_t i = 0; i < topo->cores && cores > 0; i++) {
        const struct cpus *core = &topo->core[(first + i) % topo->cores].cpus;

        if (!cpus_subset(core, from))
            continue;
        if (single)
            cpus_add(taken, cpus_next(core, 0));
        else
            cpus_or(taken, core);
        cores--;
    }
}

struct sim_job *sim_job_start(struct sim *sim, bool shared)
{
    struct sim_job *job = NULL;
    struct cpus free_cpus;

    sim_all_cpus(sim, &free_cpus);
    for (size_t i = 0; i < SIM_JOBS; i++) {
        if (!sim->job[i].live)
            job = &sim->job[i];
        else if (!shared)
            cpus_andnot(&free_cpus, &sim->job[i].cpus);
    }
    if (!job)
        return NULL;
    *job = (struct sim_job){.id = ++sim->next_job};
    take(sim, &free_cpus, 1 + sim_random(sim, sim->f->packer.world.topo->cores / 3), &job->cpus);
    job->live = !cpus_empty(&job->cpus);
    return job->live ? job : NULL;
}

/* Deal the step's CPUs to its tasks in equal runs, or all to each. */
static void deal(struct sim *sim, struct sim_step *step)
{
    size_t each, task = 0;

    step->ntasks = 1 + sim_random(sim, SIM_TASKS);
    if (step->ntasks > cpus_count(&step->home))
        step->ntasks = 1;
    each = sim_chance(sim, 20) ? 0 : cpus_count(&step->home) / step->ntasks;
    for (size_t i = 0; i < step->ntasks; i++)
        step->task[i].home = each ? (struct cpus){0} : step->home;
    if (each)
        cpus_foreach(cpu, &step->home)
        {
            while (cpus_count(&step->task[task].home) == each && task + 1 < step->ntasks)
                task++;
            cpus_add(&step->task[task].home, cpu);
        }
    go_home(step);
}

struct sim_step *sim_step_start(struct sim *sim, struct sim_job *job, uint32_t id, bool overlap)
{
    struct cpus left = job->cpus;
    struct sim_step *step = NULL;

    for (size_t i = 0; i < SIM_STEPS; i++)
        if (!sim->step[i].alive)
            step = &sim->step[i];
        else if (sim->step[i].id.job == job->id && sim->step[i].id.step < WIRE_STEP_INTERACTIVE)
            cpus_andnot(&left, &sim->step[i].home);
    if (!step)
        return NULL;
    *step = (struct sim_step){
        .id = {job->id, id}, .job = job->cpus, .home = job->cpus, .born = ++sim->births};
    if (!overlap)
        take(sim, &left, 1 + sim_random(sim, 4), &step->home);
    step->alive = !cpus_empty(&step->home);
    if (!step->alive)
        return NULL;
    deal(sim, step);
    begin_thread(sim, step);
    return step;
}

void sim_step_end(struct sim_step *step)
{
    step->alive = false;
}

struct sim_job *sim_pick_job(struct sim *sim)
{
    size_t first = sim_random(sim, SIM_JOBS);

    for (size_t i = 0; i < SIM_JOBS; i++)
        if (sim->job[(first + i) % SIM_JOBS].live)
            return &sim->job[(first + i) % SIM_JOBS];
    return NULL;
}

struct sim_step *sim_pick_step(struct sim *sim)
{
    size_t first = sim_random(sim, SIM_STEPS);

    for (size_t i = 0; i < SIM_STEPS; i++)
        if (sim->step[(first + i) % SIM_STEPS].alive)
            return &sim->step[(first + i) % SIM_STEPS];
    return NULL;
}

/* ---- the daemon ---- */

void sim_die_after(struct sim *sim, long calls)
{
    sim->calls_left = calls;
}

void sim_resume(struct sim *sim, bool stale)
{
    struct berth_error err = {""};
    char path[128];
    FILE *file;

    if (sim->dead) {
        snprintf(path, sizeof(path), "%s/journal", sim->f->dir);
        file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fwrite(sim->journal, 1, sim->journal_file_size, file),
                         sim->journal_file_size);
        assert_int_equal(fclose(file), 0);
    }
    sim->dead = false;
    sim->calls_left = -1;
    fixture_restart(sim->f);
    offline_set(&sim->f->packer, &sim->online);
    if (pipeline_resume(&sim->f->packer, &err) < 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; stale && i < SIM_STEPS; i++)
        sim->step[i].told &= registry_find(sim->f->packer.steps, sim->step[i].id) != NULL;
}
