/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thermal - the model thermal: who leaves which core, look by look. */
#include <math.h>
#include <stdlib.h>

#include "models/energy/thermal.h"
#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/input.h"
#include "lab/model/models.h"

#define CORES_MAX 1024
#define DEGREES 1000

static const struct json_field degrees = {
    .kind = JSON_NUMBER, .min = -DEGREES, .max = DEGREES}; /* null: not known */
static const struct json_field who_item = {
    .kind = JSON_NUMBER, .min = 0, .max = CORES_MAX - 1, .whole = true}; /* null: free */
static const struct json_field kind_item = {.kind = JSON_SIGNED, .size = sizeof(int32_t)};

struct limits {
    double t1, t2;
};

static const struct json_field limit_fields[] = {
    JSON_RANGE(struct limits, "t1", t1, OPTIONAL, -DEGREES, DEGREES),
    JSON_RANGE(struct limits, "t2", t2, OPTIONAL, -DEGREES, DEGREES),
    JSON_END,
};

struct node {
    size_t cores, programs;
    struct thermal_core core[CORES_MAX];
    struct thermal_program program[CORES_MAX];
    bool *hot; /* [programs][cores] */
    struct json_object *looks;
};

/* ---- the input ---- */

/* Reads which program is on which core. */
static int read_cores(struct node *node, struct json_object *input, const struct limits *limits,
                      struct berth_error *err)
{
    double who[CORES_MAX];
    struct json_object *list = NULL;

    if (json_get_array(input, "on", JSON_REQUIRED, &list, err) < 0)
        return -1;
    node->cores = json_object_array_length(list);
    if (node->cores == 0 || node->cores > CORES_MAX)
        return berth_error_set(err, "on: 1 to %d cores expected", CORES_MAX);
    for (size_t i = 0; i < node->cores; i++)
        who[i] = -1;
    if (json_get_list(list, "on", node->cores, &who_item, who, sizeof(*who), err) < 0)
        return -1;
    for (size_t i = 0; i < node->cores; i++) {
        size_t its = who[i] < 0 ? THERMAL_FREE : (size_t)who[i];

        node->core[i] = (struct thermal_core){NAN, limits->t1, limits->t2, its, false};
        if (who[i] >= (double)node->programs)
            node->programs = (size_t)who[i] + 1;
    }
    return 0;
}

/* Reads how the programs disturb others: all alike, where nothing is said. */
static int read_programs(struct node *node, struct json_object *input, struct berth_error *err)
{
    struct json_object *list = NULL;
    int32_t kind[CORES_MAX] = {0};

    if (json_get_array(input, "kinds", JSON_OPTIONAL, &list, err) < 0)
        return -1;
    if (list && json_object_array_length(list) != node->programs)
        return berth_error_set(err, "kinds: one for each of %zu programs expected", node->programs);
    if (list &&
        json_get_list(list, "kinds", node->programs, &kind_item, kind, sizeof(*kind), err) < 0)
        return -1;
    node->hot = calloc(node->programs * node->cores + 1, sizeof(*node->hot));
    if (!node->hot)
        return berth_no_memory(err);
    for (size_t i = 0; i < node->programs; i++)
        node->program[i] = (struct thermal_program){kind[i], node->hot + i * node->cores, NULL};
    return 0;
}

static int read_node(struct node *node, struct json_object *input, struct berth_error *err)
{
    struct limits limits = {NAN, NAN};

    if (json_read(input, limit_fields, &limits, err) < 0 ||
        read_cores(node, input, &limits, err) < 0 || read_programs(node, input, err) < 0)
        return -1;
    return ctl_input_list(input, "looks", json_type_array, &node->looks, err);
}

/* So hot is each core at the i-th look; nobody has moved in it yet. */
static int read_look(struct node *node, size_t i, struct berth_error *err)
{
    struct json_object *list = json_object_array_get_idx(node->looks, i);
    double celsius[CORES_MAX];

    if (json_object_array_length(list) != node->cores)
        return berth_error_set(err, "looks[%zu]: the degrees of %zu cores expected", i,
                               node->cores);
    for (size_t core = 0; core < node->cores; core++)
        celsius[core] = NAN;
    if (json_get_list(list, "", node->cores, &degrees, celsius, sizeof(*celsius), err) < 0)
        return berth_error_before(err, "looks[%zu]", i);
    for (size_t core = 0; core < node->cores; core++) {
        node->core[core].celsius = celsius[core];
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

static struct json_object *answer(struct node *node, struct berth_error *err)
{
    struct json_object *looks = json_object_new_array(), *output;

    for (size_t i = 0; i < json_object_array_length(node->looks); i++) {
        if (read_look(node, i, err) < 0) {
            json_object_put(looks);
            return NULL;
        }
        json_append(looks, look(node));
    }
    output = json_object_new_object();
    json_add(output, "looks", looks);
    return output;
}

struct json_object *ctl_model_thermal(struct json_object *input, struct berth_error *err)
{
    struct node *node = calloc(1, sizeof(*node));
    struct json_object *output = NULL;

    if (!node) {
        berth_no_memory(err);
        return NULL;
    }
    if (read_node(node, input, err) == 0)
        output = answer(node, err);
    free(node->hot);
    free(node);
    return output;
}
