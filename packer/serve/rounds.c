/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rounds - see rounds.h */
#include "packer/serve/rounds.h"

#include <stddef.h>

void rounds_init(struct rounds *rounds)
{
    TAILQ_INIT(&rounds->waiting);
    rounds->round = 0;
}

void rounds_join(struct rounds *rounds, struct rounds_place *place, void *who, uid_t uid)
{
    struct rounds_place *other, *before = NULL;
    uint64_t round = rounds->round;

    if (place->waits)
        return;
    TAILQ_FOREACH(other, &rounds->waiting, link)
    round += other->uid == uid;
    TAILQ_FOREACH(other, &rounds->waiting, link)
    if (other->round <= round)
        before = other;
    place->who = who;
    place->uid = uid;
    place->round = round;
    place->waits = true;
    if (before)
        TAILQ_INSERT_AFTER(&rounds->waiting, before, place, link);
    else
        TAILQ_INSERT_HEAD(&rounds->waiting, place, link);
}

void rounds_leave(struct rounds *rounds, struct rounds_place *place)
{
    if (place->waits)
        TAILQ_REMOVE(&rounds->waiting, place, link);
    place->waits = false;
}

void *rounds_next(struct rounds *rounds)
{
    struct rounds_place *first = TAILQ_FIRST(&rounds->waiting);

    if (!first)
        return NULL;
    rounds->round = first->round;
    rounds_leave(rounds, first);
    return first->who;
}
