/* SPDX-License-Identifier: GPL-2.0-or-later */
/* origin - see origin.h */
#include "packer/memory/origin.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"

struct run {
    pid_t pid;
    int node;
    uint64_t start, end;
};

struct memory_origin {
    atomic_uint owners;
    size_t n, room;
    struct run *run; /* [n] ascending by process and address; they do not overlap */
};

struct memory_origin *memory_origin_new(void)
{
    struct memory_origin *origin = calloc(1, sizeof(*origin));

    if (origin)
        atomic_init(&origin->owners, 1);
    return origin;
}

struct memory_origin *memory_origin_hold(struct memory_origin *origin)
{
    atomic_fetch_add(&origin->owners, 1);
    return origin;
}

void memory_origin_release(struct memory_origin *origin)
{
    if (!origin || atomic_fetch_sub(&origin->owners, 1) != 1)
        return;
    free(origin->run);
    free(origin);
}

/* Returns the first run that ends behind that address. */
static size_t find(const struct memory_origin *origin, pid_t pid, uint64_t address)
{
    size_t low = 0, high = origin->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct run *run = &origin->run[middle];

        if (run->pid < pid || (run->pid == pid && run->end <= address))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool covers(const struct memory_origin *origin, size_t i, pid_t pid, uint64_t address)
{
    return i < origin->n && origin->run[i].pid == pid && origin->run[i].start <= address;
}

static bool goes_on(const struct run *run, pid_t pid, uint64_t address, int node)
{
    return run->pid == pid && run->node == node && run->end == address;
}

int memory_origin_add(struct memory_origin *origin, pid_t pid, uint64_t address, size_t bytes,
                      int node)
{
    size_t at = find(origin, pid, address);

    if (covers(origin, at, pid, address))
        return 0;
    if (at > 0 && goes_on(&origin->run[at - 1], pid, address, node)) {
        origin->run[at - 1].end += bytes;
        return 0;
    }
    if (origin->n == MEMORY_ORIGIN_RUNS) {
        errno = E2BIG;
        return -1;
    }
    if (array_grow(&origin->run, &origin->room, origin->n + 1, sizeof(*origin->run)) < 0)
        return -1;
    memmove(&origin->run[at + 1], &origin->run[at], (origin->n - at) * sizeof(*origin->run));
    origin->run[at] = (struct run){pid, node, address, address + bytes};
    origin->n++;
    return 0;
}

int memory_origin_node(const struct memory_origin *origin, pid_t pid, uint64_t address)
{
    size_t at = find(origin, pid, address);

    return covers(origin, at, pid, address) ? origin->run[at].node : -1;
}
