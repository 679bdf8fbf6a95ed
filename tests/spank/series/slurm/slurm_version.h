/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_version - says that this is the Slurm series of BERTH_TEST_SERIES, which the command line
 * gives as 2205 or 2605; a release of it that no plugin is built for otherwise. */
#ifndef BERTH_TESTS_SERIES_VERSION_H
#define BERTH_TESTS_SERIES_VERSION_H

#define SLURM_VERSION_NUM(major, minor, micro) (((major) << 16) + ((minor) << 8) + (micro))
#define SLURM_VERSION_MAJOR(number) (((number) >> 16) & 0xff)
#define SLURM_VERSION_MINOR(number) (((number) >> 8) & 0xff)
#define SLURM_VERSION_MICRO(number) ((number)&0xff)

#define SLURM_VERSION_NUMBER SLURM_VERSION_NUM(BERTH_TEST_SERIES / 100, BERTH_TEST_SERIES % 100, 99)

#endif
