/* SPDX-License-Identifier: GPL-2.0-or-later */
/* count - see count.h
 *
 * Valgrind runs one thread of a process at a time, so nothing here is locked; other processes have
 * the area mapped, and what they change, too, is changed atomically. The area gets what was counted
 * at each system call and at the end of each batch: so it is complete before the process can
 * execute another program or be waited for, and one that is killed takes at most a batch along. */
#include "probe/trace/tool/count.h"

#include "probe/trace/area.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"

/* Valgrind's core has this for its own gdbserver; it is not in the headers for tools. */
extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt prot, Int fd,
                                                      Off64T offset);

ULong count_instructions;
Long count_left;

static struct tracer_area *area;
static struct cachesim *sim;
static struct dramsim *dram;       /* NULL: no memory is simulated */
static struct tracer_seen flushed; /* what the area has */
static ULong taken;                /* references of all batches so far, also of the present one */
static UInt phase;                 /* 0: the caches warm */
static Bool full;                  /* the limit was reached: nothing is counted any more */
static UInt core;                  /* whose private caches are used */

static __attribute__((noreturn)) void give_up(const HChar *path, const HChar *why)
{
    VG_(umsg)("berth: %s: %s\n", path, why);
    VG_(exit)(1);
}

static void *alloc_zeroed(SizeT size)
{
    return VG_(calloc)("berth.caches", 1, size);
}

ULong count_begin(const HChar *path)
{
    Int fd = VG_(fd_open)(path, VKI_O_RDWR, 0);
    SysRes mapped;

    if (fd < 0)
        give_up(path, "cannot be opened");
    mapped = VG_(am_shared_mmap_file_float_valgrind)(sizeof(*area), VKI_PROT_READ | VKI_PROT_WRITE,
                                                     fd, 0);
    VG_(close)(fd);
    if (sr_isError(mapped))
        give_up(path, "cannot be mapped");
    area = (struct tracer_area *)sr_Res(mapped);
    if (area->version != TRACER_AREA_VERSION || area->size != sizeof(*area))
        give_up(path, "made by another version of berthctl");
    sim = cachesim_new(&area->geometry, alloc_zeroed);
    if (!sim)
        give_up(path, "no memory for the caches");
    if (area->dram.channels) {
        dram = dramsim_new(&area->dram, alloc_zeroed);
        if (!dram)
            give_up(path, "no memory for the memory's banks");
        cachesim_memory(sim, dram);
    }
    phase = __atomic_load_n(&area->claimed, __ATOMIC_RELAXED) >=
            __atomic_load_n(&area->skip, __ATOMIC_RELAXED);
    __atomic_add_fetch(&area->processes, 1, __ATOMIC_RELAXED);
    return area->geometry.llc.bytes / area->geometry.line_bytes;
}

Bool count_stores(void)
{
    return dram != NULL;
}

const struct cachesim_recent *count_recent(void)
{
    return cachesim_recent(sim);
}

/* What this process has counted. */
static struct tracer_seen seen_so_far(void)
{
    struct tracer_seen seen = {.instructions = count_instructions, .counts = *cachesim_counts(sim)};

    seen.counts.references = taken - (ULong)count_left;
    if (dram)
        seen.dram = *dramsim_counts(dram);
    return seen;
}

/* Adds to the area what it does not have yet. */
static void add_to_area(void)
{
    struct tracer_seen seen = seen_so_far();
    const ULong *now = (const ULong *)&seen;
    ULong *before = (ULong *)&flushed, *total = (ULong *)&area->total[phase];

    for (SizeT i = 0; i < TRACER_SEEN_WORDS; i++)
        if (now[i] != before[i]) {
            __atomic_add_fetch(&total[i], now[i] - before[i], __ATOMIC_RELAXED);
            before[i] = now[i];
        }
}

/* Takes on at most a batch of references, not across the end of the warm-up. Returns False at the
 * limit. */
static Bool claim(void)
{
    uint64_t claimed = __atomic_load_n(&area->claimed, __ATOMIC_RELAXED), skip, room;

    do {
        skip = __atomic_load_n(&area->skip, __ATOMIC_RELAXED);
        room = claimed < area->limit ? area->limit - claimed : 0;
        if (claimed < skip && skip - claimed < room)
            room = skip - claimed;
        if (room > TRACER_AREA_BATCH)
            room = TRACER_AREA_BATCH;
    } while (room > 0 && !__atomic_compare_exchange_n(&area->claimed, &claimed, claimed + room,
                                                      False, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    phase = claimed >= skip;
    taken += room;
    count_left += (Long)room;
    return room > 0;
}

void count_batch(void)
{
    if (full)
        return;
    add_to_area();
    while (count_left < 0)
        if (!claim()) {
            full = True;
            count_left = 1LL << 62;
            __atomic_store_n(&area->exhausted, 1, __ATOMIC_RELEASE);
            return;
        }
}

void count_flush(void)
{
    if (full)
        return;
    add_to_area();
    if (count_left > 0) {
        __atomic_sub_fetch(&area->claimed, (ULong)count_left, __ATOMIC_RELAXED);
        taken -= (ULong)count_left;
        count_left = 0;
    }
}

void count_forked(void)
{
    flushed = seen_so_far();
    __atomic_add_fetch(&area->processes, 1, __ATOMIC_RELAXED);
}

static void refer(HWord address, HWord size, Bool store)
{
    if (dram)
        cachesim_access(sim, address, (UInt)size, store);
    else
        cachesim_reference(sim, address, (UInt)size);
}

/* A reference across the end of a line counts as several, of which the code has counted one. */
void count_reference(HWord address, HWord size)
{
    ULong before = cachesim_counts(sim)->references;

    refer(address, size & ~COUNT_STORE, (size & COUNT_STORE) != 0);
    count_left -= (Long)(cachesim_counts(sim)->references - before - 1);
}

void count_guarded_reference(HWord address, HWord size)
{
    count_left--;
    count_reference(address, size);
}

void count_thread(UInt tid)
{
    if (tid % CACHESIM_CORES_MAX == core)
        return;
    core = tid % CACHESIM_CORES_MAX;
    cachesim_core(sim, core);
}
