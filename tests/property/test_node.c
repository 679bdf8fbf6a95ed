/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_node - 12 000 random events on simulated nodes, or 100 000 (BERTH_THOROUGH=1): jobs and
 * steps of every kind come, move and go, calls fail, the disk is full, the daemon dies in the
 * middle and another one takes over; after each event everything that must hold is checked
 * (sim_check.c).
 *
 * Events come in episodes, each on a node of its own. An event is drawn by a generator that is
 * seeded with (seed, episode, number): so the events of a failing episode can be left out one by
 * one, and those that it takes to fail are printed.
 *
 *   BERTH_SEED=N    another seed (it is printed)
 *   BERTH_EVENTS=N  so many events
 *   BERTH_EPISODE=N this episode only, and tell what happens */
#include "tests/property/sim.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/enact/offline.h"
#include "packer/enact/rearrange.h"
#include "packer/enact/release.h"
#include "packer/enforce/enforce.h"
#include "packer/inside/inside.h"
#include "packer/inside/policy.h"
#include "packer/place/place.h"
#include "packer/steps/journal.h"
#include "tests/unit/common/thorough.h"

#define EVENTS (thorough() ? 100000 : 12000)
#define EPISODE 400 /* events */
#define JOURNAL_EVERY 8

static const char *const topologies[] = {TWO_BY_TWO, TWO_BY_TWO_SMT, FOURS_ON_TWO_NODES,
                                         "package:2 l3:1 core:6 pu:2",
                                         "package:2 l3:3 core:4 pu:1"};
#define TOPOLOGIES (sizeof(topologies) / sizeof(topologies[0]))

struct run {
    struct sim *sim;
    uint64_t seed, episode;
    bool tell;
    bool disk_was_full; /* since the journal was last written anew */
    char what[256];     /* the event */
    uint64_t calls, failures, deaths;
};

static void tell(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void tell(struct run *run, const char *format, ...)
{
    size_t used = strlen(run->what);
    va_list args;

    va_start(args, format);
    vsnprintf(run->what + used, sizeof(run->what) - used, format, args);
    va_end(args);
}

/* ---- what the plugin does ---- */

static bool marked(const struct sim *sim, uint32_t job)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/pool/%u", sim->f->dir, job);
    return access(path, F_OK) == 0;
}

static void options(struct sim *sim, struct wire_register *request)
{
    static const char *const tags[] = {"low", "high", "stream", ""};
    static const char *const devices[] = {"", "", "gpu:0", "gpu:1", "gpu:0,gpu:1"};

    snprintf(request->options.tag, sizeof(request->options.tag), "%s", tags[sim_random(sim, 4)]);
    if (sim_chance(sim, 12))
        request->options.mode = WIRE_MODE_OFF;
    else if (sim_chance(sim, 10))
        request->options.mode = WIRE_MODE_OBSERVE;
    request->bound_by_hand = sim_chance(sim, 4);
    request->options.size = sim_chance(sim, 30);
    request->options.isolate = sim_chance(sim, 10);
    request->options.cores_max = sim_chance(sim, 20) ? 1 + (uint32_t)sim_random(sim, 4) : 0;
    request->options.edp = sim_chance(sim, 30);
    request->options.nodevice = sim_chance(sim, 10);
    request->devices = devices[sim_random(sim, 5)];
    request->pin = request->devices[0] ? WIRE_PIN_DEVICE : WIRE_PIN_NONE;
    if (sim->f->packer.world.conf.idle != CONF_IDLE_OFF && sim_chance(sim, 30)) {
        request->pin = WIRE_PIN_ENVIRONMENT;
        request->pin_within = sim_chance(sim, 80);
    }
}

/* Half of the registrations find that the packages' power is known. */
static void power(struct sim *sim)
{
    strcpy(sim->f->packer.world.conf.energy_model,
           sim_chance(sim, 50) ? "idle=40W,core=5W,sleep=10W" : "");
}

/* A step that did not opt in is told of only where its job is in the pool. */
static void register_step(struct run *run, struct sim_step *step)
{
    struct sim *sim = run->sim;
    struct wire_register request =
        fixture_request(step->id.job, step->id.step, "0", "0", step->ntasks, NULL);
    struct wire_answer answer;

    options(sim, &request);
    power(sim);
    tell(run, "step %u.%u of %zu tasks, %s%s%s%s", step->id.job, step->id.step, step->ntasks,
         wire_mode_name[request.options.mode], request.bound_by_hand ? ", by hand" : "",
         request.options.size ? ", size" : "", request.options.edp ? ", edp" : "");
    if (request.options.mode == WIRE_MODE_OFF && !marked(sim, step->id.job)) {
        pipeline_claim(&sim->f->packer, step->id);
        free(request.task);
        return;
    }
    step->keeps = request.pin_within;
    pipeline_start(&sim->f->packer, &request, &answer);
    free(request.task);
    step->told = !sim->dead;
    if (!answer.ok)
        tell(run, " (refused: %.100s)", answer.error);
    wire_answer_clear(&answer);
}

static void say_end(struct sim *sim, struct wire_step_id id)
{
    pipeline_end(&sim->f->packer, &(struct wire_end){.id = id, .user_s = 1, .system_s = 1});
}

/* ---- events ---- */

/* Sometimes the word of it is lost. */
static void on_step_end(struct run *run)
{
    struct sim_step *step = sim_pick_step(run->sim);

    if (!step)
        return;
    tell(run, "end of %u.%u", step->id.job, step->id.step);
    sim_step_end(step);
    if (sim_chance(run->sim, 88))
        say_end(run->sim, step->id);
    else
        tell(run, ", unheard");
}

static void end_steps(struct run *run, uint32_t job)
{
    for (size_t i = 0; i < SIM_STEPS; i++) {
        struct sim_step *step = &run->sim->step[i];

        if (!step->alive || step->id.job != job)
            continue;
        sim_step_end(step);
        if (sim_chance(run->sim, 60))
            say_end(run->sim, step->id);
    }
}

static void on_job_end(struct run *run)
{
    struct sim_job *job = sim_pick_job(run->sim);

    if (!job)
        return;
    tell(run, "end of job %u", job->id);
    end_steps(run, job->id);
    if (marked(run->sim, job->id))
        pipeline_job_end(&run->sim->f->packer, job->id, &(struct wire_identity){0});
    job->live = false;
}

static void start_step(struct run *run, struct sim_job *job)
{
    bool batch = !job->has_batch && sim_chance(run->sim, 20);
    struct sim_step *step;

    job->has_batch |= batch;
    step = sim_step_start(run->sim, job, batch ? WIRE_STEP_BATCH : job->next_step++,
                          batch || sim_chance(run->sim, 25));
    if (step)
        register_step(run, step);
}

/* Where the node is full, a job ends instead. */
static void on_job(struct run *run)
{
    struct sim_job *job = sim_job_start(run->sim, sim_chance(run->sim, 6));

    if (job)
        start_step(run, job);
    else
        on_job_end(run);
}

static void on_step(struct run *run)
{
    struct sim_job *job = sim_pick_job(run->sim);

    if (job)
        start_step(run, job);
}

/* Its steps die without a word, and begin again, under the same names, on other cores. (Not with a
 * journal that could not be written: the next daemon would take them for the old ones.) */
static void on_requeue(struct run *run)
{
    struct sim_job *job = sim_pick_job(run->sim), *again;

    if (!job || run->disk_was_full)
        return;
    for (size_t i = 0; i < SIM_STEPS; i++)
        if (run->sim->step[i].alive && run->sim->step[i].id.job == job->id)
            sim_step_end(&run->sim->step[i]);
    if (marked(run->sim, job->id))
        pipeline_job_end(&run->sim->f->packer, job->id, &(struct wire_identity){0});
    job->live = false;
    again = sim_job_start(run->sim, false);
    if (!again)
        return;
    again->restart = job->restart + 1;
    tell(run, "requeue of job %u: ", again->id = job->id);
    start_step(run, again);
}

static void on_sweep(struct run *run)
{
    tell(run, "sweep");
    pipeline_sweep(&run->sim->f->packer);
    if (!run->sim->dead)
        run->disk_was_full = journal_is_stale(&run->sim->f->packer);
}

static void on_restart(struct run *run)
{
    tell(run, "restart");
    fixture_limit_files(RLIM_INFINITY);
    sim_resume(run->sim, run->disk_was_full);
    run->disk_was_full = false;
}

/* As at a stop and a start. */
static void on_undo(struct run *run)
{
    tell(run, "stop and start");
    pipeline_undo(&run->sim->f->packer);
    on_restart(run);
}

/* As a policy would: any permutation. */
static void on_moves(struct run *run)
{
    struct packer *packer = &run->sim->f->packer;
    size_t n = 0, *core = calloc(2 * packer->pool->cores, sizeof(*core)), *to = core;
    struct berth_error err;
    struct pool next;

    assert_non_null(core);
    to += packer->pool->cores;
    for (size_t i = 0; i < packer->pool->cores; i++)
        if (pool_has(packer->state->pool, i))
            core[n] = to[n] = i, n++;
    for (size_t i = 0; i + 1 < n; i++) {
        size_t j = i + sim_random(run->sim, n - i), swap = to[i];

        to[i] = to[j], to[j] = swap;
    }
    tell(run, "moves of %zu cores", n);
    assert_int_equal(pool_copy(&next, packer->state->pool), 0);
    assert_int_equal(pool_assign(&next, n, core, to), 0);
    rearrange_as(packer, &next, 0, &err);
    free(core);
}

static void on_release(struct run *run)
{
    struct sim_step *step = sim_pick_step(run->sim);
    struct wire_step_id id = WIRE_ALL;
    struct berth_error err;

    if (step && sim_chance(run->sim, 95))
        id = step->id;
    if (step && sim_chance(run->sim, 40))
        id.step = UINT32_MAX;
    tell(run, "release of %d.%d", (int)id.job, (int)id.step);
    if (pipeline_release(&run->sim->f->packer, id, &err) < 0)
        tell(run, " (%.100s)", err.text);
}

static void on_manage(struct run *run)
{
    struct berth_error err;

    tell(run, "end of release");
    pipeline_manage(&run->sim->f->packer, &err);
}

/* As a policy inside the step would: its threads get a slice, be it another one; or lose it. */
static void on_slice(struct run *run)
{
    struct packer *packer = &run->sim->f->packer;
    struct sim_step *its = sim_pick_step(run->sim);
    struct step *step = its ? registry_find(packer->steps, its->id) : NULL;
    struct berth_error err;
    bool give = sim_chance(run->sim, 75);
    int rc;

    if (!step || !step_movable(step))
        return;
    /* All at once: a pass over several turns would meet the process again as another step's. */
    enforce_pace(packer->world.enforce, ENFORCE_ALL, 0);
    rc = give ? inside_slice(packer, step, 10 + (unsigned)sim_random(run->sim, 90), &err)
              : inside_unslice(packer, step, &err);
    tell(run, "%s of %u.%u%s%.100s", give ? "slices" : "no slices", its->id.job, its->id.step,
         rc < 0 ? ": " : "", rc < 0 ? err.text : "");
}

/* A window is over: what berth has let go of loses what it was given. */
static void on_window(struct run *run)
{
    tell(run, "window");
    inside_turn(&run->sim->f->packer);
}

/* The steps are old enough for parts of cores that others have, too. */
static void on_age(struct run *run)
{
    struct packer *packer = &run->sim->f->packer;
    struct step *step;

    tell(run, "age");
    TAILQ_FOREACH(step, &packer->steps->live, link) step->started_mono_s -= 3600;
    pipeline_observe(packer);
}

/* A core is switched off, or all are on again; berthd sees it with its next sweep. */
static void on_switch(struct run *run)
{
    struct packer *packer = &run->sim->f->packer;
    size_t core = sim_random(run->sim, packer->world.topo->cores);

    sim_all_cpus(run->sim, &run->sim->online);
    if (sim_chance(run->sim, 50))
        cpus_andnot(&run->sim->online, &packer->world.topo->core[core].cpus);
    tell(run, "core %zu %s", core,
         cpus_intersect(&run->sim->online, &packer->world.topo->core[core].cpus) ? "on" : "off");
    if (offline_set(packer, &run->sim->online))
        offline_leave(packer);
    on_sweep(run);
}

static const struct event {
    unsigned weight;
    void (*happens)(struct run *run);
} events[] = {{14, on_job},   {50, on_step},   {22, on_step_end}, {5, on_job_end}, {3, on_requeue},
              {5, on_sweep},  {2, on_restart}, {1, on_undo},      {9, on_moves},   {2, on_release},
              {6, on_manage}, {2, on_switch},  {4, on_slice},     {3, on_window},  {8, on_age}};
#define KINDS (sizeof(events) / sizeof(events[0]))

/* What goes wrong during this event. */
static bool faults(struct run *run)
{
    struct sim *sim = run->sim;
    bool full = sim_chance(sim, 2);

    sim->fail_apply = sim_chance(sim, 8) ? 1 + (unsigned)sim_random(sim, 100) : 0;
    sim->fail_restore = sim_chance(sim, 3) ? 1 + (unsigned)sim_random(sim, 100) : 0;
    sim_die_after(sim, sim_chance(sim, 6) ? (long)sim_random(sim, 5) : -1);
    if (full)
        fixture_limit_files(journal_size(&sim->f->packer) + sim_random(sim, 1500));
    run->disk_was_full |= full;
    return full;
}

static void one_event(struct run *run, uint64_t number)
{
    struct sim *sim = run->sim;
    size_t total = 0, kind = 0, drawn;
    bool full;

    sim->random = (run->seed * 1000003u + run->episode) * 1000003u + number;
    sim_random(sim, 1);
    for (size_t i = 0; i < KINDS; i++)
        total += events[i].weight;
    drawn = sim_random(sim, total);
    while (drawn >= events[kind].weight)
        drawn -= events[kind++].weight;
    run->what[0] = '\0';
    full = faults(run);
    events[kind].happens(run);
    fixture_limit_files(RLIM_INFINITY);
    sim->fail_apply = sim->fail_restore = 0;
    if (sim->dead) {
        tell(run, ", killed; ");
        on_restart(run);
    }
    sim->calls_left = -1;
    if (run->tell)
        print_message("%6lu %s%s\n", (unsigned long)number, run->what, full ? " (disk full)" : "");
}

/* ---- episodes ---- */

static struct sim *open_node(struct run *run)
{
    static const double saturates[] = {0, 6, 10, 10, 10};
    const char *topology = topologies[run->episode % TOPOLOGIES];
    bool split = strstr(topology, "pu:2") && run->episode / TOPOLOGIES % 4 >= 2;
    struct sim *sim = sim_open(topology, split); /* jobs share cores */

    if (run->episode / TOPOLOGIES % 2)
        sim_use_idle(sim);
    if (strcmp(topology, FOURS_ON_TWO_NODES) == 0)
        fixture_machine(sim->f, 2, 4, saturates);
    fixture_timed(sim->f, "stream", 50000, 2e9);
    fixture_profile(sim->f, "high", 90000);
    fixture_profile(sim->f, "low", 10);
    return sim;
}

/* Ends the steps that have a cgroup of berth's. Returns whether there were any. */
static bool end_kept(struct sim *sim)
{
    bool any = false;

    for (size_t i = 0; i < SIM_STEPS; i++)
        if (sim->step[i].own) {
            sim_step_end(&sim->step[i]);
            any = true;
        }
    return any;
}

/* Everybody home, by a stop without faults; then nothing of berth's is left. What has to stay for
 * as long as its step runs, the next daemon removes. */
static bool closes_well(struct run *run, char *why)
{
    pipeline_sweep(&run->sim->f->packer);
    if (!sim_holds(run->sim, why))
        return false;
    pipeline_undo(&run->sim->f->packer);
    if (!sim_all_home(run->sim, why))
        return false;
    if (!end_kept(run->sim))
        return true;
    on_restart(run);
    pipeline_undo(&run->sim->f->packer);
    return sim_all_home(run->sim, why);
}

/* Play the episode's first `n` events but those in skip[]. The number of the event after which
 * something did not hold, with why, or n: all is well. */
static size_t play(struct run *run, size_t n, const bool *skip, char *why)
{
    size_t number = 0;
    bool fine = true;

    run->sim = open_node(run);
    run->disk_was_full = false;
    for (; fine && number < n; number++) {
        if (skip && skip[number])
            continue;
        one_event(run, number);
        fine = sim_holds(run->sim, why);
        if (fine && !run->disk_was_full && number % JOURNAL_EVERY == 0)
            fine = sim_journal_tells(run->sim, why);
    }
    if (fine && !closes_well(run, why))
        fine = false;
    if (!fine && run->tell)
        sim_print(run->sim);
    run->calls += run->sim->applied;
    run->failures += run->sim->failed;
    run->deaths += run->sim->killed;
    sim_close(run->sim);
    return fine ? n : number - 1;
}

/* Leave out what it does not take to fail: halves, quarters, single events. */
static void shrink(struct run *run, size_t n)
{
    bool *skip = calloc(n, sizeof(*skip)), *tried = calloc(n, sizeof(*tried));
    char why[SIM_WHY];

    assert_true(skip && tried);
    run->tell = false;
    for (size_t part = n / 2; part > 0; part /= 2)
        for (size_t at = 0; at < n; at += part) {
            memcpy(tried, skip, n * sizeof(*skip));
            for (size_t i = at; i < at + part && i < n; i++)
                tried[i] = true;
            if (play(run, n, tried, why) < n)
                memcpy(skip, tried, n * sizeof(*skip));
        }
    run->tell = true;
    play(run, n, skip, why);
    print_message("       %s\n", why);
    free(skip);
    free(tried);
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 0) : otherwise;
}

static void test_random_events(void **state)
{
    uint64_t count = number_of("BERTH_EVENTS", EVENTS),
             only = number_of("BERTH_EPISODE", UINT64_MAX);
    struct run run = {.seed = number_of("BERTH_SEED", 1), .tell = only != UINT64_MAX};
    char why[SIM_WHY] = "";
    size_t failed;

    (void)state;
    sim_threads_start();
    print_message("BERTH_SEED=%lu\n", (unsigned long)run.seed);
    for (run.episode = 0; run.episode * EPISODE < count; run.episode++) {
        if (run.tell && run.episode != only)
            continue;
        failed = play(&run, EPISODE, NULL, why);
        if (failed == EPISODE)
            continue;
        print_message("BERTH_SEED=%lu BERTH_EPISODE=%lu, event %zu: %s: %s\nit takes:\n",
                      (unsigned long)run.seed, (unsigned long)run.episode, failed, run.what, why);
        shrink(&run, failed + 1);
        fail();
    }
    sim_threads_end();
    print_message("%lu calls, %lu failed, %lu deaths\n", (unsigned long)run.calls,
                  (unsigned long)run.failures, (unsigned long)run.deaths);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_events)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
