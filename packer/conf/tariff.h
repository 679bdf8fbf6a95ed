/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tariff - a figure of a kWh that changes with the time, as berth.conf has it: energy_tariff and
 * energy_co2_tariff.
 *
 *   2027-01-01=0.28, mon-fri/08:00-20:00=0.35, 2027-01-01/sat-sun=0.22
 *
 * An entry is a list of conditions with '/' between them, and the figure where all of them hold:
 * a date, from which on it holds; days of the week; hours, from the first to before the second,
 * which may be over midnight. Of several that hold at a time the last one counts. All of them are
 * in local time. */
#ifndef BERTH_CONF_TARIFF_H
#define BERTH_CONF_TARIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/base/error.h"

#define TARIFF_ENTRIES 64

struct tariff_entry {
    double figure;
    int since;        /* 20270101; 0: always */
    unsigned days;    /* bits, Sunday first */
    int from_s, to_s; /* of the day; to_s not above from_s: over midnight */
};

struct tariff {
    struct tariff_entry entry[TARIFF_ENTRIES];
    size_t n;
};

/* Reads the text; of an empty one n is 0. Returns 0, or -1 and err: what is wrong, and what would
 * be right. */
int tariff_parse(struct tariff *tariff, const char *text, struct berth_error *err);

/* Returns the figure's mean between two times in Unix milliseconds, or at the first, where the
 * second is not after it; `otherwise` holds where no entry does. */
double tariff_mean(const struct tariff *tariff, double otherwise, int64_t from_ms, int64_t to_ms);

#endif
