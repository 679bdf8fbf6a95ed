/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster_sample - see cluster_sample.h */
#include "tests/bench/cluster_sample.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/bench/bench.h"
#include "tests/bench/day_bar.h"
#include "tests/bench/day_berthd.h"
#include "tests/bench/day_best.h"
#include "tests/bench/day_random.h"
#include "tests/bench/day_search.h"
#include "tests/bench/day_swap.h"
#include "tests/unit/common/folder.h"

#define DAY_LENGTH_S 86400.0
#define TRIES 20 /* nodes that are drawn for each that had jobs enough */
#define JOBS_LEAST 10

enum { LOT_SAMPLE = 40 };

/* A node's jobs, and how each is counted. */
struct replay {
    const struct cluster_sim *of;
    struct day_sim sim;
    struct day_given *given; /* [n] */
    size_t *kind, n;
};

/* ---- what stands in for berth ---- */

static int guess_changed(void *state, struct day_sim *sim, struct berth_error *err)
{
    struct replay *replay = state;
    size_t app[CLUSTER_CORES_MAX];

    for (size_t i = 0; i < sim->live; i++)
        app[i] = replay->kind[sim->running[i]->id - 1];
    day_search_begin(sim);
    if (day_swap_find(sim, DAY_PLAN, replay->of->machine->guess, app, err) < 0)
        return -1;
    for (size_t i = 0; i < sim->live; i++)
        day_sim_stand(sim, sim->running[i], sim->running[i]->core[DAY_PLAN]);
    return 0;
}

/* ---- the jobs of a node ---- */

static int by_start(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (x[0] > y[0]) - (x[0] < y[0]);
}

/* Takes those that started there in the first days that count, in the order of their starts. */
static int take_jobs(struct replay *replay, size_t node, double days)
{
    const struct cluster_work *work = replay->of->work;
    double from_s = work->from_s, to_s = from_s + days * DAY_LENGTH_S;
    double(*starts)[2] = calloc(work->pieces + 1, sizeof(*starts));
    size_t n = 0;

    for (size_t p = 0; starts && p < work->pieces; p++) {
        double at_s = work->job[work->piece[p].job].starts_s;

        if (work->piece[p].node != node || !(at_s >= from_s && at_s < to_s) ||
            work->piece[p].cores == replay->of->machine->topo->cores)
            continue;
        starts[n][0] = at_s;
        starts[n++][1] = (double)p;
    }
    if (starts)
        qsort(starts, n, sizeof(*starts), by_start);
    replay->given = calloc(n + 1, sizeof(*replay->given));
    replay->kind = calloc(n + 1, sizeof(*replay->kind));
    replay->n = starts && replay->given && replay->kind ? n : 0;
    for (size_t i = 0; i < replay->n; i++) {
        const struct cluster_piece *piece = &work->piece[(size_t)starts[i][1]];
        const struct cluster_job *job = &work->job[piece->job];

        replay->kind[i] = job->kind;
        replay->given[i] = (struct day_given){starts[i][0] - from_s, job->run_s, job->app,
                                              piece->tasks, piece->width};
    }
    free(starts);
    return replay->given && replay->kind ? 0 : -1;
}

static void replay_free(struct replay *replay)
{
    free(replay->given);
    free(replay->kind);
}

/* ---- who plays ---- */

static int play(struct replay *replay, const struct day_placer *placer, double *more_s,
                struct berth_error *err)
{
    if (day_sim_run(&replay->sim, placer, day_bar_show, err) < 0)
        return -1;
    *more_s += replay->sim.tally[0].took_s - replay->sim.tally[0].alone_s;
    return 0;
}

static int play_berthd(struct replay *replay, struct cluster_sample *sample, const char *folder,
                       struct berth_error *err)
{
    struct day_study study = {.sdp = true, .window_s = sample->window_s};
    const char *none[1] = {NULL};
    struct day_berthd *berthd;
    struct day_placer placer;
    int rc;

    study.conf = none;
    folder_remove(folder);
    if (mkdir(folder, 0700) < 0)
        return berth_error_set(err, "%s: %s", folder, strerror(errno));
    if (day_feed_machine(folder, sample->topology, replay->sim.truth, err) < 0)
        return -1;
    day_sim_rewind(&replay->sim);
    if (day_berthd_open(&berthd, folder, &replay->sim, &study, &placer, err) < 0)
        return -1;
    rc = play(replay, &placer, &sample->berth_s, err);
    day_berthd_close(berthd);
    return rc;
}

static int play_all(struct replay *replay, struct cluster_sample *sample, const char *folder,
                    struct berth_error *err)
{
    static const struct day_placer slurm = {.name = "slurm"};
    const struct day_placer stand_in = {
        .name = "stand-in", .state = replay, .changed = guess_changed};

    sample->jobs += (double)replay->n;
    if (play(replay, &slurm, &sample->slurm_s, err) < 0 ||
        play(replay, &stand_in, &sample->stand_in_s, err) < 0 ||
        play(replay, &day_best, &sample->best_s, err) < 0)
        return -1;
    return play_berthd(replay, sample, folder, err);
}

static int replay_node(struct cluster_sample *sample, const struct cluster_sim *of, size_t node,
                       const char *folder, struct berth_error *err)
{
    static const struct day_sizes sizes; /* that there are some; they are given */
    struct replay replay = {.of = of};
    struct day_plan plan = {.load = 1,
                            .days = 1,
                            .seed = of->seed,
                            .noise = of->noise,
                            .sizes = &sizes,
                            .socket = of->machine->socket,
                            .idle = of->machine->idle};
    int rc = take_jobs(&replay, node, sample->days);

    if (rc < 0)
        berth_no_memory(err);
    plan.jobs = replay.n;
    plan.given = replay.given;
    if (rc == 0 && replay.n >= JOBS_LEAST) {
        rc = day_sim_open(&replay.sim, of->machine->truth->truth, of->machine->topo, &plan, err);
        if (rc == 0) {
            rc = play_all(&replay, sample, folder, err);
            day_sim_close(&replay.sim);
        }
    }
    replay_free(&replay);
    return rc;
}

int cluster_sample_play(struct cluster_sample *sample, const struct cluster_sim *sim,
                        struct berth_error *err)
{
    static char folder[PATH_MAX];
    uint64_t seed = day_random_seed(sim->seed, LOT_SAMPLE, 0);
    char each[PATH_MAX];

    if (!folder[0]) {
        day_feed_folder(folder);
        bench_folder(folder);
    }
    snprintf(each, sizeof(each), "%.1000s/node", folder);
    for (size_t i = 0, tries = 0; i < sample->nodes && tries < TRIES * sample->nodes; tries++) {
        size_t node = (size_t)(day_random(&seed) * (double)sim->machine->n);
        double jobs = sample->jobs;

        if (replay_node(sample, sim, node, each, err) < 0)
            return -1;
        i += sample->jobs > jobs;
    }
    return 0;
}
