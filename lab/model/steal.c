/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steal - the model steal: workers of several domains that steal tasks from each other. */
#include "models/tasks/steal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/tasks/threshold.h"
#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/input.h"
#include "lab/model/models.h"
#include "enum_table.h"

#define NS 1e-9
#define MOST_NS 1e12
#define MOST_SD 10    /* times the mean: a worker looks again after the mean, at most */
#define CORE_MOST 1e9 /* the number of a core */

static const char *const TABLE(kinds, STEAL_KINDS) = {ROW(STEAL_FLAT) = "flat",
                                                      ROW(STEAL_TREE) = "tree"};
TABLE_COMPLETE(kinds);
static const char *const TABLE(policies, STEAL_POLICIES) = {
    ROW(STEAL_RANDOM) = "random",     ROW(STEAL_THRESHOLD) = "threshold",
    ROW(STEAL_TOPOLOGY) = "topology", ROW(STEAL_SHEPHERD) = "shepherd",
    ROW(STEAL_LITERAL) = "literal",
};
TABLE_COMPLETE(policies);

struct tasks {
    enum steal_kind kind;
    double n;
    struct time {
        double mean, sd;
    } ns;
};

struct input {
    struct tasks tasks;
    enum steal_policy policy;
    double push_ns, pop_ns, capacity;
    uint32_t seed;
    unsigned cores[STEAL_DOMAINS_MAX];
    double latency_s[STEAL_DOMAINS_MAX * STEAL_DOMAINS_MAX];
    struct steal_program program;
};

static const struct json_field time_fields[] = {
    JSON_RANGE(struct time, "mean", mean, REQUIRED, 1, MOST_NS),
    JSON_RANGE(struct time, "sd", sd, REQUIRED, 0, MOST_NS),
    JSON_END,
};

static const struct json_field tasks_fields[] = {
    JSON_CHOICE(struct tasks, "kind", kind, REQUIRED, kinds),
    JSON_WHOLE(struct tasks, "n", n, REQUIRED, 1, STEAL_TASKS_MAX),
    {JSON_AT(struct tasks, "ns", ns, REQUIRED), .kind = JSON_TUPLE, .fields = time_fields},
    JSON_END,
};

static const struct json_field input_fields[] = {
    JSON_NESTED(struct input, "tasks", tasks, REQUIRED, tasks_fields),
    JSON_CHOICE(struct input, "policy", policy, REQUIRED, policies),
    JSON_RANGE(struct input, "push_ns", push_ns, OPTIONAL, 0, MOST_NS),
    JSON_RANGE(struct input, "pop_ns", pop_ns, OPTIONAL, 0, MOST_NS),
    JSON_WHOLE(struct input, "capacity", capacity, OPTIONAL, 1, 1e9),
    JSON_FIELD(struct input, "seed", seed, OPTIONAL),
    JSON_END,
};

static int compare_cores(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Refuses a core that two workers would have. */
static int expect_different(double *core, size_t n, struct berth_error *err)
{
    qsort(core, n, sizeof(*core), compare_cores);
    for (size_t i = 1; i < n; i++)
        if (!(core[i - 1] < core[i]))
            return berth_error_set(err, "domains: core %.0f is in them twice", core[i]);
    return 0;
}

/* Reads a domain's cores, behind the `n` that there are. Returns how many; -1. */
static int read_cores(struct json_object *list, size_t domain, size_t n, double *core,
                      struct berth_error *err)
{
    static const struct json_field item = {
        .kind = JSON_NUMBER, .whole = true, .need = JSON_REQUIRED, .min = 0, .max = CORE_MOST};
    size_t more = json_object_array_length(list);
    char name[64];

    snprintf(name, sizeof(name), "domains[%zu]", domain);
    if (!more)
        return berth_error_set(err, "%s: at least one core expected", name);
    if (n + more > STEAL_WORKERS_MAX)
        return berth_error_set(err, "domains: at most %d cores in all expected", STEAL_WORKERS_MAX);
    if (json_get_list(list, name, more, &item, core + n, sizeof(*core), err) < 0)
        return -1;
    return (int)more;
}

/* Reads which cores each domain has: how many of them counts. */
static int read_domains(struct input *input, struct json_object *object, struct berth_error *err)
{
    struct json_object *list;
    double core[STEAL_WORKERS_MAX];
    size_t sum = 0, n;

    if (ctl_input_list(object, "domains", json_type_array, &list, err) < 0)
        return -1;
    n = json_object_array_length(list);
    if (n > STEAL_DOMAINS_MAX)
        return berth_error_set(err, "domains: at most %d expected", STEAL_DOMAINS_MAX);
    for (size_t i = 0; i < n; i++) {
        int cores = read_cores(json_object_array_get_idx(list, i), i, sum, core, err);

        if (cores < 0)
            return -1;
        input->cores[i] = (unsigned)cores;
        sum += (size_t)cores;
    }
    if (expect_different(core, sum, err) < 0)
        return -1;
    input->program.domains = n;
    return 0;
}

static int read_latencies(struct input *input, struct json_object *object, struct berth_error *err)
{
    static const struct json_field item = {
        .kind = JSON_NUMBER, .need = JSON_REQUIRED, .min = 1, .max = MOST_NS};
    size_t n = input->program.domains;
    struct json_object *list;

    if (ctl_input_list(object, "latency_ns", json_type_array, &list, err) < 0)
        return -1;
    if (json_object_array_length(list) != n)
        return berth_error_set(err, "latency_ns: a row for each of %zu domains expected", n);
    for (size_t i = 0; i < n; i++) {
        char name[64];

        snprintf(name, sizeof(name), "latency_ns[%zu]", i);
        if (json_get_list(json_object_array_get_idx(list, i), name, n, &item,
                          &input->latency_s[i * n], sizeof(double), err) < 0)
            return -1;
    }
    for (size_t i = 0; i < n * n; i++)
        input->latency_s[i] *= NS;
    return 0;
}

static void fill_program(struct input *input)
{
    struct steal_program *program = &input->program;

    program->kind = input->tasks.kind;
    program->n = (uint32_t)input->tasks.n;
    program->mean_s = input->tasks.ns.mean * NS;
    program->sd_s = input->tasks.ns.sd * NS;
    program->cores = input->cores;
    program->latency_s = input->latency_s;
    program->push_s = input->push_ns * NS;
    program->pop_s = input->pop_ns * NS;
    program->capacity = input->capacity > 0              ? input->capacity
                        : input->policy == STEAL_LITERAL ? THRESHOLD_CAPACITY_LITERAL
                                                         : THRESHOLD_CAPACITY;
    program->policy = input->policy;
    program->seed = input->seed;
}

static struct json_object *answer(const struct steal_outcome *outcome)
{
    struct json_object *output = json_object_new_object();

    json_add_double(output, "seconds", outcome->seconds);
    json_add_double(output, "work_s", outcome->work_s);
    json_add_u64(output, "steals", outcome->steals);
    json_add_u64(output, "remote", outcome->remote);
    json_add_u64(output, "journeys", outcome->journeys);
    json_add_u64(output, "misses", outcome->misses);
    return output;
}

struct json_object *ctl_model_steal(struct json_object *object, struct berth_error *err)
{
    struct input input = {.push_ns = 100, .pop_ns = 100, .seed = 1};
    struct steal_outcome outcome;

    if (read_domains(&input, object, err) < 0 || read_latencies(&input, object, err) < 0 ||
        json_read(object, input_fields, &input, err) < 0)
        return NULL;
    if (input.tasks.ns.sd > MOST_SD * input.tasks.ns.mean) {
        berth_error_set(err, "tasks.ns.sd: %g: at most %d times the mean expected",
                        input.tasks.ns.sd, MOST_SD);
        return NULL;
    }
    fill_program(&input);
    if (steal_run(&input.program, &outcome) < 0) {
        berth_error_set(err, "%s", strerror(ENOMEM));
        return NULL;
    }
    return answer(&outcome);
}
