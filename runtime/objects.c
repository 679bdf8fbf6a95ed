/* SPDX-License-Identifier: GPL-2.0-or-later */
/* objects - see objects.h.
 *
 * A process can have several OpenMP run-times: each wheel of Python brings its own, opened with
 * RTLD_LOCAL. A region that went to another than the rest of its code would count its threads
 * wrongly. So the answer is by the object that calls. Who that is, cannot be told from the return
 * address, because -O2 makes the call a jump; the outlined function, which is handed over, is in
 * it.
 *
 * Where one object only that is loaded has the function it is that one. Else it is looked for where
 * the dynamic linker does: in what is global, then in the object and what it needs; then, where it
 * was linked with less than it needs, in all that is loaded. What was found first stays, as a
 * symbol stays bound, also when something global comes later. Where nobody has it (a program may
 * have asked for it by a weak symbol, and was told by us that it is there) the usual run-times are
 * loaded.
 *
 * The dynamic linker is asked as seldom as can be: a constructor of what is just opened by dlopen()
 * may have a parallel region, or wait for a thread with one, and the lock of the linker is taken
 * meanwhile. It is asked by who begins the first region of a run-time that was opened, in order to
 * pin it, and where there are several by who begins the first one of an object.
 *
 * An address means another object when the first was unloaded: the linker's count of unloadings
 * says whether that can be, and the object is looked up again when it has changed. The program
 * itself is never unloaded: for it nothing is asked. Nor are the run-times, which are pinned
 * (RTLD_NODELETE), as LLVM's is by itself; unloading one whose threads wait in it ends a program.
 *
 * Rows are only added, and seen when they are whole: nobody waits, and a fork at any moment leaves
 * the child at worst a row that is never used. Two threads may fill two rows for one object, alike.
 * With all rows taken everything is looked up each time. */
#include "runtime/objects.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/cancel.h"
#include "runtime/elf.h"

#define OBJECTS 64

#define RT_SYMBOL(name) #name,
static const char *const symbol_name[SYMBOLS] = {RT_SYMBOLS(RT_SYMBOL)};
#undef RT_SYMBOL

struct range {
    uintptr_t begin, end;
};

/* Where an address is. */
struct place {
    const void *address;
    bool found;
    bool program; /* the main program, or not yet asked past it */
    struct range range;
    uint64_t identity; /* of the object: its name and where its headers are */
    unsigned long long unloaded;
    char name[PATH_MAX];
};

struct object {
    _Atomic bool whole;
    bool stays; /* is never unloaded: the program, and what is pinned */
    struct range range;
    uint64_t identity;
    _Atomic unsigned long long unloaded; /* when it was last seen there */
    _Atomic(void *) function[SYMBOLS];
};

static struct object objects[OBJECTS];
static _Atomic unsigned taken;

static uint64_t identity_of(const struct dl_phdr_info *info)
{
    uint64_t hash = (uintptr_t)info->dlpi_phdr ^ 0xcbf29ce484222325; /* FNV-1a */

    for (const char *c = info->dlpi_name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
    return hash;
}

/* From where to where the object is loaded. */
static struct range range_of(const struct dl_phdr_info *info)
{
    struct range range = {UINTPTR_MAX, 0};

    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + part->p_vaddr, to = from + part->p_memsz;

        if (part->p_type != PT_LOAD)
            continue;
        range.begin = from < range.begin ? from : range.begin;
        range.end = to > range.end ? to : range.end;
    }
    return range;
}

static bool has(struct range range, const void *address)
{
    return (uintptr_t)address >= range.begin && (uintptr_t)address < range.end;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct place *place = arg;

    (void)size;
    place->unloaded = info->dlpi_subs;
    place->range = range_of(info);
    if (!has(place->range, place->address)) {
        place->program = false; /* that is the first */
        return 0;
    }
    place->found = true;
    place->identity = identity_of(info);
    strncpy(place->name, info->dlpi_name, sizeof(place->name) - 1);
    return 1;
}

static void find_place(const void *address, struct place *place)
{
    memset(place, 0, offsetof(struct place, name) + 1);
    place->address = address;
    place->program = true;
    dl_iterate_phdr(look_at, place);
    place->name[sizeof(place->name) - 1] = '\0';
}

static int look_at_count(struct dl_phdr_info *info, size_t size, void *unloaded)
{
    (void)size;
    *(unsigned long long *)unloaded = info->dlpi_subs;
    return 1;
}

static unsigned long long count_unloaded(void)
{
    unsigned long long unloaded = 0;

    dl_iterate_phdr(look_at_count, &unloaded);
    return unloaded;
}

/* Is the object, whose addresses they are, still the one that the row was filled for? */
static bool still_there(struct object *object, const void *address)
{
    struct place place;

    if (object->stays || count_unloaded() == atomic_load(&object->unloaded))
        return true;
    find_place(address, &place);
    if (!place.found || place.identity != object->identity)
        return false;
    atomic_store(&object->unloaded, place.unloaded);
    return true;
}

static struct object *find_row(const void *address)
{
    unsigned n = atomic_load(&taken);

    for (struct object *row = objects; row < objects + (n < OBJECTS ? n : OBJECTS); row++)
        if (atomic_load_explicit(&row->whole, memory_order_acquire) && has(row->range, address) &&
            still_there(row, address))
            return row;
    return NULL;
}

static struct object *add_row(const struct place *place, bool pinned)
{
    unsigned n = atomic_load(&taken);
    struct object *row;

    do
        if (n >= OBJECTS)
            return NULL;
    while (!atomic_compare_exchange_weak(&taken, &n, n + 1));
    row = &objects[n];
    row->stays = pinned || place->program;
    row->range = place->range;
    row->identity = place->identity;
    atomic_store(&row->unloaded, place->unloaded);
    atomic_store_explicit(&row->whole, true, memory_order_release);
    return row;
}

/* The object with the name, and what it needs. */
static void *find_in(const char *name, const char *symbol)
{
    void *handle = name[0] ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : NULL, *found;

    if (!handle)
        return NULL;
    found = dlsym(handle, symbol);
    dlclose(handle);
    return found;
}

struct nth {
    size_t left;
    char name[PATH_MAX];
};

static int take_nth(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct nth *nth = arg;

    (void)size;
    if (has(range_of(info), objects) || nth->left-- > 0)
        return 0;
    strncpy(nth->name, info->dlpi_name, sizeof(nth->name) - 1);
    return 1;
}

/* Whatever is loaded but ourselves, in its order. (Nothing may be looked for while dl_iterate_phdr
 * has its lock.)
 */
static void *find_anywhere(const char *symbol)
{
    struct nth nth = {0};
    void *found = NULL;

    for (size_t i = 0; !found; i++) {
        nth.left = i;
        if (!dl_iterate_phdr(take_nth, &nth))
            break;
        found = find_in(nth.name, symbol);
    }
    return found;
}

static void *find_on_disk(const char *symbol)
{
    static const char *const runtime[] = {"libgomp.so.1", "libomp.so.5", "libiomp5.so"};
    void *handle, *found = NULL;

    for (size_t i = 0; i < sizeof(runtime) / sizeof(runtime[0]) && !found; i++) {
        handle = dlopen(runtime[i], RTLD_LAZY | RTLD_LOCAL);
        found = handle ? dlsym(handle, symbol) : NULL;
        if (handle && !found)
            dlclose(handle);
    }
    return found;
}

/* Adds the row of a run-time, which will not be unloaded. */
static void add_runtime(const void *function)
{
    struct place place;

    find_place(function, &place);
    if (place.found)
        add_row(&place, true);
}

static void pin(const void *function)
{
    struct object *row = find_row(function);
    Dl_info info;
    void *handle;

    if ((row && row->stays) || !dladdr(function, &info) || !info.dli_fname)
        return;
    handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (handle)
        dlclose(handle);
    if (handle)
        add_runtime(function);
}

/* Run-times that the program begins with stay: nobody has to pin them later. What another
 * constructor has opened is not among what dlsym() finds, unless all may see it. */
__attribute__((constructor)) static void begin(void)
{
    static const enum rt_symbol starts[] = {SYMBOL_GOMP_parallel, SYMBOL___kmpc_fork_call};
    size_t objects_with;

    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        void *found = elf_find(symbol_name[starts[i]], &objects_with);

        if (found && dlsym(RTLD_NEXT, symbol_name[starts[i]]) == found && !find_row(found))
            add_runtime(found);
    }
}

/* Of the run-time that other calls out of the object have reached. */
static void *find_as_before(const struct place *place, const char *symbol)
{
    struct object *row = find_row(place->address);
    void *before = NULL;

    for (size_t i = 0; row && i < SYMBOLS && !before; i++)
        before = atomic_load(&row->function[i]);
    return before ? elf_find_in(before, symbol) : NULL;
}

/* What a call out of the object would have reached. */
static void *look_up_called(const struct place *place, const char *symbol)
{
    size_t objects_with = 0;
    void *found = elf_find(symbol, &objects_with);

    if (objects_with > 1)
        found = find_as_before(place, symbol);
    if (!found)
        found = dlsym(RTLD_NEXT, symbol);
    if (!found)
        found = find_in(place->name, symbol);
    if (!found)
        found = find_anywhere(symbol);
    if (!found)
        found = find_on_disk(symbol);
    if (found)
        pin(found);
    return found;
}

/* What the object, which is pinned, has itself, or of what it needs. */
static void *look_up_beside(const struct place *place, const char *symbol)
{
    void *found = elf_find_in(place->address, symbol);

    if (found)
        return found;
    return place->program ? dlsym(RTLD_DEFAULT, symbol) : find_in(place->name, symbol);
}

typedef void *look_up(const struct place *place, const char *symbol);

/* What was found first is remembered for the object at the address, and returned. */
static void *remember(const void *address, enum rt_symbol symbol, look_up *how)
{
    int before = errno, state = cancel_begin();
    struct place place;
    struct object *row;
    void *found, *other = NULL;

    find_place(address, &place);
    found = how(&place, symbol_name[symbol]);
    row = find_row(address);
    if (!row && place.found)
        row = add_row(&place, how == look_up_beside);
    if (row && found && !atomic_compare_exchange_strong(&row->function[symbol], &other, found))
        found = other;
    cancel_end(state);
    errno = before;
    return found;
}

static void *find_symbol(const void *address, enum rt_symbol symbol, look_up *how)
{
    struct object *row = find_row(address);
    void *found = row ? atomic_load(&row->function[symbol]) : NULL;

    return found ? found : remember(address, symbol, how);
}

void *object_called(const void *place, enum rt_symbol symbol)
{
    return find_symbol(place, symbol, look_up_called);
}

void *object_beside(const void *function, enum rt_symbol symbol)
{
    return find_symbol(function, symbol, look_up_beside);
}
