/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_table - who descends from whom: each process is read once, and remembered.
 *
 * A table is made for one scan and thrown away after it: it says what was true when each row was
 * read. It is asked for some processes (a step's), and reads their ancestors as they are wanted; so
 * a scan costs one look at a process (process_look.h), however deep the tree is. A pid that was
 * given to another process meanwhile is seen by its start time: no process is younger than its
 * child.
 *
 * Measured on Linux 6.18: 4 us a process; a child's list in /proc/PID/task/TID/children costs as
 * much, and misses children that are born while it is read. */
#ifndef BERTH_SYSTEM_PROCESS_TABLE_H
#define BERTH_SYSTEM_PROCESS_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/system/process_look.h"
#include "packer/system/rootfs.h"

#define PROCESS_NOBODYS (-1) /* owner of a process that descends from nobody who is asked about */

struct process_row {
    pid_t pid;
    long owner; /* process_table_owner's */
    struct process_look look;
};

struct process_table {
    const struct rootfs *root;
    size_t n, room, slots;
    struct process_row *row; /* [n], in the order in which they were read */
    uint32_t *slot;          /* [slots]: rows by pid, hashed; 0: none, else the row's number + 1 */
};

/* Begins an empty table of the processes below root, which must stay. */
void process_table_open(struct process_table *table, const struct rootfs *root);
void process_table_close(struct process_table *table);

/* Returns the process's row, read now if it is not there yet, good until the next call; NULL with
 * errno where there is no such process (ENOENT, ESRCH) or no memory. */
struct process_row *process_table_get(struct process_table *table, pid_t pid);

/* Returns the owner that a process descends from, or is: what `claims` said (>= 0) of the nearest
 * row, itself first, of which it says anything but PROCESS_NOBODYS; else PROCESS_NOBODYS. Each row
 * is asked once a table, whoever is asked about. */
typedef long process_claim(const struct process_row *row, void *arg);
long process_table_owner(struct process_table *table, pid_t pid, process_claim *claims, void *arg);

#endif
