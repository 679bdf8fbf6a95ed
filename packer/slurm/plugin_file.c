/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugin_file - see plugin_file.h. The format is elf(5)'s; every offset in the file is checked. */
#include "packer/slurm/plugin_file.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/file.h"

#define PLUGIN_MAX (16u << 20)
#define NATIVE_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)

struct object {
    const char *bytes;
    size_t size;
    ElfW(Ehdr) head;
};

/* Copies a struct out of the file. False where it lies outside. */
static bool copy_bytes(const struct object *object, uint64_t at, void *out, size_t size)
{
    if (at > object->size || size > object->size - at)
        return false;
    memcpy(out, object->bytes + at, size);
    return true;
}

static bool take_section(const struct object *object, uint64_t i, ElfW(Shdr) * section)
{
    return i < object->head.e_shnum && object->head.e_shentsize == sizeof(*section) &&
           copy_bytes(object, object->head.e_shoff + i * sizeof(*section), section,
                      sizeof(*section));
}

/* Is the text at that offset this name, with its NUL? */
static bool is_named(const struct object *object, uint64_t at, const char *name)
{
    size_t length = strlen(name) + 1;

    return at <= object->size && length <= object->size - at &&
           memcmp(object->bytes + at, name, length) == 0;
}

/* Finds a symbol's place in the file, by the section that it is in. */
static bool find_place(const struct object *object, const ElfW(Sym) * symbol, uint64_t *at)
{
    ElfW(Shdr) section;

    if (!take_section(object, symbol->st_shndx, &section) || section.sh_type == SHT_NOBITS ||
        symbol->st_value < section.sh_addr || symbol->st_value - section.sh_addr > section.sh_size)
        return false;
    *at = section.sh_offset + (symbol->st_value - section.sh_addr);
    return true;
}

/* Finds a symbol by its name in a table of symbols. */
static bool find_symbol(const struct object *object, const ElfW(Shdr) * table, const char *name,
                        uint64_t *at)
{
    ElfW(Shdr) strings;
    ElfW(Sym) symbol;

    if (!take_section(object, table->sh_link, &strings))
        return false;
    for (uint64_t i = 0; i < table->sh_size / sizeof(symbol); i++) {
        if (!copy_bytes(object, table->sh_offset + i * sizeof(symbol), &symbol, sizeof(symbol)))
            return false;
        if (is_named(object, (uint64_t)strings.sh_offset + symbol.st_name, name))
            return find_place(object, &symbol, at);
    }
    return false;
}

static bool symbol_at(const struct object *object, const char *name, uint64_t *at)
{
    ElfW(Shdr) section;

    for (uint64_t i = 0; take_section(object, i, &section); i++)
        if (section.sh_type == SHT_DYNSYM)
            return find_symbol(object, &section, name, at);
    return false;
}

slurm_series plugin_bytes_series(const char *bytes, size_t size, struct berth_error *err)
{
    struct object object = {.bytes = bytes, .size = size};
    uint32_t version;
    uint64_t at;

    if (!copy_bytes(&object, 0, &object.head, sizeof(object.head)) ||
        memcmp(object.head.e_ident, ELFMAG, SELFMAG) != 0 ||
        object.head.e_ident[EI_CLASS] != NATIVE_CLASS)
        return berth_error_set(err, "is no shared object of this machine"), 0;
    if (!symbol_at(&object, "plugin_version", &at) ||
        !copy_bytes(&object, at, &version, sizeof(version)) || version >> 16 == 0 ||
        version >> 24 != 0)
        return berth_error_set(err, "is no plugin of Slurm's"), 0;
    return (version >> 16) * 100 + (version >> 8 & 0xff);
}

slurm_series plugin_file_series(const char *path, struct berth_error *err)
{
    size_t size;
    char *bytes = file_read(path, PLUGIN_MAX, &size, err);
    slurm_series series = bytes ? plugin_bytes_series(bytes, size, err) : 0;

    free(bytes);
    if (!series)
        berth_error_before(err, "%.256s: ", path);
    return series;
}

slurm_series slurm_series_parse(const char *text)
{
    const char *number = strncmp(text, "slurm", 5) == 0 ? strchr(text, ' ') : NULL;
    char *end;
    unsigned long major, minor;

    if (!number)
        return 0;
    major = strtoul(number, &end, 10);
    if (*end != '.' || major == 0 || major > 99)
        return 0;
    minor = strtoul(end + 1, &end, 10);
    return *end == '.' && minor <= 99 ? (slurm_series)(major * 100 + minor) : 0;
}
