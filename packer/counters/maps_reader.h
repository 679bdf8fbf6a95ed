/* SPDX-License-Identifier: GPL-2.0-or-later */
/* maps_reader - on which memory nodes processes have their memory, by /proc/PID/numa_maps, read
 * beside the event loop.
 *
 * The kernel takes a process's mmap_lock for that file, and a process holds it for as long as it
 * likes: one thread waits for a page of a file server that does not answer, another one waits to
 * change a mapping, and every reader waits behind that. So a thread reads, one step at a time. One
 * that has not come back in time is given up, and its step with it: nobody asks for that step once
 * more (base/hands.h). */
#ifndef BERTH_COUNTERS_MAPS_READER_H
#define BERTH_COUNTERS_MAPS_READER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/base/hands.h"
#include "packer/system/memory_nodes.h"

#define MAPS_READER_PROCESSES_MAX 16

struct maps_reader;

enum maps_answer {
    MAPS_WAIT,    /* there is no answer yet */
    MAPS_READ,    /* at least one process has told */
    MAPS_UNKNOWN, /* none has */
    MAPS_HUNG,    /* a process does not let anybody read */
    MAPS_REFUSED  /* nothing is read: too many threads hang, of its user's or in all */
};

/* Returns a reader, which gives up what takes longer than limit_s. The root must stay until it is
 * closed. NULL for want of memory. */
struct maps_reader *maps_reader_open(const struct rootfs *root, double limit_s);

/* Waits WORKER_CLOSE_S at most. All that was asked is taken or dropped before. NULL is fine. */
void maps_reader_close(struct maps_reader *reader);

/* Asks for the sum over the processes pid[n] of a step of that user, the first
 * MAPS_READER_PROCESSES_MAX of them. NULL for want of memory. */
struct hands_work *maps_reader_ask(struct maps_reader *reader, uint32_t user, const pid_t *pid,
                                   size_t n);

/* Takes the answer, without waiting. The ask is gone then, but for MAPS_WAIT; *nodes is written
 * for MAPS_READ. */
enum maps_answer maps_reader_take(struct maps_reader *reader, struct hands_work *ask,
                                  struct memory_nodes *nodes);

/* Forgets the ask. NULL is fine. */
void maps_reader_drop(struct maps_reader *reader, struct hands_work *ask);

/* Returns how many threads hang now. */
size_t maps_reader_hung(struct maps_reader *reader);

#endif
