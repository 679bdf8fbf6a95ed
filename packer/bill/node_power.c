/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/bill/node_power.h"

#include <stdlib.h>
#include <string.h>

#include "packer/conf/watts.h"

struct node_power {
    size_t packages;
    struct power_fit *fit; /* [packages] */
};

struct node_power *node_power_open(const struct topo *topo)
{
    struct node_power *power = calloc(1, sizeof(*power));

    if (!power)
        return NULL;
    power->packages = topo->packages;
    power->fit = calloc(topo->packages + 1, sizeof(*power->fit));
    if (power->fit)
        return power;
    free(power);
    return NULL;
}

void node_power_close(struct node_power *power)
{
    if (!power)
        return;
    free(power->fit);
    free(power);
}

void node_power_observe(const struct packer *packer, size_t package, double seconds, double watts,
                        double busy_s)
{
    struct node_power *power = packer->state->power;

    if (power && package < power->packages)
        power_fit_add(&power->fit[package], seconds, watts, busy_s / seconds);
}

const char *node_power_of(const struct packer *packer, size_t package,
                          struct power_package *figures)
{
    const struct node_power *power = packer->state->power;
    struct energy_watts watts;

    if (power && package < power->packages && power_fit_known(&power->fit[package], figures))
        return "measured";
    if (!packer->world.conf.energy_model[0] ||
        energy_watts_parse(&watts, packer->world.conf.energy_model, NULL) < 0 || !watts.sleep_known)
        return NULL;
    *figures = (struct power_package){watts.sleep, watts.idle, watts.core};
    return "model";
}

const char *node_power_source(const struct packer *packer)
{
    const char *source = NULL, *one;
    struct power_package figures;

    for (size_t i = 0; i < packer->world.topo->packages; i++) {
        one = node_power_of(packer, i, &figures);
        if (!one)
            return NULL;
        if (!source || strcmp(one, "model") == 0)
            source = one;
    }
    return source;
}
