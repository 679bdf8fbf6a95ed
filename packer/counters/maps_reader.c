/* SPDX-License-Identifier: GPL-2.0-or-later */
/* maps_reader - see maps_reader.h
 *
 * The queue is the event loop's. A thread has but its own structure, a copy of the pids and a place
 * for the sum: whenever it comes back it finds nothing that was freed. */
#include "packer/counters/maps_reader.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "packer/base/clock.h"
#include "packer/base/log.h"
#include "packer/base/worker.h"

struct maps_ask {
    TAILQ_ENTRY(maps_ask) link;
    enum maps_answer answer;
    size_t n;
    pid_t pid[MAPS_READER_PROCESSES_MAX];
    struct memory_nodes nodes;
};
TAILQ_HEAD(asks, maps_ask);

/* A thread. All but `root` and `next` is under the worker's mutex. */
struct hand {
    struct worker worker;
    struct rootfs root; /* whose descriptor is not used once the thread is to stop */
    bool busy;          /* with pid[n] */
    size_t n;
    pid_t pid[MAPS_READER_PROCESSES_MAX];
    bool told; /* by at least one process */
    struct memory_nodes nodes;
    struct hand *next;
};

struct maps_reader {
    const struct rootfs *root;
    double limit_s;
    struct asks asks;     /* that wait for their turn */
    struct hand *hand;    /* who reads now; NULL: nobody yet */
    bool reading;         /* the hand has work */
    struct maps_ask *now; /* what it reads for; NULL: it was dropped */
    double since_s;
    size_t hung;
    struct hand *lost[MAPS_READER_HUNG_MAX];
};

/* Those that hung when their reader was closed: they are never freed. */
static struct hand *left;

/* ---- the thread ---- */

/* Reads the processes one after another, without the mutex. */
static bool read_all(const struct hand *hand, struct memory_nodes *nodes)
{
    bool told = false;

    for (size_t i = 0; i < hand->n && !hand->worker.stopping; i++)
        if (memory_nodes_of_process(nodes, &hand->root, hand->pid[i]) == 0)
            told = true;
    return told;
}

/* The thread: reads what it is given, again and again. */
static void read_on(void *arg)
{
    struct hand *hand = arg;

    while (!hand->worker.stopping) {
        struct memory_nodes nodes = {0};
        bool told;

        if (!hand->busy) {
            worker_wait_until(&hand->worker, INFINITY);
            continue;
        }
        worker_unlock(&hand->worker);
        told = read_all(hand, &nodes);
        worker_lock(&hand->worker);
        hand->nodes = nodes;
        hand->told = told;
        hand->busy = false;
    }
}

/* ---- the event loop's side ---- */

static void start_hand(struct maps_reader *reader)
{
    struct berth_error err = {"out of memory"};
    struct hand *hand = calloc(1, sizeof(*hand));

    if (hand) {
        hand->root = *reader->root;
        if (worker_open(&hand->worker, read_on, hand, &err) == 0) {
            reader->hand = hand;
            return;
        }
    }
    log_warn("numa_maps: %s", err.text);
    free(hand);
}

/* Ends the threads that have come back. */
static void reap(struct maps_reader *reader)
{
    for (size_t i = reader->hung; i-- > 0;)
        if (worker_ended(&reader->lost[i]->worker)) {
            worker_close(&reader->lost[i]->worker);
            free(reader->lost[i]);
            reader->lost[i] = reader->lost[--reader->hung];
        }
}

static void give_up(struct maps_reader *reader)
{
    if (reader->now)
        reader->now->answer = MAPS_HUNG;
    worker_stop(&reader->hand->worker);
    reader->lost[reader->hung++] = reader->hand;
    reader->hand = NULL;
    reader->reading = false;
    reader->now = NULL;
    if (reader->hung == MAPS_READER_HUNG_MAX)
        log_warn("memory by node is read of no process any more: %d threads that read numa_maps do "
                 "not come back",
                 MAPS_READER_HUNG_MAX);
}

/* Takes over what has been read, or gives it up. */
static void look(struct maps_reader *reader)
{
    struct hand *hand = reader->hand;

    if (!reader->reading)
        return;
    worker_lock(&hand->worker);
    reader->reading = hand->busy;
    if (!hand->busy && reader->now) {
        reader->now->answer = hand->told ? MAPS_READ : MAPS_UNKNOWN;
        reader->now->nodes = hand->nodes;
    }
    worker_unlock(&hand->worker);
    if (!reader->reading)
        reader->now = NULL;
    else if (clock_s() - reader->since_s >= reader->limit_s)
        give_up(reader);
}

/* Has the hand read for the first that waits. */
static void begin_next(struct maps_reader *reader)
{
    struct maps_ask *ask = TAILQ_FIRST(&reader->asks);
    struct hand *hand = reader->hand;

    TAILQ_REMOVE(&reader->asks, ask, link);
    worker_lock(&hand->worker);
    hand->n = ask->n;
    memcpy(hand->pid, ask->pid, sizeof(hand->pid));
    hand->busy = true;
    worker_changed(&hand->worker);
    worker_unlock(&hand->worker);
    reader->now = ask;
    reader->reading = true;
    reader->since_s = clock_s();
}

static void refuse_all(struct maps_reader *reader)
{
    struct maps_ask *ask;

    while ((ask = TAILQ_FIRST(&reader->asks))) {
        TAILQ_REMOVE(&reader->asks, ask, link);
        ask->answer = MAPS_UNKNOWN;
    }
}

/* Does what can be done now. */
static void turn(struct maps_reader *reader)
{
    reap(reader);
    look(reader);
    if (reader->reading || TAILQ_EMPTY(&reader->asks))
        return;
    if (!reader->hand && reader->hung < MAPS_READER_HUNG_MAX)
        start_hand(reader);
    if (reader->hand)
        begin_next(reader);
    else
        refuse_all(reader);
}

struct maps_reader *maps_reader_open(const struct rootfs *root, double limit_s)
{
    struct maps_reader *reader = calloc(1, sizeof(*reader));

    if (!reader)
        return NULL;
    reader->root = root;
    reader->limit_s = limit_s;
    TAILQ_INIT(&reader->asks);
    return reader;
}

static void leave(struct hand *hand)
{
    worker_leave(&hand->worker);
    hand->next = left;
    left = hand;
}

void maps_reader_close(struct maps_reader *reader)
{
    if (!reader)
        return;
    reap(reader);
    for (size_t i = 0; i < reader->hung; i++)
        leave(reader->lost[i]);
    if (reader->hand && worker_close(&reader->hand->worker)) {
        free(reader->hand);
    } else if (reader->hand) {
        reader->hand->next = left;
        left = reader->hand;
    }
    free(reader);
}

struct maps_ask *maps_reader_ask(struct maps_reader *reader, const pid_t *pid, size_t n)
{
    struct maps_ask *ask = calloc(1, sizeof(*ask));

    if (!ask)
        return NULL;
    ask->n = n < MAPS_READER_PROCESSES_MAX ? n : MAPS_READER_PROCESSES_MAX;
    for (size_t i = 0; i < ask->n; i++)
        ask->pid[i] = pid[i];
    TAILQ_INSERT_TAIL(&reader->asks, ask, link);
    turn(reader);
    return ask;
}

enum maps_answer maps_reader_take(struct maps_reader *reader, struct maps_ask *ask,
                                  struct memory_nodes *nodes)
{
    enum maps_answer answer;

    turn(reader);
    answer = ask->answer;
    if (answer == MAPS_READ)
        *nodes = ask->nodes;
    if (answer != MAPS_WAIT)
        free(ask);
    return answer;
}

void maps_reader_drop(struct maps_reader *reader, struct maps_ask *ask)
{
    if (!ask)
        return;
    if (ask == reader->now)
        reader->now = NULL;
    else if (ask->answer == MAPS_WAIT)
        TAILQ_REMOVE(&reader->asks, ask, link);
    free(ask);
}

size_t maps_reader_hung(struct maps_reader *reader)
{
    turn(reader);
    return reader->hung;
}
