/* SPDX-License-Identifier: GPL-2.0-or-later */
/* solved - what the model has said of the last standings: a decision asks several times for the
 * same ones (as all stand, at home, as proposed), and to solve a node is most of what that costs.
 */
#ifndef BERTH_PLACE_SOLVED_H
#define BERTH_PLACE_SOLVED_H

#include <stddef.h>

#include "models/slowdown/contend.h"

struct solved;

/* Returns one in which nothing is; NULL when out of memory, which all others take for one that
 * keeps nothing. */
struct solved *solved_new(void);
void solved_free(struct solved *solved);

/* Fills in what contend_node() says of these: what it has said, or says now. Returns 0; -1 and
 * errno where it cannot be told. */
int solved_node(struct solved *solved, const struct contend *contend, size_t n,
                const struct contend_stand *stand, double *slowdown);

/* The model knows a program otherwise now: nothing that it has said holds any more. */
void solved_forget(struct solved *solved);

#endif
