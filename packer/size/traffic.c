/* SPDX-License-Identifier: GPL-2.0-or-later */
/* traffic - see traffic.h
 *
 * What somebody has told goes before what was measured, and this run before earlier ones. Where
 * data flow between nodes is not known, all is taken to be local: threads that touch their data
 * first have it there. */
#include "packer/size/traffic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/observe/learn.h"
#include "packer/size/cores.h"
#include "packer/steps/program.h"
#include "enum_table.h"

const char *const TABLE(size_matrix_name, SIZE_MATRICES) = {
    ROW(SIZE_MATRIX_NOTHING) = NULL,
    ROW(SIZE_MATRIX_STORE) = "store",
    ROW(SIZE_MATRIX_PAGES) = "pages",
    ROW(SIZE_MATRIX_COUNTED) = "counted",
};
TABLE_COMPLETE(size_matrix_name);

void traffic_free(struct size_traffic *traffic)
{
    free(traffic->read_solo);
    free(traffic->write_solo);
    profile_demand_free(traffic->stored);
    *traffic = (struct size_traffic){0};
}

/* Says whether the store tells what so many cores ask of their own memory: by a curve, or by what
 * DraMon has to know. */
static bool tells_local(const struct profile_demand *stored)
{
    return stored && (stored->cores || (profile_dram_known(&stored->dram) &&
                                        !isnan(stored->dram.issue_rate_single)));
}

int traffic_new(size_t nodes, struct size_traffic *traffic, struct berth_error *err)
{
    *traffic = (struct size_traffic){.nodes = nodes, .core_gbps = NAN};
    traffic->read_solo = calloc(nodes * nodes, sizeof(*traffic->read_solo));
    traffic->write_solo = calloc(nodes * nodes, sizeof(*traffic->write_solo));
    if (traffic->read_solo && traffic->write_solo)
        return 0;
    traffic_free(traffic);
    return berth_no_memory(err);
}

int traffic_copy(const struct size_traffic *from, struct size_traffic *to, struct berth_error *err)
{
    struct size_traffic copy;
    size_t size = from->nodes * from->nodes * sizeof(*from->read_solo);

    if (traffic_new(from->nodes, &copy, err) < 0)
        return -1;
    *to = *from;
    to->stored = NULL;
    to->read_solo = memcpy(copy.read_solo, from->read_solo, size);
    to->write_solo = memcpy(copy.write_solo, from->write_solo, size);
    return 0;
}

double traffic_local(const struct size_traffic *traffic, size_t node)
{
    size_t own = node * traffic->nodes + node;

    if (!traffic->measured)
        return traffic->core_gbps;
    return traffic->read_solo[own] + traffic->write_solo[own];
}

/* The nodes of the machine profile on which the step has cores. */
static void find_held(const struct packer *packer, const struct step *step, struct cpus *held)
{
    const struct topo *topo = packer->world.topo;
    unsigned count[CPUS_MAX];

    cpus_zero(held);
    size_cores_on_nodes(packer, step, false, count);
    for (size_t t = 0; t < topo->nodes; t++)
        for (size_t i = 0; count[t] > 0 && i < packer->world.machine->nodes; i++)
            if (packer->world.machine->node[i].os_index == topo->node[t].os_index)
                cpus_add(held, i);
}

/* What the step was measured to ask for in its present phase, if that says something of all its
 * nodes. */
static bool take_measured(struct size_traffic *traffic, const struct step *step,
                          const struct cpus *held)
{
    const struct size_traffic *measured = step->size.loop.traffic;
    size_t size = traffic->nodes * traffic->nodes * sizeof(*traffic->read_solo);

    if (!measured || measured->nodes != traffic->nodes || !cpus_subset(held, &measured->known))
        return false;
    memcpy(traffic->read_solo, measured->read_solo, size);
    memcpy(traffic->write_solo, measured->write_solo, size);
    traffic->core_gbps = measured->core_gbps;
    traffic->source = measured->source;
    traffic->measured = measured->measured;
    traffic->known = measured->known;
    traffic->disturbed = measured->disturbed;
    traffic->error = measured->error;
    traffic->seconds = measured->seconds;
    traffic->dram = measured->dram;
    return true;
}

/* Takes over the stored matrix that an earlier run was measured to have; what it does not know is
 * of nodes on which the step has no cores. */
static bool take_learned(const struct packer *packer, struct size_traffic *traffic,
                         const struct cpus *held)
{
    const struct profile_demand *stored = traffic->stored;
    size_t n = traffic->nodes;

    if (!stored || !stored->matrix || stored->nodes != n ||
        strcmp(stored->machine, packer->world.machine_type) != 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!isnan(stored->read_solo[i * n + i]))
            cpus_add(&traffic->known, i);
    if (!cpus_subset(held, &traffic->known)) {
        cpus_zero(&traffic->known);
        return false;
    }
    for (size_t i = 0; i < n * n; i++) {
        traffic->read_solo[i] = fmax(stored->read_solo[i], 0);
        traffic->write_solo[i] = fmax(stored->write_solo[i], 0);
    }
    traffic->source = SIZE_MATRIX_STORE;
    traffic->measured = true;
    traffic->disturbed = stored->disturbed;
    traffic->error = stored->error;
    traffic->seconds = stored->seconds;
    return true;
}

/* Takes over the stored matrix, if somebody has told one. */
static int take_told(struct size_traffic *traffic, struct berth_error *err)
{
    const struct profile_demand *stored = traffic->stored;
    size_t n = traffic->nodes;

    if (!stored || stored->matrix || !stored->nodes)
        return 0;
    if (stored->nodes != n)
        return berth_error_set(err,
                               "its stored rates are of a machine with %zu nodes, this has %zu",
                               stored->nodes, n);
    memcpy(traffic->read_solo, stored->read_solo, n * n * sizeof(*stored->read_solo));
    memcpy(traffic->write_solo, stored->write_solo, n * n * sizeof(*stored->write_solo));
    traffic->source = SIZE_MATRIX_STORE;
    return 0;
}

static int look_up(const struct packer *packer, const struct step *step,
                   struct size_traffic *traffic, struct berth_error *err)
{
    char key[PROFILE_KEY_MAX];

    program_key(step, key);
    if (!key[0])
        return berth_error_set(err, "neither a program nor a tag to look up a profile");
    if (profiles_get_demand(packer->state->profiles, step->request.uid, key, &traffic->stored,
                            err) < 0)
        return -1;
    return take_told(traffic, err);
}

int traffic_of(const struct packer *packer, const struct step *step, struct size_traffic *traffic,
               struct berth_error *err)
{
    struct cpus held;

    if (traffic_new(packer->world.machine->nodes, traffic, err) < 0)
        return -1;
    traffic->core_gbps = step->profile.core_gbps;
    if (look_up(packer, step, traffic, err) < 0)
        return -1;
    find_held(packer, step, &held);
    if (traffic->source == SIZE_MATRIX_NOTHING &&
        (take_measured(traffic, step, &held) || take_learned(packer, traffic, &held)))
        return 0;
    if (tells_local(traffic->stored))
        return 0;
    if (!step->profile.known)
        return berth_error_set(err, "no profile of it");
    if (isnan(traffic->core_gbps))
        return berth_error_set(err, "its profile does not know its instructions per second");
    return 0;
}

/* What is not known is NAN. */
static void fill_learned(const struct size_traffic *traffic, struct profile_demand *demand)
{
    size_t n = traffic->nodes;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            bool known = cpus_has(&traffic->known, i);

            demand->read_solo[j * n + i] = known ? traffic->read_solo[j * n + i] : NAN;
            demand->write_solo[i * n + j] = known ? traffic->write_solo[i * n + j] : NAN;
        }
}

void traffic_learn(const struct packer *packer, const struct step *step,
                   const struct size_traffic *traffic, const struct profile_speed *speed)
{
    size_t n = traffic->nodes;
    struct profile_demand demand = {.nodes = n,
                                    .matrix = traffic->source == SIZE_MATRIX_COUNTED
                                                  ? PROFILE_MATRIX_COUNTED
                                                  : PROFILE_MATRIX_PAGES,
                                    .measured_at = time(NULL),
                                    .seconds = traffic->seconds,
                                    .error = traffic->error,
                                    .disturbed = traffic->disturbed,
                                    .speed = *speed};
    char key[PROFILE_KEY_MAX];

    program_key(step, key);
    if (!learn_wanted(packer) || !traffic->measured || !key[0])
        return;
    snprintf(demand.machine, sizeof(demand.machine), "%s", packer->world.machine_type);
    demand.read_solo = calloc(n * n, sizeof(*demand.read_solo));
    demand.write_solo = calloc(n * n, sizeof(*demand.write_solo));
    if (demand.read_solo && demand.write_solo) {
        fill_learned(traffic, &demand);
        learn_put_demand(packer->state->learner, step->request.uid, key, &demand);
    }
    free(demand.read_solo);
    free(demand.write_solo);
}
