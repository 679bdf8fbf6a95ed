/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/report/terms.h"

#include <math.h>
#include <stddef.h>

static bool is_told(double always, const struct tariff *tariff)
{
    return always > 0 || (tariff && tariff->n);
}

bool report_terms_price(const struct report_terms *terms)
{
    return is_told(terms->price, terms->tariff);
}

bool report_terms_co2(const struct report_terms *terms)
{
    return is_told(terms->co2_g, terms->co2);
}

static double value_of(double always, const struct tariff *tariff, double joules, int64_t from_ms,
                       int64_t to_ms)
{
    double of_kwh = always;

    if (isnan(joules) || !is_told(always, tariff))
        return NAN;
    if (tariff && tariff->n)
        of_kwh = tariff_mean(tariff, always, from_ms, to_ms);
    return joules / TERMS_J_OF_KWH * of_kwh;
}

double report_terms_cost_of(const struct report_terms *terms, double joules, int64_t from_ms,
                            int64_t to_ms)
{
    return value_of(terms->price, terms->tariff, joules, from_ms, to_ms);
}

double report_terms_co2_of(const struct report_terms *terms, double joules, int64_t from_ms,
                           int64_t to_ms)
{
    return value_of(terms->co2_g, terms->co2, joules, from_ms, to_ms);
}
