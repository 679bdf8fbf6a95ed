/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/reuse/perf_ring.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int perf_ring_map(struct perf_ring *ring, int fd, unsigned order)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = page + (page << order);
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    *ring = (struct perf_ring){0};
    if (at == MAP_FAILED)
        return -1;
    ring->page = at;
    ring->bytes = bytes;
    return 0;
}

void perf_ring_unmap(struct perf_ring *ring)
{
    if (ring->page)
        munmap(ring->page, ring->bytes);
    *ring = (struct perf_ring){0};
}

/* Copy `size` bytes from the place `at`, which counts on past the end of the buffer. */
static void copy(const struct perf_ring *ring, uint64_t at, void *to, size_t size)
{
    const char *data = (const char *)ring->page + ring->page->data_offset;
    size_t length = ring->page->data_size, begin = at % length;
    size_t first = size < length - begin ? size : length - begin;

    memcpy(to, data + begin, first);
    memcpy((char *)to + first, data, size - first);
}

/* A record that says how many others are missing: header, id, number. */
static uint64_t missing(const struct perf_ring *ring, uint64_t at, size_t size)
{
    uint64_t said[3];

    if (size < sizeof(said))
        return 1;
    copy(ring, at, said, sizeof(said));
    return said[2];
}

size_t perf_ring_next(struct perf_ring *ring, void *record, size_t room)
{
    uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = ring->page->data_tail;
    struct perf_event_header header = {0};
    size_t size = 0;

    while (tail != head && !size) {
        uint64_t there = head - tail;

        if (there >= sizeof(header))
            copy(ring, tail, &header, sizeof(header));
        if (there > ring->page->data_size || header.size < sizeof(header) || header.size > there) {
            ring->lost++;
            tail = head; /* the rest cannot be told apart */
            break;
        }
        if (header.type == PERF_RECORD_LOST) {
            ring->lost += missing(ring, tail, header.size);
        } else if (header.size > room) {
            ring->lost++;
        } else {
            size = header.size;
            copy(ring, tail, record, size);
        }
        tail += header.size;
    }
    __atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
    return size;
}
