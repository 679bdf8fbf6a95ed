/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profiling - see profiling.h
 *
 * The race it lives with: the threads of a large step are given their cores after the step is said
 * to stand there (enact.h); it is waited for. */
#include "packer/size/profiling.h"

#include <math.h>
#include <stdlib.h>

#include "packer/observe/window.h"
#include "packer/size/cores.h"
#include "packer/steps/stand.h"
#include "packer/steps/step_counts.h"
#include "packer/system/cpu_busy.h"

#define AT_WORK                                                                                    \
    0.5 /* of its cores: a program that did less was stopped, or waited for something              \
         */

struct profiling {
    double asked_s; /* when it was begun, on the step's clock */
    double until_s; /* and when it is over; NAN: the step does not stand there yet */
    struct counters_sample before, after;
    struct by_node by[2]; /* of the two: what was counted apart for each node */
    bool whole;           /* both were read */
    struct cpu_busy busy;
    bool busy_known, disturbed;
    struct cpus beside; /* CPUs of the NUMA nodes that it does not use meanwhile */
    size_t cores;
    unsigned count[]; /* [NUMA nodes] */
};

static double age_of(const struct step *step)
{
    return clock_s() - step->started_mono_s;
}

/* ---- whether ---- */

static double threads_of(const struct step *step)
{
    const struct counters_sample *last = &step->counts->last;

    return counters_know(last, COUNTER_THREADS) ? last->value[COUNTER_THREADS] : NAN;
}

static bool another_runs(const struct packer *packer, const struct step *step)
{
    const struct step *other;

    TAILQ_FOREACH(other, &packer->steps->live, link)
    if (other != step && !cpus_empty(&other->size.loop.only))
        return true;
    return false;
}

/* Returns the NUMA nodes that it has cores of, and *lone, how many cores a run would take. */
static size_t nodes_of(const struct packer *packer, const struct step *step, size_t *lone)
{
    unsigned *count = calloc(packer->world.topo->nodes + 1, sizeof(*count));
    size_t nodes = 0;
    struct cpus only;

    *lone = 0;
    if (!count)
        return 0;
    *lone = size_cores_lone(packer, step, &only, count);
    for (size_t i = 0; i < packer->world.topo->nodes; i++)
        nodes += count[i] > 0;
    free(count);
    return nodes;
}

const char *profiling_unfit(const struct packer *packer, const struct step *step)
{
    size_t lone, nodes = nodes_of(packer, step, &lone);

    if (step->state != STEP_PLACED)
        return "only observed: not profiled";
    if (step->share.cores > 0)
        return "it shares cores with another job: not profiled";
    if (lone == 0 || lone >= step->size.given)
        return "its tasks have no core to spare: not profiled";
    if (threads_of(step) <= (double)nodes)
        return "it has no more threads than memory nodes: not profiled";
    if (another_runs(packer, step))
        return "waits: another step is profiled";
    return NULL;
}

/* ---- the run ---- */

/* The CPUs of the step's NUMA nodes that others may work on. */
static void find_beside(const struct packer *packer, const struct step *step, struct cpus *beside)
{
    const struct topo *topo = packer->world.topo;
    struct cpus home, stand, only;

    size_cores_union(step, false, &home);
    stand_image(packer, packer->pool, &home, &stand);
    stand_image(packer, packer->pool, &step->size.loop.only, &only);
    cpus_zero(beside);
    for (size_t i = 0; i < topo->nodes; i++)
        if (cpus_intersect(&topo->node[i].cpus, &stand))
            cpus_or(beside, &topo->node[i].cpus);
    cpus_andnot(beside, &only);
}

struct profiling *profiling_begin(const struct packer *packer, struct step *step)
{
    struct profiling *profiling =
        calloc(1, sizeof(*profiling) + packer->world.topo->nodes * sizeof(profiling->count[0]));

    if (!profiling)
        return NULL;
    profiling->asked_s = age_of(step);
    profiling->until_s = NAN;
    profiling->cores = size_cores_lone(packer, step, &step->size.loop.only, profiling->count);
    window_hold(step);
    return profiling;
}

/* Does every task stand on these cores alone, and all of its threads, as far as that is looked at?
 */
static bool stands(const struct packer *packer, const struct step *step)
{
    for (size_t i = 0; i < step->body.ntasks; i++)
        if (!cpus_subset(&step->body.task[i].use, &step->size.loop.only))
            return false;
    return step->enacted.verified || !packer->world.enforce->way->touches;
}

static void begin_reading(const struct packer *packer, struct step *step,
                          struct profiling *profiling)
{
    find_beside(packer, step, &profiling->beside);
    if (window_read_by_node(packer, step, &profiling->before, &profiling->by[0]) < 0)
        return;
    profiling->busy_known = cpu_busy_read(&packer->world.root, &profiling->busy, NULL) == 0;
    profiling->until_s = age_of(step) + PROFILING_S;
}

static void end_reading(const struct packer *packer, struct step *step, struct profiling *profiling)
{
    double busy_s = profiling->busy_known ? cpu_busy_sum(&profiling->busy, &profiling->beside) : 0;
    struct cpu_busy now;

    profiling->whole = window_read_by_node(packer, step, &profiling->after, &profiling->by[1]) == 0;
    profiling->disturbed =
        !profiling->busy_known || cpu_busy_read(&packer->world.root, &now, NULL) < 0 ||
        cpu_busy_sum(&now, &profiling->beside) - busy_s > WINDOW_FOREIGN * PROFILING_S;
}

double profiling_turn(const struct packer *packer, struct step *step, struct profiling *profiling)
{
    double now_s = age_of(step);

    if (isnan(profiling->until_s)) {
        if (stands(packer, step))
            begin_reading(packer, step, profiling);
        if (!isnan(profiling->until_s))
            return PROFILING_S;
        return now_s - profiling->asked_s < PROFILING_SETTLE_S ? PROFILING_S / 10 : 0;
    }
    if (now_s < profiling->until_s)
        return profiling->until_s - now_s;
    end_reading(packer, step, profiling);
    return 0;
}

void profiling_end(const struct packer *packer, struct step *step, struct profiling *profiling)
{
    struct counters_sample now;

    cpus_zero(&step->size.loop.only);
    if (!profiling->whole && window_read(packer, step, &profiling->after) < 0)
        return;
    now = profiling->after;
    now.by_node = NULL; /* the room goes with the run */
    window_resume(packer, step, &now);
}

void profiling_free(struct profiling *profiling)
{
    free(profiling);
}

/* ---- what it has shown ---- */

/* What a counter has counted; NAN: it is not known. */
static double counted(const struct profiling *profiling, enum counter counter)
{
    if (!counters_know(&profiling->before, counter) || !counters_know(&profiling->after, counter))
        return NAN;
    return profiling->after.value[counter] - profiling->before.value[counter];
}

int profiling_result(const struct packer *packer, const struct step *step,
                     const struct profiling *profiling, struct size_traffic *traffic,
                     struct opticore_signature *signature, struct berth_error *err)
{
    double seconds = profiling->after.at_s - profiling->before.at_s;
    double instructions = counted(profiling, COUNTER_INSTRUCTIONS) / 1e6;

    *traffic = (struct size_traffic){0};
    if (!profiling->whole || !(seconds > 0))
        return berth_error_set(err, "it did not come to stand on its cores");
    if (counted(profiling, COUNTER_CPU_NS) < AT_WORK * seconds * 1e9 * (double)profiling->cores)
        return berth_error_set(err, "it did not work");
    signature->rate[OPTICORE_MISSES] = counted(profiling, COUNTER_LLC_MISSES) / instructions;
    signature->rate[OPTICORE_BYTES] = counted(profiling, COUNTER_BYTES) / instructions;
    signature->region = step->inside.region;
    if (traffic_measure(packer, step, &profiling->before, &profiling->after, profiling->count,
                        profiling->disturbed, traffic, err) < 0)
        return -1;
    traffic->disturbed = profiling->disturbed;
    return 0;
}
