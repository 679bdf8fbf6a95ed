/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forecast - see forecast.h: what the node's programs are known by, and their slots. */
#include "packer/place/forecast_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/slowdown/contend.h"
#include "packer/base/array.h"
#include "packer/place/ladder.h"
#include "packer/steps/stage.h"
#include "packer/steps/step_counts.h"
#include "enum_table.h"
#include "packer/machine/topo.h"
#include "packer/steps/pairs.h"

#define AGE_S (30 * 86400.0) /* at which a stored pair counts half as much as one of now */
#define EFFECT_CHANGE 0.02   /* of it: less is no news */

struct forecast *forecast_open(void)
{
    struct forecast *forecast = calloc(1, sizeof(*forecast));

    if (forecast) {
        forecast->evidence = evidence_new(NULL);
        forecast->siblings = evidence_new(NULL);
        forecast->pairs = pair_table_new();
        forecast->solved = solved_new();
        forecast->effect = 1;
    }
    if (forecast && forecast->evidence && forecast->siblings)
        return forecast;
    forecast_close(forecast);
    return NULL;
}

void forecast_close(struct forecast *forecast)
{
    if (!forecast)
        return;
    for (size_t i = 0; i < forecast->n; i++)
        free(forecast->slot[i]);
    free(forecast->slot);
    contend_free(forecast->contend);
    evidence_free(forecast->evidence);
    evidence_free(forecast->siblings);
    free(forecast->pairs);
    solved_free(forecast->solved);
    free(forecast);
}

/* ---- the machine ---- */

/* Returns the most that steps were counted to ask of one memory node at a time, as they run now,
 * 1e9 bytes/s. */
static double traffic_now(const struct packer *packer)
{
    double mean, most = 0, *sum = calloc(packer->world.topo->nodes + 1, sizeof(*sum));
    const struct topo *topo = packer->world.topo;
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        const struct cpus *nodes = &step->place.mems;
        size_t n;

        if (!sum || !step_counts_rate(step, RATE_BYTES, &mean, NULL))
            continue;
        n = cpus_count(nodes);
        for (size_t i = 0; i < topo->nodes; i++)
            if (cpus_has(nodes, topo->node[i].os_index))
                most = fmax(most, sum[i] += mean / 1e9 / (double)n);
    }
    free(sum);
    return most;
}

/* Describes one of the node's caches and a memory node, as far as they are known. */
static struct app_machine machine_of(const struct packer *packer, double seen_gbps)
{
    const struct topo_llc *llc = topo_cache(packer->world.topo);
    const struct bandwidth *bandwidth = &packer->world.bandwidth;

    return (struct app_machine){
        .llc_bytes = llc->size_bytes ? (double)llc->size_bytes : NAN,
        .llc_ways = llc->ways,
        .line_bytes = llc->line_bytes,
        .caches = topo_sharing(packer->world.topo),
        .dram_gbps = bandwidth->gbps > 0 ? bandwidth->gbps : NAN,
        .dram_calibrated = !bandwidth_assumed(bandwidth),
        .port_gbps = bandwidth->port_gbps,
        .core_gbps = bandwidth->core_gbps,
        .clock = packer->world.machine ? packer->world.machine->clock : (struct clock_curve){0},
        .clock_ghz = NAN,
        .own_prefetchers = true,
        .dram_seen_gbps = seen_gbps,
    };
}

/* Makes the model of the machine; anew, with no slot studied, when it is seen to carry more than
 * was thought. */
static int take_machine(struct forecast *forecast, const struct packer *packer)
{
    double seen = fmax(forecast->machine.dram_seen_gbps, traffic_now(packer));
    struct app_machine machine;

    if (forecast->contend && (forecast->machine.dram_calibrated ||
                              seen <= (1 + FORECAST_CHANGE) * forecast->machine.dram_seen_gbps))
        return 0;
    machine = machine_of(packer, seen);
    contend_free(forecast->contend);
    solved_forget(forecast->solved);
    forecast->contend = contend_new(0, NULL, &machine, NULL);
    if (!forecast->contend)
        return -1;
    forecast->machine = machine;
    for (size_t i = 0; i < forecast->n; i++)
        forecast->slot[i]->studied = false;
    return 0;
}

/* Whether neighbours matter is known better. */
static void take_effect(struct forecast *forecast, const struct packer *packer)
{
    double effect = null_test_factor(&packer->steps->null_test);

    if (fabs(effect - forecast->effect) <= EFFECT_CHANGE * forecast->effect)
        return;
    pair_table_correct_anew(forecast->pairs);
    forecast->effect = effect;
}

struct bandwidth forecast_bandwidth(const struct packer *packer)
{
    const struct forecast *forecast = packer->state->forecast;
    struct bandwidth bandwidth = packer->world.bandwidth;

    if (forecast && forecast->contend)
        bandwidth_seen(&bandwidth, contend_most_seen(forecast->contend));
    return bandwidth;
}

/* ---- slots ---- */

static bool near(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= FORECAST_CHANGE * fmax(fabs(a), fabs(b));
}

static bool same_app(const struct app *a, const struct app *b)
{
    double off = 0, sum = 0;

    if (!near(a->llc_mpki, b->llc_mpki) || !near(a->llc_apki, b->llc_apki) ||
        !near(a->ipc, b->ipc) || !near(a->clock_ghz, b->clock_ghz) || a->sdp.ways != b->sdp.ways)
        return false;
    for (size_t i = 0; i < a->sdp.ways; i++) {
        off += fabs(a->sdp.hits[i] - b->sdp.hits[i]);
        sum += fmax(a->sdp.hits[i], b->sdp.hits[i]);
    }
    return a->sdp.ways == 0 || (off <= FORECAST_CHANGE * sum && near(a->sdp.misses, b->sdp.misses));
}

static bool holds(const struct slot *slot, size_t program, const struct app *app)
{
    return slot->studied && slot->program == program && same_app(&slot->app, app);
}

static int add_slot(struct forecast *forecast)
{
    if (array_grow(&forecast->slot, &forecast->room, forecast->n + 1, sizeof(struct slot *)) < 0)
        return -1;
    forecast->slot[forecast->n] = calloc(1, sizeof(struct slot));
    if (!forecast->slot[forecast->n])
        return -1;
    forecast->n++;
    return 0;
}

/* Returns a slot that nobody uses, or a new one; FORECAST_IDLE when out of memory. */
static size_t free_slot(struct forecast *forecast)
{
    for (size_t i = FORECAST_AVERAGE + 1; i < forecast->n; i++)
        if (forecast->slot[i]->users == 0)
            return i;
    return add_slot(forecast) == 0 ? forecast->n - 1 : FORECAST_IDLE;
}

/* Two numbers and the traffic of a slot that was studied: each a look at one cache. */
static void take_figures(struct forecast *forecast, size_t number)
{
    struct forecast_figures *figures = &forecast->slot[number]->figures;
    struct forecast_figures *average = &forecast->slot[FORECAST_AVERAGE]->figures;
    const size_t both[2] = {number, FORECAST_AVERAGE};
    double slowdown[2] = {0}, gbps = 0, others;

    contend_group(forecast->contend, 2, both, slowdown);
    figures->suffers = slowdown[0];
    figures->presses = slowdown[1];
    contend_cache(forecast->contend, 0, 1, both, NULL, slowdown, &gbps);
    figures->asks = gbps;
    others = number == FORECAST_AVERAGE ? gbps : average->asks;
    figures->minds = 0;
    if (others > 0 && contend_cache(forecast->contend, others, 1, both, NULL, slowdown, NULL) >= 0)
        figures->minds = slowdown[0] / others;
}

static int study(struct forecast *forecast, size_t number, size_t program, const struct app *app)
{
    struct slot *slot = forecast->slot[number];

    solved_forget(forecast->solved);
    if (contend_set(&forecast->contend, number, app) < 0) {
        slot->studied = false;
        return -1;
    }
    slot->app = *app;
    memcpy(slot->hits, app->sdp.hits ? app->sdp.hits : slot->hits,
           app->sdp.ways * sizeof(*slot->hits));
    slot->app.sdp.hits = slot->hits;
    slot->program = program;
    slot->studied = true;
    pair_table_forget(forecast->pairs, number);
    take_figures(forecast, number);
    if (program < PROGRAMS_MAX)
        forecast->of_program[program] = number;
    return 0;
}

static double doubt_of(enum step_rung rung)
{
    static const enum evidence_rung TABLE(of, STEP_RUNGS) = {
        ROW(RUNG_NOTHING) = EVIDENCE_AVERAGE,   ROW(RUNG_AVERAGE) = EVIDENCE_AVERAGE,
        ROW(RUNG_PROBE) = EVIDENCE_PROBE,       ROW(RUNG_MISSES) = EVIDENCE_MISSRATE,
        ROW(RUNG_COUNTERS) = EVIDENCE_COUNTERS, ROW(RUNG_DISTANCES) = EVIDENCE_DISTANCES,
        ROW(RUNG_PAIRS) = EVIDENCE_COUNTERS,
    };
    TABLE_COMPLETE(of);

    return evidence_constants.doubt[of[rung]];
}

double forecast_confidence(const struct packer *packer, const struct step *step)
{
    double known = 0;

    if (step->program < PROGRAMS_MAX)
        known = evidence_known(packer->state->forecast->evidence, step->program);
    return fmax(0, 1 - doubt_of(step->knowledge.model) * (1 - known));
}

/* ---- the evidence ---- */

size_t forecast_slot_of(const struct forecast *forecast, size_t program)
{
    size_t number = program < PROGRAMS_MAX ? forecast->of_program[program] : 0;

    return number && forecast->slot[number]->studied && forecast->slot[number]->program == program
               ? number
               : FORECAST_AVERAGE;
}

/* Predicts a program beside others on one cache: evidence_predict. */
static void predict(void *context, size_t program, size_t n, const size_t *beside,
                    double *predicted, double *part)
{
    const struct forecast *forecast = context;
    size_t member[CONTEND_GROUP_MAX] = {forecast_slot_of(forecast, program)};
    double slowdown[CONTEND_GROUP_MAX] = {0};

    if (n > CONTEND_GROUP_MAX - 1)
        n = CONTEND_GROUP_MAX - 1;
    for (size_t i = 0; i < n; i++) {
        member[i + 1] = forecast_slot_of(forecast, beside[i]);
        part[i] = forecast->slot[member[i + 1]]->figures.presses;
    }
    contend_group(forecast->contend, n + 1, member, slowdown);
    *predicted = slowdown[0];
}

/* Predicts a program with another on its core's other hardware thread: evidence_predict. */
static void predict_sibling(void *context, size_t program, size_t n, const size_t *beside,
                            double *predicted, double *part)
{
    const struct forecast *forecast = context;

    for (size_t i = 0; i < n; i++)
        part[i] = 1;
    *predicted = contend_sibling(forecast->contend, forecast_slot_of(forecast, program),
                                 forecast_slot_of(forecast, beside[0]));
}

/* What is known of a program has changed: so have the predictions that it was measured by. */
static void review(struct forecast *forecast, const struct step *step, size_t program)
{
    if (program == FORECAST_NO_NUMBER)
        return;
    evidence_program(forecast->evidence, program, doubt_of(step->knowledge.model));
    evidence_review(forecast->evidence, program, predict, forecast);
    evidence_review(forecast->siblings, program, predict_sibling, forecast);
    forecast->unsettled = true;
}

/* What the store knows of neighbours says whether they matter, as a change that is seen does. */
static void learn_null(const struct packer *packer, const struct evidence_seen *seen)
{
    null_test_add(&packer->steps->null_test, log1p(seen->predicted), log1p(seen->slowdown),
                  seen->error / (1 + seen->slowdown) / sqrt(seen->weight));
}

/* Takes one measurement of a program with a sibling in: of what is left of it when what those on
 * the cache are expected to cost is taken out, which is sure as far as that is. */
static void observe_sibling(struct forecast *forecast, const struct evidence_seen *all,
                            const struct pair *pair)
{
    const size_t culprit = pair->sibling - 1u;
    struct evidence_seen seen = *all;
    double rest, error;

    rest = evidence_correct(forecast->evidence, all->program, all->n, all->beside, all->part,
                            all->predicted, &error);
    seen.slowdown = (1 + pair->slowdown) / (1 + rest) - 1;
    seen.error = hypot(pair->error, (1 + seen.slowdown) * error) / (1 + rest);
    seen.beside = &culprit;
    seen.part = NULL;
    seen.n = 1;
    seen.predicted = contend_sibling(forecast->contend, forecast_slot_of(forecast, seen.program),
                                     forecast_slot_of(forecast, culprit));
    if (evidence_observe(forecast->siblings, &seen) == 0)
        forecast->unsettled = forecast->shared = true;
}

/* Takes one measurement in. A program on several cores is beside itself, too: what it suffers from
 * that is in its time alone. */
static void observe(const struct packer *packer, const struct pair *pair)
{
    struct forecast *forecast = packer->state->forecast;
    size_t beside[EVIDENCE_BESIDE_MAX], n = 0;
    double part[EVIDENCE_BESIDE_MAX];
    struct evidence_seen seen = {.program = pair->self.program,
                                 .beside = beside,
                                 .part = part,
                                 .slowdown = pair->slowdown,
                                 .error = pair->error,
                                 .weight = 1 / (1 + pair->age_s / AGE_S)};

    for (size_t i = 0; i < pair->n; i++)
        for (size_t core = 0; core < pair->beside[i].cores && n < EVIDENCE_BESIDE_MAX; core++)
            beside[n++] = pair->beside[i].program;
    seen.n = n;
    predict(forecast, seen.program, n, beside, &seen.predicted, part);
    if (pair->sibling) {
        observe_sibling(forecast, &seen, pair);
        return;
    }
    if (pair->age_s > 0)
        learn_null(packer, &seen);
    if (evidence_observe(forecast->evidence, &seen) == 0)
        forecast->unsettled = forecast->observed = true;
}

/* Forgets what was measured of programs whose numbers others have now. */
static void check_numbers(struct forecast *forecast, const struct packer *packer)
{
    for (size_t i = 0; i < packer->steps->programs.n; i++) {
        uint64_t born = packer->steps->programs.program[i].born;

        if (forecast->born[i] && forecast->born[i] != born) {
            evidence_forget(forecast->evidence, i, 0);
            evidence_forget(forecast->siblings, i, 0);
            forecast->of_program[i] = FORECAST_IDLE;
        }
        forecast->born[i] = born;
    }
}

bool forecast_learn(const struct packer *packer)
{
    struct forecast *forecast = packer->state->forecast;
    bool any = false;
    struct pair pair;

    if (!forecast || forecast->n <= FORECAST_AVERAGE || !forecast->slot[FORECAST_AVERAGE]->studied)
        return false;
    check_numbers(forecast, packer);
    for (; pairs_take(&packer->steps->pairs, &pair); any = true)
        observe(packer, &pair);
    if (forecast->unsettled) {
        int more = evidence_solve(forecast->evidence);

        forecast->unsettled = evidence_solve(forecast->siblings) > 0 || more > 0;
        pair_table_correct_anew(forecast->pairs);
    }
    return any;
}

/* ---- the live steps ---- */

/* Returns the slot that holds the program, as it is known now; FORECAST_IDLE: none does. */
static size_t slot_holding(const struct forecast *forecast, size_t hint, size_t program,
                           const struct app *app)
{
    if (hint > FORECAST_AVERAGE && hint < forecast->n && holds(forecast->slot[hint], program, app))
        return hint;
    for (size_t i = FORECAST_AVERAGE + 1; i < forecast->n; i++)
        if (holds(forecast->slot[i], program, app))
            return i;
    return FORECAST_IDLE;
}

/* Finds the step its slot; studies it if there is none. */
static void find_slot(struct forecast *forecast, struct step *step, const struct app *average)
{
    struct app app = ladder_app(step, average);
    size_t program = step->program < PROGRAMS_MAX ? step->program : FORECAST_NO_NUMBER;
    size_t number = slot_holding(forecast, step->slot, program, &app);

    if (number == FORECAST_IDLE) {
        number = free_slot(forecast);
        if (number == FORECAST_IDLE || study(forecast, number, program, &app) < 0)
            number = FORECAST_IDLE;
        else
            review(forecast, step, program);
    }
    step->slot = number;
    if (number != FORECAST_IDLE)
        forecast->slot[number]->users++;
}

static bool is_known(const struct step *step)
{
    return step->profile.known || !isnan(step->probe.rank);
}

/* Studies the average of those that are known and at work, which all others' figures are about; as
 * long as none is, one of which nothing is known. Returns it; NULL: no memory. */
static const struct app *take_average(struct forecast *forecast, const struct packer *packer)
{
    struct app *app = malloc((packer->steps->nlive + 1) * sizeof(*app)), average;
    struct slot *slot;
    struct step *step;
    size_t n = 0;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (app && is_known(step) && ladder_at_work(step))
        app[n++] = ladder_app(step, NULL);
    average = ladder_average(n, app);
    free(app);
    while (forecast->n <= FORECAST_AVERAGE && add_slot(forecast) == 0)
        continue;
    forecast->known = n > 0;
    if (forecast->n <= FORECAST_AVERAGE)
        return NULL;
    slot = forecast->slot[FORECAST_AVERAGE];
    if (slot->studied && same_app(&slot->app, &average))
        return &slot->app;
    if (study(forecast, FORECAST_AVERAGE, FORECAST_NO_NUMBER, &average) < 0)
        return NULL;
    for (size_t i = FORECAST_AVERAGE + 1; i < forecast->n; i++)
        if (forecast->slot[i]->studied)
            take_figures(forecast, i);
    return &slot->app;
}

bool forecast_update(const struct packer *packer)
{
    struct forecast *forecast = packer->state->forecast;
    const struct app *average;
    struct step *step;

    if (!forecast)
        return false;
    forecast->ready = false;
    if (take_machine(forecast, packer) < 0)
        return false;
    take_effect(forecast, packer);
    for (size_t i = 0; i < forecast->n; i++)
        forecast->slot[i]->users = 0;
    average = take_average(forecast, packer);
    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (average && ladder_at_work(step))
        find_slot(forecast, step, average);
    else
        step->slot = FORECAST_IDLE;
    forecast->ready = average && forecast->known;
    return forecast->ready;
}

bool forecast_known(const struct packer *packer)
{
    return packer->state->forecast && packer->state->forecast->ready;
}

/* ---- the clock ---- */

bool forecast_has_clocks(const struct packer *packer)
{
    size_t packages = packer->world.topo->packages;

    return packages > 1 && packages <= FORECAST_PACKAGES_MAX && packer->world.machine &&
           clock_is_known(&packer->world.machine->clock);
}

double forecast_clock_lost(const struct forecast *forecast, size_t slot, size_t busy)
{
    double slower = contend_clock(forecast->contend, slot, (double)busy);

    return slower / (1 + slower);
}

/* ---- the stage ---- */

static int open_forecast(const struct packer *packer, struct berth_error *err)
{
    (void)err;
    packer->state->forecast = forecast_open(); /* NULL: slowdowns cannot be told */
    return 0;
}

static void close_forecast(const struct packer *packer)
{
    forecast_close(packer->state->forecast);
}

static void learn_turn(const struct packer *packer, struct turn *turn)
{
    if (packer->steps->pairs.n == 0)
        return;
    forecast_update(packer);
    turn->learnt = forecast_learn(packer);
}

const struct stage forecast_stage = {
    .name = "forecast",
    .open = open_forecast,
    .close = close_forecast,
    .turn = learn_turn,
};
