/* SPDX-License-Identifier: GPL-2.0-or-later */
/* locality - the model locality: which memory node each task belongs to. Tasks, objects and nodes
 * have names here, and numbers in the model, in the order in which they are named first. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "models/tasks/locality.h"
#include "lab/model/models.h"

#define CELLS_MOST 10000000 /* of the matrix that is answered */

/* Names with their numbers, an object {"name":number}, and the names in their order. */
struct names {
    struct json_object *number, *list;
};

struct input {
    struct json_object *tasks, *objects; /* borrowed */
    struct names object, node;
    size_t *first, *use, *at; /* struct locality's; at: its node */
    size_t *last_user;        /* [object] the task that used it last, counted from 1 */
    size_t uses;
};

/* Returns the number of a name, which gets one if it has none. */
static size_t number_of(struct names *names, const char *name)
{
    struct json_object *number;

    if (json_object_object_get_ex(names->number, name, &number))
        return json_object_get_uint64(number);
    json_add_u64(names->number, name, json_object_array_length(names->list));
    json_append(names->list, json_object_new_string(name));
    return json_object_array_length(names->list) - 1;
}

static int expect(struct json_object *value, enum json_type type, struct berth_error *err)
{
    enum json_type is = json_object_get_type(value);

    if (is == type)
        return 0;
    return berth_error_set(err, ": %s expected, not %s", json_type_to_name(type),
                           json_type_to_name(is));
}

static int read_task(struct input *input, size_t task, struct json_object *list,
                     struct berth_error *err)
{
    if (expect(list, json_type_array, err) < 0)
        return -1;
    input->first[task] = input->uses;
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        struct json_object *name = json_object_array_get_idx(list, i);
        size_t object;

        if (expect(name, json_type_string, err) < 0)
            return berth_error_before(err, "[%zu]", i);
        object = number_of(&input->object, json_object_get_string(name));
        if (input->last_user[object] != task + 1)
            input->use[input->uses++] = object;
        input->last_user[object] = task + 1;
    }
    input->first[task + 1] = input->uses;
    return 0;
}

static int read_tasks(struct input *input, struct berth_error *err)
{
    size_t task = 0;

    json_object_object_foreach(input->tasks, name, list)
    {
        if (read_task(input, task++, list, err) < 0)
            return berth_error_before(err, "tasks.%.64s", name);
    }
    return 0;
}

/* Objects that no task uses are counted, too. */
static int read_objects(struct input *input, struct berth_error *err)
{
    json_object_object_foreach(input->objects, name, node)
    {
        size_t object = number_of(&input->object, name);

        if (!node)
            continue;
        if (expect(node, json_type_string, err) < 0)
            return berth_error_before(err, "objects.%.64s", name);
        input->at[object] = number_of(&input->node, json_object_get_string(node));
    }
    return 0;
}

static int make_room(struct input *input, struct berth_error *err)
{
    size_t tasks = (size_t)json_object_object_length(input->tasks), uses = 0, objects;

    json_object_object_foreach(input->tasks, name, list)
    {
        (void)name;
        uses += json_object_get_type(list) == json_type_array ? json_object_array_length(list) : 0;
    }
    objects = uses + (size_t)json_object_object_length(input->objects);
    input->first = calloc(tasks + 1, sizeof(*input->first));
    input->use = calloc(uses + 1, sizeof(*input->use));
    input->at = calloc(objects + 1, sizeof(*input->at));
    input->last_user = calloc(objects + 1, sizeof(*input->last_user));
    if (!input->first || !input->use || !input->at || !input->last_user)
        return berth_error_set(err, "tasks: %s", strerror(ENOMEM));
    for (size_t i = 0; i <= objects; i++)
        input->at[i] = LOCALITY_NOWHERE;
    return 0;
}

static int expect_few_cells(const struct input *input, struct berth_error *err)
{
    size_t tasks = (size_t)json_object_object_length(input->tasks),
           nodes = json_object_array_length(input->node.list);

    if ((double)tasks * (double)nodes <= CELLS_MOST)
        return 0;
    return berth_error_set(err, "tasks: %zu on %zu nodes: a matrix of at most %d cells expected",
                           tasks, nodes, CELLS_MOST);
}

static int read_input(struct input *input, struct berth_error *err)
{
    if (json_object_object_length(input->tasks) == 0)
        return berth_error_set(err, "tasks: empty");
    if (!input->objects)
        return berth_error_set(err, "objects: missing");
    if (make_room(input, err) < 0 || read_tasks(input, err) < 0 || read_objects(input, err) < 0)
        return -1;
    return expect_few_cells(input, err);
}

static void add_nodes(struct json_object *output, struct input *input, double *row)
{
    struct locality locality = {.tasks = (size_t)json_object_object_length(input->tasks),
                                .first = input->first,
                                .use = input->use,
                                .objects = json_object_array_length(input->object.list),
                                .node = input->at,
                                .nodes = json_object_array_length(input->node.list)};
    struct json_object *rows = json_object_new_array(), *nodes = json_object_new_object();
    size_t task = 0;

    json_object_object_foreach(input->tasks, name, list)
    {
        size_t node;

        (void)list;
        locality_similarity(&locality, task++, row);
        node = locality_node(locality.nodes, row);
        json_append(rows, json_new_list(locality.nodes, &json_number, row, sizeof(*row)));
        json_add(nodes, name,
                 node == LOCALITY_NOWHERE
                     ? NULL
                     : json_object_get(json_object_array_get_idx(input->node.list, node)));
    }
    json_add(output, "nodes", json_object_get(input->node.list));
    json_add(output, "similarity", rows);
    json_add(output, "node", nodes);
}

static struct names names_new(void)
{
    return (struct names){json_object_new_object(), json_object_new_array()};
}

static void names_free(struct names *names)
{
    json_object_put(names->number);
    json_object_put(names->list);
}

static const struct json_field input_fields[] = {
    JSON_ANY(struct input, "tasks", tasks, REQUIRED, OBJECT),
    JSON_ANY(struct input, "objects", objects, OPTIONAL, OBJECT),
    JSON_END,
};

static int find_nodes(void *of, struct json_object *output, struct berth_error *err)
{
    struct input *in = of;
    double *row = NULL;
    int rc;

    in->object = names_new();
    in->node = names_new();
    rc = read_input(in, err);
    if (rc == 0) {
        row = calloc(json_object_array_length(in->node.list) + 1, sizeof(*row));
        if (row)
            add_nodes(output, in, row);
        else
            rc = berth_error_set(err, "nodes: %s", strerror(ENOMEM));
    }
    names_free(&in->object);
    names_free(&in->node);
    free(in->first);
    free(in->use);
    free(in->at);
    free(in->last_user);
    free(row);
    return rc;
}

CTL_FILTER(locality, struct input, input_fields, find_nodes, .tasks = NULL);
