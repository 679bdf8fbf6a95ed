/* SPDX-License-Identifier: GPL-2.0-or-later */
/* args - the command line of `berthctl threads`. */
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/cli/common/ctl.h"
#include "packer/cli/options/options.h"
#include "probe/threads/threads.h"

#define PROBE_S 0.1 /* the paper's */
#define START_S 10
#define GRACE_S 2
#define SECONDS_MAX 3600
#define COUNTS "a number"

/* The paper's search on its 24 cores: from 8 on, in steps of 8, to 128. */
#define CORES_A_STEP 3
#define STEPS_MAX 16

/* Reads "100ms" or "2s" into seconds. */
static int take_time(const struct ctl_option *option, const char *value, void *into)
{
    double *seconds = (void *)((char *)into + option->offset), number;
    char *unit;

    number = strtod(value, &unit);
    if (strcmp(unit, "ms") == 0)
        number /= 1000;
    else if (strcmp(unit, "s") != 0)
        number = NAN;
    if (unit == value || !(number >= 0.001 && number <= SECONDS_MAX))
        return ctl_usage("threads", "--%s: a time from 1ms to %ds expected, not '%.64s'",
                         option->name, SECONDS_MAX, value);
    *seconds = number;
    return -1;
}

static int take_tag(const struct ctl_option *option, const char *value, void *into)
{
    struct threads_args *args = into;

    (void)option;
    args->tag = value;
    return wire_tag_valid(value)
               ? -1
               : ctl_usage("threads", "--tag '%s': 1 to 63 letters, digits, '.', '_', '-'", value);
}

/* Reads "4n+3", "n+1" or "n". */
static int take_makes(const struct ctl_option *option, const char *value, void *into)
{
    struct threads_args *args = into;
    const char *end = strchr(value, 'n');
    char *rest = NULL;

    (void)option;
    args->factor = *value == 'n' ? 1 : strtoul(value, NULL, 10);
    args->offset = end && end[1] == '+' ? strtoul(end + 2, &rest, 10) : 0;
    if (end)
        end = rest ? rest : end + 1;
    if (!end || *end || args->factor < 1 || args->factor > THREADS_MOST ||
        args->offset > THREADS_MOST)
        return ctl_usage("threads", "--makes: such as n, n+1 or 4n+3 expected, not '%.64s'", value);
    return -1;
}

#define TIME(field)                                                                                \
    .type = CTL_TYPE_CALL, .take = take_time,                                                      \
    .offset = CTL_FIELD(struct threads_args, field, double)
#define COUNT(field) CTL_WHOLE(struct threads_args, field, COUNTS, 1, THREADS_MOST)

static const struct ctl_option option_rows[] = {
    {"min", 0, "T", "begin with T threads (default: as many as --step)", COUNT(least)},
    {"max", 0, "T", "try no more than T (default: 16 steps)", COUNT(most)},
    {"step", 0, "T",
     "so many more at a time, or half (default: a third of the cores, what 2 n make at least)",
     COUNT(step)},
    {"cores", 0, "N", "it will have N cores (default: those that this shell has)", COUNT(cores)},
    {"probe", 0, "TIME", "watch each run for TIME, such as 100ms (the default)", TIME(probe_s)},
    {"start", 0, "TIME", "its threads are there after TIME at the latest (default 10s)",
     TIME(start_s)},
    {"grace", 0, "TIME", "from SIGTERM to SIGKILL (default 2s)", TIME(grace_s)},
    {"makes", 0, "FORM", "threads that it makes of n: n (the default), n+1, 4n+3, ..",
     CTL_CALL(take_makes)},
    {"thresholds", 0, "FILE", "what is high, as --learn prints it",
     CTL_TEXT(struct threads_args, thresholds)},
    {"record", 0, "FILE", "try all counts, and append what was measured to FILE, for --learn",
     CTL_TEXT(struct threads_args, record)},
    {"learn", 0, NULL, "print the thresholds that the sweeps in these FILEs have",
     CTL_FLAG(struct threads_args, learn)},
    {"tag", 0, "NAME", "store under tag:NAME, not under the program's path and content",
     CTL_CALL(take_tag)},
    {"db", 0, "FILE", "the profile store (default: profile_db of berth.conf)",
     CTL_TEXT(struct threads_args, db)},
    CTL_OPTION_SOCKET(struct threads_args),
    {"topology", 0, "T", "the machine, as topology of berthd's berth.conf has it",
     CTL_TEXT(struct threads_args, topology)},
    {"dry-run", 0, NULL, "print what would be started, and start nothing",
     CTL_FLAG(struct threads_args, dry_run)},
    {"json", 0, NULL, "print JSON", CTL_FLAG(struct threads_args, json)},
};
static const struct ctl_options options = {
    .verb = "threads",
    .synopsis = "[OPTION...] -- COMMAND [ARG...]\n"
                "       berthctl threads --learn FILE...",
    .about =
        "Find how many threads COMMAND should have, by a few short runs (Thread Reinforcer,\n"
        "Pusukuri 2012): {n} in its arguments is the number, else OMP_NUM_THREADS has it. The\n"
        "profile store keeps it, and srun's word threads=auto sets OMP_NUM_THREADS by that.",
    .more = "COMMAND is started several times, and KILLED each time with all that it has started,\n"
            "when it was observed: files that it writes are left half done. It has no standard\n"
            "input, and its standard output goes nowhere.",
    CTL_OPTIONS(option_rows),
    .stops = true,
    .least = 1,
    .most = -1,
    .takes = "-- COMMAND",
};

static uint64_t own_cores(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 ? (uint64_t)CPU_COUNT(&set) : 1;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Puts in what was not given. Half a step is another n, too, and the least is one that it can make.
 */
static void fill_in(struct threads_args *args)
{
    if (!args->cores)
        args->cores = own_cores();
    if (!args->step)
        args->step = larger(args->cores / CORES_A_STEP, 2 * args->factor);
    if (!args->least)
        args->least = larger(args->step, args->factor + args->offset);
    if (!args->most)
        args->most = args->least + (STEPS_MAX - 1) * args->step;
}

static int check(const struct threads_args *args, bool dashes)
{
    if (args->learn)
        return -1;
    if (!dashes)
        return ctl_usage("threads", "-- expected before COMMAND, which is started several times "
                                    "and killed");
    if (args->most < args->least)
        return ctl_usage("threads", "--max %" PRIu64 ": less than --min %" PRIu64, args->most,
                         args->least);
    if (args->least < args->factor + args->offset)
        return ctl_usage("threads", "--min %" PRIu64 ": of n = 1 it makes %" PRIu64 " already",
                         args->least, args->factor + args->offset);
    if (args->step < args->factor)
        return ctl_usage("threads",
                         "--step %" PRIu64 ": one more of n makes %" PRIu64 " threads more",
                         args->step, args->factor);
    if (!args->thresholds && !args->record && !args->dry_run)
        return ctl_usage("threads", "--thresholds FILE expected: what is high differs from machine "
                                    "to machine. Your site may have that FILE; else --record "
                                    "SWEEPS with three programs, then --learn SWEEPS > FILE");
    return -1;
}

int threads_args_parse(struct threads_args *args, int argc, char **argv)
{
    int status;

    *args = (struct threads_args){
        .factor = 1, .probe_s = PROBE_S, .start_s = START_S, .grace_s = GRACE_S};
    status = ctl_options_read(&options, argc, argv, args);
    if (status >= 0)
        return status;
    fill_in(args);
    args->command = argv + optind;
    return check(args, optind > 1 && strcmp(argv[optind - 1], "--") == 0);
}

/* The largest that makes no more. */
unsigned threads_parameter(const struct threads_args *args, unsigned threads)
{
    return (unsigned)((threads - args->offset) / args->factor);
}
