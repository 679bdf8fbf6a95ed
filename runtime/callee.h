/* SPDX-License-Identifier: GPL-2.0-or-later */
/* callee - the function that a hook goes on with, where it cannot go on without. */
#ifndef BERTH_RUNTIME_CALLEE_H
#define BERTH_RUNTIME_CALLEE_H

#include "runtime/symbols.h"

/* Returns what object_called(place, symbol) does; where that is nothing the process ends with a
 * message, as the dynamic linker would have ended it. */
void *callee_must(const void *place, enum rt_symbol symbol);

/* Returns the same for the address that a call returns to, which is remembered for the calling
 * thread: a loop asks for each of its chunks. `anew`: look it up also where it is remembered, as
 * the start of a loop should. */
void *callee_of(const void *returns_to, enum rt_symbol symbol, int anew);

/* Has all threads forget what they remember: a region begins, and with it perhaps the code of a
 * library that stands where another one stood. */
void callee_forget(void);

#endif
