/* SPDX-License-Identifier: GPL-2.0-or-later */
/* solved - see solved.h */
#include "packer/place/solved.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define KEPT 6 /* standings: of a newcomer's decision and of the one for all after it */

/* A standing, known by the hash of all that is told of it. */
struct standing {
    uint64_t hash;
    size_t n, room; /* n 0: none */
    double *slowdown;
    uint64_t asked; /* when last, by solved->now */
};

struct solved {
    struct standing standing[KEPT];
    uint64_t now;
};

struct solved *solved_new(void)
{
    return calloc(1, sizeof(struct solved));
}

void solved_free(struct solved *solved)
{
    for (size_t i = 0; solved && i < KEPT; i++)
        free(solved->standing[i].slowdown);
    free(solved);
}

void solved_forget(struct solved *solved)
{
    for (size_t i = 0; solved && i < KEPT; i++)
        solved->standing[i].n = 0;
}

/* Returns the standing that is this one, else the one that nobody has asked for longest. */
static struct standing *find_standing(struct solved *solved, uint64_t hash, size_t n)
{
    struct standing *oldest = solved->standing;

    for (size_t i = 0; i < KEPT; i++) {
        struct standing *standing = &solved->standing[i];

        if (standing->n == n && standing->hash == hash)
            return standing;
        if (standing->asked < oldest->asked)
            oldest = standing;
    }
    return oldest;
}

static void keep(struct standing *standing, uint64_t hash, size_t n, const double *slowdown)
{
    double *grown;

    standing->n = 0;
    if (standing->room < n) {
        grown = realloc(standing->slowdown, n * sizeof(*grown));
        if (!grown)
            return;
        standing->slowdown = grown;
        standing->room = n;
    }
    memcpy(standing->slowdown, slowdown, n * sizeof(*slowdown));
    standing->hash = hash;
    standing->n = n;
}

int solved_node(struct solved *solved, const struct contend *contend, size_t n,
                const struct contend_stand *stand, double *slowdown)
{
    struct standing *standing;
    uint64_t hash;

    if (!solved || n == 0)
        return contend_node(contend, n, stand, slowdown) < 0 ? -1 : 0;
    hash = XXH3_64bits(stand, n * sizeof(*stand));
    standing = find_standing(solved, hash, n);
    standing->asked = ++solved->now;
    if (standing->n == n && standing->hash == hash) {
        memcpy(slowdown, standing->slowdown, n * sizeof(*slowdown));
        return 0;
    }
    if (contend_node(contend, n, stand, slowdown) < 0)
        return -1;
    keep(standing, hash, n, slowdown);
    return 0;
}
