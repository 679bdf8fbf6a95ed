/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verdict - does berth help on a node, by the records that this user may read. */
#ifndef BERTH_CLI_NODE_VERDICT_H
#define BERTH_CLI_NODE_VERDICT_H

#include "packer/base/error.h"
#include "packer/report/benefit.h"

#define VERDICT_DAYS 30

/* What was read. */
struct verdict_read {
    bool own;      /* these are this user's steps alone */
    int64_t trial; /* when the first of the standing trial ended, Unix seconds; 0: none has */
};

/* Reads what ended on the node (NULL: on each of the ledger's) in the last VERDICT_DAYS. `config`
 * is berth.conf, NULL the usual one. Returns what the caller frees; NULL and err. */
struct benefit *verdict_read(const char *config, const char *node, struct verdict_read *read,
                             struct berth_error *err);

/* Writes what the standing trial says, into text[BENEFIT_SENTENCE_MAX]: its verdict, or how many
 * jobs have been measured of how many that it takes, and for how long that will last as it went
 * until `now`, Unix seconds. */
void verdict_say(const struct benefit_result *result, const struct verdict_read *read, int64_t now,
                 char text[BENEFIT_SENTENCE_MAX]);

#endif
