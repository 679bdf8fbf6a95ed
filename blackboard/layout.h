/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout - the form of the blackboard's file, and the one way in which a section is written and
 * read.
 *
 * The file is a page with the header and a page for each section, so that no two sections share a
 * line of a cache. A section is a sequence lock: its counter is odd while it is written, and a
 * reader that has seen the same even number before and after has read what was written at one time.
 * What it guards is words that are loaded and stored atomically, though in no order: a reader and
 * the writer may meet in them, which would be undefined for plain memory (C11, 5.1.2.4). The order
 * is made by the fences (Boehm 2012, "Can seqlocks get along with programming language memory
 * models?"), which are instructions on machines that reorder (dmb on aarch64) and none on x86.
 *
 * A counter of 32 bits comes round after 2^31 writes, eight months at 100 Hz: a reader that is
 * stopped in the middle for exactly so long may be told what is torn.
 *
 * The file is of the machine's own byte order, and of the same form for programs of 32 bits. It is
 * never cut or written anew: a new writer makes a new file and renames it over the old one, which
 * lives as long as somebody has it mapped. */
#ifndef BERTH_BLACKBOARD_LAYOUT_H
#define BERTH_BLACKBOARD_LAYOUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "blackboard/berth_blackboard.h"

#define BLACKBOARD_PATH RUNSTATEDIR "/berth/blackboard"
#define BLACKBOARD_MAGIC "berthrcr"
#define BLACKBOARD_PAGE 4096
#define BLACKBOARD_SECTIONS_MAX 4096
#define BLACKBOARD_BOOT_ID 40
#define BLACKBOARD_ATTEMPTS 100

/* Written once, before the file has its name, but for `ended`. */
struct blackboard_header {
    char magic[8];
    uint32_t version, page_bytes, sections, reserved;
    char boot_id[BLACKBOARD_BOOT_ID]; /* of /proc/sys/kernel/random: clocks are of that boot */
    _Atomic uint32_t ended;           /* the writer has said so */
};

#define BLACKBOARD_WORDS (sizeof(struct berth_blackboard_section) / sizeof(uint32_t))

struct blackboard_page {
    _Atomic uint32_t sequence;
    _Atomic uint32_t word[BLACKBOARD_WORDS];
};

_Static_assert(offsetof(struct berth_blackboard_section, name) == 0, "names are the first words");
_Static_assert(sizeof(struct blackboard_header) <= BLACKBOARD_PAGE, "a page");
_Static_assert(sizeof(struct blackboard_page) <= BLACKBOARD_PAGE, "a page");
_Static_assert(sizeof(struct berth_blackboard_section) == 160, "the same on all machines");
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "atomic between processes");

/* Returns the page of a section of a blackboard that begins at `base`. */
static inline struct blackboard_page *blackboard_page(void *base, unsigned number)
{
    return (struct blackboard_page *)((char *)base + (size_t)BLACKBOARD_PAGE * (number + 1));
}

/* Writes a section. It has one writer, which is the caller. */
static inline void blackboard_put(struct blackboard_page *page,
                                  const struct berth_blackboard_section *section)
{
    uint32_t sequence = atomic_load_explicit(&page->sequence, memory_order_relaxed);
    uint32_t word[BLACKBOARD_WORDS];

    memcpy(word, section, sizeof(word));
    atomic_store_explicit(&page->sequence, sequence + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release); /* whoever sees a word sees that it is odd */
    for (size_t i = 0; i < BLACKBOARD_WORDS; i++)
        atomic_store_explicit(&page->word[i], word[i], memory_order_relaxed);
    atomic_store_explicit(&page->sequence, sequence + 2, memory_order_release);
}

/* Reads a section once. Returns false where it was being written. */
static inline bool blackboard_get(const struct blackboard_page *page,
                                  struct berth_blackboard_section *section)
{
    uint32_t sequence = atomic_load_explicit(&page->sequence, memory_order_acquire);
    uint32_t word[BLACKBOARD_WORDS];

    for (size_t i = 0; i < BLACKBOARD_WORDS; i++)
        word[i] = atomic_load_explicit(&page->word[i], memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire); /* the words, and only then the counter again */
    if (sequence & 1 || sequence != atomic_load_explicit(&page->sequence, memory_order_relaxed))
        return false;
    memcpy(section, word, sizeof(*section));
    return true;
}

/* Reads a section's name, which is the same in each writing and stands there since before the file
 * had its own name: so it needs no counter, and a section whose writer was killed in the middle has
 * one, too. */
static inline void blackboard_get_name(const struct blackboard_page *page,
                                       char name[BERTH_BLACKBOARD_NAME_SIZE])
{
    uint32_t word[BERTH_BLACKBOARD_NAME_SIZE / sizeof(uint32_t)];

    for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++)
        word[i] = atomic_load_explicit(&page->word[i], memory_order_relaxed);
    memcpy(name, word, sizeof(word));
    name[BERTH_BLACKBOARD_NAME_SIZE - 1] = '\0';
}

#endif
