/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/memory/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/hand/ask.h"
#include "packer/memory/ranges.h"
#include "packer/memory/room.h"
#include "packer/system/capabilities.h"
#include "packer/system/process_look.h"

#define PRESENT ((uint64_t)1 << 63)  /* in /proc/PID/pagemap */
#define ENTRIES 8192                 /* of pagemap, read in one go */
#define CHUNK 1024                   /* pages */
#define LOOK_UP_BYTES (256ULL << 20) /* of nothing, until it is asked whether to go on */

enum end { GO_ON, GONE, STOP }; /* the process has ended; the job has */

/* The job under way. */
struct work {
    const struct memory_system *system;
    const struct memory_job *job;
    memory_pace *pace;
    void *arg;
    struct memory_progress *progress;
    size_t page_bytes, chunks;
    bool hidden;                          /* there were pages that move_pages does not see */
    const struct memory_process *process; /* in hand */
    int pagemap;
    uint64_t first;  /* page that entry[0] is of */
    size_t nentries; /* that are read */
    uint64_t entry[ENTRIES];
    size_t n; /* pages in hand */
    void *page[CHUNK];
    int node[CHUNK], status[CHUNK];
};

static long ask_hand(void *arg, pid_t pid, size_t count, void *const *page, const int *node,
                     int *status, int flags)
{
    const struct hand_page_order order = {
        .pid = pid, .n = count, .page = page, .node = node, .all = flags == MPOL_MF_MOVE_ALL};

    return hand_ask_pages(arg, &order, status, NULL);
}

struct memory_system memory_system(const struct rootfs *root, struct hand_link *hand)
{
    return (struct memory_system){
        .root = root, .move_pages = ask_hand, .arg = hand, .limit_s = MEMORY_LIMIT_S};
}

static enum end stop(struct work *work, const char *why)
{
    snprintf(work->progress->why, sizeof(work->progress->why), "%.159s", why);
    return STOP;
}

/* move_pages(2) has failed as a whole. EINVAL is a process that is about to end. */
static enum end refused(struct work *work)
{
    char why[160];

    if (errno == ESRCH || errno == EINVAL)
        return GONE;
    snprintf(why, sizeof(why), "move_pages: %s",
             capabilities_why(CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_SYS_NICE), errno));
    return stop(work, errno == ENOMEM ? "the nodes it moved to have no free memory" : why);
}

/* ---- nodes ---- */

/* Where such memory of the process in hand belongs. */
static const struct cpus *targets(const struct work *work, const struct memory_range *range)
{
    return range->shared ? &work->job->to : &work->process->nodes;
}

static bool leaves(const struct work *work, const struct memory_range *range, int node)
{
    return node >= 0 && node < CPUS_MAX && cpus_has(&work->job->from, (size_t)node) &&
           !cpus_has(targets(work, range), (size_t)node);
}

/* The node that follows on `node`: the first on the first, and so on; where there are more to go to
 * or fewer, chunk by chunk another one. */
static int target(const struct work *work, const struct memory_range *range, int node)
{
    const struct cpus *to = targets(work, range);
    size_t rank = 0, count = cpus_count(to), found;

    cpus_foreach(other, &work->job->from) rank += (int)other < node;
    if (cpus_count(&work->job->from) != count)
        rank += work->chunks;
    found = cpus_next(to, 0);
    for (rank %= count; rank > 0; rank--)
        found = cpus_next(to, found + 1);
    return (int)found;
}

static int dealt(const struct cpus *to, uint64_t address)
{
    size_t turn = address / MEMORY_DEAL_BYTES % cpus_count(to), node = cpus_next(to, 0);

    for (; turn > 0; turn--)
        node = cpus_next(to, node + 1);
    return (int)node;
}

/* Where the page that is at this address and on that node shall be; -1: it stays. */
static int wanted(const struct work *work, const struct memory_range *range, const void *page,
                  int node)
{
    uint64_t address = (uint64_t)(uintptr_t)page;
    int there;

    if (work->job->way == MEMORY_FOLLOW)
        return leaves(work, range, node) ? target(work, range, node) : -1;
    if (node < 0)
        return -1;
    there = work->job->way == MEMORY_DEAL
                ? dealt(&work->job->to, address)
                : memory_origin_node(work->job->origin, work->process->pid, work->process->started,
                                     address);
    return there == node ? -1 : there;
}

/* Returns the run of neighbours on one node that begins with the i-th page in hand; raises i behind
 * them. */
static struct memory_run run_of(const struct work *work, const struct memory_range *range,
                                size_t *i)
{
    struct memory_run run = {.pid = work->process->pid,
                             .started = work->process->started,
                             .node = work->status[*i],
                             .start = (uint64_t)(uintptr_t)work->page[*i]};

    for (run.end = run.start; *i < work->n && work->status[*i] == run.node &&
                              (uint64_t)(uintptr_t)work->page[*i] == run.end;
         ++*i)
        run.end += range->page_bytes;
    return run;
}

/* Before pages are dealt it is noted where they are. */
static enum end note(struct work *work, const struct memory_range *range)
{
    char why[160];

    for (size_t i = 0; work->job->way == MEMORY_DEAL && i < work->n;) {
        struct memory_run run = run_of(work, range, &i);

        if (run.node < 0 || memory_origin_add(work->job->origin, &run) == 0)
            continue;
        snprintf(why, sizeof(why), "where its pages were cannot be noted: %s", strerror(errno));
        return stop(work, errno == E2BIG ? "its pages lie too scattered to be put back" : why);
    }
    return GO_ON;
}

/* ---- pages ---- */

/* 1: there is a page at this address, 0 there is none, -1 the memory is gone. */
static int is_present(struct work *work, uint64_t address)
{
    uint64_t page = address / work->page_bytes;
    ssize_t got;

    if (page < work->first || page >= work->first + work->nentries) {
        got = pread(work->pagemap, work->entry, sizeof(work->entry),
                    (off_t)(page * sizeof(*work->entry)));
        work->first = page;
        work->nentries = got > 0 ? (size_t)got / sizeof(*work->entry) : 0;
        if (work->nentries == 0)
            return -1;
    }
    return work->entry[page - work->first] & PRESENT ? 1 : 0;
}

/* Is it time to move what was collected so far, or at least to look up? Chunks end on multiples of
 * their size, so that no transparent huge page is of two: it moves as a whole. */
static bool is_chunk(const struct work *work, const struct memory_range *range, uint64_t address,
                     double wanted)
{
    size_t most = MEMORY_CHUNK_BYTES / range->page_bytes;

    if (work->n == 0)
        return address % LOOK_UP_BYTES == 0;
    return work->n >= most || work->n == CHUNK || address % MEMORY_CHUNK_BYTES == 0 ||
           (double)(work->n * range->page_bytes) >= wanted;
}

/* Take the next pages of the range in hand, from *address on; not many more bytes than wanted. */
static enum end collect(struct work *work, const struct memory_range *range, double wanted,
                        uint64_t *address)
{
    work->n = 0;
    do {
        int present = is_present(work, *address);

        if (present < 0)
            return GONE;
        if (present)
            work->page[work->n++] = (void *)(uintptr_t)*address; /* of another process */
        *address += range->page_bytes;
    } while (*address < range->end && !is_chunk(work, range, *address, wanted));
    return GO_ON;
}

/* Keep those in hand that still have to leave their node; the others that were to leave have moved,
 * or are gone. With first set nothing has been tried. */
static enum end sort_out(struct work *work, const struct memory_range *range, bool first)
{
    size_t kept = 0;
    int node;

    if (work->n && work->system->move_pages(work->system->arg, work->process->pid, work->n,
                                            work->page, NULL, work->status, 0) < 0)
        return refused(work);
    if (first && note(work, range) == STOP)
        return STOP;
    for (size_t i = 0; i < work->n; i++) {
        node = wanted(work, range, work->page[i], work->status[i]);
        if (node >= 0) {
            work->page[kept] = work->page[i];
            work->node[kept++] = node;
        } else if (!first && work->status[i] >= 0) {
            work->progress->moved += (double)range->page_bytes;
        } else if (first && work->status[i] < 0) {
            work->hidden = true;
        }
    }
    work->n = kept;
    return GO_ON;
}

static size_t going_to(const struct work *work, size_t node)
{
    size_t n = 0;

    for (size_t i = 0; i < work->n; i++)
        n += work->node[i] == (int)node;
    return n;
}

/* Is there room where the pages in hand shall be? */
static enum end check_chunk(struct work *work, const struct memory_range *range)
{
    struct cpus nodes = {0};
    char why[160];

    for (size_t i = 0; work->job->way != MEMORY_FOLLOW && i < work->n; i++)
        cpus_add(&nodes, (size_t)work->node[i]);
    cpus_foreach(node, &nodes)
    {
        double room = memory_room(work->system->root, node);

        if (room < 0 || room >= (double)(going_to(work, node) * range->page_bytes))
            continue;
        snprintf(why, sizeof(why), "memory node %zu has room for %.1f MiB only", node,
                 room / (1 << 20));
        return stop(work, why);
    }
    return GO_ON;
}

/* Move the pages in hand. What the call says of each page is not asked for: where they are
 * afterwards counts. */
static enum end move_chunk(struct work *work, const struct memory_range *range)
{
    enum end end = sort_out(work, range, true);

    if (end == GO_ON)
        end = check_chunk(work, range);
    work->chunks++;
    for (int try = 0; end == GO_ON && work->n && try < MEMORY_TRIES; try++) {
        if (work->system->move_pages(work->system->arg, work->process->pid, work->n, work->page,
                                     work->node, work->status,
                                     range->all ? MPOL_MF_MOVE_ALL : MPOL_MF_MOVE) < 0)
            return refused(work);
        end = sort_out(work, range, false);
    }
    if (end == GO_ON)
        work->progress->failed += (double)(work->n * range->page_bytes);
    return end;
}

static double left(const struct memory_progress *progress, double until)
{
    return until - progress->moved - progress->failed;
}

/* The rest of a range is left alone when as much as its map named has been tried. */
static enum end move_range(struct work *work, const struct memory_range *range)
{
    const struct memory_progress *progress = work->progress;
    double until = progress->moved + progress->failed + range->bytes;
    uint64_t address = range->start;
    enum end end = GO_ON;

    while (end == GO_ON && address < range->end && left(progress, until) > 0) {
        if (!work->pace(work->arg, progress, 0))
            return STOP;
        end = collect(work, range, left(progress, until), &address);
        if (end == GO_ON)
            end = move_chunk(work, range);
    }
    return end;
}

/* ---- processes ---- */

static char *read_proc(const struct work *work, pid_t pid, const char *file)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
    return rootfs_read(work->system->root, path);
}

/* Is it still the process that was meant? */
static bool is_meant(const struct work *work, const struct memory_process *process)
{
    uint64_t started = process_started(work->system->root, process->pid);

    if (!started)
        return false;
    return process->started ? process_same(started, process->started)
                            : process_began_by(started, work->job->queued_s);
}

/* What the process has to move; none where it is gone. -1: out of memory. */
static int find_ranges(const struct work *work, const struct memory_process *process,
                       struct memory_ranges *ranges)
{
    struct cpus leave, leave_shared;
    char *maps = NULL, *numa_maps = NULL;
    int rc = 0;

    leave = leave_shared = work->job->from;
    if (work->job->way == MEMORY_FOLLOW) {
        cpus_andnot(&leave, &process->nodes);
        cpus_andnot(&leave_shared, &work->job->to);
    }
    if (is_meant(work, process)) {
        numa_maps = read_proc(work, process->pid, "numa_maps");
        maps = read_proc(work, process->pid, "maps");
    }
    if (maps && numa_maps)
        rc = memory_ranges_add(ranges, maps, numa_maps, work->page_bytes, &leave, &leave_shared);
    free(numa_maps);
    free(maps);
    return rc;
}

static enum end move_process(struct work *work, const struct memory_process *process,
                             const struct memory_ranges *ranges)
{
    enum end end = GO_ON;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)process->pid);
    work->process = process;
    work->nentries = 0;
    work->pagemap = rootfs_openat(work->system->root, path, O_RDONLY);
    if (work->pagemap < 0)
        return GONE;
    if (!is_meant(work, process))
        end = GONE;
    for (size_t i = 0; end == GO_ON && i < ranges->n; i++)
        end = move_range(work, &ranges->range[i]);
    close(work->pagemap);
    return end;
}

/* ---- jobs ---- */

/* Memory that leaves nodes needs room for all of it before the first page goes. What is dealt, or
 * goes back, changes places on its nodes: chunk by chunk it is looked for (check_chunk). */
static enum end check_room(struct work *work)
{
    double room = 0, left = work->progress->bytes - work->progress->moved - work->progress->failed;
    char why[160];

    if (work->job->way != MEMORY_FOLLOW)
        return GO_ON;
    cpus_foreach(node, &work->job->to)
    {
        double more = memory_room(work->system->root, node);

        if (more < 0)
            return GO_ON;
        room += more;
    }
    if (room >= left)
        return GO_ON;
    snprintf(why, sizeof(why), "the nodes it moved to have room for %.0f MiB of %.0f",
             room / (1 << 20), left / (1 << 20));
    return stop(work, why);
}

/* Memory that several processes share is in the maps of each of them, and moved once. */
static void sum_up(struct work *work, const struct memory_ranges *ranges)
{
    double greatest = 0;

    for (size_t p = 0; p < work->job->n; p++) {
        double shared = 0;

        for (size_t i = 0; i < ranges[p].n; i++) {
            const struct memory_range *range = &ranges[p].range[i];

            *(range->shared ? &shared : &work->progress->bytes) += range->bytes;
        }
        greatest = shared > greatest ? shared : greatest;
    }
    work->progress->bytes += greatest;
}

static enum end one_pass(struct work *work, struct memory_ranges *ranges)
{
    const struct memory_job *job = work->job;
    enum end end = GO_ON;

    work->hidden = false;
    work->progress->bytes = work->progress->moved + work->progress->failed;
    for (size_t p = 0; p < job->n; p++) {
        ranges[p].n = 0;
        if (!work->pace(work->arg, NULL, 0))
            return STOP;
        if (find_ranges(work, &job->process[p], &ranges[p]) < 0)
            return stop(work, "out of memory");
    }
    sum_up(work, ranges);
    if (check_room(work) == STOP)
        return STOP;
    for (size_t p = 0; end != STOP && p < job->n; p++)
        end = move_process(work, &job->process[p], &ranges[p]);
    return end == STOP ? STOP : GO_ON;
}

static void move_all(struct work *work, struct memory_ranges *ranges)
{
    struct memory_progress *progress = work->progress;
    enum end end = one_pass(work, ranges);

    for (int pass = 1; end == GO_ON && work->hidden && pass < MEMORY_PASSES; pass++) {
        if (!work->pace(work->arg, progress, MEMORY_PASS_S))
            return;
        progress->failed = 0; /* they get another chance, too */
        end = one_pass(work, ranges);
    }
    if (end == GO_ON && !work->hidden) /* what the maps said was of another moment */
        progress->bytes = progress->moved + progress->failed;
    else if (end == GO_ON && left(progress, progress->bytes) > 0)
        stop(work, "NUMA balancing hides some pages until they are used");
    if (!progress->why[0] && progress->failed > 0)
        stop(work, "some pages are in use by the kernel or by other processes");
}

void memory_pages_move(const struct memory_system *system, const struct memory_job *job,
                       memory_pace *pace, void *arg, struct memory_progress *progress)
{
    struct work *work = calloc(1, sizeof(*work));
    struct memory_ranges *ranges = calloc(job->n + 1, sizeof(*ranges));

    memset(progress, 0, sizeof(*progress));
    if (work && ranges) {
        work->system = system;
        work->job = job;
        work->pace = pace;
        work->arg = arg;
        work->progress = progress;
        work->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
        move_all(work, ranges);
    } else {
        snprintf(progress->why, sizeof(progress->why), "out of memory");
    }
    for (size_t p = 0; ranges && p < job->n; p++)
        free(ranges[p].range);
    free(ranges);
    free(work);
}
