/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/system/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/file.h"

#define NS_PER_S 1e9
#define STAT_MAX 2048 /* bytes of /proc/PID/stat */
#define EXITING 0x4   /* PF_EXITING of the kernel, in its flags */

/* Fields of /proc/PID/stat, counted from 1 as in proc(5). */
enum {
    STATE = 3,
    PARENT = 4,
    FLAGS = 9,
    MINOR_FAULTS = 10,
    WAITED_MINOR_FAULTS,
    MAJOR_FAULTS,
    WAITED_MAJOR_FAULTS,
    USER,
    SYSTEM,
    WAITED_USER,
    WAITED_SYSTEM,
    THREADS = 20,
    STARTED = 22,
    RSS_PAGES = 24
};

/* The numbers after the state, into field[PARENT..RSS_PAGES]. */
static int parse_fields(const char *text, long long *field)
{
    char *end;

    for (int i = PARENT; i <= RSS_PAGES; i++, text = end) {
        field[i] = strtoll(text, &end, 10);
        if (end == text)
            return -1;
    }
    return 0;
}

int process_stat_parse(const char *text, struct process_stat *stat)
{
    const char *rest = strrchr(text, ')'); /* the command's name may hold anything */
    double tick = NS_PER_S / (double)sysconf(_SC_CLK_TCK);
    long long field[RSS_PAGES + 1];
    bool zombie;

    if (!rest || rest[1] != ' ' || !rest[2] || parse_fields(rest + 3, field) < 0)
        return -1;
    zombie = strchr("ZXx", rest[2]) != NULL;
    *stat = (struct process_stat){
        .zombie = zombie,
        .stopped = strchr("Tt", rest[2]) != NULL,
        .waiting = rest[2] == 'D',
        .exiting = zombie || (field[FLAGS] & EXITING),
        .parent = (pid_t)field[PARENT],
        .started = (uint64_t)field[STARTED],
        .user_ns = (double)field[USER] * tick,
        .system_ns = (double)field[SYSTEM] * tick,
        .faults = (double)field[MINOR_FAULTS] + (double)field[MAJOR_FAULTS],
        .waited_user_ns = (double)field[WAITED_USER] * tick,
        .waited_system_ns = (double)field[WAITED_SYSTEM] * tick,
        .waited_faults = (double)field[WAITED_MINOR_FAULTS] + (double)field[WAITED_MAJOR_FAULTS],
        .threads = (double)field[THREADS] - (zombie ? 1 : 0), /* the first one, which has ended */
        .rss_bytes = (double)field[RSS_PAGES] * (double)sysconf(_SC_PAGESIZE)};
    if (stat->threads < 0)
        stat->threads = 0;
    return 0;
}

int process_stat_open(const struct rootfs *root, pid_t pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    return rootfs_openat(root, path, O_RDONLY);
}

int process_stat_read(int fd, struct process_stat *stat)
{
    char text[STAT_MAX];
    ssize_t got = pread(fd, text, sizeof(text) - 1, 0);

    if (got <= 0)
        return -1;
    text[got] = '\0';
    return process_stat_parse(text, stat);
}

int process_stat_get(const struct rootfs *root, pid_t pid, struct process_stat *stat)
{
    int fd = process_stat_open(root, pid), rc;

    if (fd < 0)
        return -1;
    errno = ESRCH; /* of a text that is none */
    rc = process_stat_read(fd, stat);
    file_close(fd);
    return rc;
}

char *process_status(const struct rootfs *root, pid_t pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    return rootfs_read(root, path);
}

char *process_status_value(char *text, const char *key)
{
    char *at = text ? strstr(text, key) : NULL; /* a newline in a name is escaped there */

    return at ? at + strlen(key) : NULL;
}

const char *process_status_line(const struct rootfs *root, pid_t pid, const char *key, char **text)
{
    char *at;

    *text = process_status(root, pid);
    at = process_status_value(*text, key);
    if (at)
        at[strcspn(at, "\n")] = '\0';
    return at;
}

long process_uid(const struct rootfs *root, pid_t pid)
{
    char *text;
    const char *line = process_status_line(root, pid, "\nUid:", &text);
    long uid = line ? strtol(line, NULL, 10) : -1;

    free(text);
    return uid;
}

pid_t process_inner_pid(const struct rootfs *root, pid_t pid)
{
    char *text;
    const char *line = process_status_line(root, pid, "\nNSpid:", &text), *last;
    long inner = line ? 0 : text ? pid : 0; /* a kernel without namespaces */

    last = line ? strrchr(line, '\t') : NULL;
    if (last)
        inner = strtol(last, NULL, 10);
    free(text);
    return (pid_t)inner;
}

/* The number after name in text. 0, or -1. */
static int find_number(const char *text, const char *name, double *value)
{
    const char *at = strstr(text, name);
    char *end;

    if (!at)
        return -1;
    at += strlen(name);
    *value = (double)strtoull(at, &end, 10);
    return end == at ? -1 : 0;
}

/* Add the second number of a thread's schedstat: ns on a CPU, ns waiting for one, time slices. */
static void add_schedstat(const char *text, struct process_waits *waits)
{
    char *end, *second;
    unsigned long long delay;

    strtoull(text, &end, 10);
    delay = strtoull(end, &second, 10);
    if (second == end)
        return;
    waits->run_delay_ns += (double)delay;
    waits->run_delay_known = true;
}

/* Add a thread's status. The lines are the last ones; a thread's name stands before, with every
 * newline in it escaped. */
static void add_status(const char *text, struct process_waits *waits)
{
    double voluntary, involuntary;

    if (find_number(text, "\nvoluntary_ctxt_switches:", &voluntary) < 0 ||
        find_number(text, "\nnonvoluntary_ctxt_switches:", &involuntary) < 0)
        return;
    waits->voluntary += voluntary;
    waits->involuntary += involuntary;
    waits->switches_known = true;
}

char *process_thread_file(const struct rootfs *root, pid_t pid, const char *thread,
                          const char *file)
{
    char path[NAME_MAX + 64];

    snprintf(path, sizeof(path), "/proc/%d/task/%s/%s", (int)pid, thread, file);
    return rootfs_read(root, path);
}

int process_waits_read(const struct rootfs *root, pid_t pid, struct process_waits *waits)
{
    char path[64], **thread, *text;

    *waits = (struct process_waits){0};
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    thread = rootfs_list(root, path);
    if (!thread)
        return -1;
    for (size_t i = 0; thread[i]; i++) {
        text = process_thread_file(root, pid, thread[i], "schedstat");
        if (text)
            add_schedstat(text, waits);
        free(text);
        text = process_thread_file(root, pid, thread[i], "status");
        if (text)
            add_status(text, waits);
        free(text);
    }
    rootfs_list_free(thread);
    return 0;
}
