/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_deliver - lines on their way to the database, in batches, each a transaction.
 *
 * Whatever happens on the way, a line is brought again: the database keeps each record once. What
 * is no record, or is refused by the database, is set aside: it holds up nobody. */
#ifndef BERTH_LEDGER_DELIVER_H
#define BERTH_LEDGER_DELIVER_H

#include "packer/ledger/outbox.h"
#include "packer/ledger/store.h"

struct deliver;

/* Returns NULL when out of memory. Refused lines go to the folder, whose path is borrowed. */
struct deliver *deliver_new(const char *folder);
void deliver_free(struct deliver *deliver);

/* Brings whole lines to the store. Returns 0; or -1 and err: some of them are not there, or could
 * not be set aside. */
int deliver_text(struct deliver *deliver, const char *text, struct ledger_store *store,
                 struct berth_error *err);

/* Brings the lines of the outbox to the store; *gone is how many are not in the outbox any more.
 * Returns what deliver_text() returns. A line that cannot be set aside does not keep those after
 * it. */
int deliver_outbox(struct deliver *deliver, struct outbox *outbox, struct ledger_store *store,
                   size_t *gone, struct berth_error *err);

#endif
