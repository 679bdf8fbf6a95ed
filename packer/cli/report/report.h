/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report - what `berthctl report` was asked for. */
#ifndef BERTH_CLI_REPORT_REPORT_H
#define BERTH_CLI_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "packer/cli/common/job_id.h"
#include "packer/conf/conf.h"
#include "packer/ledger/ledger.h"
#include "packer/report/table.h"

struct report_word_list {
    char **word;
    size_t n;
};

enum report_state { REPORT_STATE_COMPLETED, REPORT_STATE_FAILED, REPORT_STATE_OTHER };

struct report_args {
    struct job_id *job; /* none of them a part of a job (job_raw.h) */
    size_t jobs;
    struct report_word_list users, accounts, partitions, nodes, placed;
    bool state[REPORT_STATE_OTHER + 1], states; /* of -s; whether it was given */
    bool own;       /* users: the one who asks, since he has named none */
    bool variation; /* a page as benefit, which it implies */
    bool benefit, all_users, jobs_only, per_node, by_given, by_job, divide;
    bool since_given, until_given;
    int64_t now, since, until; /* unix seconds; until is outside */
    struct report_keys by;     /* of --by, [keys] */
    size_t keys;
    enum report_shape shape;
    bool no_header;
    const char *delimiter, *format, *html, *ledger, *defaults, *config;
    enum report_unit unit;
};

/* Reads the command line. Returns -1 to go on, else the exit status. The caller clears args in both
 * cases. */
int ctl_report_args(int argc, char **argv, struct report_args *args);
void ctl_report_args_clear(struct report_args *args);

#endif
