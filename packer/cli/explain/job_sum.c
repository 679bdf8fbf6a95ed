/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_sum - see job_sum.h */
#include "packer/cli/explain/job_sum.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "packer/cli/common/ctl.h"
#include "packer/cli/explain/explain_summary.h"
#include "enum_table.h"

const struct job_fact_of TABLE(job_fact_of, JOB_FACTS) = {
#define FACT_JOB(ID, key, title, words) ROW(JOB_##ID) = {FACT_##ID, key, title, words},
#include "packer/fact/facts.def"
};
TABLE_COMPLETE(job_fact_of);

static bool is(struct json_object *object, const char *key, const char *word)
{
    return strcmp(ctl_text(object, key), word) == 0;
}

static double known_or(double value, double other)
{
    return isnan(value) ? other : value;
}

/* A mean as it is added up. */
struct mean {
    double sum, weight;
};

static void mean_add(struct mean *mean, double value, double weight)
{
    if (isnan(value) || !(weight > 0))
        return;
    mean->sum += value * weight;
    mean->weight += weight;
}

static double mean_of(const struct mean *mean)
{
    return mean->weight > 0 ? mean->sum / mean->weight : NAN;
}

/* ---- one step ---- */

static void add_neighbours(struct job_sum *sum, struct json_object *place)
{
    struct json_object *list = ctl_object(place, "neighbours");

    sum->neighbours = known_or(sum->neighbours, 0) + (double)ctl_length(list);
    sum->devils = known_or(sum->devils, 0);
    for (size_t i = 0; i < ctl_length(list); i++) {
        sum->devils += is(json_object_array_get_idx(list, i), "class", "devil");
        sum->siblings += explain_shares_core(json_object_array_get_idx(list, i));
    }
}

/* Is it a step that srun has started, and no batch script? */
static bool is_started(struct json_object *step)
{
    const char *dot = strchr(ctl_text(step, "id"), '.');

    return dot && dot[1] >= '0' && dot[1] <= '9';
}

/* What berth has not placed for a reason: that of a batch script counts where there is no other. */
static void add_reason(struct job_sum *sum, struct json_object *step, const char *reason)
{
    if (sum->reason && !is_started(step))
        return;
    sum->reason = reason;
    sum->left_for = wire_left_of(ctl_text(ctl_object(step, "enforce"), fact[FACT_LEFT_FOR].key));
}

/* Adds what berth did. */
static void add_deed(struct job_sum *sum, struct json_object *step)
{
    struct json_object *enforce = ctl_object(step, "enforce");
    const char *reason = explain_reason(step);
    enum explain_deed deed = explain_deed(step);

    if (deed == EXPLAIN_LEFT || deed == EXPLAIN_FAILED) {
        sum->left++;
        if (reason)
            add_reason(sum, step, reason);
    } else if (deed == EXPLAIN_OBSERVED || is(enforce, "way", "dryrun")) {
        sum->observed++;
        sum->watched = deed == EXPLAIN_OBSERVED && reason ? reason : sum->watched;
    } else {
        sum->placed++;
    }
}

static void add_isolation(struct job_sum *sum, struct json_object *step)
{
    struct json_object *isolate = ctl_object(ctl_object(step, "place"), "isolate");

    sum->may_isolate |= ctl_true(isolate, "allowed") && !ctl_true(isolate, "asked");
}

static void add_unknown(struct job_sum *sum, struct json_object *step)
{
    struct json_object *class = ctl_object(step, "class");
    const char *exe = ctl_text(ctl_object(step, "request"), "exe");

    if (is(class, "name", "unprofiled") && exe[0] == '/' && is_started(step))
        sum->program = exe;
}

static void add_use(struct job_sum *sum, struct json_object *step, bool *whole)
{
    struct json_object *observe = ctl_object(step, "observe"), *bill = ctl_object(step, "bill");
    double used = ctl_number(observe, "user_s") + ctl_number(observe, "system_s");
    double energy = ctl_number(bill, "energy_j");
    const char *rule;

    *whole = *whole && !isnan(used);
    sum->cpu_s += known_or(used, 0);
    sum->maxrss_bytes = fmax(sum->maxrss_bytes, ctl_number(observe, "maxrss_kib") * 1024);
    if (isnan(energy))
        return;
    rule = ctl_text(bill, "idle_energy");
    if (sum->metered == 0)
        sum->idle_energy = strcmp(rule, "-") != 0 ? rule : "";
    else if (strcmp(sum->idle_energy, rule) != 0)
        sum->idle_energy = "";
    sum->modelled = sum->modelled || is(bill, "source", "model");
    sum->energy_j = known_or(sum->energy_j, 0) + energy;
    sum->idle_j = (sum->metered++ ? sum->idle_j : 0) + ctl_number(bill, "idle_j");
}

static void add_facts(struct job_sum *sum, struct json_object *step)
{
    for (size_t i = 0; i < JOB_FACTS; i++) {
        const struct fact *of = &fact[job_fact_of[i].id];
        double value = ctl_number(ctl_object(step, of->of), of->key);

        if (!isnan(value))
            sum->fact[i] = known_or(sum->fact[i], 0) + value;
    }
}

static void add_slowdowns(struct mean mean[3], struct json_object *step)
{
    static const char *const key[] = {"predicted", "home", "measured"};
    struct json_object *slowdown = ctl_object(step, "slowdown");
    double cores = known_or(ctl_number(ctl_object(step, "size"), "cores"), 1);
    double weight = ctl_number(ctl_object(step, "observe"), "elapsed_s") * fmax(cores, 1);

    for (size_t i = 0; i < 3; i++)
        mean_add(&mean[i], ctl_number(slowdown, key[i]), weight);
}

/* ---- the job ---- */

/* Takes time and cores from the steps where Slurm does not say them. */
static void complete(struct json_object *steps, const struct slurm_job *job, struct job_sum *sum)
{
    double began = NAN, ended = NAN;

    sum->elapsed_s = job ? job->elapsed_s : NAN;
    sum->cores = job && job->cpus ? job->cpus : NAN;
    for (size_t i = 0; i < ctl_length(steps); i++) {
        struct json_object *step = json_object_array_get_idx(steps, i);
        double start = ctl_number(step, "started_at");

        began = fmin(began, start);
        ended = fmax(ended, start + ctl_number(ctl_object(step, "observe"), "elapsed_s"));
        if (!job)
            sum->cores = fmax(sum->cores, ctl_number(ctl_object(step, "size"), "cores"));
    }
    if (isnan(sum->elapsed_s))
        sum->elapsed_s = ended - began;
}

void job_sum(struct json_object *steps, const struct slurm_job *job, struct job_sum *sum)
{
    struct mean mean[3] = {{0}};
    bool whole = true;

    *sum = (struct job_sum){.steps = ctl_length(steps),
                            .maxrss_bytes = NAN,
                            .memory = NAN,
                            .energy_j = NAN,
                            .idle_j = NAN,
                            .idle_energy = "",
                            .neighbours = NAN,
                            .devils = NAN};
    for (size_t i = 0; i < JOB_FACTS; i++)
        sum->fact[i] = NAN;
    for (size_t i = 0; i < ctl_length(steps); i++) {
        struct json_object *step = json_object_array_get_idx(steps, i);

        add_use(sum, step, &whole);
        add_facts(sum, step);
        add_slowdowns(mean, step);
        loss_add(&sum->loss, step);
        add_deed(sum, step);
        add_isolation(sum, step);
        add_unknown(sum, step);
        if (!isnan(ctl_number(step, "ended_at")))
            continue;
        sum->running++;
        add_neighbours(sum, ctl_object(step, "place"));
    }
    complete(steps, job, sum);
    sum->cpu_s = whole ? sum->cpu_s : NAN;
    sum->cpu = sum->elapsed_s * sum->cores > 0 ? sum->cpu_s / (sum->elapsed_s * sum->cores) : NAN;
    sum->wanted =
        sum->elapsed_s * sum->cores > 0
            ? (sum->cpu_s + known_or(sum->fact[JOB_CPU_WAIT_S], 0)) / (sum->elapsed_s * sum->cores)
            : NAN;
    sum->power_w = sum->elapsed_s > 0 ? sum->energy_j / sum->elapsed_s : NAN;
    sum->predicted = mean_of(&mean[0]);
    sum->home = mean_of(&mean[1]);
    sum->measured = mean_of(&mean[2]);
    if (job && job->nodes)
        sum->memory = sum->maxrss_bytes / (job->memory_bytes / job->nodes);
}
