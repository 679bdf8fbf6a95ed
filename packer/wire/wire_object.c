/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_object - see wire_object.h */
#include "packer/wire/wire_object.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STRINGS_MAX (4u << 20)  /* of DT_STRTAB */
#define DYNAMIC_MAX (64u << 10) /* of PT_DYNAMIC */

char *wire_object_read_at(int fd, long offset, size_t most, size_t *got)
{
    char *text = malloc(most + 1);
    ssize_t n;

    *got = 0;
    while (text && *got < most &&
           (n = pread(fd, text + *got, most - *got, (off_t)offset + (off_t)*got)) > 0)
        *got += (size_t)n;
    if (text)
        text[*got] = '\0';
    return text;
}

/* Returns where in the file the address is; -1: nowhere. */
static off_t offset_of(const struct wire_object *object, uint64_t address)
{
    for (size_t i = 0; i < object->segments; i++) {
        const Elf64_Phdr *segment = &object->segment[i];

        if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
            address - segment->p_vaddr < segment->p_filesz)
            return (off_t)(segment->p_offset + (address - segment->p_vaddr));
    }
    return -1;
}

static bool is_read(const Elf64_Ehdr *header, size_t length)
{
    return length >= sizeof(*header) && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_phentsize == sizeof(Elf64_Phdr) &&
           header->e_phnum <= WIRE_OBJECT_SEGMENTS_MAX && header->e_phoff <= length &&
           header->e_phnum * sizeof(Elf64_Phdr) <= length - header->e_phoff;
}

static bool read_segments(struct wire_object *object)
{
    size_t length;
    char *head = wire_object_read_at(object->fd, 0, WIRE_OBJECT_HEAD_MAX, &length);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)head;
    bool read = header && is_read(header, length);

    if (read) {
        object->segments = header->e_phnum;
        memcpy(object->segment, head + header->e_phoff, object->segments * sizeof(Elf64_Phdr));
    }
    free(head);
    return read;
}

static void read_dynamic(struct wire_object *object)
{
    for (size_t i = 0; i < object->segments && !object->dynamic; i++) {
        const Elf64_Phdr *segment = &object->segment[i];
        size_t got;

        if (segment->p_type != PT_DYNAMIC || segment->p_filesz > DYNAMIC_MAX)
            continue;
        object->dynamic = (Elf64_Dyn *)(void *)wire_object_read_at(
            object->fd, (long)segment->p_offset, segment->p_filesz, &got);
        object->entries = object->dynamic ? got / sizeof(*object->dynamic) : 0;
    }
}

uint64_t wire_object_value(const struct wire_object *object, int64_t tag)
{
    for (size_t i = 0; i < object->entries; i++)
        if (object->dynamic[i].d_tag == tag)
            return object->dynamic[i].d_un.d_val;
    return 0;
}

const char *wire_object_string(const struct wire_object *object, uint64_t offset)
{
    return offset < object->length ? object->strings + offset : "";
}

void wire_object_drop(struct wire_object *object)
{
    free(object->dynamic);
    free(object->strings);
}

bool wire_object_read(struct wire_object *object, int fd, const char *path)
{
    uint64_t size;
    off_t offset;

    memset(object, 0, sizeof(*object));
    object->fd = fd;
    object->path = path;
    if (!read_segments(object))
        return false;
    read_dynamic(object);
    size = wire_object_value(object, DT_STRSZ);
    offset = offset_of(object, wire_object_value(object, DT_STRTAB));
    if (size == 0 || size > STRINGS_MAX || offset < 0)
        return false;
    object->strings = wire_object_read_at(fd, (long)offset, size, &object->length);
    return object->strings && object->length == size;
}
