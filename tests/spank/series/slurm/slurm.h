/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm - of Slurm's large header what the plugin uses: two numbers that mean none, alike in each
 * series. */
#ifndef BERTH_TESTS_SERIES_SLURM_H
#define BERTH_TESTS_SERIES_SLURM_H

#include <stdint.h>

#define INFINITE 0xffffffffu
#define NO_VAL 0xfffffffeu

#endif
