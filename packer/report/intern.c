/* SPDX-License-Identifier: GPL-2.0-or-later */
/* intern - see intern.h: an open-addressed hash table (FNV-1a) over blocks of text. */
#include "packer/report/intern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 65536

struct block {
    struct block *next;
    size_t used, size;
    char text[];
};

struct slot {
    const char *text; /* NULL: free */
    uint64_t hash;
};

struct report_intern {
    struct block *block;
    struct slot *slot;
    size_t slots, used; /* slots: a power of two */
};

struct report_intern *report_intern_new(void)
{
    struct report_intern *words = calloc(1, sizeof(*words));

    if (!words)
        return NULL;
    words->slots = 1024;
    words->slot = calloc(words->slots, sizeof(*words->slot));
    if (!words->slot) {
        free(words);
        return NULL;
    }
    return words;
}

void report_intern_free(struct report_intern *words)
{
    if (!words)
        return;
    while (words->block) {
        struct block *next = words->block->next;

        free(words->block);
        words->block = next;
    }
    free(words->slot);
    free(words);
}

static struct slot *find(struct slot *slot, size_t slots, uint64_t hash, const char *text)
{
    size_t i = hash & (slots - 1);

    while (slot[i].text && (slot[i].hash != hash || strcmp(slot[i].text, text) != 0))
        i = (i + 1) & (slots - 1);
    return &slot[i];
}

static int grow(struct report_intern *words)
{
    size_t slots = words->slots * 2;
    struct slot *slot = calloc(slots, sizeof(*slot));

    if (!slot)
        return -1;
    for (size_t i = 0; i < words->slots; i++)
        if (words->slot[i].text)
            *find(slot, slots, words->slot[i].hash, words->slot[i].text) = words->slot[i];
    free(words->slot);
    words->slot = slot;
    words->slots = slots;
    return 0;
}

static char *copy(struct report_intern *words, const char *text, size_t size)
{
    struct block *block = words->block;

    if (!block || block->size - block->used < size) {
        size_t room = size > BLOCK ? size : BLOCK;

        block = malloc(sizeof(*block) + room);
        if (!block)
            return NULL;
        *block = (struct block){words->block, 0, room};
        words->block = block;
    }
    block->used += size;
    return memcpy(block->text + block->used - size, text, size);
}

const char *report_intern_keep(struct report_intern *words, const char *text)
{
    uint64_t hash = 14695981039346656037u;
    struct slot *slot;
    const char *end = text;

    if (!*text)
        return "";
    for (; *end; end++)
        hash = (hash ^ (unsigned char)*end) * 1099511628211u;
    slot = find(words->slot, words->slots, hash, text);
    if (slot->text)
        return slot->text;
    if (words->used * 2 >= words->slots) {
        if (grow(words) < 0)
            return NULL;
        slot = find(words->slot, words->slots, hash, text);
    }
    text = copy(words, text, (size_t)(end - text) + 1);
    if (!text)
        return NULL;
    *slot = (struct slot){text, hash};
    words->used++;
    return text;
}
