/* SPDX-License-Identifier: GPL-2.0-or-later */
/* berthctl - the person's side of berth: a table of verbs, each in a file or a room of its own.
 *
 * Of the whole tool only this file and the verbs print; the library below them fills a berth_error.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "packer/base/nearest.h"
#include "probe/calibrate/calibrate.h"
#include "packer/cli/common/ctl.h"
#include "lab/model/models.h"
#include "lab/plan/plan.h"
#include "probe/profile/profile.h"
#include "probe/study/study.h"
#include "probe/threads/threads.h"
#include "packer/cli/verbs.h"

static const struct ctl_verb verbs[] = {
    {"status", ctl_status, "the node, its caches and where every step stands"},
    {"top", ctl_top, "the same, again every second, with the CPU time in use"},
    {"blackboard", ctl_blackboard, "which memory or cache is saturated now, as programs read it"},
    {"explain", ctl_explain, "why a step runs where it runs: every decision in its order"},
    {"job", ctl_job, "how a job did, on one page: its end, what it used, what berth did, a hint"},
    {"record", ctl_record, "write what steps do to the machine into a file, sample by sample"},
    {"release", ctl_release, "steps go home and are left alone; --end: no more so"},
    {"report", ctl_report, "what steps cost that have ended: energy, EDP, slowdown avoided"},
    {"plan", ctl_plan, "place a workload on a machine, real or not; needs no berthd"},
    {"model", ctl_model, "run one model as a filter: JSON in, JSON out"},
    {"profile", ctl_profile, "run a program once and store what it does to the cache"},
    {"threads", ctl_threads, "how many threads a program should have, by a few short runs"},
    {"microstates", ctl_microstates, "what each thread of a process does, and what it waits for"},
    {"study", ctl_study, "why a program is slower beside another: cache, bus, memory, prefetchers"},
    {"pairs", ctl_pairs, "how programs fared beside others: measured and predicted"},
    {"calibrate", ctl_calibrate, "measure this machine's memory and write its profile"},
    {"doctor", ctl_doctor, "what works on this node, and what berth does without the rest"},
    {"completion", ctl_completion, "the script by which a shell completes this command line"},
    {NULL, NULL, NULL},
};

static int help(void)
{
    printf("usage: berthctl VERB [OPTION...] (each verb takes --help)\n\n");
    for (size_t i = 0; verbs[i].name; i++)
        printf("  %-10s  %s\n", verbs[i].name, verbs[i].help);
    printf("\n  --help      this text; help VERB: what a verb takes\n"
           "  --version   berth's version\n\nSee berthctl(1), berth(7).\n");
    return 0;
}

static const struct ctl_verb *find_verb(const char *name)
{
    for (size_t i = 0; verbs[i].name; i++)
        if (strcmp(name, verbs[i].name) == 0)
            return &verbs[i];
    return NULL;
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

static int help_of(char *name)
{
    const struct ctl_verb *verb = find_verb(name);
    char option[] = "--help";

    return verb ? verb->run(2, (char *[]){name, option, NULL}) : no_verb(name);
}

static int dispatch(int argc, char **argv)
{
    const struct ctl_verb *verb = find_verb(argv[1]);
    const bool helps = strcmp(argv[1], "help") == 0;

    if (helps && argc > 2)
        return help_of(argv[2]);
    if (helps || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help();
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        return puts("berthctl " PACKAGE_VERSION) < 0;
    if (strcmp(argv[1], "complete") == 0)
        return ctl_complete(verbs, argc - 1, argv + 1);
    return verb ? verb->run(argc - 1, argv + 1) : no_verb(argv[1]);
}

int main(int argc, char **argv)
{
    int status;

    if (argc < 2)
        return no_verb(NULL);
    status = dispatch(argc, argv);
    if (status == 0 && (fflush(stdout) != 0 || ferror(stdout)))
        return ctl_fail("stdout", "%m"); /* a disk that is full, above all */
    return status;
}
