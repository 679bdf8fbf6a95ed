/* SPDX-License-Identifier: GPL-2.0-or-later */
/* evidence_cells - see evidence_cells.h */
#include "models/slowdown/evidence_cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 16

/* ---- sets ---- */

/* Returns 32 bits that differ in about half of their places for any two numbers (murmur3's end). */
static uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x85ebca6bU;
    x ^= x >> 13;
    x *= 0xc2b2ae35U;
    return x ^ x >> 16;
}

/* Puts one neighbour to its place, behind which the others move up. */
static void set_put(struct evidence_set *set, uint32_t program, double part)
{
    uint32_t at = set->n;

    while (at > 0 && set->program[at - 1] > program)
        at--;
    if (at > 0 && set->program[at - 1] == program) {
        set->count[at - 1]++;
        set->part[at - 1] += part;
        return;
    }
    for (uint32_t i = set->n++; i > at; i--) {
        set->program[i] = set->program[i - 1];
        set->count[i] = set->count[i - 1];
        set->part[i] = set->part[i - 1];
    }
    set->program[at] = program;
    set->count[at] = 1;
    set->part[at] = part;
}

void evidence_set_make(struct evidence_set *set, size_t n, const size_t *beside, const double *part)
{
    double sum = 0;

    for (size_t i = 0; part && i < n; i++)
        sum += part[i];
    set->n = 0;
    set->hash = 0;
    for (size_t i = 0; i < n; i++) {
        set_put(set, (uint32_t)beside[i], sum > 0 ? part[i] / sum : 1.0 / (double)n);
        set->hash += mix((uint32_t)beside[i] + 1);
    }
}

/* ---- the table ---- */

static bool cell_is(const struct evidence *evidence, uint32_t c, size_t program,
                    const struct evidence_set *set)
{
    const struct evidence_cell *cell = &evidence->cell[c];
    const struct evidence_member *member = &evidence->member[cell->first];

    if (cell->program != program || cell->n != set->n)
        return false;
    for (uint32_t i = 0; i < set->n; i++)
        if (member[i].program != set->program[i] || member[i].count != set->count[i])
            return false;
    return true;
}

static uint32_t set_hash(size_t program, const struct evidence_set *set)
{
    return mix(set->hash ^ (uint32_t)program * 0x9e3779b9U);
}

/* Returns the slot of that cell, or the free one where it would be. */
static uint32_t find_slot(const struct evidence *evidence, size_t program,
                          const struct evidence_set *set, uint32_t hash)
{
    uint32_t slot = hash & (evidence->slots - 1);

    while (evidence->table[slot] != EVIDENCE_NONE) {
        uint32_t c = evidence->table[slot];

        if (evidence->cell[c].hash == hash && cell_is(evidence, c, program, set))
            break;
        slot = (slot + 1) & (evidence->slots - 1);
    }
    return slot;
}

uint32_t evidence_cell_find(const struct evidence *evidence, size_t program,
                            const struct evidence_set *set)
{
    if (evidence->slots == 0)
        return EVIDENCE_NONE;
    return evidence->table[find_slot(evidence, program, set, set_hash(program, set))];
}

/* Enters a cell into the table and into the lists of its programs. */
static void cell_link(struct evidence *evidence, uint32_t c)
{
    struct evidence_cell *cell = &evidence->cell[c];
    struct evidence_row *row = &evidence->row[cell->program];
    uint32_t slot = cell->hash & (evidence->slots - 1);

    while (evidence->table[slot] != EVIDENCE_NONE)
        slot = (slot + 1) & (evidence->slots - 1);
    evidence->table[slot] = c;
    cell->next = row->cells;
    row->cells = c;
    for (uint32_t m = cell->first; m < cell->first + cell->n; m++) {
        row = &evidence->row[evidence->member[m].program];
        evidence->member[m].cell = c;
        evidence->member[m].next = row->members;
        row->members = m;
    }
}

static void link_all(struct evidence *evidence)
{
    memset(evidence->table, 0xff, evidence->slots * sizeof(*evidence->table));
    for (uint32_t i = 0; i < evidence->programs; i++)
        evidence->row[i].cells = evidence->row[i].members = EVIDENCE_NONE;
    for (uint32_t c = 0; c < evidence->cells; c++)
        cell_link(evidence, c);
}

/* ---- cells ---- */

/* Makes room for `need` elements; *room at least doubles. list is the address of a pointer. */
static int grow(void *list, uint32_t *room, uint32_t need, size_t size)
{
    uint32_t more = *room ? 2 * *room : FIRST_ROOM;
    void *at;

    if (need <= *room)
        return 0;
    more = more < need ? need : more;
    memcpy(&at, list, sizeof(at));
    at = reallocarray(at, more, size);
    if (!at)
        return -1;
    memcpy(list, &at, sizeof(at));
    *room = more;
    return 0;
}

/* Sees to it that no more than half of the table's slots are taken with one cell more. */
static int grow_table(struct evidence *evidence)
{
    uint32_t slots = evidence->slots ? evidence->slots : 2 * FIRST_ROOM;
    uint32_t *table;

    while (slots < 2 * (evidence->cells + 1))
        slots *= 2;
    if (slots == evidence->slots)
        return 0;
    table = reallocarray(evidence->table, slots, sizeof(*table));
    if (!table)
        return -1;
    evidence->table = table;
    evidence->slots = slots;
    link_all(evidence);
    return 0;
}

void evidence_cells_drop(struct evidence *evidence, uint32_t stamp)
{
    uint32_t cells = 0, members = 0;

    for (uint32_t c = 0; c < evidence->cells; c++) {
        struct evidence_cell cell = evidence->cell[c];

        if (cell.precision <= 0 || cell.stamp < stamp)
            continue;
        memmove(&evidence->member[members], &evidence->member[cell.first],
                cell.n * sizeof(*evidence->member));
        cell.first = members;
        members += cell.n;
        evidence->cell[cells++] = cell;
    }
    evidence->cells = cells;
    evidence->members = members;
    if (evidence->slots)
        link_all(evidence);
}

/* Drops the quarter that was not observed for longest. */
static void drop_oldest(struct evidence *evidence)
{
    uint32_t low = 0, high = evidence->stamp + 1, quarter = evidence->cells / 4;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2, older = 0;

        for (uint32_t c = 0; c < evidence->cells; c++)
            older += evidence->cell[c].stamp < middle;
        *(older > quarter ? &high : &low) = middle;
    }
    evidence_cells_drop(evidence, high);
}

uint32_t evidence_cell_add(struct evidence *evidence, size_t program,
                           const struct evidence_set *set)
{
    uint32_t c;

    if (evidence->cells >= EVIDENCE_CELLS_MAX)
        drop_oldest(evidence);
    c = evidence->cells;
    if (grow(&evidence->cell, &evidence->cell_room, c + 1, sizeof(*evidence->cell)) < 0 ||
        grow(&evidence->member, &evidence->member_room, evidence->members + set->n,
             sizeof(*evidence->member)) < 0 ||
        grow_table(evidence) < 0) {
        errno = ENOMEM;
        return EVIDENCE_NONE;
    }
    evidence->cell[c] = (struct evidence_cell){.program = (uint32_t)program,
                                               .first = evidence->members,
                                               .n = set->n,
                                               .hash = set_hash(program, set)};
    for (uint32_t i = 0; i < set->n; i++)
        evidence->member[evidence->members++] = (struct evidence_member){
            .program = set->program[i], .count = set->count[i], .part = (float)set->part[i]};
    evidence->cells++;
    cell_link(evidence, c);
    return c;
}

/* ---- rows ---- */

int evidence_rows(struct evidence *evidence, size_t program)
{
    double doubt = evidence->constants.doubt[EVIDENCE_COUNTERS];

    if (grow(&evidence->row, &evidence->row_room, (uint32_t)program + 1, sizeof(*evidence->row)) <
        0) {
        errno = ENOMEM;
        return -1;
    }
    for (; evidence->programs <= program; evidence->programs++)
        evidence->row[evidence->programs] =
            (struct evidence_row){.doubt = doubt,
                                  .sensitivity.variance = doubt * doubt,
                                  .pressure.variance = doubt * doubt,
                                  .cells = EVIDENCE_NONE,
                                  .members = EVIDENCE_NONE,
                                  .after = EVIDENCE_NONE};
    return 0;
}

void evidence_wait(struct evidence *evidence, uint32_t program)
{
    struct evidence_row *row = &evidence->row[program];

    if (row->waits)
        return;
    row->waits = true;
    row->after = EVIDENCE_NONE;
    *(evidence->waiting == EVIDENCE_NONE ? &evidence->waiting
                                         : &evidence->row[evidence->last].after) = program;
    evidence->last = program;
}
