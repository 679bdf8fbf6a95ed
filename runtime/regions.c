/* SPDX-License-Identifier: GPL-2.0-or-later */
/* regions - see regions.h
 *
 * A function is told by a number that is the same in each run and in each process: a hash of the
 * file's name it is in, and of where it is in that file, for objects are loaded at other addresses
 * each time. One thread counts at a time; another that comes meanwhile goes on without. */
#include "runtime/regions.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/said.h"

#define KNOWN 64 /* addresses whose number is remembered; a power of two */
#define TOLD 8   /* regions that are told apart in one record */

static struct {
    atomic_flag busy;
    struct {
        const void *function;
        uint64_t number;
    } known[KNOWN];
    uint64_t now, since_ns; /* the region that began last; 0: none has */
    struct {
        uint64_t number, ns;
    } told[TOLD];
    uint64_t all_ns, begun;
} regions;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* FNV-1a (Fowler, Noll, Vo). */
static uint64_t hash(uint64_t from, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;

    for (size_t i = 0; i < size; i++)
        from = (from ^ byte[i]) * 0x100000001b3ULL;
    return from;
}

/* The number of a function, which is looked for. */
struct search {
    uintptr_t function;
    uint64_t number;
};

static bool has(const struct dl_phdr_info *object, uintptr_t address)
{
    for (ElfW(Half) i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];

        if (part->p_type == PT_LOAD && address - object->dlpi_addr - part->p_vaddr < part->p_memsz)
            return true;
    }
    return false;
}

static int look_at(struct dl_phdr_info *object, size_t size, void *arg)
{
    struct search *search = arg;
    uint64_t at = search->function - object->dlpi_addr, number = 0xcbf29ce484222325ULL;
    const char *name = strrchr(object->dlpi_name, '/'); /* the program itself has none */

    (void)size;
    if (!has(object, search->function))
        return 0;
    name = name ? name + 1 : object->dlpi_name;
    number = hash(hash(number, name, strlen(name)), &at, sizeof(at));
    search->number = number ? number : 1;
    return 1;
}

/* dl_iterate_phdr() has a lock of its own: a constructor that waits for this thread, and has the
 * dynamic linker's, is not kept waiting (elf.c). */
static uint64_t number_of(const void *function)
{
    struct search search = {.function = (uintptr_t)function};

    dl_iterate_phdr(look_at, &search);
    return search.number;
}

static uint64_t known_number(const void *function)
{
    size_t at = ((uintptr_t)function >> 4) & (KNOWN - 1);

    if (regions.known[at].function != function) {
        regions.known[at].number = number_of(function);
        regions.known[at].function = function;
    }
    return regions.known[at].number;
}

/* The time goes to its region, or, where no room is left, to nobody: but it was spent. */
static void add(uint64_t number, uint64_t ns)
{
    regions.all_ns += ns;
    for (size_t i = 0; i < TOLD; i++) {
        if (regions.told[i].number == 0)
            regions.told[i].number = number;
        if (regions.told[i].number == number) {
            regions.told[i].ns += ns;
            return;
        }
    }
}

static bool take_counts(struct rt_region *record)
{
    size_t most = 0;
    bool any;

    if (atomic_flag_test_and_set_explicit(&regions.busy, memory_order_acquire))
        return false;
    for (size_t i = 1; i < TOLD; i++)
        if (regions.told[i].ns > regions.told[most].ns)
            most = i;
    *record = (struct rt_region){.version = RT_SAID_VERSION,
                                 .pid = (uint32_t)getpid(),
                                 .most = regions.told[most].number,
                                 .most_ns = regions.told[most].ns,
                                 .all_ns = regions.all_ns,
                                 .now = regions.now,
                                 .begun = regions.begun};
    memcpy(record->magic, RT_REGION_MAGIC, sizeof(record->magic));
    any = regions.begun > 0;
    memset(regions.told, 0, sizeof(regions.told));
    regions.all_ns = regions.begun = 0;
    atomic_flag_clear_explicit(&regions.busy, memory_order_release);
    return any;
}

static void forget(void)
{
    memset(regions.told, 0, sizeof(regions.told));
    regions.all_ns = regions.begun = regions.now = 0;
    atomic_flag_clear(&regions.busy);
}

static const struct said_more told = {.take = take_counts, .forget = forget};

bool regions_begin(const void *function)
{
    int before = errno;
    uint64_t at_ns = now_ns(), number;
    bool other;

    said_more(&told);
    if (atomic_flag_test_and_set_explicit(&regions.busy, memory_order_acquire))
        return false;
    number = known_number(function);
    other = number != regions.now;
    if (regions.now)
        add(regions.now, at_ns - regions.since_ns);
    regions.now = number;
    regions.since_ns = at_ns;
    regions.begun++;
    atomic_flag_clear_explicit(&regions.busy, memory_order_release);
    errno = before;
    return other;
}
