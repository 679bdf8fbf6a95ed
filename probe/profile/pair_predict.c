/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pair_predict - see pair_predict.h */
#include "probe/profile/pair_predict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/slowdown/contend.h"

#define PROGRAMS_MAX (PROFILE_BESIDE_MAX + 1)

/* What contend is asked about: the program itself is the first. */
struct question {
    struct profiles *store;
    struct app_machine machine;
    const char *type;
    struct app app[PROGRAMS_MAX];
    double hits[PROGRAMS_MAX][PROFILE_WAYS_MAX];
};

/* Takes the cache of such a machine from its name: machine/type.h. */
static void machine_of(const char *type, struct app_machine *machine)
{
    const char *llc = strstr(type, "; LLC ");
    uint64_t bytes = 0;
    unsigned ways = 0;

    *machine = (struct app_machine){
        .llc_bytes = NAN, .dram_gbps = NAN, .clock_ghz = NAN, .own_prefetchers = true};
    if (!llc || sscanf(llc, "; LLC %" SCNu64 ":%u", &bytes, &ways) != 2)
        return;
    if (bytes > 0)
        machine->llc_bytes = (double)bytes;
    if (ways <= CONTEND_WAYS_MAX)
        machine->llc_ways = ways;
}

/* Takes what was counted or simulated of the program into the i-th app. Returns -1 where nothing
 * was. */
static int read_app(struct question *question, size_t i, uint32_t uid, const char *key)
{
    const double bytes = question->machine.llc_bytes;
    const struct profile_query query = {.key = key,
                                        .uid = uid,
                                        .machine = question->type,
                                        .llc_bytes = isnan(bytes) ? 0 : (uint64_t)bytes};
    struct app *app = &question->app[i];
    struct profile best, distances;
    struct berth_error err;

    *app = (struct app){.ipc = NAN,
                        .llc_demand_mpki = NAN,
                        .llc_wb_apki = NAN,
                        .mem_gbps = NAN,
                        .mem_read_gbps = NAN,
                        .mem_write_gbps = NAN,
                        .cores = 1};
    if (profiles_get(question->store, &query, &best, &err) != 1)
        return -1;
    if (best.llc_ways == 0 && !best.co_run)
        app->ipc = 1e6 / best.cycles;
    app->llc_mpki = best.misses / 1000;
    app->llc_apki = fmax(best.accesses, best.misses) / 1000;
    if (profiles_get_distances(question->store, &query, &distances, &err) == 1 &&
        (best.llc_ways || !profile_contradicts(&best, &distances))) {
        memcpy(question->hits[i], distances.hits, sizeof(question->hits[i]));
        app->sdp = (struct app_sdp){distances.llc_ways, question->hits[i], distances.misses};
    }
    return 0;
}

static int read_apps(struct question *question, const struct profile_pair *pair)
{
    if (read_app(question, 0, pair->uid, pair->key) < 0)
        return -1;
    for (size_t i = 0; i < pair->n; i++)
        if (read_app(question, 1 + i, pair->beside[i].uid, pair->beside[i].key) < 0)
            return -1;
    return 0;
}

/* Returns what the cores of the i-th program ask of memory where each has a cache and a memory node
 * to itself, 1e9 bytes/s. */
static double traffic_of(const struct contend *contend, size_t i, uint32_t cores)
{
    double slowdown, gbps = 0;

    if (contend_cache(contend, 0, 1, &i, NULL, &slowdown, &gbps) < 0)
        return 0;
    return gbps * cores;
}

/* Makes the model. How much memory carries is not in a machine's name; but each of the programs was
 * counted alone, so it carries that. */
static struct contend *open_contend(struct question *question, const struct profile_pair *pair)
{
    struct contend *contend = contend_new(1 + pair->n, question->app, &question->machine, NULL);
    double seen = contend ? traffic_of(contend, 0, pair->cores) : 0;

    for (size_t i = 0; contend && i < pair->n; i++)
        seen = fmax(seen, traffic_of(contend, 1 + i, pair->beside[i].cores));
    contend_free(contend);
    question->machine.dram_seen_gbps = seen;
    return contend_new(1 + pair->n, question->app, &question->machine, NULL);
}

/* Asks of a core of the program beside those of the others, as berthd does (place/forecast.c): what
 * it suffers from the program's own cores is in its time alone. */
static double ask(const struct contend *contend, const struct profile_pair *pair)
{
    size_t member[CONTEND_GROUP_MAX] = {0}, n = 1;
    double slowdown[CONTEND_GROUP_MAX];

    for (size_t i = 0; i < pair->n; i++)
        for (uint32_t c = 0; c < pair->beside[i].cores; c++) {
            if (n == CONTEND_GROUP_MAX)
                return NAN;
            member[n++] = 1 + i;
        }
    return contend_group(contend, n, member, slowdown) < 0 ? NAN : slowdown[0];
}

double pair_predict(struct profiles *store, const struct profile_pair *pair)
{
    struct question *question = calloc(1, sizeof(*question));
    struct contend *contend = NULL;
    double slowdown = NAN;

    if (!question)
        return NAN;
    question->store = store;
    question->type = pair->machine;
    machine_of(pair->machine, &question->machine);
    if (pair->cores <= CONTEND_GROUP_MAX && read_apps(question, pair) == 0)
        contend = open_contend(question, pair);
    if (contend)
        slowdown = ask(contend, pair);
    contend_free(contend);
    free(question);
    return slowdown;
}
