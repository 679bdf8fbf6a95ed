/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process - reads what /proc says of one process.
 *
 * Whoever reads /proc/PID/stat of a user's process waits for as long as that user likes
 * (process_look.h): it is for threads that may hang (base/hands.h), and for recorded trees. It can
 * be kept open: the kernel ties the descriptor to the process, so that it never answers for another
 * one that got the same number, and a read of it costs half of what opening it anew costs. Linux:
 * fs/proc/array.c (do_task_stat), proc(5). */
#ifndef BERTH_SYSTEM_PROCESS_H
#define BERTH_SYSTEM_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/system/rootfs.h"

/* A process, all its threads together, those that have ended too. Times have the resolution of the
 * kernel's clock ticks (10 ms as a rule). */
struct process_stat {
    bool zombie;  /* it has ended; its parent has not waited for it yet */
    bool stopped; /* by a signal, as Slurm suspends a job; or traced */
    bool waiting; /* in the kernel (D): for a disk, a file server, a lock */
    bool exiting; /* its main thread runs only to end, or has ended: the kernel moves it no more */
    pid_t parent;
    uint64_t started;                  /* ticks since boot: with the pid, who it is */
    double user_ns, system_ns, faults; /* its own */
    double waited_user_ns, waited_system_ns, waited_faults; /* of children it has waited for */
    double threads, rss_bytes;
};

/* Reads the text of /proc/PID/stat. 0, or -1: it is none. */
int process_stat_parse(const char *text, struct process_stat *stat);

/* Opens /proc/PID/stat, to be read as often as wanted. Returns the descriptor, or -1 with errno. */
int process_stat_open(const struct rootfs *root, pid_t pid);

/* Reads it anew. 0, or -1: the process is gone. */
int process_stat_read(int fd, struct process_stat *stat);

/* Reads it once. 0, or -1 with errno: there is no such process. */
int process_stat_get(const struct rootfs *root, pid_t pid, struct process_stat *stat);

/* Reads /proc/PID/status, or a file of a thread, which the caller frees; NULL with errno: there is
 * no such process or thread. */
char *process_status(const struct rootfs *root, pid_t pid);
char *process_thread_file(const struct rootfs *root, pid_t pid, const char *thread,
                          const char *file);

/* Returns what stands behind a key ("\nUid:") in a status, to its end; NULL where there is none, or
 * text is NULL. */
char *process_status_value(char *text, const char *key);

/* Reads one line of a process's status, from behind the key on. NULL: it is not there. The caller
 * frees *text, also when it fails. */
const char *process_status_line(const struct rootfs *root, pid_t pid, const char *key, char **text);

/* Returns the user who started it (its real uid, which a program's set-user-id bit does not
 * change), or -1 with errno. */
long process_uid(const struct rootfs *root, pid_t pid);

/* Returns its pid in the innermost namespace that it is in: its pid, where it is in none of its
 * own; 0 with errno where it cannot be read: there is none (ENOENT), say. */
pid_t process_inner_pid(const struct rootfs *root, pid_t pid);

/* What the threads waited, summed over those that live now. */
struct process_waits {
    bool run_delay_known, switches_known;
    double run_delay_ns;           /* schedstat (CONFIG_SCHED_INFO) */
    double voluntary, involuntary; /* status */
};

/* Reads /proc/PID/task/TID/{schedstat,status} of every thread. 0, or -1: the process is gone. */
int process_waits_read(const struct rootfs *root, pid_t pid, struct process_waits *waits);

#endif
