/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tracer_tool - our own tool of valgrind (the folder valgrind/), which simulates the caches in the
 * traced processes and shares its counts with us through a file that all have mapped.
 *
 * The file has no name: valgrind opens it by the path of our descriptor (/proc/PID/fd/N), as each
 * process that the command executes does, and the command sees no descriptor of ours. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tracer_way.h"

struct shared {
    int file;
    struct tracer_area *area;
    char option[64], folder[PATH_MAX];
};

static void shared_close(void *state)
{
    struct shared *shared = state;

    if (!shared)
        return;
    if (shared->area)
        munmap(shared->area, sizeof(*shared->area));
    if (shared->file >= 0)
        close(shared->file);
    free(shared);
}

static int map_area(struct shared *shared, struct berth_error *err)
{
    void *mapped;

    shared->file = memfd_create("berth", MFD_CLOEXEC);
    if (shared->file < 0 || ftruncate(shared->file, sizeof(*shared->area)) < 0)
        return berth_error_set(err, "memory to share: %s", strerror(errno));
    mapped = mmap(NULL, sizeof(*shared->area), PROT_READ | PROT_WRITE, MAP_SHARED, shared->file, 0);
    if (mapped == MAP_FAILED)
        return berth_error_set(err, "memory to share: %s", strerror(errno));
    shared->area = mapped;
    return 0;
}

static int shared_open(void **state, const struct tracer_want *want, struct tracer_start *start,
                       struct berth_error *err)
{
    struct shared *shared = calloc(1, sizeof(*shared));

    if (!shared)
        return berth_error_set(err, "%s", strerror(ENOMEM));
    shared->file = -1;
    if (!tracer_tool_find(shared->folder)) {
        shared_close(shared);
        return berth_error_set(err, "berth's tool of valgrind is not installed");
    }
    if (map_area(shared, err) < 0) {
        shared_close(shared);
        return -1;
    }
    shared->area->version = TRACER_AREA_VERSION;
    shared->area->size = sizeof(*shared->area);
    shared->area->geometry = want->geometry;
    shared->area->limit = want->limit;
    shared->area->skip = want->skip;
    snprintf(shared->option, sizeof(shared->option), "--berth-area=/proc/%d/fd/%d", (int)getpid(),
             shared->file);
    /* fair-sched: else a thread that gave up its turn may have the next one, too */
    *start = (struct tracer_start){.option = {"--tool=berth", "--fair-sched=try", shared->option},
                                   .library = shared->folder};
    *state = shared;
    return 0;
}

/* The totals, which the processes go on to change. */
static void copy_total(const struct tracer_area *area, int phase, struct tracer_seen *seen)
{
    const uint64_t *from = (const uint64_t *)&area->total[phase];
    uint64_t *to = (uint64_t *)seen;

    for (size_t i = 0; i < TRACER_SEEN_WORDS; i++)
        to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

static int shared_take(void *state, struct tracer_result *result)
{
    struct shared *shared = state;
    struct tracer_seen counted;
    uint64_t *sum = (uint64_t *)&result->seen;
    const uint64_t *more = (const uint64_t *)&counted;

    copy_total(shared->area, 0, &result->seen);
    copy_total(shared->area, 1, &counted);
    for (size_t i = 0; i < TRACER_SEEN_WORDS; i++)
        sum[i] += more[i];
    result->processes = __atomic_load_n(&shared->area->processes, __ATOMIC_RELAXED);
    if (__atomic_load_n(&shared->area->exhausted, __ATOMIC_ACQUIRE))
        result->truncated = true;
    return -1;
}

static void shared_warm(void *state)
{
    struct shared *shared = state;
    uint64_t claimed = __atomic_load_n(&shared->area->claimed, __ATOMIC_RELAXED);

    if (claimed < shared->area->skip)
        __atomic_store_n(&shared->area->skip, claimed, __ATOMIC_RELAXED);
}

/* No process gets another batch. */
static void shared_stop(void *state)
{
    struct shared *shared = state;

    __atomic_store_n(&shared->area->limit, 0, __ATOMIC_RELAXED);
}

static void shared_warmup(void *state, struct tracer_seen *seen)
{
    struct shared *shared = state;

    copy_total(shared->area, 0, seen);
}

const struct tracer_way tracer_tool = {
    .source = "valgrind",
    .open = shared_open,
    .take = shared_take,
    .warm = shared_warm,
    .stop = shared_stop,
    .warmup = shared_warmup,
    .close = shared_close,
};

/* Is the tool in the folder? */
static int is_in(const char *folder)
{
    char path[PATH_MAX + sizeof("/" VALGRIND_TOOL)];

    snprintf(path, sizeof(path), "%s/%s", folder, VALGRIND_TOOL);
    return access(path, X_OK) == 0;
}

/* In the build tree it is in a folder beside this program. */
int tracer_tool_find(char folder[PATH_MAX])
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (VALGRIND_TOOL[0] == '\0') /* was not built */
        return 0;
    self[length > 0 ? length : 0] = '\0';
    if (snprintf(folder, PATH_MAX, "%s/valgrind", dirname(self)) < PATH_MAX && is_in(folder))
        return 1;
    return snprintf(folder, PATH_MAX, "%s", PKGLIBEXECDIR) < PATH_MAX && is_in(folder);
}
