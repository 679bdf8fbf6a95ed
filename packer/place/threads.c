/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads - see threads.h */
#include "packer/place/threads.h"

#include <math.h>

#include "models/slowdown/app.h"
#include "packer/base/clock.h"
#include "packer/observe/classify.h"
#include "enum_table.h"

#define NEAR 0.05 /* of far: standings that are no more apart tell nothing of each other */
#define ALL 0.2   /* before anything is seen all hits are taken for shared, give or take this */
#define PHASE 0.1 /* of its misses: by which a program's change by themselves meanwhile */
#define SURE 0.02 /* of the part that is shared: it may change, so it is never surer than this */
#define LOSS 0.05 /* of its misses: what may miss more than this when it is apart stays whole */
#define DOUBLINGS_MAX 8 /* of the time for which a task stays whole */

const char *const TABLE(threads_word_name, THREADS_WORDS) = {
    ROW(THREADS_MODEL) = NULL, ROW(THREADS_SPREAD) = "spread", ROW(THREADS_PACK) = "pack"};
TABLE_COMPLETE(threads_word_name);

enum threads_word threads_word(const struct step *step)
{
    const struct wire_options *options = &step->request.options;

    return options->spread ? THREADS_SPREAD : options->pack ? THREADS_PACK : THREADS_MODEL;
}

static const struct program_threads *known_of(const struct packer *packer, const struct step *step)
{
    if (step->program == PROGRAM_NONE || step->ended_at)
        return NULL;
    return &packer->steps->programs.program[step->program].threads;
}

/* Returns the part of the program's hits that are on lines of other threads, rather too much by a
 * standard error than too little: of what is not sure, nobody is spread. NAN: not known. */
static double shared_of(const struct packer *packer, const struct step *step)
{
    const struct program_threads *known = known_of(packer, step);

    if (!known || known->precision == 0)
        return NAN;
    return fmin(fmax(known->shared, 0) + 1 / sqrt(known->precision), 1);
}

struct contend_apart threads_lose(const struct packer *packer, const struct step *step,
                                  size_t cores, size_t here, double far_now)
{
    double shared = shared_of(packer, step), far = app_far(cores, here);

    if (cores < 2)
        return (struct contend_apart){0};
    if (isnan(shared))
        return (struct contend_apart){.lost = fmax(0, far - far_now), .crowd = app_crowd(1, here)};
    return (struct contend_apart){.lost = shared * far, .crowd = app_crowd(shared, here)};
}

/* ---- who is divided ---- */

static bool is_stopped(const struct packer *packer, const struct step *step)
{
    const struct program_threads *known = known_of(packer, step);

    return known && known->regrets > 0 && clock_s() < known->whole_until_s;
}

static bool is_sized(const struct step *step)
{
    return step->size.given < step->size.cores;
}

/* Is it one that may be divided at all? */
static bool is_divisible(const struct packer *packer, const struct step *step, size_t cores)
{
    enum threads_word word = threads_word(step);

    if (cores < 2 || word == THREADS_PACK || is_sized(step))
        return false;
    return word == THREADS_SPREAD ||
           (step->profile.known &&
            classify_rate(packer, step) >= packer->world.conf.devil_miss_pmi &&
            !is_stopped(packer, step));
}

/* Returns how many hits would be misses where half of the cores stand on each of two caches, by how
 * many it misses; NAN where that is not known. */
static double loss_apart(const struct packer *packer, const struct step *step, double shared,
                         size_t cores)
{
    double misses = classify_rate(packer, step);
    double hits = fmax(0, step->profile.accesses - misses);

    if (isnan(step->profile.accesses))
        return NAN;
    return shared * app_far(cores, cores - cores / 2) * hits / misses;
}

/* Has some cache so many cores? */
static bool fits(const struct packer *packer, size_t cores)
{
    const struct topo *topo = packer->world.topo;

    for (size_t i = 0; i + cores <= topo->cores; i++)
        if (topo->core[i].llc == topo->core[i + cores - 1].llc)
            return true;
    return false;
}

/* Is it one that stays whole as long as nobody has counted what its threads share? */
static bool belongs_together(const struct packer *packer, double shared, size_t cores)
{
    return isnan(shared) && fits(packer, cores);
}

bool threads_divisible(const struct packer *packer, const struct step *step, size_t cores,
                       bool starts)
{
    double shared = shared_of(packer, step);

    if (!is_divisible(packer, step, cores))
        return false;
    return threads_word(step) == THREADS_SPREAD ||
           (starts && !belongs_together(packer, shared, cores) &&
            loss_apart(packer, step, isnan(shared) ? 1 : shared, cores) <= LOSS);
}

bool threads_apart(const struct packer *packer, const struct step *step, size_t cores)
{
    double shared = shared_of(packer, step);

    if (!is_divisible(packer, step, cores))
        return false;
    return threads_word(step) == THREADS_SPREAD ||
           (!step->request.options.isolate && !belongs_together(packer, shared, cores) &&
            !(loss_apart(packer, step, shared, cores) >= 1)); /* not known: as in the paper */
}

/* ---- where tasks stand ---- */

static size_t caches_of(const struct topo *topo, const size_t *on)
{
    size_t caches = 0;

    for (size_t i = 0; i < topo->llcs; i++)
        caches += on[i] > 0;
    return caches;
}

static void stand_of(const struct scene *scene, const struct step *step, size_t task,
                     struct cpus *cpus)
{
    *cpus = step->body.task[task].use;
    if (stand_movable(scene, step))
        stand_image(scene->packer, scene->pool, &step->body.task[task].use, cpus);
}

double threads_apart_now(const struct scene *scene, const struct step *step)
{
    const struct topo *topo = scene->packer->world.topo;
    size_t on[CPUS_MAX], all = 0;
    double sum = 0;

    for (size_t t = 0; t < step->body.ntasks; t++) {
        struct cpus cpus;
        size_t cores;

        stand_of(scene, step, t, &cpus);
        cores = topo_cores_by_llc(topo, &cpus, on);
        for (size_t i = 0; i < topo->llcs; i++)
            sum += on[i] ? (double)on[i] * app_far(cores, on[i]) : 0;
        all += cores;
    }
    return all ? sum / (double)all : 0;
}

double threads_far_now(const struct packer *packer, const struct step *step, size_t task)
{
    const struct topo *topo = packer->world.topo;
    struct cpus cpus = step->body.task[task].use;
    size_t on[CPUS_MAX], cores;
    double far = 0;

    if (step_movable(step))
        stand_image(packer, packer->pool, &step->body.task[task].use, &cpus);
    cores = topo_cores_by_llc(topo, &cpus, on);
    for (size_t i = 0; i < topo->llcs; i++)
        far = on[i] ? fmax(far, app_far(cores, on[i])) : far;
    return far;
}

/* Returns the pool's cores on each cache (room[topo->llcs]), and the greatest. */
static size_t count_room(const struct scene *scene, size_t *room)
{
    const struct topo *topo = scene->packer->world.topo;
    size_t most = 0;

    for (size_t i = 0; i < topo->llcs; i++)
        room[i] = 0;
    for (size_t core = 0; core < scene->pool->cores; core++)
        if (pool_has(scene->pool, core) && ++room[topo->core[core].llc] > most)
            most = room[topo->core[core].llc];
    return most;
}

/* Returns the caches on which so many cores can stand at most (spread) or at least (pack). */
static size_t caches_wanted(const struct topo *topo, const size_t *room, size_t most, size_t cores,
                            bool spread)
{
    size_t caches = caches_of(topo, room);

    if (spread)
        return cores < caches ? cores : caches;
    return most ? (cores + most - 1) / most : 1;
}

size_t threads_missing(const struct scene *scene)
{
    const struct topo *topo = scene->packer->world.topo;
    size_t room[CPUS_MAX], on[CPUS_MAX], most = SIZE_MAX, missing = 0;
    const struct step *step;

    TAILQ_FOREACH(step, &scene->packer->steps->live, link)
    {
        enum threads_word word = threads_word(step);

        if (word == THREADS_MODEL || !stand_decides(scene, step) || is_sized(step))
            continue;
        if (most == SIZE_MAX)
            most = count_room(scene, room);
        for (size_t t = 0; t < step->body.ntasks; t++) {
            struct cpus cpus;
            size_t cores, caches, wanted;

            stand_of(scene, step, t, &cpus);
            cores = topo_cores_by_llc(topo, &cpus, on);
            caches = caches_of(topo, on);
            wanted = caches_wanted(topo, room, most, cores, word == THREADS_SPREAD);
            if (cores > 1)
                missing += caches > wanted ? caches - wanted : wanted - caches;
        }
    }
    return missing;
}

/* ---- for people ---- */

static const char *why_of(const struct packer *packer, const struct step *step, size_t cores)
{
    if (threads_word(step) != THREADS_MODEL)
        return "its user insists on it";
    if (is_sized(step))
        return "its size says on which memory nodes";
    if (is_stopped(packer, step))
        return "kept as it was: spread, it was slower";
    if (!is_divisible(packer, step, cores))
        return "not bound by memory: kept whole";
    if (step->place.policy == WIRE_POLICY_CONTEND)
        return threads_divisible(packer, step, cores, true)
                   ? "as contend predicted at its start: its threads share next to nothing"
                   : "kept whole: its threads may share what they hit";
    return threads_apart(packer, step, cores) ? "bound by memory: each of its threads counts as one"
           : isnan(shared_of(packer, step))
               ? "kept whole: its threads may share what they hit"
               : "kept whole: its threads were seen to share what they hit";
}

static const char *vain_of(const struct packer *packer, const struct step *step, size_t cores)
{
    if (packer->world.topo->llcs == 1)
        return "the node has one cache of the last level";
    if (cores < 2)
        return "its tasks have one core each";
    return is_sized(step) ? "its size says on which memory nodes it stands" : NULL;
}

void threads_state(const struct packer *packer, const struct step *step,
                   struct threads_state *state)
{
    size_t on[CPUS_MAX], most = 0;

    *state = (struct threads_state){
        .asked = threads_word(step), .shared = shared_of(packer, step), .reason = ""};
    for (size_t t = 0; t < step->body.ntasks; t++) {
        size_t cores = topo_cores_by_llc(packer->world.topo, &step->body.task[t].cpus, on);
        size_t caches = caches_of(packer->world.topo, on);

        most = cores > most ? cores : most;
        state->caches = caches > state->caches ? caches : state->caches;
    }
    if (state->asked != THREADS_MODEL)
        state->vain = vain_of(packer, step, most);
    if (packer->world.topo->llcs > 1 && most > 1)
        state->reason = why_of(packer, step, most);
}

/* ---- learnt ---- */

void threads_learn(const struct packer *packer, const struct step *step,
                   const struct threads_seen *seen)
{
    double apart = (seen->far - seen->near) * seen->near_hits, error, precision;
    struct program_threads *known;

    if (step->program == PROGRAM_NONE || !(seen->far - seen->near > NEAR) || !(apart > 0) ||
        !isfinite(seen->far_misses - seen->near_misses) || !isfinite(seen->error))
        return;
    known = &packer->steps->programs.program[step->program].threads;
    if (known->precision == 0)
        *known = (struct program_threads){1, 1 / (ALL * ALL), known->regrets, known->whole_until_s};
    error = hypot(seen->error, PHASE * (seen->far_misses + seen->near_misses) / 2) / apart;
    precision = 1 / fmax(error * error, SURE * SURE);
    known->shared += ((seen->far_misses - seen->near_misses) / apart - known->shared) * precision /
                     (known->precision + precision);
    known->precision = fmin(known->precision + precision, 1 / (SURE * SURE));
}

void threads_regret(const struct packer *packer, const struct step *step)
{
    struct program_threads *known;

    if (step->program == PROGRAM_NONE)
        return;
    known = &packer->steps->programs.program[step->program].threads;
    if (known->regrets < DOUBLINGS_MAX)
        known->regrets++;
    known->whole_until_s =
        clock_s() + ldexp((double)packer->world.conf.regret_ms / 1000, (int)known->regrets - 1);
}
