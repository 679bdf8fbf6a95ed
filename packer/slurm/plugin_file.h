/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugin_file - reads which Slurm a SPANK plugin was built for, without loading it: the number
 * under plugin_version in the shared object, which Slurm compares with its own
 * (src/common/plugin.c: major and minor must be the same). */
#ifndef BERTH_SLURM_PLUGIN_FILE_H
#define BERTH_SLURM_PLUGIN_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "packer/base/error.h"

/* A Slurm series as a number: 24.11 is 2411; 0: not known. */
typedef unsigned slurm_series;

/* Returns the series of the plugin at path; 0 and err: it is not there, or no plugin of Slurm's of
 * this machine's kind. */
slurm_series plugin_file_series(const char *path, struct berth_error *err);

/* Returns the same of the bytes of such a file; 0 and err. */
slurm_series plugin_bytes_series(const char *bytes, size_t size, struct berth_error *err);

/* Returns the series that stands in "slurm-wlm 22.05.8", as a program of Slurm's says with -V; 0:
 * it is none. */
slurm_series slurm_series_parse(const char *text);

#endif
