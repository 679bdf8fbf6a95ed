/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options - see steer/options.h */
#include "steer/options.h"

#include "packer/cli/options/complaint.h"
#include "packer/cli/options/options.h"
#include "packer/sql/sql.h"

/* Seconds: no more, or what is undone for want of a round is undone too soon. */
#define INTERVAL_LEAST_S 30
#define INTERVAL_MOST_S 120
#define CONTROL_MOST 50

static const struct ctl_option rows[] = {
    {"ledger", 0, "URL", "where berthd writes, as ledger in berth.conf",
     CTL_TEXT(struct steer_options, ledger)},
    {"ledger-defaults", 0, "FILE", "MariaDB option file with the password",
     CTL_TEXT(struct steer_options, defaults)},
    {"nodes", 0, "LIST", "nodes that are steered, as cn[1-100] (all)",
     CTL_TEXT(struct steer_options, nodes)},
    {"state", 0, "FILE", "its file of state (" LOCALSTATEDIR "/lib/berth-steer/state.json)",
     CTL_TEXT(struct steer_options, state)},
    {"interval", 0, "S", "seconds between two rounds, 30 to 120 (30)",
     CTL_WHOLE(struct steer_options, interval_s, "seconds", INTERVAL_LEAST_S, INTERVAL_MOST_S)},
    {"control", 0, "PERCENT", "of the hours, in which by lot nothing is steered, to compare (10)",
     CTL_WHOLE(struct steer_options, control, "percent", 0, CONTROL_MOST)},
    {"once", 0, NULL, "one round; what it changed is left to the next, or to --undo",
     CTL_ONE(struct steer_options, task, STEER_ONCE)},
    {"dryrun", 0, NULL, "one round that tells Slurm nothing",
     CTL_FLAG(struct steer_options, dryrun)},
    {"undo", 0, NULL, "gives all nodes their admin's weights",
     CTL_ONE(struct steer_options, task, STEER_UNDO)},
    {"overdue", 0, NULL, "of --undo: only where rounds have ceased",
     CTL_FLAG(struct steer_options, overdue)},
    {"metrics-textfile", 0, "FILE", "figures of the last round, for Prometheus' node_exporter",
     CTL_TEXT(struct steer_options, metrics)},
    {"json", 0, NULL, "what a round, or --undo, did as one JSON object",
     CTL_FLAG(struct steer_options, json)},
};

static const struct ctl_options options_table = {
    .verb = "",
    .synopsis = "[OPTION]... --ledger URL",
    .about = "Has Slurm give jobs the nodes whose memory is least busy, by the weights of nodes.",
    CTL_OPTIONS(rows),
};

static int check(struct steer_options *options)
{
    struct berth_error err;

    if (options->dryrun && options->task == STEER_UNDO)
        return ctl_usage("", "one of --dryrun and --undo only");
    if (options->overdue && options->task != STEER_UNDO)
        return ctl_usage("", "--overdue: is for --undo");
    if (options->task != STEER_UNDO && !options->ledger)
        return ctl_usage("", "--ledger: is missing");
    if (options->task != STEER_UNDO && sql_check_url(options->ledger, &err) < 0)
        return ctl_usage("", "--ledger: %s", err.text);
    if (options->dryrun)
        options->task = STEER_ONCE;
    return -1;
}

int options_take(struct steer_options *options, int argc, char **argv)
{
    int status;

    *options = (struct steer_options){.defaults = "",
                                      .state = LOCALSTATEDIR "/lib/berth-steer/state.json",
                                      .interval_s = 30,
                                      .control = 10};
    ctl_program("berth-steer");
    status = ctl_options_read(&options_table, argc, argv, options);
    return status < 0 ? check(options) : status;
}
