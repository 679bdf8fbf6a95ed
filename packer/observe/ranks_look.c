/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ranks_look - see ranks_look.h */
#include "packer/observe/ranks_look.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/clock.h"
#include "packer/base/file.h"
#include "packer/enforce/enforce.h"
#include "packer/system/process.h"
#include "packer/system/process_exe.h"
#include "packer/system/process_look.h"
#include "packer/wire/wire_program.h"

#define DEPTH 64 /* of descent that is followed */

/* A process of the step. */
struct row {
    pid_t pid;
    bool there, known; /* it is read; so is its executable: */
    bool launches;
    bool rank;
    struct process_stat stat;
};

static int by_pid(const void *a, const void *b)
{
    pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;

    return (left > right) - (left < right);
}

static int by_start(const void *a, const void *b)
{
    const struct step_rank *left = a, *right = b;

    if (left->started != right->started)
        return left->started < right->started ? -1 : 1;
    return (left->pid > right->pid) - (left->pid < right->pid);
}

/* Returns the row of that process; NULL: it is none of the step's. pid is a row's first member. */
static struct row *row_of(struct row *row, size_t n, pid_t pid)
{
    return n ? bsearch(&pid, row, n, sizeof(*row), by_pid) : NULL;
}

static bool launches(const struct rootfs *root, struct row *row)
{
    char exe[PATH_MAX];

    if (!row->known) {
        process_exe_read(root, row->pid, exe);
        row->launches = wire_program_launches(exe);
        row->known = true;
    }
    return row->launches;
}

/* Does it only take a launcher to another node? */
static bool carries(const char *exe)
{
    static const char *const names[] = {"srun", "ssh", "rsh", "qrsh", "blaunch"};
    const char *name = wire_program_name(exe);

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Reads where the process may run: of a recorded tree from a file, which takes 20 times as long.
 * False: it has gone. */
static bool read_allowed(const struct rootfs *root, pid_t pid, struct cpus *cpus)
{
    const char *list;
    char *text;
    bool read;

    if (rootfs_is_machine(root))
        return enforce_get_affinity(pid, cpus) == 0;
    list = process_status_line(root, pid, "\nCpus_allowed_list:\t", &text);
    read = list && cpus_parse(cpus, list) == 0;
    free(text);
    return read;
}

/* What is found, and which executable was read last: ranks run the same as a rule. */
struct looking {
    const struct rootfs *root;
    struct row *row;
    size_t n;
    char exe[PATH_MAX];
    struct ranks_found *found;
};

/* Takes in what a rank's executable says of itself. */
static void read_calls(struct looking *looking, pid_t pid, const char *exe)
{
    struct wire_calls *calls = &looking->found->calls;
    int fd;

    if (calls->pin != WIRE_PIN_NONE || strcmp(looking->exe, exe) == 0)
        return;
    snprintf(looking->exe, sizeof(looking->exe), "%s", exe);
    fd = process_exe_open(looking->root, pid);
    *calls = fd < 0 ? (struct wire_calls){WIRE_PIN_UNREAD, RANKS_CLOSED}
                    : wire_calls_read(fd, WIRE_CALLER_RANK);
    file_close(fd);
}

/* Adds the process if it is a rank. */
static void look_at(struct looking *looking, struct row *row)
{
    struct row *parent = row_of(looking->row, looking->n, row->stat.parent);
    struct ranks_found *found = looking->found;
    struct step_rank *rank = &found->rank[found->n];
    char exe[PATH_MAX];

    if (!row->there || row->stat.zombie || !parent || !parent->there ||
        !launches(looking->root, parent) || launches(looking->root, row))
        return;
    process_exe_read(looking->root, row->pid, exe);
    if (!exe[0] || carries(exe) || !read_allowed(looking->root, row->pid, &rank->cpus))
        return;
    rank->pid = row->pid;
    rank->started = row->stat.started;
    row->rank = true;
    if (!found->launcher[0]) {
        process_exe_read(looking->root, parent->pid, looking->exe);
        snprintf(found->launcher, sizeof(found->launcher), "%.*s", STEP_LAUNCHER_MAX - 1,
                 wire_program_name(looking->exe));
    }
    found->n++;
    read_calls(looking, row->pid, exe);
}

/* Is it a rank, or does it descend from one? */
static bool is_of_rank(const struct looking *looking, const struct row *row)
{
    for (int depth = 0; row && depth < DEPTH; depth++) {
        if (row->rank)
            return true;
        row = row_of(looking->row, looking->n, row->stat.parent);
    }
    return false;
}

/* What the others have used: not the launchers, which do little but wait for ranks, and wait longer
 * where these talk through them. */
static double others_ns(const struct looking *looking)
{
    double sum = 0;

    for (size_t i = 0; i < looking->n; i++) {
        struct row *row = &looking->row[i];
        const struct process_stat *stat = &row->stat;

        if (row->there && !is_of_rank(looking, row) && !(row->known && row->launches))
            sum += stat->user_ns + stat->system_ns + stat->waited_user_ns + stat->waited_system_ns;
    }
    return sum;
}

struct ranks_found *ranks_look(const struct rootfs *root, pid_t *pid, size_t n)
{
    struct ranks_found *found = calloc(1, sizeof(*found) + (n + 1) * sizeof(found->rank[0]));
    struct row *row = calloc(n + 1, sizeof(*row));
    struct looking looking = {.root = root, .row = row, .n = n, .found = found};

    if (!found || !row) {
        free(found);
        free(row);
        return NULL;
    }
    if (n)
        qsort(pid, n, sizeof(*pid), by_pid);
    for (size_t i = 0; i < n; i++) {
        row[i].pid = pid[i];
        row[i].there = process_stat_get(root, pid[i], &row[i].stat) == 0;
    }
    for (size_t i = 0; i < n; i++)
        look_at(&looking, &row[i]);
    if (found->n)
        qsort(found->rank, found->n, sizeof(found->rank[0]), by_start);
    for (size_t i = 0; i < found->n; i++)
        found->rank[i].started = process_started(root, found->rank[i].pid);
    found->others_ns = others_ns(&looking);
    found->at_s = clock_s();
    free(row);
    return found;
}
