/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_sim - see day_sim.h */
#include "tests/bench/day_sim.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/day_best.h"
#include "tests/bench/day_many.h"
#include "tests/bench/day_memory.h"
#include "tests/bench/day_random.h"
#include "tests/bench/day_threads.h"

#define LENGTH_SIGMA 1.0
#define MISS_NS 100.0 /* what a miss costs that the neighbours cause; see advance_counts */

/* ---- the jobs ---- */

/* From 0 on, with mean 1. */
static double draw_length(uint64_t *seed)
{
    return exp(LENGTH_SIGMA * day_random_normal(seed) - LENGTH_SIGMA * LENGTH_SIGMA / 2);
}

/* Draws who opts in, and who stays where he started, beside all else: the jobs are the same. */
static void draw_will(struct day_job *job, const struct day_plan *plan)
{
    uint64_t seed = day_random_seed(plan->seed, 4, job->id);

    if (day_random(&seed) < plan->strangers)
        job->will = DAY_STRANGER;
    else if (day_random(&seed) < plan->keep)
        job->will = DAY_KEPT;
}

static void draw_jobs(struct day_sim *sim, const struct day_plan *plan)
{
    const struct ctl_apps *apps = &sim->truth->apps;
    double every_s = DAY_S / (double)plan->jobs, at_s = 0, cores = 0, mean_s;
    uint64_t seed = plan->seed * 1000003;

    for (size_t i = 0; i < apps->n; i++)
        cores += (double)apps->app[i].cores / (double)apps->n;
    mean_s = plan->load * (double)sim->topo->cores * every_s / cores;
    for (size_t i = 0; i < sim->n; i++) {
        struct day_job *job = &sim->job[i];

        at_s -= every_s * log(day_random(&seed));
        *job = (struct day_job){.id = (uint32_t)i + 1, .starts = DAY_NEVER, .ends = DAY_NEVER};
        job->arrives = (int64_t)(at_s * 1e9);
        job->app = (size_t)(day_random(&seed) * (double)apps->n);
        job->work_s = fmax(mean_s * draw_length(&seed), 1);
        job->cores = job->width = apps->app[job->app].cores;
        job->tasks = 1;
        job->day = i / plan->jobs;
        job->left_s = job->work_s;
        draw_will(job, plan);
    }
}

static void take_given(struct day_sim *sim, const struct day_plan *plan)
{
    for (size_t i = 0; i < sim->n; i++) {
        const struct day_given *given = &plan->given[i];

        sim->job[i] = (struct day_job){.id = (uint32_t)i + 1,
                                       .app = given->app,
                                       .day = i / plan->jobs,
                                       .arrives = (int64_t)(given->arrives_s * 1e9),
                                       .work_s = given->work_s,
                                       .left_s = given->work_s,
                                       .starts = DAY_NEVER,
                                       .ends = DAY_NEVER,
                                       .cores = given->tasks * given->width,
                                       .tasks = given->tasks,
                                       .width = given->width};
    }
}

static int share_cores(struct day_sim *sim)
{
    size_t cores = 0;

    for (size_t i = 0; i < sim->n; i++)
        cores += sim->job[i].cores;
    sim->core = calloc((DAY_PLACES + 1) * cores, sizeof(*sim->core));
    for (size_t i = 0, at = 0; sim->core && i < sim->n; i++)
        for (size_t w = 0; w <= DAY_PLACES; w++) {
            *(w < DAY_PLACES ? &sim->job[i].core[w] : &sim->job[i].given) = sim->core + at;
            at += sim->job[i].cores;
        }
    return sim->core ? 0 : -1;
}

int day_sim_open(struct day_sim *sim, const struct day_truth *truth, const struct topo *topo,
                 const struct day_plan *plan, struct berth_error *err)
{
    *sim = (struct day_sim){.truth = truth,
                            .topo = topo,
                            .plan = *plan,
                            .n = plan->jobs * plan->days,
                            .days = plan->days};
    if (plan->sizes && day_beside_open(&sim->beside, truth, err) < 0)
        return -1;
    for (size_t i = 0; i < truth->apps.n && !plan->sizes; i++)
        if (truth->apps.app[i].cores > topo->cores || truth->apps.app[i].cores == 0)
            return berth_error_set(err, "%s: its %zu cores are more than the node's %zu",
                                   truth->apps.name[i], truth->apps.app[i].cores, topo->cores);
    sim->job = calloc(sim->n, sizeof(*sim->job));
    sim->slurm = calloc(topo->cores, sizeof(struct day_job *));
    sim->running = calloc(topo->cores, sizeof(struct day_job *));
    sim->busy_s = calloc(topo->cores, sizeof(*sim->busy_s));
    sim->tally = calloc(sim->days, sizeof(*sim->tally));
    if (sim->job && sim->slurm && sim->running && sim->busy_s && sim->tally) {
        if (plan->given)
            take_given(sim, plan);
        else
            draw_jobs(sim, plan);
        if (plan->sizes && !plan->given)
            day_many_draw(sim, plan);
        if (share_cores(sim) == 0)
            return 0;
    }
    day_sim_close(sim);
    return berth_no_memory(err);
}

void day_sim_close(struct day_sim *sim)
{
    free(sim->job);
    free(sim->slurm);
    free(sim->running);
    free(sim->busy_s);
    free(sim->core);
    free(sim->tally);
    day_beside_free(&sim->beside);
}

void day_sim_rewind(struct day_sim *sim)
{
    sim->now = 0;
    sim->live = 0;
    memset(sim->busy_s, 0, sim->topo->cores * sizeof(*sim->busy_s));
    memset(sim->tally, 0, sim->days * sizeof(*sim->tally));
    memset(sim->slurm, 0, sim->topo->cores * sizeof(struct day_job *));
    for (size_t i = 0; i < sim->n; i++) {
        struct day_job *job = &sim->job[i];

        job->starts = job->ends = DAY_NEVER;
        job->left_s = job->work_s;
        job->counts = (struct day_counts){0};
        memset(job->slowdown, 0, sizeof(job->slowdown));
        job->far = 0;
    }
    day_memory_rewind(sim);
}

/* ---- who suffers what ---- */

static size_t llc_of(const struct day_sim *sim, size_t core)
{
    return sim->topo->core[core].llc;
}

size_t day_sim_cores_on(const struct day_sim *sim, const struct day_job *job, enum day_where where,
                        size_t llc)
{
    size_t n = 0;

    for (size_t c = 0; c < job->cores; c++)
        n += llc_of(sim, job->core[where][c]) == llc;
    return n;
}

static double suffers_on(const struct day_sim *sim, const struct day_job *job, enum day_where where,
                         size_t llc)
{
    double sum = 0;

    for (size_t j = 0; j < sim->live; j++) {
        const struct day_job *other = sim->running[j];

        if (other != job)
            sum += day_truth_pair(sim->truth, job->app, other->app) *
                   (double)day_sim_cores_on(sim, other, where, llc) / (double)other->cores;
    }
    return sum;
}

double day_sim_slowdown(const struct day_sim *sim, const struct day_job *job, enum day_where where)
{
    double sum = 0, on = 0;
    size_t before = SIZE_MAX;

    if (sim->plan.sizes)
        return day_many_slowdown(sim, job, where);
    for (size_t c = 0; c < job->cores; c++) {
        size_t llc = llc_of(sim, job->core[where][c]);

        if (llc != before)
            on = suffers_on(sim, job, where, llc);
        before = llc;
        sum += on;
    }
    return sum / (double)job->cores + day_threads_slowdown(sim, job, where);
}

bool day_sim_is_place(const struct day_sim *sim, size_t core)
{
    return sim->slurm[core] || sim->plan.idle;
}

bool day_sim_begins(const struct day_sim *sim, const struct day_job *job, double in_s)
{
    return (double)(sim->now - job->starts) / 1e9 + in_s < DAY_BEGINS_S;
}

void day_sim_stand(struct day_sim *sim, struct day_job *job, const size_t *core)
{
    size_t *stand = job->core[DAY_STAND], size = job->cores * sizeof(*core);
    bool elsewhere = false;

    if (memcmp(core, stand, size) == 0)
        return;
    for (size_t c = 0; c < job->cores; c++)
        elsewhere |= day_sim_cores_on(sim, job, DAY_STAND, llc_of(sim, core[c])) == 0;
    memcpy(stand, core, size);
    if (day_sim_begins(sim, job, 0))
        return;
    sim->tally[job->day].moves++;
    if (elsewhere)
        job->left_s += DAY_COLD_S;
    day_memory_stands(sim, job);
}

bool day_sim_is_sound(const struct day_sim *sim, bool idle)
{
    for (size_t i = 0; i < sim->live; i++)
        for (size_t c = 0; c < sim->running[i]->cores; c++) {
            size_t core = sim->running[i]->core[DAY_STAND][c];

            if (!sim->slurm[core] && !idle)
                return false;
            for (size_t j = 0; j < i; j++)
                for (size_t d = 0; d < sim->running[j]->cores; d++)
                    if (sim->running[j]->core[DAY_STAND][d] == core)
                        return false;
        }
    return true;
}

/* ---- time goes on ---- */

/* Counts what a job has done in some seconds: its cores are never idle, and of what it takes
 * longer beside others, each MISS_NS is a miss that it has not alone, as far as it has accesses. */
static void count(const struct day_sim *sim, struct day_job *job, double seconds,
                  const double factor[DAY_NOISIES])
{
    const struct app *app = &sim->truth->apps.app[job->app];
    double hz = sim->truth->clock_ghz * 1e9, cores = (double)job->cores, ipc = app->ipc;
    double slowdown = job->slowdown[DAY_STAND], done_s = seconds / (1 + slowdown);
    double instructions = done_s * cores * ipc * hz;
    double more = done_s * cores * (slowdown - job->far - job->shared) * 1e9 / MISS_NS;
    double accesses = instructions * app->llc_apki / 1000,
           alone = instructions * app->llc_mpki / 1000;
    double misses = fmax(fmin(alone + more, accesses), alone);
    double bytes = app->mem_gbps * (cores / (double)app->cores) * 1e9 * done_s +
                   (misses - alone) * sim->truth->line_bytes;
    double most = fmax(misses, accesses) * factor[DAY_ACCESSES];

    job->counts.instructions += instructions * factor[DAY_INSTRUCTIONS];
    job->counts.cycles += seconds * cores * hz;
    job->counts.accesses += accesses * factor[DAY_ACCESSES];
    job->counts.misses += fmin(misses * factor[DAY_MISSES], most);
    job->counts.bytes += bytes * factor[DAY_BYTES];
    job->counts.cpu_s += seconds * cores;
}

/* Counts until `to`, window by window of the noise. */
static void advance_counts(const struct day_sim *sim, struct day_job *job, int64_t to)
{
    const struct day_noise *noise = &sim->plan.noise;
    double factor[DAY_NOISIES];

    for (enum day_noisy c = 0; c < DAY_NOISIES; c++)
        factor[c] = 1;
    for (int64_t at = sim->now, until; at < to; at = until) {
        until = day_noise_is_on(noise) ? day_noise_until(at) : to;
        until = until < to ? until : to;
        if (day_noise_is_on(noise))
            day_noise_at(noise, sim->plan.seed, job->id, at, factor);
        count(sim, job, (double)(until - at) / 1e9, factor);
    }
}

static void advance(struct day_sim *sim, int64_t to)
{
    double seconds = (double)(to - sim->now) / 1e9;

    for (size_t i = 0; i < sim->live && seconds > 0; i++) {
        struct day_job *job = sim->running[i];

        advance_counts(sim, job, to);
        job->left_s -= seconds / (1 + job->slowdown[DAY_STAND]);
        for (size_t w = 0; w < DAY_WHERES; w++)
            sim->tally[job->day].work_s[w] += seconds * (double)job->cores / (1 + job->slowdown[w]);
        for (size_t c = 0; c < job->cores; c++)
            sim->busy_s[job->core[DAY_STAND][c]] += seconds;
        sim->tally[job->day].far_s += seconds * job->far / (1 + job->slowdown[DAY_STAND]);
    }
    day_memory_advance(sim, seconds);
    sim->now = to;
}

static void set_slowdowns(struct day_sim *sim)
{
    for (size_t w = 0; w < DAY_WHERES && sim->plan.sizes; w++)
        day_many_set(sim, w);
    for (size_t i = 0; i < sim->live && !sim->plan.sizes; i++)
        for (size_t w = 0; w < DAY_WHERES; w++)
            sim->running[i]->slowdown[w] = day_sim_slowdown(sim, sim->running[i], w);
    for (size_t i = 0; i < sim->live; i++)
        sim->running[i]->shared = day_threads_slowdown(sim, sim->running[i], DAY_STAND);
    day_memory_slow(sim);
}

static int64_t end_of(const struct day_sim *sim, const struct day_job *job)
{
    return sim->now + (int64_t)ceil(fmax(job->left_s, 0) * (1 + job->slowdown[DAY_STAND]) * 1e9);
}

/* ---- what Slurm does ---- */

static size_t free_cores(const struct day_sim *sim)
{
    size_t n = 0;

    for (size_t c = 0; c < sim->topo->cores; c++)
        n += !sim->slurm[c];
    return n;
}

/* What Slurm gives it. */
static void give(struct day_sim *sim, struct day_job *job)
{
    for (size_t c = 0, n = 0; c < sim->topo->cores && n < job->cores; c++)
        if (!sim->slurm[c]) {
            sim->slurm[c] = job;
            for (size_t w = 0; w < DAY_PLACES; w++)
                job->core[w][n] = c;
            n++;
        }
}

static int start(struct day_sim *sim, const struct day_placer *placer, struct day_job *job,
                 struct berth_error *err)
{
    if (sim->plan.sizes)
        day_many_give(sim, job);
    else
        give(sim, job);
    job->starts = sim->now;
    sim->running[sim->live++] = job;
    return placer->start ? placer->start(placer->state, sim, job, err) : 0;
}

static void add_job(const struct day_job *job, struct day_tally *tally)
{
    double took_s = (double)(job->ends - job->starts) / 1e9;

    tally->jobs++;
    tally->alone_s += job->work_s;
    tally->took_s += took_s;
    tally->stretches += took_s / job->work_s;
    tally->wait_s += (double)(job->starts - job->arrives) / 1e9;
}

static int end(struct day_sim *sim, const struct day_placer *placer, size_t at,
               struct berth_error *err)
{
    struct day_job *job = sim->running[at];

    job->ends = sim->now;
    add_job(job, &sim->tally[job->day]);
    for (size_t c = 0; c < job->cores; c++)
        sim->slurm[job->core[DAY_HOME][c]] = NULL;
    sim->live--;
    memmove(sim->running + at, sim->running + at + 1, (sim->live - at) * sizeof(*sim->running));
    return placer->end ? placer->end(placer->state, sim, job, err) : 0;
}

/* ---- the run ---- */

struct run {
    const struct day_placer *placer;
    size_t next;         /* job to be started */
    size_t day;          /* that it is */
    bool begun, changed; /* there was a turn; jobs have started or ended in this one */
};

/* Returns when something happens next. */
static int64_t next_event(const struct day_sim *sim, const struct run *run)
{
    int64_t next = run->placer->next ? run->placer->next(run->placer->state) : DAY_NEVER;

    for (size_t i = 0; i < sim->live; i++)
        if (end_of(sim, sim->running[i]) < next)
            next = end_of(sim, sim->running[i]);
    if (run->next < sim->n && sim->job[run->next].arrives > sim->now &&
        sim->job[run->next].arrives < next)
        next = sim->job[run->next].arrives;
    return day_memory_next(sim) < next ? day_memory_next(sim) : next;
}

static int end_those_done(struct day_sim *sim, struct run *run, struct berth_error *err)
{
    for (size_t i = 0; i < sim->live;) {
        if (sim->running[i]->left_s > 1e-9) {
            i++;
            continue;
        }
        run->changed = true;
        if (end(sim, run->placer, i, err) < 0)
            return -1;
    }
    return 0;
}

static int start_those_due(struct day_sim *sim, struct run *run, struct berth_error *err)
{
    for (; run->next < sim->n; run->next++) {
        struct day_job *job = &sim->job[run->next];

        if (job->arrives > sim->now || job->cores > free_cores(sim))
            return 0;
        run->changed = true;
        if (start(sim, run->placer, job, err) < 0)
            return -1;
    }
    return 0;
}

/* The last day lasts until its last job has ended. */
static void end_days(const struct day_sim *sim, struct run *run, bool all)
{
    for (; run->day < sim->days; run->day++) {
        if (!all &&
            (run->day + 1 == sim->days || (double)sim->now / 1e9 < DAY_S * (double)(run->day + 1)))
            return;
        if (run->placer->day)
            run->placer->day(run->placer->state, run->day);
    }
}

static int turn(struct day_sim *sim, struct run *run, struct berth_error *err)
{
    const struct day_placer *placer = run->placer;

    int64_t next = run->begun ? next_event(sim, run) : 0;

    advance(sim, next > sim->now ? next : sim->now);
    end_days(sim, run, false);
    if ((placer->advance && placer->advance(placer->state, sim, err) < 0) ||
        end_those_done(sim, run, err) < 0 || start_those_due(sim, run, err) < 0)
        return -1;
    if (run->changed && (day_best_find(sim, err) < 0 ||
                         (placer->changed && placer->changed(placer->state, sim, err) < 0)))
        return -1;
    run->changed = false;
    run->begun = true;
    if (!day_sim_is_sound(sim, placer->idle || sim->plan.idle))
        return berth_error_set(err, "%s: a job stands where it must not", placer->name);
    set_slowdowns(sim);
    return 0;
}

int day_sim_run(struct day_sim *sim, const struct day_placer *placer, void (*tell)(double part),
                struct berth_error *err)
{
    struct run run = {.placer = placer};
    size_t turns = 0;

    day_sim_rewind(sim);
    while (run.next < sim->n || sim->live > 0) {
        if (turn(sim, &run, err) < 0)
            return -1;
        if (turns++ % 256 == 0)
            tell((double)run.next / (double)sim->n);
        if (sim->seen)
            sim->seen(sim->seen_by, sim);
    }
    end_days(sim, &run, true);
    return 0;
}
