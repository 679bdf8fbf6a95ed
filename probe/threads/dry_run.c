/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dry_run - what `berthctl threads` would start, printed instead of started. */
#include <stdio.h>
#include <stdlib.h>

#include "packer/base/json.h"
#include "packer/cli/common/ctl.h"
#include "probe/threads/probe.h"
#include "probe/threads/threads.h"

static void print_command(const struct threads_args *args, unsigned parameter)
{
    char **command = probe_command(args->command, parameter);

    if (!probe_has_place(args->command))
        printf("OMP_NUM_THREADS=%u ", parameter);
    for (size_t i = 0; command && command[i]; i++)
        printf("%s%s", i ? " " : "", command[i]);
    putchar('\n');
    free(command);
}

static struct json_object *run_json(const struct threads_args *args, unsigned threads)
{
    struct json_object *run = json_object_new_object(), *words = json_object_new_array();
    unsigned parameter = threads_parameter(args, threads);
    char **command = probe_command(args->command, parameter);

    for (size_t i = 0; command && command[i]; i++)
        json_append(words, json_object_new_string(command[i]));
    free(command);
    json_add_u64(run, "threads", threads);
    json_add_u64(run, "n", parameter);
    json_add_bool(run, "environment", !probe_has_place(args->command));
    json_add(run, "command", words);
    return run;
}

/* Prints a command a line, or puts it into the list of runs. */
static void tell(const struct threads_args *args, unsigned threads, struct json_object *runs)
{
    if (args->json)
        json_append(runs, run_json(args, threads));
    else
        print_command(args, threads_parameter(args, threads));
}

int threads_dry_run(const struct threads_args *args, const struct reinforce_rules *rules)
{
    struct json_object *output = json_object_new_object(), *runs = json_object_new_array();
    unsigned threads = rules->t_min;

    if (!args->json)
        printf("Would start, and kill after %g s each, at most %u of these and half steps "
               "between:\n",
               args->probe_s, reinforce_most(rules));
    for (; rules->t_max - threads > rules->t_step; threads += rules->t_step)
        tell(args, threads, runs);
    if (threads < rules->t_max)
        tell(args, threads, runs);
    tell(args, rules->t_max, runs);
    json_add_u64(output, "most", reinforce_most(rules));
    json_add_double(output, "probe_s", args->probe_s);
    json_add(output, "would_start", runs);
    if (args->json)
        return ctl_print_json(output);
    json_object_put(output);
    return 0;
}
