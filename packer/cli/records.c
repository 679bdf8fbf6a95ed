/* SPDX-License-Identifier: GPL-2.0-or-later */
/* records - see records.h */
#include "packer/cli/records.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

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

/* Says that the file may not be read, and who may. */
static int say_locked(const char *path, const struct conf *conf, struct berth_error *err)
{
    if (conf->ledger_group[0])
        return berth_error_set(err, "%s: the group %s may read it, and you are not in it", path,
                               conf->ledger_group);
    return berth_error_set(
        err,
        "%s: only root may read it, until ledger_group of berth.conf names a group that "
        "may (berthctl explain shows steps of yours)",
        path);
}

/* Says why the ledger cannot be read: as this user can help himself, where that is known, else as
 * err says already. */
static int say_unread(const struct records *records, struct berth_error *err)
{
    const char *path = file_of(records), *defaults = defaults_of(records);

    if (path && access(path, R_OK) < 0 && errno == EACCES)
        return say_locked(path, records->conf, err);
    if (path && !records->ledger && access(path, F_OK) < 0 && errno == ENOENT)
        return berth_error_set(
            err,
            "%s: there is no ledger yet: no step has ended here, or it is kept elsewhere "
            "(--ledger URL, ledger of berth.conf)",
            path);
    if (!path && defaults[0] && access(defaults, R_OK) < 0 && errno == EACCES)
        return berth_error_set(
            err,
            "%s: it has the ledger's password, and you may not read it; --defaults FILE "
            "gives your own (berthctl explain shows steps of yours)",
            defaults);
    return -1;
}

const char *records_url(const struct records *records)
{
    return records->ledger ? records->ledger : records->conf->ledger;
}

int records_read(const struct records *records, const struct ledger_filter *filter,
                 int (*fn)(const struct ledger_record *record, void *arg), void *arg,
                 struct berth_error *err)
{
    if (strcmp(records_url(records), "off") == 0)
        return berth_error_set(err,
                               "berth.conf says ledger=off: nothing is kept of steps that ended");
    if (ledger_read(records_url(records), defaults_of(records), filter, fn, arg, err) == 0)
        return 0;
    return say_unread(records, err);
}
