/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl_model - `berthctl model NAME [FILE]`: one model as a filter, JSON in, JSON out.
 *
 * A model is one line of the table and one function that turns an input object into an output
 * object; it prints nothing. */
#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../models/di.h"
#include "ctl.h"
#include "ctl_input.h"
#include "json.h"

#define NAME_MAX_BYTES 256
#define CORES_MAX (1u << 20) /* of a machine given by its arity: more is a mistake */

struct model {
    const char *name;
    /* The answer to `input`, or NULL and err that begins with the field that is wrong. */
    struct json_object *(*run)(struct json_object *input, struct berth_error *err);
    const char *help; /* what it does, its input and output */
};

/* ---- di ---- */

/* The machine of `arity`: packages, caches of a package, cores of a cache. */
struct regular {
    struct di_machine machine;
    struct di_level level[3];
    size_t *parent; /* of all levels, one after the other */
};

static int read_arity(struct json_object *input, uint64_t count[3], struct berth_error *err)
{
    struct json_object *list;
    uint64_t product = 1;

    if (ctl_input_list(input, "arity", json_type_int, &list, err) < 0)
        return -1;
    if (json_object_array_length(list) != 3)
        return berth_error_set(err,
                               "arity: three numbers expected (packages, caches per package, cores "
                               "per cache), not %zu",
                               json_object_array_length(list));
    for (size_t i = 0; i < 3; i++) {
        int64_t n = json_object_get_int64(json_object_array_get_idx(list, i));

        if (n < 1)
            return berth_error_set(err, "arity[%zu]: at least 1 expected", i);
        if ((uint64_t)n > CORES_MAX || (product *= (uint64_t)n) > CORES_MAX)
            return berth_error_set(err, "arity: more than %u cores", CORES_MAX);
        count[i] = product;
    }
    return 0;
}

static int regular_read(struct regular *regular, struct json_object *input, struct berth_error *err)
{
    uint64_t count[3];
    size_t *parent;

    if (read_arity(input, count, err) < 0)
        return -1;
    regular->parent = parent = calloc(count[0] + count[1] + count[2], sizeof(*parent));
    if (!parent)
        return berth_error_set(err, "arity: out of memory");
    for (size_t i = 0; i < 3; i++) {
        size_t above = i == 0 ? 1 : count[i - 1];

        regular->level[i] = (struct di_level){.count = count[i], .parent = parent};
        for (size_t j = 0; j < count[i]; j++)
            *parent++ = j / (count[i] / above);
    }
    regular->machine = (struct di_machine){.depth = 3, .level = regular->level};
    return 0;
}

/* Read threads[i] into unit, and its name as a field of `cores` whose value comes later. */
static int read_thread(struct json_object *list, size_t i, struct di_unit *unit,
                       struct json_object *cores, struct berth_error *err)
{
    struct json_object *thread = json_object_array_get_idx(list, i);
    char name[NAME_MAX_BYTES];
    struct berth_error why;

    if (json_get_text(thread, "name", JSON_REQUIRED, name, sizeof(name), &why) < 0 ||
        json_get_double(thread, "miss_pmi", JSON_REQUIRED, &unit->miss_pmi, &why) < 0)
        return berth_error_set(err, "threads[%zu].%.400s", i, why.text);
    if (!name[0])
        return berth_error_set(err, "threads[%zu].name: empty", i);
    if (unit->miss_pmi < 0)
        return berth_error_set(err, "threads[%zu].miss_pmi: negative", i);
    if (json_object_object_get_ex(cores, name, NULL))
        return berth_error_set(err, "threads[%zu].name: %s is there twice", i,
                               json_object_to_json_string(json_object_object_get(thread, "name")));
    json_object_object_add(cores, name, NULL);
    unit->cores = 1;
    return 0;
}

/* Place the threads on the machine: the object of name: core index, or NULL and err. */
static struct json_object *place_threads(const struct regular *regular, struct json_object *threads,
                                         struct berth_error *err)
{
    size_t n = json_object_array_length(threads), i = 0;
    struct di_unit *unit = calloc(n, sizeof(*unit));
    size_t *core = calloc(n, sizeof(*core));
    struct json_object *cores = json_object_new_object();

    if (!unit || !core || !cores) {
        berth_error_set(err, "threads: out of memory");
        goto fail;
    }
    for (i = 0; i < n; i++)
        if (read_thread(threads, i, &unit[i], cores, err) < 0)
            goto fail;
    if (di_place(&regular->machine, n, unit, core) < 0) {
        berth_error_set(err, "threads: %s", strerror(errno));
        goto fail;
    }
    i = 0;
    json_object_object_foreach(cores, name, unset)
    {
        (void)unset;
        json_object_object_add(cores, name, json_object_new_uint64(core[i++]));
    }
    goto out;
fail:
    json_object_put(cores);
    cores = NULL;
out:
    free(unit);
    free(core);
    return cores;
}

static struct json_object *model_di(struct json_object *input, struct berth_error *err)
{
    struct json_object *threads, *cores, *output;
    struct regular regular = {0};

    if (regular_read(&regular, input, err) < 0)
        return NULL;
    cores = ctl_input_list(input, "threads", json_type_object, &threads, err) < 0
                ? NULL
                : place_threads(&regular, threads, err);
    free(regular.parent);
    if (!cores)
        return NULL;
    output = json_object_new_object();
    json_object_object_add(output, "cores", cores);
    return output;
}

/* ---- the verb ---- */

static const struct model models[] = {
    {"di", model_di,
     "Distributed Intensity: spread the threads that miss most over packages, caches and cores\n"
     "      (Blagodurov 2010, Algorithms 1 and 2). miss_pmi: cache misses per million "
     "instructions;\n"
     "      equal ones keep their order. Cores are numbered depth first.\n"
     "      in   {\"arity\":[packages, caches per package, cores per cache],\n"
     "            \"threads\":[{\"name\":\"mcf\",\"miss_pmi\":21000}]}\n"
     "      out  {\"cores\":{\"mcf\":0}}"},
};
#define MODELS (sizeof(models) / sizeof(models[0]))

static int help(void)
{
    printf(
        "usage: berthctl model NAME [FILE]\n\n"
        "Run one model as a filter: a JSON object in (from FILE, or stdin), a JSON object out.\n\n"
        "  --json  for the sake of all verbs; the output is JSON anyway\n"
        "  --help  this text\n\n");
    for (size_t i = 0; i < MODELS; i++)
        printf("  %s   %s\n", models[i].name, models[i].help);
    return 0;
}

/* The model of that name; NULL where there is none, and `known` lists those that are. */
static const struct model *find_model(const char *name, char *known, size_t size)
{
    size_t used = 0;

    known[0] = '\0';
    for (size_t i = 0; i < MODELS; i++) {
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
        if (used < size)
            used +=
                (size_t)snprintf(known + used, size - used, "%s%s", i ? ", " : "", models[i].name);
    }
    return NULL;
}

static int run(const struct model *model, const char *path)
{
    struct json_object *input, *output;
    struct berth_error err;
    char what[64];

    input = ctl_input_read(path, &err);
    if (!input)
        return ctl_fail(ctl_input_name(path), "%s", err.text);
    output = model->run(input, &err);
    json_object_put(input);
    if (output)
        return ctl_print_json(output);
    snprintf(what, sizeof(what), "model %s", model->name);
    return ctl_fail(what, "%s", err.text);
}

int ctl_model(int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    const struct model *model;
    char known[512];
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (option == 'h')
            return help();
        if (option != 'j')
            return ctl_usage("model", "%s: no such option", argv[optind - 1]);
    }
    model = find_model(optind < argc ? argv[optind] : "", known, sizeof(known));
    if (optind == argc)
        return ctl_usage("model", "no model named; one of: %s", known);
    if (!model)
        return ctl_usage("model", "%s: no such model; one of: %s", argv[optind], known);
    if (optind + 2 < argc)
        return ctl_usage("model", "%s: one FILE only", argv[optind + 2]);
    return run(model, argv[optind + 1]);
}
