/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verdict - does berth help on a node, by the records that this user may read. */
#ifndef BERTH_CLI_VERDICT_H
#define BERTH_CLI_VERDICT_H

#include "packer/base/error.h"
#include "packer/report/benefit.h"

#define VERDICT_DAYS 30

/* Reads what ended on the node in the last VERDICT_DAYS; *own becomes whether these are this user's
 * steps alone. `config` is berth.conf, NULL the usual one. Returns what the caller frees; NULL and
 * err. */
struct benefit *verdict_read(const char *config, const char *node, bool *own,
                             struct berth_error *err);

#endif
