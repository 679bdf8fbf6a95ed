/* SPDX-License-Identifier: GPL-2.0-or-later */
/* known - the keys of berth.conf that a berthd knows, which may be an older one than this tree's
 * (tests/bench/compare). */
#ifndef BERTH_BENCH_KNOWN_H
#define BERTH_BENCH_KNOWN_H

#include <stdio.h>

/* Returns the option by which that berthd takes the keys of berth.conf that are for tests; NULL: it
 * takes them without. */
const char *known_option(const char *berthd);

/* Writes those of the lines "KEY = VALUE" whose key that berthd prints (--print-config); the others
 * are left out, because an unknown key is an error. Returns 0, or -1 and errno: it cannot be
 * asked. */
int known_lines(const char *berthd, const char *lines, FILE *out);

#endif
