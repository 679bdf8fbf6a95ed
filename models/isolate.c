/* SPDX-License-Identifier: GPL-2.0-or-later */
/* isolate - see isolate.h */
#include "isolate.h"

#include <errno.h>
#include <stdlib.h>

#include "walk.h"

struct placing {
    const struct isolate_thread *thread;
    size_t n, level;
    double devil_miss_pmi;
    struct walk *walk;
    const size_t *order; /* [n] threads by descending miss rate */
    size_t *core;        /* [n] */
    bool *isolated;      /* [n] */
};

static bool is_devil(const struct placing *placing, size_t i)
{
    return placing->thread[i].miss_pmi >= placing->devil_miss_pmi;
}

/* Place those of the chosen that can be isolated, each in a domain that is then barred to devils.
 * Returns how many. */
static long place_chosen(struct placing *placing)
{
    size_t devils = 0; /* not placed yet */
    long count = 0;

    for (size_t i = 0; i < placing->n; i++)
        devils += is_devil(placing, i);
    for (size_t i = 0; i < placing->n; i++) {
        size_t chosen = placing->order[i], core;

        if (!placing->thread[chosen].prioritised || !placing->thread[chosen].sensitive)
            continue;
        if (walk_devil_room(placing->walk) == 0)
            break;
        core = walk_choose(placing->walk, true);
        if (walk_devil_room_beside(placing->walk, placing->level, core) <
            devils - is_devil(placing, chosen))
            break;
        walk_take(placing->walk, core);
        walk_bar(placing->walk, placing->level, core);
        placing->core[chosen] = core;
        placing->isolated[chosen] = true;
        devils -= is_devil(placing, chosen);
        count++;
    }
    return count;
}

static void place_others(struct placing *placing)
{
    for (size_t i = 0; i < placing->n; i++) {
        size_t thread = placing->order[i];

        if (placing->isolated[thread])
            continue;
        placing->core[thread] = walk_choose(placing->walk, is_devil(placing, thread));
        walk_take(placing->walk, placing->core[thread]);
    }
}

/* The threads by descending miss rate; the caller frees them. NULL with errno. */
static size_t *rank(size_t n, const struct isolate_thread *thread)
{
    double *miss_pmi = calloc(n + 1, sizeof(*miss_pmi)); /* + 1: calloc(0) may be NULL */
    size_t *order = calloc(n + 1, sizeof(*order));

    for (size_t i = 0; miss_pmi && i < n; i++)
        miss_pmi[i] = thread[i].miss_pmi;
    if (!miss_pmi || !order || walk_rank(n, miss_pmi, order) < 0) {
        free(order);
        order = NULL;
    }
    free(miss_pmi);
    return order;
}

long isolate_place(const struct di_machine *machine, size_t level, double devil_miss_pmi, size_t n,
                   const struct isolate_thread *thread, size_t *core, bool *isolated)
{
    struct placing placing = {.thread = thread,
                              .n = n,
                              .level = level,
                              .devil_miss_pmi = devil_miss_pmi,
                              .core = core,
                              .isolated = isolated};
    long count = -1;
    size_t *order;

    if (level + 2 > machine->depth) {
        errno = EINVAL;
        return -1;
    }
    order = rank(n, thread);
    placing.order = order;
    placing.walk = order ? walk_new(machine, machine->level[machine->depth - 2].count) : NULL;
    if (placing.walk) {
        for (size_t i = 0; i < n; i++)
            isolated[i] = false;
        count = place_chosen(&placing);
        place_others(&placing);
    }
    walk_free(placing.walk);
    free(order);
    return count;
}

long isolate_place_best(const struct di_machine *machine, double devil_miss_pmi, size_t n,
                        const struct isolate_thread *thread, size_t *core, bool *isolated,
                        size_t *level)
{
    long most = -1;

    *level = 0;
    for (size_t i = 0; i + 2 <= machine->depth; i++) {
        long count = isolate_place(machine, i, devil_miss_pmi, n, thread, core, isolated);

        if (count < 0)
            return -1;
        if (count > most) {
            most = count;
            *level = i;
        }
    }
    return isolate_place(machine, *level, devil_miss_pmi, n, thread, core, isolated);
}
