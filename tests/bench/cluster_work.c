/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster_work - see cluster_work.h */
#include "tests/bench/cluster_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/day_log.h"
#include "tests/bench/day_noise.h"
#include "tests/bench/day_random.h"

#define DAY_S 86400.0
#define WARM 0.2 /* of the time of arrivals: from then on, until as much is left, jobs count */

enum { LOT_SHIFT = 20, LOT_USER, LOT_JOB, LOT_KIND, LOT_RANKS }; /* what is drawn by itself */

/* ---- the log ---- */

/* Makes room for `more` at the end of an array of n, which grows by doubling. */
static void *grow(void *array, size_t n, size_t more, size_t size)
{
    size_t room = 64;

    while (room < n)
        room *= 2;
    if (array && n + more <= room)
        return array;
    while (room < n + more)
        room *= 2;
    return realloc(array, room * size);
}

static int add_logged(void *arg, const struct day_log_job *job)
{
    struct cluster_log *log = arg;
    struct cluster_logged *jobs = grow(log->job, log->n, 1, sizeof(*jobs));
    size_t *cores;

    if (!jobs)
        return -1;
    log->job = jobs;
    cores = grow(log->cores, log->cores_n, job->pieces, sizeof(*cores));
    if (!cores)
        return -1;
    log->cores = cores;
    memcpy(cores + log->cores_n, job->cores, job->pieces * sizeof(*cores));
    jobs[log->n++] = (struct cluster_logged){.submitted_s = job->submitted_s,
                                             .ran_s = job->ran_s,
                                             .asked_s = job->asked_s,
                                             .user = job->user,
                                             .first = log->cores_n,
                                             .pieces = job->pieces,
                                             .by_node = job->by_node,
                                             .exclusive = job->exclusive};
    log->cores_n += job->pieces;
    return 0;
}

static int by_user(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;

    return (x > y) - (x < y);
}

/* Numbers the users from 0, and finds how long the log is. */
static int conclude(struct cluster_log *log)
{
    long *user = calloc(log->n, sizeof(*user));
    double first = log->job[0].submitted_s, last = first;

    if (!user)
        return -1;
    for (size_t i = 0; i < log->n; i++) {
        user[i] = log->job[i].user;
        first = fmin(first, log->job[i].submitted_s);
        last = fmax(last, log->job[i].submitted_s);
    }
    qsort(user, log->n, sizeof(*user), by_user);
    for (size_t i = 0; i < log->n; i++)
        if (i == 0 || user[i] != user[log->users - 1])
            user[log->users++] = user[i];
    for (size_t i = 0; i < log->n; i++) {
        long *at = bsearch(&log->job[i].user, user, log->users, sizeof(*user), by_user);

        log->job[i].user = at - user;
        log->job[i].submitted_s -= first;
    }
    log->length_s = fmax(last - first, 1);
    free(user);
    return 0;
}

int cluster_log_read(struct cluster_log *log, const char *path, struct berth_error *err)
{
    *log = (struct cluster_log){0};
    if (day_log_read(path, add_logged, log, err) < 0 ||
        (conclude(log) < 0 && berth_no_memory(err) < 0)) {
        cluster_log_free(log);
        return -1;
    }
    return 0;
}

void cluster_log_free(struct cluster_log *log)
{
    free(log->job);
    free(log->cores);
    *log = (struct cluster_log){0};
}

/* ---- sizes ---- */

static int by_width(const void *a, const void *b)
{
    const struct cluster_piece *x = a, *y = b;

    return (x->cores < y->cores) - (x->cores > y->cores);
}

/* Fills the pieces of a logged job on our nodes, the widest first (piece NULL: none), and returns
 * how many there are. */
static size_t cut(const struct cluster_log *log, const struct cluster_logged *logged,
                  size_t node_cores, struct cluster_piece *piece)
{
    size_t n = 0;

    for (size_t i = 0; i < logged->pieces; i++)
        for (size_t left = log->cores[logged->first + i]; left > 0; n++) {
            size_t cores = left < node_cores ? left : node_cores;

            if (piece)
                piece[n] = (struct cluster_piece){.cores = logged->exclusive ? node_cores : cores,
                                                  .node = CLUSTER_NOBODY};
            left -= cores;
        }
    if (piece)
        qsort(piece, n, sizeof(*piece), by_width);
    return n;
}

static size_t cores_of(const struct cluster_log *log, const struct cluster_logged *logged,
                       size_t node_cores)
{
    size_t cores = 0;

    for (size_t i = 0; i < logged->pieces; i++) {
        size_t has = log->cores[logged->first + i];

        cores += logged->exclusive ? (has + node_cores - 1) / node_cores * node_cores : has;
    }
    return cores;
}

/* ---- who comes when ---- */

/* What the log asks of the cluster, and how it is played. */
struct playing {
    const struct cluster_log *log;
    const struct cluster_plan *plan;
    size_t copies;
    double slower;    /* factor on all times of arrival */
    double horizon_s; /* of arrivals */
};

static void find_speed(struct playing *playing, struct cluster_work *work)
{
    const struct cluster_plan *plan = playing->plan;
    double cores = (double)(plan->nodes * plan->cores), wanted = plan->load * cores, asked = 0;

    for (size_t i = 0; i < playing->log->n; i++) {
        const struct cluster_logged *job = &playing->log->job[i];

        if (cut(playing->log, job, plan->cores, NULL) <= plan->nodes)
            asked += job->ran_s * (double)cores_of(playing->log, job, plan->cores);
        else
            work->left_out++;
    }
    asked = fmax(asked / playing->log->length_s, 1e-9); /* cores, on average */
    playing->copies = (size_t)fmax(round(wanted / asked), 1);
    playing->slower = asked * (double)playing->copies / wanted;
    playing->horizon_s = playing->log->length_s * playing->slower;
    if (plan->days > 0)
        playing->horizon_s = fmin(playing->horizon_s, plan->days * DAY_S);
    work->copies = playing->copies;
    work->from_s = WARM * playing->horizon_s;
    work->to_s = (1 - WARM) * playing->horizon_s;
}

/* A job that comes: which of the log, of which copy. */
struct coming {
    double at_s;
    size_t logged, copy;
};

static int by_time(const void *a, const void *b)
{
    const struct coming *x = a, *y = b;

    if (x->at_s != y->at_s)
        return x->at_s < y->at_s ? -1 : 1;
    if (x->copy != y->copy)
        return x->copy < y->copy ? -1 : 1;
    return (x->logged > y->logged) - (x->logged < y->logged);
}

static double arrival(const struct playing *playing, size_t logged, size_t copy)
{
    uint64_t seed = day_random_seed(playing->plan->seed, LOT_SHIFT, copy);
    double length = playing->log->length_s, shift = copy == 0 ? 0 : day_random(&seed) * length;
    double at_s = playing->log->job[logged].submitted_s + shift;

    return (at_s > length ? at_s - length : at_s) * playing->slower;
}

/* Returns those who come, in order; NULL: no memory. */
static struct coming *find_coming(const struct playing *playing, struct cluster_work *work)
{
    const struct cluster_log *log = playing->log;
    struct coming *coming = calloc(log->n * playing->copies, sizeof(*coming));

    for (size_t copy = 0; coming && copy < playing->copies; copy++)
        for (size_t i = 0; i < log->n; i++) {
            double at_s = arrival(playing, i, copy);
            size_t pieces = cut(log, &log->job[i], playing->plan->cores, NULL);

            if (at_s > playing->horizon_s || pieces > playing->plan->nodes || pieces == 0)
                continue;
            coming[work->n++] = (struct coming){at_s, i, copy};
            work->pieces += pieces;
        }
    if (coming)
        qsort(coming, work->n, sizeof(*coming), by_time);
    return coming;
}

/* ---- the jobs ---- */

/* Draws one of n. */
static size_t draw(const struct cluster_plan *plan, uint64_t what, size_t number, size_t n)
{
    uint64_t seed = day_random_seed(plan->seed, what, number);

    return (size_t)(day_random(&seed) * (double)n);
}

/* As day_sizes.h has it: a job on several nodes is of ranks, any other by lot. */
static void divide(const struct cluster_plan *plan, struct cluster_work *work, size_t at)
{
    const struct cluster_job *job = &work->job[at];
    bool ranks = job->pieces > 1 || draw(plan, LOT_RANKS, at, 2) == 0;

    for (size_t p = 0; p < job->pieces; p++) {
        struct cluster_piece *piece = &work->piece[job->first + p];

        piece->job = at;
        piece->tasks = ranks ? piece->cores : 1;
        piece->width = piece->cores / piece->tasks;
    }
}

static void fill_job(const struct playing *playing, struct cluster_work *work, size_t at,
                     const struct coming *coming, size_t first)
{
    const struct cluster_logged *logged = &playing->log->job[coming->logged];
    const struct cluster_plan *plan = playing->plan;
    struct cluster_job *job = &work->job[at];

    *job = (struct cluster_job){.arrives_s = coming->at_s,
                                .run_s = logged->ran_s,
                                .asked_s = fmax(logged->asked_s, logged->ran_s),
                                .user = (size_t)logged->user,
                                .first = first};
    job->pieces = cut(playing->log, logged, plan->cores, work->piece + first);
    for (size_t p = 0; p < job->pieces; p++)
        job->cores += work->piece[first + p].cores;
    job->app = plan->by_job ? draw(plan, LOT_JOB, at, plan->apps)
                            : draw(plan, LOT_USER, job->user, plan->apps);
    job->kind = job->app * plan->kinds + draw(plan, LOT_KIND, at, plan->kinds);
    job->counted = job->arrives_s >= work->from_s && job->arrives_s <= work->to_s;
    divide(plan, work, at);
}

static int count_shares(struct cluster_work *work, size_t node_cores)
{
    double *user = calloc(work->users, sizeof(*user)), all = 0, shared = 0;

    if (!user)
        return -1;
    for (size_t i = 0; i < work->n; i++) {
        const struct cluster_job *job = &work->job[i];

        for (size_t p = 0; job->counted && p < job->pieces; p++) {
            double core_s = job->run_s * (double)work->piece[job->first + p].cores;

            all += core_s;
            user[job->user] += core_s;
            shared += work->piece[job->first + p].cores < node_cores ? core_s : 0;
        }
    }
    for (size_t u = 0; u < work->users && all > 0; u++)
        work->user_most = fmax(work->user_most, user[u] / all);
    work->shared = all > 0 ? shared / all : 0;
    free(user);
    return 0;
}

int cluster_work_draw(struct cluster_work *work, const struct cluster_log *log,
                      const struct cluster_plan *plan, struct berth_error *err)
{
    struct playing playing = {.log = log, .plan = plan};
    struct coming *coming;
    int rc = -1;

    *work = (struct cluster_work){.users = log->users};
    find_speed(&playing, work);
    coming = find_coming(&playing, work);
    work->job = coming ? calloc(work->n + 1, sizeof(*work->job)) : NULL;
    work->piece = coming ? calloc(work->pieces + 1, sizeof(*work->piece)) : NULL;
    if (work->job && work->piece) {
        for (size_t i = 0, first = 0; i < work->n; first += work->job[i++].pieces)
            fill_job(&playing, work, i, &coming[i], first);
        rc = count_shares(work, plan->cores);
    }
    free(coming);
    if (rc == 0 && work->n > 0)
        return 0;
    cluster_work_free(work);
    return rc < 0 ? berth_no_memory(err)
                  : berth_error_set(err, "no job of the log comes to this cluster");
}

void cluster_work_free(struct cluster_work *work)
{
    free(work->job);
    free(work->piece);
    *work = (struct cluster_work){0};
}

void cluster_work_rewind(struct cluster_work *work)
{
    for (size_t i = 0; i < work->n; i++) {
        struct cluster_job *job = &work->job[i];

        job->starts_s = job->ends_s = NAN;
        job->left_s = job->run_s;
        job->slowdown = job->at_s = job->due_s = 0;
        job->moves = 0;
        job->disturbed = false;
    }
    for (size_t p = 0; p < work->pieces; p++) {
        work->piece[p].node = CLUSTER_NOBODY;
        work->piece[p].slowdown = 0;
    }
}
