/* SPDX-License-Identifier: GPL-2.0-or-later */
/* di - the models that place threads on a regular machine: di, dio-power, isolate. All answer with
 * {"cores":{name:index}}; they differ in what places the threads. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/energy/power.h"
#include "models/placing/di.h"
#include "models/placing/dio_power.h"
#include "models/placing/isolate.h"
#include "lab/model/models.h"
#include "enum_table.h"

#define NAME_MAX_BYTES 256
#define CORES_MAX (1u << 20) /* of a machine given by its arity: more is a mistake */
#define WATTS_MAX 1e9
#define NOT_PLACED (-2)

struct thread {
    char name[NAME_MAX_BYTES];
    double miss_pmi;
    bool prioritised, sensitive, says_sensitive; /* of isolate */
};

/* What the machine draws above idle, spread and clustered, and idle: W. */
struct watts {
    double spread_w, cluster_w, idle_w;
};

/* Name the levels of a machine that can be a domain. */
enum domain { DOMAIN_PACKAGE, DOMAIN_CACHE, DOMAINS };
static const char *const TABLE(domains, DOMAINS) = {ROW(DOMAIN_PACKAGE) = "package",
                                                    ROW(DOMAIN_CACHE) = "cache"};
TABLE_COMPLETE(domains);

/* Words of "order", by struct cluster_rule's idle_count. */
static const char *const orders[] = {"balanced", "printed"};

struct input {
    uint64_t *arity; /* packages, caches of a package, cores of a cache */
    size_t arities, threads;
    struct thread *thread;
    double devil_miss_pmi;
    int order;
    bool has_watts;
    struct watts watts;
    enum domain domain; /* DOMAINS: none is wished */
};

/* ---- what is read ---- */

#define THREAD                                                                                     \
    {JSON_AT(struct thread, "name", name, REQUIRED), .kind = JSON_TEXT, .min = 1},                 \
        JSON_RANGE(struct thread, "miss_pmi", miss_pmi, REQUIRED, 0, HUGE_VAL)
#define THRESHOLDS                                                                                 \
    {                                                                                              \
        .name = "thresholds", .kind = JSON_STRUCT, .fields = threshold_fields                      \
    }
#define MACHINE                                                                                    \
    JSON_VALUES(struct input, "arity", arity, arities, REQUIRED, 0, 0, NULL,                       \
                .need = JSON_REQUIRED, .min = 1, .max = CORES_MAX)
#define THREADS(table)                                                                             \
    JSON_STRUCTS(struct input, "threads", thread, threads, REQUIRED, 1, 0, table, NULL)

static const struct json_field threshold_fields[] = {
    JSON_RANGE(struct input, "devil_miss_pmi", devil_miss_pmi, OPTIONAL, 0, HUGE_VAL),
    JSON_END,
};
static const struct json_field watts_fields[] = {
    JSON_RANGE(struct watts, "spread_w", spread_w, REQUIRED, 1e-3, WATTS_MAX),
    JSON_RANGE(struct watts, "cluster_w", cluster_w, REQUIRED, 1e-3, WATTS_MAX),
    JSON_RANGE(struct watts, "idle_w", idle_w, OPTIONAL, 0, WATTS_MAX),
    JSON_END,
};
static const struct json_field thread_fields[] = {THREAD, JSON_END};
static const struct json_field wish_fields[] = {
    THREAD,
    JSON_FIELD(struct thread, "prioritised", prioritised, OPTIONAL),
    {JSON_AT(struct thread, "sensitive", sensitive, OPTIONAL), .kind = JSON_BOOL,
     .given = offsetof(struct thread, says_sensitive) + 1},
    JSON_END,
};

static const struct json_field di_fields[] = {THRESHOLDS, MACHINE, THREADS(thread_fields),
                                              JSON_END};
static const struct json_field dio_power_fields[] = {
    THRESHOLDS,
    MACHINE,
    THREADS(thread_fields),
    JSON_CHOICE(struct input, "order", order, OPTIONAL, orders),
    {JSON_AT(struct input, "power", watts, OPTIONAL), .kind = JSON_STRUCT, .fields = watts_fields,
     .given = offsetof(struct input, has_watts) + 1},
    JSON_END,
};
static const struct json_field isolate_fields[] = {
    JSON_CHOICE(struct input, "domain", domain, OPTIONAL, domains),
    THRESHOLDS,
    MACHINE,
    THREADS(wish_fields),
    JSON_END,
};

/* ---- the machine and its threads ---- */

struct workload {
    struct di_machine machine;
    struct di_level level[3];
    size_t *parent;            /* of all levels, one after the other */
    struct isolate_unit *unit; /* [threads], as the next two */
    double *miss_pmi;
    size_t *core; /* where it is placed */
    bool *isolated;
    struct json_object *cores; /* "cores": each name with null until the threads are placed */
};

static int count_units(const struct input *in, size_t count[3], struct berth_error *err)
{
    if (in->arities != 3)
        return berth_error_set(err,
                               "arity: three numbers expected (packages, caches per package, cores "
                               "per cache), not %zu",
                               in->arities);
    for (size_t i = 0; i < 3; i++)
        if ((count[i] = in->arity[i] * (i ? count[i - 1] : 1)) > CORES_MAX)
            return berth_error_set(err, "arity: more than %u cores", CORES_MAX);
    return 0;
}

static int make_machine(struct workload *load, const struct input *in, struct berth_error *err)
{
    size_t count[3], *parent;

    if (count_units(in, count, err) < 0)
        return -1;
    load->parent = parent = calloc(count[0] + count[1] + count[2], sizeof(*parent));
    if (!parent)
        return berth_error_set(err, "arity: out of memory");
    for (size_t i = 0; i < 3; i++) {
        size_t above = i == 0 ? 1 : count[i - 1];

        load->level[i] = (struct di_level){.count = count[i], .parent = parent};
        for (size_t j = 0; j < count[i]; j++)
            *parent++ = j / (count[i] / above);
    }
    load->machine = (struct di_machine){.depth = 3, .level = load->level};
    return 0;
}

static int add_threads(struct workload *load, const struct input *in, struct berth_error *err)
{
    for (size_t i = 0; i < in->threads; i++) {
        const struct thread *thread = &in->thread[i];
        double miss_pmi = load->miss_pmi[i] = thread->miss_pmi;

        load->unit[i] = (struct isolate_unit){
            .unit = {.miss_pmi = miss_pmi, .cores = 1},
            .group = i,
            .prioritised = thread->prioritised,
            .sensitive =
                thread->says_sensitive ? thread->sensitive : miss_pmi >= in->devil_miss_pmi,
        };
        if (json_object_object_get_ex(load->cores, thread->name, NULL)) {
            struct json_object *name = json_object_new_string(thread->name);

            berth_error_set(err, "threads[%zu].name: %s is there twice", i,
                            json_object_to_json_string(name));
            json_object_put(name);
            return -1;
        }
        json_add(load->cores, thread->name, NULL);
    }
    return 0;
}

/* Makes all of it, of which the names go to the output. The caller frees it, also after an error.
 */
static int workload_make(struct workload *load, const struct input *in, struct json_object *output,
                         struct berth_error *err)
{
    *load = (struct workload){.cores = json_object_new_object()};
    json_add(output, "cores", load->cores);
    if (make_machine(load, in, err) < 0)
        return -1;
    load->unit = calloc(in->threads, sizeof(*load->unit));
    load->miss_pmi = calloc(in->threads, sizeof(*load->miss_pmi));
    load->core = calloc(in->threads, sizeof(*load->core));
    load->isolated = calloc(in->threads, sizeof(*load->isolated));
    if (!load->unit || !load->miss_pmi || !load->core || !load->isolated || !load->cores)
        return berth_error_set(err, "threads: out of memory");
    return add_threads(load, in, err);
}

/* Says where each thread is, where they were placed (rc 0), or why they could not be (NOT_PLACED,
 * and errno), and frees the workload. Returns 0, or -1 and err. */
static int workload_end(struct workload *load, const struct input *in, int rc,
                        struct berth_error *err)
{
    if (rc == NOT_PLACED)
        berth_error_set(err, "threads: %s", strerror(errno));
    for (size_t i = 0; rc == 0 && i < in->threads; i++)
        json_add(load->cores, in->thread[i].name, json_object_new_uint64(load->core[i]));
    free(load->parent);
    free(load->unit);
    free(load->miss_pmi);
    free(load->core);
    free(load->isolated);
    return rc < 0 ? -1 : 0;
}

/* ---- the models ---- */

static int place_by_di(const struct workload *load, size_t n)
{
    struct di_unit *unit = calloc(n, sizeof(*unit));
    int rc = -1;

    for (size_t i = 0; unit && i < n; i++)
        unit[i] = load->unit[i].unit;
    if (unit)
        rc = di_place(&load->machine, n, unit, load->core);
    free(unit);
    return rc;
}

static int spread(void *in, struct json_object *output, struct berth_error *err)
{
    const struct input *of = in;
    struct workload load;
    int rc = workload_make(&load, of, output, err);

    if (rc == 0 && place_by_di(&load, of->threads) < 0)
        rc = NOT_PLACED;
    return workload_end(&load, of, rc, err);
}

static int cluster(void *in, struct json_object *output, struct berth_error *err)
{
    const struct input *of = in;
    const struct cluster_rule rule = {of->devil_miss_pmi, of->order};
    const struct watts *watts = &of->watts;
    struct workload load;
    int rc = workload_make(&load, of, output, err);

    if (rc == 0 && dio_power_place(&load.machine, &rule, of->threads, load.miss_pmi, load.core) < 0)
        rc = NOT_PLACED;
    if (rc == 0 && of->has_watts)
        json_add_double(
            output, "break_even",
            power_break_even(watts->spread_w + watts->idle_w, watts->cluster_w + watts->idle_w));
    return workload_end(&load, of, rc, err);
}

/* Places the threads in domains as asked, else in those that serve them best. Returns how many are
 * isolated, *level their domains; -1. */
static long place_isolated(const struct workload *load, const struct input *in, size_t *level)
{
    *level = in->domain;
    return in->domain < DOMAINS
               ? isolate_place(&load->machine, in->domain, in->devil_miss_pmi, in->threads,
                               load->unit, load->core, load->isolated)
               : isolate_place_best(&load->machine, in->devil_miss_pmi, in->threads, load->unit,
                                    load->core, load->isolated, level);
}

static int isolate(void *in, struct json_object *output, struct berth_error *err)
{
    const struct input *of = in;
    struct json_object *names = json_object_new_array();
    struct workload load;
    size_t level = 0;
    int rc = workload_make(&load, of, output, err);

    if (rc == 0 && place_isolated(&load, of, &level) < 0)
        rc = NOT_PLACED;
    for (size_t i = 0; rc == 0 && i < of->threads; i++)
        if (load.isolated[i])
            json_append(names, json_object_new_string(of->thread[i].name));
    json_add(output, "isolated", names);
    json_add_text(output, "domain",
                  rc == 0 && json_object_array_length(names) ? domains[level] : NULL);
    return workload_end(&load, of, rc, err);
}

CTL_FILTER(di, struct input, di_fields, spread, .devil_miss_pmi = DIO_POWER_DEVIL_MISS_PMI);
CTL_FILTER(dio_power, struct input, dio_power_fields, cluster,
           .devil_miss_pmi = DIO_POWER_DEVIL_MISS_PMI);
CTL_FILTER(isolate, struct input, isolate_fields, isolate,
           .devil_miss_pmi = DIO_POWER_DEVIL_MISS_PMI, .domain = DOMAINS);
