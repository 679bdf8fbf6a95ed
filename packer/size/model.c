/* SPDX-License-Identifier: GPL-2.0-or-later */
/* size_model - see size/model.h */
#include "packer/size/model_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/numa/nucore.h"
#include "packer/base/array.h"
#include "packer/size/demand.h"

#define SPREAD_MAX 0.05 /* runs that are further apart say nothing about what is equal */

static void asker_free(struct asker *asker, size_t nodes)
{
    traffic_free(&asker->traffic);
    for (size_t i = 0; asker->local && i < nodes; i++)
        free(asker->local[i]);
    for (size_t i = 0; asker->bent && i < nodes; i++)
        free(asker->bent[i]);
    free(asker->local);
    free(asker->bent);
    free(asker->idle);
    free(asker->held);
}

void size_model_free(struct size_model *model)
{
    if (!model)
        return;
    for (size_t s = 0; s < model->steps; s++)
        asker_free(&model->asker[s], model->nodes);
    free(model->asker);
    free(model->topology);
    free(model->load);
    machine_profile_numem_free(model->whole);
    free(model);
}

/* ---- the machine ---- */

/* The topology's number of a node of the machine profile: packer_open has compared the two. */
static size_t find_node(const struct packer *packer, size_t node)
{
    size_t i = 0;

    while (i + 1 < packer->world.topo->nodes &&
           packer->world.topo->node[i].os_index != packer->world.machine->node[node].os_index)
        i++;
    return i;
}

static int fill_machine(struct size_model *model, struct berth_error *err)
{
    const struct packer *packer = model->packer;
    struct berth_error why;

    model->nodes = packer->world.machine->nodes;
    model->whole = machine_profile_numem(packer->world.machine, &why);
    if (!model->whole)
        return berth_error_set(err, "the machine profile is incomplete: %.200s", why.text);
    model->topology = calloc(model->nodes, sizeof(*model->topology));
    model->load = calloc(model->nodes, sizeof(*model->load));
    if (!model->topology || !model->load)
        return berth_no_memory(err);
    for (size_t i = 0; i < model->nodes; i++)
        model->topology[i] = find_node(packer, i);
    return 0;
}

struct size_model *size_model_new(const struct packer *packer, struct berth_error *err)
{
    struct size_model *model;

    if (!packer->world.machine) {
        berth_error_set(err, "no machine profile (berthctl calibrate makes one)");
        return NULL;
    }
    model = calloc(1, sizeof(*model));
    if (!model) {
        berth_no_memory(err);
        return NULL;
    }
    model->packer = packer;
    if (fill_machine(model, err) == 0)
        return model;
    size_model_free(model);
    return NULL;
}

/* ---- its steps ---- */

/* The step's cores on the nodes of the machine profile: all of them, or -1 and err. */
static int fill_held(const struct size_model *model, const unsigned *held, struct asker *asker,
                     struct berth_error *err)
{
    unsigned missing = 0;

    for (size_t i = 0; i < model->packer->world.topo->nodes; i++)
        missing += held[i];
    for (size_t i = 0; i < model->nodes; i++)
        missing -= asker->held[i] = held[model->topology[i]];
    return missing ? berth_error_set(err,
                                     "%u of its cores are on nodes that the machine profile "
                                     "does not have",
                                     missing)
                   : 0;
}

static int fill_node(const struct size_model *model, size_t node, struct asker *asker,
                     struct berth_error *err)
{
    unsigned held = asker->held[node];

    asker->local[node] = calloc(held + 1, sizeof(**asker->local));
    asker->bent[node] = calloc(held + 1, sizeof(**asker->bent));
    if (!asker->local[node] || !asker->bent[node])
        return berth_no_memory(err);
    if (size_demand_fill(model->packer, asker->step, &asker->traffic, node, asker->local[node],
                         held, err) < 0)
        return -1;
    asker->idle[node] = size_demand_idle(model->packer, &asker->traffic, node);
    return 0;
}

static int fill_asker(const struct size_model *model, const struct step *step, const unsigned *held,
                      struct asker *asker, struct berth_error *err)
{
    asker->held = calloc(model->nodes, sizeof(*asker->held));
    asker->idle = calloc(model->nodes, sizeof(*asker->idle));
    asker->local = calloc(model->nodes, sizeof(*asker->local));
    asker->bent = calloc(model->nodes, sizeof(*asker->bent));
    asker->step = step;
    if (!asker->held || !asker->idle || !asker->local || !asker->bent)
        return berth_no_memory(err);
    if (fill_held(model, held, asker, err) < 0 ||
        traffic_of(model->packer, step, &asker->traffic, err) < 0)
        return -1;
    for (size_t i = 0; i < model->nodes; i++)
        if (fill_node(model, i, asker, err) < 0)
            return -1;
    return 0;
}

/* Says anew what NuCore is told of each: by all who are there. */
static void bend(struct size_model *model)
{
    for (size_t s = 0; s < model->steps; s++)
        for (size_t i = 0; i < model->nodes; i++) {
            struct asker *asker = &model->asker[s];
            double others = model->load[i];

            for (size_t o = 0; o < model->steps; o++)
                others += o == s ? 0 : model_asks(model, o, model->asker[o].held, i);
            model_has(model, s, i, others, true, asker->bent[i]);
            size_demand_bend(asker->step, asker->bent[i], asker->held[i]);
        }
}

int size_model_add(struct size_model *model, const struct step *step, const unsigned *held,
                   struct berth_error *err)
{
    struct asker asker = {0};

    if (model->steps == NUCORE_PROGRAMS_MAX)
        return berth_error_set(err, "there are %d steps to size already", NUCORE_PROGRAMS_MAX);
    if (array_grow(&model->asker, &model->room, model->steps + 1, sizeof(asker)) < 0)
        return berth_no_memory(err);
    if (fill_asker(model, step, held, &asker, err) < 0) {
        asker_free(&asker, model->nodes);
        return -1;
    }
    model->asker[model->steps++] = asker;
    bend(model);
    return 0;
}

size_t size_model_steps(const struct size_model *model)
{
    return model->steps;
}

/* ---- what is asked of the memories ---- */

void size_model_load(struct size_model *model, const double *gbps)
{
    for (size_t i = 0; i < model->nodes; i++)
        model->load[i] = gbps[model->topology[i]];
    bend(model);
}

double model_asks(const struct size_model *model, size_t step, const unsigned *cores, size_t node)
{
    const struct asker *asker = &model->asker[step];
    const double *read = &asker->traffic.read_solo[node * model->nodes];
    const double *write = &asker->traffic.write_solo[node * model->nodes];
    double gbps =
        asker->idle[node] > 0 ? cores[node] * asker->idle[node] : asker->local[node][cores[node]];

    for (size_t to = 0; to < model->nodes; to++)
        if (to != node)
            gbps += read[to] * cores[to] + write[to] * cores[node];
    return gbps;
}

void model_has(const struct size_model *model, size_t step, size_t node, double others_gbps,
               bool give_way, double *has)
{
    const struct asker *asker = &model->asker[step];
    unsigned held = asker->held[node];

    memcpy(has, asker->local[node], (held + 1) * sizeof(*has));
    if (asker->idle[node] > 0)
        size_demand_share(model->packer, node, asker->idle[node], others_gbps, give_way, has, held);
    else if (model->load[node] > 0)
        for (unsigned c = 0; c <= held; c++)
            has[c] = model_beside_load(model, node, has[c]);
}

double model_beside_load(const struct size_model *model, size_t node, double gbps)
{
    double all = gbps + model->load[node], most = model->whole->alpha[node];

    return model->load[node] > 0 && all > most ? most * gbps / all : gbps;
}

double size_model_doubt(const struct size_model *model)
{
    double most = 0;

    for (size_t i = 0; i < model->nodes; i++) {
        double spread = model->packer->world.machine->node[i].alpha.spread;

        most = isnan(spread) ? most : fmax(most, spread);
    }
    return fmin(most, SPREAD_MAX);
}
