/* SPDX-License-Identifier: GPL-2.0-or-later */
/* faithful - how long a thread of a program keeps its CPU (Pusukuri 2012, chapter 5): the same for
 * all threads, and the longer, the more they wait for locks or memory.
 *
 * Time sharing lets a program's own threads preempt each other, and often the one that holds a lock
 * is preempted, whereupon the others block. The scaling factor s = 1 - max(miss ratio, lock share)
 * of the whole program (eq. 5.1) finds the quantum in the paper's Table 5.1. It is measured each
 * second; a new one counts only where it is more than 0.10 off the one that gave the present
 * quantum (Algorithm 3). The rows are 0.10 wide, so the quantum is then another one, too.
 *
 * Table 5.1 says nothing of the factors between its rows (0.105): they belong to the row above
 * them, as if each row reached down to the end of the one before. The same goes for a factor of 0.
 *
 * Pure arithmetic: no I/O, no clock (the caller says what time it is), no globals. */
#ifndef BERTH_MODELS_INSIDE_FAITHFUL_H
#define BERTH_MODELS_INSIDE_FAITHFUL_H

#include <stdbool.h>

#define FAITHFUL_ROWS 10
#define FAITHFUL_RANGE 0.10 /* a change of the factor up to this is none */
#define FAITHFUL_SETTLE_S 1 /* so long after worker threads were seen nothing is measured */

struct faithful_row {
    double most; /* the largest scaling factor of the row */
    unsigned quantum_ms;
};

struct faithful { /* all zero: nothing was seen */
    bool working; /* worker threads were seen */
    double since_s;
    bool set;            /* there is a quantum */
    double scaling;      /* that gave it */
    unsigned quantum_ms; /* 10 .. 250 */
};

/* Returns the scaling factor, 0 .. 1, of a program's misses per access of the last cache and the
 * part of their time that its threads wait for locks. What is NAN is not known, and left out; both
 * are: NAN. */
double faithful_scaling(double miss_ratio, double lock);

/* Returns the quantum of that factor, in milliseconds; 0 for NAN. */
unsigned faithful_quantum_ms(double scaling);

/* Says whether what was measured from from_s to now_s counts: the program has worker threads, and
 * had them FAITHFUL_SETTLE_S before from_s. workers: it has them now. */
bool faithful_ready(struct faithful *faithful, double from_s, double now_s, bool workers);

/* Takes in what was measured in the last second. Returns whether faithful->quantum_ms is new, and
 * so to be given to all threads. */
bool faithful_take(struct faithful *faithful, double miss_ratio, double lock);

#endif
