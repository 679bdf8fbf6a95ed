/* SPDX-License-Identifier: GPL-2.0-or-later */
/* maps_reader - on which memory nodes processes have their memory, by /proc/PID/numa_maps, read
 * beside the event loop.
 *
 * The kernel takes a process's mmap_lock for that file, and a process holds it for as long as it
 * likes: one thread waits for a page of a file server that does not answer, another one waits to
 * change a mapping, and every reader waits behind that. So a thread reads, one step at a time. One
 * that has not come back in time is given up, and its step with it: nobody asks for that step once
 * more. The next asker has another thread, as long as fewer than MAPS_READER_HUNG_MAX hang; those
 * that come back do not count any more. */
#ifndef BERTH_COUNTERS_MAPS_READER_H
#define BERTH_COUNTERS_MAPS_READER_H

#include <stddef.h>
#include <sys/types.h>

#include "packer/base/error.h"
#include "packer/system/memory_nodes.h"

#define MAPS_READER_PROCESSES_MAX 16
#define MAPS_READER_HUNG_MAX 4

struct maps_reader;
struct maps_ask; /* of one step */

enum maps_answer {
    MAPS_WAIT,    /* there is no answer yet */
    MAPS_READ,    /* at least one process has told */
    MAPS_UNKNOWN, /* none has, or nothing is read: too many threads hang */
    MAPS_HUNG     /* a process does not let anybody read */
};

/* Returns a reader, which gives up what takes longer than limit_s. The root must stay until it is
 * closed. NULL for want of memory. */
struct maps_reader *maps_reader_open(const struct rootfs *root, double limit_s);

/* Waits WORKER_CLOSE_S at most. All that was asked is taken or dropped before. NULL is fine. */
void maps_reader_close(struct maps_reader *reader);

/* Asks for the sum over the processes pid[n], the first MAPS_READER_PROCESSES_MAX of them. NULL for
 * want of memory. */
struct maps_ask *maps_reader_ask(struct maps_reader *reader, const pid_t *pid, size_t n);

/* Takes the answer, without waiting. The ask is gone then, but for MAPS_WAIT; *nodes is written
 * for MAPS_READ. */
enum maps_answer maps_reader_take(struct maps_reader *reader, struct maps_ask *ask,
                                  struct memory_nodes *nodes);

/* Forgets the ask. NULL is fine. */
void maps_reader_drop(struct maps_reader *reader, struct maps_ask *ask);

/* Returns how many threads hang now. */
size_t maps_reader_hung(struct maps_reader *reader);

#endif
