/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flexible - see flexible.h
 *
 * What was measured goes before the paper's figures, each by itself: what an update of memory and a
 * suspending system call take (berthctl calibrate), and how often a thread of the program
 * synchronises: in earlier runs it gave up its CPU at most so often. */
#include "packer/size/flexible.h"

#include <math.h>

#include "models/numa/flexthread.h"
#include "packer/steps/program.h"

/* The paper's: at least 8 of 32 cores; 5 % for uneven load, 5 % for synchronisation; as often as
 * streamcluster synchronises, and as long as it takes there (section 6.6.2). */
#define CORES_PART 4
#define LOSS 0.05
#define SYNC_HZ 667
#define MEMORY_NS 200
#define SYSCALL_NS 2000

/* Longer than that no line and no call of a quiet machine takes; and runs that were so far apart
 * say nothing. */
#define MOST_NS 20000
#define SPREAD_MOST 0.5

static double believed(const struct machine_figure *figure)
{
    return figure->value < MOST_NS && !(figure->spread > SPREAD_MOST) ? figure->value : NAN;
}

/* The longest way of a cache line between two cores; NAN: it was not measured. */
static double farthest_ns(const struct machine_profile *machine)
{
    double most = NAN;

    for (size_t i = 0; machine && i < machine->nodes * machine->nodes; i++)
        most = fmax(most, believed(&machine->core_latency[i]));
    return most;
}

static double rate_of(const struct packer *packer, const struct step *step, enum profile_rate rate)
{
    struct profile_sample sample;
    struct berth_error err;

    return packer->state->profiles && program_sample(packer, step, rate, &sample, &err) == 1
               ? sample.rate[rate].mean
               : NAN;
}

/* How often a second a thread of it gave up its CPU in earlier runs; NAN: not known. */
static double sync_rate(const struct packer *packer, const struct step *step)
{
    return rate_of(packer, step, PROFILE_SWITCHES_PER_S) / rate_of(packer, step, PROFILE_THREADS);
}

static double known_else(double measured, double else_)
{
    return measured > 0 && isfinite(measured) ? measured : else_;
}

size_t flexible_threads(const struct packer *packer, const struct step *step, size_t cores)
{
    const struct wire_options *o = &step->request.options;
    const struct machine_profile *machine = packer->world.machine;
    struct flexthread wanted;

    if (!o->flex || step->request.user_omp_threads || cores == 0)
        return 0;
    if (o->flex_threads)
        return o->flex_threads;
    wanted = (struct flexthread){
        .cores_min = (cores + CORES_PART - 1) / CORES_PART,
        .cores_max = cores,
        .imbalance = LOSS,
        .overhead = LOSS,
        .sync_hz = known_else(sync_rate(packer, step), SYNC_HZ),
        .memory_ns = known_else(farthest_ns(machine), MEMORY_NS),
        .syscall_ns = known_else(machine ? believed(&machine->suspend_ns) : NAN, SYSCALL_NS)};
    return flexthread_count(&wanted, FLEXTHREAD_NOISE);
}
