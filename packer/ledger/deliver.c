/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_deliver - see ledger/deliver.h
 *
 * A file is delivered in batches, each a transaction, and removed after its last one. Whatever
 * happens in between, it is delivered again from its beginning: the database keeps each record
 * once. */
#include "packer/ledger/deliver.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/log.h"
#include "packer/ledger/line.h"
#include "packer/ledger/store.h"

#define BATCH 256
#define NAMES 32

/* One turn. */
struct turn {
    struct ledger_queue *queue;
    struct ledger_store *store;
    size_t n;
    struct ledger_record record[BATCH];
    struct { /* users whose names were looked up in this turn */
        uint32_t uid;
        char name[64];
    } user[NAMES];
    size_t users;
    bool kept; /* a line could not be set aside: its segment has to stay */
};

/* ---- users ---- */

static void look_up(uint32_t uid, char name[64])
{
    struct passwd entry, *found = NULL;
    char memory[16384];

    name[0] = '\0';
    if (getpwuid_r(uid, &entry, memory, sizeof(memory), &found) == 0 && found &&
        strlen(found->pw_name) < 64)
        strcpy(name, found->pw_name);
}

/* Whose it was, for people. A name service may take its time. */
static void name_user(struct turn *turn, struct ledger_record *record)
{
    size_t i = 0;

    if (record->user[0])
        return;
    while (i < turn->users && turn->user[i].uid != record->uid)
        i++;
    if (i == turn->users) {
        i %= NAMES; /* forgets the oldest ones when there are many */
        turn->users = i + 1;
        turn->user[i].uid = record->uid;
        look_up(record->uid, turn->user[i].name);
    }
    memcpy(record->user, turn->user[i].name, sizeof(record->user));
}

/* ---- lines ---- */

static void set_aside(struct turn *turn, const char *line, size_t length, const char *why)
{
    struct berth_error err;

    log_warn("ledger: a line was set aside: %s", why);
    if (ledger_queue_aside(turn->queue, line, length, &err) == 0)
        return;
    log_error("ledger: %s", err.text);
    turn->kept = true;
}

/* Each for itself: those that the database refuses are set aside. */
static int put_singly(struct turn *turn, struct berth_error *err)
{
    bool refused;

    for (size_t i = 0; i < turn->n; i++) {
        char *line;

        if (ledger_store_put(turn->store, &turn->record[i], 1, &refused, err) == 0)
            continue;
        if (!refused)
            return -1;
        line = ledger_line_encode(&turn->record[i]);
        if (!line)
            return berth_error_set(err, "out of memory");
        set_aside(turn, line, strlen(line), err->text);
        free(line);
    }
    return 0;
}

static int flush(struct turn *turn, struct berth_error *err)
{
    bool refused;
    int rc;

    if (turn->n == 0)
        return 0;
    rc = ledger_store_put(turn->store, turn->record, turn->n, &refused, err);
    if (rc < 0 && refused)
        rc = put_singly(turn, err);
    turn->n = 0;
    return rc;
}

static int take_line(struct turn *turn, const char *line, size_t length, struct berth_error *err)
{
    struct ledger_record *record = &turn->record[turn->n];
    struct berth_error why;

    if (ledger_line_decode(line, length, record, &why) < 0) {
        set_aside(turn, line, length, why.text);
        return 0;
    }
    name_user(turn, record);
    turn->n++;
    return turn->n == BATCH ? flush(turn, err) : 0;
}

static int deliver_file(struct turn *turn, FILE *file, const char *path, size_t *lines,
                        struct berth_error *err)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int rc = 0;

    *lines = 0;
    turn->n = 0;
    turn->kept = false;
    while (rc == 0 && (length = getline(&line, &room, file)) > 0) {
        if (line[length - 1] == '\n') {
            rc = take_line(turn, line, (size_t)length, err);
            ++*lines;
        } else {
            log_warn("ledger: %s: its last line is torn (%zd bytes): skipped", path, length);
        }
    }
    free(line);
    if (rc == 0 && ferror(file))
        rc = berth_error_set(err, "%.400s: %s", path, strerror(errno));
    return rc == 0 ? flush(turn, err) : rc;
}

/* *gone: lines that do not wait any more. */
static int deliver_segment(struct turn *turn, const char *path, uint64_t number, size_t *gone,
                           struct berth_error *err)
{
    FILE *file = fopen(path, "re");
    size_t lines;
    int rc;

    if (!file)
        return berth_error_set(err, "%.400s: %s", path, strerror(errno));
    rc = deliver_file(turn, file, path, &lines, err);
    fclose(file);
    if (rc < 0)
        return -1;
    if (turn->kept)
        return berth_error_set(err, "%.400s: has lines that cannot be set aside", path);
    if (ledger_queue_done(turn->queue, number, err) < 0)
        return -1;
    *gone += lines;
    return 0;
}

/* Every segment; one that has to stay does not keep the next ones. */
static int deliver_queue(struct turn *turn, size_t *gone, struct berth_error *err)
{
    char path[PATH_MAX + 64];
    uint64_t number = 0;
    int found, failed = 0;

    while ((found = ledger_queue_next(turn->queue, number, &number, path, sizeof(path), err)) > 0)
        if (deliver_segment(turn, path, number, gone, err) < 0) {
            failed = -1;
            if (!turn->kept)
                break;
        }
    return found < 0 ? -1 : failed;
}

/* The lines from memory, to the database. */
static int deliver_lines(struct turn *turn, char *const *line, size_t n, struct berth_error *err)
{
    int rc = 0;

    turn->n = 0;
    turn->kept = false;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = take_line(turn, line[i], strlen(line[i]), err);
    if (rc == 0)
        rc = flush(turn, err);
    return rc == 0 && turn->kept ? berth_error_set(err, "lines cannot be set aside") : rc;
}

int ledger_deliver(struct ledger_queue *queue, const struct conf *conf, char *const *line, size_t n,
                   size_t *gone, bool *taken, struct berth_error *err)
{
    struct turn *turn = calloc(1, sizeof(*turn));
    int rc = -1;

    *gone = 0;
    *taken = false;
    if (!turn)
        return berth_error_set(err, "out of memory");
    turn->queue = queue;
    if (ledger_store_open(&turn->store, conf, err) == 0) {
        rc = deliver_lines(turn, line, n, err);
        if (rc == 0) {
            *taken = true;
            *gone = n;
        }
        if (deliver_queue(turn, gone, err) < 0)
            rc = -1;
        ledger_store_close(turn->store);
    }
    free(turn);
    return rc;
}
