/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl_profile_args - the command line of `berthctl profile -- COMMAND`. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "ctl_profile.h"

#define SECONDS_DEFAULT 60 /* of tracing: 1 to 10 thousand million references */
#define SECONDS_MAX 1000000
#define SAMPLE_MAX 1000000

static const char help_text[] =
    "usage: berthctl profile [OPTION...] [--] COMMAND [ARG...]\n"
    "       berthctl profile list|show|export|import|forget|demand ... ('berthctl profile list "
    "--help')\n"
    "\n"
    "Run COMMAND once under valgrind, 10 to 100 times slower than by itself, and store what it "
    "does\n"
    "to the last-level cache: hits by LRU position and misses per million instructions. berthd\n"
    "looks it up when a step runs the same program (or names the same tag).\n"
    "\n"
    "  --tag NAME            store under tag:NAME, not under the program's path and content\n"
    "  --seconds S           stop COMMAND after S seconds (0: never; default 60, or 0 with "
    "--limit)\n"
    "  --limit N             stop COMMAND after N memory references (K, M, G)\n"
    "  --skip N              let the first N references warm the caches and do not count them\n"
    "                        (default: none, or the first half when a limit is reached)\n"
    "  --sample N            simulate one of N sets of the LLC, chosen by a hash, and tell the "
    "error:\n"
    "                        up to 2 times faster for what often misses (default 1: all)\n"
    "  --db FILE             the profile store (default: profile_db of berth.conf)\n"
    "  --topology T          simulate the caches of an hwloc XML file or a synthetic machine\n"
    "  --llc BYTES:WAYS:LINE simulate this last-level cache, e.g. 32M:16:64\n"
    "  --force               store the profile of a COMMAND that failed, too\n"
    "  --no-timing           do not run COMMAND a second time, at full speed on one CPU: berth "
    "then\n"
    "                        does not know how fast it reads memory, and cannot size it\n"
    "  --progress            show progress though stderr is no terminal\n"
    "  --json                print the profile as JSON on stdout; COMMAND's output goes to stderr\n"
    "\n"
    "Counted are loads and stores of COMMAND and its children; not prefetches, instruction "
    "fetches\n"
    "and write-backs. Each thread has an L1 and L2 of its own, each process an LLC.\n";

int profile_args_help(void)
{
    return fputs(help_text, stdout) < 0;
}

/* Read a number of digits with one suffix of K, M or G, powers of `unit`. What follows goes to
 * *end. 0, or -1. */
static int parse_scaled(const char *text, uint64_t unit, uint64_t *value, const char **end)
{
    static const char suffix[] = "KMG";
    const char *found;
    uint64_t scale = 1;
    char *after;

    if (!isdigit((unsigned char)text[0]))
        return -1;
    errno = 0;
    *value = strtoull(text, &after, 10);
    if (errno)
        return -1;
    found = *after ? strchr(suffix, toupper((unsigned char)*after)) : NULL;
    for (const char *s = suffix; found && s <= found; s++)
        scale *= unit;
    *end = found ? after + 1 : after;
    return __builtin_mul_overflow(*value, scale, value) ? -1 : 0;
}

static int parse_count(const char *text, uint64_t *value)
{
    const char *end;

    return parse_scaled(text, 1000, value, &end) < 0 || *end ? -1 : 0;
}

/* Read BYTES:WAYS:LINE. */
static int parse_llc(const char *text, struct profile_args *args)
{
    uint64_t ways, line;
    const char *end;

    if (parse_scaled(text, 1024, &args->llc_bytes, &end) < 0 || *end != ':' ||
        parse_scaled(end + 1, 1024, &ways, &end) < 0 || *end != ':' ||
        parse_scaled(end + 1, 1024, &line, &end) < 0 || *end)
        return -1;
    if (args->llc_bytes == 0 || ways == 0 || ways > PROFILE_WAYS_MAX || line == 0 || line > 4096)
        return -1;
    args->llc_ways = (unsigned)ways;
    args->line_bytes = (unsigned)line;
    return 0;
}

static bool tag_valid(const char *tag)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t length = strlen(tag);

    return length > 0 && length < sizeof(((struct wire_options *)0)->tag) &&
           strspn(tag, letters) == length;
}

/* Take one of the options that are numbers. */
static int take_number(struct profile_args *args, int option, const char *value)
{
    uint64_t number;

    switch (option) {
    case 'l':
        return parse_count(value, &args->limit) == 0 && args->limit > 0
                   ? 0
                   : ctl_usage("profile", "--limit '%s': a number above 0, such as 20M", value);
    case 's':
        args->skip_given = true;
        return parse_count(value, &args->skip) == 0
                   ? 0
                   : ctl_usage("profile", "--skip '%s': a number, such as 5M", value);
    case 'S':
        args->limit_s_given = true;
        if (parse_count(value, &number) < 0 || number > SECONDS_MAX)
            return ctl_usage("profile", "--seconds '%s': 0 to %d", value, SECONDS_MAX);
        args->limit_s = (double)number;
        return 0;
    default: /* 'N' */
        if (parse_count(value, &number) < 0 || number == 0 || number > SAMPLE_MAX)
            return ctl_usage("profile", "--sample '%s': 1 to %d", value, SAMPLE_MAX);
        args->sample = (uint32_t)number;
        return 0;
    }
}

/* Take one option. 0, or the exit status after saying what is wrong. */
static int take_option(struct profile_args *args, int option, const char *value, const char *typed)
{
    switch (option) {
    case 't':
        args->tag = value;
        return tag_valid(value)
                   ? 0
                   : ctl_usage("profile", "--tag '%s': 1 to 63 letters, digits, '.', '_', '-'",
                               value);
    case 'l':
    case 's':
    case 'S':
    case 'N':
        return take_number(args, option, value);
    case 'c':
        return parse_llc(value, args) == 0
                   ? 0
                   : ctl_usage("profile",
                               "--llc '%s': BYTES:WAYS:LINE, such as 32M:16:64, at most "
                               "%d ways",
                               value, PROFILE_WAYS_MAX);
    case 'd':
        args->db = value;
        return 0;
    case 'T':
        args->topology = value;
        return 0;
    case 'f':
        args->force = true;
        return 0;
    case 'p':
        args->progress = true;
        return 0;
    case 'j':
        args->json = true;
        return 0;
    case 'n':
        args->no_timing = true;
        return 0;
    case ':':
        return ctl_usage("profile", "%s: its value is missing", typed);
    }
    return ctl_usage("profile", "%s: no such option", typed);
}

int profile_args_parse(struct profile_args *args, int argc, char **argv)
{
    static const struct option options[] = {{"tag", required_argument, NULL, 't'},
                                            {"limit", required_argument, NULL, 'l'},
                                            {"skip", required_argument, NULL, 's'},
                                            {"seconds", required_argument, NULL, 'S'},
                                            {"sample", required_argument, NULL, 'N'},
                                            {"db", required_argument, NULL, 'd'},
                                            {"topology", required_argument, NULL, 'T'},
                                            {"llc", required_argument, NULL, 'c'},
                                            {"force", no_argument, NULL, 'f'},
                                            {"progress", no_argument, NULL, 'p'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"no-timing", no_argument, NULL, 'n'},
                                            {0}};
    int option, rc = 0;

    *args = (struct profile_args){.limit = UINT64_MAX, .limit_s = SECONDS_DEFAULT, .sample = 1};
    optind = 0;
    opterr = 0;
    while (rc == 0 && (option = getopt_long(argc, argv, "+:", options, NULL)) != -1)
        rc = take_option(args, option, optarg, argv[optind - 1]);
    if (rc != 0)
        return rc;
    if (optind == argc)
        return ctl_usage("profile", "which COMMAND?");
    if (args->skip_given && args->skip >= args->limit)
        return ctl_usage("profile", "--skip %" PRIu64 " leaves nothing of --limit %" PRIu64,
                         args->skip, args->limit);
    if (!args->skip_given)
        args->skip = args->limit / 2;
    if (args->limit != UINT64_MAX && !args->limit_s_given)
        args->limit_s = 0;
    args->command = argv + optind;
    return 0;
}
