/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads - what the parts of `berthctl threads` share. */
#ifndef BERTH_PROBE_THREADS_THREADS_H
#define BERTH_PROBE_THREADS_THREADS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/inside/reinforce.h"
#include "packer/base/error.h"

#define THREADS_MOST 65536

/* Says what is to be tried, and how. */
struct threads_args {
    uint64_t cores, least, most, step; /* 0: not given */
    uint64_t factor, offset;           /* the program makes factor * n + offset threads of n */
    double probe_s, start_s, grace_s;
    const char *thresholds, *record; /* files; NULL: not given */
    const char *tag, *db, *socket, *topology;
    bool learn, dry_run, json;
    char **command; /* or the files of --learn */
};

/* Reads the command line; what is not given has its default. Returns -1 to go on, else the exit
 * status. */
int threads_args_parse(struct threads_args *args, int argc, char **argv);

/* Returns the program's parameter for so many threads. */
unsigned threads_parameter(const struct threads_args *args, unsigned threads);

/* Prints what would be started. Returns the exit status. */
int threads_dry_run(const struct threads_args *args, const struct reinforce_rules *rules);

/* Thresholds as a file has them: those of --learn, or written by hand. t_step: of the search; rises
 * that were learnt for another step are taken in proportion. *cores: of how many they were learnt;
 * 0: the file does not say. 0, or -1 and err. */
int sweep_thresholds(const char *path, unsigned t_step, struct reinforce_thresholds *thresholds,
                     unsigned *cores, struct berth_error *err);
struct json_object *sweep_thresholds_json(const struct reinforce_thresholds *thresholds);

/* Appends a sweep, of points with threads rising, to a file, as a line of JSON. 0, or -1 and err.
 */
int sweep_record(const char *path, const char *command, const struct threads_args *args, size_t n,
                 const struct reinforce_point *point, struct berth_error *err);

/* Finds thresholds from the sweeps in these files (NULL ends them), and prints them. Returns the
 * exit status. */
int sweep_learn(char *const *file);

/* Stores how many threads the command should have: its parameter for that many. 0, or -1 and err.
 */
int threads_keep(const struct threads_args *args, unsigned parameter, struct berth_error *err);

/* Runs the verb `threads`; argv[0] is the verb. Returns berthctl's exit status: 0 done, 1 not, 2
 * usage. */
int ctl_microstates(int argc, char **argv);
int ctl_threads(int argc, char **argv);

#endif
