/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steal - the model steal: workers of several domains that steal tasks from each other. */
#include "models/tasks/steal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "models/tasks/threshold.h"
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
    double n; /* 0: nothing is said of them */
    struct time {
        double mean, sd;
    } ns;
};

struct domain {
    double *core; /* [n] their numbers; how many there are counts */
    size_t n;
};

struct input {
    struct domain *domain;
    size_t domains;
    struct json_object *latency_ns; /* rows of domains */
    struct tasks tasks;
    enum steal_policy policy; /* STEAL_POLICIES: none is said */
    double push_ns, pop_ns, capacity;
    uint32_t seed;
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

static const struct json_field domain_item = {
    JSON_ROWS_AT(struct domain, NULL, core, n, REQUIRED, 0, 0),
    .fields = &(const struct json_field){
        .kind = JSON_NUMBER, .whole = true, .need = JSON_REQUIRED, .min = 0, .max = CORE_MOST}};
static const struct json_field input_fields[] = {
    {JSON_ROWS_AT(struct input, "domains", domain, domains, REQUIRED, 1, STEAL_DOMAINS_MAX),
     .fields = &domain_item},
    JSON_ANY(struct input, "latency_ns", latency_ns, REQUIRED, ARRAY),
    JSON_NESTED(struct input, "tasks", tasks, OPTIONAL, tasks_fields),
    JSON_CHOICE(struct input, "policy", policy, OPTIONAL, policies),
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

/* Counts the cores of each domain, which all differ. */
static int count_cores(const struct input *in, unsigned *cores, struct berth_error *err)
{
    double core[STEAL_WORKERS_MAX];
    size_t sum = 0;

    for (size_t i = 0; i < in->domains; i++) {
        const struct domain *domain = &in->domain[i];

        if (domain->n == 0)
            return berth_error_set(err, "domains[%zu]: at least one core expected", i);
        if (sum + domain->n > STEAL_WORKERS_MAX)
            return berth_error_set(err, "domains: at most %d cores in all expected",
                                   STEAL_WORKERS_MAX);
        memcpy(core + sum, domain->core, domain->n * sizeof(*core));
        cores[i] = (unsigned)domain->n;
        sum += domain->n;
    }
    return expect_different(core, sum, err);
}

static int read_latencies(const struct input *in, double *latency_s, struct berth_error *err)
{
    static const struct json_field item = {
        .kind = JSON_NUMBER, .need = JSON_REQUIRED, .min = 1, .max = MOST_NS};
    size_t n = in->domains;

    if (json_object_array_length(in->latency_ns) != n)
        return berth_error_set(err, "latency_ns: a row for each of %zu domains expected", n);
    if (json_get_matrix(in->latency_ns, "latency_ns", n, n, &item, latency_s, sizeof(*latency_s),
                        err) < 0)
        return -1;
    for (size_t i = 0; i < n * n; i++)
        latency_s[i] *= NS;
    return 0;
}

static int check_tasks(const struct input *in, struct berth_error *err)
{
    if (in->tasks.n == 0)
        return berth_error_set(err, "tasks: missing");
    if (in->policy == STEAL_POLICIES)
        return berth_error_set(err, "policy: missing");
    if (in->tasks.ns.sd > MOST_SD * in->tasks.ns.mean)
        return berth_error_set(err, "tasks.ns.sd: %g: at most %d times the mean expected",
                               in->tasks.ns.sd, MOST_SD);
    return 0;
}

static struct steal_program program_of(const struct input *in)
{
    return (struct steal_program){
        .kind = in->tasks.kind,
        .n = (uint32_t)in->tasks.n,
        .mean_s = in->tasks.ns.mean * NS,
        .sd_s = in->tasks.ns.sd * NS,
        .domains = in->domains,
        .push_s = in->push_ns * NS,
        .pop_s = in->pop_ns * NS,
        .capacity = in->capacity > 0              ? in->capacity
                    : in->policy == STEAL_LITERAL ? THRESHOLD_CAPACITY_LITERAL
                                                  : THRESHOLD_CAPACITY,
        .policy = in->policy,
        .seed = in->seed,
    };
}

static int add_outcome(void *in, struct json_object *output, struct berth_error *err)
{
    double latency_s[STEAL_DOMAINS_MAX * STEAL_DOMAINS_MAX];
    unsigned cores[STEAL_DOMAINS_MAX];
    struct steal_program program;
    struct steal_outcome outcome;

    if (count_cores(in, cores, err) < 0 || read_latencies(in, latency_s, err) < 0 ||
        check_tasks(in, err) < 0)
        return -1;
    program = program_of(in);
    program.cores = cores;
    program.latency_s = latency_s;
    if (steal_run(&program, &outcome) < 0)
        return berth_error_set(err, "%s", strerror(ENOMEM));
    json_add_double(output, "seconds", outcome.seconds);
    json_add_double(output, "work_s", outcome.work_s);
    json_add_u64(output, "steals", outcome.steals);
    json_add_u64(output, "remote", outcome.remote);
    json_add_u64(output, "journeys", outcome.journeys);
    json_add_u64(output, "misses", outcome.misses);
    return 0;
}

CTL_FILTER(steal, struct input, input_fields, add_outcome, .policy = STEAL_POLICIES, .push_ns = 100,
           .pop_ns = 100, .seed = 1);
