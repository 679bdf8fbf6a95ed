/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contend_study - see contend_study.h: from what is known of a program to its curves, with
 * something assumed in place of what is not known. */
#include "models/slowdown/contend_study.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define WAYS_UNKNOWN 16 /* of a cache, where nobody knows */

const struct contend_constants contend_constants = {
    .hit_ns = 8,
    .miss_ns = 45,
    .core_cpi = 1.2,
    .exposed = 0.13,
    .doubt = 13.5,
    .prefetched = 0.08,
    .queue_ns = 255,
    .write = 1.5,
    .copies = 0.8,
};

/* ---- what is known of a program ---- */

static double or_else(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

/* Misses per instruction over the ways. */
static void curve_of(const struct app_sdp *sdp, size_t ways, double *curve)
{
    curve[ways] = sdp->misses / 1e6;
    for (size_t i = sdp->ways; i > ways; i--)
        curve[ways] += sdp->hits[i - 1] / 1e6;
    for (size_t i = ways; i > 0; i--)
        curve[i - 1] = curve[i] + (i <= sdp->ways ? sdp->hits[i - 1] / 1e6 : 0);
}

/* Without a profile: hits at each position alike. */
static void curve_even(double accesses, double misses, size_t ways, double *curve)
{
    for (size_t i = 0; i <= ways; i++)
        curve[i] = misses + fmax(0, accesses - misses) * (double)(ways - i) / (double)ways;
}

/* Misses per instruction of any kind over the ways. line_gbps: traffic of one line for each
 * instruction. */
static void all_misses(const struct contend *contend, struct study *study, const struct app *app,
                       double line_gbps, double *misses)
{
    double least = or_else(app->llc_mpki / 1e3, app->mem_read_gbps / line_gbps);

    if (app->sdp.ways > 0) {
        curve_of(&app->sdp, contend->ways, misses);
        return;
    }
    least = or_else(least, app->mem_gbps / line_gbps);
    study->assumed |= CONTEND_SDP;
    if (isnan(least))
        study->assumed |= CONTEND_MISSES;
    if (isnan(app->llc_apki))
        study->assumed |= CONTEND_HITS;
    least = or_else(least, 0);
    curve_even(or_else(app->llc_apki / 1e3, least), least, contend->ways, misses);
}

/* Of these, the ones that the program waits for: what is known best of demands, of prefetches, of
 * their shares. */
static void demand_misses(const struct contend *contend, struct study *study, const struct app *app,
                          const double *misses, double *demand)
{
    size_t ways = contend->ways;
    double share = app->llc_demand_mpki / 1e3 / misses[ways];

    if (app->sdp_demand.ways > 0) {
        curve_of(&app->sdp_demand, ways, demand);
    } else if (app->sdp_prefetch.ways > 0) {
        curve_of(&app->sdp_prefetch, ways, demand);
        for (size_t i = 0; i <= ways; i++)
            demand[i] = fmax(0, misses[i] - demand[i]);
    } else {
        study->assumed |= isfinite(share) ? CONTEND_SHARE : CONTEND_DEMAND;
        share = isfinite(share) ? share : 1;
        for (size_t i = 0; i <= ways; i++)
            demand[i] = misses[i] - fmax(0, 1 - share) * misses[ways];
    }
    for (size_t i = 0; i <= ways; i++)
        demand[i] = fmin(demand[i], misses[i]);
}

/* Lines written to memory per instruction: alone, and once nothing hits any more. Between them they
 * grow with the misses, for a line that stays collects writes. */
static void writes(struct study *study, const struct app *app, double line_gbps, double misses,
                   double *alone, double *most)
{
    double read = or_else(app->mem_read_gbps, misses * line_gbps);
    double gbps = or_else(app->mem_write_gbps, app->mem_gbps - read);

    *most = app->llc_wb_apki / 1e3;
    *alone = or_else(gbps / line_gbps, *most);
    if (isnan(*alone))
        study->assumed |= CONTEND_WRITES;
    *alone = fmax(or_else(*alone, 0), 0);
    *most = fmax(*alone, or_else(*most, *alone));
}

/* ---- one program, tabulated ---- */

/* Ways that are touched within each point's time: d(ways)/dt is the rate of misses with that many
 * ways, in ways of `lines` lines. Misses are a straight line between two numbers of ways, so that
 * the footprint grows exponentially there. */
static void tabulate_footprint(const struct contend *contend, struct study *study,
                               const double *misses, double lines, size_t cores)
{
    double per_ns = (double)cores / study->ns / lines;
    double begin = 0; /* ns at which `way` ways are full */
    size_t way = 0;

    for (size_t point = 0; point < CONTEND_POINTS; point++) {
        double time = exp2((double)point / CONTEND_STEPS), part = 0;

        while (way < contend->ways) {
            double rate = misses[way] * per_ns, slope = rate - misses[way + 1] * per_ns;
            bool straight = slope < 1e-9 * rate;
            double whole = straight ? 1 / rate : log(misses[way] / misses[way + 1]) / slope;

            if (!(time >= begin + whole)) {
                double grown = (time - begin) * (straight ? rate : slope);

                part = rate > 0 ? straight ? grown : -expm1(-grown) * rate / slope : 0;
                break;
            }
            begin += whole;
            way++;
        }
        study->footprint[point] = fmin((double)way + part, (double)contend->ways);
    }
}

/* Of the demands, the part that stands alone: the others begin what is prefetched. */
static double part_alone(const double *misses, const double *demand)
{
    return demand[0] > 0 ? fmax(0, 2 * demand[0] - misses[0]) / demand[0] : 0;
}

/* The part of a demand's latency that the program waits for lies between two guesses: the usual
 * one, and what its time alone says, that the cycles which the core does not need itself are spent
 * waiting. Least squares: the more there is to wait for, the more its time tells. */
static double exposed_of(const struct contend_constants *constants, double wait_cycles, double cpi)
{
    double spare = fmax(0, cpi - constants->core_cpi), doubt = constants->doubt;

    return fmin(1, (constants->exposed * doubt + wait_cycles * spare) /
                       (doubt + wait_cycles * wait_cycles));
}

/* What the program waits for. An exposed part of the demands that stand alone, hits and misses, as
 * far as its time alone has room for it; of all other lines the part `prefetched` of their delay.
 */
static void tabulate_waits(const struct contend *contend, struct study *study, const double *misses,
                           const double *demand, double cycle_ns)
{
    const struct contend_constants *constants = &contend->constants;
    size_t ways = contend->ways;
    double alone = part_alone(misses, demand);
    double hits_ns = alone * (demand[0] - demand[ways]) * constants->hit_ns;
    double misses_ns = alone * demand[ways] * constants->miss_ns;
    double exposed = exposed_of(constants, (hits_ns + misses_ns) / cycle_ns, study->ns / cycle_ns);
    double room = fmin(1, study->ns / (exposed * (hits_ns + misses_ns)));

    for (size_t i = 0; i <= ways; i++) {
        double prefetched = misses[i] - demand[i], waited = exposed * alone * demand[i];

        study->wait_ns[i] = room * waited * constants->miss_ns;
        study->late[i] = room * (waited + constants->prefetched * (misses[i] - alone * demand[i]));
        study->copy_ns[i] = room * exposed * constants->copies *
                            (prefetched * constants->miss_ns +
                             (misses[0] - demand[0] - prefetched) * constants->hit_ns);
        study->copy_late[i] =
            room * constants->copies * prefetched * fmax(0, exposed - constants->prefetched);
    }
}

static void tabulate_lines(const struct contend *contend, struct study *study, const double *misses,
                           double cores, double written_alone, double written_most)
{
    size_t ways = contend->ways;
    double most = misses[0] - misses[ways];

    for (size_t i = 0; i <= ways; i++) {
        double lost = most > 0 ? (misses[i] - misses[ways]) / most : 0;
        double written = written_alone + (written_most - written_alone) * lost;

        study->lines[i] = cores * (misses[i] + contend->constants.write * written);
    }
}

static void study_app(const struct contend *contend, struct study *study, const struct app *app)
{
    const struct app_machine *machine = &contend->machine;
    double line_bytes = contend->line_bytes;
    double way_lines = or_else(machine->llc_bytes, 1 << 20) / line_bytes / (double)contend->ways;
    double misses[CONTEND_WAYS_MAX + 1], demand[CONTEND_WAYS_MAX + 1], written_alone, written_most;
    double cycle_ns = 1 / or_else(machine->clock_ghz, 3), line_gbps;

    study->assumed = app->ipc >= CONTEND_LEAST ? 0 : CONTEND_IPC;
    study->ns = cycle_ns / (study->assumed ? 1 : app->ipc);
    line_gbps = line_bytes * (double)app->cores / study->ns;
    all_misses(contend, study, app, line_gbps, misses);
    demand_misses(contend, study, app, misses, demand);
    writes(study, app, line_gbps, misses[contend->ways], &written_alone, &written_most);
    tabulate_waits(contend, study, misses, demand, cycle_ns);
    tabulate_lines(contend, study, misses, (double)app->cores, written_alone, written_most);
    tabulate_footprint(contend, study, misses, fmax(way_lines, 1), app->cores);
}

static bool sdp_valid(const struct app_sdp *sdp)
{
    if (sdp->ways > CONTEND_WAYS_MAX)
        return false;
    for (size_t i = 0; i < sdp->ways; i++)
        if (!(sdp->hits[i] >= 0 && isfinite(sdp->hits[i])))
            return false;
    return sdp->ways == 0 || (sdp->misses >= 0 && isfinite(sdp->misses));
}

static bool app_valid(const struct app *app)
{
    const double figure[] = {
        app->ipc,         app->llc_apki, app->llc_mpki,      app->llc_demand_mpki,
        app->llc_wb_apki, app->mem_gbps, app->mem_read_gbps, app->mem_write_gbps};
    const struct app_sdp *sdp[] = {&app->sdp, &app->sdp_demand, &app->sdp_prefetch,
                                   &app->sdp_writeback};

    for (size_t i = 0; i < sizeof(figure) / sizeof(figure[0]); i++)
        if (figure[i] < 0 || isinf(figure[i]))
            return false;
    for (size_t i = 0; i < sizeof(sdp) / sizeof(sdp[0]); i++)
        if (!sdp_valid(sdp[i]))
            return false;
    return app->cores > 0;
}

/* ---- a machine and its programs ---- */

static size_t count_ways(size_t n, const struct app *app, const struct app_machine *machine)
{
    size_t ways = machine->llc_ways;

    for (size_t i = 0; machine->llc_ways == 0 && i < n; i++)
        if (app[i].sdp.ways > ways)
            ways = app[i].sdp.ways;
    return ways ? ways : WAYS_UNKNOWN;
}

static bool figure_valid(double value)
{
    return isnan(value) || (value >= CONTEND_LEAST && isfinite(value));
}

static bool machine_valid(const struct app_machine *machine)
{
    return machine->llc_ways <= CONTEND_WAYS_MAX && figure_valid(machine->llc_bytes) &&
           figure_valid(machine->dram_gbps) && figure_valid(machine->clock_ghz);
}

static bool apps_valid(size_t n, const struct app *app)
{
    for (size_t i = 0; i < n; i++)
        if (!app_valid(&app[i]))
            return false;
    return true;
}

static unsigned machine_assumed(const struct app_machine *machine)
{
    return (isnan(machine->clock_ghz) ? CONTEND_CLOCK : 0) |
           (machine->line_bytes ? 0 : CONTEND_LINE) |
           (machine->dram_gbps > 0 ? 0 : CONTEND_BANDWIDTH) |
           (machine->llc_ways ? 0 : CONTEND_WAYS) | (isnan(machine->llc_bytes) ? CONTEND_BYTES : 0);
}

struct contend *contend_new(size_t n, const struct app *app, const struct app_machine *machine,
                            const struct contend_constants *constants)
{
    struct contend *contend;
    double line_bytes = machine->line_bytes ? (double)machine->line_bytes : 64;

    if (!machine_valid(machine) || !apps_valid(n, app)) {
        errno = EINVAL;
        return NULL;
    }
    contend = malloc(sizeof(*contend) + n * sizeof(contend->study[0]));
    if (!contend)
        return NULL;
    *contend =
        (struct contend){.n = n,
                         .room = n,
                         .ways = count_ways(n, app, machine),
                         .machine = *machine,
                         .constants = constants ? *constants : contend_constants,
                         .line_bytes = line_bytes,
                         .line_ns = machine->dram_gbps > 0 ? line_bytes / machine->dram_gbps : 0,
                         .assumed = machine_assumed(machine)};
    if (machine->own_prefetchers)
        contend->constants.copies = 0;
    for (size_t i = 0; i < n; i++)
        study_app(contend, &contend->study[i], &app[i]);
    return contend;
}

/* Makes room for that many programs. 0, or -1 with *contend as it was. */
static int contend_grow(struct contend **contend, size_t n)
{
    struct contend *grown;
    size_t room = (*contend)->room;

    if (n <= room)
        return 0;
    room = room ? room : 8;
    while (room < n)
        room *= 2;
    grown = realloc(*contend, sizeof(*grown) + room * sizeof(grown->study[0]));
    if (!grown)
        return -1;
    grown->room = room;
    *contend = grown;
    return 0;
}

int contend_set(struct contend **contend, size_t slot, const struct app *app)
{
    static const double no_hits[1];
    const struct app idle = {.ipc = 1, .sdp = {1, no_hits, 0}, .cores = 1};

    if (!app_valid(app)) {
        errno = EINVAL;
        return -1;
    }
    if (contend_grow(contend, slot + 1) < 0)
        return -1;
    while ((*contend)->n <= slot)
        study_app(*contend, &(*contend)->study[(*contend)->n++], &idle);
    study_app(*contend, &(*contend)->study[slot], app);
    return 0;
}

void contend_free(struct contend *contend)
{
    free(contend);
}

unsigned contend_assumed(const struct contend *contend, size_t i)
{
    return i < contend->n ? contend->study[i].assumed : contend->assumed;
}
