/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_store - records into the database. Reading them is ledger/read.c. */
#ifndef BERTH_LEDGER_STORE_H
#define BERTH_LEDGER_STORE_H

#include "packer/ledger/ledger.h"
#include "packer/sql/sql.h"

struct ledger_store;

/* Connects, and brings the schema up to date. Returns 0, or -1 and err. */
int ledger_store_open(struct ledger_store **out, const struct conf *conf, struct berth_error *err);
void ledger_store_close(struct ledger_store *store); /* NULL is fine */

/* Puts all of them, or none: those that are there already stay as they are. Returns 0, and they are
 * safe; or -1 and err: *refused tells whether one of them is to blame, not the database. */
int ledger_store_put(struct ledger_store *store, const struct ledger_record *records, size_t n,
                     bool *refused, struct berth_error *err);

/* Has records that are there told who their job is: those whose identity is "none". Returns
 * what ledger_store_put() returns. */
int ledger_store_identify(struct ledger_store *store, const struct ledger_identity *identity,
                          bool *refused, struct berth_error *err);

/* Have the row of the node say so, and make the table where it is missing. Return 0, or -1 and
 * err. */
int ledger_store_pressure(struct ledger_store *store, const struct ledger_pressure *pressure,
                          struct berth_error *err);
int ledger_store_node(struct ledger_store *store, const struct ledger_node *node,
                      struct berth_error *err);

#endif
