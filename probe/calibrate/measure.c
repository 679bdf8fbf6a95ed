/* SPDX-License-Identifier: GPL-2.0-or-later */
/* measure - see measure.h.
 *
 * The list of measurements is gone through twice: first only to add up how long they take, so that
 * the progress that is told is that of the very list that is then worked off. */
#include "probe/calibrate/measure.h"
#include <math.h>
#include <numa.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probe/calibrate/fit.h"
#include "probe/calibrate/places.h"
#include "probe/calibrate/run.h"

#define WINDOW_S 0.05
#define WARM_S 0.01
#define QUICK_WINDOW_S 0.02
#define QUICK_WARM_S 0.005
#define PIECE_ALIGN ((size_t)65536)
#define CONTENTION_POINTS 9
#define PING_PARTNERS 3

struct session {
    const struct calibrate_wish *wish;
    struct machine_profile *profile;
    struct place *place;
    size_t places;
    struct calibrate_worker *worker; /* [all cores] */
    double *run;                     /* [runs] */
    double warm_s, window_s, done_s, total_s;
    bool planning;
};

/* ---- one measurement, and its repetition ---- */

/* Lets the first n workers work; `what` tells people. Does nothing but add up the time while the
 * list is planned. */
static int measure(struct session *session, size_t n, struct berth_error *err, const char *what,
                   ...) __attribute__((format(printf, 4, 5)));

static int measure(struct session *session, size_t n, struct berth_error *err, const char *what,
                   ...)
{
    const struct calibrate_wish *wish = session->wish;
    double seconds = session->warm_s + session->window_s;
    char text[96];
    va_list args;

    if (session->planning) {
        session->total_s += seconds;
        return 0;
    }
    va_start(args, what);
    vsnprintf(text, sizeof(text), what, args);
    va_end(args);
    if (wish->progress(session->done_s, session->total_s, text, wish->arg))
        return berth_error_set(err, "interrupted");
    session->done_s += seconds;
    return calibrate_run(session->worker, n, session->warm_s, session->window_s, err);
}

/* Lets the cores of `of` read or triad a part of a memory: `part` of `parts`, each core its own
 * piece. They become workers from `first` on. Returns the next worker's number. */
static size_t put_streams(struct session *session, size_t first, const struct place *of,
                          size_t cores, enum calibrate_work work, const struct place *memory,
                          size_t part, size_t parts)
{
    size_t share = memory->bytes / parts, piece = share / cores / PIECE_ALIGN * PIECE_ALIGN;

    if (session->planning)
        return first + cores;
    if (piece == 0)
        piece = PIECE_ALIGN;
    for (size_t i = 0; i < cores; i++) {
        size_t at = part * share + i * piece;

        if (at + piece > memory->bytes) /* more cores than pieces: they share the last one */
            at = memory->bytes - piece;
        session->worker[first + i] = (struct calibrate_worker){
            .work = work, .cpu = of->cpu[i], .memory = memory->memory + at, .bytes = piece};
    }
    return first + cores;
}

/* Returns the GB/s of workers first .. last - 1. */
static double sum_gbps(const struct session *session, size_t first, size_t last)
{
    double sum = 0;

    for (size_t i = first; i < last; i++)
        sum += session->worker[i].rate;
    return sum / 1e9;
}

/* Runs the n streams as often as wanted. */
static int repeat_streams(struct session *session, size_t n, struct machine_figure *figure,
                          struct berth_error *err, const char *what, unsigned from, unsigned to)
{
    for (unsigned r = 0; r < session->wish->runs; r++) {
        if (measure(session, n, err, what, from, to) < 0)
            return -1;
        session->run[r] = sum_gbps(session, 0, n);
    }
    *figure = calibrate_figure(session->run, session->wish->runs);
    return 0;
}

/* ---- what is measured ---- */

/* Says whether so many cores are measured: all counts; if quick, powers of two and all cores. */
static bool wanted_count(const struct session *session, const struct place *place, size_t cores)
{
    return !session->wish->quick || cores == place->cores || (cores & (cores - 1)) == 0;
}

static int measure_local(struct session *session, size_t p, enum calibrate_work work,
                         struct machine_figure *figure, struct berth_error *err)
{
    const struct place *place = &session->place[p];

    for (size_t cores = 1; cores <= place->cores; cores++) {
        if (!wanted_count(session, place, cores))
            continue;
        put_streams(session, 0, place, cores, work, place, 0, 1);
        if (repeat_streams(session, cores, &figure[cores], err,
                           work == CALIBRATE_READ ? "node %u: reads, cores: %u"
                                                  : "node %u: triad, cores: %u",
                           place->node->os_index, (unsigned)cores) < 0)
            return -1;
    }
    return 0;
}

/* Lists the node's cores that share the last-level cache of its first one, into cpu[]. Returns how
 * many they are. */
static size_t cores_of_cache(const struct session *session, const struct place *place,
                             unsigned *cpu)
{
    const struct topo *topo = session->wish->topo;
    long first = topo_core_of_cpu(topo, place->cpu[0]);
    size_t n = 0;

    for (size_t i = 0; i < place->cores; i++) {
        long core = topo_core_of_cpu(topo, place->cpu[i]);

        if (core >= 0 && first >= 0 && topo->core[core].llc == topo->core[first].llc)
            cpu[n++] = place->cpu[i];
    }
    return n;
}

/* Measures what the cores of one cache read: the most that any number of them does. */
static int measure_one_cache(struct session *session, size_t p, const struct place *cache,
                             struct berth_error *err)
{
    struct machine_figure *most = &session->profile->node[p].cache, figure = {NAN, NAN};

    for (size_t cores = 1; cores <= cache->cores;) {
        put_streams(session, 0, cache, cores, CALIBRATE_READ, &session->place[p], 0, 1);
        if (repeat_streams(session, cores, &figure, err, "node %u: one cache, cores: %u",
                           cache->node->os_index, (unsigned)cores) < 0)
            return -1;
        if (!session->planning && !(figure.value <= most->value))
            *most = figure;
        cores = cores < cache->cores && 2 * cores > cache->cores ? cache->cores : 2 * cores;
    }
    return 0;
}

/* Where a node has several caches, each has a way of its own to the memory. */
static int measure_cache(struct session *session, size_t p, struct berth_error *err)
{
    struct place cache = session->place[p];
    int rc = 0;

    cache.cpu = calloc(cache.cores, sizeof(*cache.cpu));
    if (!cache.cpu)
        return berth_no_memory(err);
    cache.cores = cores_of_cache(session, &session->place[p], cache.cpu);
    if (cache.cores < session->place[p].cores)
        rc = measure_one_cache(session, p, &cache, err);
    free(cache.cpu);
    return rc;
}

static int measure_latency(struct session *session, size_t from, size_t to, struct berth_error *err)
{
    const struct place *memory = &session->place[from], *core = &session->place[to];
    unsigned runs = session->wish->runs;

    for (unsigned r = 0; r < runs; r++) {
        session->worker[0] = (struct calibrate_worker){.work = CALIBRATE_CHASE,
                                                       .cpu = core->cpu[0],
                                                       .memory = memory->memory,
                                                       .bytes = memory->chain_bytes};
        if (measure(session, 1, err, "latency of node %u from node %u", memory->node->os_index,
                    core->node->os_index) < 0)
            return -1;
        session->run[r] = 1e9 / session->worker[0].rate;
    }
    session->profile->latency_ns[from * session->places + to] =
        calibrate_figure(session->run, runs);
    return 0;
}

/* Measures a cache line between two nodes' cores: the first one of the one, several of the other in
 * turn. */
static int measure_cores(struct session *session, size_t from, size_t to, struct berth_error *err)
{
    const struct place *a = &session->place[from], *b = &session->place[to];
    size_t first = from == to, others = b->cores - first;
    unsigned runs = session->wish->runs;
    _Alignas(128) char line[128];

    if (others == 0)
        return 0;
    for (unsigned r = 0; r < runs; r++) {
        size_t partner = first + r % PING_PARTNERS * others / PING_PARTNERS;

        memset(line, 0, sizeof(line));
        session->worker[0] =
            (struct calibrate_worker){.work = CALIBRATE_PING, .cpu = a->cpu[0], .memory = line};
        session->worker[1] = (struct calibrate_worker){
            .work = CALIBRATE_PONG, .cpu = b->cpu[partner], .memory = line};
        if (measure(session, 2, err, "core to core, node %u to node %u", a->node->os_index,
                    b->node->os_index) < 0)
            return -1;
        session->run[r] = 5e8 / session->worker[0].rate;
    }
    session->profile->core_latency[from * session->places + to] =
        calibrate_figure(session->run, runs);
    return 0;
}

/* Measures a suspending system call: two threads of one CPU take turns, and who waits sleeps. */
static int measure_suspend(struct session *session, struct berth_error *err)
{
    const struct place *a = &session->place[0];
    unsigned runs = session->wish->runs;
    _Alignas(128) char line[128];

    for (unsigned r = 0; r < runs; r++) {
        memset(line, 0, sizeof(line));
        session->worker[0] =
            (struct calibrate_worker){.work = CALIBRATE_GIVE, .cpu = a->cpu[0], .memory = line};
        session->worker[1] =
            (struct calibrate_worker){.work = CALIBRATE_TAKE, .cpu = a->cpu[0], .memory = line};
        if (measure(session, 2, err, "a system call that suspends") < 0)
            return -1;
        session->run[r] = 5e8 / session->worker[0].rate;
    }
    session->profile->suspend_ns = calibrate_figure(session->run, runs);
    return 0;
}

/* Lets all cores of `to` read what is on `from`; for bi at the same time the other way round. */
static int measure_pair(struct session *session, size_t from, size_t to, struct berth_error *err)
{
    const struct place *a = &session->place[from], *b = &session->place[to];
    size_t pair = from * session->places + to, back = to * session->places + from, n;

    n = put_streams(session, 0, b, b->cores, CALIBRATE_READ, a, 0, 1);
    if (repeat_streams(session, n, &session->profile->uni[pair], err, "node %u to node %u",
                       a->node->os_index, b->node->os_index) < 0)
        return -1;
    if (from > to)
        return 0;
    n = put_streams(session, n, a, a->cores, CALIBRATE_READ, b, 0, 1);
    if (repeat_streams(session, n, &session->profile->bi[pair], err, "node %u to node %u and back",
                       a->node->os_index, b->node->os_index) < 0)
        return -1;
    session->profile->bi[back] = session->profile->bi[pair];
    return 0;
}

/* Measures what the others get of a node's memory beside `cores` of its own, in run r of all. */
static int measure_outgoing(struct session *session, size_t p, size_t cores, double *out,
                            struct berth_error *err)
{
    const struct place *place = &session->place[p];
    size_t n = 0;

    if (cores > 0)
        n = put_streams(session, 0, place, cores, CALIBRATE_READ, place, p, session->places);
    for (size_t i = 0; i < session->places; i++)
        if (i != p)
            n = put_streams(session, n, &session->place[i], session->place[i].cores, CALIBRATE_READ,
                            place, i, session->places);
    if (measure(session, n, err, "node %u: what others get beside %zu of its cores",
                place->node->os_index, cores) < 0)
        return -1;
    *out = sum_gbps(session, cores, n);
    return 0;
}

/* Measures the line of Figure 5.4 for one node. */
static int measure_contention(struct session *session, size_t p, struct berth_error *err)
{
    size_t cores = session->place[p].cores, runs = session->wish->runs, n;
    double demand[CONTENTION_POINTS], *out;
    int rc = 0;

    n = cores + 1 < CONTENTION_POINTS ? cores + 1 : CONTENTION_POINTS;
    out = calloc(n * runs, sizeof(*out));
    if (!out)
        return berth_no_memory(err);
    for (size_t k = 0; k < n; k++) {
        size_t beside = cores * k / (n - 1);

        demand[k] = machine_profile_local(session->profile, p, beside);
        for (size_t r = 0; rc == 0 && r < runs; r++)
            rc = measure_outgoing(session, p, beside, &out[r * n + k], err);
    }
    if (rc == 0 && !session->planning)
        calibrate_contention(&session->profile->node[p], n, runs, demand, out);
    free(out);
    return rc;
}

static int measure_node(struct session *session, size_t p, struct berth_error *err)
{
    struct machine_node *node = &session->profile->node[p];

    if (measure_local(session, p, CALIBRATE_READ, node->local, err) < 0 ||
        measure_cache(session, p, err) < 0)
        return -1;
    return session->places > 1 ? measure_contention(session, p, err) : 0;
}

/* ---- the clock ---- */

static size_t package_of(const struct topo *topo, unsigned cpu)
{
    long core = topo_core_of_cpu(topo, cpu);

    return core < 0 ? 0 : topo->core[core].package;
}

/* Lets up to `most` cores of the first place's package spin. Returns how many these are. */
static size_t put_spins(struct session *session, size_t most)
{
    const struct topo *topo = session->wish->topo;
    size_t package = package_of(topo, session->place[0].cpu[0]), n = 0;

    for (size_t p = 0; p < session->places; p++)
        for (size_t c = 0; c < session->place[p].cores && n < most; c++)
            if (package_of(topo, session->place[p].cpu[c]) == package)
                session->worker[n++] = (struct calibrate_worker){
                    .work = CALIBRATE_SPIN, .cpu = session->place[p].cpu[c], .clock_ghz = NAN};
    return n;
}

/* Measures the clock while so many cores of the package work. */
static int measure_clock_of(struct session *session, size_t cores, double *ghz,
                            struct berth_error *err)
{
    for (unsigned r = 0; r < session->wish->runs; r++) {
        double sum = 0;

        put_spins(session, cores);
        if (measure(session, cores, err, "clock, busy cores: %zu", cores) < 0)
            return -1;
        for (size_t i = 0; i < cores; i++)
            sum += session->worker[i].clock_ghz;
        session->run[r] = sum / (double)cores;
    }
    *ghz = calibrate_figure(session->run, session->wish->runs).value;
    return 0;
}

static int measure_clock(struct session *session, struct berth_error *err)
{
    struct clock_curve *clock = &session->profile->clock;
    size_t cores = put_spins(session, SIZE_MAX), half = cores > 1 ? cores / 2 : 1;

    if (measure_clock_of(session, 1, &clock->one_ghz, err) < 0 ||
        measure_clock_of(session, half, &clock->half_ghz, err) < 0 ||
        measure_clock_of(session, cores, &clock->all_ghz, err) < 0)
        return -1;
    clock->cores = cores;
    if (!session->planning && !clock_is_known(clock))
        session->wish->note("the clock is not known: the kernel counts no cycles here",
                            session->wish->arg);
    return 0;
}

/* Goes through the whole list. The triad comes last: it overwrites the chains. */
static int measure_all(struct session *session, struct berth_error *err)
{
    size_t places = session->places;

    if (measure_clock(session, err) < 0 || measure_suspend(session, err) < 0)
        return -1;
    for (size_t i = 0; i < places * places; i++)
        if (measure_latency(session, i / places, i % places, err) < 0 ||
            measure_cores(session, i / places, i % places, err) < 0)
            return -1;
    for (size_t i = 0; i < places; i++)
        if (measure_node(session, i, err) < 0)
            return -1;
    for (size_t i = 0; i < places * places; i++)
        if (i / places != i % places && measure_pair(session, i / places, i % places, err) < 0)
            return -1;
    for (size_t i = 0; i < places; i++)
        if (measure_local(session, i, CALIBRATE_TRIAD, session->profile->node[i].triad, err) < 0)
            return -1;
    return 0;
}

/* ---- the profile ---- */

static void read_cpu_name(char *name, size_t size)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[512];

    while (file && !name[0] && fgets(line, sizeof(line), file)) {
        char *value = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;

        if (value)
            snprintf(name, size, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
    }
    if (file)
        fclose(file);
}

static void describe(struct machine_profile *profile, unsigned runs)
{
    time_t now = time(NULL);
    struct tm tm;

    gmtime_r(&now, &tm);
    strftime(profile->date, sizeof(profile->date), "%Y-%m-%dT%H:%M:%SZ", &tm);
    gethostname(profile->host, sizeof(profile->host) - 1);
    read_cpu_name(profile->cpu, sizeof(profile->cpu));
    snprintf(profile->source, sizeof(profile->source), "measured");
    profile->runs = runs;
}

static struct machine_profile *new_profile(const struct place *place, size_t n)
{
    size_t *cores = calloc(n, sizeof(*cores));
    struct machine_profile *profile = NULL;

    for (size_t i = 0; cores && i < n; i++)
        cores[i] = place[i].cores;
    if (cores)
        profile = machine_profile_new(n, cores);
    for (size_t i = 0; profile && i < n; i++) {
        profile->node[i].os_index = place[i].node->os_index;
        for (size_t c = 0; c < place[i].cores; c++)
            cpus_add(&profile->node[i].cpus, place[i].cpu[c]);
    }
    free(cores);
    return profile;
}

/* Finds routes by the distances of the firmware; where it has none, each pair has a link of its
 * own. */
static int find_routes(const struct session *session)
{
    size_t n = session->places;
    unsigned *distance = calloc(n * n, sizeof(*distance));
    int rc;

    if (!distance)
        return -1;
    for (size_t i = 0; i < n * n && numa_available() >= 0; i++)
        distance[i] = (unsigned)numa_distance((int)session->place[i / n].node->os_index,
                                              (int)session->place[i % n].node->os_index);
    rc = calibrate_routes(session->profile, distance);
    free(distance);
    return rc;
}

static int work_off(struct session *session, struct berth_error *err)
{
    size_t cores = 0;

    for (size_t i = 0; i < session->places; i++)
        cores += session->place[i].cores;
    session->profile = new_profile(session->place, session->places);
    session->worker = calloc(cores + 1, sizeof(*session->worker));
    session->run = calloc(session->wish->runs, sizeof(*session->run));
    if (!session->profile || !session->worker || !session->run)
        return berth_no_memory(err);
    session->planning = true;
    if (measure_all(session, err) < 0)
        return -1;
    session->planning = false;
    if (session->wish->progress(0, session->total_s, "memory", session->wish->arg))
        return berth_error_set(err, "interrupted");
    if (places_fill(session->place, session->places, err) < 0 || measure_all(session, err) < 0)
        return -1;
    if (find_routes(session) < 0)
        return berth_no_memory(err);
    describe(session->profile, session->wish->runs);
    return 0;
}

struct machine_profile *calibrate(const struct calibrate_wish *wish, struct berth_error *err)
{
    struct session session = {
        .wish = wish,
        .warm_s = wish->quick ? QUICK_WARM_S : WARM_S,
        .window_s = wish->quick ? QUICK_WINDOW_S : WINDOW_S,
    };
    int rc = places_find(wish, &session.place, &session.places, err);

    if (rc == 0)
        rc = work_off(&session, err);
    places_free(session.place, session.places);
    free(session.worker);
    free(session.run);
    if (rc == 0)
        return session.profile;
    machine_profile_free(session.profile);
    return NULL;
}
