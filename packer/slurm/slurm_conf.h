/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_conf - reads single values of Slurm's own configuration files, and of those that they
 * include. slurmctld is not asked: berthd must start where that is down, and its unit has no
 * network; berthctl doctor says what is wrong where nothing runs. */
#ifndef BERTH_SLURM_CONF_H
#define BERTH_SLURM_CONF_H

#include <stddef.h>

#include "packer/base/error.h"
#include "packer/conf/conf.h"

/* Returns the path of slurm.conf: that of berth.conf, of SLURM_CONF, or one of the usual. There may
 * be no such file. */
const char *slurm_conf_path(const struct conf *conf);

/* Calls visit for each line, of the file and those that it includes, that begins with the key;
 * NULL: for all lines. Blanks before it are left out. Returns 0, or -1 and err where one of the
 * files cannot be read. */
typedef void slurm_conf_line(const char *line, void *arg);
int slurm_conf_each(const char *path, const char *key, slurm_conf_line *visit, void *arg,
                    struct berth_error *err);

/* Copies the value of a key that stands anywhere in the line, before a '#', into value[size], which
 * stays as it is where it has none; a value of 0 says nothing. */
void slurm_conf_inside(const char *line, const char *key, char *value, size_t size);

/* Reads what the file, or one that it includes, says last of a key, up to a blank or '#', into
 * value[size], which stays as it is where none says anything. Returns 0, or -1 and err where one of
 * them cannot be read. */
int slurm_conf_value(const char *path, const char *key, char *value, size_t size,
                     struct berth_error *err);

/* The same of a key that may stand anywhere in a line, as in those of NodeName; a value of 0 says
 * nothing. */
int slurm_conf_anywhere(const char *path, const char *key, char *value, size_t size,
                        struct berth_error *err);

#endif
