/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outcome - what a round did, and how it is told: to a person, as JSON, and to Prometheus. */
#ifndef BERTH_STEER_OUTCOME_H
#define BERTH_STEER_OUTCOME_H

#include "packer/base/error.h"
#include "steer/hours.h"
#include "steer/node.h"
#include "steer/options.h"

struct outcome {
    size_t news, changed, rpcs; /* nodes with news; nodes that were changed, by so many RPCs */
    struct steer_hour hour;
    const char *why; /* nothing was done; "" */
};

/* Prints it: a line on the log while berth-steer runs on, else text or JSON on stdout. */
void outcome_print(const struct steer_options *options, const struct steer_nodes *nodes,
                   const struct outcome *outcome);

/* Replaces a file by what Prometheus' node_exporter reads (--collector.textfile). Returns 0, or -1
 * and err. */
int outcome_write(const char *path, const struct steer_nodes *nodes, const struct outcome *outcome,
                  struct berth_error *err);

#endif
