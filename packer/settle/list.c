/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settle_list - see settle/list.h */
#include "packer/settle/list.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_DELAY_S 1

void settle_list_free(struct settle_list *list)
{
    struct settle_entry *entry;

    while ((entry = TAILQ_FIRST(list)))
        settle_list_drop(list, entry);
}

static struct settle_entry *entry_add(struct settle_list *list, const struct ledger_run *run)
{
    struct settle_entry *entry = calloc(1, sizeof(*entry));

    if (!entry)
        return NULL;
    entry->run = *run;
    TAILQ_INSERT_TAIL(list, entry, link);
    return entry;
}

int settle_list_put(struct settle_list *list, const struct ledger_run *run, double due_s,
                    struct berth_error *err)
{
    struct settle_entry *entry = settle_list_find(list, run);

    if (!entry)
        entry = entry_add(list, run);
    if (!entry)
        return berth_no_memory(err);
    entry->run.at = run->at;
    entry->run.uid = run->uid;
    entry->due_s = due_s;
    entry->delay_s = FIRST_DELAY_S;
    entry->puts++;
    return 0;
}

void settle_list_hurry(struct settle_list *list, uint32_t job, double due_s)
{
    struct settle_entry *entry;

    TAILQ_FOREACH(entry, list, link)
    if (entry->run.job == job && entry->due_s > due_s) {
        entry->due_s = due_s;
        entry->delay_s = FIRST_DELAY_S;
    }
}

struct settle_entry *settle_list_next(const struct settle_list *list)
{
    struct settle_entry *entry, *next = NULL;

    TAILQ_FOREACH(entry, list, link)
    if (!next || entry->due_s < next->due_s)
        next = entry;
    return next;
}

struct settle_entry *settle_list_find(const struct settle_list *list, const struct ledger_run *run)
{
    struct settle_entry *entry;

    TAILQ_FOREACH(entry, list, link)
    if (entry->run.job == run->job && entry->run.restart == run->restart &&
        strcmp(entry->run.cluster, run->cluster) == 0)
        return entry;
    return NULL;
}

void settle_list_delay(struct settle_entry *entry, double now_s, double limit_s)
{
    entry->due_s = now_s + entry->delay_s;
    entry->delay_s = 2 * entry->delay_s < limit_s ? 2 * entry->delay_s : limit_s;
}

void settle_list_drop(struct settle_list *list, struct settle_entry *entry)
{
    TAILQ_REMOVE(list, entry, link);
    free(entry);
}
