/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thermal - see thermal.h */
#include "models/energy/thermal.h"
#include "enum_table.h"

const char *const TABLE(thermal_limit_name, THERMAL_LIMITS) = {
    ROW(THERMAL_BELOW) = NULL, ROW(THERMAL_T1) = "t1", ROW(THERMAL_T2) = "t2"};
TABLE_COMPLETE(thermal_limit_name);

enum thermal_limit thermal_limit_of(const struct thermal_core *core)
{
    if (core->celsius >= core->t2)
        return THERMAL_T2;
    return core->celsius >= core->t1 ? THERMAL_T1 : THERMAL_BELOW;
}

static bool has_program(const struct thermal_core *core)
{
    return core->who != THERMAL_FREE && core->who != THERMAL_TAKEN;
}

static bool may_stand(const struct thermal_scene *scene, size_t who, size_t core)
{
    const struct thermal_program *program = &scene->program[who];

    return !program->hot[core] && !(program->never && program->never[core]);
}

/* Is the core cool enough for who leaves one at that limit? */
static bool is_cool(const struct thermal_core *core, enum thermal_limit limit)
{
    return core->celsius < (limit == THERMAL_T2 ? core->t2 : core->t1);
}

/* May the two exchange their places? */
static bool may_exchange(const struct thermal_scene *scene, size_t from, size_t to)
{
    size_t who = scene->core[from].who, other = scene->core[to].who;

    return has_program(&scene->core[to]) && other != who &&
           scene->program[who].kind == scene->program[other].kind && may_stand(scene, other, from);
}

/* Returns the coolest core that is fit, free, or else of another program. */
static size_t coolest(const struct thermal_scene *scene, size_t from, bool free)
{
    enum thermal_limit limit = thermal_limit_of(&scene->core[from]);
    size_t best = THERMAL_NONE;

    for (size_t i = 0; i < scene->cores; i++) {
        const struct thermal_core *core = &scene->core[i];

        if (i == from || core->rests || !is_cool(core, limit) ||
            !may_stand(scene, scene->core[from].who, i) ||
            (free ? core->who != THERMAL_FREE : !may_exchange(scene, from, i)))
            continue;
        if (best == THERMAL_NONE || core->celsius < scene->core[best].celsius)
            best = i;
    }
    return best;
}

size_t thermal_target(const struct thermal_scene *scene, size_t from)
{
    const struct thermal_core *core = &scene->core[from];
    size_t to;

    if (!has_program(core) || core->rests || thermal_limit_of(core) == THERMAL_BELOW)
        return THERMAL_NONE;
    to = coolest(scene, from, true);
    return to == THERMAL_NONE ? coolest(scene, from, false) : to;
}
