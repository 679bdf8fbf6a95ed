/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dispatch - every callback of Slurm's, by the context it comes from, and nothing else.
 *
 * Everything returns 0 but two things that the user asked for himself: a wrong LIST stops srun or
 * sbatch (not slurmstepd, where a non-zero can drain the node), and `require` ends the task. SPANK
 * hands nothing of ours from callback to callback, hence the one static. */
#include <stdio.h>
#include <unistd.h>

#include <slurm/spank.h>

#include "bind.h"
#include "step.h"

SPANK_PLUGIN(berth, 1)

static struct step step;

static void say_vain(void)
{
    char text[1024];

    options_vain(&step.asked, text, sizeof(text));
    if (text[0])
        slurm_info("--%s: %s", OPTIONS_NAME, text);
}

/* --contention-aware[=LIST]. The last call wins: Slurm calls it for the job's own before the
 * step's. */
static int option_given(int value, const char *list, int remote)
{
    struct berth_error err;
    int rc = options_parse(list, &step.asked, &err);

    (void)value;
    step.asked_any = true;
    if (rc == 0 && !remote)
        say_vain();
    if (rc == 0)
        return 0;
    wire_options_init(&step.asked);
    if (rc < 0)
        slurm_error("%s", err.text);
    else if (!remote)
        options_help(stdout);
    fflush(stdout);
    return remote ? 0 : -1;
}

static void option_register(spank_t spank)
{
    char usage[1024];
    struct spank_option option = {.name = (char *)OPTIONS_NAME,
                                  .arginfo = (char *)"[LIST]",
                                  .usage = usage,
                                  .has_arg = 2,
                                  .cb = option_given};

    options_usage(usage, sizeof(usage));
    if (spank_option_register(spank, &option) != ESPANK_SUCCESS)
        slurm_error("berth: Slurm takes no option --%s", OPTIONS_NAME);
}

int slurm_spank_init(spank_t spank, int argc, char **argv)
{
    switch (spank_context()) {
    case S_CTX_LOCAL:
    case S_CTX_ALLOCATOR:
        bind_note_left();
        step_open(&step, argc, argv);
        option_register(spank);
        break;
    case S_CTX_REMOTE:
        step_open(&step, argc, argv);
        option_register(spank);
        break;
    default:
        break;
    }
    return 0;
}

int slurm_spank_user_init(spank_t spank, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    if (spank_context() == S_CTX_REMOTE)
        step_prepare(&step, spank);
    return 0;
}

int slurm_spank_task_post_fork(spank_t spank, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    if (spank_context() == S_CTX_REMOTE)
        step_forked(&step, spank);
    return 0;
}

int slurm_spank_task_init(spank_t spank, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    if (spank_context() != S_CTX_REMOTE || step_task_init(&step, spank) == 0)
        return 0;
    /* Slurm ends a task whose task_init fails in just this way, but only where plugstack.conf says
     * "required". "optional", with which a missing plugin does no harm, makes it ignore what we
     * return. This is the forked task, not slurmstepd. */
    _exit(1);
}

int slurm_spank_task_exit(spank_t spank, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    if (spank_context() == S_CTX_REMOTE)
        step_exited(&step, spank);
    return 0;
}

int slurm_spank_exit(spank_t spank, int argc, char **argv)
{
    (void)spank;
    (void)argc;
    (void)argv;
    if (spank_context() == S_CTX_REMOTE)
        step_close(&step);
    return 0;
}

int slurm_spank_job_epilog(spank_t spank, int argc, char **argv)
{
    if (spank_context() == S_CTX_JOB_SCRIPT)
        step_job_epilog(spank, argc, argv);
    return 0;
}
