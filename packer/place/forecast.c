/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forecast - see forecast.h: what the node's programs are known by, and their slots. */
#include "packer/place/forecast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/slowdown/contend.h"
#include "models/slowdown/evidence.h"
#include "packer/base/array.h"
#include "packer/place/ladder.h"
#include "packer/place/pair_table.h"
#include "packer/steps/stage.h"
#include "packer/steps/step_counts.h"
#include "enum_table.h"
#include "packer/machine/topo.h"
#include "packer/steps/pairs.h"

#define NO_NUMBER                                                                                  \
    (EVIDENCE_PROGRAMS_MAX - 1) /* of a program without a key: nothing is said of it */
#define AGE_S (30 * 86400.0)    /* at which a stored pair counts half as much as one of now */
#define EFFECT_CHANGE 0.02      /* of it: less is no news */

struct slot {
    size_t users;   /* live steps */
    bool studied;   /* app is in contend */
    size_t program; /* its number for the evidence */
    struct app app; /* sdp.hits points to hits */
    double hits[PROFILE_WAYS_MAX];
    struct forecast_figures figures;
};

struct forecast {
    struct contend *contend; /* of slots */
    struct evidence *evidence;
    struct app_machine machine;
    struct pair_table *pairs; /* of slots; NULL: for want of memory */
    double effect;            /* by which all that is predicted is multiplied */
    size_t n, room;
    struct slot **slot;              /* [n] */
    size_t of_program[PROGRAMS_MAX]; /* the slot that was studied of it last; 0: none */
    uint64_t born[PROGRAMS_MAX];     /* of the program that has the number (programs.h); 0: none */
    bool known;                      /* anything is, of a step at work */
    bool ready;                      /* slowdowns can be told, as of the last update */
    bool observed;                   /* there is any evidence */
    bool unsettled;                  /* the evidence has more to do */
};

struct forecast *forecast_open(void)
{
    struct forecast *forecast = calloc(1, sizeof(*forecast));

    if (forecast) {
        forecast->evidence = evidence_new(NULL);
        forecast->pairs = pair_table_new();
        forecast->effect = 1;
    }
    if (forecast && forecast->evidence)
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
    free(forecast->pairs);
    free(forecast);
}

/* ---- the machine ---- */

/* Returns the most that steps were counted to ask of one memory node at a time, as they run now,
 * 1e9 bytes/s. */
static double traffic_now(const struct packer *packer)
{
    double mean, error, most = 0, *sum = calloc(packer->world.topo->nodes + 1, sizeof(*sum));
    const struct topo *topo = packer->world.topo;
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        struct cpus nodes;
        size_t n;

        if (!sum || !step_counts_rate(step, RATE_BYTES, &mean, &error))
            continue;
        topo_nodes_of(topo, &step->place.cpus, &nodes);
        n = cpus_count(&nodes);
        for (size_t i = 0; i < topo->nodes; i++)
            if (cpus_has(&nodes, topo->node[i].os_index))
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

/* What n cores suffer where programs disturb each other becomes what is to be expected of them. */
static void expect(const struct forecast *forecast, size_t n, double *slowdown)
{
    for (size_t i = 0; i < n; i++)
        slowdown[i] *= forecast->effect;
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

/* Returns the slot that stands for a program: its own, else the average. */
static size_t slot_of(const struct forecast *forecast, size_t program)
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
    size_t member[CONTEND_GROUP_MAX] = {slot_of(forecast, program)};
    double slowdown[CONTEND_GROUP_MAX] = {0};

    if (n > CONTEND_GROUP_MAX - 1)
        n = CONTEND_GROUP_MAX - 1;
    for (size_t i = 0; i < n; i++) {
        member[i + 1] = slot_of(forecast, beside[i]);
        part[i] = forecast->slot[member[i + 1]]->figures.presses;
    }
    contend_group(forecast->contend, n + 1, member, slowdown);
    *predicted = slowdown[0];
}

/* What is known of a program has changed: so have the predictions that it was measured by. */
static void review(struct forecast *forecast, const struct step *step, size_t program)
{
    if (program == NO_NUMBER)
        return;
    evidence_program(forecast->evidence, program, doubt_of(step->knowledge.model));
    evidence_review(forecast->evidence, program, predict, forecast);
    forecast->unsettled = true;
}

/* Takes one measurement in. A program on several cores is beside itself, too: what it suffers from
 * that is in its time alone. */
static void observe(struct forecast *forecast, const struct pair *pair)
{
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
    if (evidence_observe(forecast->evidence, &seen) == 0)
        forecast->unsettled = true;
}

/* Forgets what was measured of programs whose numbers others have now. */
static void check_numbers(struct forecast *forecast, const struct packer *packer)
{
    for (size_t i = 0; i < packer->steps->programs.n; i++) {
        uint64_t born = packer->steps->programs.program[i].born;

        if (forecast->born[i] && forecast->born[i] != born) {
            evidence_forget(forecast->evidence, i, 0);
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
        observe(forecast, &pair);
    forecast->observed = forecast->observed || any;
    if (forecast->unsettled) {
        forecast->unsettled = evidence_solve(forecast->evidence) > 0;
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
    size_t program = step->program < PROGRAMS_MAX ? step->program : NO_NUMBER;
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
    if (study(forecast, FORECAST_AVERAGE, NO_NUMBER, &average) < 0)
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

/* ---- slots to ask about ---- */

const struct app *forecast_app(const struct forecast *forecast, size_t slot)
{
    return &forecast->slot[slot]->app;
}

size_t forecast_ways(const struct forecast *forecast)
{
    return forecast->machine.llc_ways ? forecast->machine.llc_ways : 16;
}

/* Two numbers, corrected by what was measured of the slot's program. */
static void correct_figures(const struct forecast *forecast, const struct slot *slot,
                            struct forecast_figures *figures)
{
    const size_t stranger = NO_NUMBER;

    figures->suffers = evidence_correct(forecast->evidence, slot->program, 1, &stranger, NULL,
                                        figures->suffers, NULL);
    figures->presses = evidence_correct(forecast->evidence, stranger, 1, &slot->program, NULL,
                                        figures->presses, NULL);
}

struct forecast_figures forecast_figures(const struct forecast *forecast, size_t number)
{
    const struct slot *slot = forecast->slot[number];
    struct forecast_figures figures = slot->figures;

    if (forecast->observed && slot->program != NO_NUMBER)
        correct_figures(forecast, slot, &figures);
    expect(forecast, 1, &figures.suffers);
    expect(forecast, 1, &figures.presses);
    expect(forecast, 1, &figures.minds);
    return figures;
}

/* Returns the slot that a slot's program was measured by: steps of one program may have several,
 * for each knows of itself what it has counted. */
static size_t measured_by(const struct forecast *forecast, size_t number)
{
    size_t found = slot_of(forecast, forecast->slot[number]->program);

    return found == FORECAST_AVERAGE ? number : found;
}

/* Predicts two slots beside each other. */
static void predict_two(const struct forecast *forecast, size_t a, size_t b)
{
    struct pair_table *pairs = forecast->pairs;
    const size_t member[2] = {a, b};
    double slowdown[2] = {0};

    contend_group(forecast->contend, 2, member, slowdown);
    pairs->predicted[a][b] = (float)slowdown[0];
    pairs->predicted[b][a] = (float)slowdown[1];
}

/* Returns what a core of slot a loses beside one of b. */
static double lost_beside(const struct forecast *forecast, size_t a, size_t b)
{
    double slowdown = forecast->pairs->predicted[a][b];

    if (forecast->observed && forecast->slot[a]->program != NO_NUMBER)
        slowdown = evidence_correct(forecast->evidence, forecast->slot[a]->program, 1,
                                    &forecast->slot[b]->program, NULL, slowdown, NULL);
    expect(forecast, 1, &slowdown);
    return slowdown / (1 + slowdown);
}

double forecast_pair(const struct forecast *forecast, size_t a, size_t b)
{
    struct pair_table *pairs = forecast->pairs;

    if (a == FORECAST_IDLE || b == FORECAST_IDLE)
        return 0;
    if (forecast->observed) {
        a = measured_by(forecast, a);
        b = measured_by(forecast, b);
    }
    if (!pairs || a >= PAIR_TABLE_MAX || b >= PAIR_TABLE_MAX)
        return NAN;
    if (isnan(pairs->lost[a][b])) {
        if (isnan(pairs->predicted[a][b]))
            predict_two(forecast, a, b);
        pairs->lost[a][b] = pairs->lost[b][a] =
            (float)(lost_beside(forecast, a, b) + lost_beside(forecast, b, a));
    }
    return pairs->lost[a][b];
}

/* Returns a core's slowdown with the cache's memory node to itself, `alone` by the model, corrected
 * by what was measured of the program beside those that are on its cache: of what it suffers from
 * others, not from its step's own other cores. A correction is relative to the prediction that the
 * measurement was compared with, so that is made again where this one was made of other slots. */
static double corrected(const struct forecast *forecast, double caution, size_t n,
                        const struct forecast_core *core, size_t i, double alone)
{
    size_t beside[EVIDENCE_BESIDE_MAX], copy[CONTEND_GROUP_MAX], others = 0, copies = 0;
    double part[EVIDENCE_BESIDE_MAX], own[CONTEND_GROUP_MAX] = {0}, again[CONTEND_GROUP_MAX];
    struct contend_apart apart[CONTEND_GROUP_MAX];
    size_t member[CONTEND_GROUP_MAX] = {measured_by(forecast, core[i].slot)};
    const struct slot *self = forecast->slot[core[i].slot];
    bool same = member[0] == core[i].slot;
    bool is_apart = core[i].apart.lost != 0 || core[i].apart.crowd != 0 || core[i].apart.small != 0;
    double error;

    for (size_t j = 0; j < n; j++) {
        if (core[j].owner == core[i].owner) {
            apart[copies] = core[j].apart;
            copy[copies++] = core[j].slot;
        } else if (core[j].slot != FORECAST_IDLE && others < CONTEND_GROUP_MAX - 1) {
            member[others + 1] = measured_by(forecast, core[j].slot);
            same = same && member[others + 1] == core[j].slot;
            part[others] = forecast->slot[member[others + 1]]->figures.presses;
            beside[others++] = forecast->slot[core[j].slot]->program;
        }
    }
    if (others == 0)
        return alone;
    again[0] = alone;
    if (copies > 1 || is_apart)
        contend_cache(forecast->contend, 0, copies, copy, apart, own, NULL);
    if (copies > 1 || is_apart || !same)
        contend_group(forecast->contend, others + 1, member, again);
    again[0] =
        evidence_correct(forecast->evidence, self->program, others, beside, part, again[0], &error);
    return (1 + own[0]) * (1 + again[0] + caution * error) - 1;
}

/* Predicts the cores on one cache as if they had its memory node to themselves. */
static int predict_alone(const struct forecast *forecast, size_t n,
                         const struct forecast_core *core, double *slowdown)
{
    size_t slot[CONTEND_GROUP_MAX];
    struct contend_apart apart[CONTEND_GROUP_MAX];

    for (size_t i = 0; i < n && i < CONTEND_GROUP_MAX; i++) {
        slot[i] = core[i].slot;
        apart[i] = core[i].apart;
    }
    return contend_cache(forecast->contend, 0, n, slot, apart, slowdown, NULL);
}

/* Corrects the slowdowns of n cores on one cache. Cores of one step are alike. What other caches of
 * the memory node do to them comes on top of what was measured, as predicted. */
static void correct(const struct forecast *forecast, double caution, size_t n,
                    const struct forecast_core *core, double *slowdown)
{
    double alone[CONTEND_GROUP_MAX];

    if (!forecast->observed || n == 0 || predict_alone(forecast, n, core, alone) < 0)
        return;
    for (size_t i = 0; i < n; i++) {
        const struct slot *self = forecast->slot[core[i].slot];
        bool alike =
            i > 0 && core[i].owner == core[i - 1].owner && core[i].slot == core[i - 1].slot;

        if (core[i].slot == FORECAST_IDLE || self->program == NO_NUMBER)
            continue;
        slowdown[i] = alike ? slowdown[i - 1]
                            : (1 + slowdown[i]) / (1 + alone[i]) *
                                      (1 + corrected(forecast, caution, n, core, i, alone[i])) -
                                  1;
    }
}

int forecast_cache(const struct forecast *forecast, double caution, double others_gbps, size_t n,
                   const struct forecast_core *core, double *slowdown, double *gbps)
{
    size_t slot[CONTEND_GROUP_MAX];
    struct contend_apart apart[CONTEND_GROUP_MAX];

    *gbps = 0;
    if (n == 0)
        return 0;
    for (size_t i = 0; i < n && i < CONTEND_GROUP_MAX; i++) {
        slot[i] = core[i].slot;
        apart[i] = core[i].apart;
    }
    if (contend_cache(forecast->contend, fmax(0, others_gbps), n, slot, apart, slowdown, gbps) < 0)
        return -1;
    correct(forecast, caution, n, core, slowdown);
    expect(forecast, n, slowdown);
    return 0;
}

/* Corrects cache by cache; order has the cores by cache. */
static void correct_caches(const struct forecast *forecast, double caution, size_t n,
                           const struct forecast_core *core, double *slowdown)
{
    struct forecast_core on[CONTEND_GROUP_MAX];
    double its[CONTEND_GROUP_MAX];
    size_t index[CONTEND_GROUP_MAX], caches = 0;

    for (size_t i = 0; i < n; i++)
        caches = core[i].cache < caches ? caches : core[i].cache + 1;
    for (size_t cache = 0; forecast->observed && cache < caches; cache++) {
        size_t members = 0;

        for (size_t i = 0; i < n && members < CONTEND_GROUP_MAX; i++)
            if (core[i].cache == cache) {
                on[members] = core[i];
                its[members] = slowdown[i];
                index[members++] = i;
            }
        if (members > 0)
            correct(forecast, caution, members, on, its);
        for (size_t i = 0; i < members; i++)
            slowdown[index[i]] = its[i];
    }
}

int forecast_node(const struct forecast *forecast, double caution, size_t n,
                  const struct forecast_core *core, double *slowdown)
{
    struct contend_stand *stand = calloc(n + 1, sizeof(*stand));
    int rc = -1;

    for (size_t i = 0; stand && i < n; i++)
        stand[i] =
            (struct contend_stand){core[i].slot, core[i].cache, core[i].memory, core[i].apart};
    if (stand && contend_node(forecast->contend, n, stand, slowdown) >= 0) {
        correct_caches(forecast, caution, n, core, slowdown);
        expect(forecast, n, slowdown);
        rc = 0;
    }
    free(stand);
    return rc;
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
