/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tracer_tool - see trace/tool.h
 *
 * The memory is a file without a name. Valgrind opens it by the path of our descriptor
 * (/proc/PID/fd/N), and so does each process that the command executes; the command itself has no
 * descriptor that it would not have otherwise. */
#include "probe/trace/tool.h"

#include <errno.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Is the tool in the folder? */
static bool is_in(const char *folder)
{
    char path[PATH_MAX + sizeof("/" VALGRIND_TOOL)];

    snprintf(path, sizeof(path), "%s/%s", folder, VALGRIND_TOOL);
    return access(path, X_OK) == 0;
}

int tracer_tool_find(char folder[PATH_MAX], struct berth_error *err)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (VALGRIND_TOOL[0] == '\0')
        return berth_error_set(err, "berth was built without its tool of valgrind");
    self[length > 0 ? length : 0] = '\0';
    if (snprintf(folder, PATH_MAX, "%s/%s", dirname(self), VALGRIND_FOLDER) < PATH_MAX &&
        is_in(folder))
        return 0;
    if (snprintf(folder, PATH_MAX, "%s", PKGLIBEXECDIR) < PATH_MAX && is_in(folder))
        return 0;
    return berth_error_set(err, "%s/%s, berth's tool of valgrind, is not there", PKGLIBEXECDIR,
                           VALGRIND_TOOL);
}

/* Makes the memory and maps it. */
static int map_area(struct tracer_tool *tool, struct berth_error *err)
{
    void *mapped = MAP_FAILED;

    tool->file = memfd_create("berth", MFD_CLOEXEC);
    if (tool->file >= 0 && ftruncate(tool->file, sizeof(*tool->area)) == 0)
        mapped = mmap(NULL, sizeof(*tool->area), PROT_READ | PROT_WRITE, MAP_SHARED, tool->file, 0);
    if (mapped != MAP_FAILED) {
        tool->area = mapped;
        return 0;
    }
    berth_error_set(err, "memory to share: %s", strerror(errno));
    if (tool->file >= 0)
        close(tool->file);
    return -1;
}

int tracer_tool_open(struct tracer_tool *tool, const struct tracer_want *want,
                     struct berth_error *err)
{
    if (tracer_tool_find(tool->folder, err) < 0 || map_area(tool, err) < 0)
        return -1;
    tool->area->version = TRACER_AREA_VERSION;
    tool->area->size = sizeof(*tool->area);
    tool->area->geometry = want->geometry;
    tool->area->dram = want->dram;
    tool->area->limit = want->limit;
    tool->area->skip = want->skip;
    snprintf(tool->option, sizeof(tool->option), "--berth-area=/proc/%d/fd/%d", (int)getpid(),
             tool->file);
    return 0;
}

void tracer_tool_close(struct tracer_tool *tool)
{
    munmap(tool->area, sizeof(*tool->area));
    close(tool->file);
}

/* Copies the total of a phase, which the processes go on to change. */
static void copy_total(const struct tracer_area *area, int phase, struct tracer_seen *seen)
{
    const uint64_t *from = (const uint64_t *)&area->total[phase];
    uint64_t *to = (uint64_t *)seen;

    for (size_t i = 0; i < TRACER_SEEN_WORDS; i++)
        to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

void tracer_tool_take(const struct tracer_tool *tool, struct tracer_result *result)
{
    const struct tracer_area *area = tool->area;
    struct tracer_seen counted;
    uint64_t *sum = (uint64_t *)&result->seen;
    const uint64_t *more = (const uint64_t *)&counted;

    copy_total(area, 0, &result->seen);
    copy_total(area, 1, &counted);
    for (size_t i = 0; i < TRACER_SEEN_WORDS; i++)
        sum[i] += more[i];
    result->processes = __atomic_load_n(&area->processes, __ATOMIC_RELAXED);
    if (__atomic_load_n(&area->exhausted, __ATOMIC_ACQUIRE))
        result->truncated = true;
}

void tracer_tool_warmup(const struct tracer_tool *tool, struct tracer_seen *seen)
{
    copy_total(tool->area, 0, seen);
}

void tracer_tool_warm(struct tracer_tool *tool)
{
    uint64_t claimed = __atomic_load_n(&tool->area->claimed, __ATOMIC_RELAXED);

    if (claimed < tool->area->skip)
        __atomic_store_n(&tool->area->skip, claimed, __ATOMIC_RELAXED);
}

void tracer_tool_stop(struct tracer_tool *tool)
{
    __atomic_store_n(&tool->area->limit, 0, __ATOMIC_RELAXED);
}
