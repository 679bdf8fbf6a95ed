/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_power - what the node's packages draw, by what runs on them (models/energy/power.h): fitted
 * from what the meters said of each interval, else as the site's energy_model has it, else not
 * known. */
#ifndef BERTH_BILL_NODE_POWER_H
#define BERTH_BILL_NODE_POWER_H

#include "models/energy/power.h"
#include "packer/steps/packer.h"

struct node_power;

/* Nothing is known yet. NULL when out of memory. */
struct node_power *node_power_open(const struct topo *topo);
void node_power_close(struct node_power *power); /* NULL is fine */

/* An interval of a package's meter: its length, mean power, and CPU seconds of all its cores in it,
 * whoever they worked for. Not for meters that are models themselves. */
void node_power_observe(const struct packer *packer, size_t package, double seconds, double watts,
                        double busy_s);

/* Figures of one package: "measured", "model", or NULL: not known, *figures untouched. */
const char *node_power_of(const struct packer *packer, size_t package,
                          struct power_package *figures);

/* The same of all packages together: "model" where one of them is; NULL where one is not known. */
const char *node_power_source(const struct packer *packer);

#endif
