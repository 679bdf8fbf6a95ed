/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contend_study - see contend_study.h: from what is known of a program to its curves, with
 * something assumed in place of what is not known. */
#include "models/slowdown/contend_study.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "models/numa/roof.h"

#define WAYS_UNKNOWN 16 /* of a cache, where nobody knows */
#define WAITS_MOST 20   /* exposed lines under way at a time */
#define ROOM_LEAST 0.05 /* of a core's time, however many instructions it retires */

const struct contend_constants contend_constants = {
    .hit_ns = 60,
    .miss_ns = 80,
    .core_cpi = 0.38,
    .exposed = 0.4,
    .prefetched = 0.56,
    .queue = 0.44,
    .channel_gbps = ROOF_CHANNEL_GBPS,
    .reachable = 0.96,
    .lost = 0.47,
    .alone = 0.6,
    .port = 2.2,
    .port_gbps = 38,
    .core_gbps = 12.5,
    .write = 1.5,
    .written = 0.25,
    .spread = 0.22,
    .copies = 0.8,
    .sibling = 0.42,
    .culprit = 0.25,
    .unclocked = CLOCK_UNCLOCKED,
};

/* ---- what is known of a program ---- */

static double or_else(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

/* Fills in the misses per instruction of a profile; between two numbers of ways, a straight line.
 */
static void curve_of(const struct contend *contend, const struct app_sdp *sdp, double *curve)
{
    size_t steps = contend->cells / contend->ways; /* of a way */

    curve[contend->cells] = sdp->misses / 1e6;
    for (size_t i = sdp->ways; i > contend->ways; i--)
        curve[contend->cells] += sdp->hits[i - 1] / 1e6;
    for (size_t i = contend->cells; i > 0; i--) {
        size_t way = (i - 1) / steps;

        curve[i - 1] = curve[i];
        if (way < sdp->ways)
            curve[i - 1] += sdp->hits[way] / 1e6 / (double)steps;
    }
}

/* Fills in the same without a profile: of what hits with the whole cache, the part that misses with
 * a share of it falls off exponentially. */
static void curve_spread(const struct contend *contend, double accesses, double misses,
                         double *curve)
{
    double spread = contend->constants.spread, last = exp(-1 / spread);

    for (size_t i = 0; i <= contend->cells; i++) {
        double lost = exp(-(double)i / (double)contend->cells / spread) - last;

        curve[i] = misses + fmax(0, accesses - misses) * lost / (1 - last);
    }
}

/* Returns the lines that are read per instruction by what was counted of the traffic, NAN where
 * that says nothing. line_gbps: traffic of one line for each instruction. */
static double lines_read(const struct contend *contend, const struct app *app, double line_gbps)
{
    double gbps = app->mem_gbps - app->mem_write_gbps;

    if (!isnan(app->mem_read_gbps))
        return app->mem_read_gbps / line_gbps;
    if (app->sdp.ways > 0)
        return NAN;
    gbps = or_else(gbps, app->mem_gbps * (1 - contend->constants.written));
    return (gbps < 0 ? 0 : gbps) / line_gbps;
}

/* Fills in the misses per instruction of any kind. Where misses and traffic are both known and do
 * not agree, the larger one: counters may leave out what is prefetched. */
static void all_misses(const struct contend *contend, struct study *study, const struct app *app,
                       double line_gbps, double *misses)
{
    double least = fmax(app->llc_mpki / 1e3, lines_read(contend, app, line_gbps));

    if (app->sdp.ways > 0) {
        curve_of(contend, &app->sdp, misses);
        return;
    }
    study->assumed |= CONTEND_SDP;
    if (isnan(least))
        study->assumed |= CONTEND_MISSES;
    if (isnan(app->llc_apki))
        study->assumed |= CONTEND_HITS;
    least = or_else(least, 0);
    curve_spread(contend, or_else(app->llc_apki / 1e3, least), least, misses);
}

/* Of these, the ones that the program waits for: what is known best of demands, of prefetches, of
 * their shares. */
static void demand_misses(const struct contend *contend, struct study *study, const struct app *app,
                          const double *misses, double *demand)
{
    size_t cells = contend->cells;
    double share = app->llc_demand_mpki / 1e3 / misses[cells];

    if (app->sdp_demand.ways > 0) {
        curve_of(contend, &app->sdp_demand, demand);
    } else if (app->sdp_prefetch.ways > 0) {
        curve_of(contend, &app->sdp_prefetch, demand);
        for (size_t i = 0; i <= cells; i++)
            demand[i] = fmax(0, misses[i] - demand[i]);
    } else {
        study->assumed |= isfinite(share) ? CONTEND_SHARE : CONTEND_DEMAND;
        share = isfinite(share) ? share : 1;
        for (size_t i = 0; i <= cells; i++)
            demand[i] = misses[i] - fmax(0, 1 - share) * misses[cells];
    }
    for (size_t i = 0; i <= cells; i++)
        demand[i] = fmin(demand[i], misses[i]);
}

/* Lines written to memory per instruction: alone, and once nothing hits any more. Between them they
 * grow with the misses, for a line that stays collects writes. Where nothing is known of them they
 * are a part of all traffic. */
static void writes(const struct contend *contend, struct study *study, const struct app *app,
                   double line_gbps, const double *misses, double *alone, double *most)
{
    double written = contend->constants.written, each = written / (1 - written);
    double read =
        or_else(app->mem_read_gbps, app->sdp.ways > 0 ? misses[contend->cells] * line_gbps : NAN);
    double gbps = or_else(app->mem_write_gbps, app->mem_gbps - read);

    *most = app->llc_wb_apki / 1e3;
    *alone = or_else(gbps / line_gbps, *most);
    if (isnan(*alone)) {
        study->assumed |= CONTEND_WRITES;
        *alone = each * or_else(lines_read(contend, app, line_gbps), misses[contend->cells]);
        *most = *alone * (misses[contend->cells] > 0 ? misses[0] / misses[contend->cells] : 1);
    }
    *alone = fmax(*alone, 0);
    *most = fmax(*alone, or_else(*most, *alone));
}

/* ---- one program, tabulated ---- */

/* Fills in the times: a cell is touched at the rate of the misses, which within it are a straight
 * line over the share, so that the time is their logarithm. */
static void tabulate_times(const struct contend *contend, struct study *study, const double *misses,
                           double cores)
{
    double bytes = or_else(contend->machine.llc_bytes, 1 << 20);
    double lines = fmax(bytes / contend->line_bytes / (double)contend->cells, 1);
    double scale = lines * study->ns / cores, time = 0;

    study->point[0].time_ns = 0;
    for (size_t i = 0; i < contend->cells; i++) {
        double first = misses[i], less = first - misses[i + 1];

        time += scale * (less < 1e-9 * first ? 1 / first : log(first / misses[i + 1]) / less);
        study->point[i + 1].time_ns = time < FLT_MAX ? (float)time : FLT_MAX;
    }
}

/* Of the demands, the part that stands alone: the others begin what is prefetched. */
static double part_alone(const double *misses, const double *demand)
{
    return demand[0] > 0 ? fmax(0, 2 * demand[0] - misses[0]) / demand[0] : 0;
}

/* A program's time is that in which none of its exposed lines is under way, when the core works,
 * and the rest, when it waits: as lines come independently, and l of them are exposed for d ns an
 * instruction, t = core + t * (1 - exp(-l * d / t)). The more there are at a time, the more they
 * hide each other. */

/* Returns the time per instruction of which the core works that long. exposed_ns: l * d. */
static double time_of(double core_ns, double exposed_ns)
{
    double waits = log1p(exposed_ns / core_ns); /* exposed_ns / t; the root of w * exp(w) */

    for (int i = 0; i < 5; i++)
        waits -= (waits - exposed_ns / core_ns * exp(-waits)) / (1 + waits);
    return core_ns * exp(waits);
}

/* Finds what a program waits for at once, more than with all of the cache, and what grows when
 * lines are late. */
static void wait_of(double core_ns, double all_ns, double waited_ns, double late_ns, float *wait,
                    float *late)
{
    double ns = time_of(core_ns, waited_ns);

    *wait = (float)fmax(0, ns - all_ns);
    *late = (float)(ns * -expm1(-late_ns / ns));
}

/* What the program waits for: the demands that stand alone; all other lines count as `prefetched`
 * of one when they are late. A core that retires nearly as much as it can has no room for waiting.
 */
static void tabulate_waits(const struct contend *contend, struct study *study, const double *misses,
                           const double *demand, double ipc)
{
    const struct contend_constants *constants = &contend->constants;
    size_t cells = contend->cells;
    double alone = part_alone(misses, demand), prefetched = constants->prefetched;
    double exposed = constants->exposed * fmax(ROOM_LEAST, 1 - constants->core_cpi * ipc);
    double miss_ns = exposed * constants->miss_ns, hit_ns = exposed * constants->hit_ns;
    double all = alone * (demand[cells] * miss_ns + (demand[0] - demand[cells]) * hit_ns);
    double core_ns = study->ns * exp(-fmin(WAITS_MOST, all / study->ns));
    double all_ns = time_of(core_ns, all), part;

    study->works = core_ns / study->ns;
    for (size_t i = 0; i <= cells; i++) {
        double ahead = misses[i] - demand[i], waited = alone * demand[i];
        double wait = waited * miss_ns + alone * (demand[0] - demand[i]) * hit_ns;
        double late = (waited + prefetched * (misses[i] - waited)) * miss_ns;
        double copied = ahead * miss_ns + (misses[0] - demand[0] - ahead) * hit_ns;
        struct study_point *point = &study->point[i];

        wait_of(core_ns, all_ns, wait, late, &point->wait_ns, &point->late_ns);
        point->copy_wait_ns = point->wait_ns;
        point->copy_late_ns = point->late_ns;
        if (constants->copies > 0)
            wait_of(core_ns, all_ns, wait + constants->copies * copied,
                    late + constants->copies * (1 - prefetched) * ahead * miss_ns,
                    &point->copy_wait_ns, &point->copy_late_ns);
    }
    part = fmin(study->point[cells].late_ns / study->ns, 1 - 1e-9); /* 1 - exp(-x) */
    study->queue = constants->queue * (part > 1e-9 ? part / -log1p(-part) : 1);
}

/* What its lines take of the way to memory: alone as its traffic says, where that is known. */
static void tabulate_lines(struct contend *contend, struct study *study, const struct app *app,
                           double line_gbps, const double *misses)
{
    size_t cells = contend->cells;
    double most = misses[0] - misses[cells], cores = (double)app->cores, alone, written;
    double read = or_else(lines_read(contend, app, line_gbps), misses[cells]);
    double scale = app->sdp.ways == 0 && misses[cells] > 0 ? read / misses[cells] : 1;

    writes(contend, study, app, line_gbps, misses, &alone, &written);
    for (size_t i = 0; i <= cells; i++) {
        double more = scale * (misses[i] - misses[cells]);
        double lost = most > 0 ? (misses[i] - misses[cells]) / most : 0;

        study->point[i].lines =
            (float)(cores *
                    (read + more + contend->constants.write * (alone + (written - alone) * lost)));
    }
    study->gbps = study->point[cells].lines * contend->line_bytes / study->ns;
    study->read_gbps = read * contend->line_bytes / study->ns;
    if (!(contend->machine.core_gbps > 0))
        contend->core_gbps = fmax(contend->core_gbps, study->read_gbps);
}

/* The programs' times alone are anew those of what the ways carry now. */
static void study_ways(struct contend *contend)
{
    contend->carry = ways_of(contend);
    for (size_t i = 0; i < contend->n; i++)
        contend->study[i].alone_time = ways_alone(&contend->carry, &contend->study[i]);
}

/* Returns the part of its time alone that goes with the clock. */
static double works_of(const struct contend *contend, const struct study *study)
{
    return 1 - contend->constants.unclocked * (1 - study->works);
}

/* Returns how many times as long as when the program was counted a cycle takes while it is alone.
 */
static double slower_now(const struct contend *contend, const struct app *app)
{
    double now = clock_at(&contend->machine.clock, (double)app->cores);

    return app->clock_ghz >= CONTEND_LEAST && now > 0 ? app->clock_ghz / now : 1;
}

/* Finds how much of a core the program uses: by its instructions; where nobody counted them, by how
 * long its core works. */
static void study_use(struct contend *contend, struct study *study, double ipc)
{
    double use = contend->constants.core_cpi * ipc;

    study->use = fmin(1, study->assumed & CONTEND_IPC ? use * study->works : use);
    contend->uses += study->use;
    contend->users++;
}

/* What is studied anew was no user before. */
static void forget_use(struct contend *contend, struct study *study)
{
    if (study->use == 0)
        return;
    contend->uses -= study->use;
    contend->users--;
    study->use = 0;
}

static void study_app(struct contend *contend, struct study *study, const struct app *app)
{
    double misses[CONTEND_WAYS_MAX + 1], demand[CONTEND_WAYS_MAX + 1], counted_ghz, line_gbps, ipc;
    double slower = slower_now(contend, app);

    study->assumed = app->ipc >= CONTEND_LEAST ? 0 : CONTEND_IPC;
    study->cores = (double)app->cores;
    ipc = study->assumed ? 1 : app->ipc;
    counted_ghz =
        app->clock_ghz >= CONTEND_LEAST ? app->clock_ghz : or_else(contend->machine.clock_ghz, 3);
    study->ns = 1 / counted_ghz / ipc;
    line_gbps = contend->line_bytes * study->cores / study->ns;
    all_misses(contend, study, app, line_gbps, misses);
    demand_misses(contend, study, app, misses, demand);
    tabulate_waits(contend, study, misses, demand, ipc);
    if (slower != 1) {
        study->ns *= 1 + works_of(contend, study) * (slower - 1);
        tabulate_waits(contend, study, misses, demand, ipc);
    }
    tabulate_times(contend, study, misses, study->cores);
    study_use(contend, study, ipc);
    tabulate_lines(contend, study, app, line_gbps, misses);
    contend_seen(contend, study->gbps * study->ns * counted_ghz * ipc);
    study->alone_time = ways_alone(&contend->carry, study);
}

void contend_seen(struct contend *contend, double gbps)
{
    if (!(gbps > contend->seen_gbps))
        return;
    contend->seen_gbps = gbps;
    study_ways(contend);
}

double contend_most_seen(const struct contend *contend)
{
    return contend->seen_gbps;
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
        app->ipc,         app->llc_apki, app->llc_mpki,      app->llc_demand_mpki, app->clock_ghz,
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

static bool clock_valid(const struct clock_curve *clock)
{
    return !clock_is_known(clock) ||
           (figure_valid(clock->one_ghz) && figure_valid(clock->all_ghz) &&
            (!(clock->half_ghz > 0) || figure_valid(clock->half_ghz)));
}

static bool machine_valid(const struct app_machine *machine)
{
    return machine->llc_ways <= CONTEND_WAYS_MAX && figure_valid(machine->llc_bytes) &&
           figure_valid(machine->dram_gbps) && figure_valid(machine->clock_ghz) &&
           figure_valid(machine->port_gbps > 0 ? machine->port_gbps : NAN) &&
           figure_valid(machine->core_gbps > 0 ? machine->core_gbps : NAN) &&
           clock_valid(&machine->clock) && machine->dram_seen_gbps >= 0 &&
           isfinite(machine->dram_seen_gbps);
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
    size_t ways = count_ways(n, app, machine);

    if (!machine_valid(machine) || !apps_valid(n, app)) {
        errno = EINVAL;
        return NULL;
    }
    contend = malloc(sizeof(*contend) + n * sizeof(contend->study[0]));
    if (!contend)
        return NULL;
    *contend = (struct contend){.room = n,
                                .ways = ways,
                                .cells = ways * (ways < CONTEND_CELLS ? CONTEND_CELLS / ways : 1),
                                .machine = *machine,
                                .constants = constants ? *constants : contend_constants,
                                .line_bytes = line_bytes,
                                .seen_gbps = machine->dram_seen_gbps,
                                .assumed = machine_assumed(machine)};
    if (machine->own_prefetchers)
        contend->constants.copies = 0;
    contend->core_gbps =
        machine->core_gbps > 0 ? machine->core_gbps : contend->constants.core_gbps;
    contend->carry = ways_of(contend);
    while (contend->n < n) {
        study_app(contend, &contend->study[contend->n], &app[contend->n]);
        contend->n++;
    }
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
    for (; (*contend)->n <= slot; (*contend)->n++) {
        study_app(*contend, &(*contend)->study[(*contend)->n], &idle);
        forget_use(*contend, &(*contend)->study[(*contend)->n]);
    }
    forget_use(*contend, &(*contend)->study[slot]);
    study_app(*contend, &(*contend)->study[slot], app);
    return 0;
}

void contend_free(struct contend *contend)
{
    free(contend);
}

/* Returns how much a program uses its core, of what the average one does. One more that retires an
 * instruction per cycle counts among them, so that a single program says little of all. */
static double use_of(const struct contend *contend, const struct study *study)
{
    double one = contend->constants.core_cpi, mean;

    mean = (contend->uses + one) / (double)(contend->users + 1);
    return mean > 0 ? study->use / mean : 1;
}

double contend_use(const struct contend *contend, size_t i)
{
    return use_of(contend, &contend->study[i]);
}

double contend_sibling(const struct contend *contend, size_t a, size_t b)
{
    const struct contend_constants *constants = &contend->constants;
    double culprit = fmax(0, 1 + constants->culprit * (contend_use(contend, b) - 1));
    double read_gbps = contend->study[a].read_gbps + contend->study[b].read_gbps;

    return fmax(constants->sibling * contend_use(contend, a) * culprit,
                contend->core_gbps > 0 ? read_gbps / contend->core_gbps - 1 : 0);
}

double contend_sibling_mean(const struct contend *contend, size_t i)
{
    return contend->constants.sibling * contend_use(contend, i);
}

double contend_works(const struct contend *contend, size_t i)
{
    return works_of(contend, &contend->study[i]);
}

double contend_clock(const struct contend *contend, size_t i, double busy)
{
    return clock_slowdown(&contend->machine.clock, contend_works(contend, i),
                          contend->study[i].cores, busy);
}

unsigned contend_assumed(const struct contend *contend, size_t i)
{
    return i < contend->n ? contend->study[i].assumed : contend->assumed;
}
