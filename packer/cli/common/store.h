/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store - the profile store as a person may use it: its file where he may open that, as root may;
 * else what berthd tells him of his own rows, and what it takes from him. */
#ifndef BERTH_CLI_COMMON_STORE_H
#define BERTH_CLI_COMMON_STORE_H

#include "packer/conf/conf.h"
#include "packer/profiles/profiles.h"

struct ctl_store {
    struct profiles *rows; /* the file, or a copy of what berthd told, for reading */
    char folder[64];       /* of that copy; "": it is the file itself */
    char socket[sizeof(((struct conf *)NULL)->socket)];
};

/* Opens `db`, or where that is NULL the store of the configuration, for reading or writing. Returns
 * 0, or -1 and err: neither the file nor a berthd (at `socket`; NULL: where the configuration says)
 * is there for us. */
int ctl_store_open(struct ctl_store *store, const struct conf *conf, const char *db,
                   const char *socket, bool writes, struct berth_error *err);
void ctl_store_close(struct ctl_store *store);

/* Is it berthd that is asked? What it is told to do is done a moment later. */
bool ctl_store_is_asked(const struct ctl_store *store);

/* Asks for the median of the program, of which we have no rows, and adds it to the copy. */
int ctl_store_ask_median(const struct ctl_store *store, const char *key, struct berth_error *err);

/* Each does as profiles_import and profiles_forget, of a file for all users. berthd says nothing of
 * rows that it keeps: all are counted as taken. */
int ctl_store_import(struct ctl_store *store, const char *text, size_t length, bool replace,
                     struct profiles_imported *imported, struct berth_error *err);
int ctl_store_forget(struct ctl_store *store, const char *key, bool samples,
                     struct berth_error *err);

#endif
