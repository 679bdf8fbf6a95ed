/* SPDX-License-Identifier: GPL-2.0-or-later */
/* records - see records.h */
#include "packer/cli/find/records.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/json_fields.h"
#include "packer/cli/common/ctl.h"
#include "packer/ledger/schema.h"
#include "packer/wire/wire.h"

static const char *defaults_of(const struct records *records)
{
    return records->defaults ? records->defaults : records->conf->ledger_defaults;
}

/* Returns the ledger's file; NULL: it is in a server. */
static const char *file_of(const struct records *records)
{
    const char *url = records_url(records);

    return strncmp(url, "sqlite:", 7) == 0 ? url + 7 : NULL;
}

/* Returns the file that keeps this user from the ledger, which is the one of berth.conf; NULL:
 * nothing does. */
static const char *lock_of(const struct records *records)
{
    const char *file = file_of(records), *lock = file ? file : records->conf->ledger_defaults;

    if (records->ledger || records->defaults || !lock[0])
        return NULL;
    return access(lock, R_OK) < 0 && errno == EACCES ? lock : NULL;
}

/* Says that a file may not be read, and who may. */
static int say_locked(const struct records *records, const char *path, struct berth_error *err)
{
    if (!file_of(records))
        return berth_error_set(
            err,
            "%.200s: it has the ledger's password, and you may not read it; --defaults FILE "
            "gives your own",
            path);
    if (records->conf->ledger_group[0])
        return berth_error_set(err, "%.200s: the group %s may read it, and you are not in it", path,
                               records->conf->ledger_group);
    return berth_error_set(err,
                           "%.200s: only root may read it, until readers of berth.conf names "
                           "a group that may",
                           path);
}

/* Says why the ledger cannot be read: as this user can help himself, where that is known, else as
 * err says already. */
static int say_unread(const struct records *records, struct berth_error *err)
{
    const char *file = file_of(records), *path = file ? file : defaults_of(records);

    if (path[0] && access(path, R_OK) < 0 && errno == EACCES)
        return say_locked(records, path, err);
    if (!file || records->ledger || access(file, F_OK) == 0 || errno != ENOENT)
        return -1;
    return berth_error_set(
        err,
        "%s: there is no ledger yet: no step has ended here, or it is kept elsewhere "
        "(--ledger URL, ledger of berth.conf)",
        file);
}

/* Says that berthd, which tells users of their own, cannot be asked either. */
static int say_silent(const struct records *records, const char *path, struct berth_error *err)
{
    const struct berth_error why = *err;
    struct berth_error locked;

    say_locked(records, path, &locked);
    return berth_error_set(err, "%.300s; berthd tells nothing of your own: %.180s", locked.text,
                           why.text);
}

const char *records_url(const struct records *records)
{
    return records->ledger ? records->ledger : records->conf->ledger;
}

/* ---- by berthd ---- */

struct asking {
    struct wire_records question;
    int (*fn)(const struct ledger_record *record, void *arg);
    void *arg;
    bool enough; /* fn wants no more */
};

/* Takes one line of a page, the last of which says where the next one begins. */
static int take_line(struct json_object *line, void *arg, struct berth_error *err)
{
    struct json_object *object = ctl_object(line, "record"), *next = ctl_object(line, "next");
    struct asking *asking = arg;
    struct ledger_record record;

    if (!ctl_true(line, "ok") && strncmp(ctl_text(line, "error"), "op: ", 4) == 0)
        return berth_error_set(err, "it is older than this berthctl, and knows no records");
    if (!ctl_true(line, "ok"))
        return berth_error_set(err, "%.400s", ctl_text(line, "error"));
    ledger_record_init(&record);
    if (object && json_read(object, ledger_fields, &record, err) < 0)
        return -1;
    if (object && asking->fn(&record, asking->arg) != 0) {
        asking->enough = true;
        return 0;
    }
    asking->question.next = next != NULL;
    if (next && json_read(next, wire_record_place_fields, &asking->question.after, err) < 0)
        return -1;
    return ctl_true(line, "more");
}

static int check_lists(const struct ledger_filter *filter, struct berth_error *err)
{
    const size_t n[] = {filter->njobs, filter->nusers, filter->naccounts, filter->npartitions,
                        filter->nnodes};

    for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++)
        if (n[i] > WIRE_RECORDS_WORDS)
            return berth_error_set(err, "%d jobs, nodes, .. at most can be asked for, not %zu",
                                   WIRE_RECORDS_WORDS, n[i]);
    return 0;
}

/* Asks for page after page. */
static int ask(const struct records *records, const struct ledger_filter *filter,
               int (*fn)(const struct ledger_record *record, void *arg), void *arg,
               struct berth_error *err)
{
    struct asking asking = {
        .question = {.since = filter->since,
                     .until = filter->until,
                     .njobs = filter->njobs,
                     .job = filter->job,
                     .users = {filter->nusers, filter->user},
                     .accounts = {filter->naccounts, filter->account},
                     .partitions = {filter->npartitions, filter->partition},
                     .nodes = {filter->nnodes, filter->node}},
        .fn = fn,
        .arg = arg,
    };
    double patience_s = records->patience_s > 0 ? records->patience_s : RECORDS_PATIENCE_S;
    int rc = check_lists(filter, err);

    do {
        const struct wire_request request = {.op = WIRE_OP_RECORDS, .records = asking.question};

        if (rc == 0)
            rc =
                ctl_ask_lines(records->conf->socket, &request, patience_s, take_line, &asking, err);
    } while (rc == 0 && asking.question.next && !asking.enough);
    return rc;
}

int records_read(struct records *records, const struct ledger_filter *filter,
                 int (*fn)(const struct ledger_record *record, void *arg), void *arg,
                 struct berth_error *err)
{
    const char *lock = lock_of(records);

    records->own = false;
    if (strcmp(records_url(records), "off") == 0)
        return berth_error_set(err,
                               "berth.conf says ledger=off: nothing is kept of steps that ended");
    if (!lock) {
        if (ledger_read(records_url(records), defaults_of(records), filter, fn, arg, err) == 0)
            return 0;
        return say_unread(records, err);
    }
    records->own = true;
    if (ask(records, filter, fn, arg, err) == 0)
        return 0;
    return say_silent(records, lock, err);
}

void records_hours(const struct records *records, struct ledger_hours *hours)
{
    struct berth_error err; /* whoever cannot read the ledger hears it of its records */

    ledger_hours_read(records_url(records), defaults_of(records), 0, hours, &err);
}
