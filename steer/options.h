/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options - the command line of berth-steer. */
#ifndef BERTH_STEER_OPTIONS_H
#define BERTH_STEER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum steer_task { STEER_RUN, STEER_ONCE, STEER_UNDO };

struct steer_options {
    enum steer_task task;
    const char *ledger, *defaults; /* as berth.conf's ledger and ledger_defaults */
    const char *nodes;             /* NULL: all */
    const char *state;             /* the file of state */
    const char *metrics;           /* file for node_exporter; NULL: none */
    uint64_t interval_s;
    uint64_t control; /* percent of the hours in which nothing is steered, by lot */
    bool dryrun, json, overdue;
};

/* Takes the command line. Returns -1 to go on, else the exit status. */
int options_take(struct steer_options *options, int argc, char **argv);

#endif
