/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines - see lines.h. A domain has chunks of pages, which the kernel puts on the node of the
 * thread that touches them first, and cuts pieces off the last one. */
#include "runtime/lines.h"

#include <stdint.h>
#include <sys/mman.h>

#include "runtime/futex.h"
#include "runtime/nodes.h"

#define CHUNK_BYTES 65536

struct piece {
    struct piece *next;
};

struct pool {
    _Alignas(LINE_BYTES) struct latch latch;
    char *from, *end; /* of the last chunk: what nobody has had */
    struct piece *given[LINES_ALL];
};

#define BYTES(kind, lines) [LINES_##kind] = LINES_BYTES_##kind,
static const size_t bytes_of[LINES_ALL] = {LINES_KINDS(BYTES)};
#undef BYTES

static _Atomic(struct pool *) pools;

void *lines_map(size_t bytes)
{
    int before = errno;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory != MAP_FAILED && madvise(memory, bytes, MADV_WIPEONFORK) < 0) {
        munmap(memory, bytes);
        memory = MAP_FAILED;
    }
    errno = before;
    return memory == MAP_FAILED ? NULL : memory;
}

/* Two threads that come first may both map them. */
static struct pool *find_pool(unsigned domain)
{
    struct pool *all = atomic_load(&pools), *made;

    if (!all) {
        made = lines_map(NODES_MAX * sizeof(*made));
        if (made && atomic_compare_exchange_strong(&pools, &all, made))
            all = made;
        else if (made)
            munmap(made, NODES_MAX * sizeof(*made));
    }
    return all ? &all[domain % NODES_MAX] : NULL;
}

static void *cut(struct pool *pool, size_t bytes)
{
    char *piece = pool->from;

    if ((size_t)(pool->end - piece) < bytes) {
        piece = lines_map(CHUNK_BYTES);
        if (!piece)
            return NULL;
        pool->end = piece + CHUNK_BYTES;
    }
    pool->from = piece + bytes;
    return piece;
}

void *lines_take(unsigned domain, enum lines_kind kind)
{
    struct pool *pool = find_pool(domain);
    struct piece *piece;

    if (!pool)
        return NULL;
    latch_take(&pool->latch);
    piece = pool->given[kind];
    if (piece)
        pool->given[kind] = piece->next;
    else
        piece = cut(pool, bytes_of[kind]);
    latch_give(&pool->latch);
    if (piece)
        piece->next = NULL;
    return piece;
}

void lines_give(unsigned domain, void *memory, enum lines_kind kind)
{
    struct pool *pool = find_pool(domain);
    struct piece *piece = memory;

    if (!pool)
        return;
    latch_take(&pool->latch);
    piece->next = pool->given[kind];
    pool->given[kind] = piece;
    latch_give(&pool->latch);
}
