/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dramsim - what the requests of a last-level cache find in the memory's row buffers: DraMon-T's
 * simulator (Wang 2015, section 4.5).
 *
 * A request's line has a channel, a rank, a bank and a row: eight lines of a channel follow each
 * other, then comes the next channel; a row is 8 KiB of a channel. Each bank keeps a row open until
 * another is opened there, or until `auto_close` requests have come to the channel since. The
 * frames of pages are not known here: a hash of a page's number stands for its frame, as a kernel
 * deals them evenly. Pure arithmetic, no I/O, and nothing of libc, for it is part of the valgrind
 * tool. */
#ifndef BERTH_PROBE_TRACE_DRAMSIM_H
#define BERTH_PROBE_TRACE_DRAMSIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DRAMSIM_BRDS 64        /* bank reuse distances that are told apart */
#define DRAMSIM_BANKS_MAX 4096 /* of all channels together */

/* All whole numbers >= 1; channels 0: nothing is simulated. */
struct dramsim_geometry {
    uint32_t channels, ranks; /* ranks of a channel */
    uint32_t banks;           /* of a rank */
    uint32_t auto_close;      /* requests of a channel; 0: a row is never closed by itself */
    uint32_t line_bytes;      /* a power of two */
};

/* All 64-bit counts, so that they can be added and subtracted one by one. */
struct dramsim_counts {
    uint64_t requests, writes;
    uint64_t hits, misses, conflicts;   /* the row was open, none was, another one was */
    uint64_t write_to_read, rank_turns; /* after the request before on the channel */
    uint64_t reused; /* requests to a bank that the core has asked before, by their distance: */
    uint64_t brd[DRAMSIM_BRDS + 1]; /* [d] d of its requests ago; [0] farther */
    /* Requests after one of another core, and where that one went: to the same row, to another row
     * of the bank, to another channel. */
    uint64_t pairs, same_row, same_bank, other_channel;
};

#define DRAMSIM_WORDS (sizeof(struct dramsim_counts) / sizeof(uint64_t))

struct dramsim;

/* Makes a memory whose rows are all closed. alloc gives zeroed memory, or NULL, in which case, and
 * where the geometry is not possible, this gives NULL. Nothing is freed. */
struct dramsim *dramsim_new(const struct dramsim_geometry *geometry, void *(*alloc)(size_t));

/* Simulates a core's request for a line (address / line_bytes), read or written. */
void dramsim_request(struct dramsim *sim, unsigned core, uint64_t line, bool write);

/* Returns what was counted since the beginning; valid as long as sim. */
const struct dramsim_counts *dramsim_counts(const struct dramsim *sim);

/* Subtracts each count: later - earlier. */
void dramsim_difference(const struct dramsim_counts *later, const struct dramsim_counts *earlier,
                        struct dramsim_counts *difference);

#endif
