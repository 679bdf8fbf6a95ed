/* SPDX-License-Identifier: GPL-2.0-or-later */
/* orders - what users put into the profile store, or want forgotten there, by berthctl.
 *
 * They cannot open its file. What they say is looked at when it is said, and done by a thread of
 * its own: SQLite waits for disks and other writers. What comes within a quarter of a second is one
 * transaction. A user has a few orders at a time, so that his keep nobody else's waiting for long,
 * and pays for the thread's time; the thread is there from the first one on. */
#ifndef BERTH_OBSERVE_ORDERS_H
#define BERTH_OBSERVE_ORDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "packer/base/error.h"

#define ORDERS_MAX 256       /* that wait, of all */
#define ORDERS_OF_ONE_MAX 16 /* of one user */

struct orders;
struct packer;

struct order_user {
    uint32_t uid;   /* whose rows it is about */
    uint32_t payer; /* in whose account (serve/reply.h) it is done */
};

/* Orders that the row, a line of JSON, is taken in as one of the user; with `replace` also in place
 * of a newer one. Returns 0, or -1 and err: the line is wrong, or too many wait. */
int orders_put(const struct packer *packer, const struct order_user *user, const char *row,
               bool replace, struct berth_error *err);

/* Orders that the user's rows of the key (NULL: of all keys) are forgotten; with `samples` what was
 * counted only. Returns 0, or -1 and err. */
int orders_forget(const struct packer *packer, const struct order_user *user, const char *key,
                  bool samples, struct berth_error *err);

/* Returns the CPU time in seconds that the thread has spent for the user and that nobody was
 * charged with yet: the caller charges it. NULL is fine: 0. */
double orders_owed(struct orders *orders, uint32_t payer);

/* Does what waits, for 2 s at most, and stops. NULL is fine. */
void orders_close(struct orders *orders);

#endif
