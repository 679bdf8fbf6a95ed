/* SPDX-License-Identifier: GPL-2.0-or-later */
/* relax_facet - the rows of the facets that the relaxation has. */
#include <math.h>
#include <stdlib.h>

#include "models/numa/relax_impl.h"

int facet_add(struct relax *r, struct facet facet)
{
    const struct curve *curve = &r->curve[facet.curve];
    bool lower = curve->kind == CURVE_LOWER;

    if (r->facets == r->facets_size) {
        size_t size = 2 * r->facets_size + 64;
        struct facet *more = realloc(r->facet, size * sizeof(*more));

        if (!more)
            return -1;
        r->facet = more;
        r->facets_size = size;
    }
    simplex_row_put(&r->row, curve->col, 1);
    simplex_row_put(&r->row, r->cores + (int)curve->cell, -facet.slope);
    facet.row = simplex_row_add(r->lp, &r->row, lower ? facet.constant : -INFINITY,
                                lower ? INFINITY : facet.constant);
    if (facet.row == 0)
        return -1;
    facet.active = true;
    r->facet[r->facets++] = facet;
    return 0;
}
