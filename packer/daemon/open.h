/* SPDX-License-Identifier: GPL-2.0-or-later */
/* open - the packer is built up and taken down. */
#ifndef BERTH_DAEMON_OPEN_H
#define BERTH_DAEMON_OPEN_H

#include "packer/steps/packer.h"

/* Opens everything that the configuration names. 0, or -1 and err with nothing open; packer_close
 * undoes what was done. */
int packer_open(struct packer *packer, const struct conf *conf, struct berth_error *err);
void packer_close(struct packer *packer);

/* Checks, and leaves everything as it is, what would keep berthd from starting with that
 * configuration on this machine: folders that others can write to, a topology that cannot be read,
 * a way to enforce that is not there. 0, or -1 and err. */
int packer_check(const struct conf *conf, struct berth_error *err);

#endif
