/* SPDX-License-Identifier: GPL-2.0-or-later */
/* interface - prints what a plugin is built with: each number and layout of Slurm's headers that
 * the plugin or its test uses. Two sets of headers that print the same make the same plugin. */
#include <slurm/slurm.h>
#include <slurm/spank.h>
#include <stddef.h>
#include <stdio.h>

#define NUMBER(name) printf(#name " %lld\n", (long long)(name))
#define MEMBER(name) printf("option." #name " %zu\n", offsetof(struct spank_option, name))

/* Each is given a pointer of the type that is meant: a compiler refuses another one. */
static spank_context_t (*const context)(void) = spank_context;
static spank_err_t (*const option_register)(spank_t, struct spank_option *) = spank_option_register;
static spank_err_t (*const get_item)(spank_t, spank_item_t, ...) = spank_get_item;
static spank_err_t (*const get_env)(spank_t, const char *, char *, int) = spank_getenv;
static spank_err_t (*const set_env)(spank_t, const char *, const char *, int) = spank_setenv;
static spank_err_t (*const unset_env)(spank_t, const char *) = spank_unsetenv;
static int (*const init)(spank_t, int, char **) = slurm_spank_init;
static spank_opt_cb_f option_callback;
static int (**const callback)(int, const char *, int) = &option_callback;

static void print_items(void)
{
    NUMBER(S_JOB_UID), NUMBER(S_JOB_GID), NUMBER(S_JOB_ID), NUMBER(S_JOB_STEPID);
    NUMBER(S_JOB_NNODES), NUMBER(S_JOB_NODEID), NUMBER(S_JOB_LOCAL_TASK_COUNT);
    NUMBER(S_JOB_TOTAL_TASK_COUNT), NUMBER(S_JOB_NCPUS), NUMBER(S_JOB_ARGV), NUMBER(S_JOB_ENV);
    NUMBER(S_TASK_ID), NUMBER(S_TASK_GLOBAL_ID), NUMBER(S_TASK_EXIT_STATUS), NUMBER(S_TASK_PID);
    NUMBER(S_JOB_PID_TO_GLOBAL_ID), NUMBER(S_JOB_PID_TO_LOCAL_ID);
    NUMBER(S_JOB_LOCAL_TO_GLOBAL_ID), NUMBER(S_JOB_GLOBAL_TO_LOCAL_ID);
    NUMBER(S_JOB_SUPPLEMENTARY_GIDS), NUMBER(S_SLURM_VERSION), NUMBER(S_SLURM_VERSION_MAJOR);
    NUMBER(S_SLURM_VERSION_MINOR), NUMBER(S_SLURM_VERSION_MICRO), NUMBER(S_STEP_CPUS_PER_TASK);
    NUMBER(S_JOB_ALLOC_CORES), NUMBER(S_JOB_ALLOC_MEM), NUMBER(S_STEP_ALLOC_CORES);
    NUMBER(S_STEP_ALLOC_MEM), NUMBER(S_SLURM_RESTART_COUNT), NUMBER(S_JOB_ARRAY_ID);
    NUMBER(S_JOB_ARRAY_TASK_ID);
}

static void print_answers(void)
{
    NUMBER(ESPANK_SUCCESS), NUMBER(ESPANK_ERROR), NUMBER(ESPANK_BAD_ARG), NUMBER(ESPANK_NOT_TASK);
    NUMBER(ESPANK_ENV_EXISTS), NUMBER(ESPANK_ENV_NOEXIST), NUMBER(ESPANK_NOSPACE);
    NUMBER(ESPANK_NOT_REMOTE), NUMBER(ESPANK_NOEXIST), NUMBER(ESPANK_NOT_EXECD);
    NUMBER(ESPANK_NOT_AVAIL), NUMBER(ESPANK_NOT_LOCAL), NUMBER(NO_VAL), NUMBER(INFINITE);
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
    NUMBER(ESPANK_NODE_FAILURE), NUMBER(ESPANK_JOB_FAILURE);
    NUMBER(sizeof(slurm_spank_init_failure_mode));
#endif
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
    NUMBER(sizeof(spank_prepend_task_argv(NULL, 0, NULL)));
#endif
}

int main(void)
{
    (void)context, (void)option_register, (void)get_item, (void)get_env, (void)set_env,
        (void)unset_env, (void)init;
    (void)callback;
    print_items();
    print_answers();
    NUMBER(S_CTX_ERROR), NUMBER(S_CTX_LOCAL), NUMBER(S_CTX_REMOTE), NUMBER(S_CTX_ALLOCATOR);
    NUMBER(S_CTX_SLURMD), NUMBER(S_CTX_JOB_SCRIPT);
    MEMBER(name), MEMBER(arginfo), MEMBER(usage), MEMBER(has_arg), MEMBER(val), MEMBER(cb);
    NUMBER(sizeof(struct spank_option));
    NUMBER(SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER));
    NUMBER(SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER));
    return 0;
}
