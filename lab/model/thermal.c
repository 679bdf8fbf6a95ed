/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thermal - the model thermal: who leaves which core, look by look. */
#include <math.h>
#include <stdlib.h>

#include "models/energy/thermal.h"
#include "lab/model/models.h"

#define CORES_MAX 1024
#define DEGREES 1000

struct look {
    double *celsius; /* [n] of each core; NAN: not known */
    size_t n;
};

struct input {
    double t1, t2;
    double *on; /* [cores] the program on each; -1: free */
    int32_t *kind;
    size_t cores, kinds;
    struct look *look;
    size_t looks;
};

static const double unknown = NAN, nobody = -1;
static const struct json_field look_item = {
    JSON_ROWS_AT(struct look, NULL, celsius, n, REQUIRED, 0, 0), .unset = &unknown,
    .fields = &(const struct json_field){.kind = JSON_NUMBER, .min = -DEGREES, .max = DEGREES}};
static const struct json_field input_fields[] = {
    JSON_RANGE(struct input, "t1", t1, OPTIONAL, -DEGREES, DEGREES),
    JSON_RANGE(struct input, "t2", t2, OPTIONAL, -DEGREES, DEGREES),
    JSON_VALUES(struct input, "on", on, cores, REQUIRED, 0, 0, &nobody, .max = CORES_MAX - 1,
                .whole = true),
    JSON_VALUES(struct input, "kinds", kind, kinds, OPTIONAL, 0, 0, NULL, .need = JSON_REQUIRED),
    {JSON_ROWS_AT(struct input, "looks", look, looks, OPTIONAL, 1, 0), .fields = &look_item},
    JSON_END,
};

struct node {
    size_t cores, programs;
    struct thermal_core core[CORES_MAX];
    struct thermal_program program[CORES_MAX];
    bool *hot; /* [programs][cores] */
};

/* ---- the input ---- */

static int place_programs(struct node *node, const struct input *in, struct berth_error *err)
{
    node->cores = in->cores;
    if (in->cores == 0 || in->cores > CORES_MAX)
        return berth_error_set(err, "on: 1 to %d cores expected", CORES_MAX);
    for (size_t i = 0; i < in->cores; i++) {
        double who = in->on[i];

        node->core[i] =
            (struct thermal_core){NAN, in->t1, in->t2, who < 0 ? THERMAL_FREE : (size_t)who, false};
        if (who >= (double)node->programs)
            node->programs = (size_t)who + 1;
    }
    if (in->kind && in->kinds != node->programs)
        return berth_error_set(err, "kinds: one for each of %zu programs expected", node->programs);
    if (!in->look)
        return berth_error_set(err, "looks: missing");
    node->hot = calloc(node->programs * node->cores + 1, sizeof(*node->hot));
    if (!node->hot)
        return berth_no_memory(err);
    for (size_t i = 0; i < node->programs; i++) /* all alike, where nothing is said */
        node->program[i] =
            (struct thermal_program){in->kind ? in->kind[i] : 0, node->hot + i * node->cores, NULL};
    return 0;
}

/* So hot is each core at the i-th look; nobody has moved in it yet. */
static int heat(struct node *node, const struct look *look, size_t i, struct berth_error *err)
{
    if (look->n != node->cores)
        return berth_error_set(err, "looks[%zu]: the degrees of %zu cores expected", i,
                               node->cores);
    for (size_t core = 0; core < node->cores; core++) {
        node->core[core].celsius = look->celsius[core];
        node->core[core].rests = false;
    }
    return 0;
}

/* ---- a look ---- */

static struct json_object *who_of(size_t who)
{
    return who == THERMAL_FREE ? NULL : json_object_new_uint64(who);
}

static struct json_object *describe(const struct node *node, size_t from, size_t to)
{
    struct json_object *move = json_object_new_object();
    const struct thermal_core *core = node->core;
    bool moves = to != THERMAL_NONE;

    json_add(move, "program", who_of(core[from].who));
    json_add_u64(move, "core", from);
    json_add_text(move, "limit", thermal_limit_name[thermal_limit_of(&core[from])]);
    json_add(move, "moved_to", moves ? json_object_new_uint64(to) : NULL);
    json_add(move, "exchanged", moves ? who_of(core[to].who) : NULL);
    return move;
}

/* One core: who is on it leaves it, if it is too hot. */
static void look_after(struct node *node, size_t from, struct json_object *moves)
{
    struct thermal_scene scene = {node->cores, node->core, node->program};
    struct thermal_core *core = &node->core[from];
    size_t to, other;

    if (core->who == THERMAL_FREE || core->rests || thermal_limit_of(core) == THERMAL_BELOW)
        return;
    if (thermal_limit_of(core) == THERMAL_T2)
        node->hot[core->who * node->cores + from] = true;
    to = thermal_target(&scene, from);
    json_append(moves, describe(node, from, to));
    if (to == THERMAL_NONE)
        return;
    other = node->core[to].who;
    node->core[to].who = core->who;
    core->who = other;
    core->rests = node->core[to].rests = true;
}

static struct json_object *look(struct node *node)
{
    struct json_object *output = json_object_new_object(), *moves = json_object_new_array(),
                       *on = json_object_new_array();

    for (size_t i = 0; i < node->cores; i++)
        look_after(node, i, moves);
    for (size_t i = 0; i < node->cores; i++)
        json_append(on, who_of(node->core[i].who));
    json_add(output, "moves", moves);
    json_add(output, "on", on);
    return output;
}

static int look_on(struct node *node, const struct input *in, struct json_object *looks,
                   struct berth_error *err)
{
    if (place_programs(node, in, err) < 0)
        return -1;
    for (size_t i = 0; i < in->looks; i++) {
        if (heat(node, &in->look[i], i, err) < 0)
            return -1;
        json_append(looks, look(node));
    }
    return 0;
}

static int add_looks(void *in, struct json_object *output, struct berth_error *err)
{
    struct node *node = calloc(1, sizeof(*node));
    struct json_object *looks = json_object_new_array();
    int rc;

    json_add(output, "looks", looks);
    if (!node)
        return berth_no_memory(err);
    rc = look_on(node, in, looks, err);
    free(node->hot);
    free(node);
    return rc;
}

CTL_FILTER(thermal, struct input, input_fields, add_looks, .t1 = NAN, .t2 = NAN);
