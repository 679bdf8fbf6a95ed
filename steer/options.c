/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options - see steer/options.h */
#include "steer/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds: no more, or what is undone for want of a round is undone too soon. */
#define INTERVAL_LEAST_S 30
#define INTERVAL_MOST_S 120

static const char help[] =
    "usage: berth-steer [OPTION]... --ledger=URL\n"
    "Has Slurm give jobs the nodes whose memory is least busy, by the weights of nodes.\n\n"
    "  --ledger=URL            where berthd writes, as ledger in berth.conf\n"
    "  --ledger-defaults=FILE  MariaDB option file with the password\n"
    "  --nodes=LIST            nodes that are steered, as cn[1-100] (all)\n"
    "  --state=FILE            its file of state (" LOCALSTATEDIR "/lib/berth-steer/state.json)\n"
    "  --interval=S            seconds between two rounds, 30 to 120 (30)\n"
    "  --once                  one round; what it changed is left to the next, or to --undo\n"
    "  --dryrun                one round that tells Slurm nothing\n"
    "  --undo                  gives all nodes their admin's weights\n"
    "  --overdue               of --undo: only where rounds have ceased\n"
    "  --json                  what a round, or --undo, did as one JSON object\n"
    "  --help                  this\n";

static const struct option words[] = {
    {"ledger", required_argument, NULL, 'l'},   {"ledger-defaults", required_argument, NULL, 'd'},
    {"nodes", required_argument, NULL, 'n'},    {"state", required_argument, NULL, 's'},
    {"interval", required_argument, NULL, 'i'}, {"once", no_argument, NULL, '1'},
    {"dryrun", no_argument, NULL, 'D'},         {"undo", no_argument, NULL, 'u'},
    {"overdue", no_argument, NULL, 'o'},        {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0}};

static int usage(const char *what, const char *value)
{
    fprintf(stderr, "berth-steer: %s%s (see --help)\n", what, value);
    return 2;
}

static int take_interval(struct steer_options *options, const char *text)
{
    char *end;

    options->interval_s = strtol(text, &end, 10);
    if (*end || end == text || options->interval_s < INTERVAL_LEAST_S ||
        options->interval_s > INTERVAL_MOST_S)
        return usage("--interval: 30 to 120 seconds expected, not ", text);
    return -1;
}

static int take_option(struct steer_options *options, int letter)
{
    switch (letter) {
    case 'l':
        options->ledger = optarg;
        return -1;
    case 'd':
        options->defaults = optarg;
        return -1;
    case 'n':
        options->nodes = optarg;
        return -1;
    case 's':
        options->state = optarg;
        return -1;
    case 'i':
        return take_interval(options, optarg);
    case '1':
        options->task = STEER_ONCE;
        return -1;
    case 'D':
        options->task = STEER_ONCE;
        options->dryrun = true;
        return -1;
    case 'u':
        options->task = STEER_UNDO;
        return -1;
    case 'o':
        options->overdue = true;
        return -1;
    case 'j':
        options->json = true;
        return -1;
    case 'h':
        fputs(help, stdout);
        return 0;
    default:
        return -2;
    }
}

int options_take(struct steer_options *options, int argc, char **argv)
{
    int letter, status = -1;

    *options = (struct steer_options){
        .defaults = "", .state = LOCALSTATEDIR "/lib/berth-steer/state.json", .interval_s = 30};
    opterr = 0;
    while (status == -1 && (letter = getopt_long(argc, argv, "", words, NULL)) >= 0)
        status = take_option(options, letter);
    if (status == -2)
        return usage("no such option, or not with such a value: ", argv[optind - 1]);
    if (status >= 0)
        return status;
    if (optind < argc)
        return usage("no argument expected: ", argv[optind]);
    if (options->task != STEER_UNDO && !options->ledger)
        return usage("--ledger is missing", "");
    if (options->overdue && options->task != STEER_UNDO)
        return usage("--overdue is for --undo", "");
    return -1;
}
