/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search_even - see search_impl.h: how evenly those who press on memory stand, as DI measures it.
 *
 * What a memory node gives is often only assumed. By a model that takes it for less than it is,
 * a full node gets no worse when one more presses on it, and who leaves another one gains: three
 * and one are better than two and two. DI assumes nothing, so where nothing was measured no
 * standing is taken that is less even by it than the one that there is; and of standings that the
 * model finds equal, the more even one is taken in any case. */
#include <string.h>

#include "models/placing/di.h"
#include "packer/observe/classify.h"
#include "packer/place/search_impl.h"

/* Lost work, for each core in use, that a standing counts for which is as uneven as the one at the
 * start: it decides between equals only, and is worth nobody's move. */
#define TIE 1e-6

/* Lost work that a less even standing counts for: more than there is to gain, less than a promise.
 */
#define UNEVEN 1e3

#define ROUNDING 1e-9

double search_press(const struct packer *packer, const struct step *step)
{
    double rate = classify_rate(packer, step);

    return rate >= packer->world.conf.devil_miss_pmi && !step_is_shell(step) ? rate : 0;
}

/* Returns DI's measure of the devils' cores. */
static double uneven(struct search *search, const size_t *cache_of)
{
    memcpy(search->press, search->fixed_press, search->caches * sizeof(*search->press));
    for (size_t p = 0; p < search->n; p++)
        search->press[cache_of[p]] += search->part[p].rate * (double)search->part[p].cores;
    return di_uneven(search->caches, search_topo(search)->packages, search->domain, search->package,
                     search->press);
}

void search_even_begin(struct search *search)
{
    search->guarded = bandwidth_assumed(&search->scene->packer->world.bandwidth);
    search->uneven = uneven(search, search->cache_of);
}

double search_even_lost(struct search *search, const size_t *cache_of)
{
    double now;

    if (!(search->uneven > 0))
        return 0;
    now = uneven(search, cache_of) / search->uneven;
    return TIE * (double)search->in_use * now +
           (search->guarded && now > 1 + ROUNDING ? UNEVEN : 0);
}
