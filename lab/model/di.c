/* SPDX-License-Identifier: GPL-2.0-or-later */
/* di - the models that place threads on a regular machine: di, dio-power, isolate.
 *
 * All read {"arity":[packages, caches per package, cores per cache],"threads":[...]} and answer
 * with
 * {"cores":{name:index}}; they differ in what places the threads. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/energy/power.h"
#include "models/placing/di.h"
#include "models/placing/dio_power.h"
#include "models/placing/isolate.h"
#include "packer/base/json.h"
#include "packer/base/json_asked.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/input.h"
#include "lab/model/models.h"

#define NAME_MAX_BYTES 256
#define CORES_MAX (1u << 20) /* of a machine given by its arity: more is a mistake */

/* Holds the machine of `arity`: packages, caches of a package, cores of a cache. */
struct regular {
    struct di_machine machine;
    struct di_level level[3];
    size_t *parent; /* of all levels, one after the other */
};

static int read_arity(struct json_object *input, uint64_t count[3], struct berth_error *err)
{
    static const struct json_field item = {.kind = JSON_UNSIGNED,
                                           .need = JSON_REQUIRED,
                                           .size = sizeof(uint64_t),
                                           .min = 1,
                                           .max = CORES_MAX};
    struct json_object *list;

    if (json_get_array(input, "arity", JSON_REQUIRED, &list, err) < 0)
        return -1;
    if (json_object_array_length(list) != 3)
        return berth_error_set(err,
                               "arity: three numbers expected (packages, caches per package, cores "
                               "per cache), not %zu",
                               json_object_array_length(list));
    if (json_get_list(list, "arity", 3, &item, count, sizeof(count[0]), err) < 0)
        return -1;
    for (size_t i = 1; i < 3; i++)
        if ((count[i] *= count[i - 1]) > CORES_MAX)
            return berth_error_set(err, "arity: more than %u cores", CORES_MAX);
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

/* ---- the threads ---- */

struct workload {
    struct regular regular;
    double devil_miss_pmi;
    size_t n;
    double *miss_pmi;          /* [n] */
    size_t *core;              /* [n] where it is placed */
    struct json_object *list;  /* "threads", the input's */
    struct json_object *cores; /* "cores": each name with null until the threads are placed */
};

/* Reads threads[i], and adds its name as a field of `cores` whose value comes later. */
static int read_thread(struct workload *load, size_t i, struct berth_error *err)
{
    struct json_object *thread = json_object_array_get_idx(load->list, i);
    char name[NAME_MAX_BYTES];
    struct json_field name_field = {
        .name = "name", .need = JSON_REQUIRED, .kind = JSON_TEXT, .size = sizeof(name), .min = 1};
    struct json_field rate_field = {
        .name = "miss_pmi", .need = JSON_REQUIRED, .kind = JSON_NUMBER, .max = HUGE_VAL};

    if (json_get(thread, &name_field, name, err) < 0 ||
        json_get(thread, &rate_field, &load->miss_pmi[i], err) < 0)
        return berth_error_before(err, "threads[%zu].", i);
    if (json_object_object_get_ex(load->cores, name, NULL))
        return berth_error_set(err, "threads[%zu].name: %s is there twice", i,
                               json_object_to_json_string(json_find(thread, "name")));
    json_add(load->cores, name, NULL);
    return 0;
}

/* Reads the threads and their machine. 0, or -1 and err; load is to be freed in both cases. */
static int workload_read(struct workload *load, struct json_object *input, struct berth_error *err)
{
    *load = (struct workload){.devil_miss_pmi = DIO_POWER_DEVIL_MISS_PMI};
    if (ctl_input_threshold(input, "devil_miss_pmi", &load->devil_miss_pmi, err) < 0 ||
        regular_read(&load->regular, input, err) < 0 ||
        ctl_input_list(input, "threads", json_type_object, &load->list, err) < 0)
        return -1;
    load->n = json_object_array_length(load->list);
    load->miss_pmi = calloc(load->n, sizeof(*load->miss_pmi));
    load->core = calloc(load->n, sizeof(*load->core));
    load->cores = json_object_new_object();
    if (!load->miss_pmi || !load->core || !load->cores)
        return berth_error_set(err, "threads: out of memory");
    for (size_t i = 0; i < load->n; i++)
        if (read_thread(load, i, err) < 0)
            return -1;
    return 0;
}

static void workload_free(struct workload *load)
{
    free(load->regular.parent);
    free(load->miss_pmi);
    free(load->core);
    json_object_put(load->cores);
}

/* Returns {"cores":{...}} once the threads are placed. */
static struct json_object *workload_answer(struct workload *load)
{
    struct json_object *output = json_object_new_object();
    size_t i = 0;

    json_object_object_foreach(load->cores, name, unset)
    {
        (void)unset;
        json_add(load->cores, name, json_object_new_uint64(load->core[i++]));
    }
    json_add(output, "cores", load->cores);
    load->cores = NULL;
    return output;
}

/* ---- di ---- */

static int place_by_di(struct workload *load)
{
    struct di_unit *unit = calloc(load->n, sizeof(*unit));
    int rc = -1;

    for (size_t i = 0; unit && i < load->n; i++)
        unit[i] = (struct di_unit){.miss_pmi = load->miss_pmi[i], .cores = 1};
    if (unit)
        rc = di_place(&load->regular.machine, load->n, unit, load->core);
    free(unit);
    return rc;
}

/* Answers where each thread is, once it was placed with success (rc 0); else NULL and err. */
static struct json_object *answer(struct workload *load, int rc, struct berth_error *err)
{
    if (rc == 0)
        return workload_answer(load);
    berth_error_set(err, "threads: %s", strerror(errno));
    return NULL;
}

struct json_object *ctl_model_di(struct json_object *input, struct berth_error *err)
{
    struct json_object *output = NULL;
    struct workload load;

    if (workload_read(&load, input, err) == 0)
        output = answer(&load, place_by_di(&load), err);
    workload_free(&load);
    return output;
}

/* ---- dio-power ---- */

/* What the machine draws above idle, spread and clustered, and idle: W. */
struct watts {
    double spread_w, cluster_w, idle_w;
};

#define WATTS_MAX 1e9
static const struct json_field watts_fields[] = {
    JSON_RANGE(struct watts, "spread_w", spread_w, REQUIRED, 1e-3, WATTS_MAX),
    JSON_RANGE(struct watts, "cluster_w", cluster_w, REQUIRED, 1e-3, WATTS_MAX),
    JSON_RANGE(struct watts, "idle_w", idle_w, OPTIONAL, 0, WATTS_MAX),
    JSON_END,
};

/* Words of "order", by struct cluster_rule's idle_count. */
static const char *const orders[] = {"balanced", "printed"};

/* Reads the order and the watts; *asked: there are some. */
static int read_power(struct json_object *input, int *order, struct watts *watts, bool *asked,
                      struct berth_error *err)
{
    struct json_object *object = NULL;

    if (json_get_word(input, "order", JSON_OPTIONAL, orders, 2, order, err) < 0 ||
        json_get_object(input, "power", JSON_OPTIONAL, &object, err) < 0)
        return -1;
    *asked = object;
    return object && json_read(object, watts_fields, watts, err) < 0
               ? berth_error_before(err, "power.")
               : 0;
}

struct json_object *ctl_model_dio_power(struct json_object *input, struct berth_error *err)
{
    struct json_object *output = NULL;
    struct watts watts = {0};
    struct workload load;
    bool asked = false;
    int order = 0;

    if (workload_read(&load, input, err) == 0 &&
        read_power(input, &order, &watts, &asked, err) == 0) {
        const struct cluster_rule rule = {load.devil_miss_pmi, order};

        output = answer(
            &load, dio_power_place(&load.regular.machine, &rule, load.n, load.miss_pmi, load.core),
            err);
    }
    if (output && asked)
        json_add_double(
            output, "break_even",
            power_break_even(watts.spread_w + watts.idle_w, watts.cluster_w + watts.idle_w));
    workload_free(&load);
    return output;
}

/* ---- isolate ---- */

/* Name the levels of `regular` that can be a domain. */
static const char *const domains[] = {"package", "cache"};
enum { DOMAINS = sizeof(domains) / sizeof(domains[0]) };

static int read_wishes(const struct workload *load, struct isolate_unit *unit,
                       struct berth_error *err)
{
    for (size_t i = 0; i < load->n; i++) {
        struct json_object *object = json_object_array_get_idx(load->list, i);

        unit[i].unit = (struct di_unit){.miss_pmi = load->miss_pmi[i], .cores = 1};
        unit[i].group = i;
        unit[i].sensitive = load->miss_pmi[i] >= load->devil_miss_pmi;
        if (json_get_bool(object, "prioritised", JSON_OPTIONAL, &unit[i].prioritised, err) < 0 ||
            json_get_bool(object, "sensitive", JSON_OPTIONAL, &unit[i].sensitive, err) < 0)
            return berth_error_before(err, "threads[%zu].", i);
    }
    return 0;
}

/* Places the threads in domains as asked; DOMAINS: in those that serve them best, which *domain
 * then tells. */
static long place_isolated(struct workload *load, const struct isolate_unit *unit, bool *isolated,
                           int *domain)
{
    const struct di_machine *machine = &load->regular.machine;
    size_t level = (size_t)*domain;
    long count;

    if (*domain < DOMAINS)
        return isolate_place(machine, level, load->devil_miss_pmi, load->n, unit, load->core,
                             isolated);
    count = isolate_place_best(machine, load->devil_miss_pmi, load->n, unit, load->core, isolated,
                               &level);
    *domain = (int)level;
    return count;
}

static struct json_object *answer_isolated(struct workload *load, const bool *isolated, int domain)
{
    struct json_object *output, *names = json_object_new_array();

    for (size_t i = 0; i < load->n; i++) {
        struct json_object *thread = json_object_array_get_idx(load->list, i);

        if (isolated[i])
            json_append(names, json_object_get(json_find(thread, "name")));
    }
    output = workload_answer(load);
    json_add(output, "isolated", names);
    json_add_text(output, "domain", json_object_array_length(names) ? domains[domain] : NULL);
    return output;
}

struct json_object *ctl_model_isolate(struct json_object *input, struct berth_error *err)
{
    struct json_object *output = NULL;
    struct isolate_unit *unit = NULL;
    bool *isolated = NULL;
    struct workload load;
    int domain = DOMAINS;

    if (json_get_word(input, "domain", JSON_OPTIONAL, domains, DOMAINS, &domain, err) < 0)
        return NULL;
    if (workload_read(&load, input, err) < 0)
        goto out;
    unit = calloc(load.n, sizeof(*unit));
    isolated = calloc(load.n, sizeof(*isolated));
    if (!unit || !isolated)
        berth_error_set(err, "threads: out of memory");
    else if (read_wishes(&load, unit, err) == 0) {
        if (place_isolated(&load, unit, isolated, &domain) < 0)
            berth_error_set(err, "threads: %s", strerror(errno));
        else
            output = answer_isolated(&load, isolated, domain);
    }
out:
    workload_free(&load);
    free(unit);
    free(isolated);
    return output;
}
