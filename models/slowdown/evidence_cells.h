/* SPDX-License-Identifier: GPL-2.0-or-later */
/* evidence_cells - the measurements of evidence: one cell for each program and set of neighbours,
 * found by hash, and listed by program. */
#ifndef BERTH_MODELS_SLOWDOWN_EVIDENCE_CELLS_H
#define BERTH_MODELS_SLOWDOWN_EVIDENCE_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "models/slowdown/evidence.h"

#define EVIDENCE_NONE UINT32_MAX
#define EVIDENCE_CELLS_MAX 8192

/* One kind of neighbour in a cell. */
struct evidence_member {
    uint32_t program;
    uint32_t count;      /* how often it is there */
    uint32_t cell, next; /* whose it is; the next member that is the same program */
    float part;          /* of the prediction, all of a cell's add up to 1 */
};

struct evidence_cell {
    uint32_t program, first, n; /* its members are member[first .. first + n - 1], by program */
    uint32_t next;              /* the next cell of the same program */
    uint32_t hash, stamp;       /* stamp: when it was last observed */
    double base;                /* log(predicted + offset) */
    double slowdown;            /* mean of what was measured */
    double precision;           /* 1 / variance of that */
    double x;                   /* log(slowdown + offset), the most probable value */
};

struct evidence_side {
    double value, variance; /* most probable, and its variance, approximately */
};

/* What is known of one program. */
struct evidence_row {
    double doubt;
    struct evidence_side sensitivity, pressure;
    uint32_t cells, members; /* heads of its two lists */
    uint32_t after;          /* the next that waits to be solved */
    bool waits;
    float surprise; /* contradictions, halved by each measurement that was none */
    float reach[2]; /* what its sensitivity and its pressure can take back of the stretch */
};

struct evidence {
    struct evidence_constants constants;
    struct evidence_row *row; /* [programs] */
    struct evidence_cell *cell;
    struct evidence_member *member;
    uint32_t *table; /* [slots] of cells, open addressing; EVIDENCE_NONE: free */
    uint32_t programs, cells, members, slots;
    uint32_t row_room, cell_room, member_room;
    uint32_t waiting, last; /* the first and the last program that waits to be solved */
    uint32_t stamp;
    struct evidence_side sensitivity, pressure; /* means in common, in parts of the doubt */
    double stretch;                             /* a mean in common, too */
    double level;                               /* log(level + offset) of the constants */
    uint32_t stretched;                         /* the stamp when it was last found */
    bool unsettled;                             /* it moved then */
};

/* A set of neighbours as cells have it: sorted, each once. */
struct evidence_set {
    uint32_t program[EVIDENCE_BESIDE_MAX], count[EVIDENCE_BESIDE_MAX], n, hash;
    double part[EVIDENCE_BESIDE_MAX]; /* sums to 1 */
};

/* Brings neighbours into that form; n from 1 to EVIDENCE_BESIDE_MAX. */
void evidence_set_make(struct evidence_set *set, size_t n, const size_t *beside,
                       const double *part);

/* Returns the cell of program beside that set; EVIDENCE_NONE when it was never measured. */
uint32_t evidence_cell_find(const struct evidence *evidence, size_t program,
                            const struct evidence_set *set);

/* Adds one, which must not be there, with no weight yet; the oldest make room when there are
 * EVIDENCE_CELLS_MAX. EVIDENCE_NONE with ENOMEM, and nothing changed. */
uint32_t evidence_cell_add(struct evidence *evidence, size_t program,
                           const struct evidence_set *set);

/* Takes the cells that have no weight out, and those that were last observed before `stamp`. */
void evidence_cells_drop(struct evidence *evidence, uint32_t stamp);

/* Sees to it that programs up to this one have rows. 0, or -1 with ENOMEM and nothing changed. */
int evidence_rows(struct evidence *evidence, size_t program);

/* Puts a program at the end of those that wait to be solved. */
void evidence_wait(struct evidence *evidence, uint32_t program);

#endif
