/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recorded - machines that others recorded, which are beside this tree and no part of it: hwloc's
 * XML files in ../shared, or in the folder that BERTH_SHARED names. A test that needs them is
 * skipped where they are not. */
#ifndef BERTH_TESTS_RECORDED_H
#define BERTH_TESTS_RECORDED_H

#include <stdbool.h>
#include <stddef.h>

/* Writes where a file of that folder is; false: there is none. */
bool recorded_path(const char *name, char path[512]);

/* Calls `visit` for each XML file that has I/O objects; unpacks archives of them into a folder that
 * is gone afterwards. Returns how many there are. */
size_t recorded_topologies(void (*visit)(const char *path, void *arg), void *arg);

#endif
