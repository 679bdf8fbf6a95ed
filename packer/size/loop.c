/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loop - see loop.h */
#include "packer/size/loop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "packer/observe/window.h"
#include "packer/size/cores.h"
#include "packer/size/judge.h"
#include "packer/size/phases.h"
#include "packer/size/profiling.h"
#include "packer/size/size.h"
#include "packer/size/size_impl.h"
#include "packer/steps/journal.h"
#include "packer/steps/stage.h"
#include "packer/steps/step_counts.h"

#define QUIET 0.5   /* of what the memories can do: below, a core asks what it asks alone */
#define AT_WORK 0.5 /* of its cores */
#define LINE_BYTES 64

struct size_loop {
    struct opticore core;
    uint64_t owner;                 /* whose phases its are (phases.h) */
    uint64_t windows;               /* of its, taken in so far */
    uint64_t sized;                 /* hash of its tasks' cores, as they were seen last */
    struct counters_sample last[2]; /* the readings that its last window lay between */
    unsigned applied;               /* the phase that it is sized for; 0: by the store */
    struct size_traffic traffic;    /* of that phase */
    unsigned was;                   /* the phase that it was in last, and since when */
    double was_s;
    struct profiling *profiling; /* NULL: none */
    double profiling_in_s;       /* when that wants to be called */
};

/* ---- small things ---- */

static double age_of(const struct step *step)
{
    return clock_s() - step->started_mono_s;
}

static struct opticore_rules rules_of(const struct packer *packer, const struct step *step)
{
    double window_s = (double)packer->world.conf.window_ms / 1000;

    return (struct opticore_rules){.profile_s = PROFILING_S,
                                   .rest_s = LOOP_REST_S,
                                   .cost = LOOP_COST * wire_size_loss(&step->request.options),
                                   .stay_s = LOOP_STAY_WINDOWS * window_s,
                                   .first_s = LOOP_FIRST_WINDOWS * window_s};
}

static void say(struct step *step, const char *why)
{
    snprintf(step->size.loop.why, sizeof(step->size.loop.why), "%s", why);
}

static uint64_t hash_sized(const struct step *step)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < step->body.ntasks; i++)
        hash = XXH3_64bits_withSeed(&step->body.task[i].sized, sizeof(struct cpus), hash);
    return hash;
}

/* The number by which the phases of the step's program are remembered: of a step whose program
 * nobody knows, its own. */
static uint64_t owner_of(const struct packer *packer, const struct step *step)
{
    if (step->program == PROGRAM_NONE)
        return step->serial | UINT64_C(1) << 63;
    return packer->steps->programs.program[step->program].born;
}

/* Finds the NUMA nodes (indices of the topology) that the step has cores of, and how many. */
static void nodes_of(const struct packer *packer, const struct step *step, struct cpus *nodes,
                     unsigned *count)
{
    size_cores_on_nodes(packer, step, false, count);
    cpus_zero(nodes);
    for (size_t i = 0; i < packer->world.topo->nodes; i++)
        if (count[i] > 0)
            cpus_add(nodes, i);
}

/* What is shown of it, and journaled. */
static void publish(struct step *step)
{
    const struct size_loop *run = step->size.loop.run;
    struct step_loop *shown = &step->size.loop;

    shown->on = true;
    shown->state = run->core.state;
    shown->phase = run->core.looked ? run->core.phase : 0;
    shown->known = shown->phase != 0;
    shown->profiles = run->core.profiles;
    shown->profiled_s = run->core.profiled_s;
    shown->profile_s = run->core.profile_began_s;
    shown->traffic = run->applied && run->traffic.nodes ? &run->traffic : NULL;
}

/* ---- a step is followed ---- */

/* Says why the step is not followed, or NULL; *why may be "": it did not ask. */
static const char *reason_not_to(const struct packer *packer, const struct step *step)
{
    if (!step->request.options.size || step_is_shell(step) ||
        (step->state != STEP_PLACED && step->state != STEP_OBSERVED))
        return "";
    if (!packer->world.machine)
        return "";
    if (!step->counts)
        return "nobody counts it: its phases are not followed";
    return NULL;
}

static struct size_loop *follow(const struct packer *packer, struct step *step)
{
    struct step_loop *shown = &step->size.loop;
    struct size_loop *run;

    if (shown->run)
        return shown->run;
    if (!packer->state->size->phases && !(packer->state->size->phases = phases_open()))
        return NULL;
    run = shown->run = calloc(1, sizeof(*run));
    if (!run)
        return NULL;
    opticore_init(&run->core);
    run->owner = owner_of(packer, step);
    run->sized = hash_sized(step);
    run->core.profiles = shown->profiles; /* of a berthd before this one */
    run->core.profiled_s = shown->profiled_s;
    run->core.profile_began_s = shown->profile_s;
    publish(step);
    return run;
}

/* The step is over: nothing is followed any more. */
static void loop_end(const struct packer *packer, struct step *step)
{
    struct size_loop *run = step->size.loop.run;

    if (!run)
        return;
    if (run->profiling)
        profiling_end(packer, step, run->profiling);
    profiling_free(run->profiling);
    traffic_free(&run->traffic);
    free(run);
    step->size.loop.run = NULL;
    step->size.loop.traffic = NULL;
}

/* ---- it has other cores ---- */

/* The averages of what it does on other cores begin anew. */
static void note_resized(struct step *step)
{
    struct size_loop *run = step->size.loop.run;
    uint64_t sized = hash_sized(step);

    if (sized == run->sized)
        return;
    run->sized = sized;
    opticore_resized(&run->core, age_of(step));
    window_moved(step);
}

/* Sizes the steps with what is known now. Returns whether tasks have other cores. */
static bool resize(const struct packer *packer, struct step *step)
{
    bool changed;

    publish(step);
    changed = size_node(packer, step->state == STEP_OBSERVED ? step : NULL);
    note_resized(step);
    publish(step);
    return changed;
}

/* Sizes the step for a phase; NULL: by the store. */
static bool apply(const struct packer *packer, struct step *step, struct size_phase *phase)
{
    struct size_loop *run = step->size.loop.run;
    struct berth_error err;
    bool changed;

    traffic_free(&run->traffic);
    run->applied = 0;
    if (phase &&
        (phase->traffic.nodes == 0 || traffic_copy(&phase->traffic, &run->traffic, &err) == 0))
        run->applied = phase->number;
    changed = resize(packer, step);
    if (phase)
        phase->given = step->size.given;
    return changed;
}

/* ---- which phase ---- */

/* The phase that it was in has come to its end. */
static void leave_phase(const struct packer *packer, struct size_loop *run, unsigned now)
{
    struct size_phase *was;

    if (now == run->was)
        return;
    was = run->was ? phases_get(packer->state->size->phases, run->owner, run->was) : NULL;
    if (was)
        phase_stayed(was, run->core.began_s - run->was_s);
    run->was = now;
    run->was_s = run->core.began_s;
}

/* Looks the phase up. One that is seen for the first time on other cores may look different there.
 */
static void look_up(const struct packer *packer, struct step *step)
{
    struct size_loop *run = step->size.loop.run;
    struct opticore_signature seen = opticore_signature(&run->core);
    unsigned count[CPUS_MAX];
    struct size_phase *phase;
    struct cpus nodes;

    nodes_of(packer, step, &nodes, count);
    phase = phases_find(packer->state->size->phases, run->owner, &seen, &nodes);
    if (!phase && !run->core.looked && run->core.phase &&
        (phase = phases_get(packer->state->size->phases, run->owner, run->core.phase))) {
        if (opticore_alike(&phase->signature[phase->signatures - 1], &seen))
            phase_looks(phase, &seen);
        else
            phase = NULL;
    }
    opticore_is(&run->core, phase ? phase->number : 0, age_of(step));
    leave_phase(packer, run, phase ? phase->number : 0);
}

/* Takes in a window that has ended. */
static void take_window(const struct packer *packer, struct step *step)
{
    struct size_loop *run = step->size.loop.run;
    const struct last_window *last = &step->counts->window;
    double now_s = age_of(step);
    struct opticore_window window = {.began_s = now_s - last->seconds,
                                     .ended_s = now_s,
                                     .instructions = 1e6 * last->x[SOLO_MISSES],
                                     .misses = last->y[SOLO_MISSES],
                                     .bytes = last->bytes,
                                     .region = step->inside.region};

    if (step->counts->windows == run->windows)
        return;
    run->windows = step->counts->windows;
    run->last[0] = run->last[1];
    run->last[1] = step->counts->last;
    if (isnan(window.instructions) || (isnan(window.misses) && isnan(window.bytes)))
        say(step, "nobody counts what it does: its phases are not followed");
    if (opticore_window(&run->core, &window))
        look_up(packer, step);
}

/* ---- what is not known is found out ---- */

/* What the step's memory traffic was in its last window, GB/s; NAN: nobody counts it. */
static double traffic_now(const struct step *step)
{
    const struct last_window *last = &step->counts->window;
    double bytes = isnan(last->bytes) ? last->y[SOLO_MISSES] * LINE_BYTES : last->bytes;

    return bytes / last->seconds / 1e9;
}

/* Says whether it kept its cores at work, as far as that is counted: who stands still, as a job
 * that is suspended, shows nothing of what it asks. */
static bool is_at_work(const struct step *step)
{
    return !(step->counts->window.cpu < AT_WORK * (double)step->size.given);
}

/* The node of the machine profile that is the topology's i-th. */
static size_t profile_node(const struct packer *packer, size_t i)
{
    size_t node = 0;

    while (node < packer->world.machine->nodes &&
           packer->world.machine->node[node].os_index != packer->world.topo->node[i].os_index)
        node++;
    return node;
}

/* The least that a memory gives which the step may stand on, or a link between two, GB/s; NAN: not
 * known. */
static double least_limit(const struct packer *packer, const struct step *step)
{
    const struct machine_profile *machine = packer->world.machine;
    unsigned count[CPUS_MAX];
    double least = INFINITY;
    struct cpus nodes;

    nodes_of(packer, step, &nodes, count);
    cpus_foreach(i, &nodes)
    {
        size_t to = profile_node(packer, i);

        if (to == machine->nodes)
            return NAN;
        least = fmin(least, machine_profile_local(machine, to, count[i]));
        cpus_foreach(j, &nodes)
        {
            size_t from = profile_node(packer, j);

            if (from < machine->nodes && from != to)
                least = fmin(least, machine->uni[from * machine->nodes + to].value);
        }
    }
    return least;
}

/* Remembers a phase that was measured; owns the traffic then. */
static struct size_phase *remember(const struct packer *packer, struct step *step,
                                   const struct size_traffic *traffic)
{
    struct size_loop *run = step->size.loop.run;
    unsigned count[CPUS_MAX];
    struct size_phase *phase;
    struct cpus nodes;

    nodes_of(packer, step, &nodes, count);
    phase = phases_add(packer->state->size->phases, run->owner, &run->core.at, &nodes);
    if (!phase)
        return NULL;
    phase->traffic = *traffic;
    opticore_is(&run->core, phase->number, age_of(step));
    leave_phase(packer, run, phase->number);
    return phase;
}

/* The memories keep nobody waiting: what the step asks on the cores that it has is what it asks.
 * Returns whether tasks have other cores. */
static bool measure_quiet(const struct packer *packer, struct step *step)
{
    struct size_loop *run = step->size.loop.run;
    struct size_traffic traffic = {0};
    unsigned count[CPUS_MAX];
    struct size_phase *phase = NULL;
    struct berth_error err;

    if (!(run->last[0].at_s > 0) ||
        run->last[0].at_s < step->counts->last.at_s - 2 * step->counts->window.seconds)
        return false;
    size_cores_on_nodes(packer, step, true, count);
    if (traffic_measure(packer, step, &run->last[0], &run->last[1], count, false, &traffic, &err) ==
        0)
        phase = remember(packer, step, &traffic);
    if (!phase) {
        traffic_free(&traffic);
        return false;
    }
    say(step, "its memory traffic is less than half of what the memory gives: not profiled");
    return apply(packer, step, phase);
}

/* Says why nothing is to be found out by a profiling run, or NULL. */
static const char *reason_not_to_profile(const struct packer *packer, const struct step *step)
{
    struct size_traffic traffic;
    struct berth_error err;
    bool stored;

    traffic_of(packer, step, &traffic, &err);
    stored = (traffic.source == SIZE_MATRIX_STORE && !traffic.measured) ||
             (traffic.stored && traffic.stored->cores);
    traffic_free(&traffic);
    if (stored)
        return "what it asks of memory is stored: not profiled";
    if (!is_at_work(step))
        return "it keeps less than half of its cores at work: not profiled";
    if (isnan(traffic_now(step)))
        return "nobody counts its memory traffic: not profiled";
    return profiling_unfit(packer, step);
}

static bool begin_profiling(const struct packer *packer, struct step *step)
{
    struct size_loop *run = step->size.loop.run;
    struct berth_error err;

    run->profiling = profiling_begin(packer, step);
    if (!run->profiling)
        return false;
    opticore_profile(&run->core, age_of(step));
    run->profiling_in_s = 0;
    say(step, "");
    publish(step);
    if (journal_start(packer, step, &err) == 0)
        return true;
    log_error("step %u.%u: %s", step->request.id.job, step->request.id.step, err.text);
    opticore_profiled(&run->core, age_of(step));
    profiling_end(packer, step, run->profiling);
    profiling_free(run->profiling);
    run->profiling = NULL;
    publish(step);
    return false;
}

/* Nobody knows the phase. Returns whether tasks have other cores. */
static bool find_out(const struct packer *packer, struct step *step)
{
    struct size_loop *run = step->size.loop.run;
    struct opticore_rules rules = rules_of(packer, step);
    const char *why;

    if (run->applied)
        return apply(packer, step, NULL);
    if (!opticore_is_due(&run->core, &rules, age_of(step)))
        return false;
    if (is_at_work(step) && traffic_now(step) < QUIET * least_limit(packer, step))
        return measure_quiet(packer, step);
    why = reason_not_to_profile(packer, step);
    if (!why && opticore_may_profile(&run->core, &rules, age_of(step)))
        return begin_profiling(packer, step);
    say(step, why ? why : "waits until half a second is worth it to be profiled");
    return false;
}

/* ---- a profiling run ---- */

/* What it has shown is remembered. Where it has shown nothing, another one may be worth it later.
 */
static struct size_phase *learn(const struct packer *packer, struct step *step)
{
    struct size_loop *run = step->size.loop.run;
    struct profile_speed speed;
    struct size_traffic traffic;
    struct opticore_signature seen;
    struct size_phase *phase;
    struct berth_error err;
    int rc = profiling_result(packer, step, run->profiling, &traffic, &seen, &err);

    if (rc == 0 && !opticore_alike(&seen, &run->core.at))
        rc = berth_error_set(&err, "it did something else meanwhile");
    if (rc < 0) {
        char why[sizeof(step->size.loop.why)];

        snprintf(why, sizeof(why), "profiled in vain: %.100s", err.text);
        say(step, why);
        traffic_free(&traffic);
        return NULL;
    }
    phase = remember(packer, step, &traffic);
    if (phase && run->core.profiles == 1) {
        speed = size_judge_speed(step);
        traffic_learn(packer, step, &traffic, &speed);
    }
    if (phase)
        phase->profiled_s = traffic.seconds;
    else
        traffic_free(&traffic);
    return phase;
}

/* Returns whether tasks have other cores. */
static bool go_on_profiling(const struct packer *packer, struct step *step)
{
    struct size_loop *run = step->size.loop.run;
    double now_s = age_of(step);
    struct size_phase *phase;

    run->profiling_in_s = profiling_turn(packer, step, run->profiling);
    if (run->profiling_in_s > 0)
        return false;
    opticore_profiled(&run->core, now_s);
    profiling_end(packer, step, run->profiling);
    phase = learn(packer, step);
    profiling_free(run->profiling);
    run->profiling = NULL;
    opticore_resized(&run->core, now_s);
    if (phase)
        apply(packer, step, phase);
    publish(step);
    return true;
}

/* ---- turns ---- */

/* Is it worth it to size the step for the phase now? Cores that are given back are given at once;
 * fewer it gets when the phase stays. */
static bool is_worth_it(const struct packer *packer, const struct step *step,
                        const struct size_phase *phase)
{
    struct opticore_rules rules = rules_of(packer, step);

    if (phase->given > 0 && phase->given >= step->size.given)
        return true;
    return phase->stay_s >= rules.stay_s ||
           opticore_lasted(&step->size.loop.run->core, age_of(step)) >= rules.stay_s;
}

static bool turn(const struct packer *packer, struct step *step)
{
    struct size_loop *run = step->size.loop.run;
    struct size_phase *phase;
    bool changed = false;

    if (run->profiling)
        return go_on_profiling(packer, step);
    note_resized(step);
    take_window(packer, step);
    if (run->core.looked && run->core.phase == 0) {
        changed = find_out(packer, step);
    } else if (run->core.looked && run->core.phase != run->applied) {
        phase = phases_get(packer->state->size->phases, run->owner, run->core.phase);
        if (phase && is_worth_it(packer, step, phase))
            changed = apply(packer, step, phase);
    }
    publish(step);
    return changed;
}

/* Follows each step. Returns whether tasks have other cores to use than they had: rearrange() makes
 * it true, then loop_due() says when this is to be called again. */
static bool loop_turn(const struct packer *packer)
{
    bool changed = false;
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        const char *why = reason_not_to(packer, step);

        if (why && why[0])
            say(step, why);
        if (why)
            loop_end(packer, step);
        else if (follow(packer, step))
            changed |= turn(packer, step);
    }
    return changed;
}

/* Returns the seconds until loop_turn() wants to be called though no window ends; < 0: never. */
static double loop_due(const struct packer *packer)
{
    const struct step *step;
    double in_s = -1;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        const struct size_loop *run = step->size.loop.run;

        if (run && run->profiling && (in_s < 0 || run->profiling_in_s < in_s))
            in_s = run->profiling_in_s;
    }
    return in_s;
}

/* ---- the stage ---- */

static void follow_turn(const struct packer *packer, struct turn *turn)
{
    turn->places |= loop_turn(packer);
}

static void end_loop(const struct packer *packer, struct step *step, const struct wire_end *end)
{
    (void)end;
    loop_end(packer, step);
}

static void close_loops(const struct packer *packer)
{
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link) loop_end(packer, step);
    if (packer->state->size)
        phases_close(packer->state->size->phases);
}

const struct stage loop_stage = {
    .name = "loop",
    .close = close_loops,
    .end = end_loop,
    .undo = loop_end,
    .turn = follow_turn,
    .due = loop_due,
};
