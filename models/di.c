/* SPDX-License-Identifier: GPL-2.0-or-later */
/* di - see di.h */
#include "di.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "di_tree.h"

struct ranked {
    double miss_pmi;
    size_t unit;  /* index in the caller's array */
    size_t first; /* where its cores go in the caller's array */
};

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

/* Descending by miss rate; equal ones keep their order (qsort alone does not). */
static int compare_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->miss_pmi != y->miss_pmi)
        return x->miss_pmi < y->miss_pmi ? 1 : -1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

static void rank(struct ranked *ranked, size_t n, const struct di_unit *units)
{
    size_t first = 0;

    for (size_t i = 0; i < n; i++) {
        ranked[i] = (struct ranked){.miss_pmi = units[i].miss_pmi, .unit = i, .first = first};
        first += units[i].cores;
    }
    qsort(ranked, n, sizeof(*ranked), compare_rank);
}

int di_place(const struct di_machine *machine, size_t n, const struct di_unit *units, size_t *core)
{
    struct di_tree *tree;
    struct ranked *ranked;
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
