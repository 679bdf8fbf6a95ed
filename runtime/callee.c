/* SPDX-License-Identifier: GPL-2.0-or-later */
/* callee - see callee.h.
 *
 * To look a function up asks the dynamic linker whether a library was unloaded, which takes its
 * lock. A thread that comes for a chunk does not: an address that it called from before, with no
 * region begun since and no loop, is still in the same library. */
#include "runtime/callee.h"

#include <stdatomic.h>
#include <unistd.h>

#include "runtime/objects.h"
#include "runtime/rt.h"

#define LASTS 8 /* that a thread remembers */

static _Atomic unsigned regions;

/* By the symbol, of which those of a loop and those of tasks follow each other. */
static __thread struct last {
    const void *returns_to;
    void *function;
    unsigned region;
    enum rt_symbol symbol;
} lasts[LASTS] __attribute__((tls_model("initial-exec")));

void *callee_must(const void *place, enum rt_symbol symbol)
{
    static const char text[] = "libberth_rt: symbol lookup error: nobody has what was called\n";
    void *found = object_called(place, symbol);

    if (found)
        return found;
    rt_surprise(RT_NO_RUNTIME, symbol);
    if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
        _exit(127);
    _exit(127);
}

void *callee_of(const void *returns_to, enum rt_symbol symbol, int anew)
{
    unsigned region = atomic_load_explicit(&regions, memory_order_acquire);
    struct last *last = &lasts[symbol % LASTS];

    if (anew || last->returns_to != returns_to || last->symbol != symbol ||
        last->region != region) {
        last->function = callee_must(returns_to, symbol);
        last->returns_to = returns_to;
        last->symbol = symbol;
        last->region = region;
    }
    return last->function;
}

void callee_forget(void)
{
    atomic_fetch_add_explicit(&regions, 1, memory_order_release);
}
