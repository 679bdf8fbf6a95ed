/* SPDX-License-Identifier: GPL-2.0-or-later */
/* berthctl - the person's side of berth: a table of verbs, each in a file or a room of its own.
 *
 * Of the whole tool only this file and the verbs print; the library below them fills a berth_error.
 */
#include <stdio.h>
#include <string.h>

#include "packer/cli/calibrate/calibrate.h"
#include "packer/cli/model/models.h"
#include "packer/cli/plan/plan.h"
#include "packer/cli/profile/profile.h"
#include "packer/cli/verbs.h"

struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
};

static const struct verb verbs[] = {
    {"status", ctl_status, "the node, its caches and where every step stands"},
    {"top", ctl_top, "the same, again every second, with the CPU time in use"},
    {"explain", ctl_explain, "why a step runs where it runs: every decision in its order"},
    {"record", ctl_record, "write what steps do to the machine into a file, sample by sample"},
    {"release", ctl_release, "steps go home and are left alone; --end: no more so"},
    {"report", ctl_report, "what steps cost that have ended: energy, EDP, slowdown avoided"},
    {"plan", ctl_plan, "place a workload on a machine, real or not; needs no berthd"},
    {"model", ctl_model, "run one model as a filter: JSON in, JSON out"},
    {"profile", ctl_profile, "run a program once and store what it does to the cache"},
    {"pairs", ctl_pairs, "how programs fared beside others: measured and predicted"},
    {"calibrate", ctl_calibrate, "measure this machine's memory and write its profile"},
    {"doctor", ctl_doctor, "what works on this node, and what berth does without the rest"},
};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static int help(void)
{
    printf("usage: berthctl VERB [OPTION...] (each verb takes --help)\n\n");
    for (size_t i = 0; i < VERBS; i++)
        printf("  %-9s  %s\n", verbs[i].name, verbs[i].help);
    printf(
        "\n  --help     this text\n  --version  berth's version\n\nSee berthctl(1), berth(7).\n");
    return 0;
}

/* Prints one line that names what was typed (NULL: nothing) and lists what would be right. Returns
 * 2. */
static int no_verb(const char *typed)
{
    fprintf(stderr, "berthctl: %s: %s; one of:", typed ? typed : "a verb",
            typed ? "no such verb" : "missing");
    for (size_t i = 0; i < VERBS; i++)
        fprintf(stderr, " %s", verbs[i].name);
    fprintf(stderr, " (try 'berthctl --help')\n");
    return 2;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return no_verb(NULL);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return help();
    if (strcmp(argv[1], "--version") == 0) {
        puts("berthctl " PACKAGE_VERSION);
        return 0;
    }
    for (size_t i = 0; i < VERBS; i++)
        if (strcmp(argv[1], verbs[i].name) == 0)
            return verbs[i].run(argc - 1, argv + 1);
    return no_verb(argv[1]);
}
