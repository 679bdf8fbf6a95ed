/* SPDX-License-Identifier: GPL-2.0-or-later */
/* census - see census.h */
#include "probe/threads/census.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "packer/base/array.h"
#include "packer/system/process_table.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

#define OURS 0 /* an owner of process_table.h */

/* ---- who is ours ---- */

static long claims(const struct process_row *row, void *arg)
{
    (void)arg;
    return row->pid == getpid() ? OURS : PROCESS_NOBODYS;
}

/* Adds the number that a folder of /proc is called by, where it is one. */
static int add_number(pid_t **list, size_t *room, size_t *n, const char *name)
{
    char *end;
    long number = strtol(name, &end, 10);

    if (*end || number <= 0 || number > INT_MAX)
        return 0;
    if (array_grow(list, room, *n + 1, sizeof(**list)) < 0)
        return -1;
    (*list)[(*n)++] = (pid_t)number;
    return 0;
}

static pid_t *numbers_in(const struct rootfs *root, const char *folder, size_t *n)
{
    char **name = rootfs_list(root, folder);
    pid_t *list = NULL;
    size_t room = 0;
    int rc = name ? 0 : -1;

    *n = 0;
    for (size_t i = 0; rc == 0 && name[i]; i++)
        rc = add_number(&list, &room, n, name[i]);
    rootfs_list_free(name);
    if (rc == 0 && !list)
        list = calloc(1, sizeof(*list));
    if (rc < 0) {
        free(list);
        list = NULL;
    }
    return list;
}

pid_t *census_processes(const struct rootfs *root, size_t *n)
{
    struct process_table table;
    size_t all;
    pid_t *list = numbers_in(root, "proc", &all);

    *n = 0;
    if (!list)
        return NULL;
    process_table_open(&table, root);
    for (size_t i = 0; i < all; i++)
        if (list[i] != getpid() && process_table_owner(&table, list[i], claims, NULL) == OURS)
            list[(*n)++] = list[i];
    process_table_close(&table);
    return list;
}

/* ---- what a thread has done ---- */

/* The number behind a word at a line's beginning; NAN. */
static double field(const char *text, const char *word)
{
    const char *line = text;

    while (line && strncmp(line, word, strlen(word)) != 0) {
        line = strchr(line, '\n');
        line += line != NULL;
    }
    line = line ? strchr(line, ':') : NULL;
    return line ? strtod(line + 1, NULL) : NAN;
}

/* Reads a file of the thread; NULL where there is none. */
static char *read_thread(const struct rootfs *root, const struct census_thread *thread,
                         const char *file)
{
    char path[96];

    snprintf(path, sizeof(path), "proc/%d/task/%d/%s", (int)thread->pid, (int)thread->tid, file);
    return rootfs_read(root, path);
}

static double read_field(const struct rootfs *root, const struct census_thread *thread,
                         const char *file, const char *word)
{
    char *text = read_thread(root, thread, file);
    double value = text ? field(text, word) : NAN;

    free(text);
    return value;
}

static void look_at(const struct rootfs *root, struct census_thread *thread)
{
    char *schedstat = read_thread(root, thread, "schedstat"), *end;

    thread->cpu_ns = thread->delay_ns = NAN;
    if (schedstat) {
        thread->cpu_ns = strtod(schedstat, &end);
        thread->delay_ns = strtod(end, NULL);
    }
    free(schedstat);
    thread->voluntary = read_field(root, thread, "status", "voluntary_ctxt_switches");
    thread->migrations = read_field(root, thread, "sched", "se.nr_migrations");
}

static int compare(const void *a, const void *b)
{
    const struct census_thread *x = a, *y = b;

    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Adds a process's threads. A process that has gone meanwhile has none. */
static int add_process(struct census *census, const struct rootfs *root, pid_t pid)
{
    char folder[48];
    size_t n;
    pid_t *tid;
    int rc = 0;

    snprintf(folder, sizeof(folder), "proc/%d/task", (int)pid);
    tid = numbers_in(root, folder, &n);
    if (!tid)
        return errno == ENOMEM ? -1 : 0;
    if (array_grow(&census->thread, &census->room, census->n + n, sizeof(*census->thread)) < 0)
        rc = -1;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        census->thread[census->n] = (struct census_thread){.pid = pid, .tid = tid[i]};
        look_at(root, &census->thread[census->n++]);
    }
    free(tid);
    return rc;
}

int census_take_of(struct census *census, const struct rootfs *root, size_t n, const pid_t *pid,
                   struct berth_error *err)
{
    census->n = 0;
    for (size_t i = 0; i < n; i++)
        if (add_process(census, root, pid[i]) < 0)
            return berth_error_set(err, "/proc: %s", strerror(errno));
    if (census->n > 0)
        qsort(census->thread, census->n, sizeof(*census->thread), compare);
    return 0;
}

int census_take(struct census *census, const struct rootfs *root, struct berth_error *err)
{
    size_t n;
    pid_t *pid = census_processes(root, &n);
    int rc = pid ? census_take_of(census, root, n, pid, err)
                 : berth_error_set(err, "/proc: %s", strerror(errno));

    free(pid);
    return rc;
}

const struct census_thread *census_find(const struct census *census,
                                        const struct census_thread *thread)
{
    return census->n > 0 ? bsearch(thread, census->thread, census->n, sizeof(*thread), compare)
                         : NULL;
}

void census_free(struct census *census)
{
    free(census->thread);
    *census = (struct census){0};
}

/* ---- who waits ---- */

int census_thread_waits(const struct rootfs *root, const struct census_thread *thread, bool *gone)
{
    char *text = read_thread(root, thread, "syscall");
    long number = text && *text >= '0' && *text <= '9' ? strtol(text, NULL, 10) : -1;
    int waits = -1;

    *gone = !text && (errno == ENOENT || errno == ESRCH);
    if (text)
        waits = number == SYS_futex || number == SYS_futex_waitv;
    free(text);
    if (waits >= 0 || *gone)
        return waits;
    text = read_thread(root, thread, "wchan"); /* "0": it runs, or nobody may know */
    if (text && *text && strcmp(text, "0") != 0)
        waits = strncmp(text, "futex", 5) == 0;
    free(text);
    return waits;
}

bool census_waiting(const struct census *census, const struct rootfs *root, size_t *alive,
                    size_t *waiting)
{
    *alive = *waiting = 0;
    for (size_t i = 0; i < census->n; i++) {
        bool gone;
        int waits = census_thread_waits(root, &census->thread[i], &gone);

        if (gone)
            continue;
        if (waits < 0)
            return false;
        ++*alive;
        *waiting += (size_t)waits;
    }
    return true;
}

/* ---- what was done ---- */

struct census_done census_since(const struct census *before, const struct census *after)
{
    struct census_done done = {0};

    for (size_t i = 0; i < after->n; i++) {
        const struct census_thread *now = &after->thread[i], *was = census_find(before, now);

        done.cpu_ns += now->cpu_ns - (was ? was->cpu_ns : 0);
        done.voluntary += now->voluntary - (was ? was->voluntary : 0);
        done.migrations += now->migrations - (was ? was->migrations : 0);
    }
    return done;
}
