/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/placing/di.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "models/placing/di_tree.h"

static bool level_is_sound(const struct di_level *level, size_t parents)
{
    for (size_t i = 0; i < level->count; i++)
        if (level->parent[i] >= parents || (i > 0 && level->parent[i] < level->parent[i - 1]))
            return false;
    return true;
}

bool di_machine_is_sound(const struct di_machine *machine, size_t depth_min)
{
    size_t parents = 1;

    if (machine->depth < depth_min)
        return false;
    for (size_t i = 0; i < machine->depth; i++) {
        if (!level_is_sound(&machine->level[i], parents))
            return false;
        parents = machine->level[i].count;
    }
    return parents > 0;
}

int di_place(const struct di_machine *machine, size_t n, const struct di_unit *units, size_t *core)
{
    struct di_tree *tree = NULL;
    struct di_ranked *ranked = NULL;
    int rc = -1;

    if (!di_machine_is_sound(machine, 1)) {
        errno = EINVAL;
        return -1;
    }
    ranked = di_rank(n, units, sizeof(*units));
    tree = ranked ? di_tree_new(machine) : NULL;
    for (size_t i = 0; tree && i < n; i++)
        di_tree_place(tree, ranked[i].cores, DI_TREE_ANYWHERE, core + ranked[i].first);
    rc = tree ? 0 : -1;
    di_tree_free(tree);
    free(ranked);
    return rc;
}

double di_uneven(size_t caches, size_t packages, const size_t *domain, const size_t *package,
                 double *rate)
{
    double *of_domain = rate + caches, *of_package = of_domain + caches, sum = 0;

    memset(of_domain, 0, (caches + packages) * sizeof(*rate));
    for (size_t c = 0; c < caches; c++) {
        of_domain[domain[c]] += rate[c];
        of_package[package[c]] += rate[c];
    }
    for (size_t i = 0; i < 2 * caches + packages; i++)
        sum += rate[i] * rate[i];
    return sum;
}
