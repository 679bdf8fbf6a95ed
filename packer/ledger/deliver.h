/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_deliver - from the queue to the database: one turn of the ledger's thread. */
#ifndef BERTH_LEDGER_DELIVER_H
#define BERTH_LEDGER_DELIVER_H

#include "packer/conf/conf.h"
#include "packer/ledger/queue.h"

/* Bring all that waits in the queue to the ledger, and the lines line[n] that are not in it. What
 * is no record, or is refused, is set aside: it holds up nobody. *gone: lines of the queue, and of
 * line[n], that do not wait any more; *taken: all of line[n] are among them. 0, or -1 and err: some
 * of it could not be brought there now. */
int ledger_deliver(struct ledger_queue *queue, const struct conf *conf, char *const *line, size_t n,
                   size_t *gone, bool *taken, struct berth_error *err);

#endif
