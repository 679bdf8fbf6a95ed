/* SPDX-License-Identifier: GPL-2.0-or-later */
/* board - see board.h. The map, imc, mbm and the writer are the thread's alone from its start to
 * its end; what it is told, and `armed`, are the mutex's. */
#include "packer/board/board.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blackboard/writer.h"
#include "packer/base/worker.h"
#include "packer/board/imc.h"
#include "packer/board/map.h"
#include "packer/board/mbm.h"
#include "packer/board/told.h"
#include "packer/steps/stage.h"

/* What a window says holds until it is so many windows old. */
#define WINDOWS_OLD 3

struct board {
    struct worker worker;
    struct rootfs root; /* its own: a thread that hangs still has it */
    struct board_map map;
    struct imc *imc; /* NULL: nothing counts each package's traffic */
    struct mbm *mbm; /* NULL: nothing counts each cache's */
    struct blackboard_writer *writer;
    uint64_t cpu_ns;         /* of the thread, when it was looked at last */
    size_t llcs, *package;   /* [llcs] that each cache is in */
    double *total, *local;   /* [llcs] */
    double *traffic, *watts; /* [map.n] of the thread */
    bool was_armed;

    bool armed;          /* there are steps */
    double every_s;      /* between two samples */
    double told_until_s; /* so long holds what the windows said: */
    double told_traffic; /* NAN not known */
    bool told_new;
    double *told_watts; /* [map.n] */
    struct told told;   /* of the event loop alone */
};

/* ---- the thread ---- */

/* Traffic of each memory of two packages with one each: what its own caches ask of it, and what the
 * others' ask of the only other one. */
static void find_memories(struct board *board)
{
    const struct board_map *map = &board->map;
    double own[2] = {0}, other[2] = {0};

    if (map->count[BOARD_MEMORY] != 2 || map->count[BOARD_PACKAGE] != 2)
        return;
    for (size_t i = 0; i < board->llcs; i++) {
        size_t package = board->package[i];

        own[package] += board->local[i];
        other[package] += board->total[i] - board->local[i];
    }
    for (size_t i = 0; i < 2; i++) {
        size_t at = board_map_at(map, BOARD_MEMORY, i), package = map->section[at].package;

        if (package < 2)
            board->traffic[at] = own[package] + other[1 - package];
    }
}

static void read_packages(struct board *board, double now_s)
{
    imc_read(board->imc, now_s, &board->traffic[board->map.first[BOARD_PACKAGE]]);
}

static void read_caches(struct board *board, double now_s)
{
    mbm_read(board->mbm, now_s, board->total, board->local);
    for (size_t i = 0; i < board->llcs; i++)
        board->traffic[board_map_at(&board->map, BOARD_LLC, i)] = board->total[i];
    if (!board->imc)
        find_memories(board);
}

/* Reads what counts the traffic of all tasks. Returns whether anything does. */
static bool read_traffic(struct board *board, double now_s)
{
    if (!board->imc && !board->mbm)
        return false;
    board->traffic[board->map.first[BOARD_NODE]] = NAN;
    if (board->imc)
        read_packages(board, now_s);
    if (board->mbm)
        read_caches(board, now_s);
    return true;
}

/* Takes over what was told. Returns whether there is traffic that was not looked at yet. Called
 * with the mutex. */
static bool take_told(struct board *board, double now_s)
{
    bool is_new = board->told_new;

    memcpy(board->watts, board->told_watts, board->map.n * sizeof(*board->watts));
    for (size_t i = 0; i < board->map.n; i++)
        board->traffic[i] = NAN;
    if (now_s > board->told_until_s) {
        board->told_traffic = NAN;
        is_new = true;
    }
    board->traffic[board->map.first[BOARD_NODE]] = board->told_traffic;
    board->told_new = false;
    return is_new;
}

static void publish(struct board *board)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

    for (size_t i = 0; i < board->map.n; i++)
        blackboard_write(board->writer, (unsigned)i, now_ns, BERTH_BLACKBOARD_KNOWN_VALUES,
                         board->map.section[i].value);
}

/* A sample: read, judged and written. Called with the mutex, which it lets go of. */
static void sample(struct board *board, double now_s)
{
    bool is_new = take_told(board, now_s);

    worker_unlock(&board->worker);
    if (read_traffic(board, now_s) || is_new) {
        board_map_complete(&board->map, board->traffic);
        board_map_take(&board->map, board->traffic, board->watts);
    } else {
        board_map_power(&board->map, board->watts);
    }
    publish(board);
    worker_lock(&board->worker);
}

/* Nobody is there: nothing is known, and nothing is written until somebody is. */
static void disarm(struct board *board)
{
    board->was_armed = false;
    board_map_forget(&board->map);
    publish(board);
}

/* Returns the CPU time that the thread has taken since it was asked last. */
static double spent_s(struct board *board)
{
    uint64_t now_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), last_ns = board->cpu_ns;

    board->cpu_ns = now_ns;
    return (double)(now_ns - last_ns) * 1e-9;
}

double board_wait_s(double every_s, double cpu_s)
{
    return fmax(every_s, fmin(cpu_s / BOARD_CPU_MOST, BOARD_SLOW_S));
}

/* Is there something that is not to wait for the next sample? What the thread reads by itself is:
 * in a short time there is little traffic, and much chance. */
static bool has_news(const struct board *board, double every_s)
{
    return board->worker.stopping || board->armed != board->was_armed ||
           board->every_s != every_s ||
           (board->told_new && board->armed && !board->imc && !board->mbm);
}

static void publish_forever(void *arg)
{
    struct board *board = arg;

    while (!board->worker.stopping) {
        double next_s = clock_s(), every_s = board->every_s;

        if (board->armed) {
            board->was_armed = true;
            sample(board, next_s);
            next_s += board_wait_s(every_s, spent_s(board));
        } else {
            if (board->was_armed)
                disarm(board);
            next_s = INFINITY;
        }
        while (!has_news(board, every_s) && worker_wait_until(&board->worker, next_s))
            ;
    }
}

/* ---- opening ---- */

static int make_file(struct board *board, const struct conf *conf, struct berth_error *err)
{
    const char **name = calloc(board->map.n, sizeof(*name));
    char path[PATH_MAX + sizeof(BOARD_FILE) + 1];
    int rc;

    if (!name)
        return berth_no_memory(err);
    for (size_t i = 0; i < board->map.n; i++)
        name[i] = board->map.section[i].name;
    snprintf(path, sizeof(path), "%s/" BOARD_FILE, conf->state_dir);
    rc = blackboard_create(&board->writer, path, (unsigned)board->map.n, name);
    free(name);
    return rc < 0 ? berth_error_set(err, "%.400s: %s", path, strerror(errno)) : 0;
}

static int make_room(struct board *board, const struct topo *topo)
{
    size_t n = board->map.n;

    board->llcs = topo->llcs;
    board->package = calloc(topo->llcs, sizeof(*board->package));
    for (size_t i = 0; board->package && i < topo->llcs; i++)
        board->package[i] = topo->llc[i].package;
    board->total = calloc(topo->llcs, sizeof(double));
    board->local = calloc(topo->llcs, sizeof(double));
    board->traffic = calloc(n, sizeof(double));
    board->watts = calloc(n, sizeof(double));
    board->told_watts = calloc(n, sizeof(double));
    return board->package && board->total && board->local && board->traffic && board->watts &&
                   board->told_watts
               ? 0
               : -1;
}

static void board_free(struct board *board)
{
    blackboard_end(board->writer);
    imc_close(board->imc);
    mbm_close(board->mbm);
    if (board->root.fd >= 0)
        rootfs_close(&board->root);
    board_map_free(&board->map);
    free(board->package);
    free(board->total);
    free(board->local);
    free(board->traffic);
    free(board->watts);
    free(board->told_watts);
    free(board);
}

static int prepare(struct board *board, const struct packer *packer, struct berth_error *err)
{
    struct berth_error why;

    board->every_s = BOARD_SLOW_S;
    board->root = packer->world.root;
    board->root.fd = fcntl(packer->world.root.fd, F_DUPFD_CLOEXEC, 0);
    if (board->root.fd < 0)
        return berth_error_set(err, "cannot keep the root open: %s", strerror(errno));
    if (board_map_make(&board->map, packer->world.topo, packer->world.machine,
                       &packer->world.conf) < 0 ||
        make_room(board, packer->world.topo) < 0)
        return berth_no_memory(err);
    for (size_t i = 0; i < board->map.n; i++)
        board->told_watts[i] = NAN;
    if (imc_open(&board->imc, &board->root, packer->world.topo, NULL, NULL, &why) < 0)
        log_debug("blackboard: %s", why.text);
    if (mbm_open(&board->mbm, &board->root, packer->world.topo, &why) < 0)
        log_debug("blackboard: %s", why.text);
    return make_file(board, &packer->world.conf, err);
}

static struct board *board_new(const struct packer *packer, struct berth_error *err)
{
    struct board *board = calloc(1, sizeof(*board));

    if (!board) {
        berth_no_memory(err);
        return NULL;
    }
    board->root.fd = -1;
    board->told_traffic = NAN;
    if (prepare(board, packer, err) == 0 &&
        worker_open(&board->worker, publish_forever, board, err) == 0)
        return board;
    board_free(board);
    return NULL;
}

void board_open(const struct packer *packer)
{
    struct berth_error err;

    if (packer->world.conf.blackboard == CONF_OFF)
        return;
    packer->state->board = board_new(packer, &err);
    if (packer->state->board)
        return;
    log_error("blackboard: %s; going on without", err.text);
    lacks_note(packer, LACK_BOARD, err.text);
}

void board_close(struct board *board)
{
    if (board && worker_close(&board->worker))
        board_free(board);
}

/* ---- the event loop ---- */

/* Does somebody wait for states that change within a second: a step whose loops are throttled? */
static bool is_waited_for(const struct packer *packer)
{
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (step->request.options.throttle != WIRE_THROTTLE_OFF)
        return board_has_states(packer->state->board);
    return false;
}

void board_turn(const struct packer *packer)
{
    struct board *board = packer->state->board;
    double now_s = clock_s(), bytes_s;

    if (!board)
        return;
    worker_lock(&board->worker);
    board->armed = packer->steps->nlive > 0;
    board->every_s =
        is_waited_for(packer) ? 1. / (double)packer->world.conf.rcr_rate : BOARD_SLOW_S;
    if (told_traffic(&board->told, packer, &bytes_s)) {
        board->told_traffic = bytes_s;
        board->told_until_s = now_s + WINDOWS_OLD * (double)packer->world.conf.window_ms / 1e3;
        board->told_new = true;
    }
    told_watts(&board->told, packer, &board->map, now_s, board->told_watts);
    worker_changed(&board->worker);
    worker_unlock(&board->worker);
}

static const struct board_section *node_of(const struct board *board)
{
    return &board->map.section[board->map.first[BOARD_NODE]];
}

bool board_has_states(const struct board *board)
{
    return !isnan(node_of(board)->roof) && !isnan(node_of(board)->rules.saturated);
}

bool board_say(const struct board *board, char say[BOARD_SAY])
{
    const struct board_section *node = node_of(board);

    if (isnan(node->roof))
        snprintf(say, BOARD_SAY,
                 "traffic only, no states: no machine profile says what the memory "
                 "delivers (berthctl calibrate)");
    else if (isnan(node->rules.saturated))
        snprintf(say, BOARD_SAY,
                 "no states: the machine profile does not show how many cores "
                 "saturate the memory; rcr_saturated can say it");
    else
        snprintf(say, BOARD_SAY, "saturated from %.0f %%, idle to %.0f %%; traffic by %s",
                 100 * node->rules.saturated, 100 * node->rules.idle,
                 board->imc   ? "the memory controllers, of all tasks"
                 : board->mbm ? "resctrl, of all tasks"
                              : "the steps' windows, of the node as a whole");
    return board_has_states(board);
}

/* ---- the stage ---- */

static int open_board(const struct packer *packer, struct berth_error *err)
{
    (void)err;
    board_open(packer);
    return 0;
}

static void close_board(const struct packer *packer)
{
    board_close(packer->state->board);
}

static void tell_turn(const struct packer *packer, struct turn *turn)
{
    (void)turn;
    board_turn(packer);
}

static void tell_gone(const struct packer *packer, struct wire_step_id id)
{
    (void)id;
    board_turn(packer);
}

const struct stage board_stage = {
    .name = "board",
    .open = open_board,
    .close = close_board,
    .gone = tell_gone,
    .turn = tell_turn,
};
