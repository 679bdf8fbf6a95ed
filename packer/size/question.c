/* SPDX-License-Identifier: GPL-2.0-or-later */
/* question - how many cores: NuCore's part of size/model.h
 *
 * Each step is a program of NuCore's several-program form that may have no more cores of a node
 * than it holds there. Steps that Slurm let onto the same cores hold them each: the node has as
 * many cores as its steps hold. What others ask of a memory and do not give way with is taken off
 * what the steps get of it, each by himself and all together. */
#include <math.h>
#include <stdlib.h>

#include "models/numa/nucore.h"
#include "packer/size/model_impl.h"

struct question {
    const struct size_model *model;
    struct numem_machine machine;
    unsigned *cores;                /* [nodes] that the steps hold */
    double *alpha;                  /* [nodes] that they get of the memory all together */
    double *beta;                   /* [nodes] */
    unsigned *vectors;              /* [steps * nodes] scratch: the result's allocation */
    unsigned *needed;               /* [steps * nodes] */
    double *tables;                 /* all the local demands */
    double *speed;                  /* [steps] */
    const double **local;           /* [steps * nodes] */
    struct numem_usage *usage;      /* [steps] */
    struct nucore_program *program; /* [steps] */
    struct nucore_result result;
};

static void question_free(struct question *q)
{
    free(q->cores);
    free(q->alpha);
    free(q->beta);
    free(q->vectors);
    free(q->needed);
    free(q->tables);
    free(q->speed);
    free(q->local);
    free(q->usage);
    free(q->program);
}

/* Makes the demand a table of all cores of the node, beside the load; the step never has those
 * beyond its own. */
static void fill_table(const struct size_model *model, size_t s, size_t node, unsigned cores,
                       double *table)
{
    const struct asker *asker = &model->asker[s];

    for (unsigned c = 0; c <= cores; c++)
        table[c] = asker->bent[node][c < asker->held[node] ? c : asker->held[node]];
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
}

/* What the memory has for the steps beside the load, and how much of what its own cores ask for it
 * keeps from others: no more than there is. */
static void fill_node(struct question *q, size_t i)
{
    const struct size_model *model = q->model;
    double all = 0;

    q->alpha[i] = model->whole->alpha[i];
    q->beta[i] = model->whole->beta[i];
    if (!(model->load[i] > 0))
        return;
    for (size_t s = 0; s < model->steps; s++)
        all += model_asks(model, s, model->asker[s].held, i);
    q->alpha[i] = fmin(q->alpha[i], model_beside_load(model, i, all));
    if (q->beta[i] * all > q->alpha[i])
        q->beta[i] = q->alpha[i] / all;
}

static void fill(struct question *q)
{
    const struct size_model *model = q->model;
    double *table = q->tables;

    for (size_t i = 0; i < model->nodes; i++)
        fill_node(q, i);
    for (size_t s = 0; s < model->steps; s++) {
        for (size_t i = 0; i < model->nodes; i++) {
            fill_table(model, s, i, q->cores[i], table);
            q->local[s * model->nodes + i] = table;
            table += q->cores[i] + 1;
        }
        fill_program(q, s);
    }
    q->machine = *model->whole;
    q->machine.cores = q->cores;
    q->machine.alpha = q->alpha;
    q->machine.beta = q->beta;
    q->result =
        (struct nucore_result){.allocation = q->vectors, .usage = q->usage, .speed = q->speed};
}

static int question_make(struct question *q, const struct size_model *model)
{
    size_t n = model->nodes, cells = model->steps * n, counts = 0;

    *q = (struct question){.model = model};
    q->cores = calloc(n, sizeof(*q->cores));
    for (size_t i = 0; q->cores && i < n; i++) {
        for (size_t s = 0; s < model->steps; s++)
            q->cores[i] += model->asker[s].held[i];
        counts += q->cores[i] + 1;
    }
    q->alpha = calloc(n, sizeof(*q->alpha));
    q->beta = calloc(n, sizeof(*q->beta));
    q->vectors = calloc(cells, sizeof(*q->vectors));
    q->needed = calloc(cells, sizeof(*q->needed));
    q->tables = calloc(model->steps * counts, sizeof(*q->tables));
    q->speed = calloc(model->steps, sizeof(*q->speed));
    q->local = calloc(cells, sizeof(*q->local));
    q->usage = calloc(model->steps, sizeof(*q->usage));
    q->program = calloc(model->steps, sizeof(*q->program));
    if (!q->cores || !q->alpha || !q->beta || !q->vectors || !q->needed || !q->tables ||
        !q->speed || !q->local || !q->usage || !q->program)
        return -1;
    fill(q);
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
        return berth_error_set(err, "no answer within %.1f ms", patience_s * 1e3);
    return 0;
}

static void fill_bounds(struct question *q, const struct size_bounds *bounds)
{
    size_t n = q->model->nodes;

    for (size_t s = 0; s < q->model->steps; s++) {
        q->program[s].cores_min = bounds[s].least;
        q->program[s].cores_max = bounds[s].most;
        q->program[s].floor = bounds[s].floor_gbps;
        for (size_t i = 0; i < n; i++)
            q->needed[s * n + i] = bounds[s].needed[q->model->topology[i]];
    }
}

static void fill_answer(const struct question *q, unsigned *chosen, struct size_answer *answer)
{
    size_t n = q->model->nodes;

    *answer = (struct size_answer){.proven = q->result.status == NUCORE_FOUND};
    for (size_t s = 0; s < q->model->steps; s++)
        answer->speed += q->speed[s];
    for (size_t cell = 0; cell < q->model->steps * n; cell++) {
        chosen[model_cell(q->model, cell / n, cell % n)] = q->vectors[cell];
        answer->cores += q->vectors[cell];
    }
}

int size_model_choose(const struct size_model *model, const struct size_bounds *bounds,
                      double patience_s, unsigned *chosen, struct size_answer *answer,
                      struct berth_error *err)
{
    struct question q;
    int rc = -1;

    if (question_make(&q, model) < 0)
        berth_no_memory(err);
    else {
        fill_bounds(&q, bounds);
        rc = question_ask(&q, patience_s, err);
    }
    if (rc == 0)
        fill_answer(&q, chosen, answer);
    question_free(&q);
    return rc;
}
