/* SPDX-License-Identifier: GPL-2.0-or-later */
/* regions - which of a program's parallel regions takes its time (RT_REGIONS): the phases of a
 * program of OpenMP (Wang 2015, section 8.2). */
#ifndef BERTH_RUNTIME_REGIONS_H
#define BERTH_RUNTIME_REGIONS_H

#include <stdbool.h>

#include "runtime/page.h"

/* A region begins that is not within another: the time until the next one begins is its own, with
 * what the program does between the two. `function`: what its compiler made of its body. Returns
 * whether it is another than the last one. What was counted is said with the process's next record
 * (said.h). Keeps errno, never waits, and may be called by any thread. */
bool regions_begin(const void *function);

#endif
