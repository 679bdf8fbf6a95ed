/* SPDX-License-Identifier: GPL-2.0-or-later */
/* news - how busy the memory of each node is, as its berthd has written it into the ledger's
 * database (table steer_node). */
#ifndef BERTH_STEER_NEWS_H
#define BERTH_STEER_NEWS_H

#include "packer/base/error.h"
#include "steer/node.h"

/* Sets `pressure` and `at` of the nodes that have a row; a row whose pressure is none, or which is
 * of more than a minute in the future, is none. url, defaults: as berth.conf's ledger and
 * ledger_defaults. now: Unix seconds. Returns 0, or -1 and err: the database cannot be used, or no
 * berthd has written to it yet. */
int news_read(const char *url, const char *defaults, struct steer_nodes *nodes, int64_t now,
              struct berth_error *err);

#endif
