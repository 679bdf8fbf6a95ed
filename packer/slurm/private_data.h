/* SPDX-License-Identifier: GPL-2.0-or-later */
/* private_data - whether users are told anything of what others do on the node: Slurm's
 * PrivateData, or the site's own word in berth.conf. */
#ifndef BERTH_SLURM_PRIVATE_DATA_H
#define BERTH_SLURM_PRIVATE_DATA_H

#include "packer/conf/conf.h"

/* Says whether a slurm.conf, or a file that it includes, hides jobs, nodes or usage from users.
 * Returns 1 or 0; -1 and err where a file cannot be read. */
int private_data_of(const char *path, struct berth_error *err);

/* Decides by private_data of berth.conf. What slurm.conf says is not known where it cannot be read:
 * users are told nothing of others then, and the log says why. */
bool private_data_hides(const struct conf *conf);

#endif
