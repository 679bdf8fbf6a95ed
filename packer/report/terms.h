/* SPDX-License-Identifier: GPL-2.0-or-later */
/* terms - what a kWh is to the site (berth.conf): its price, which may change with the time, and
 * the CO2 that it stands for. */
#ifndef BERTH_REPORT_TERMS_H
#define BERTH_REPORT_TERMS_H

#include <stdint.h>

#include "packer/conf/tariff.h"

enum report_unit {
    REPORT_UNIT_AUTO,
    REPORT_UNIT_J,
    REPORT_UNIT_KJ,
    REPORT_UNIT_MJ,
    REPORT_UNIT_KWH,
    REPORT_UNIT_MWH,
    REPORT_UNITS
};

#define TERMS_J_OF_KWH 3.6e6

/* What figures of energy are shown in, and what a kWh is to the site. */
struct report_terms {
    enum report_unit unit;
    double price;                /* of a kWh; 0: not told */
    const char *currency;        /* of the price; NULL: none */
    double co2_g;                /* of a kWh; 0: not told */
    const struct tariff *tariff; /* the price by time, else `price`; NULL: it is always that */
    const struct tariff *co2;    /* CO2 by time, else `co2_g`; NULL: it is always that */
};

/* Says whether the site has told a price; the CO2. */
bool report_terms_price(const struct report_terms *terms);
bool report_terms_co2(const struct report_terms *terms);

/* Return what so many joules cost, in the site's currency, and the CO2 that they stand for, in g,
 * if they were used evenly between two times in Unix milliseconds; NAN where that is not told, or
 * the energy is not known. */
double report_terms_cost_of(const struct report_terms *terms, double joules, int64_t from_ms,
                            int64_t to_ms);
double report_terms_co2_of(const struct report_terms *terms, double joules, int64_t from_ms,
                           int64_t to_ms);

#endif
