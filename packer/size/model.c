/* SPDX-License-Identifier: GPL-2.0-or-later */
/* size_model - see size/model.h
 *
 * A step is looked at as if it were alone on the node. Its local demand is the curve that the store
 * has; else so many times what one core alone reads, as far as the machine lets so many cores read.
 * Where data flow between nodes is not known, all is taken to be local: threads that touch their
 * data first have it there. */
#include "packer/size/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/numa/nucore.h"
#include "packer/steps/program.h"

#define SPREAD_MAX 0.05 /* runs that are further apart say nothing about what is equal */

struct size_model {
    struct numem_machine *whole;  /* of the machine profile */
    struct numem_machine machine; /* of it, the step's cores */
    struct numem_program program;
    size_t nodes;                  /* of the machine profile */
    size_t *topology;              /* [nodes] the same node in the topology */
    unsigned *cores;               /* [nodes] */
    double **local;                /* [nodes][cores + 1] */
    double *none;                  /* a matrix of nothing */
    struct profile_demand *demand; /* NULL: none is stored */
};

void size_model_free(struct size_model *model)
{
    if (!model)
        return;
    for (size_t i = 0; model->local && i < model->nodes; i++)
        free(model->local[i]);
    free(model->local);
    free(model->topology);
    free(model->cores);
    free(model->none);
    profile_demand_free(model->demand);
    machine_profile_numem_free(model->whole);
    free(model);
}

/* ---- what the step asks for ---- */

/* What the runs' spread does not tell from the best is as good as the best: NuCore would take a
 * core for any millionth of bandwidth. */
static void flatten(double *local, const struct machine_figure *figure, size_t cores)
{
    double best = 0;

    for (size_t c = 1; c <= cores; c++)
        best = fmax(best, local[c]);
    for (size_t c = 1; c <= cores; c++) {
        double spread = isnan(figure[c].spread) ? 0 : fmin(figure[c].spread, SPREAD_MAX);

        if (local[c] * (1 + spread) >= best)
            local[c] = best;
    }
}

/* Without a stored curve: as many times one core's bandwidth, as far as the memory goes. */
static int derive_local(const struct packer *packer, const struct step *step, size_t node,
                        double *local, size_t cores, struct berth_error *err)
{
    const struct machine_node *of = &packer->machine->node[node];

    for (size_t c = 0; c <= cores; c++) {
        local[c] = machine_profile_local(packer->machine, node, c);
        if (isnan(local[c]))
            return berth_error_set(
                err, "the machine profile does not know the local bandwidth of node %u",
                of->os_index);
    }
    flatten(local, of->local, cores < of->cores ? cores : of->cores);
    for (size_t c = of->cores + 1; c <= cores; c++)
        local[c] = local[of->cores];
    for (size_t c = 0; c <= cores; c++)
        local[c] = fmin(local[c], (double)c * step->profile.core_gbps);
    return 0;
}

static int fill_local(const struct packer *packer, const struct step *step,
                      struct size_model *model, size_t node, struct berth_error *err)
{
    const struct profile_demand *demand = model->demand;
    size_t cores = model->cores[node];

    model->local[node] = calloc(cores + 1, sizeof(**model->local));
    if (!model->local[node])
        return berth_no_memory(err);
    if (!demand || !demand->cores)
        return derive_local(packer, step, node, model->local[node], cores, err);
    if (demand->cores < cores)
        return berth_error_set(err, "its stored curve ends at %zu cores of a node, it has %zu",
                               demand->cores, cores);
    memcpy(model->local[node], demand->curve, (cores + 1) * sizeof(**model->local));
    return 0;
}

/* What is known of the program: 0, or -1 and err. */
static int find_demand(const struct packer *packer, const struct step *step,
                       struct size_model *model, struct berth_error *err)
{
    char key[PROFILE_KEY_MAX];

    program_key(step, key);
    if (!key[0])
        return berth_error_set(err, "neither a program nor a tag to look up a profile");
    if (profiles_get_demand(packer->profiles, step->request.uid, key, &model->demand, err) < 0)
        return -1;
    if (model->demand && model->demand->nodes && model->demand->nodes != model->nodes)
        return berth_error_set(err,
                               "its stored rates are of a machine with %zu nodes, this has %zu",
                               model->demand->nodes, model->nodes);
    if (model->demand && model->demand->cores)
        return 0;
    if (!step->profile.known)
        return berth_error_set(err, "no profile of it");
    if (isnan(step->profile.core_gbps))
        return berth_error_set(err, "its profile does not know its instructions per second");
    return 0;
}

/* ---- the machine ---- */

static const struct topo_node *topo_node_of(const struct packer *packer, size_t node)
{
    for (size_t i = 0; i < packer->topo->nodes; i++)
        if (packer->topo->node[i].os_index == packer->machine->node[node].os_index)
            return &packer->topo->node[i];
    return NULL; /* not so: packer_open has compared them */
}

/* The step's cores on the nodes of the machine profile: all of them, or -1 and err. */
static int fill_cores(const struct packer *packer, const unsigned *held, struct size_model *model,
                      struct berth_error *err)
{
    unsigned missing = 0;

    for (size_t i = 0; i < packer->topo->nodes; i++)
        missing += held[i];
    for (size_t i = 0; i < model->nodes; i++) {
        const struct topo_node *node = topo_node_of(packer, i);

        model->topology[i] = node ? (size_t)(node - packer->topo->node) : 0;
        model->cores[i] = node ? held[model->topology[i]] : 0;
        missing -= model->cores[i];
    }
    return missing ? berth_error_set(err,
                                     "%u of its cores are on nodes that the machine profile "
                                     "does not have",
                                     missing)
                   : 0;
}

static int fill(const struct packer *packer, const struct step *step, const unsigned *held,
                struct size_model *model, struct berth_error *err)
{
    if (fill_cores(packer, held, model, err) < 0 || find_demand(packer, step, model, err) < 0)
        return -1;
    for (size_t i = 0; i < model->nodes; i++)
        if (fill_local(packer, step, model, i, err) < 0)
            return -1;
    model->machine = *model->whole;
    model->machine.cores = model->cores;
    model->program = (struct numem_program){
        .local_demand = (const double *const *)model->local,
        .read_solo = model->demand && model->demand->nodes ? model->demand->read_solo : model->none,
        .write_solo =
            model->demand && model->demand->nodes ? model->demand->write_solo : model->none};
    return 0;
}

static struct size_model *allocate(const struct packer *packer, struct berth_error *err)
{
    struct size_model *model = calloc(1, sizeof(*model));
    struct berth_error why;
    size_t n = packer->machine->nodes;

    if (!model) {
        berth_no_memory(err);
        return NULL;
    }
    model->nodes = n;
    model->topology = calloc(n, sizeof(*model->topology));
    model->cores = calloc(n, sizeof(*model->cores));
    model->local = calloc(n, sizeof(*model->local));
    model->none = calloc(n * n, sizeof(*model->none));
    model->whole = machine_profile_numem(packer->machine, &why);
    if (model->topology && model->cores && model->local && model->none && model->whole)
        return model;
    if (model->whole)
        berth_no_memory(err);
    else
        berth_error_set(err, "the machine profile is incomplete: %.200s", why.text);
    size_model_free(model);
    return NULL;
}

struct size_model *size_model_new(const struct packer *packer, const struct step *step,
                                  const unsigned *held, struct berth_error *err)
{
    struct size_model *model;

    if (!packer->machine) {
        berth_error_set(err, "no machine profile (berthctl calibrate makes one)");
        return NULL;
    }
    model = allocate(packer, err);
    if (!model || fill(packer, step, held, model, err) == 0)
        return model;
    size_model_free(model);
    return NULL;
}

/* ---- questions ---- */

static bool time_is_up(void *until_s)
{
    return clock_s() > *(const double *)until_s;
}

/* What NuCore's status means here: 0, or -1 and err. */
static int judge(enum nucore_status status, double patience_s, struct berth_error *err)
{
    if (status == NUCORE_INFEASIBLE)
        return berth_error_set(err, "no count of cores fits the machine profile's alpha and beta");
    if (status == NUCORE_UNKNOWN)
        return berth_error_set(err, "no answer within %.0f ms", patience_s * 1e3);
    return 0;
}

int size_model_choose(const struct size_model *model, const struct size_bounds *bounds,
                      unsigned *chosen, bool *proven, struct berth_error *err)
{
    unsigned allocation[NUMEM_NODES_MAX], needed[NUMEM_NODES_MAX];
    struct nucore_program program = {.use = model->program,
                                     .least = needed,
                                     .cores_min = bounds->least,
                                     .cores_max = bounds->most,
                                     .weight = 1};
    double until_s = clock_s() + bounds->patience_s;
    struct nucore nucore = {.machine = &model->machine,
                            .program = &program,
                            .programs = 1,
                            .stop = time_is_up,
                            .stop_arg = &until_s};
    struct numem_usage usage = {0};
    struct nucore_result result = {.allocation = allocation, .usage = &usage};
    struct numem_fault fault;

    for (size_t i = 0; i < model->nodes; i++)
        needed[i] = bounds->needed[model->topology[i]];
    if (nucore_check(&nucore, &fault, NULL) < 0)
        return berth_error_set(err, "%s: %s", fault.field, fault.why);
    if (nucore_solve(&nucore, &result) < 0)
        return berth_no_memory(err);
    if (judge(result.status, bounds->patience_s, err) < 0)
        return -1;
    *proven = result.status == NUCORE_OPTIMAL;
    for (size_t i = 0; i < model->nodes; i++)
        chosen[model->topology[i]] = allocation[i];
    return 0;
}

/* One name for the nodes' constraints: the one that most of them have, of those that limit. */
static enum numem_constraint summary(const struct size_model *model,
                                     const enum numem_constraint *constraint)
{
    size_t count[NUMEM_CONTENTION + 1] = {0};
    enum numem_constraint most = NUMEM_NONE;

    for (size_t i = 0; i < model->nodes; i++)
        if (model->cores[i] > 0 && constraint[i] != NUMEM_NONE)
            count[constraint[i]]++;
    for (size_t c = NUMEM_NONE + 1; c <= NUMEM_CONTENTION; c++)
        if (count[c] > count[most])
            most = (enum numem_constraint)c;
    return most;
}

double size_model_predict(const struct size_model *model, const unsigned *cores,
                          enum numem_constraint *constraint)
{
    enum numem_constraint each[NUMEM_NODES_MAX] = {NUMEM_NONE};
    struct numem_usage usage = {.constraint = each};
    unsigned allocation[NUMEM_NODES_MAX];

    for (size_t i = 0; i < model->nodes; i++)
        allocation[i] = cores[model->topology[i]];
    if (numem_solve(&model->machine, &model->program, allocation, &usage, NULL) < 0)
        return NAN;
    if (constraint)
        *constraint = summary(model, each);
    return usage.bandwidth;
}
