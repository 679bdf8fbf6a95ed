/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_ring - reads the records that the kernel writes about an event, in the order of its ring
 * buffer.
 *
 * A record may lie across the end of the buffer; the kernel drops new records while the buffer is
 * full and says later how many. */
#ifndef BERTH_REUSE_PERF_RING_H
#define BERTH_REUSE_PERF_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

struct perf_ring {
    struct perf_event_mmap_page *page; /* the first page; NULL: not mapped */
    size_t bytes;                      /* of the mapping */
    uint64_t lost;                     /* records that were dropped, or made no sense */
};

/* Maps the buffer of an event, of 2^order pages of records. 0, or -1 with errno. */
int perf_ring_map(struct perf_ring *ring, int fd, unsigned order);
void perf_ring_unmap(struct perf_ring *ring); /* all zero is fine */

/* Takes the next record, of `room` bytes at the most (a longer one counts as lost), beginning with
 * its struct perf_event_header. Its size in bytes, or 0: there is none. */
size_t perf_ring_next(struct perf_ring *ring, void *record, size_t room);

#endif
