/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prefetch_cores - see prefetch_cores.h */
#include "packer/inside/prefetch_cores.h"

#include <stdio.h>

#include "packer/base/log.h"
#include "packer/steps/journal.h"
#include "packer/steps/registers.h"
#include "packer/steps/strangers.h"
#include "packer/system/prefetchers.h"

void prefetch_open(const struct packer *packer)
{
    struct berth_error err;

    if (prefetchers_find(&packer->world.devices, &packer->state->registers->prefetchers, &err) < 0)
        lacks_note(packer, LACK_PREFETCHERS, err.text);
}

/* ---- whose cores ---- */

/* May the other step run on its CPUs while this one does? The shell that has started it waits. */
static bool counts_beside(const struct step *step, const struct step *other)
{
    return other != step &&
           !(step_is_shell(other) && other->request.id.job == step->request.id.job);
}

static void others_of(const struct packer *packer, const struct step *step, struct cpus *others)
{
    const struct step *other;
    struct cpus its;

    cpus_zero(others);
    strangers_add_steps(packer, others);
    TAILQ_FOREACH(other, &packer->steps->live, link)
    {
        if (!counts_beside(step, other))
            continue;
        enforce_union(&other->body, ENFORCE_PLACE, &its);
        cpus_or(others, &its);
    }
}

void prefetch_own(const struct packer *packer, const struct step *step, struct cpus *own)
{
    const struct topo *topo = packer->world.topo;
    struct cpus its, others, core;

    enforce_union(&step->body, ENFORCE_PLACE, &its);
    others_of(packer, step, &others);
    cpus_zero(own);
    for (size_t i = 0; i < topo->cores; i++) {
        topo_whole(topo, i, &core);
        if (cpus_subset(&core, &its) && !cpus_intersect(&core, &others))
            cpus_add(own, cpus_next(&core, 0));
    }
}

/* ---- values ---- */

static uint64_t value_of(const struct core_register *core, enum prefetch_want want)
{
    if (want == PREFETCH_LEAVE)
        return core->was;
    return want == PREFETCH_SWITCH_ON ? core->was & ~core->mask : core->was | core->mask;
}

static bool is_berths(const struct core_register *core, uint64_t value)
{
    if (!core->left)
        return value == core->holds;
    return value == value_of(core, PREFETCH_SWITCH_ON) ||
           value == value_of(core, PREFETCH_SWITCH_OFF);
}

bool prefetch_is(const struct packer *packer, const struct step *step, enum prefetch_want want)
{
    const struct registers *registers = packer->state->registers;
    size_t held = 0;
    struct cpus own;

    prefetch_own(packer, step, &own);
    if (want == PREFETCH_LEAVE)
        cpus_zero(&own);
    for (size_t i = 0; i < registers->n; i++) {
        const struct core_register *core = &registers->core[i];

        if (core->owner != step->serial)
            continue;
        if (!cpus_has(&own, core->cpu) || core->holds != value_of(core, want))
            return false;
        held++;
    }
    return held == cpus_count(&own);
}

/* ---- giving back ---- */

/* Writes what it held before, where it holds what berth has written. */
static int give_back(const struct packer *packer, const struct core_register *core,
                     struct berth_error *err)
{
    uint64_t now;

    if (!core->changed)
        return 0;
    if (prefetchers_get(&packer->world.devices, core->cpu, &now, err) < 0)
        return -1;
    if (now == core->was)
        return 0;
    if (is_berths(core, now))
        return prefetchers_put(&packer->world.devices, core->cpu, core->was, err);
    log_warn("CPU %u: somebody else has switched its prefetchers (0x%llx, before berth 0x%llx): "
             "left as they are",
             core->cpu, (unsigned long long)now, (unsigned long long)core->was);
    return 0;
}

/* Gives back the i-th register, and forgets it; one that cannot be is nobody's until it can.
 * Returns whether the journal is to forget it, too. */
static bool drop(const struct packer *packer, size_t i)
{
    struct core_register *core = &packer->state->registers->core[i];
    bool changed = core->changed;
    struct berth_error err;

    if (give_back(packer, core, &err) == 0) {
        registers_drop(packer->state->registers, core);
        return changed;
    }
    core->owner = 0;
    if (!core->said)
        log_error("%s: its prefetchers are given back later", err.text);
    core->said = true;
    return false;
}

/* Gives back those that `whose` says; the journal is told afterwards. */
static void drop_all(const struct packer *packer,
                     bool (*whose)(const struct packer *packer, const struct core_register *core,
                                   const struct step *step),
                     const struct step *step)
{
    struct berth_error err;
    bool told = false;

    for (size_t i = packer->state->registers->n; i-- > 0;)
        if (whose(packer, &packer->state->registers->core[i], step))
            told |= drop(packer, i);
    if (told && journal_registers(packer, &err) < 0)
        log_error("%s", err.text);
}

static bool is_of(const struct packer *packer, const struct core_register *core,
                  const struct step *step)
{
    (void)packer;
    return core->owner == step->serial;
}

void prefetch_give_back(const struct packer *packer, const struct step *step)
{
    drop_all(packer, is_of, step);
}

/* Is the register of a core that its step has no more? */
static bool is_stale(const struct packer *packer, const struct core_register *core,
                     const struct step *step)
{
    struct cpus own;

    step = core->owner ? registry_find_serial(packer->steps, core->owner) : NULL;
    if (!step || !step_movable(step))
        return true;
    prefetch_own(packer, step, &own);
    return !cpus_has(&own, core->cpu);
}

void prefetch_settle(const struct packer *packer)
{
    drop_all(packer, is_stale, NULL);
}

/* ---- switching ---- */

/* Takes over the register of a core, as it is. */
static int take(const struct packer *packer, const struct step *step, uint32_t cpu,
                struct berth_error *err)
{
    struct core_register *core = registers_find(packer->state->registers, cpu);
    uint64_t now;

    if (core && core->owner == step->serial)
        return 0;
    if (core)
        return berth_error_set(err, "CPU %u: its prefetchers are not given back yet", cpu);
    if (prefetchers_get(&packer->world.devices, cpu, &now, err) < 0)
        return -1;
    core = registers_add(packer->state->registers, cpu);
    if (!core)
        return berth_no_memory(err);
    core->was = core->holds = now;
    core->mask = packer->state->registers->prefetchers;
    core->owner = step->serial;
    return 0;
}

/* Has the journal know of those that are to be changed, before one is. */
static int announce(const struct packer *packer, const struct step *step, enum prefetch_want want,
                    struct berth_error *err)
{
    struct registers *registers = packer->state->registers;
    bool more = false;

    for (size_t i = 0; i < registers->n; i++) {
        struct core_register *core = &registers->core[i];

        if (core->owner != step->serial || core->changed || core->holds == value_of(core, want))
            continue;
        core->changed = more = true;
    }
    return more ? journal_registers(packer, err) : 0;
}

/* Writes one, unless somebody else has. */
static int put(const struct packer *packer, struct core_register *core, enum prefetch_want want,
               struct berth_error *err)
{
    uint64_t now, value = value_of(core, want);

    if (core->holds == value)
        return 0;
    if (prefetchers_get(&packer->world.devices, core->cpu, &now, err) < 0)
        return -1;
    if (now != core->holds)
        return berth_error_set(err, "CPU %u: somebody else has switched its prefetchers",
                               core->cpu);
    core->left = true; /* one that fails may have been written all the same */
    if (prefetchers_put(&packer->world.devices, core->cpu, value, err) < 0)
        return -1;
    core->left = false;
    core->holds = value;
    return 0;
}

int prefetch_set(const struct packer *packer, const struct step *step, enum prefetch_want want,
                 struct berth_error *err)
{
    struct registers *registers = packer->state->registers;
    struct cpus own;

    prefetch_settle(packer);
    if (want == PREFETCH_LEAVE) {
        prefetch_give_back(packer, step);
        return 0;
    }
    prefetch_own(packer, step, &own);
    cpus_foreach(cpu, &own) if (take(packer, step, (uint32_t)cpu, err) < 0) return -1;
    if (announce(packer, step, want, err) < 0)
        return -1;
    for (size_t i = 0; i < registers->n; i++)
        if (registers->core[i].owner == step->serial &&
            put(packer, &registers->core[i], want, err) < 0)
            return -1;
    return 0;
}

size_t prefetch_switched(const struct packer *packer, const struct step *step)
{
    size_t n = 0;

    for (size_t i = 0; i < packer->state->registers->n; i++) {
        const struct core_register *core = &packer->state->registers->core[i];

        n += core->owner == step->serial && core->holds != core->was;
    }
    return n;
}
