/* SPDX-License-Identifier: GPL-2.0-or-later */
/* energy_model - what the site says that its packages take, where no meter says it:
 *
 *     energy = idle * time + core * busy CPU seconds
 *
 * for each package, and dram * time for its memory. Where it says what a sleeping package takes,
 * that stands in the place of idle from one reading to the next in which it was not busy. Only
 * where energy_model of berth.conf is set; every figure of it is marked as one of a model. Busy CPU
 * seconds are of hardware threads, as the kernel counts them: where a core has two, `core` is what
 * one of them adds. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "packer/conf/watts.h"
#include "packer/energy/parts.h"

#define ASLEEP 0.01 /* CPUs busy, below which a package sleeps */

struct part {
    enum energy_domain domain;
    bool begun;
    double first_s, last_s, last_busy_s;
    double busy_s, asleep_s; /* since the first reading */
    uint64_t gaps;
};

struct model {
    struct energy_watts watts;
    size_t n;
    struct part part[ENERGY_ZONES];
};

static void add_zone(struct model *model, const struct energy_node *node, struct energy_zone *zone,
                     enum energy_domain domain, unsigned package)
{
    if (model->n == ENERGY_ZONES || energy_had(node, domain, package))
        return;
    zone[model->n] = (struct energy_zone){domain, package, "model", true};
    model->part[model->n++].domain = domain;
}

static int model_open(const struct energy_node *node, void **state, struct energy_zone *zone,
                      size_t *zones, char say[ENERGY_SAY], struct berth_error *err)
{
    struct energy_watts watts;
    struct model *model;

    if (energy_watts_parse(&watts, node->conf->energy_model, err) < 0)
        return -1;
    model = calloc(1, sizeof(*model));
    if (!model)
        return berth_no_memory(err);
    model->watts = watts;
    for (unsigned i = 0; i < node->topo->packages; i++) {
        add_zone(model, node, zone, ENERGY_PACKAGE, i);
        if (watts.dram_known)
            add_zone(model, node, zone, ENERGY_DRAM, i);
    }
    if (model->n == 0) {
        free(model);
        return berth_error_set(err, "every zone of it has a meter");
    }
    snprintf(say, ENERGY_SAY, "not measured: %s, %zu zones", node->conf->energy_model, model->n);
    *zones = model->n;
    *state = model;
    return 0;
}

static void model_close(void *state)
{
    free(state);
}

/* The busy time may fall when a CPU goes off line: then its time since the last reading is lost. */
static int take_busy(struct part *part, double at_s, double busy_s)
{
    double span_s = at_s - part->last_s;

    if (isnan(busy_s)) {
        errno = ENODATA;
        return -1;
    }
    if (part->begun && busy_s < part->last_busy_s)
        part->gaps++;
    else if (part->begun)
        part->busy_s += busy_s - part->last_busy_s;
    if (part->begun && span_s > 0 && fabs(busy_s - part->last_busy_s) < ASLEEP * span_s)
        part->asleep_s += span_s;
    part->last_busy_s = busy_s;
    part->last_s = fmax(at_s, part->last_s);
    return 0;
}

static int model_read(void *state, size_t i, double at_s, double busy_s, uint64_t *uj,
                      uint64_t *gaps)
{
    struct model *model = state;
    struct part *part = &model->part[i];
    bool dram = part->domain == ENERGY_DRAM;
    double time_s;

    if (!dram && take_busy(part, at_s, busy_s) < 0)
        return -1;
    if (!part->begun)
        part->first_s = at_s;
    part->begun = true;
    part->last_s = fmax(at_s, part->last_s);
    time_s = fmax(at_s - part->first_s, 0);
    *uj = (uint64_t)(1e6 * (dram ? model->watts.dram * time_s
                                 : model->watts.idle * time_s -
                                       (model->watts.idle - model->watts.sleep) * part->asleep_s +
                                       model->watts.core * part->busy_s));
    *gaps = part->gaps;
    return 0;
}

static size_t model_keep(void *state, size_t i, struct energy_last last[ENERGY_LASTS])
{
    const struct model *model = state;
    const struct part *part = &model->part[i];

    *last = (struct energy_last){part->last_s, 0, part->last_busy_s};
    return part->begun;
}

static bool model_resume(void *state, size_t i, const struct energy_last *last, size_t n)
{
    struct model *model = state;
    struct part *part = &model->part[i];

    if (n != 1)
        return false;
    part->begun = true;
    part->first_s = part->last_s = last->at_s;
    part->last_busy_s = last->figure;
    return true;
}

const struct energy_way energy_model = {.name = "model",
                                        .without = "what no meter says is not known",
                                        .open = model_open,
                                        .close = model_close,
                                        .read = model_read,
                                        .keep = model_keep,
                                        .resume = model_resume};
