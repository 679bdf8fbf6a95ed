/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settle_list - the runs whose figures have still to be told, in memory and in a file: a restart of
 * berthd forgets none.
 *
 * One line of JSON for each; what is added is appended, without waiting for the disk, and the file
 * is written anew when one is done with. */
#ifndef BERTH_SETTLE_LIST_H
#define BERTH_SETTLE_LIST_H

#include <limits.h>
#include <stdint.h>
#include <sys/queue.h>

#include "packer/settle/figures.h"

struct settle_entry {
    TAILQ_ENTRY(settle_entry) link;
    struct settle_run run;
    double due_s, delay_s; /* when it is tried next; how long it waits after that try */
    uint64_t puts;         /* how often it was put */
};

struct settle_list {
    char path[PATH_MAX];
    TAILQ_HEAD(settle_entries, settle_entry) entries;
};

/* What the file has, all of it due at now_s (CLOCK_MONOTONIC). 0; or -1 and err when the file
 * cannot be read or written. Lines that are none are left out. */
int settle_list_open(struct settle_list *list, const char *path, double now_s,
                     struct berth_error *err);
void settle_list_close(struct settle_list *list); /* the file stays */

/* Add it, due at due_s; a run that is there already is due then, and was running at run->at. -1 and
 * err when there is no memory, or when it is in the memory only. */
int settle_list_put(struct settle_list *list, const struct settle_run *run, double due_s,
                    struct berth_error *err);

/* All runs of the job are due at due_s, if they were not earlier. */
void settle_list_hurry(struct settle_list *list, uint32_t job, double due_s);

/* The entry that is due next; NULL: none. The same run again; NULL: it is gone. Borrowed. */
struct settle_entry *settle_list_next(const struct settle_list *list);
struct settle_entry *settle_list_find(const struct settle_list *list, const struct settle_run *run);

/* Try it later: twice as late as last time, limit_s at most. */
void settle_list_delay(struct settle_entry *entry, double now_s, double limit_s);

/* Done with it. -1 and err: the file has it still. */
int settle_list_drop(struct settle_list *list, struct settle_entry *entry, struct berth_error *err);

#endif
