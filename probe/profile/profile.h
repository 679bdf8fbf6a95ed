/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile - what the parts of `berthctl profile` share. */
#ifndef BERTH_PROBE_PROFILE_PROFILE_H
#define BERTH_PROBE_PROFILE_PROFILE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "packer/conf/conf.h"
#include "packer/profiles/profiles.h"
#include "probe/trace/dramsim.h"

/* Says what is to be profiled, and how. */
struct profile_args {
    const char *tag, *db, *socket, *topology; /* NULL: not given */
    uint64_t limit, skip;                     /* references; UINT64_MAX: no limit */
    uint64_t seconds;                         /* 0: no limit */
    uint64_t sample;                          /* one LLC set of so many is simulated */
    bool skip_given, force, progress, json, no_timing;
    bool dram;                      /* what the LLC asks of memory is simulated, too */
    struct dramsim_geometry memory; /* channels 0: the machine profile's */
    uint64_t llc_bytes;             /* 0: not given */
    unsigned llc_ways, line_bytes;
    char **command;
};

/* Reads the command line; what is not given has its default. Returns -1 to go on, else the exit
 * status: 0 after --help, 2 after saying what is wrong. */
int profile_args_parse(struct profile_args *args, int argc, char **argv);

/* Prints a profile for people: miss rate, class (a devil has devil_miss_pmi or more), and a bar for
 * each LRU position. */
void profile_print(const struct profile *profile, double devil_miss_pmi, FILE *out);

/* Returns a profile as JSON, an `app` of the models: key, sdp, llc_apki, llc_mpki, ..., machine.
 * The caller releases it. */
struct json_object *profile_json(const struct profile *profile, double devil_miss_pmi);

/* Returns a line of a store's export: the program of that key asks so of memory. The caller frees
 * it; NULL: no memory. */
char *profile_demand_line(const char *key, const struct profile_demand *demand);

/* Runs one of the verbs about stored profiles, "list", "show KEY", ...; argv[0] is that word.
 * Returns the exit status, -1 where it is no such verb. */
int profile_stored(int argc, char **argv);

/* Returns the i-th of these words; NULL: there are no more. */
const char *profile_stored_word(size_t i);

/* Runs the verb `profile`; argv[0] is the verb. Returns berthctl's exit status: 0 done, 1 not, 2
 * usage.
 */
int ctl_profile(int argc, char **argv);

/* Runs the verb `pairs`, as ctl_profile() runs its own. */
int ctl_pairs(int argc, char **argv);

#endif
