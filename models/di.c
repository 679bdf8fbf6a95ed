/* SPDX-License-Identifier: GPL-2.0-or-later */
/* di - see di.h */
#include "di.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "di_tree.h"

static bool level_is_sound(const struct di_level *level, size_t parents)
{
    for (size_t i = 0; i < level->count; i++)
        if (level->parent[i] >= parents || (i > 0 && level->parent[i] < level->parent[i - 1]))
            return false;
    return true;
}

bool di_machine_is_sound(const struct di_machine *machine)
{
    size_t parents = 1;

    for (size_t i = 0; i < machine->depth; i++) {
        if (!level_is_sound(&machine->level[i], parents))
            return false;
        parents = machine->level[i].count;
    }
    return true;
}

static bool input_is_sound(const struct di_machine *machine, size_t n, const struct di_unit *units)
{
    if (machine->depth == 0 || machine->level[machine->depth - 1].count == 0 ||
        !di_machine_is_sound(machine))
        return false;
    for (size_t i = 0; i < n; i++)
        if (units[i].cores == 0 || !isfinite(units[i].miss_pmi) || units[i].miss_pmi < 0)
            return false;
    return true;
}

static void rank(struct di_ranked *ranked, size_t n, const struct di_unit *units)
{
    size_t first = 0;

    for (size_t i = 0; i < n; i++) {
        ranked[i] = (struct di_ranked){.miss_pmi = units[i].miss_pmi, .unit = i, .first = first};
        first += units[i].cores;
    }
    di_rank(ranked, n);
}

int di_place(const struct di_machine *machine, size_t n, const struct di_unit *units, size_t *core)
{
    struct di_tree *tree;
    struct di_ranked *ranked;
    int rc = -1;

    if (!input_is_sound(machine, n, units)) {
        errno = EINVAL;
        return -1;
    }
    ranked = calloc(n + 1, sizeof(*ranked)); /* + 1: calloc(0) may be NULL */
    tree = di_tree_new(machine);
    if (ranked && tree) {
        rank(ranked, n, units);
        for (size_t i = 0; i < n; i++)
            di_tree_place(tree, units[ranked[i].unit].cores, DI_TREE_ANYWHERE,
                          core + ranked[i].first);
        rc = 0;
    }
    di_tree_free(tree);
    free(ranked);
    return rc;
}
