/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stat_reader - reads /proc/PID/stat of processes: what no other file has (page faults, and what
 * children had used that were waited for).
 *
 * A process in exec can hold up whoever reads it, for as long as its user likes
 * (system/process_look.h). So a thread reads (base/hands.h), and the event loop waits a moment for
 * it: it has its answer before the moment is over, as a rule. A recorded tree is read at once. */
#ifndef BERTH_COUNTERS_STAT_READER_H
#define BERTH_COUNTERS_STAT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/base/hands.h"
#include "packer/system/process.h"
#include "packer/system/rootfs.h"

struct stat_reader;

/* A process that is asked about, and the answer. */
struct stat_row {
    pid_t pid;
    uint64_t started; /* by its stat; 0: whoever has the pid */
    int fd;           /* its stat, open; -1: it is opened */
    bool gone;        /* there is no such process any more */
    struct process_stat stat;
};

/* Who gives up on a thread after limit_s, and waits wait_s for an answer. The root must stay until
 * it is closed. NULL for want of memory. */
struct stat_reader *stat_reader_open(const struct rootfs *root, double limit_s, double wait_s);

/* Waits WORKER_CLOSE_S at most. All that was asked is dropped before. NULL is fine. */
void stat_reader_close(struct stat_reader *reader);

struct stat_how {
    size_t keep; /* so many more descriptors at most stay open */
    bool late;   /* the answer to what was asked before does, too, if that was the same question */
};

/* Reads row[n], processes of that user; where some have gone, the others are read after that was
 * seen. HANDS_DONE: the rows are filled in. Else they
 * are not, and their descriptors are closed: HANDS_WAIT, there is no answer yet, and *ask is the
 * thread's work; HANDS_HUNG, it was given up; HANDS_REFUSED, too many threads hang, or there is no
 * memory. *ask is NULL before the first time. */
enum hands_state stat_reader_read(struct stat_reader *reader, struct hands_work **ask,
                                  uint32_t user, struct stat_row *row, size_t n,
                                  const struct stat_how *how);

/* Asks in advance, as above, so that an answer is there by the time that it is read with `late`,
 * and one thread answers many questions in a row. Of a recorded tree nobody can. */
bool stat_reader_asks(const struct stat_reader *reader);
void stat_reader_ask(struct stat_reader *reader, struct hands_work **ask, uint32_t user,
                     struct stat_row *row, size_t n, size_t keep);

/* Takes the answer to what was asked before, without waiting: HANDS_DONE, and *row with *n rows,
 * which the caller frees; else as stat_reader_read(). There is an ask. */
enum hands_state stat_reader_take(struct stat_reader *reader, struct hands_work **ask,
                                  struct stat_row **row, size_t *n);

/* Forgets the ask. */
void stat_reader_drop(struct stat_reader *reader, struct hands_work **ask);

/* Returns how many threads hang now. */
size_t stat_reader_hung(struct stat_reader *reader);

#endif
