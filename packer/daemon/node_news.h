/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_news - the stage that tells how this berthd fares, by a ledger that all nodes share, so that
 * somebody can look at all nodes at once (berthctl status --cluster). */
#ifndef BERTH_DAEMON_NODE_NEWS_H
#define BERTH_DAEMON_NODE_NEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "packer/ledger/ledger.h"

#define NODE_NEWS_NEXT_S 10 /* what has changed is told that seldom, */
#define NODE_NEWS_LAST_S                                                                           \
    300 /* and how it fares that often at least: a node of which nothing was heard for longer is   \
           silent */

/* Says whether there is something to tell after the last news (at 0: there was none): trouble that
 * came or went, a step that came or went, or that berthd still runs. */
bool node_news_is_due(const struct ledger_node *now, const struct ledger_node *last);

#endif
