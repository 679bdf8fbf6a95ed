/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spank - the interface between Slurm and a SPANK plugin, as each series from 22.05 to 26.05 has
 * it: what a plugin is built with, for a test that has none of these Slurms.
 *
 * Written from spank(8) and compared, number by number, with the headers of the real ones
 * (tests/spank/check-headers). The interface has hardly changed; the version that a plugin carries
 * is what tells them apart. BERTH_TEST_SERIES is the series: 2205 to 2605. */
#ifndef BERTH_TESTS_SERIES_SPANK_H
#define BERTH_TESTS_SERIES_SPANK_H

#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>

typedef struct spank_handle *spank_t;
typedef slurm_err_t spank_err_t;
typedef int spank_f(spank_t spank, int argc, char *argv[]);

extern spank_f slurm_spank_init, slurm_spank_init_post_opt, slurm_spank_local_user_init;
extern spank_f slurm_spank_user_init, slurm_spank_task_init_privileged, slurm_spank_task_init;
extern spank_f slurm_spank_task_post_fork, slurm_spank_task_exit, slurm_spank_exit;
extern spank_f slurm_spank_job_prolog, slurm_spank_job_epilog, slurm_spank_slurmd_exit;
#if BERTH_TEST_SERIES >= 2505
extern int slurm_spank_init_failure_mode; /* a plugin may define it */
#endif

typedef enum spank_item {
    S_JOB_UID,
    S_JOB_GID,
    S_JOB_ID,
    S_JOB_STEPID,
    S_JOB_NNODES,
    S_JOB_NODEID,
    S_JOB_LOCAL_TASK_COUNT,
    S_JOB_TOTAL_TASK_COUNT,
    S_JOB_NCPUS,
    S_JOB_ARGV,
    S_JOB_ENV,
    S_TASK_ID,
    S_TASK_GLOBAL_ID,
    S_TASK_EXIT_STATUS,
    S_TASK_PID,
    S_JOB_PID_TO_GLOBAL_ID,
    S_JOB_PID_TO_LOCAL_ID,
    S_JOB_LOCAL_TO_GLOBAL_ID,
    S_JOB_GLOBAL_TO_LOCAL_ID,
    S_JOB_SUPPLEMENTARY_GIDS,
    S_SLURM_VERSION,
    S_SLURM_VERSION_MAJOR,
    S_SLURM_VERSION_MINOR,
    S_SLURM_VERSION_MICRO,
    S_STEP_CPUS_PER_TASK,
    S_JOB_ALLOC_CORES,
    S_JOB_ALLOC_MEM,
    S_STEP_ALLOC_CORES,
    S_STEP_ALLOC_MEM,
    S_SLURM_RESTART_COUNT,
    S_JOB_ARRAY_ID,
    S_JOB_ARRAY_TASK_ID,
} spank_item_t;

typedef enum spank_context {
    S_CTX_ERROR,
    S_CTX_LOCAL,
    S_CTX_REMOTE,
    S_CTX_ALLOCATOR,
    S_CTX_SLURMD,
    S_CTX_JOB_SCRIPT
} spank_context_t;

typedef int (*spank_opt_cb_f)(int val, const char *optarg, int remote);

struct spank_option {
    char *name, *arginfo, *usage;
    int has_arg, val;
    spank_opt_cb_f cb;
};

spank_context_t spank_context(void);
spank_err_t spank_option_register(spank_t spank, struct spank_option *option);
spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...);
spank_err_t spank_getenv(spank_t spank, const char *name, char *text, int size);
spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite);
spank_err_t spank_unsetenv(spank_t spank, const char *name);
#if BERTH_TEST_SERIES >= 2311
spank_err_t spank_prepend_task_argv(spank_t spank, int argc, const char *argv[]);
#endif

#define SLURM_LOG(name) extern void name(const char *, ...) __attribute__((format(printf, 1, 2)))
SLURM_LOG(slurm_info);
SLURM_LOG(slurm_error);
SLURM_LOG(slurm_verbose);
SLURM_LOG(slurm_spank_log);
#undef SLURM_LOG

#define SPANK_PLUGIN(name, version)                                                                \
    const char plugin_name[] = #name;                                                              \
    const char plugin_type[] = "spank";                                                            \
    const unsigned int plugin_version = SLURM_VERSION_NUMBER;                                      \
    const unsigned int spank_plugin_version = version;

#endif
