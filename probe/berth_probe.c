/* SPDX-License-Identifier: GPL-2.0-or-later */
/* berth-probe - the part of berthctl that measures programs and machines by running them (verb.h).
 */
#include <limits.h>
#include <stdio.h>

#include "packer/cli/common/verb.h"
#include "packer/system/run_program.h"
#include "probe/calibrate/calibrate.h"
#include "probe/profile/profile.h"
#include "probe/study/study.h"
#include "probe/threads/threads.h"
#include "probe/trace/tool.h"
#include "probe/trace/tracer.h"

#define VALGRIND_S 2 /* it tells its version within */

/* Prints which valgrind runs programs here, or why none does: for doctor. */
static int say_tracer(int argc, char **argv)
{
    const char *const valgrind[] = {tracer_valgrind, "--version", NULL};
    char version[128], folder[PATH_MAX];
    struct berth_error err = {""};

    (void)argc;
    (void)argv;
    if (run_program((char *const *)valgrind, RUN_FIRST_OUTPUT, VALGRIND_S, NULL, version,
                    sizeof(version)) != 0)
        printf("%s cannot be run\n", tracer_valgrind);
    else if (tracer_tool_find(folder, &err) < 0)
        printf("%s, but %s\n", version, err.text);
    else
        return printf("%s, %s\n", version, tracer_valgrind) < 0;
    return 1;
}

static const struct ctl_verb verbs[] = {
    {.name = "profile",
     .run = ctl_profile,
     .word = profile_stored_word,
     .run_word = profile_stored},
    {.name = "threads", .run = ctl_threads},
    {.name = "microstates", .run = ctl_microstates},
    {.name = "study", .run = ctl_study},
    {.name = "pairs", .run = ctl_pairs},
    {.name = "calibrate", .run = ctl_calibrate},
    {.name = "tracer", .run = say_tracer},
    {.name = NULL},
};

int main(int argc, char **argv)
{
    return ctl_part("berth-probe", verbs, argc, argv);
}
