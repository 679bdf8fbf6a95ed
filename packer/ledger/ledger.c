/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger - see ledger.h: the two sides of what waits.
 *
 * The event loop's thread appends a line to the spool in the state folder, and that is all. A
 * thread of its own moves the lines to the outbox on the disk at once, and brings what is there to
 * the database soon after; while that is away, less and less often. Where the disk takes nothing,
 * lines go from the spool to the database.
 *
 * A line is announced (`fresh`) under the same lock that it is appended under, and each turn of the
 * thread begins by taking the announcement back. What waits is never counted by itself: it is what
 * spool and outbox have. */
#include "packer/ledger/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/base/clock.h"
#include "packer/base/worker.h"
#include "packer/conf/conf.h"
#include "packer/ledger/deliver.h"
#include "packer/ledger/line.h"
#include "packer/ledger/spool.h"
#include "packer/sql/sql.h"

#define SPOOL "ledger" /* in the state folder */
#define SETTLE_S 1     /* steps end together */
#define RETRY_MIN_S 1
#define RETRY_MAX_S 300
#define BEGIN_WAIT_S 2
#define STORE_WAIT_S 1 /* less than whoever stops the settler waits */

struct ledger {
    struct conf conf;
    int lock;                /* the descriptor of the outbox's folder, locked */
    struct deliver *deliver; /* the thread's own, and the next ones */
    struct outbox *outbox;   /* NULL: it cannot be opened */
    double retry_s;
    bool unstored;        /* the disk takes nothing */
    struct worker worker; /* its mutex is for all that follows */
    struct spool spool;
    size_t queued;    /* records in the outbox */
    uint64_t added;   /* lines that came */
    uint64_t stored;  /* and those of them that have left the spool for the disk or the database */
    double due_s;     /* when what waits is brought to the database */
    bool fresh, full; /* fresh: there are lines that no turn of the thread has seen */
    bool begun;       /* what an earlier process left in the spool was looked at */
    struct ledger_pressure pressure; /* node "": none waits */
    struct ledger_node now;          /* node "": none waits */
    char why[256];
};

/* The mutex is held. */
static size_t count_waiting(const struct ledger *ledger)
{
    return spool_lines(&ledger->spool) + ledger->queued;
}

/* Is there something to be brought to the database? The mutex is held. */
static bool has_something(const struct ledger *ledger)
{
    return count_waiting(ledger) > 0 || ledger->pressure.node[0] || ledger->now.node[0];
}

/* ---- the thread: from the spool and from memory ---- */

/* Brings lines to the outbox, or to the store if there is one. */
static int move_text(struct ledger *ledger, struct spool_text from, struct ledger_store *store,
                     struct berth_error *err)
{
    bool runs = conf_settles(&ledger->conf);

    if (store)
        return deliver_text(ledger->deliver, from.text, store, err);
    if (outbox_put(ledger->outbox, from.text, from.lines, runs, err) < 0)
        return -1;
    worker_lock(&ledger->worker); /* before they are taken from where they were */
    ledger->queued += from.lines;
    worker_unlock(&ledger->worker);
    return 0;
}

/* Both files, if need be: the one that is not appended to may have had lines since last time. */
static int move_spool(struct ledger *ledger, struct ledger_store *store, struct berth_error *err)
{
    int rc = 0;

    for (int i = 0; i < 2 && rc == 0; i++) {
        struct spool_text from;
        bool ready;

        worker_lock(&ledger->worker);
        ready = spool_turn(&ledger->spool);
        worker_unlock(&ledger->worker);
        if (!ready)
            return 0;
        rc = spool_read(&ledger->spool, &from, err);
        if (rc == 0)
            rc = move_text(ledger, from, store, err);
        free(from.text);
        if (rc == 0)
            rc = spool_clear(&ledger->spool, err);
    }
    return rc;
}

static int move_memory(struct ledger *ledger, struct ledger_store *store, struct berth_error *err)
{
    struct spool_text taken;
    int rc = 0;

    worker_lock(&ledger->worker);
    taken = spool_take_memory(&ledger->spool);
    worker_unlock(&ledger->worker);
    if (taken.length)
        rc = move_text(ledger, taken, store, err);
    worker_lock(&ledger->worker);
    spool_return_memory(&ledger->spool, taken, rc == 0);
    worker_unlock(&ledger->worker);
    return rc;
}

static int move_lines(struct ledger *ledger, struct ledger_store *store, struct berth_error *err)
{
    return move_spool(ledger, store, err) < 0 || move_memory(ledger, store, err) < 0 ? -1 : 0;
}

/* ---- the thread: a turn ---- */

/* Opens the outbox that is in its folder now, unless it is open. */
static int have_outbox(struct ledger *ledger, struct berth_error *err)
{
    size_t n;

    if (ledger->outbox && outbox_is_current(ledger->outbox))
        return 0;
    outbox_close(ledger->outbox);
    ledger->outbox = NULL;
    if (outbox_count(ledger->conf.ledger_queue, &n, err) < 0 ||
        outbox_open(&ledger->outbox, ledger->conf.ledger_queue, err) < 0)
        return -1;
    worker_lock(&ledger->worker);
    ledger->queued = n;
    worker_unlock(&ledger->worker);
    return 0;
}

/* Has all on the disk that no other place has. Tells once that the disk takes nothing, and once
 * that it does again. */
static int store_lines(struct ledger *ledger)
{
    struct berth_error err;
    int rc = have_outbox(ledger, &err);

    if (rc == 0)
        rc = move_lines(ledger, NULL, &err);
    if (rc < 0 && !ledger->unstored)
        log_error("ledger: %s: records are not kept on the disk", err.text);
    if (rc == 0 && ledger->unstored)
        log_info("ledger: records are kept on the disk again");
    ledger->unstored = rc < 0;
    return rc;
}

/* Brings the node's pressure to the database, if one waits. One that is not taken is forgotten: the
 * next one says more. */
static int deliver_pressure(struct ledger *ledger, struct ledger_store *store,
                            struct berth_error *err)
{
    struct ledger_pressure pressure;

    worker_lock(&ledger->worker);
    pressure = ledger->pressure;
    ledger->pressure.node[0] = '\0';
    worker_unlock(&ledger->worker);
    return pressure.node[0] ? ledger_store_pressure(store, &pressure, err) : 0;
}

/* The same of how its berthd fares. */
static int deliver_node(struct ledger *ledger, struct ledger_store *store, struct berth_error *err)
{
    struct ledger_node now;

    worker_lock(&ledger->worker);
    now = ledger->now;
    ledger->now.node[0] = '\0';
    worker_unlock(&ledger->worker);
    return now.node[0] ? ledger_store_node(store, &now, err) : 0;
}

/* Brings all that waits to the database; that may take a while. */
static int deliver_all(struct ledger *ledger, bool stored, struct berth_error *err)
{
    struct ledger_store *store;
    size_t gone = 0;
    int rc = 0;

    if (ledger_store_open(&store, &ledger->conf, err) < 0)
        return -1;
    if (!stored)
        rc = move_lines(ledger, store, err);
    if (ledger->outbox && deliver_outbox(ledger->deliver, ledger->outbox, store, &gone, err) < 0)
        rc = -1;
    if (rc == 0)
        rc = deliver_pressure(ledger, store, err);
    if (rc == 0)
        rc = deliver_node(ledger, store, err);
    ledger_store_close(store);
    worker_lock(&ledger->worker);
    ledger->queued -= gone;
    worker_unlock(&ledger->worker);
    return rc;
}

/* Nodes of a cluster lose their server together: let them not come back together. */
static double jitter(void)
{
    return 0.5 + fmod(clock_s() * 1e6, 1000) / 1000;
}

/* Notes what a delivery has come to. The mutex is held. */
static void conclude(struct ledger *ledger, int rc, const struct berth_error *err)
{
    bool away = ledger->why[0] != '\0';

    if (rc == 0) {
        if (away)
            log_info("ledger: records arrive again, %zu wait", count_waiting(ledger));
        ledger->why[0] = '\0';
        ledger->retry_s = RETRY_MIN_S;
        ledger->due_s = clock_s() + SETTLE_S;
        return;
    }
    log_line(away ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARN,
             "ledger: %zu records wait, to be tried again: %s", count_waiting(ledger), err->text);
    snprintf(ledger->why, sizeof(ledger->why), "%.255s", err->text);
    ledger->due_s = clock_s() + ledger->retry_s * jitter();
    ledger->retry_s = fmin(2 * ledger->retry_s, RETRY_MAX_S);
}

static void note_stored(struct ledger *ledger, uint64_t lines)
{
    worker_lock(&ledger->worker);
    ledger->stored = lines;
    worker_changed(&ledger->worker);
    worker_unlock(&ledger->worker);
}

/* Has all that waits on the disk, and brings it to the database if there is time for that. The
 * mutex is held, but not meanwhile. */
static void turn(struct ledger *ledger, bool patient)
{
    struct berth_error err = {""};
    uint64_t added = ledger->added;
    bool stored;
    int rc = 0;

    ledger->fresh = false;
    worker_unlock(&ledger->worker);
    stored = store_lines(ledger) == 0;
    if (stored)
        note_stored(ledger, added);
    if (patient)
        rc = deliver_all(ledger, stored, &err);
    if (!stored && patient && rc == 0)
        note_stored(ledger, added);
    worker_lock(&ledger->worker);
    if (patient)
        conclude(ledger, rc, &err);
}

/* Waits until there is something to store, or it is time to deliver. The mutex is held. */
static void wait_for_work(struct ledger *ledger)
{
    while (!ledger->worker.stopping && (!ledger->fresh || ledger->unstored)) {
        bool waits = has_something(ledger);

        if (waits && clock_s() >= ledger->due_s)
            return;
        worker_wait_until(&ledger->worker, waits ? ledger->due_s : INFINITY);
    }
}

static void deliver_records(void *arg)
{
    struct ledger *ledger = arg;
    bool last = false;

    turn(ledger, false);
    ledger->begun = true;
    worker_changed(&ledger->worker);
    while (!last) {
        wait_for_work(ledger);
        last = ledger->worker.stopping;
        turn(ledger,
             has_something(ledger) && (last ? !ledger->why[0] : clock_s() >= ledger->due_s));
    }
}

/* ---- the event loop's side ---- */

static void ledger_free(struct ledger *ledger)
{
    outbox_close(ledger->outbox);
    deliver_free(ledger->deliver);
    spool_close(&ledger->spool);
    if (ledger->lock >= 0)
        close(ledger->lock);
    free(ledger);
}

/* Makes a folder. Returns its descriptor, or -1 and err. */
static int open_folder(const char *path, struct berth_error *err)
{
    int fd = -1;

    if (file_folder(path, 0700) == 0)
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? berth_error_set(err, "%.400s: %s", path, strerror(errno)) : fd;
}

/* An outbox is one berthd's own. */
static int lock_outbox(struct ledger *ledger, struct berth_error *err)
{
    ledger->lock = open_folder(ledger->conf.ledger_queue, err);
    if (ledger->lock < 0)
        return -1;
    if (flock(ledger->lock, LOCK_EX | LOCK_NB) == 0)
        return 0;
    return berth_error_set(err, "%.300s: %s", ledger->conf.ledger_queue,
                           errno == EWOULDBLOCK ? "in use by another process" : strerror(errno));
}

static int open_spool(struct ledger *ledger, struct berth_error *err)
{
    char path[PATH_MAX + 16];
    int fd;

    snprintf(path, sizeof(path), "%s/" SPOOL, ledger->conf.state_dir);
    fd = open_folder(path, err);
    if (fd < 0)
        return -1;
    close(fd);
    return spool_open(&ledger->spool, path, err);
}

static struct ledger *ledger_new(const struct conf *conf)
{
    struct ledger *ledger = calloc(1, sizeof(*ledger));

    if (!ledger)
        return NULL;
    ledger->conf = *conf;
    ledger->lock = ledger->spool.file[0].fd = ledger->spool.file[1].fd = -1;
    ledger->retry_s = RETRY_MIN_S;
    ledger->deliver = deliver_new(ledger->conf.ledger_queue);
    if (ledger->deliver)
        return ledger;
    free(ledger);
    return NULL;
}

int ledger_check(const struct conf *conf, struct berth_error *err)
{
    if (strcmp(conf->ledger, "off") == 0 || sql_check_url(conf->ledger, err) == 0)
        return 0;
    return berth_error_before(err, "ledger: ");
}

int ledger_open(struct ledger **out, const struct conf *conf, struct berth_error *err)
{
    struct ledger *ledger;

    *out = NULL;
    if (strcmp(conf->ledger, "off") == 0)
        return 0;
    if (sql_check_url(conf->ledger, err) < 0)
        return -1;
    ledger = ledger_new(conf);
    if (!ledger)
        return berth_no_memory(err);
    if (lock_outbox(ledger, err) == 0 && open_spool(ledger, err) == 0) {
        outbox_count(conf->ledger_queue, &ledger->queued, NULL);
        ledger->added = spool_lines(&ledger->spool);
        if (worker_open(&ledger->worker, deliver_records, ledger, err) == 0) {
            *out = ledger;
            return 0;
        }
    }
    ledger_free(ledger);
    return -1;
}

void ledger_close(struct ledger *ledger)
{
    if (!ledger)
        return;
    if (!worker_close(&ledger->worker)) {
        log_error("ledger: the disk or the server hangs: records in memory are lost");
        return;
    }
    if (ledger->spool.memory.lines)
        log_error("ledger: %zu records are lost: neither disk nor ledger took them",
                  ledger->spool.memory.lines);
    ledger_free(ledger);
}

/* Tells once that the state folder is full, and once that it is no more. The mutex is held. */
static void note_room(struct ledger *ledger, int rc, const struct berth_error *err)
{
    if (rc < 0 && !ledger->full)
        log_error("ledger: %s: records are kept in memory, %d at most", err->text, SPOOL_MEMORY);
    if (rc == 0 && ledger->full)
        log_info("ledger: the queue takes records again");
    ledger->full = rc < 0;
}

/* Takes in a line, which is freed. NULL: there was no memory for it. */
static int add_line(struct ledger *ledger, char *line, struct berth_error *err)
{
    struct berth_error why = {""};
    int rc;

    if (!line)
        return berth_no_memory(err);
    worker_lock(&ledger->worker);
    if (count_waiting(ledger) == 0 && !ledger->why[0])
        ledger->due_s = clock_s() + SETTLE_S;
    rc = spool_append(&ledger->spool, line, &why);
    note_room(ledger, rc, &why);
    ledger->fresh = true;
    ledger->added++;
    worker_changed(&ledger->worker);
    worker_unlock(&ledger->worker);
    free(line);
    return rc < 0 ? berth_error_set(err, "%s", why.text) : 0;
}

int ledger_add(struct ledger *ledger, const struct ledger_record *record, struct berth_error *err)
{
    return add_line(ledger, ledger_line_encode(record), err);
}

int ledger_identify(struct ledger *ledger, const struct ledger_identity *identity,
                    struct berth_error *err)
{
    return add_line(ledger, ledger_identity_encode(identity), err);
}

void ledger_tell(struct ledger *ledger, const struct ledger_pressure *pressure)
{
    worker_lock(&ledger->worker);
    ledger->pressure = *pressure;
    worker_changed(&ledger->worker);
    worker_unlock(&ledger->worker);
}

void ledger_tell_node(struct ledger *ledger, const struct ledger_node *node)
{
    worker_lock(&ledger->worker);
    ledger->now = *node;
    worker_changed(&ledger->worker);
    worker_unlock(&ledger->worker);
}

size_t ledger_waiting(struct ledger *ledger, char why[256])
{
    size_t waiting;

    worker_lock(&ledger->worker);
    waiting = count_waiting(ledger);
    memcpy(why, ledger->why, sizeof(ledger->why));
    worker_unlock(&ledger->worker);
    return waiting;
}

int ledger_count_waiting(const struct conf *conf, size_t *n, struct berth_error *err)
{
    char path[PATH_MAX + 16];
    size_t lines;

    snprintf(path, sizeof(path), "%s/" SPOOL, conf->state_dir);
    if (outbox_count(conf->ledger_queue, n, err) < 0 || spool_count(path, &lines, err) < 0)
        return -1;
    *n += lines;
    return 0;
}

/* ---- runs ---- */

/* Waits until all that was added so far has left the spool. Returns 0, or -1 and err. */
static int wait_stored(struct ledger *ledger, struct berth_error *err)
{
    double until_s = clock_s() + STORE_WAIT_S;
    uint64_t added;
    bool stored;

    worker_lock(&ledger->worker);
    added = ledger->added;
    while (ledger->stored < added && worker_wait_until(&ledger->worker, until_s))
        ;
    stored = ledger->stored >= added;
    worker_unlock(&ledger->worker);
    return stored ? 0 : berth_error_set(err, "records are not on the disk yet");
}

int ledger_run_waits(struct ledger *ledger, const struct ledger_run *run, struct berth_error *err)
{
    struct outbox *outbox;
    char why[256];
    int rc;

    if (ledger_waiting(ledger, why) == 0)
        return 0;
    if (why[0]) {
        berth_error_set(err, "records wait for the ledger: %s", why);
        return 1;
    }
    if (wait_stored(ledger, err) < 0 || outbox_open(&outbox, ledger->conf.ledger_queue, err) < 0)
        return -1;
    rc = outbox_has_job(outbox, run->job, err);
    outbox_close(outbox);
    if (rc == 1)
        berth_error_set(err, "records of it wait for the ledger");
    return rc;
}

int ledger_each_run(struct ledger *ledger, void (*fn)(const struct ledger_run *run, void *arg),
                    void *arg, struct berth_error *err)
{
    double until_s = clock_s() + BEGIN_WAIT_S;
    struct outbox *outbox;
    int rc;

    worker_lock(&ledger->worker);
    while (!ledger->begun && worker_wait_until(&ledger->worker, until_s))
        ;
    worker_unlock(&ledger->worker);
    if (outbox_open(&outbox, ledger->conf.ledger_queue, err) < 0)
        return -1;
    rc = outbox_each_run(outbox, fn, arg, err);
    outbox_close(outbox);
    return rc;
}

int ledger_run_settled(struct ledger *ledger, const struct ledger_run *run, struct berth_error *err)
{
    struct outbox *outbox;
    int rc;

    if (outbox_open(&outbox, ledger->conf.ledger_queue, err) < 0)
        return -1;
    rc = outbox_drop_run(outbox, run, err);
    outbox_close(outbox);
    return rc;
}
