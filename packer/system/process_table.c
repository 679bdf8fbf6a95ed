/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_table - see process_table.h */
#include "packer/system/process_table.h"

#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"

#define UNKNOWN (-2) /* owner of a row that nobody has asked about yet */
#define SLOTS_MIN 64

void process_table_open(struct process_table *table, const struct rootfs *root)
{
    *table = (struct process_table){.root = root};
}

void process_table_close(struct process_table *table)
{
    free(table->row);
    free(table->slot);
    *table = (struct process_table){.root = table->root};
}

/* The slot that has the process's row, or where it would go. There is always a free one. */
static uint32_t *find_slot(const struct process_table *table, pid_t pid)
{
    size_t at = (size_t)pid * 2654435761u & (table->slots - 1);

    while (table->slot[at] && table->row[table->slot[at] - 1].pid != pid)
        at = (at + 1) & (table->slots - 1);
    return &table->slot[at];
}

/* Keeps half of the slots free. 0, or -1 with ENOMEM and nothing changed. */
static int grow_slots(struct process_table *table)
{
    size_t slots = table->slots ? 2 * table->slots : SLOTS_MIN;
    uint32_t *slot;

    if (2 * (table->n + 1) < table->slots)
        return 0;
    slot = calloc(slots, sizeof(*slot));
    if (!slot)
        return -1;
    free(table->slot);
    table->slot = slot;
    table->slots = slots;
    for (size_t i = 0; i < table->n; i++)
        *find_slot(table, table->row[i].pid) = (uint32_t)i + 1;
    return 0;
}

struct process_row *process_table_get(struct process_table *table, pid_t pid)
{
    struct process_row row = {.pid = pid, .owner = UNKNOWN};
    uint32_t *slot;

    if (grow_slots(table) < 0 ||
        array_grow(&table->row, &table->room, table->n + 1, sizeof(*table->row)) < 0)
        return NULL;
    slot = find_slot(table, pid);
    if (*slot)
        return &table->row[*slot - 1];
    if (process_look(table->root, pid, &row.look) < 0)
        return NULL;
    table->row[table->n++] = row;
    *slot = (uint32_t)table->n;
    return &table->row[table->n - 1];
}

/* The row of a process's parent: its number, or -1. One that began later is a stranger that got the
 * number of a parent that has ended. */
static long parent_of(struct process_table *table, size_t child)
{
    pid_t pid = table->row[child].look.parent;
    const struct process_row *parent = pid > 0 ? process_table_get(table, pid) : NULL;

    if (!parent || process_later(parent->look.started, table->row[child].look.started))
        return -1;
    return parent - table->row;
}

/* Every row on the way up is nobody's until it is known better: so a circle, which only processes
 * that come and go while they are read can seem to be, ends. */
long process_table_owner(struct process_table *table, pid_t pid, process_claim *claims, void *arg)
{
    const struct process_row *first = process_table_get(table, pid);
    long start = first ? first - table->row : -1, owner = PROCESS_NOBODYS, at;

    for (at = start; at >= 0; at = parent_of(table, (size_t)at)) {
        owner = table->row[at].owner;
        if (owner == UNKNOWN)
            owner = claims(&table->row[at], arg);
        else
            break;
        table->row[at].owner = owner;
        if (owner != PROCESS_NOBODYS)
            break;
    }
    for (long up = start; owner != PROCESS_NOBODYS && up >= 0 && up != at;
         up = parent_of(table, (size_t)up))
        table->row[up].owner = owner;
    return owner;
}
