/* SPDX-License-Identifier: GPL-2.0-or-later */
/* size_model - see size/model.h */
#include "packer/size/model_impl.h"

#include <math.h>
#include <stdlib.h>

#include "models/numa/nucore.h"
#include "packer/base/array.h"
#include "packer/size/demand.h"

#define SPREAD_MAX 0.05 /* runs that are further apart say nothing about what is equal */

static void asker_free(struct asker *asker, size_t nodes)
{
    traffic_free(&asker->traffic);
    for (size_t i = 0; asker->local && i < nodes; i++)
        free(asker->local[i]);
    free(asker->local);
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

    while (i + 1 < packer->topo->nodes &&
           packer->topo->node[i].os_index != packer->machine->node[node].os_index)
        i++;
    return i;
}

static int fill_machine(struct size_model *model, struct berth_error *err)
{
    const struct packer *packer = model->packer;
    struct berth_error why;

    model->nodes = packer->machine->nodes;
    model->whole = machine_profile_numem(packer->machine, &why);
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

    if (!packer->machine) {
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

    for (size_t i = 0; i < model->packer->topo->nodes; i++)
        missing += held[i];
    for (size_t i = 0; i < model->nodes; i++)
        missing -= asker->held[i] = held[model->topology[i]];
    return missing ? berth_error_set(err,
                                     "%u of its cores are on nodes that the machine profile "
                                     "does not have",
                                     missing)
                   : 0;
}

static int fill_asker(const struct size_model *model, const struct step *step, const unsigned *held,
                      struct asker *asker, struct berth_error *err)
{
    asker->held = calloc(model->nodes, sizeof(*asker->held));
    asker->local = calloc(model->nodes, sizeof(*asker->local));
    if (!asker->held || !asker->local)
        return berth_no_memory(err);
    if (fill_held(model, held, asker, err) < 0 ||
        traffic_of(model->packer, step, &asker->traffic, err) < 0)
        return -1;
    for (size_t i = 0; i < model->nodes; i++) {
        asker->local[i] = calloc(asker->held[i] + 1, sizeof(**asker->local));
        if (!asker->local[i])
            return berth_no_memory(err);
        if (size_demand_fill(model->packer, step, &asker->traffic, i, asker->local[i],
                             asker->held[i], err) < 0)
            return -1;
    }
    return 0;
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
}

double model_asks(const struct size_model *model, size_t step, const unsigned *cores, size_t node)
{
    const struct asker *asker = &model->asker[step];
    const double *read = &asker->traffic.read_solo[node * model->nodes];
    const double *write = &asker->traffic.write_solo[node * model->nodes];
    double gbps = asker->local[node][cores[node]];

    for (size_t to = 0; to < model->nodes; to++)
        if (to != node)
            gbps += read[to] * cores[to] + write[to] * cores[node];
    return gbps;
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
        double spread = model->packer->machine->node[i].alpha.spread;

        most = isnan(spread) ? most : fmax(most, spread);
    }
    return fmin(most, SPREAD_MAX);
}
