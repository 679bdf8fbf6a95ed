/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_nodes - lists of nodes as Slurm writes them: "n[1-4,7],login". */
#ifndef BERTH_REPORT_NODE_LIST_H
#define BERTH_REPORT_NODE_LIST_H

#include <stddef.h>

#include "packer/base/error.h"

/* The names of such a list, in its order; the caller frees each and the array. At most 65536. 0, or
 * -1 and err. */
int report_nodes_expand(const char *list, char ***names, size_t *n, struct berth_error *err);
void report_nodes_free(char **names, size_t n);

/* The shortest list of n names (sorted and made unique in place); the caller frees it. NULL: no
 * memory. */
char *report_nodes_compress(const char **names, size_t *n);

#endif
