/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_list - reads and writes lists of nodes as Slurm does: "n[1-4,7],login". */
#ifndef BERTH_REPORT_NODE_LIST_H
#define BERTH_REPORT_NODE_LIST_H

#include <stddef.h>

#include "packer/base/error.h"

/* Makes the names of such a list, 65536 at most, in its order; node_list_free() frees them. 0, or
 * -1 and err. */
int node_list_expand(const char *list, char ***names, size_t *n, struct berth_error *err);
void node_list_free(char **names, size_t n);

/* Returns the shortest list of n names, which it sorts and makes unique in place; the caller frees
 * it. NULL: no memory. */
char *node_list_compress(const char **names, size_t *n);

#endif
