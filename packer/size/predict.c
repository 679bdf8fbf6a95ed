/* SPDX-License-Identifier: GPL-2.0-or-later */
/* predict - what steps get with given cores: NuMem's part of size/model.h
 *
 * Each step is looked at on a machine of which it has its part: of a memory that is asked for more
 * than it has, in proportion to what each asks. */
#include <math.h>
#include <stdlib.h>

#include "packer/size/model_impl.h"

struct scene {
    const struct size_model *model;
    unsigned *cores; /* [steps * nodes] */
    double *asked;   /* [nodes] by all steps and the load */
    double *alpha, *beta;
    double **has;                 /* [nodes][cores + 1] of the step that is looked at */
    enum numem_constraint *limit; /* [nodes] */
    size_t (*where)[2];           /* [nodes] */
};

static void scene_free(struct scene *scene)
{
    free(scene->cores);
    free(scene->asked);
    free(scene->limit);
    free(scene->where);
    for (size_t i = 0; scene->has && i < scene->model->nodes; i++)
        free(scene->has[i]);
    free(scene->has);
}

static int scene_make(struct scene *scene, const struct size_model *model, const unsigned *cores)
{
    size_t n = model->nodes;

    *scene = (struct scene){.model = model};
    scene->cores = calloc(model->steps * n, sizeof(*scene->cores));
    scene->asked = calloc(3 * n, sizeof(*scene->asked));
    scene->limit = calloc(n, sizeof(*scene->limit));
    scene->where = calloc(n, sizeof(*scene->where));
    scene->has = calloc(n, sizeof(*scene->has));
    if (!scene->cores || !scene->asked || !scene->limit || !scene->where || !scene->has)
        return -1;
    scene->alpha = scene->asked + n;
    scene->beta = scene->asked + 2 * n;
    for (size_t cell = 0; cell < model->steps * n; cell++)
        scene->cores[cell] = cores[model_cell(model, cell / n, cell % n)];
    for (size_t i = 0; i < n; i++) {
        scene->asked[i] = model->load[i];
        for (size_t s = 0; s < model->steps; s++)
            scene->asked[i] += model_asks(model, s, &scene->cores[s * n], i);
    }
    return 0;
}

/* What the step's cores have of their own memories beside those of the others. */
static int fill_has(struct scene *scene, size_t s)
{
    const struct size_model *model = scene->model;
    const unsigned *cores = &scene->cores[s * model->nodes];

    for (size_t i = 0; i < model->nodes; i++) {
        free(scene->has[i]);
        scene->has[i] = calloc(model->asker[s].held[i] + 1, sizeof(**scene->has));
        if (!scene->has[i])
            return -1;
        model_has(model, s, i, scene->asked[i] - model_asks(model, s, cores, i), false,
                  scene->has[i]);
    }
    return 0;
}

/* The step's part of each memory. */
static void take_part(struct scene *scene, size_t s)
{
    const struct size_model *model = scene->model;
    const unsigned *cores = &scene->cores[s * model->nodes];

    for (size_t i = 0; i < model->nodes; i++) {
        double local = scene->has[i][cores[i]], all = scene->asked[i];

        scene->alpha[i] = model->whole->alpha[i];
        scene->beta[i] = model->whole->beta[i];
        if (all <= scene->alpha[i])
            continue;
        scene->alpha[i] *= model_asks(model, s, cores, i) / all;
        if (scene->beta[i] * local > scene->alpha[i] &&
            model->whole->beta[i] * local <= model->whole->alpha[i])
            scene->beta[i] = scene->alpha[i] / local * (1 - 1e-12);
    }
}

/* What limits the step on a node. Where more cores are not enough more, or it has more than are
 * enough, that is the memory, too. */
static enum numem_constraint limit_on(const struct scene *scene, const struct asker *asker,
                                      const unsigned *cores, size_t node)
{
    const double *bent = asker->bent[node];
    unsigned c = cores[node], held = asker->held[node];

    if (scene->limit[node] != NUMEM_NONE || !(bent[c] > 0))
        return scene->limit[node];
    if ((c < held && bent[held] <= bent[c]) || (c == held && c > 1 && bent[c] <= bent[c - 1]))
        return NUMEM_LOCAL_BANDWIDTH;
    return NUMEM_NONE;
}

/* One name for the nodes' constraints: the one that most of them have, of those that limit; and
 * where the first of them has it. */
static void sum_up(const struct scene *scene, const struct asker *asker, const unsigned *cores,
                   struct size_prediction *predicted)
{
    size_t count[NUMEM_CONSTRAINTS] = {0};
    enum numem_constraint most = NUMEM_NONE;

    for (size_t i = 0; i < scene->model->nodes; i++)
        if (asker->held[i] > 0)
            count[limit_on(scene, asker, cores, i)]++;
    count[NUMEM_NONE] = 0;
    for (size_t c = NUMEM_NONE + 1; c < NUMEM_CONSTRAINTS; c++)
        if (count[c] > count[most])
            most = (enum numem_constraint)c;
    predicted->constraint = most;
    for (size_t i = scene->model->nodes; i-- > 0;)
        if (asker->held[i] > 0 && limit_on(scene, asker, cores, i) == most)
            for (size_t k = 0; k < 2; k++)
                predicted->where[k] = scene->model->topology[scene->where[i][k]];
}

static struct size_prediction predict(struct scene *scene, size_t s)
{
    const struct asker *asker = &scene->model->asker[s];
    struct numem_machine machine = *scene->model->whole;
    struct numem_program program = {.local_demand = (const double *const *)scene->has,
                                    .read_solo = asker->traffic.read_solo,
                                    .write_solo = asker->traffic.write_solo};
    struct numem_usage usage = {.constraint = scene->limit, .where = scene->where};
    struct size_prediction predicted = {.gbps = NAN, .traffic = &asker->traffic};

    if (fill_has(scene, s) < 0)
        return predicted;
    take_part(scene, s);
    for (size_t i = 0; i < machine.nodes; i++)
        scene->where[i][0] = scene->where[i][1] = i;
    machine.cores = asker->held;
    machine.alpha = scene->alpha;
    machine.beta = scene->beta;
    if (numem_solve(&machine, &program, &scene->cores[s * machine.nodes], &usage, NULL) < 0)
        return predicted;
    predicted.gbps = usage.bandwidth;
    sum_up(scene, asker, &scene->cores[s * machine.nodes], &predicted);
    return predicted;
}

void size_model_predict(const struct size_model *model, const unsigned *cores,
                        struct size_prediction *predicted)
{
    struct scene scene;
    bool known = scene_make(&scene, model, cores) == 0;

    for (size_t s = 0; s < model->steps; s++)
        predicted[s] = known ? predict(&scene, s) : (struct size_prediction){.gbps = NAN};
    scene_free(&scene);
}
