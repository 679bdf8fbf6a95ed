/* SPDX-License-Identifier: GPL-2.0-or-later */
/* propose - see propose.h */
#include "packer/daemon/propose.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "packer/base/clock.h"
#include "packer/base/json.h"
#include "packer/base/log.h"
#include "packer/conf/admit.h"
#include "packer/enact/propose.h"
#include "packer/energy/temperatures.h"
#include "packer/inside/core_registers.h"
#include "packer/inside/inside.h"
#include "packer/steps/proposed.h"
#include "packer/system/cpufreq.h"

/* May who asks? 0, or -1 and err. */
static int propose_admit(const struct reply *reply, struct berth_error *err)
{
    if (admit_proposes(&reply->packer->world.conf, reply->uid))
        return 0;
    return berth_error_set(err, "only root and whom berth.conf grants propose may");
}

/* ---- how many in a minute ---- */

/* What is left of a minute's proposals, which come back one by one. */
static double left_of(const struct packer *packer)
{
    const struct proposals *proposals = &packer->state->proposals;
    double most = (double)packer->world.conf.replace_limit;

    if (proposals->at_s == 0)
        return most;
    return fmin(most, proposals->left + (clock_s() - proposals->at_s) * most / 60);
}

static int check_rate(const struct packer *packer, struct berth_error *err)
{
    double most = (double)packer->world.conf.replace_limit, left = left_of(packer);

    if (left >= 1)
        return 0;
    if (most < 1)
        return berth_error_set(err, "replace_limit=0: nothing is moved");
    return berth_error_set(err,
                           "replace_limit: %.0f proposals were carried out in a minute, the next "
                           "may be in %.0f s",
                           most, ceil((1 - left) * 60 / most));
}

static void count_one(const struct packer *packer)
{
    packer->state->proposals.left = left_of(packer) - 1;
    packer->state->proposals.at_s = clock_s();
}

/* ---- the greatest frequency of its cores ---- */

/* Returns the kHz that its cores' driver has, at most as many; 0 and err: they cannot be had. */
static uint64_t khz_of(const struct packer *packer, const struct step *step, uint64_t khz,
                       struct berth_error *err)
{
    struct cpufreq policy;
    struct cpus own;
    size_t cpu;

    if (!packer->state->registers->clock) {
        berth_error_set(err, "%s", lacks_why(packer, LACK_FREQUENCY));
        return 0;
    }
    core_registers_own(packer, step, REGISTER_FREQUENCY, &own);
    if (cpus_empty(&own)) {
        berth_error_set(err, "others run on the cores whose clock its own have");
        return 0;
    }
    cpu = cpus_next(&own, 0);
    if (cpufreq_read(&packer->world.devices, cpu, &policy, err) < 0)
        return 0;
    if (khz >= policy.lowest && khz <= policy.highest)
        return cpufreq_step(&packer->world.devices, cpu, khz);
    berth_error_set(err, "CPU %zu has from %" PRIu64 " to %" PRIu64 " kHz", cpu, policy.lowest,
                    policy.highest);
    return 0;
}

/* Does what the step's record says now; where that fails it says what it said before. */
static int enact(const struct packer *packer, struct step *step, enum step_policy policy,
                 const struct step_proposed *before, struct berth_error *err)
{
    if (inside_propose(packer, step, policy, err) == 0) {
        packer_wake(packer, fmax(0, proposed_due(packer)));
        return 0;
    }
    step->proposed = *before;
    return -1;
}

static int propose_khz(const struct packer *packer, struct step *step,
                       const struct wire_propose *propose, struct berth_error *err)
{
    struct step_proposed before = step->proposed;
    uint64_t had = proposed_khz(step), khz;

    if (propose->for_s == 0) {
        step->proposed.khz = 0;
        inside_withdraw(packer, step, STEP_FREQUENCY);
        return 0;
    }
    khz = khz_of(packer, step, propose->khz, err);
    if (!khz)
        return -1;
    step->proposed.khz = khz;
    step->proposed.khz_until_s = clock_s() + propose->for_s;
    return had == khz ? 0 : enact(packer, step, STEP_FREQUENCY, &before, err);
}

/* ---- their prefetchers ---- */

static int propose_prefetch(const struct packer *packer, struct step *step,
                            const struct wire_propose *propose, struct berth_error *err)
{
    struct step_proposed before = step->proposed;
    enum wire_prefetch had = proposed_prefetch(step), asked = step->request.options.prefetch;

    if (asked != WIRE_PREFETCH_NONE)
        return berth_error_set(err, "its user has asked for prefetch=%s",
                               wire_prefetch_name[asked]);
    if (propose->for_s == 0) {
        step->proposed.prefetch = WIRE_PREFETCH_NONE;
        inside_withdraw(packer, step, STEP_PREFETCH);
        return 0;
    }
    step->proposed.prefetch = propose->prefetch;
    step->proposed.prefetch_until_s = clock_s() + propose->for_s;
    return had == propose->prefetch ? 0 : enact(packer, step, STEP_PREFETCH, &before, err);
}

/* ---- a proposal ---- */

static const char *what_of(const struct wire_propose *propose)
{
    if (!cpus_empty(&propose->cpus))
        return "cpus";
    return propose->khz ? "khz" : "prefetch";
}

static int carry_out(const struct packer *packer, struct step *step,
                     const struct wire_propose *propose, struct berth_error *err)
{
    size_t task = propose->task == UINT32_MAX ? SIZE_MAX : propose->task;

    if (check_rate(packer, err) < 0)
        return -1;
    if (!cpus_empty(&propose->cpus))
        return propose_cpus(packer, step, task, &propose->cpus, err);
    return propose->khz ? propose_khz(packer, step, propose, err)
                        : propose_prefetch(packer, step, propose, err);
}

/* Notes what came of it, for explain. */
static void note(struct step *step, const struct wire_propose *propose, const char *why)
{
    struct step_proposed *proposed = &step->proposed;

    snprintf(proposed->by, sizeof(proposed->by), "%s", propose->policy);
    snprintf(proposed->what, sizeof(proposed->what), "%s", what_of(propose));
    snprintf(proposed->why, sizeof(proposed->why), "%s", why);
    proposed->at = time(NULL);
    if (why[0])
        proposed->refused++;
    else
        proposed->changes++;
}

int propose_act(struct reply *reply, struct berth_error *err)
{
    const struct wire_propose *propose = &reply->request.propose;
    const struct packer *packer = reply->packer;
    struct step *step = registry_find(packer->steps, propose->id);
    char name[WIRE_STEP_NAME_MAX];

    if (propose_admit(reply, err) < 0)
        return -1;
    wire_step_name(propose->id, name);
    if (!step)
        return berth_error_set(err, "step %s: it is not here", name);
    if (carry_out(packer, step, propose, err) < 0) {
        note(step, propose, err->text);
        log_debug("step %s: policy %s: %s: refused: %s", name, propose->policy, what_of(propose),
                  err->text);
        return berth_error_before(err, "step %s: ", name);
    }
    count_one(packer);
    note(step, propose, "");
    log_info("step %s: policy %s: %s, as it proposed", name, propose->policy, what_of(propose));
    return 0;
}

/* ---- the cores ---- */

/* The first policy that asks has the sensors looked for, where thermal=off has not. */
static void find_sensors(const struct packer *packer)
{
    struct states *state = packer->state;
    struct berth_error none;

    if (state->temperatures || state->proposals.looked)
        return;
    state->proposals.looked = true;
    temperatures_open(&state->temperatures, &packer->world.devices, packer->world.topo, &none);
}

int cores_begin(struct reply *reply, struct berth_error *err)
{
    if (propose_admit(reply, err) < 0)
        return -1;
    find_sensors(reply->packer);
    reply->own = calloc(1, sizeof(size_t));
    reply->own_free = free;
    return reply->own ? 0 : berth_no_memory(err);
}

static struct json_object *steps_on(const struct packer *packer, const struct cpus *core)
{
    struct json_object *list = json_object_new_array();
    const struct step *step;
    struct cpus its;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        struct json_object *id;

        enforce_union(&step->body, ENFORCE_PLACE, &its);
        if (step_is_shell(step) || !cpus_intersect(&its, core))
            continue;
        id = json_object_new_array();
        json_append(id, json_object_new_int64(step->request.id.job));
        json_append(id, json_object_new_int64(step->request.id.step));
        json_append(list, id);
    }
    return list;
}

static void add_heat(struct json_object *object, const struct packer *packer, size_t core)
{
    struct temperature is = {NAN, NAN, NAN};

    if (packer->state->temperatures)
        temperatures_read(packer->state->temperatures, core, &is);
    json_add_measure(object, "celsius", is.celsius);
    json_add_measure(object, "t1", is.t1);
    json_add_measure(object, "t2", is.t2);
}

static void add_clock(struct json_object *object, const struct packer *packer, size_t cpu)
{
    const uint32_t *clock = packer->state->registers->clock;
    struct cpufreq is = {.lowest = 0};
    struct berth_error none;
    bool known = clock && clock[cpu] != REGISTERS_NO_CLOCK &&
                 cpufreq_read(&packer->world.devices, cpu, &is, &none) == 0;

    json_add_measure(object, "khz", known && is.now ? (double)is.now : NAN);
    json_add_measure(object, "khz_limit", known ? (double)is.limit : NAN);
    json_add_measure(object, "khz_lowest", known ? (double)is.lowest : NAN);
    json_add_measure(object, "khz_highest", known ? (double)is.highest : NAN);
}

struct json_object *cores_tell(struct reply *reply, const char **name)
{
    const struct packer *packer = reply->packer;
    const struct topo *topo = packer->world.topo;
    size_t core = (*(size_t *)reply->own)++;
    struct json_object *object;
    struct cpus nodes;

    if (core >= topo->cores)
        return NULL;
    *name = "core";
    object = json_object_new_object();
    json_add_cpus(object, "cpus", &topo->core[core].cpus);
    topo_nodes_of(topo, &topo->core[core].cpus, &nodes);
    json_add_cpus(object, "nodes", &nodes);
    json_add_bool(object, "pool", pool_has(packer->pool, core));
    json_add_bool(object, "off",
                  cpus_intersect(&topo->core[core].cpus, &packer->world.enforce->offline));
    json_add(object, "steps", steps_on(packer, &topo->core[core].cpus));
    add_heat(object, packer, core);
    add_clock(object, packer, cpus_next(&topo->core[core].cpus, 0));
    return object;
}
