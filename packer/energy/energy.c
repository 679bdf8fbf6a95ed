/* SPDX-License-Identifier: GPL-2.0-or-later */
/* energy - see energy.h. Here the ways are put together; none knows of another. */
#include "packer/energy/energy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/text.h"
#include "packer/energy/parts.h"
#include "packer/system/cpu_busy.h"

/* In order of preference. */
static const struct energy_way *const ways[] = {&energy_powercap, &energy_perf, &energy_hwmon,
                                                &energy_model};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

/* A zone, and whose it is. */
struct zone {
    size_t way, index;
    bool begun;
    bool moved;
    double moved_s;                /* when it was seen to have moved; when it was read first */
    uint64_t first_uj, first_gaps; /* as its way said at the first reading */
    uint64_t uj, gaps;             /* at the last one that went well */
};

struct energy {
    struct energy_node node;
    bool used[WAYS];
    void *state[WAYS];
    char say[WAYS][ENERGY_SAY];
    struct cpus *package; /* [packages] their CPUs; NULL: no model asks for them */
    size_t packages;
    struct cpu_busy *busy;
    size_t n;
    struct energy_zone about[ENERGY_ZONES];
    struct zone zone[ENERGY_ZONES];
};

/* Why the configuration leaves this way out; NULL: it does not. */
static const char *left_out(const struct conf *conf, size_t i)
{
    if (ways[i] == &energy_model)
        return conf->energy_model[0] ? NULL : "energy_model is not set in berth.conf";
    return text_lists(conf->energy, ways[i]->name) ? NULL : "not in berth.conf's energy";
}

static void open_way(struct energy *energy, size_t i)
{
    const char *why = left_out(energy->node.conf, i);
    struct energy_zone zone[ENERGY_ZONES];
    struct berth_error err = {""};
    size_t n = 0;

    if (why) {
        snprintf(energy->say[i], ENERGY_SAY, "%s", why);
        return;
    }
    energy->node.had = energy->n;
    if (ways[i]->open(&energy->node, &energy->state[i], zone, &n, energy->say[i], &err) < 0) {
        snprintf(energy->say[i], ENERGY_SAY, "%.*s", ENERGY_SAY - 1, err.text);
        return;
    }
    energy->used[i] = true;
    for (size_t z = 0; z < n; z++) {
        size_t before = energy->n;

        energy_zone_index(energy->about, &energy->n, zone[z].domain, zone[z].package,
                          zone[z].source);
        if (energy->n == before)
            continue;
        energy->zone[before] = (struct zone){.way = i, .index = z};
        energy->about[before].modelled = ways[i] == &energy_model;
    }
}

/* The CPUs of each package, for the model's busy time. */
static int find_cpus(struct energy *energy, const struct topo *topo)
{
    energy->package = calloc(topo->packages + 1, sizeof(*energy->package));
    energy->busy = calloc(1, sizeof(*energy->busy));
    if (!energy->package || !energy->busy)
        return -1;
    energy->packages = topo->packages;
    for (size_t i = 0; i < topo->cores; i++)
        cpus_or(&energy->package[topo->core[i].package], &topo->core[i].cpus);
    return 0;
}

int energy_open(struct energy **out, const struct energy_node *node, struct berth_error *err)
{
    struct energy *energy = calloc(1, sizeof(*energy));

    if (!energy)
        return berth_no_memory(err);
    energy->node = *node;
    energy->node.have = energy->about;
    for (size_t i = 0; i < WAYS; i++)
        open_way(energy, i);
    if (energy->used[WAYS - 1] && find_cpus(energy, node->topo) < 0) {
        energy_close(energy);
        return berth_no_memory(err);
    }
    *out = energy;
    return 0;
}

void energy_close(struct energy *energy)
{
    if (!energy)
        return;
    for (size_t i = 0; i < WAYS; i++)
        if (energy->used[i])
            ways[i]->close(energy->state[i]);
    free(energy->package);
    free(energy->busy);
    free(energy);
}

size_t energy_zones(const struct energy *energy)
{
    return energy->n;
}

const struct energy_zone *energy_zone(const struct energy *energy, size_t i)
{
    return i < energy->n ? &energy->about[i] : NULL;
}

/* CPU seconds of the zone's package; NAN: nobody wants them, or they are not known. */
static double busy_of(const struct energy *energy, size_t i, bool known)
{
    bool wanted = known && ways[energy->zone[i].way] == &energy_model;

    return wanted ? cpu_busy_sum(energy->busy, &energy->package[energy->about[i].package]) : NAN;
}

static bool read_zone(struct energy *energy, size_t i, double at_s, bool busy)
{
    struct zone *zone = &energy->zone[i];
    uint64_t uj = 0, gaps = 0;

    if (ways[zone->way]->read(energy->state[zone->way], zone->index, at_s, busy_of(energy, i, busy),
                              &uj, &gaps) < 0)
        return false;
    if (!zone->begun) {
        zone->first_uj = uj;
        zone->first_gaps = gaps;
        zone->moved_s = at_s;
    }
    zone->begun = true;
    uj -= zone->first_uj;
    if (uj > zone->uj) { /* of a model, rounding may differ */
        zone->uj = uj;
        zone->moved = true;
        zone->moved_s = at_s;
    }
    zone->gaps = gaps - zone->first_gaps;
    return true;
}

/* Tells whether the zone's meter works; a model needs none. */
static bool counts(const struct energy *energy, size_t i, double still_s)
{
    return energy->about[i].modelled || (energy->zone[i].moved && still_s < ENERGY_STILL_S);
}

void energy_read(struct energy *energy, double at_s, struct energy_reading *reading)
{
    bool busy = energy->busy && cpu_busy_read(energy->node.root, energy->busy, NULL) == 0;

    memset(reading, 0, sizeof(*reading));
    reading->at_s = at_s;
    reading->zones = energy->n;
    for (size_t i = 0; i < energy->n; i++) {
        bool readable = read_zone(energy, i, at_s, busy);

        reading->still_s[i] = readable ? at_s - energy->zone[i].moved_s : 0;
        reading->known[i] = readable && counts(energy, i, reading->still_s[i]);
        reading->still[i] = readable && !reading->known[i];
        reading->uj[i] = energy->zone[i].uj;
        reading->gaps[i] = energy->zone[i].gaps;
    }
}

void energy_rest(struct energy *energy, bool rests)
{
    for (size_t i = 0; i < WAYS; i++)
        if (energy->used[i] && ways[i]->rest)
            ways[i]->rest(energy->state[i], rests);
}

bool energy_keep(const struct energy *energy, size_t i, struct energy_kept *kept)
{
    const struct zone *zone = &energy->zone[i];
    const struct energy_way *way = ways[zone->way];

    kept->moved_s = zone->moved_s;
    kept->moved = zone->moved;
    kept->n =
        zone->begun && way->keep ? way->keep(energy->state[zone->way], zone->index, kept->last) : 0;
    return kept->n > 0;
}

bool energy_resume(struct energy *energy, size_t i, const struct energy_kept *kept)
{
    struct zone *zone = &energy->zone[i];
    const struct energy_way *way = ways[zone->way];

    if (zone->begun || !way->resume ||
        !way->resume(energy->state[zone->way], zone->index, kept->last, kept->n))
        return false;
    zone->begun = true;
    zone->moved = kept->moved;
    zone->moved_s = kept->moved_s;
    return true;
}

bool energy_about(const struct energy *energy, size_t i, struct energy_about *about)
{
    if (i >= WAYS)
        return false;
    *about =
        (struct energy_about){ways[i]->name, energy->used[i], energy->say[i], ways[i]->without};
    return true;
}
