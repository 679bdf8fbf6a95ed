/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hwmon_tree - made sensors of cores, as the kernel's coretemp shows them: a folder a package with
 * a figure of the package itself first, and then one of each core. */
#ifndef BERTH_TESTS_HWMON_TREE_H
#define BERTH_TESTS_HWMON_TREE_H

#include <stddef.h>

#define HWMON_TREE_T1 82
#define HWMON_TREE_T2 100

/* Makes so many packages of so many cores, CPU = core, below the folder: all of 40 degrees, of
 * which each package itself has 99. Core numbers begin at 0 in each package, and have a gap after
 * each second one, as Intel's. */
void hwmon_tree_make(const char *folder, size_t packages, size_t cores);

/* So hot is that core now, counted over all packages. */
void hwmon_tree_set(const char *folder, size_t cores, size_t core, double celsius);

#endif
