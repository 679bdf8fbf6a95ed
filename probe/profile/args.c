/* SPDX-License-Identifier: GPL-2.0-or-later */
/* args - the command line of `berthctl profile -- COMMAND`. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "packer/cli/common/ctl.h"
#include "packer/cli/options/options.h"
#include "probe/profile/profile.h"

#define SECONDS_DEFAULT 60 /* of tracing: 1 to 10 thousand million references */
#define SECONDS_MAX 1000000
#define SAMPLE_MAX 1000000

/* Reads BYTES:WAYS:LINE. */
static int parse_llc(const char *text, struct profile_args *args)
{
    uint64_t ways, line;
    const char *end;

    if (ctl_options_scaled(text, 1024, &args->llc_bytes, &end) < 0 || *end != ':' ||
        ctl_options_scaled(end + 1, 1024, &ways, &end) < 0 || *end != ':' ||
        ctl_options_scaled(end + 1, 1024, &line, &end) < 0 || *end)
        return -1;
    if (args->llc_bytes == 0 || ways == 0 || ways > PROFILE_WAYS_MAX || line == 0 || line > 4096)
        return -1;
    args->llc_ways = (unsigned)ways;
    args->line_bytes = (unsigned)line;
    return 0;
}

static int take_llc(const struct ctl_option *option, const char *value, void *into)
{
    (void)option;
    return parse_llc(value, into) == 0
               ? -1
               : ctl_usage("profile",
                           "--llc '%s': BYTES:WAYS:LINE, such as 32M:16:64, at most %d ways", value,
                           PROFILE_WAYS_MAX);
}

static int take_memory(const struct ctl_option *option, const char *value, void *into)
{
    struct profile_args *args = into;
    struct dramsim_geometry *memory = &args->memory;
    char rest;

    (void)option;
    args->dram = true;
    if (sscanf(value, "%u:%u:%u:%u%c", &memory->channels, &memory->ranks, &memory->banks,
               &memory->auto_close, &rest) == 4 &&
        memory->channels && memory->ranks && memory->banks &&
        (uint64_t)memory->channels * memory->ranks * memory->banks <= DRAMSIM_BANKS_MAX &&
        !strchr(value, '-'))
        return -1;
    return ctl_usage("profile",
                     "--memory '%s': CHANNELS:RANKS:BANKS:REQUESTS, such as 2:1:8:16, at most %d "
                     "banks in all",
                     value, DRAMSIM_BANKS_MAX);
}

static int take_tag(const struct ctl_option *option, const char *value, void *into)
{
    struct profile_args *args = into;

    (void)option;
    args->tag = value;
    return wire_tag_valid(value)
               ? -1
               : ctl_usage("profile", "--tag '%s': 1 to 63 letters, digits, '.', '_', '-'", value);
}

static const struct ctl_option option_rows[] = {
    {"tag", 0, "NAME", "store under tag:NAME, not under the program's path and content",
     CTL_CALL(take_tag)},
    {"seconds", 0, "S", "stop COMMAND after S seconds (0: never; default 60, or 0 with --limit)",
     CTL_COUNT(struct profile_args, seconds, "a number", 0, SECONDS_MAX)},
    {"limit", 0, "N", "stop COMMAND after N memory references (K, M, G)",
     CTL_COUNT(struct profile_args, limit, "a number such as 20M", 1, 0)},
    {"skip", 0, "N",
     "let the first N references warm the caches and do not count them (default: none, or the "
     "first half when a limit is reached)",
     CTL_COUNT(struct profile_args, skip, "a number such as 5M", 0, 0)},
    {"sample", 0, "N",
     "simulate one of N sets of the LLC, chosen by a hash, and tell the error: up to 2 times "
     "faster for what often misses (default 1: all)",
     CTL_COUNT(struct profile_args, sample, "a number", 1, SAMPLE_MAX)},
    {"db", 0, "FILE", "the profile store (default: profile_db of berth.conf)",
     CTL_TEXT(struct profile_args, db)},
    CTL_OPTION_SOCKET(struct profile_args),
    {"topology", 0, "T", "simulate the caches of an hwloc XML file or a synthetic machine",
     CTL_TEXT(struct profile_args, topology)},
    {"llc", 0, "BYTES:WAYS:LINE", "simulate this last-level cache, e.g. 32M:16:64",
     CTL_CALL(take_llc)},
    {"dram", 0, NULL,
     "simulate also what the cache's misses and write-backs find in the memory's row buffers, for "
     "DraMon (of one thread, best)",
     CTL_FLAG(struct profile_args, dram)},
    {"memory", 0, "CHANNELS:RANKS:BANKS:REQUESTS",
     "--dram with this memory of a node: ranks of a channel, banks of a rank, and requests after "
     "which a row is closed, 0 never (default: the machine profile's)",
     CTL_CALL(take_memory)},
    {"force", 0, NULL, "store the profile of a COMMAND that failed, too",
     CTL_FLAG(struct profile_args, force)},
    {"no-timing", 0, NULL,
     "do not run COMMAND a second time, at full speed on one CPU: berth then does not know how "
     "fast it reads memory, and cannot size it",
     CTL_FLAG(struct profile_args, no_timing)},
    {"progress", 0, NULL, "show progress though stderr is no terminal",
     CTL_FLAG(struct profile_args, progress)},
    {"json", 0, NULL, "print the profile as JSON on stdout; COMMAND's output goes to stderr",
     CTL_FLAG(struct profile_args, json)},
};
static const struct ctl_options options = {
    .verb = "profile",
    .synopsis = "[OPTION...] [--] COMMAND [ARG...]\n"
                "       berthctl profile list|show|export|import|forget|demand ... (each takes "
                "--help)",
    .about =
        "Run COMMAND once under valgrind, 10 to 100 times slower than by itself, and store what "
        "it\n"
        "does to the last-level cache: hits by LRU position and misses per million instructions.\n"
        "berthd looks it up when a step runs the same program (or names the same tag).",
    .more =
        "Counted are loads and stores of COMMAND and its children; not prefetches, instruction\n"
        "fetches and write-backs. Each thread has an L1 and L2 of its own, each process an LLC.",
    CTL_OPTIONS(option_rows),
    .stops = true,
    .least = 1,
    .most = -1,
    .takes = "a COMMAND",
};

/* Is the command a word of the store's verbs, behind options and no "--"? Nobody means a program.
 */
static bool is_stored_word(char *const *argv, int at)
{
    const char *word;

    for (size_t i = 0; at > 1 && strcmp(argv[at - 1], "--") != 0 && (word = profile_stored_word(i));
         i++)
        if (strcmp(word, argv[at]) == 0)
            return true;
    return false;
}

int profile_args_parse(struct profile_args *args, int argc, char **argv)
{
    int status;

    *args = (struct profile_args){
        .limit = UINT64_MAX, .skip = UINT64_MAX, .seconds = UINT64_MAX, .sample = 1};
    status = ctl_options_read(&options, argc, argv, args);
    if (status >= 0)
        return status;
    if (is_stored_word(argv, optind))
        return ctl_usage("profile", "%s stands before the options: berthctl profile %s ..",
                         argv[optind], argv[optind]);
    args->skip_given = args->skip != UINT64_MAX;
    if (args->skip_given && args->skip >= args->limit)
        return ctl_usage("profile", "--skip %" PRIu64 " leaves nothing of --limit %" PRIu64,
                         args->skip, args->limit);
    if (args->dram && args->sample > 1)
        return ctl_usage("profile", "--sample does not go with --dram: each set is simulated");
    if (!args->skip_given)
        args->skip = args->limit / 2;
    if (args->seconds == UINT64_MAX)
        args->seconds = args->limit == UINT64_MAX ? SECONDS_DEFAULT : 0;
    args->command = argv + optind;
    return -1;
}
