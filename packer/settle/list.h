/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settle_list - the runs whose figures have still to be told, and when each is tried next. What a
 * restart of berthd must not forget is in the ledger's outbox (ledger_each_run). */
#ifndef BERTH_SETTLE_LIST_H
#define BERTH_SETTLE_LIST_H

#include <stdint.h>
#include <sys/queue.h>

#include "packer/base/error.h"
#include "packer/ledger/ledger.h"

struct settle_entry {
    TAILQ_ENTRY(settle_entry) link;
    struct ledger_run run;
    double due_s, delay_s; /* when it is tried next; how long it waits after that try */
    uint64_t puts;         /* how often it was put */
};

TAILQ_HEAD(settle_list, settle_entry);

void settle_list_free(struct settle_list *list);

/* Adds a run, due at due_s; a run that is there already is due then, and was running at run->at.
 * Returns 0; or -1 and err when there is no memory. */
int settle_list_put(struct settle_list *list, const struct ledger_run *run, double due_s,
                    struct berth_error *err);

/* Makes all runs of the job due at due_s, if they were not earlier. */
void settle_list_hurry(struct settle_list *list, uint32_t job, double due_s);

/* Returns the entry that is due next; NULL: there is none. Returns the entry of a run; NULL: it is
 * gone. Both are borrowed. */
struct settle_entry *settle_list_next(const struct settle_list *list);
struct settle_entry *settle_list_find(const struct settle_list *list, const struct ledger_run *run);

/* Makes it due later: after twice as long as last time, limit_s at most. */
void settle_list_delay(struct settle_entry *entry, double now_s, double limit_s);

void settle_list_drop(struct settle_list *list, struct settle_entry *entry);

#endif
