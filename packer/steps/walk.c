/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/steps/walk.h"

#include <stdlib.h>

#include "packer/base/clock.h"

void step_walk_begin(struct step_walk *walk, struct registry *registry, bool ended)
{
    *walk = (struct step_walk){.registry = registry,
                               .next = TAILQ_FIRST(&registry->live),
                               .wants_ended = ended,
                               .last = registry->serial,
                               .began_s = clock_s()};
    LIST_INSERT_HEAD(&registry->walks, walk, link);
}

static bool is_late(const struct step_walk *walk, const struct step *step)
{
    for (size_t i = 0; i < walk->nlate; i++)
        if (walk->late[i] == step->serial)
            return true;
    return false;
}

/* Says whether this walk is to meet the step, which it has come to: it was known when the walk
 * began, and has not been met while it lived. */
static bool is_news(const struct step_walk *walk, const struct step *step)
{
    if (step->serial > walk->last)
        return false;
    return !walk->in_ended || step->ended_mono_s <= walk->began_s || is_late(walk, step);
}

struct step *step_walk_next(struct step_walk *walk)
{
    struct step *step;

    for (;;) {
        while ((step = walk->next)) {
            walk->next = TAILQ_NEXT(step, link);
            if (!is_news(walk, step))
                continue;
            if (!walk->in_ended)
                walk->met = step->serial;
            return step;
        }
        if (walk->in_ended || !walk->wants_ended)
            return NULL;
        walk->in_ended = true;
        walk->next = TAILQ_FIRST(&walk->registry->ended);
    }
}

void step_walk_end(struct step_walk *walk)
{
    LIST_REMOVE(walk, link);
    free(walk->late);
}
