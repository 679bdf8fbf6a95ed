/* SPDX-License-Identifier: GPL-2.0-or-later */
/* objects - finds the function that a program would have called, had the library not stood before
 * it. */
#ifndef BERTH_RUNTIME_OBJECTS_H
#define BERTH_RUNTIME_OBJECTS_H

#include "runtime/symbols.h"

/* Returns the function that a call of `symbol` out of the object at `place` would have reached, or
 * NULL when nobody has it. `place`: any address in what calls: the outlined function of a parallel
 * region, or its ident_t. What has the function is not unloaded from then on.
 * This and the next keep errno, and may be called by any thread at any time. */
void *object_called(const void *place, enum rt_symbol symbol);

/* Returns the function `symbol` of the run-time that has `function`, which object_called found;
 * NULL when it has none. */
void *object_beside(const void *function, enum rt_symbol symbol);

#endif
