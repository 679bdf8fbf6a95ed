/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_move - is it worth while that a program's pages follow it to another NUMA node?
 *
 * Of each second that the program runs with its pages on the far node, a share is lost: what it
 * waits for memory lasts `ratio` times as long as it would with near pages, and it cannot read more
 * than the link between the nodes lets through. Moving costs processor time once, and delays the
 * accesses to the pages that are under way; both are counted as the time of a copy by one core. The
 * gain grows while the pages arrive, from nothing to all of it. Blagodurov 2010 moves no memory (it
 * leaves that to future work at its end): this is an extension. Pure arithmetic: no I/O, no clock,
 * no globals. */
#ifndef BERTH_MODELS_ONLINE_PAGE_MOVE_H
#define BERTH_MODELS_ONLINE_PAGE_MOVE_H

#include <stdbool.h>

/* Bytes that a core copies in a second when the kernel migrates pages for it: page by page, their
 * tables included. */
#define PAGE_MOVE_COPY_BYTES_S 1e9
/* Bytes that a core alone reads in a second from the memory of its own node, where it was not
 * measured. */
#define PAGE_MOVE_CORE_BYTES_S 8e9

/* NAN: not known, where a field allows it. */
struct page_move {
    double bytes;        /* that would be moved, >= 0 */
    double rate;         /* bytes per second at which they are moved, > 0 */
    double cores;        /* that the program keeps busy, > 0 */
    double traffic;      /* bytes per second between the program and memory, all cores; or NAN */
    double stalled;      /* the share of its time in which it waits for memory; or NAN */
    double core_bytes_s; /* what a core alone reads from its node's memory; or NAN */
    double ratio;        /* time of an access, far / near, >= 1; or NAN */
    double link_bytes_s; /* what the link between the nodes lets through; or NAN */
};

struct page_move_price {
    bool known;          /* gain and break_even_s are: ratio is, and traffic or stalled */
    double moving_s;     /* how long it takes */
    double lost;         /* core-seconds */
    double gain;         /* cores: what near pages save of each second; NAN not known */
    double break_even_s; /* from the begin of the move; INFINITY never, NAN not known */
};

/* Returns what moving costs and gains. */
struct page_move_price page_move_price(const struct page_move *move);

/* Returns the core-seconds that moving wins within so many seconds, less its cost; negative for a
 * loss, NAN where the gain is not known. */
double page_move_worth(const struct page_move_price *price, double horizon_s);

#endif
