/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rt - the step's page as a process of it sees it. */
#ifndef BERTH_RUNTIME_RT_H
#define BERTH_RUNTIME_RT_H

#include <stdbool.h>

#include "runtime/page.h"

/* Says whether the environment names a page that is to be looked at; known to all constructors. */
bool rt_named(void);

/* Returns the step's page where it has the feature turned on; NULL where there is none, where it is
 * not what it should be, or after a surprise. The page stays mapped. Keeps errno. */
const struct rt_page *rt_page(enum rt_feature feature);

/* Has the process leave everything to its program from now on, and says why in the page, once;
 * `detail` as enum rt_surprise has it. Keeps errno. */
void rt_surprise(enum rt_surprise surprise, long detail);

#endif
