/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines - memory of a domain, in whole cache lines, for what its threads share.
 *
 * It is never given back to the system: who comes late to an object that has ended finds memory of
 * the same kind there. In a child of fork all of it is 0 and belongs to nobody, because the threads
 * that it is about are not there. */
#ifndef BERTH_RUNTIME_LINES_H
#define BERTH_RUNTIME_LINES_H

#include <stddef.h>

#define LINE_BYTES 128 /* two of 64, which processors fetch together */

/* What pieces are for, and how many lines each has. A piece is only ever for one thing. */
#define LINES_KINDS(X)                                                                             \
    X(BARRIER, 3)                                                                                  \
    X(SLOT, 1)                                                                                     \
    X(COND, 3)                                                                                     \
    X(QUEUE, 1)

#define LINES_KIND(kind, lines) LINES_##kind,
enum lines_kind { LINES_KINDS(LINES_KIND) LINES_ALL };
#undef LINES_KIND
#define LINES_BYTES(kind, lines) LINES_BYTES_##kind = (lines)*LINE_BYTES,
enum { LINES_KINDS(LINES_BYTES) };
#undef LINES_BYTES

/* Returns new memory, all 0, that is 0 again in a child of fork; NULL: there is none, or the kernel
 * cannot (before Linux 4.14). Never freed. */
void *lines_map(size_t bytes);

/* Returns a piece on the memory node of the domain, if the caller is there: all 0, or as
 * lines_give() got it. NULL: there is no memory. */
void *lines_take(unsigned domain, enum lines_kind kind);

/* Takes a piece back, for the next one who wants such a one of that domain. The first 8 bytes of it
 * are overwritten until then, and 0 when it is taken. */
void lines_give(unsigned domain, void *piece, enum lines_kind kind);

#endif
