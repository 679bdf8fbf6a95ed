/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_object - the names that an executable or a library has in its file: what it imports, what it
 * needs, and where that is looked for. */
#ifndef BERTH_WIRE_OBJECT_H
#define BERTH_WIRE_OBJECT_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_OBJECT_HEAD_MAX 4096 /* of a file, its headers */
#define WIRE_OBJECT_SEGMENTS_MAX 64

struct wire_object {
    int fd;
    const char *path;
    Elf64_Phdr segment[WIRE_OBJECT_SEGMENTS_MAX];
    size_t segments;
    Elf64_Dyn *dynamic; /* malloc'd, as the strings are */
    size_t entries;
    char *strings;
    size_t length;
};

/* Reads an object's names from its open file; `path` is kept, and is canonical. Returns false where
 * it has none: what is linked statically, for one. The caller drops the object in any case. */
bool wire_object_read(struct wire_object *object, int fd, const char *path);
void wire_object_drop(struct wire_object *object);

/* Returns the value of the first entry of the dynamic section with that tag; 0: there is none. */
uint64_t wire_object_value(const struct wire_object *object, int64_t tag);

/* Returns the string at that offset of the names; "": there is none. */
const char *wire_object_string(const struct wire_object *object, uint64_t offset);

/* Reads up to `most` bytes of a file from an offset, with a NUL behind them. The caller frees it;
 * NULL: it cannot be read. */
char *wire_object_read_at(int fd, long offset, size_t most, size_t *got);

#endif
