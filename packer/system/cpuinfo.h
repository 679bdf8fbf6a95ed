/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpuinfo - reads the lines of /proc/cpuinfo. */
#ifndef BERTH_SYSTEM_CPUINFO_H
#define BERTH_SYSTEM_CPUINFO_H

#include <stddef.h>

/* Fills in the value of a field ("model name\t: X") of the first CPU that has it, with its blanks
 * normalised and what is not printable left out, cut off at `size`. "" where there is none. */
void cpuinfo_field(const char *cpuinfo, const char *name, char *value, size_t size);

/* Fills in the same of the first CPU, whether it has it or not. */
void cpuinfo_first(const char *cpuinfo, const char *name, char *value, size_t size);

#endif
