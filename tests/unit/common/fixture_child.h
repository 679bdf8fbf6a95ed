/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fixture_child - a process of this machine that the fixture's steps have beside their tasks, whose
 * numbers nobody has: what is given to threads can be read back from it. */
#ifndef BERTH_FIXTURE_CHILD_H
#define BERTH_FIXTURE_CHILD_H

#include <sys/types.h>

#include "tests/unit/common/fixture.h"

extern pid_t fixture_child;

/* Starts it. To be called before fixture_open: it would keep the journal open. */
void fixture_child_start(void);

/* It is of all steps from now on, after fixture_restart, too: /proc is in the fixture's folder, and
 * knows it alone. */
void fixture_child_add(struct fixture *f);

/* Ends both; as cmocka wants it. */
int fixture_child_teardown(void **state);

#endif
