/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger - see ledger.h: the two sides of the queue.
 *
 * The event loop's thread appends a line to a file in the state folder, and that is all. A thread
 * of its own puts it on the disk at once, and brings what waits to the database soon after; while
 * that is away, less and less often. Records that find no room in the state folder stay in memory,
 * the newest MEMORY of them, and go the same way from there. */
#include "packer/ledger/ledger.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "packer/base/clock.h"
#include "packer/base/worker.h"
#include "packer/conf/conf.h"
#include "packer/ledger/deliver.h"
#include "packer/ledger/line.h"
#include "packer/ledger/queue.h"
#include "packer/sql/sql.h"

#define MEMORY 4096
#define SETTLE_S 1 /* steps end together */
#define RETRY_MIN_S 1
#define RETRY_MAX_S 300

struct entry {
    STAILQ_ENTRY(entry) link;
    char *line;
};
STAILQ_HEAD(entries, entry);

struct ledger {
    struct conf conf;
    struct ledger_queue *queue;
    double retry_s;       /* the thread's own, and the next one */
    bool unstored;        /* the disk takes nothing */
    struct worker worker; /* its mutex is for all that follows */
    struct entries memory;
    size_t nmemory;
    uint64_t lost;  /* records that neither disk nor memory had room for */
    size_t waiting; /* in the queue and in memory */
    double due_s;   /* when it is brought to the database */
    bool unsynced, full;
    char why[256];
};

/* ---- what is in memory ---- */

static void drop_first(struct ledger *ledger)
{
    struct entry *entry = STAILQ_FIRST(&ledger->memory);

    STAILQ_REMOVE_HEAD(&ledger->memory, link);
    free(entry->line);
    free(entry);
    ledger->nmemory--;
}

static void lose_first(struct ledger *ledger)
{
    if (ledger->lost++ % MEMORY == 0)
        log_error("ledger: records are lost: there is no room for them on the disk, and no ledger");
    drop_first(ledger);
    ledger->waiting--;
}

/* Takes the line over. */
static void keep(struct ledger *ledger, char *line)
{
    struct entry *entry = malloc(sizeof(*entry));

    if (!entry) {
        free(line);
        ledger->waiting--;
        return;
    }
    entry->line = line;
    STAILQ_INSERT_TAIL(&ledger->memory, entry, link);
    ledger->nmemory++;
    if (ledger->nmemory > MEMORY)
        lose_first(ledger);
}

/* Copies of the lines, *n of them. */
static char **copy_lines(const struct ledger *ledger, size_t *n)
{
    char **line = ledger->nmemory ? calloc(ledger->nmemory, sizeof(*line)) : NULL;
    const struct entry *entry;

    *n = 0;
    if (line)
        STAILQ_FOREACH(entry, &ledger->memory, link)
    if ((line[*n] = strdup(entry->line)))
        ++*n;
    return line;
}

/* ---- the thread ---- */

/* Is there anything that the disk has not yet, and that it may take? A record may have been
 * delivered before ledger_add came to set `unsynced`. */
static bool to_store(const struct ledger *ledger)
{
    return ledger->unsynced && ledger->waiting > 0 && !ledger->unstored;
}

/* Wait until there is something to store or to deliver. The mutex is held. */
static void wait_for_work(struct ledger *ledger)
{
    while (!ledger->worker.stopping && !to_store(ledger) &&
           worker_wait_until(&ledger->worker, ledger->waiting ? ledger->due_s : INFINITY))
        ;
}

/* Nodes of a cluster lose their server together: let them not come back together. */
static double jitter(void)
{
    return 0.5 + fmod(clock_s() * 1e6, 1000) / 1000;
}

/* What a turn has come to. The mutex is held. */
static void conclude(struct ledger *ledger, int rc, size_t gone, const struct berth_error *err)
{
    bool away = ledger->why[0] != '\0';

    ledger->waiting -= gone < ledger->waiting ? gone : ledger->waiting;
    if (rc == 0) {
        if (away)
            log_info("ledger: records arrive again, %zu wait", ledger->waiting);
        ledger->why[0] = '\0';
        ledger->retry_s = RETRY_MIN_S;
        ledger->due_s = clock_s() + SETTLE_S;
        return;
    }
    log_line(away ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARN,
             "ledger: %zu records wait, to be tried again: %s", ledger->waiting, err->text);
    snprintf(ledger->why, sizeof(ledger->why), "%.255s", err->text);
    ledger->due_s = clock_s() + ledger->retry_s * jitter();
    ledger->retry_s = fmin(2 * ledger->retry_s, RETRY_MAX_S);
}

/* Tell once that the disk takes nothing, and once that it does again. */
static void note_stored(struct ledger *ledger, int rc, const struct berth_error *err)
{
    if (rc < 0 && !ledger->unstored)
        log_error("ledger: %s: records are in memory only", err->text);
    if (rc == 0 && ledger->unstored)
        log_info("ledger: records are kept on the disk again");
    ledger->unstored = rc < 0;
}

/* Have all that waits on the disk, and bring it to the database, if that may take a while. The
 * mutex is held, but not meanwhile. */
static void turn(struct ledger *ledger, bool patient)
{
    struct berth_error err = {""};
    uint64_t lost = ledger->lost;
    size_t n, gone = 0;
    char **line = copy_lines(ledger, &n);
    bool taken = false;
    int stored, rc = 0;

    ledger->unsynced = false;
    worker_unlock(&ledger->worker);
    stored = ledger_queue_store(ledger->queue, line, n, &err);
    note_stored(ledger, stored, &err);
    if (patient)
        rc = ledger_deliver(ledger->queue, &ledger->conf, line, stored == 0 ? 0 : n, &gone, &taken,
                            &err);
    worker_lock(&ledger->worker);
    for (size_t i = ledger->lost - lost; (stored == 0 || taken) && i < n; i++)
        drop_first(ledger);
    for (size_t i = 0; i < n; i++)
        free(line[i]);
    free(line);
    if (patient)
        conclude(ledger, rc, gone, &err);
}

static void run(void *arg)
{
    struct ledger *ledger = arg;
    bool last;

    do {
        wait_for_work(ledger);
        last = ledger->worker.stopping;
        if (ledger->waiting)
            turn(ledger, last ? !ledger->why[0] : clock_s() >= ledger->due_s);
    } while (!last);
}

/* ---- the event loop's side ---- */

static void ledger_free(struct ledger *ledger)
{
    while (ledger->nmemory)
        drop_first(ledger);
    ledger_queue_close(ledger->queue);
    free(ledger);
}

static struct ledger *ledger_new(const struct conf *conf)
{
    struct ledger *ledger = calloc(1, sizeof(*ledger));

    if (!ledger)
        return NULL;
    ledger->conf = *conf;
    ledger->retry_s = RETRY_MIN_S;
    STAILQ_INIT(&ledger->memory);
    return ledger;
}

int ledger_open(struct ledger **out, const struct conf *conf, struct berth_error *err)
{
    char spool[PATH_MAX + 16];
    struct ledger *ledger;
    int rc;

    *out = NULL;
    if (strcmp(conf->ledger, "off") == 0)
        return 0;
    if (sql_check_url(conf->ledger, err) < 0)
        return -1;
    ledger = ledger_new(conf);
    if (!ledger)
        return berth_error_set(err, "out of memory");
    snprintf(spool, sizeof(spool), "%s/" LEDGER_SPOOL, conf->state_dir);
    rc = ledger_queue_open(&ledger->queue, spool, conf->ledger_queue, &ledger->waiting, err);
    if (rc == 0)
        rc = worker_open(&ledger->worker, run, ledger, err);
    if (rc < 0) {
        ledger_free(ledger);
        return -1;
    }
    *out = ledger;
    return 0;
}

void ledger_close(struct ledger *ledger)
{
    if (!ledger)
        return;
    if (!worker_close(&ledger->worker)) {
        log_error("ledger: the disk or the server hangs: records in memory are lost");
        return;
    }
    if (ledger->nmemory)
        log_error("ledger: %zu records are lost: neither disk nor ledger took them",
                  ledger->nmemory);
    ledger_free(ledger);
}

/* Tell once that the disk is full, and once that it is no more. The mutex is held. */
static void note_room(struct ledger *ledger, int rc, const struct berth_error *err)
{
    if (rc < 0 && !ledger->full)
        log_error("ledger: %s: records are kept in memory, %d at most", err->text, MEMORY);
    if (rc == 0 && ledger->full)
        log_info("ledger: the queue takes records again");
    ledger->full = rc < 0;
}

/* One more waits: counted before the thread can take it away. */
static void expect(struct ledger *ledger)
{
    worker_lock(&ledger->worker);
    if (ledger->waiting++ == 0 && !ledger->why[0])
        ledger->due_s = clock_s() + SETTLE_S;
    worker_unlock(&ledger->worker);
}

int ledger_add(struct ledger *ledger, const struct ledger_record *record, struct berth_error *err)
{
    char *line = ledger_line_encode(record);
    struct berth_error why = {""};
    int rc;

    if (!line)
        return berth_error_set(err, "out of memory");
    expect(ledger);
    rc = ledger_queue_append(ledger->queue, line, &why);
    worker_lock(&ledger->worker);
    note_room(ledger, rc, &why);
    ledger->unsynced = true;
    if (rc == 0) {
        free(line);
    } else {
        keep(ledger, line);
        berth_error_set(err, "%s", why.text);
    }
    worker_changed(&ledger->worker);
    worker_unlock(&ledger->worker);
    return rc;
}

size_t ledger_waiting(struct ledger *ledger, char why[256])
{
    size_t waiting;

    worker_lock(&ledger->worker);
    waiting = ledger->waiting;
    memcpy(why, ledger->why, sizeof(ledger->why));
    worker_unlock(&ledger->worker);
    return waiting;
}
