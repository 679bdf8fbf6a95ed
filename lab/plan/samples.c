/* SPDX-License-Identifier: GPL-2.0-or-later */
/* samples - applications for `berthctl plan` from a file of samples: what each step did,
 * on average, between its first and its last sample. What was not counted is left out. */
#include <math.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/json_asked.h"
#include "packer/cli/common/ctl.h"
#include "lab/plan/plan.h"
#include "packer/counters/recorded.h"

#define LINE_BYTES 64

/* Is how much more than a whole number of cores may be the clock's doing. */
#define CORES_SLACK 0.1

#define BIT(counter) (1u << (counter))

/* Finds what grew between the first and the last sample that know these counters; since the
 * registration, where that is one and the same sample. Returns false when none knows them. */
static bool grown(const struct recorded *replay, size_t step, uint32_t counters,
                  struct counters_sample *growth)
{
    size_t first = 0, last = recorded_samples_of(replay, step);
    struct counters_sample before = {0};

    do {
        if (last == 0)
            return false;
        recorded_sample(replay, step, --last, growth, NULL);
    } while ((growth->known & counters) != counters);
    for (; first < last; first++) {
        recorded_sample(replay, step, first, &before, NULL);
        if ((before.known & counters) == counters)
            break;
    }
    if (first == last)
        before = (struct counters_sample){0};
    growth->at_s -= before.at_s;
    for (int i = 0; i < COUNTERS; i++)
        growth->value[i] -= before.value[i];
    return true;
}

/* Returns the growth of one counter per another's; NAN where that is not known. */
static double ratio(const struct recorded *replay, size_t step, enum counter of, enum counter per)
{
    struct counters_sample growth;

    if (!grown(replay, step, BIT(of) | BIT(per), &growth) || !(growth.value[per] > 0))
        return NAN;
    return growth.value[of] / growth.value[per];
}

/* Returns the growth of these counters together, per second. */
static double per_second(const struct recorded *replay, size_t step, uint32_t counters)
{
    struct counters_sample growth;
    double sum = 0;

    if (!grown(replay, step, counters, &growth) || !(growth.at_s > 0))
        return NAN;
    for (int i = 0; i < COUNTERS; i++)
        sum += counters & 1u << i ? growth.value[i] : 0;
    return sum / growth.at_s;
}

/* Returns the memory traffic: by its bytes, else by the lines that were read, else by those that
 * were missed. */
static double mem_gbps(const struct recorded *replay, size_t step)
{
    double bytes = per_second(replay, step, BIT(COUNTER_BYTES));
    double reads = per_second(replay, step, BIT(COUNTER_READS_LOCAL) | BIT(COUNTER_READS_REMOTE));
    double misses = per_second(replay, step, BIT(COUNTER_LLC_MISSES));

    if (isnan(bytes))
        bytes = LINE_BYTES * (isnan(reads) ? misses : reads);
    return bytes / 1e9;
}

static void add_measured(struct json_object *app, const char *key, double value)
{
    if (!isnan(value) && !ctl_object(app, key))
        json_add_double(app, key, value);
}

/* Adds what the app does not say itself. */
static void complete(struct json_object *app, const struct recorded *replay, size_t step)
{
    double cores = per_second(replay, step, BIT(COUNTER_CPU_NS)) / 1e9;

    if (!isnan(cores) && !ctl_object(app, "cores"))
        json_add_u64(app, "cores", (uint64_t)fmax(1, ceil(cores - CORES_SLACK)));
    add_measured(app, "ipc", ratio(replay, step, COUNTER_INSTRUCTIONS, COUNTER_CYCLES));
    add_measured(app, "llc_apki",
                 1000 * ratio(replay, step, COUNTER_LLC_ACCESSES, COUNTER_INSTRUCTIONS));
    add_measured(app, "llc_mpki",
                 1000 * ratio(replay, step, COUNTER_LLC_MISSES, COUNTER_INSTRUCTIONS));
    add_measured(app, "mem_gbps", mem_gbps(replay, step));
}

static void add_step(struct json_object *apps, const struct recorded *replay, size_t step)
{
    const char *name = recorded_name(replay, step);
    struct json_object *app;
    bool there = false;

    for (size_t i = 0; i < json_object_array_length(apps); i++) {
        const char *its;

        app = json_object_array_get_idx(apps, i);
        if (!json_object_is_type(app, json_type_object))
            continue; /* for who reads the apps to complain about */
        its = json_text(json_find(app, "name"));
        if (its && strcmp(its, name) == 0) {
            complete(app, replay, step);
            there = true;
        }
    }
    if (there)
        return;
    app = json_object_new_object();
    json_add_text(app, "name", name);
    complete(app, replay, step);
    json_append(apps, app);
}

/* Says whether the name is one that berthctl record gives a batch script or an interactive shell:
 * "slurm_script", or the step's id. */
static bool is_shell_name(const char *name)
{
    static const char *const end[] = {".batch", ".interactive"};
    size_t length = strcspn(name, "#"); /* "4711.batch#2" */

    for (size_t i = 0; i < sizeof(end) / sizeof(end[0]); i++)
        if (length > strlen(end[i]) &&
            strncmp(name + length - strlen(end[i]), end[i], strlen(end[i])) == 0)
            return true;
    return strcmp(name, "slurm_script") == 0;
}

/* Says whether the step is a shell that only waited for srun: it used next to no CPU time. */
static bool only_waited(const struct recorded *replay, size_t step)
{
    return is_shell_name(recorded_name(replay, step)) &&
           per_second(replay, step, BIT(COUNTER_CPU_NS)) / 1e9 < CORES_SLACK;
}

static bool is_named(struct json_object *apps, const char *name)
{
    for (size_t i = 0; i < ctl_length(apps); i++)
        if (strcmp(ctl_text(json_object_array_get_idx(apps, i), "name"), name) == 0)
            return true;
    return false;
}

int ctl_plan_add_samples(struct json_object *workload, const char *path, size_t *shells,
                         struct berth_error *err)
{
    struct json_object *apps = ctl_object(workload, "apps");
    struct recorded *replay;

    if (recorded_read(&replay, path, err) < 0)
        return -1;
    if (!apps)
        json_add(workload, "apps", apps = json_object_new_array());
    *shells = 0;
    for (size_t i = 0; json_object_is_type(apps, json_type_array) && i < recorded_steps(replay);
         i++) {
        if (only_waited(replay, i) && !is_named(apps, recorded_name(replay, i)))
            ++*shells;
        else
            add_step(apps, replay, i);
    }
    recorded_free(replay);
    return 0;
}
