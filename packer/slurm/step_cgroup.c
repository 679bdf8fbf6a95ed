/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/slurm/step_cgroup.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/file.h"

#define NS_PER_S 1e9
#define NS_PER_US 1e3
#define SLUID_DIGITS 13

/* Is the word in the comma separated list, which ends at a colon? */
static bool lists(const char *list, const char *word)
{
    size_t length = strlen(word);

    while (true) {
        size_t here = strcspn(list, ",:");

        if (here == length && strncmp(list, word, length) == 0)
            return true;
        if (list[here] != ',')
            return false;
        list += here + 1;
    }
}

const char *step_cgroup_line(const char *text, const char *controller)
{
    while (*text) {
        const char *end = strchrnul(text, '\n'), *list = strchr(text, ':');
        const char *path = list ? strchr(list + 1, ':') : NULL;

        if (path && path < end &&
            (controller ? lists(list + 1, controller) : strncmp(text, "0::", 3) == 0))
            return path + 1;
        text = *end ? end + 1 : end;
    }
    return NULL;
}

void step_cgroup_name(struct wire_step_id id, char name[STEP_CGROUP_NAME_MAX])
{
    char step[WIRE_STEP_NAME_MAX];
    const char *dot;

    wire_step_name(id, step);
    dot = strchr(step, '.');
    snprintf(name, STEP_CGROUP_NAME_MAX, "job_%u/step_%s", id.job, dot ? dot + 1 : "");
}

bool step_cgroup_is_sluid(const char *name)
{
    return name[0] == 's' && strspn(name + 1, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") == SLUID_DIGITS &&
           (!name[1 + SLUID_DIGITS] || strchr("/\n", name[1 + SLUID_DIGITS]));
}

/* Is the folder at `at`, whose name ends at `end`, that of the job, or may it be? */
static bool is_jobs(const char *at, const char *end, const char *job, size_t length)
{
    return ((size_t)(end - at) == length && strncmp(at, job, length) == 0) ||
           step_cgroup_is_sluid(at);
}

const char *step_cgroup_find(const char *path, struct wire_step_id id)
{
    char name[STEP_CGROUP_NAME_MAX];
    const char *end, *step;

    step_cgroup_name(id, name);
    step = strchr(name, '/');
    for (const char *at = path; *at == '/'; at = end) {
        end = at + 1 + strcspn(at + 1, "/\n");
        if (is_jobs(at + 1, end, name, (size_t)(step - name)) &&
            strncmp(end, step, strlen(step)) == 0 &&
            strchr("/\n", end[strlen(step)])) /* or at '\0'; step_1 is not step_12 */
            return end + strlen(step);
    }
    return NULL;
}

int step_cgroup_path(const char *text, const char *controller, struct wire_step_id id, char *path,
                     size_t size)
{
    const char *line = step_cgroup_line(text, controller);
    const char *end = line ? step_cgroup_find(line, id) : NULL;
    size_t length;

    if (!end)
        return -1;
    if (!controller && strncmp(end, "/user", 5) == 0 && strcspn(end + 5, "/\n") == 0)
        end += 5;
    length = (size_t)(end - line);
    if (length >= size)
        return -1;
    memcpy(path, line, length);
    path[length] = '\0';
    return 0;
}

static int open_below(const struct rootfs *root, const char *dir, const char *file)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", dir, file);
    return rootfs_openat(root, path, O_RDONLY);
}

/* Use the folder if it has memory.numa_stat. */
static void try_memory(struct step_cgroup *cgroup, const struct rootfs *root, const char *dir)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/memory.numa_stat", dir);
    if (cgroup->memory || !rootfs_exists(root, path))
        return;
    cgroup->memory = strdup(dir);
    cgroup->memory_stat = open_below(root, dir, "memory.stat");
}

static void close_cpu(struct step_cgroup *cgroup)
{
    file_close(cgroup->usage);
    file_close(cgroup->stat);
    cgroup->usage = cgroup->stat = -1;
}

/* By the text of /proc/PID/cgroup. 0 when CPU time was found. */
static int open_by(struct step_cgroup *cgroup, const struct rootfs *root, const char *cgroup_root,
                   struct wire_step_id id, const char *text)
{
    char path[CGROUP_DIR_MAX - 300], dir[CGROUP_DIR_MAX];

    if (step_cgroup_path(text, "memory", id, path, sizeof(path)) == 0) {
        snprintf(dir, sizeof(dir), "%s/memory%s", cgroup_root, path);
        try_memory(cgroup, root, dir);
    }
    if (step_cgroup_path(text, "cpuacct", id, path, sizeof(path)) == 0) {
        snprintf(dir, sizeof(dir), "%s/cpuacct%s", cgroup_root, path);
        cgroup->usage = open_below(root, dir, "cpuacct.usage");
        cgroup->stat = open_below(root, dir, "cpuacct.stat");
        if (cgroup->usage >= 0 && cgroup->stat >= 0)
            return 0;
    }
    close_cpu(cgroup);
    if (step_cgroup_path(text, NULL, id, path, sizeof(path)) < 0)
        return -1;
    snprintf(dir, sizeof(dir), "%s%s", cgroup_root, path);
    try_memory(cgroup, root, dir);
    cgroup->stat = open_below(root, dir, "cpu.stat");
    cgroup->pids = open_below(root, dir, "pids.current");
    return cgroup->stat >= 0 ? 0 : -1;
}

int step_cgroup_open(struct step_cgroup *cgroup, const struct rootfs *root, const char *cgroup_root,
                     struct wire_step_id id, const pid_t *pid, size_t n)
{
    char path[64], *text;
    int rc = -1;

    *cgroup = (struct step_cgroup){.usage = -1, .stat = -1, .memory_stat = -1, .pids = -1};
    for (size_t i = 0; rc < 0 && i < n; i++) {
        snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid[i]);
        text = rootfs_read(root, path);
        if (!text)
            continue;
        rc = open_by(cgroup, root, cgroup_root, id, text);
        free(text);
        break;
    }
    return rc;
}

void step_cgroup_close(struct step_cgroup *cgroup)
{
    close_cpu(cgroup);
    file_close(cgroup->memory_stat);
    file_close(cgroup->pids);
    cgroup->memory_stat = cgroup->pids = -1;
    free(cgroup->memory);
    cgroup->memory = NULL;
}

/* The number after name at the beginning of a line, or of the text where name is "". 0, or -1. */
static int number(const char *text, const char *name, double *value)
{
    const char *at = text;
    char *end;

    while (at && strncmp(at, name, strlen(name)) != 0) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    if (!at)
        return -1;
    at += strlen(name);
    *value = (double)strtoull(at, &end, 10);
    return end == at ? -1 : 0;
}

static int read_text(int fd, char *text, size_t size)
{
    ssize_t got = fd < 0 ? -1 : pread(fd, text, size - 1, 0);

    if (got <= 0)
        return -1;
    text[got] = '\0';
    return 0;
}

int step_cgroup_read(const struct step_cgroup *cgroup, struct step_cgroup_cpu *cpu)
{
    double tick = NS_PER_S / (double)sysconf(_SC_CLK_TCK);
    char text[1024];

    if (read_text(cgroup->stat, text, sizeof(text)) < 0)
        return -1;
    if (cgroup->usage < 0) {
        if (number(text, "usage_usec ", &cpu->cpu_ns) < 0 ||
            number(text, "user_usec ", &cpu->user_ns) < 0 ||
            number(text, "system_usec ", &cpu->system_ns) < 0)
            return -1;
        cpu->cpu_ns *= NS_PER_US;
        cpu->user_ns *= NS_PER_US;
        cpu->system_ns *= NS_PER_US;
        return 0;
    }
    if (number(text, "user ", &cpu->user_ns) < 0 || number(text, "system ", &cpu->system_ns) < 0 ||
        read_text(cgroup->usage, text, sizeof(text)) < 0 || number(text, "", &cpu->cpu_ns) < 0)
        return -1;
    cpu->user_ns *= tick;
    cpu->system_ns *= tick;
    return 0;
}

int step_cgroup_read_memory(const struct step_cgroup *cgroup, struct step_cgroup_memory *memory)
{
    /* v1's sums are those of the folder and all below it, as v2's are */
    static const char *const names[][3] = {{"total_pgfault ", "total_rss ", "total_mapped_file "},
                                           {"pgfault ", "anon ", "file_mapped "}};
    double mapped = 0;
    char text[8192];

    if (read_text(cgroup->memory_stat, text, sizeof(text)) < 0)
        return -1;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (number(text, names[i][0], &memory->faults) < 0 ||
            number(text, names[i][1], &memory->rss_bytes) < 0 ||
            number(text, names[i][2], &mapped) < 0)
            continue;
        memory->rss_bytes += mapped;
        return 0;
    }
    return -1;
}

long step_cgroup_threads(const struct step_cgroup *cgroup)
{
    double threads;
    char text[32];

    if (read_text(cgroup->pids, text, sizeof(text)) < 0 || number(text, "", &threads) < 0)
        return -1;
    return (long)threads;
}
