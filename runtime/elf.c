/* SPDX-License-Identifier: GPL-2.0-or-later */
/* elf - see elf.h.
 *
 * dl_iterate_phdr() has a lock of its own, which keeps the list of objects as it is and is held for
 * moments only. Of a symbol with versions that without one counts, as for dlsym(). */
#include "runtime/elf.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HIDDEN 0x8000 /* of a version: not the default */

/* Of one object; what it has not got is NULL. */
struct tables {
    uintptr_t base;
    const ElfW(Sym) * symbol;
    const char *names;
    const uint32_t *gnu_hash;
    const uint32_t *hash;
    const ElfW(Half) * version;
};

struct search {
    const char *name;
    uint32_t hash;
    const void *address; /* NULL: in all objects */
    void *function;
    size_t objects;
};

static bool has(const struct dl_phdr_info *info, const void *address)
{
    uintptr_t at = (uintptr_t)address - info->dlpi_addr;

    for (size_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && at >= info->dlpi_phdr[i].p_vaddr &&
            at - info->dlpi_phdr[i].p_vaddr < info->dlpi_phdr[i].p_memsz)
            return true;
    return false;
}

/* The linker has made addresses of most objects' offsets, but not of all. */
static const void *table_at(const struct tables *tables, uintptr_t value)
{
    return (const void *)(value < tables->base ? tables->base + value : value);
}

static void take_entry(struct tables *tables, const ElfW(Dyn) * entry)
{
    const void *table = table_at(tables, entry->d_un.d_ptr);

    switch (entry->d_tag) {
    case DT_SYMTAB:
        tables->symbol = table;
        break;
    case DT_STRTAB:
        tables->names = table;
        break;
    case DT_GNU_HASH:
        tables->gnu_hash = table;
        break;
    case DT_HASH:
        tables->hash = table;
        break;
    case DT_VERSYM:
        tables->version = table;
        break;
    default:
        break;
    }
}

static struct tables tables_of(const struct dl_phdr_info *info)
{
    struct tables tables = {.base = info->dlpi_addr};
    const ElfW(Dyn) * entry;

    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        entry = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++)
            take_entry(&tables, entry);
    }
    return tables;
}

static bool is(const struct tables *tables, uint32_t i, const char *name)
{
    const ElfW(Sym) *symbol = &tables->symbol[i];

    return symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
           ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
           !(tables->version && tables->version[i] & HIDDEN) &&
           strcmp(tables->names + symbol->st_name, name) == 0;
}

/* Of the symbols of a bucket the last has a hash that is odd. */
static const ElfW(Sym) * look_up_gnu(const struct tables *tables, const struct search *search)
{
    const uint32_t *table = tables->gnu_hash, first = table[1];
    const uint32_t *buckets = (const void *)((const ElfW(Addr) *)(table + 4) + table[2]);
    const uint32_t *hashes = buckets + table[0];
    uint32_t i = table[0] ? buckets[search->hash % table[0]] : 0;

    if (i < first)
        return NULL;
    for (;; i++) {
        if ((hashes[i - first] ^ search->hash) >> 1 == 0 && is(tables, i, search->name))
            return &tables->symbol[i];
        if (hashes[i - first] & 1)
            return NULL;
    }
}

/* The other table of hashes is looked at for the number of symbols only: few objects have no more.
 */
static const ElfW(Sym) * look_up(const struct tables *tables, const struct search *search)
{
    if (!tables->symbol || !tables->names)
        return NULL;
    if (tables->gnu_hash)
        return look_up_gnu(tables, search);
    for (uint32_t i = 1; tables->hash && i < tables->hash[1]; i++)
        if (is(tables, i, search->name))
            return &tables->symbol[i];
    return NULL;
}

static int look_in(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct search *search = arg;
    const ElfW(Sym) * symbol;
    struct tables tables;

    (void)size;
    if (search->address ? !has(info, search->address) : has(info, (const void *)look_in))
        return 0;
    tables = tables_of(info);
    symbol = look_up(&tables, search);
    if (symbol && !search->function)
        search->function = (void *)(tables.base + symbol->st_value);
    search->objects += symbol != NULL;
    return search->address != NULL;
}

static struct search search_for(const char *name, const void *address)
{
    struct search search = {.name = name, .hash = 5381, .address = address};

    for (const char *c = name; *c; c++)
        search.hash = search.hash * 33 + (unsigned char)*c;
    dl_iterate_phdr(look_in, &search);
    return search;
}

void *elf_find(const char *name, size_t *objects)
{
    struct search search = search_for(name, NULL);

    *objects = search.objects;
    return search.function;
}

void *elf_find_in(const void *address, const char *name)
{
    return search_for(name, address).function;
}
