/* SPDX-License-Identifier: GPL-2.0-or-later */
/* berthctl - the person's side of berth: a table of verbs, each in a file or a room of its own.
 *
 * Of the whole tool only this file and the verbs print; the library below them fills a berth_error.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "packer/base/nearest.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/verb.h"
#include "packer/cli/common/verbs.h"

#define OWN(verb, text) .name = #verb, .run = ctl_##verb, .help = (text)
#define OF(program, verb, text) .name = #verb, .part = (program), .help = (text)
#define LAB "berth-lab"
#define PROBE "berth-probe"

static const struct ctl_verb verbs[] = {
    {OWN(status, "the node, its caches and where every step stands")},
    {OWN(top, "the same, again every second, with the CPU time in use")},
    {OWN(blackboard, "which memory or cache is saturated now, as programs read it")},
    {OWN(explain, "why a step runs where it runs: every decision in its order")},
    {OWN(job, "how a job did, on a page, with one hint")},
    {OWN(record, "write what steps do to the machine into a file, sample by sample")},
    {OWN(release, "steps go home and are left alone; --end places new ones again")},
    {OWN(report, "what steps cost that have ended: energy, EDP, slowdown avoided")},
    {OF(LAB, plan, "place a workload on a machine, real or not; needs no berthd")},
    {OF(LAB, model, "run one model as a filter: JSON in, JSON out")},
    {OF(PROBE, profile, "run a program once and store what it does to the cache")},
    {OF(PROBE, threads, "how many threads a program should have, by a few short runs")},
    {OF(PROBE, microstates, "what each thread of a process does, and what it waits for")},
    {OF(PROBE, study, "why a program is slower beside another: cache, bus or memory")},
    {OF(PROBE, pairs, "how programs fared beside others: measured and predicted")},
    {OF(PROBE, calibrate, "measure this machine's memory and write its profile")},
    {OWN(doctor, "what works on this node, and what berth does without the rest")},
    {OWN(completion, "the script by which a shell completes this command line"),
     .word = ctl_completion_shell},
    {.name = NULL},
};

static int help(void)
{
    printf("usage: berthctl VERB [OPTION...] (each verb takes --help)\n\n");
    for (size_t i = 0; verbs[i].name; i++)
        printf("  %-11s  %s\n", verbs[i].name, verbs[i].help);
    printf("\n  --help       this text; help VERB: what a verb takes\n"
           "  --version    berth's version\n\nSee berthctl(1); berth-guide(7) is where to begin.\n");
    return 0;
}

/* Prints one line that names what was typed (NULL: nothing), the verb that may be meant, and all.
 * Returns 2. */
static int no_verb(const char *typed)
{
    struct nearest nearest = nearest_begin(typed ? typed : "");
    char meant[NEAREST_SAY_MAX];

    for (size_t i = 0; verbs[i].name; i++)
        nearest_try(&nearest, verbs[i].name);
    fprintf(stderr, "berthctl: %s", typed ? typed : "a verb: missing");
    fputs(typed ? ": no such verb" : "", stderr);
    fputs(nearest_say(&nearest, meant), stderr);
    fputs("; one of:", stderr);
    for (size_t i = 0; verbs[i].name; i++)
        fprintf(stderr, " %s", verbs[i].name);
    fputs(" (try 'berthctl --help')\n", stderr);
    return 2;
}

/* argv[0] is "help". */
static int help_of(char **argv)
{
    const struct ctl_verb *verb = ctl_verb_find(verbs, argv[1]);
    char option[] = "--help";

    return verb ? ctl_verb_run(verb, 2, (char *[]){argv[0], argv[1], option, NULL} + 1)
                : no_verb(argv[1]);
}

static int dispatch(int argc, char **argv)
{
    const struct ctl_verb *verb = ctl_verb_find(verbs, argv[1]);
    const bool helps = strcmp(argv[1], "help") == 0;

    if (helps && argc > 2)
        return help_of(argv + 1);
    if (helps || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help();
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        return puts("berthctl " PACKAGE_VERSION) < 0;
    if (strcmp(argv[1], "complete") == 0)
        return ctl_complete(verbs, argc - 1, argv + 1);
    return verb ? ctl_verb_run(verb, argc - 1, argv + 1) : no_verb(argv[1]);
}

int main(int argc, char **argv)
{
    return argc < 2 ? no_verb(NULL) : ctl_end(dispatch(argc, argv));
}
