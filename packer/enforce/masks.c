/* SPDX-License-Identifier: GPL-2.0-or-later */
/* masks - see masks.h */
#include "packer/enforce/masks.h"

#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"

/* A thread that is not listed is compared with so many that are: a search of each would cost more
 * than the move. */
#define COMPARED 64

void enforce_masks_free(struct enforce_masks *masks)
{
    free(masks->mask);
    *masks = (struct enforce_masks){0};
}

struct enforce_mask *enforce_masks_add(struct enforce_masks *masks, pid_t tid)
{
    struct enforce_mask *mask;

    if (array_grow(&masks->mask, &masks->room, masks->n + 1, sizeof(*masks->mask)) < 0)
        return NULL;
    mask = &masks->mask[masks->n++];
    *mask = (struct enforce_mask){.tid = tid};
    return mask;
}

static int by_tid(const void *a, const void *b)
{
    const struct enforce_mask *left = a, *right = b;

    return (left->tid > right->tid) - (left->tid < right->tid);
}

void enforce_masks_sort(struct enforce_masks *masks)
{
    if (masks->n)
        qsort(masks->mask, masks->n, sizeof(*masks->mask), by_tid);
}

int enforce_masks_copy(struct enforce_masks *to, const struct enforce_masks *from)
{
    *to = (struct enforce_masks){0};
    if (from->n == 0)
        return 0;
    if (array_grow(&to->mask, &to->room, from->n, sizeof(*to->mask)) < 0)
        return -1;
    memcpy(to->mask, from->mask, from->n * sizeof(*to->mask));
    to->n = from->n;
    return 0;
}

static const struct enforce_mask *find_alike(const struct enforce_masks *masks,
                                             const struct cpus *now)
{
    for (size_t i = 0; i < masks->n && i < COMPARED; i++)
        if (cpus_equal(&masks->mask[i].cpus, now) || cpus_equal(&masks->mask[i].was, now))
            return &masks->mask[i];
    return NULL;
}

const struct enforce_mask *enforce_masks_of(const struct enforce_masks *masks, pid_t tid)
{
    struct enforce_mask key = {.tid = tid};

    return masks->n ? bsearch(&key, masks->mask, masks->n, sizeof(key), by_tid) : NULL;
}

const struct enforce_mask *enforce_masks_find(const struct enforce_masks *masks, pid_t tid,
                                              const struct cpus *now)
{
    const struct enforce_mask *found = enforce_masks_of(masks, tid);

    return found ? found : find_alike(masks, now);
}
