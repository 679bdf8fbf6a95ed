/* SPDX-License-Identifier: GPL-2.0-or-later */
/* records - what users ask of the ledger, which only root may read: each gets his own records. */
#ifndef BERTH_DAEMON_RECORDS_H
#define BERTH_DAEMON_RECORDS_H

#include "packer/serve/reply.h"

/* Asks for a page. Returns 0, or -1 and err: there is no ledger. */
int records_begin(struct reply *reply, struct berth_error *err);

/* Tells it when it is there (struct request_op). */
bool records_tell(struct reply *reply, struct evbuffer *out);

#endif
