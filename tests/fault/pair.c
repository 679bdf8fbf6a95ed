/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pair - two steps that change places: see node.h. */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "packer/profiles/profiles.h"
#include "tests/fault/node.h"

#define STEPS 2

/* ---- what there is ---- */

static void put_profile(struct profiles *store, const char *tag, double misses)
{
    struct profile profile = {.misses = misses,
                              .accesses = misses,
                              .source = "valgrind",
                              .llc_ways = 16,
                              .line_bytes = 64,
                              .llc_bytes = 1 << 25,
                              .instructions = 1000000};
    struct berth_error err = {""};

    profile_key_tag(profile.key, tag);
    if (profiles_put(store, &profile, &err) < 0)
        fail_msg("%s", err.text);
}

static void files(const struct node *node)
{
    struct profiles *store = NULL;
    struct berth_error err = {""};
    char path[96];

    snprintf(path, sizeof(path), "%s/profiles.db", node->dir);
    if (profiles_open(&store, path, true, &err) < 0)
        fail_msg("%s", err.text);
    put_profile(store, "low", 10);
    put_profile(store, "high", 20000);
    profiles_close(store);
}

static void start(struct node_step *step, size_t i)
{
    const unsigned cpu = (unsigned)i;

    step_start(&step->run, step->leaf, 1, &cpu, STEP_QUIET);
}

/* ---- what holds ---- */

/* Fold the affinity of each thread of a process into *set. How many threads had another one. */
static size_t fold(pid_t pid, cpu_set_t *set, bool *first)
{
    char path[64];
    struct dirent *entry;
    size_t others = 0;
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    dir = opendir(path);
    while (dir && (entry = readdir(dir))) {
        cpu_set_t one;

        if (entry->d_name[0] == '.' ||
            sched_getaffinity(atoi(entry->d_name), sizeof(one), &one) < 0)
            continue;
        if (*first)
            *set = one;
        others += !CPU_EQUAL(set, &one);
        *first = false;
    }
    if (dir)
        closedir(dir);
    return others;
}

/* The one CPU that all threads of step i may run on; -1 and why: they differ, or have several. */
static int cpu_of(const struct node *node, size_t i, char *why)
{
    const struct step_processes *run = &node->step[i].run;
    bool first = true;
    cpu_set_t set;
    size_t others = fold(run->task[0], &set, &first) + fold(run->child[0], &set, &first);

    if (!first && others == 0 && CPU_COUNT(&set) == 1)
        return CPU_ISSET(1, &set) ? 1 : 0;
    snprintf(why, NODE_WHY, "step %zu: %zu threads differ, the first has %d CPUs", i, others,
             first ? 0 : CPU_COUNT(&set));
    return -1;
}

static struct json_object *field(struct json_object *object, const char *key)
{
    return json_object_object_get(object, key);
}

/* Where berthd says that step i stands; its home when it does not know it. */
static int believed(struct json_object *lines, size_t i, bool *sure)
{
    for (size_t l = 0; l < json_object_array_length(lines); l++) {
        struct json_object *step = field(json_object_array_get_idx(lines, l), "step");

        if (!step || (unsigned)json_object_get_int64(field(step, "job")) != NODE_JOB(i))
            continue;
        *sure = json_object_get_boolean(field(step, "verified"));
        return json_object_get_int(field(step, "cpus"));
    }
    return (int)i;
}

/* Does step i stand on one CPU, *cpu, where berthd says, and does berthd say that it is sure? */
static bool stands(const struct node *node, struct json_object *lines, size_t i, int *cpu,
                   char *why)
{
    bool sure = true;
    int says = believed(lines, i, &sure);

    *cpu = cpu_of(node, i, why);
    if (*cpu < 0)
        return false;
    if (*cpu == says && sure)
        return true;
    snprintf(why, NODE_WHY, "step %zu is on %d, and berthd says %d%s", i, *cpu, says,
             sure ? "" : ", not verified");
    return false;
}

/* Each step stands on one CPU, no two on the same, where berthd says. */
static bool holds(struct node *node, char *why)
{
    struct json_object *lines = NULL;
    int cpu[STEPS] = {-1, -1};
    bool fine = true;

    if (node_say(node, "{\"version\":1,\"op\":\"status\"}\n"))
        lines = node_answer(node);
    if (!lines) {
        snprintf(why, NODE_WHY, "berthd does not answer");
        return false;
    }
    for (size_t i = 0; fine && i < STEPS; i++)
        fine = node->step[i].gone || stands(node, lines, i, &cpu[i], why);
    if (fine && cpu[0] >= 0 && cpu[0] == cpu[1]) {
        snprintf(why, NODE_WHY, "both steps are on CPU %d", cpu[0]);
        fine = false;
    }
    json_object_put(lines);
    return fine;
}

static bool changed(struct node *node, char *why)
{
    return cpu_of(node, 0, why) == 1;
}

static bool is_home(struct node *node, size_t i, char *why)
{
    const struct step_processes *run = &node->step[i].run;
    int cpu = cpu_of(node, i, why);

    if (cpu >= 0 && (size_t)cpu != i)
        snprintf(why, NODE_WHY, "step %zu was left on %d", i, cpu);
    return cpu >= 0 && (size_t)cpu == i && node_in_leaf(node, i, run->task[0], why) &&
           node_in_leaf(node, i, run->child[0], why);
}

const struct node_kind node_pair = {
    .name = "pair",
    .berthd = "./berthd",
    .steps = STEPS,
    .step = {{"0", "\"mode\":\"auto\",\"tag\":\"low\""},
             {"1", "\"mode\":\"auto\",\"tag\":\"high\""}},
    .files = files,
    .start = start,
    .changed = changed,
    .holds = holds,
    .is_home = is_home,
};
