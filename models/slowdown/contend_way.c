/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contend_way - see contend_stands.h: for given shares, the stretch of a way to memory is the root
 * of another function: the longer it takes, the less is asked of it, and the less it is asked the
 * shorter it takes. */
#include <math.h>

#include "models/numa/roof.h"
#include "models/slowdown/contend_stands.h"

#define LOAD_ALONE 0.95    /* of what memory gives, by a program alone */
#define STRETCH_MAX 100.0  /* of memory's time */
#define STRETCH_LEAST 1e-9 /* more than 1: less is none */

/* How long a memory node takes at that load. */
struct pace {
    double stretch, rise; /* and how fast it grows with the stretch */
    double load;
};

static struct pace pace_of(double stretch, double roof)
{
    struct pace pace = {.stretch = stretch};

    pace.load = roof_load(stretch, roof, &pace.rise);
    return pace;
}

/* Returns how long a line takes a program on that way, and by how much that rises with the stretch.
 * A line that is hidden by others is not missed when it comes a little later; but all wait where
 * memory cannot give more. */
static double time_on(const struct tenant *tenant, const struct pace *pace, double *rise)
{
    *rise = 1 + tenant->study->queue * pace->rise;
    return pace->stretch + tenant->study->queue * pace->load;
}

double tenant_ns(const struct tenant *tenant, double time)
{
    return fmax(tenant->study->ns,
                tenant->base_ns + tenant->late_ns * (time / tenant->study->alone_time - 1));
}

static struct tenant *next_on(const struct way *way, const struct tenant *tenant)
{
    return way->port ? tenant->next : tenant->behind;
}

/* Returns what a way is asked for, as part of what it can carry. Fills in how fast that falls with
 * the stretch. */
static double asked(const struct way *way, const struct pace *pace, double *fall)
{
    double gbps = way->others, rise;

    *fall = 0;
    for (const struct tenant *tenant = way->first; tenant; tenant = next_on(way, tenant)) {
        double other = way->port ? tenant->memory_time - 1 : tenant->port_time;
        double ns = tenant_ns(tenant, time_on(tenant, pace, &rise) + other);
        double part = tenant->count * tenant->gbps / ns;

        gbps += part;
        *fall += part * tenant->late_ns / tenant->study->alone_time * rise / ns;
    }
    *fall /= way->gbps;
    return gbps / way->gbps;
}

/* Returns the pace that a program alone finds. */
static struct pace pace_alone(const struct study *study, double gbps, double roof)
{
    double load = gbps > 0 ? fmin(study->gbps / gbps, LOAD_ALONE) : 0;

    return (struct pace){.stretch = roof_stretch_at(load, roof), .load = load};
}

/* Finds the pace at which a way carries what it is asked for: what is asked falls with the stretch,
 * what can be carried rises. Newton's steps within a bracket, from the last turn's, at first from
 * what programs would have that only wait for memory. */
static struct pace pace_find(const struct way *way, double roof)
{
    double low = 1, high = STRETCH_MAX, fall, stretch = way->stretch;
    struct pace pace = {.stretch = 1};

    if (stretch == 0)
        stretch = roof_stretch(asked(way, &pace, &fall), roof);
    stretch = fmin(stretch, STRETCH_MAX);
    for (int i = 0; i < STANDS_ROOT_MAX && stretch > 1 + STRETCH_LEAST; i++) {
        double more, step;

        pace = pace_of(stretch, roof);
        more = asked(way, &pace, &fall) - pace.load;
        *(more > 0 ? &low : &high) = stretch;
        step = more / (fall + pace.rise);
        if (fabs(step) < STANDS_TOLERANCE / 4 * stretch)
            break;
        stretch += step;
        if (!(stretch > low && stretch < high))
            stretch = (low + high) / 2;
    }
    return pace;
}

void way_time(const struct stands *stands, struct way *way)
{
    struct pace pace = {.stretch = 1};
    double rise;

    if (!way->first || !(way->gbps > 0))
        return;
    if (stand_is_alone(way->first, next_on(way, way->first)) && way->others == 0)
        pace = pace_alone(way->first->study, way->gbps, stands->carry->roof);
    else
        pace = pace_find(way, stands->carry->roof);
    way->stretch = pace.stretch;
    for (struct tenant *tenant = way->first; tenant; tenant = next_on(way, tenant)) {
        double time = time_on(tenant, &pace, &rise);

        *(way->port ? &tenant->port_time : &tenant->memory_time) = way->port ? time - 1 : time;
    }
}

/* Returns what one program was seen to draw, taken to be part of what can be had. */
static double seen_of(const struct contend *contend)
{
    return contend->seen_gbps / contend->constants.alone;
}

/* Finds what a memory node can give, GB/s, and over how many channels. */
static void memory_of(const struct contend *contend, double *reachable_gbps, double *channels)
{
    const struct app_machine *machine = &contend->machine;
    const struct contend_constants *constants = &contend->constants;
    double seen = seen_of(contend);
    double gbps =
        isnan(machine->dram_gbps) ? fmax(constants->channel_gbps, seen) : machine->dram_gbps;

    *channels = roof_channels(gbps, constants->channel_gbps);
    *reachable_gbps = gbps;
    if (machine->dram_calibrated && machine->dram_gbps > 0)
        return;
    *reachable_gbps *= fmax(0, constants->reachable - constants->lost / *channels);
    *reachable_gbps = fmax(*reachable_gbps, seen);
}

/* Returns what a cache's port can carry; 0: it is the only one behind its memory node, and so has
 * none that could be told from that. Where nobody measured it, it carries what a program was seen
 * to draw. */
static double port_of(const struct contend *contend, double memory_gbps)
{
    double caches = (double)contend->machine.caches, even;

    if (caches < 2)
        return 0;
    if (contend->machine.port_gbps > 0)
        return fmin(contend->machine.port_gbps, memory_gbps);
    even = memory_gbps * fmin(1, contend->constants.port / caches);
    return fmin(fmax(even, fmin(seen_of(contend), memory_gbps)), contend->constants.port_gbps);
}

struct study_ways ways_of(const struct contend *contend)
{
    struct study_ways ways;
    double channels;

    memory_of(contend, &ways.memory_gbps, &channels);
    ways.roof = roof_sharp(channels);
    ways.port_gbps = port_of(contend, ways.memory_gbps);
    return ways;
}

double ways_alone(const struct study_ways *ways, const struct study *study)
{
    struct pace memory = pace_alone(study, ways->memory_gbps, ways->roof);
    struct pace port = pace_alone(study, ways->port_gbps, ways->roof);

    return memory.stretch + port.stretch - 1 + study->queue * (memory.load + port.load);
}

void ways_open(struct stands *stands, double others_gbps)
{
    const struct study_ways *carry = stands->carry = &stands->contend->carry;

    for (size_t i = 0; i < stands->memories; i++)
        stands->memory[i] =
            (struct way){.gbps = carry->memory_gbps,
                         .others = fmin(others_gbps, LOAD_ALONE * carry->memory_gbps)};
    for (size_t i = 0; i < stands->caches; i++)
        stands->cache[i] = (struct cache){.port = {.port = true, .gbps = carry->port_gbps}};
}
