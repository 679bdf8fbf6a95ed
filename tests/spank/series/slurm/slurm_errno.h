/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_errno - the numbers that Slurm answers a plugin with: the same in each series, and two more
 * since 25.05. */
#ifndef BERTH_TESTS_SERIES_ERRNO_H
#define BERTH_TESTS_SERIES_ERRNO_H

#define ESPANK_SUCCESS 0

typedef enum {
    ESPANK_ERROR = 3000,
    ESPANK_BAD_ARG,
    ESPANK_NOT_TASK,
    ESPANK_ENV_EXISTS,
    ESPANK_ENV_NOEXIST,
    ESPANK_NOSPACE,
    ESPANK_NOT_REMOTE,
    ESPANK_NOEXIST,
    ESPANK_NOT_EXECD,
    ESPANK_NOT_AVAIL,
    ESPANK_NOT_LOCAL,
#if BERTH_TEST_SERIES >= 2505
    ESPANK_NODE_FAILURE,
    ESPANK_JOB_FAILURE,
#endif
} slurm_err_t;

#endif
