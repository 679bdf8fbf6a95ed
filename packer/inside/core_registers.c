/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core_registers - see core_registers.h */
#include "packer/inside/core_registers.h"

#include <stdlib.h>

#include "packer/base/log.h"
#include "packer/steps/journal.h"
#include "packer/steps/stranger_list.h"
#include "packer/system/cpufreq.h"
#include "packer/system/prefetchers.h"
#include "enum_table.h"

/* ---- the kinds ---- */

/* A new kind is a row here, a key of the journal (steps/registers.c), and what its registers are of
 * a step's cores (core_registers_own). */
static const struct kind {
    const char *what; /* "CPU 3: its ... " */
    int (*get)(const struct rootfs *root, size_t cpu, uint64_t *value, struct berth_error *err);
    int (*put)(const struct rootfs *root, size_t cpu, uint64_t value, struct berth_error *err);
} TABLE(kinds, REGISTER_KINDS) = {
    ROW(REGISTER_PREFETCHERS) = {"prefetchers", prefetchers_get, prefetchers_put},
    ROW(REGISTER_FREQUENCY) = {"greatest frequency", cpufreq_get, cpufreq_put},
};
TABLE_COMPLETE(kinds);

static const struct kind *kind_of(const struct core_register *core)
{
    return &kinds[core->kind];
}

/* Notes which CPUs have a clock together. Returns whether one has a policy, else err. */
static bool find_clocks(const struct packer *packer, uint32_t *clock, struct berth_error *err)
{
    struct cpufreq policy;
    bool any = false;

    for (size_t cpu = 0; cpu < CPUS_MAX; cpu++)
        clock[cpu] = REGISTERS_NO_CLOCK;
    cpus_foreach(cpu, &packer->world.topo->cpus)
    {
        if (cpufreq_read(&packer->world.devices, cpu, &policy, err) < 0)
            continue;
        clock[cpu] = (uint32_t)cpus_next(&policy.cpus, 0);
        any = true;
    }
    return any;
}

void core_registers_open(const struct packer *packer)
{
    struct registers *registers = packer->state->registers;
    struct berth_error err;

    if (prefetchers_find(&packer->world.devices, &registers->prefetchers, &err) < 0)
        lacks_note(packer, LACK_PREFETCHERS, err.text);
    registers->clock = malloc(CPUS_MAX * sizeof(*registers->clock));
    if (registers->clock && find_clocks(packer, registers->clock, &err))
        return;
    if (!registers->clock)
        berth_no_memory(&err);
    berth_error_before(&err, "no clock can be changed here: ");
    lacks_note(packer, LACK_FREQUENCY, err.text);
    free(registers->clock);
    registers->clock = NULL;
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

/* Finds the CPUs of the cores that the step has to itself, and the first one of each. */
static void own_cores(const struct packer *packer, const struct step *step, struct cpus *all,
                      struct cpus *first)
{
    const struct topo *topo = packer->world.topo;
    struct cpus its, others, core;

    enforce_union(&step->body, ENFORCE_PLACE, &its);
    others_of(packer, step, &others);
    cpus_zero(all);
    cpus_zero(first);
    for (size_t i = 0; i < topo->cores; i++) {
        topo_whole(topo, i, &core);
        if (!cpus_subset(&core, &its) || cpus_intersect(&core, &others))
            continue;
        cpus_or(all, &core);
        cpus_add(first, cpus_next(&core, 0));
    }
}

/* Finds the policies, by their first CPUs, that have no CPU but of these. */
static void own_clocks(const struct packer *packer, const struct cpus *all, struct cpus *own)
{
    const uint32_t *clock = packer->state->registers->clock;
    struct cpus shared;

    cpus_zero(own);
    cpus_zero(&shared);
    if (!clock)
        return;
    cpus_foreach(cpu, &packer->world.topo->cpus) if (clock[cpu] != REGISTERS_NO_CLOCK)
        cpus_add(cpus_has(all, cpu) ? own : &shared, clock[cpu]);
    cpus_andnot(own, &shared);
}

void core_registers_own(const struct packer *packer, const struct step *step,
                        enum register_kind kind, struct cpus *own)
{
    struct cpus all, first;

    own_cores(packer, step, &all, &first);
    if (kind == REGISTER_PREFETCHERS)
        *own = first;
    else
        own_clocks(packer, &all, own);
}

/* ---- values ---- */

static uint64_t value_of(const struct core_register *core, enum registers_how how)
{
    if (how == REGISTERS_LEAVE)
        return core->was;
    if (core->kind == REGISTER_FREQUENCY)
        return core->mask < core->was ? core->mask : core->was;
    return how == REGISTERS_CLEAR ? core->was & ~core->mask : core->was | core->mask;
}

static bool is_berths(const struct core_register *core, uint64_t value)
{
    if (!core->left)
        return value == core->holds;
    return value == value_of(core, REGISTERS_CLEAR) || value == value_of(core, REGISTERS_SET);
}

static bool is_of(const struct core_register *core, const struct step *step,
                  enum register_kind kind)
{
    return core->kind == kind && core->owner == step->serial;
}

bool core_registers_are(const struct packer *packer, const struct step *step,
                        const struct registers_want *want)
{
    const struct registers *registers = packer->state->registers;
    size_t held = 0;
    struct cpus own;

    core_registers_own(packer, step, want->kind, &own);
    if (want->how == REGISTERS_LEAVE)
        cpus_zero(&own);
    for (size_t i = 0; i < registers->n; i++) {
        const struct core_register *core = &registers->core[i];

        if (!is_of(core, step, want->kind))
            continue;
        if (!cpus_has(&own, core->cpu) || core->mask != want->mask ||
            core->holds != value_of(core, want->how))
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
    if (kind_of(core)->get(&packer->world.devices, core->cpu, &now, err) < 0)
        return -1;
    if (now == core->was)
        return 0;
    if (is_berths(core, now))
        return kind_of(core)->put(&packer->world.devices, core->cpu, core->was, err);
    log_warn("CPU %u: somebody else has changed its %s (0x%llx, before berth 0x%llx): left so",
             core->cpu, kind_of(core)->what, (unsigned long long)now,
             (unsigned long long)core->was);
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
        log_error("%s: its %s given back later", err.text,
                  core->kind == REGISTER_PREFETCHERS ? "prefetchers are" : "greatest frequency is");
    core->said = true;
    return false;
}

/* Is the register of a core that its step has no more? */
static bool is_stale(const struct packer *packer, const struct core_register *core)
{
    const struct step *step = core->owner ? registry_find_serial(packer->steps, core->owner) : NULL;
    struct cpus own;

    if (!step || !step_movable(step))
        return true;
    core_registers_own(packer, step, core->kind, &own);
    return !cpus_has(&own, core->cpu);
}

/* Gives back those of the step and kind, NULL: those that are stale; the journal is told
 * afterwards. */
static void drop_all(const struct packer *packer, const struct step *step, enum register_kind kind)
{
    struct berth_error err;
    bool told = false;

    for (size_t i = packer->state->registers->n; i-- > 0;) {
        const struct core_register *core = &packer->state->registers->core[i];

        if (step ? is_of(core, step, kind) : is_stale(packer, core))
            told |= drop(packer, i);
    }
    if (told && journal_registers(packer, &err) < 0)
        log_error("%s", err.text);
}

void core_registers_give_back(const struct packer *packer, const struct step *step,
                              enum register_kind kind)
{
    drop_all(packer, step, kind);
}

void core_registers_settle(const struct packer *packer)
{
    drop_all(packer, NULL, REGISTER_KINDS);
}

/* ---- switching ---- */

/* Takes over the register of a core, as it is. */
static int take_core(const struct packer *packer, const struct step *step, uint32_t cpu,
                     const struct registers_want *want, struct berth_error *err)
{
    struct registers *registers = packer->state->registers;
    struct core_register *core = registers_find(registers, want->kind, cpu);
    uint64_t now;

    if (core && core->owner == step->serial)
        return 0;
    if (core)
        return berth_error_set(err, "CPU %u: its %s not given back yet", cpu,
                               core->kind == REGISTER_PREFETCHERS ? "prefetchers are"
                                                                  : "greatest frequency is");
    if (kinds[want->kind].get(&packer->world.devices, cpu, &now, err) < 0)
        return -1;
    core = registers_add(registers, want->kind, cpu);
    if (!core)
        return berth_no_memory(err);
    core->was = core->holds = now;
    core->mask = want->mask;
    core->owner = step->serial;
    return 0;
}

/* Has the journal know of those that are to be changed, before one is. */
static int announce(const struct packer *packer, const struct step *step,
                    const struct registers_want *want, struct berth_error *err)
{
    struct registers *registers = packer->state->registers;
    bool more = false;

    for (size_t i = 0; i < registers->n; i++) {
        struct core_register *core = &registers->core[i];

        if (!is_of(core, step, want->kind) || core->changed ||
            core->holds == value_of(core, want->how))
            continue;
        core->changed = more = true;
    }
    return more ? journal_registers(packer, err) : 0;
}

/* Writes one, unless somebody else has. */
static int put(const struct packer *packer, struct core_register *core, enum registers_how how,
               struct berth_error *err)
{
    uint64_t now, value = value_of(core, how);

    if (core->holds == value)
        return 0;
    if (kind_of(core)->get(&packer->world.devices, core->cpu, &now, err) < 0)
        return -1;
    if (now != core->holds)
        return berth_error_set(err, "CPU %u: somebody else has changed its %s", core->cpu,
                               kind_of(core)->what);
    core->left = true; /* one that fails may have been written all the same */
    if (kind_of(core)->put(&packer->world.devices, core->cpu, value, err) < 0)
        return -1;
    core->left = false;
    core->holds = value;
    return 0;
}

/* Gives back those that hold what was wanted before: the journal has one value of each that is
 * berth's. */
static void drop_others(const struct packer *packer, const struct step *step,
                        const struct registers_want *want)
{
    const struct registers *registers = packer->state->registers;

    for (size_t i = 0; i < registers->n; i++)
        if (is_of(&registers->core[i], step, want->kind) && registers->core[i].mask != want->mask) {
            drop_all(packer, step, want->kind);
            return;
        }
}

int core_registers_set(const struct packer *packer, const struct step *step,
                       const struct registers_want *want, struct berth_error *err)
{
    struct registers *registers = packer->state->registers;
    struct cpus own;

    core_registers_settle(packer);
    if (want->how == REGISTERS_LEAVE) {
        core_registers_give_back(packer, step, want->kind);
        return 0;
    }
    drop_others(packer, step, want);
    core_registers_own(packer, step, want->kind, &own);
    cpus_foreach(cpu, &own) if (take_core(packer, step, (uint32_t)cpu, want, err) < 0) return -1;
    if (announce(packer, step, want, err) < 0)
        return -1;
    for (size_t i = 0; i < registers->n; i++)
        if (is_of(&registers->core[i], step, want->kind) &&
            put(packer, &registers->core[i], want->how, err) < 0)
            return -1;
    return 0;
}

size_t core_registers_changed(const struct packer *packer, const struct step *step,
                              enum register_kind kind)
{
    size_t n = 0;

    for (size_t i = 0; i < packer->state->registers->n; i++) {
        const struct core_register *core = &packer->state->registers->core[i];

        n += is_of(core, step, kind) && core->holds != core->was;
    }
    return n;
}
