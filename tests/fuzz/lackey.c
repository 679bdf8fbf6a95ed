/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target of valgrind's trace: however the bytes are cut into reads, the same records come. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "packer/lackey.h"

static const char *const seeds[] = {
    "==1== Lackey\nI  04000b70,3\n S 1ffefff958,8\n L 1ffefff958,8\n M 0421c7e0,4\n",
    "I  0023C790,2\nI  ffffffffffffffff,1\n L 0,16384\n", "I  04000b70,3", NULL};

struct seen {
    uint64_t records, sum, garbage;
};

/* Read all of it, `step` bytes at a time. */
static struct seen read_all(struct lackey *lackey, const uint8_t *data, size_t size, size_t step)
{
    struct lackey_record record;
    struct seen seen = {0};

    lackey_init(lackey);
    while (size > 0) {
        size_t room, part = size < step ? size : step;
        char *space = lackey_space(lackey, &room);

        fuzz_assert(room > 0);
        part = part < room ? part : room;
        memcpy(space, data, part);
        lackey_fed(lackey, part);
        data += part;
        size -= part;
        while (lackey_next(lackey, &record)) {
            fuzz_assert(record.size >= 1 && record.size <= LACKEY_SIZE_MAX);
            fuzz_assert(record.address + record.size - 1 >= record.address);
            seen.records++;
            seen.sum = seen.sum * 31 + record.address + record.size + (uint64_t)record.kind;
        }
    }
    seen.garbage = lackey->garbage;
    return seen;
}

static void one(const uint8_t *data, size_t size)
{
    struct lackey *lackey = malloc(sizeof(*lackey));
    struct seen whole, parts;
    struct lackey_record record;

    fuzz_assert(lackey);
    lackey_parse((const char *)data, size, &record);
    whole = read_all(lackey, data, size, SIZE_MAX);
    parts = read_all(lackey, data, size, 1 + size / 7);
    fuzz_assert(whole.records == parts.records && whole.sum == parts.sum);
    fuzz_assert(whole.garbage == parts.garbage);
    free(lackey);
}

const struct fuzz_target fuzz_lackey = {"lackey", one, seeds};
