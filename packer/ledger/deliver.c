/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_deliver - see ledger/deliver.h */
#include "packer/ledger/deliver.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/log.h"
#include "packer/ledger/line.h"

#define BATCH 256
#define NAMES 32

struct deliver {
    const char *folder;
    size_t lines; /* seen since its beginning */
    size_t n;
    struct ledger_record record[BATCH];
    struct { /* users whose names were looked up in this turn */
        uint32_t uid;
        char name[64];
    } user[NAMES];
    size_t users;
    bool kept; /* a line could not be set aside */
};

struct deliver *deliver_new(const char *folder)
{
    struct deliver *deliver = calloc(1, sizeof(*deliver));

    if (deliver)
        deliver->folder = folder;
    return deliver;
}

void deliver_free(struct deliver *deliver)
{
    free(deliver);
}

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

/* Adds whose it was, for people. A name service may take its time. */
static void name_user(struct deliver *deliver, struct ledger_record *record)
{
    size_t i = 0;

    if (record->user[0])
        return;
    while (i < deliver->users && deliver->user[i].uid != record->uid)
        i++;
    if (i == deliver->users) {
        i %= NAMES; /* forgets the oldest ones when there are many */
        deliver->users = i + 1;
        deliver->user[i].uid = record->uid;
        look_up(record->uid, deliver->user[i].name);
    }
    memcpy(record->user, deliver->user[i].name, sizeof(record->user));
}

/* ---- batches ---- */

static void set_aside(struct deliver *deliver, const char *line, size_t length, const char *why)
{
    struct berth_error err;

    log_warn("ledger: a line was set aside: %s", why);
    if (outbox_refuse(deliver->folder, line, length, &err) == 0)
        return;
    log_error("ledger: %s", err.text);
    deliver->kept = true;
}

/* Puts each for itself: those that the database refuses are set aside. */
static int put_singly(struct deliver *deliver, struct ledger_store *store, struct berth_error *err)
{
    bool refused;

    for (size_t i = 0; i < deliver->n; i++) {
        char *line;

        if (ledger_store_put(store, &deliver->record[i], 1, &refused, err) == 0)
            continue;
        if (!refused)
            return -1;
        line = ledger_line_encode(&deliver->record[i]);
        if (!line)
            return berth_no_memory(err);
        set_aside(deliver, line, strlen(line), err->text);
        free(line);
    }
    return 0;
}

/* Takes the line into the batch. */
static void take_line(struct deliver *deliver, const char *line, size_t length)
{
    struct ledger_record *record = &deliver->record[deliver->n];
    struct berth_error why;

    if (ledger_line_decode(line, length, record, &why) < 0) {
        set_aside(deliver, line, length, why.text);
        return;
    }
    name_user(deliver, record);
    deliver->n++;
}

/* Puts the batch, and begins a new one. */
static int flush(struct deliver *deliver, struct ledger_store *store, struct berth_error *err)
{
    bool refused;
    int rc = 0;

    if (deliver->n && ledger_store_put(store, deliver->record, deliver->n, &refused, err) < 0)
        rc = refused ? put_singly(deliver, store, err) : -1;
    deliver->n = 0;
    return rc;
}

/* Puts what went before, and then tells the records who their job is. */
static int take_identity(struct deliver *deliver, struct ledger_store *store, const char *line,
                         size_t length, struct berth_error *err)
{
    struct ledger_identity identity;
    struct berth_error why = {""};
    bool refused = true;

    if (flush(deliver, store, err) < 0)
        return -1;
    if (ledger_identity_decode(line, length, &identity, &why) == 0 &&
        ledger_store_identify(store, &identity, &refused, &why) == 0)
        return 0;
    if (!refused)
        return berth_error_set(err, "%s", why.text);
    set_aside(deliver, line, length, why.text);
    return 0;
}

/* Takes whole lines into batches, and puts those that are full. */
static int take_lines(struct deliver *deliver, struct ledger_store *store, const char *text,
                      struct berth_error *err)
{
    const char *newline;
    int rc = 0;

    for (; rc == 0 && (newline = strchr(text, '\n')); text = newline + 1) {
        size_t length = (size_t)(newline - text);

        if (ledger_line_identifies(text, length))
            rc = take_identity(deliver, store, text, length, err);
        else
            take_line(deliver, text, length);
        deliver->lines++;
        if (rc == 0 && deliver->n == BATCH)
            rc = flush(deliver, store, err);
    }
    return rc;
}

static void deliver_start(struct deliver *deliver)
{
    deliver->lines = deliver->n = deliver->users = 0;
    deliver->kept = false;
}

int deliver_text(struct deliver *deliver, const char *text, struct ledger_store *store,
                 struct berth_error *err)
{
    deliver_start(deliver);
    if (take_lines(deliver, store, text, err) < 0 || flush(deliver, store, err) < 0)
        return -1;
    return deliver->kept ? berth_error_set(err, "lines cannot be set aside") : 0;
}

/* ---- from the outbox ---- */

struct reading {
    struct deliver *deliver;
    struct ledger_store *store;
    struct berth_error *err;
    bool failed;
};

/* Enough is what makes a batch. */
static int take_row(const char *text, void *arg)
{
    struct reading *reading = arg;

    reading->failed = take_lines(reading->deliver, reading->store, text, reading->err) < 0;
    return reading->failed || reading->deliver->n >= BATCH / 2;
}

/* Brings what was put after *last; moves *last on. Returns as outbox_read. */
static int deliver_rows(struct deliver *deliver, struct outbox *outbox, struct ledger_store *store,
                        int64_t *last, struct berth_error *err)
{
    struct reading reading = {deliver, store, err, false};
    int rc;

    deliver_start(deliver);
    rc = outbox_read(outbox, last, take_row, &reading, err);
    return rc < 0 || reading.failed || flush(deliver, store, err) < 0 ? -1 : rc;
}

/* What was delivered from the outbox, and is there still: all after `after` up to `done`. */
struct delivered {
    int64_t after, done;
    size_t lines;
};

static int forget(struct outbox *outbox, const struct delivered *delivered, size_t *gone,
                  struct berth_error *err)
{
    if (outbox_drop(outbox, delivered->after, delivered->done, err) < 0)
        return -1;
    *gone += delivered->lines;
    return 0;
}

/* It is forgotten at once, not batch by batch: that is a write to the disk each time. */
int deliver_outbox(struct deliver *deliver, struct outbox *outbox, struct ledger_store *store,
                   size_t *gone, struct berth_error *err)
{
    struct delivered delivered = {0};
    int64_t last = 0;
    int rc = 0, more;

    *gone = 0;
    while ((more = deliver_rows(deliver, outbox, store, &last, err)) > 0) {
        if (deliver->kept) {
            rc = berth_error_set(err, "lines cannot be set aside");
            forget(outbox, &delivered, gone, NULL);
            delivered = (struct delivered){last, last, 0};
            continue;
        }
        delivered.done = last;
        delivered.lines += deliver->lines;
    }
    if (forget(outbox, &delivered, gone, more < 0 ? NULL : err) < 0)
        rc = -1;
    return more < 0 ? -1 : rc;
}
