/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forecast - how much work the node does under a placement: what models/slowdown/contend.h predicts
 * of the steps, corrected by what was measured of them beside each other
 * (models/slowdown/evidence.h), times the probability that programs disturb each other here at all
 * (models/slowdown/null_test.h).
 *
 * berthd keeps one for its whole life. Steps of the same program of which the same is known share a
 * slot, and a slot is studied again only when what is known of it has changed by FORECAST_CHANGE.
 *
 * The unit of all decisions is work: a core in use counts 1 / (1 + the slowdown of the step on it).
 * Lost work is what that is less than the cores. */
#ifndef BERTH_PLACE_FORECAST_H
#define BERTH_PLACE_FORECAST_H

#include "models/slowdown/app.h"
#include "models/slowdown/contend.h"
#include "packer/machine/bandwidth.h"
#include "packer/steps/stand.h"

#define FORECAST_CHANGE 0.05 /* of a figure: less is no news */
#define FORECAST_IDLE 0      /* the slot of who slows nobody down */
#define FORECAST_AVERAGE 1   /* the slot of the average of the node's known programs */

struct forecast;

/* Returns an empty one; NULL when out of memory. */
struct forecast *forecast_open(void);
void forecast_close(struct forecast *forecast); /* NULL is fine */

/* Brings packer->state->forecast up to date: finds each live step its slot (step->slot;
 * FORECAST_IDLE where it is not at work). Returns whether slowdowns can be told: false without
 * memory, and where nothing is known of any step. */
bool forecast_update(const struct packer *packer);

/* Returns what the last forecast_update did. */
bool forecast_known(const struct packer *packer);

/* Returns what the node's memory gives, as it is known now: by what was known when berthd started,
 * and by the most that steps were seen to draw, or that one of the programs that ran here draws
 * alone. */
struct bandwidth forecast_bandwidth(const struct packer *packer);

/* Takes in what was measured of steps beside each other (packer->steps->pairs), up to date as of
 * the last update. Returns whether there was anything. */
bool forecast_learn(const struct packer *packer);

/* ---- of slots ---- */

/* Returns a slot's figures; valid until the next forecast_update. */
const struct app *forecast_app(const struct forecast *forecast, size_t slot);
size_t forecast_ways(const struct forecast *forecast); /* of a cache */

/* A slot in two numbers, and its traffic. */
struct forecast_figures {
    double suffers; /* slowdown beside one core of the average program */
    double presses; /* slowdown of that one beside it */
    double asks;    /* traffic alone, 1e9 bytes/s; 0 where no bandwidth is known */
    double minds;   /* slowdown for each 1e9 bytes/s that others ask of its memory node */
};
struct forecast_figures forecast_figures(const struct forecast *forecast, size_t slot);

/* Returns the slot by which the slot's program was measured beside others: steps of one program may
 * have several, for each knows of itself what it has counted. */
size_t forecast_stands_for(const struct forecast *forecast, size_t slot);

/* Returns the cores' worth of work that a core of each of two slots (as forecast_stands_for has
 * them) lose together beside each other on one cache, corrected by the evidence; a table has it.
 * NAN where there are too many slots. */
double forecast_pair(const struct forecast *forecast, size_t a, size_t b);

/* Standard errors that a decision adds to a corrected slowdown. Of many standings that were never
 * measured one always looks best by error alone, and a step that went there would go on to the
 * next: on simulated days (tests/bench/day) this halves what is lost of what could be avoided. */
#define FORECAST_CAUTION 0.5

/* A core in use. */
struct forecast_core {
    size_t slot;
    size_t owner;               /* cores of one owner are of one step */
    size_t cache, memory;       /* numbers: they index arrays */
    size_t seat, whole;         /* where a core is a hardware thread: which, and of which core */
    struct contend_apart apart; /* of its task's other cores (threads.h) */
};

/* Returns how much of its core the slot's program uses (contend_use), and by what fraction of its
 * time alone one of slot a takes longer for one of slot b on another hardware thread of its core.
 */
double forecast_use(const struct forecast *forecast, size_t slot);
double forecast_sibling(const struct forecast *forecast, size_t a, size_t b);

/* Fills in what n cores in use lose to each other by that (apart.siblings): those that have one
 * `whole`, and not the same seat. */
void forecast_siblings(const struct forecast *forecast, size_t n, struct forecast_core *core);

/* Returns by what all slowdowns are multiplied: the probability that programs disturb each other.
 */
double forecast_effect(const struct forecast *forecast);

/* Fills in the slowdowns of n cores in use on one cache (whatever its number), while other caches
 * ask others_gbps of its memory node, and its own traffic; corrected by the evidence, and so many
 * standard errors (caution) more: 0, or FORECAST_CAUTION. Returns 0; -1 where that cannot be told.
 */
int forecast_cache(const struct forecast *forecast, double caution, double others_gbps, size_t n,
                   const struct forecast_core *core, double *slowdown, double *gbps);

/* Does the same for a whole node. model: [n] what the model alone says, as if nothing had been
 * measured and programs disturbed each other for sure; NULL: nobody asks. */
int forecast_node(const struct forecast *forecast, double caution, size_t n,
                  const struct forecast_core *core, double *slowdown, double *model);

/* What the clock costs is in no slowdown here, and counts where moving changes it: between
 * packages. At most so many packages are looked at. */
#define FORECAST_PACKAGES_MAX 64

/* Does the node have several packages, and is their clock known? */
bool forecast_has_clocks(const struct packer *packer);

/* Returns the part of its time that a core of the slot loses by the clock, where so many cores of
 * its package are busy. */
double forecast_clock_lost(const struct forecast *forecast, size_t slot, size_t busy);

/* Returns by what fraction of its time alone a core of the slot takes longer while others run on
 * its other hardware thread. */
double forecast_sibling_mean(const struct forecast *forecast, size_t slot);

/* ---- of the live steps (after forecast_update) ---- */

/* Returns how sure a prediction of the step's slowdown is: one less the relative error, one
 * standard deviation, that predictions by what is known of it have, as far as measurements of its
 * program have not taken that away; 0 to 1. */
double forecast_confidence(const struct packer *packer, const struct step *step);

/* Returns the cores in use by steps at work under the scene's permutation, as the schemes see them:
 * cores of one task have one owner, where each thread counts (threads.h) none has the same; NULL
 * when out of memory. The caller frees them. */
struct forecast_core *forecast_cores(const struct scene *scene, size_t *n);

/* Returns how many cores' worth of work per second the steps do under the scene's permutation.
 * Steps that do not count as movable in the scene stand at home. NAN where that cannot be told.
 * *cores (may be NULL) receives the cores in use. */
double forecast_work(const struct scene *scene, size_t *cores);

/* Returns what they draw while they do it, W (node_power.h): all packages of the node, busy, kept
 * awake by others, or asleep; with edp_power = above-idle of berth.conf less what all of them draw
 * asleep. NAN where the power of one is not known. */
double forecast_watts(const struct scene *scene);

/* Returns their energy-delay product, J s, for what their cores do alone in a second (power_edp).
 * NAN where that is not known. */
double forecast_edp(const struct scene *scene);

/* Fills in how much slower than alone each live step is under the scene's permutation, in the order
 * of the list: the mean over its cores; NAN for those that are not at work, and, as long as the
 * memory's bandwidth is assumed, for those that share no memory node with others. NULL where that
 * cannot be told; the caller frees it. */
double *forecast_steps(const struct scene *scene);

/* Fills in how slow a decision for the node may make each live step (step->place.bearable): as slow
 * as it is under the scene's permutation, and so much more than at home. NAN where that cannot be
 * told. */
void forecast_bearable(const struct scene *scene, double beyond);

/* Predict for each live step how much slower than alone it is, as the steps stand now, if all
 * stood where Slurm put them, and if observed ones stood where berth would put them
 * (packer->state->as_if): step->slowdown. Brings the forecast up to date. */
void forecast_slowdowns(const struct packer *packer);

/* The means over the step's time, until now_s, as far as they were predicted: NAN where never. */
void forecast_mean(const struct step *step, double now_s, double *placed, double *home);

/* Returns the mean over an observed step's time had berth placed who is observed, as far as that
 * was predicted; NAN where never. */
double forecast_mean_as_if(const struct step *step, double now_s);

#endif
