/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/board/map.h"
#include "enum_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define GB 1e9

size_t board_map_at(const struct board_map *map, enum board_kind kind, size_t index)
{
    return map->first[kind] + index;
}

size_t board_map_memory_of(const struct board_map *map, size_t package)
{
    size_t found = BOARD_NOWHERE;

    for (size_t i = 0; i < map->n; i++) {
        if (map->section[i].kind != BOARD_MEMORY || map->section[i].package != package)
            continue;
        if (found != BOARD_NOWHERE)
            return BOARD_NOWHERE;
        found = i;
    }
    return found;
}

/* ---- sums ---- */

static bool is_part(const struct board_section *part, enum board_kind kind, size_t package)
{
    return part->kind == kind && (package == BOARD_NOWHERE || part->package == package);
}

/* The sum over the sections of a kind in a package (BOARD_NOWHERE: in all); NAN where one is not
 * known, or there is none. */
static double sum(const struct board_map *map, enum board_kind kind, size_t package,
                  const double *figure)
{
    double total = 0;
    size_t parts = 0;

    for (size_t i = 0; i < map->n; i++)
        if (is_part(&map->section[i], kind, package)) {
            total += figure[i];
            parts++;
        }
    return parts ? total : NAN;
}

static void fill_in(double *figure, double known)
{
    if (isnan(*figure))
        *figure = known;
}

static void complete_memory(const struct board_map *map, size_t package, double *figure)
{
    size_t memory = board_map_memory_of(map, package);

    if (memory != BOARD_NOWHERE)
        fill_in(&figure[memory], figure[board_map_at(map, BOARD_PACKAGE, package)]);
}

void board_map_complete(const struct board_map *map, double *figure)
{
    double *node = &figure[map->first[BOARD_NODE]];

    for (size_t p = 0; p < map->count[BOARD_PACKAGE]; p++)
        complete_memory(map, p, figure);
    fill_in(node, sum(map, BOARD_MEMORY, BOARD_NOWHERE, figure));
    fill_in(node, sum(map, BOARD_PACKAGE, BOARD_NOWHERE, figure));
    fill_in(node, sum(map, BOARD_LLC, BOARD_NOWHERE, figure));
    for (enum board_kind kind = BOARD_MEMORY; kind <= BOARD_LLC; kind++)
        if (map->count[kind] == 1)
            fill_in(&figure[map->first[kind]], *node);
    for (size_t p = 0; p < map->count[BOARD_PACKAGE]; p++)
        fill_in(&figure[board_map_at(map, BOARD_PACKAGE, p)], sum(map, BOARD_MEMORY, p, figure));
    if (map->count[BOARD_PACKAGE] == 1)
        fill_in(&figure[map->first[BOARD_PACKAGE]], *node);
}

/* ---- the sections ---- */

static void add(struct board_map *map, enum board_kind kind, size_t index, unsigned number,
                size_t package)
{
    static const char *const TABLE(name, BOARD_KINDS) = {
        ROW(BOARD_NODE) = "node",
        ROW(BOARD_PACKAGE) = "package",
        ROW(BOARD_MEMORY) = "memory",
        ROW(BOARD_LLC) = "llc",
    };
    TABLE_COMPLETE(name);
    struct board_section *section = &map->section[map->n];

    if (map->count[kind]++ == 0)
        map->first[kind] = map->n;
    *section = (struct board_section){
        .kind = kind, .index = index, .package = package, .roof = NAN, .knee = NAN};
    if (kind == BOARD_NODE)
        snprintf(section->name, sizeof(section->name), "%s", name[kind]);
    else
        snprintf(section->name, sizeof(section->name), "%s%u", name[kind], number);
    map->n++;
}

/* The package that all of these CPUs are in. */
static size_t package_of(const struct topo *topo, const struct cpus *cpus)
{
    size_t package = BOARD_NOWHERE;

    cpus_foreach(cpu, cpus)
    {
        long core = topo_core_of_cpu(topo, cpu);

        if (core < 0)
            continue;
        if (package != BOARD_NOWHERE && package != topo->core[core].package)
            return BOARD_NOWHERE;
        package = topo->core[core].package;
    }
    return package;
}

static void add_all(struct board_map *map, const struct topo *topo)
{
    add(map, BOARD_NODE, 0, 0, BOARD_NOWHERE);
    for (size_t i = 0; i < topo->packages; i++)
        add(map, BOARD_PACKAGE, i, (unsigned)i, i);
    for (size_t i = 0; i < topo->nodes; i++)
        add(map, BOARD_MEMORY, i, topo->node[i].os_index, package_of(topo, &topo->node[i].cpus));
    for (size_t i = 0; i < topo->llcs; i++)
        add(map, BOARD_LLC, i, (unsigned)i, topo->llc[i].package);
}

/* ---- what the machine can do ---- */

/* Fills in what so many cores of a node of the profile get, and what those that saturate it do. */
static void find_roof(struct board_section *section, const struct machine_profile *profile,
                      size_t node, size_t cores)
{
    size_t all = profile->node[node].cores, knee;
    double *curve = calloc(all + 1, sizeof(*curve));

    if (!curve)
        return;
    for (size_t n = 1; n <= all; n++)
        curve[n] = machine_profile_local(profile, node, n) * GB;
    knee = saturation_knee(all, curve);
    cores = cores < all ? cores : all;
    section->roof = curve[cores];
    section->knee = knee ? curve[knee < cores ? knee : cores] : NAN;
    free(curve);
}

static void roof_of_memory(struct board_section *section, const struct topo *topo,
                           const struct machine_profile *profile)
{
    long node = machine_profile_node(profile, topo->node[section->index].os_index);

    if (node >= 0)
        find_roof(section, profile, (size_t)node, profile->node[node].cores);
}

/* Of a cache: what its cores get of the memory that they are next to. */
static void roof_of_llc(struct board_section *section, const struct topo *topo,
                        const struct machine_profile *profile)
{
    const struct cpus *cpus = &topo->llc[section->index].cpus;
    size_t cores = 0;

    for (size_t c = 0; c < topo->cores; c++)
        cores += topo->core[c].llc == section->index;
    for (size_t i = 0; i < topo->nodes; i++) {
        long node = machine_profile_node(profile, topo->node[i].os_index);

        if (node >= 0 && cores > 0 && cpus_subset(cpus, &topo->node[i].cpus))
            find_roof(section, profile, (size_t)node, cores);
    }
}

/* Packages and the node have the sums. */
static int sum_roofs(struct board_map *map)
{
    double *roof = calloc(map->n, sizeof(*roof)), *knee = calloc(map->n, sizeof(*knee));
    bool done = roof && knee;

    for (size_t i = 0; done && i < map->n; i++) {
        bool is_memory = map->section[i].kind == BOARD_MEMORY;

        roof[i] = is_memory ? map->section[i].roof : NAN;
        knee[i] = is_memory ? map->section[i].knee : NAN;
    }
    for (size_t i = 0; done && i < map->n; i++) {
        struct board_section *section = &map->section[i];

        if (section->kind == BOARD_NODE || section->kind == BOARD_PACKAGE) {
            section->roof = sum(map, BOARD_MEMORY, section->package, roof);
            section->knee = sum(map, BOARD_MEMORY, section->package, knee);
        }
    }
    free(roof);
    free(knee);
    return done ? 0 : -1;
}

static void find_rules(struct board_section *section, const struct conf *conf)
{
    struct saturation_rules *rules = &section->rules;

    rules->saturated =
        conf->rcr_saturated > 0 ? conf->rcr_saturated : section->knee / section->roof;
    rules->idle = conf->rcr_idle > 0 ? conf->rcr_idle : SATURATION_IDLE_PART * rules->saturated;
    rules->hold = (unsigned)conf->rcr_hold;
}

int board_map_make(struct board_map *map, const struct topo *topo,
                   const struct machine_profile *profile, const struct conf *conf)
{
    *map = (struct board_map){.n = 0};
    map->section = calloc(1 + topo->packages + topo->nodes + topo->llcs, sizeof(*map->section));
    if (!map->section)
        return -1;
    add_all(map, topo);
    for (size_t i = 0; i < map->n; i++)
        if (map->section[i].kind == BOARD_MEMORY)
            roof_of_memory(&map->section[i], topo, profile);
        else if (map->section[i].kind == BOARD_LLC)
            roof_of_llc(&map->section[i], topo, profile);
    if (sum_roofs(map) < 0) {
        board_map_free(map);
        return -1;
    }
    for (size_t i = 0; i < map->n; i++)
        find_rules(&map->section[i], conf);
    board_map_forget(map);
    return 0;
}

void board_map_free(struct board_map *map)
{
    free(map->section);
    *map = (struct board_map){.n = 0};
}

/* ---- readings ---- */

/* What the blackboard has for a state. */
static double published(enum saturation_state state)
{
    switch (state) {
    case SATURATION_IDLE:
        return BERTH_BLACKBOARD_IDLE;
    case SATURATION_NORMAL:
        return BERTH_BLACKBOARD_NORMAL;
    case SATURATION_SATURATED:
        return BERTH_BLACKBOARD_SATURATED;
    default:
        return NAN;
    }
}

static void fill_section(struct board_section *section, double traffic)
{
    double utilisation =
        fmin(traffic / section->roof, 1) + (isnan(traffic / section->roof) ? NAN : 0);
    double *value = section->value;

    value[BERTH_BLACKBOARD_TRAFFIC] = traffic;
    value[BERTH_BLACKBOARD_UTILISATION] = utilisation;
    if (!isnan(section->rules.saturated))
        saturation_take(&section->saturation, &section->rules, utilisation);
    value[BERTH_BLACKBOARD_STATE] = published(section->saturation.state);
}

void board_map_power(struct board_map *map, const double *watts)
{
    for (size_t i = 0; i < map->n; i++)
        map->section[i].value[BERTH_BLACKBOARD_WATTS] = watts[i];
}

void board_map_take(struct board_map *map, const double *traffic, const double *watts)
{
    for (size_t i = 0; i < map->n; i++)
        fill_section(&map->section[i], traffic[i]);
    board_map_power(map, watts);
}

void board_map_forget(struct board_map *map)
{
    for (size_t i = 0; i < map->n; i++) {
        map->section[i].saturation = (struct saturation){.row = 0};
        for (size_t v = 0; v < BERTH_BLACKBOARD_KNOWN_VALUES; v++)
            map->section[i].value[v] = NAN;
    }
}
