/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/online/page_move.h"

#include <math.h>

/* Returns the share of its time that the program waits for near memory; NAN not known. What was not
 * measured is taken as the share that its traffic has of what its cores could read. */
static double waiting(const struct page_move *move)
{
    double core = isnan(move->core_bytes_s) ? PAGE_MOVE_CORE_BYTES_S : move->core_bytes_s;
    double share = isnan(move->stalled) ? move->traffic / move->cores / core : move->stalled;

    return share > 1 ? 1 : share;
}

/* Returns how much longer the program takes with far pages than with near ones, >= 1; NAN not
 * known. */
static double slower(const struct page_move *move)
{
    double waits = 1 + waiting(move) * (move->ratio - 1);

    if (isnan(waits) || isnan(move->traffic) || isnan(move->link_bytes_s))
        return waits;
    return fmax(waits, move->traffic / move->link_bytes_s);
}

/* Returns the core-seconds saved until then. */
static double saved(const struct page_move_price *price, double seconds)
{
    if (seconds < price->moving_s)
        return price->gain * seconds * seconds / (2 * price->moving_s);
    return price->gain * (seconds - price->moving_s / 2);
}

static double break_even(const struct page_move_price *price)
{
    if (price->lost == 0)
        return 0;
    if (!(price->gain > 0))
        return isnan(price->gain) ? NAN : INFINITY;
    if (saved(price, price->moving_s) >= price->lost)
        return sqrt(2 * price->moving_s * price->lost / price->gain);
    return price->moving_s / 2 + price->lost / price->gain;
}

struct page_move_price page_move_price(const struct page_move *move)
{
    struct page_move_price price = {.moving_s = move->bytes / move->rate,
                                    .lost = move->bytes / PAGE_MOVE_COPY_BYTES_S,
                                    .gain = move->cores * (1 - 1 / slower(move))};

    price.known = !isnan(price.gain);
    price.break_even_s = break_even(&price);
    return price;
}

double page_move_worth(const struct page_move_price *price, double horizon_s)
{
    return saved(price, horizon_s) - price->lost;
}
