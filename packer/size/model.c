/* SPDX-License-Identifier: GPL-2.0-or-later */
/* size_model - see size/model.h
 *
 * Each step is a program of NuCore's several-program form (Wang 2015, section 5.4; models/numa),
 * that may have no more cores of a node than it holds there. Steps that Slurm let onto the same
 * cores hold them each: the node has as many cores as its steps hold. */
#include "packer/size/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/numa/nucore.h"
#include "packer/base/array.h"
#include "packer/size/demand.h"

/* A step of the question; the nodes are those of the machine profile. */
struct asker {
    struct size_traffic traffic;
    unsigned *held; /* [nodes] */
    double **local; /* [nodes][held + 1] */
};

struct size_model {
    const struct packer *packer;
    struct numem_machine *whole; /* of the machine profile */
    size_t nodes;                /* of it */
    size_t *topology;            /* [nodes] the same node in the topology */
    size_t steps, room;
    struct asker *asker; /* [steps] */
};

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
    if (!model->topology)
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

/* ---- the question, as the models take it ---- */

struct question {
    const struct size_model *model;
    struct numem_machine machine;
    unsigned *cores;                /* [nodes] that the steps hold */
    unsigned *vectors;              /* [steps * nodes] scratch: the result's allocation */
    unsigned *needed;               /* [steps * nodes] */
    double *tables;                 /* all the local demands */
    const double **local;           /* [steps * nodes] */
    enum numem_constraint *limit;   /* [steps * nodes] */
    struct numem_usage *usage;      /* [steps] */
    struct nucore_program *program; /* [steps] */
    struct nucore_result result;
};

static void question_free(struct question *q)
{
    free(q->cores);
    free(q->vectors);
    free(q->needed);
    free(q->tables);
    free(q->local);
    free(q->limit);
    free(q->usage);
    free(q->program);
}

/* Lengthens the demand to a table of all cores of the node; the step never has those beyond its
 * own. */
static void fill_table(const struct asker *asker, size_t node, unsigned cores, double *table)
{
    for (unsigned c = 0; c <= cores; c++)
        table[c] = asker->local[node][c < asker->held[node] ? c : asker->held[node]];
}

static void fill_program(struct question *q, size_t s)
{
    const struct asker *asker = &q->model->asker[s];
    size_t n = q->model->nodes;

    q->program[s] = (struct nucore_program){.use = {.local_demand = &q->local[s * n],
                                                    .read_solo = asker->traffic.read_solo,
                                                    .write_solo = asker->traffic.write_solo},
                                            .least = &q->needed[s * n],
                                            .most = asker->held,
                                            .weight = 1};
    q->usage[s].constraint = &q->limit[s * n];
}

static void fill_programs(struct question *q)
{
    const struct size_model *model = q->model;
    double *table = q->tables;

    for (size_t s = 0; s < model->steps; s++)
        for (size_t i = 0; i < model->nodes; i++) {
            fill_table(&model->asker[s], i, q->cores[i], table);
            q->local[s * model->nodes + i] = table;
            table += q->cores[i] + 1;
        }
    for (size_t s = 0; s < model->steps; s++)
        fill_program(q, s);
    q->machine = *model->whole;
    q->machine.cores = q->cores;
    q->result = (struct nucore_result){.allocation = q->vectors, .usage = q->usage};
}

static int question_make(struct question *q, const struct size_model *model)
{
    size_t cells = model->steps * model->nodes, counts = 0;

    *q = (struct question){.model = model};
    q->cores = calloc(model->nodes, sizeof(*q->cores));
    for (size_t i = 0; q->cores && i < model->nodes; i++) {
        for (size_t s = 0; s < model->steps; s++)
            q->cores[i] += model->asker[s].held[i];
        counts += q->cores[i] + 1;
    }
    q->vectors = calloc(cells, sizeof(*q->vectors));
    q->needed = calloc(cells, sizeof(*q->needed));
    q->tables = calloc(model->steps * counts, sizeof(*q->tables));
    q->local = calloc(cells, sizeof(*q->local));
    q->limit = calloc(cells, sizeof(*q->limit));
    q->usage = calloc(model->steps, sizeof(*q->usage));
    q->program = calloc(model->steps, sizeof(*q->program));
    if (!q->cores || !q->vectors || !q->needed || !q->tables || !q->local || !q->limit ||
        !q->usage || !q->program)
        return -1;
    fill_programs(q);
    return 0;
}

static bool time_is_up(void *until_s)
{
    return clock_s() > *(const double *)until_s;
}

/* Looks for the answer for so long. 0, or -1 and err. */
static int question_ask(struct question *q, double patience_s, struct berth_error *err)
{
    double until_s = clock_s() + patience_s;
    struct nucore nucore = {.machine = &q->machine,
                            .program = q->program,
                            .programs = q->model->steps,
                            .stop = time_is_up,
                            .stop_arg = &until_s};
    struct numem_fault fault;

    if (nucore_check(&nucore, &fault, NULL) < 0)
        return berth_error_set(err, "%s: %s", fault.field, fault.why);
    if (nucore_solve(&nucore, &q->result) < 0)
        return berth_no_memory(err);
    if (q->result.status == NUCORE_INFEASIBLE)
        return berth_error_set(err, "no count of cores fits the machine profile's alpha and beta");
    if (q->result.status == NUCORE_UNKNOWN)
        return berth_error_set(err, "no answer within %.0f ms", patience_s * 1e3);
    return 0;
}

/* Node i of the machine profile is this element of an array of the topology's nodes a step. */
static size_t cell_of(const struct size_model *model, size_t step, size_t node)
{
    return step * model->packer->topo->nodes + model->topology[node];
}

/* ---- questions ---- */

int size_model_choose(const struct size_model *model, const struct size_bounds *bounds,
                      double patience_s, unsigned *chosen, bool *proven, struct berth_error *err)
{
    size_t n = model->nodes;
    struct question q;
    int rc = -1;

    if (question_make(&q, model) < 0)
        berth_no_memory(err);
    else {
        for (size_t s = 0; s < model->steps; s++) {
            q.program[s].cores_min = bounds[s].least;
            q.program[s].cores_max = bounds[s].most;
            for (size_t i = 0; i < n; i++)
                q.needed[s * n + i] = bounds[s].needed[model->topology[i]];
        }
        rc = question_ask(&q, patience_s, err);
    }
    for (size_t cell = 0; rc == 0 && cell < model->steps * n; cell++)
        chosen[cell_of(model, cell / n, cell % n)] = q.vectors[cell];
    *proven = rc == 0 && q.result.status == NUCORE_OPTIMAL;
    question_free(&q);
    return rc;
}

/* One name for the nodes' constraints: the one that most of them have, of those that limit. */
static enum numem_constraint summary(const struct question *q, size_t s)
{
    size_t n = q->model->nodes, count[NUMEM_CONSTRAINTS] = {0};
    enum numem_constraint most = NUMEM_NONE;

    for (size_t i = 0; i < n; i++)
        if (q->model->asker[s].held[i] > 0 && q->limit[s * n + i] != NUMEM_NONE)
            count[q->limit[s * n + i]]++;
    for (size_t c = NUMEM_NONE + 1; c < NUMEM_CONSTRAINTS; c++)
        if (count[c] > count[most])
            most = (enum numem_constraint)c;
    return most;
}

/* Leaves nothing to choose but these cores. */
static void pin(struct question *q, const unsigned *cores)
{
    size_t n = q->model->nodes;

    for (size_t s = 0; s < q->model->steps; s++) {
        unsigned sum = 0;

        for (size_t i = 0; i < n; i++)
            sum += q->needed[s * n + i] = cores[cell_of(q->model, s, i)];
        q->program[s].cores_min = q->program[s].cores_max = sum;
    }
}

#define PREDICT_PATIENCE_S 0.01 /* nothing is left to be looked for: one linear program */

void size_model_predict(const struct size_model *model, const unsigned *cores,
                        struct size_prediction *predicted)
{
    struct berth_error err;
    struct question q;
    bool known = false;

    if (question_make(&q, model) == 0) {
        pin(&q, cores);
        known = question_ask(&q, PREDICT_PATIENCE_S, &err) == 0;
    }
    for (size_t s = 0; s < model->steps; s++)
        predicted[s] = known ? (struct size_prediction){q.usage[s].bandwidth, summary(&q, s)}
                             : (struct size_prediction){NAN, NUMEM_NONE};
    question_free(&q);
}
