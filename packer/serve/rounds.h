/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rounds - whose turn it is among requests that wait, where each is for a user: in each round one
 * of each user, in the order in which they came. So who has a thousand waits longer, and nobody
 * waits for more than one of his. Pure bookkeeping. */
#ifndef BERTH_SERVE_ROUNDS_H
#define BERTH_SERVE_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

/* A place among those that wait: a member of who waits, all zero at first. */
struct rounds_place {
    TAILQ_ENTRY(rounds_place) link;
    void *who;
    uid_t uid;
    uint64_t round;
    bool waits;
};

struct rounds {
    TAILQ_HEAD(rounds_places, rounds_place) waiting; /* the next one first */
    uint64_t round;                                  /* of the last one */
};

void rounds_init(struct rounds *rounds);

/* `who` waits at the place for a turn, for that user. Who waits already goes on waiting there. */
void rounds_join(struct rounds *rounds, struct rounds_place *place, void *who, uid_t uid);

/* Waits no longer; may be called of who does not wait. */
void rounds_leave(struct rounds *rounds, struct rounds_place *place);

/* Returns whose turn it is, who waits no longer; NULL: nobody waits. */
void *rounds_next(struct rounds *rounds);

#endif
