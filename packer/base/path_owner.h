/* SPDX-License-Identifier: GPL-2.0-or-later */
/* path_owner - whether nobody but root could put another file in the place of one of ours. */
#ifndef BERTH_BASE_PATH_OWNER_H
#define BERTH_BASE_PATH_OWNER_H

#include "packer/base/error.h"

/* Looks at each folder on the way to the path, as far as it is there, and at each link: each must
 * belong to root or to us, and nobody else may write the folder, or it has the sticky bit and what
 * lies in it on the way is root's or ours. Returns 0, or -1 and err, which names the folder. */
int path_owner_check(const char *path, struct berth_error *err);

#endif
