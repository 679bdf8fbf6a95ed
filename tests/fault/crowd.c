/* SPDX-License-Identifier: GPL-2.0-or-later */
/* crowd - a step whose threads are given a class and slice (faithful) and a package each (shuffle):
 * see node.h. How long they wait for locks is played (played_locks.c). */
#include <dirent.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/fault/node.h"
#include "tests/unit/common/attributes.h"
#include "tests/unit/common/folder.h"

#define TEAM "2"
#define OWN 3     /* threads with something of their own */
#define THREADS 8 /* with the first one and two teams */
#define THREADS_MAX 32

/* What each thread had before berthd was told of it. */
static struct thread {
    pid_t tid;
    struct attributes has;
    cpu_set_t on;
} before[THREADS_MAX];

static size_t threads;

/* ---- what there is ---- */

static void allow(const struct node *node, FILE *conf)
{
    (void)node;
    fputs("allow = auto,tag,faithful,shuffle\nlock_time = on\nstartup = 10ms\n"
          "first_window = 50ms\nwindow = 100ms\n",
          conf);
}

/* Adds the threads of a process. */
static void list(pid_t pid, struct thread *thread, size_t *n)
{
    struct dirent *entry;
    char path[64];
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    dir = opendir(path);
    while (dir && (entry = readdir(dir)) && *n < THREADS_MAX) {
        pid_t tid = atoi(entry->d_name);

        thread[*n].tid = tid;
        *n += tid > 0 && attributes_get(tid, &thread[*n].has) == 0 &&
              sched_getaffinity(tid, sizeof(thread[*n].on), &thread[*n].on) == 0;
    }
    if (dir)
        closedir(dir);
}

static bool same_attributes(const struct attributes *a, const struct attributes *b)
{
    return a->policy == b->policy && a->nice == b->nice && a->runtime_ns == b->runtime_ns;
}

/* Are all threads there, and has each that is to have something of its own got it? */
static bool are_there(const struct thread *thread, size_t n)
{
    const struct attributes *usual = &thread[0].has;
    size_t own = 0;

    for (size_t i = 0; i < n; i++)
        own += !same_attributes(&thread[i].has, usual);
    return n == THREADS && own == (usual->runtime_ns ? OWN : OWN - 1);
}

/* Returns the first child of a process, when there is one. */
static pid_t child_of(pid_t pid)
{
    char path[64], text[32] = "";

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
    while (access(path, R_OK) == 0 && atoi(text) <= 0) {
        usleep(1000);
        file_line(path, text, sizeof(text));
    }
    return atoi(text);
}

static void start(struct node_step *step, size_t i)
{
    static const char *const argv[] = {
        "tests/cluster/teams", "-n", TEAM, "-o", "sleep", "1000", NULL};

    (void)i;
    step_start_program(&step->run, step->leaf, argv);
    step->run.child[0] = child_of(step->run.task[0]);
    do {
        usleep(1000);
        threads = 0;
        list(step->run.task[0], before, &threads);
    } while (!are_there(before, threads));
    list(step->run.child[0], before, &threads);
}

/* ---- what holds ---- */

/* Does everybody whose class was the usual one have SCHED_BATCH, and somebody one CPU? */
static bool changed(struct node *node, char *why)
{
    size_t batch = 0, usual = 0, bound = 0;

    (void)node;
    for (size_t i = 0; i < threads; i++) {
        struct attributes has;
        cpu_set_t on;

        if (attributes_get(before[i].tid, &has) < 0 ||
            sched_getaffinity(before[i].tid, sizeof(on), &on) < 0)
            continue;
        usual += before[i].has.policy == SCHED_OTHER &&
                 before[i].has.runtime_ns == before[0].has.runtime_ns;
        batch += has.policy == SCHED_BATCH;
        bound += CPU_COUNT(&on) == 1;
    }
    snprintf(why, NODE_WHY, "%zu of %zu threads have a slice, %zu are bound", batch, usual, bound);
    return batch == usual && bound > 0;
}

/* Has the thread what it had before berthd, where it has not ended? */
static bool is_as_before(const struct thread *thread, char *why)
{
    const struct attributes *had = &thread->has;
    struct attributes has;
    cpu_set_t on;

    if (attributes_get(thread->tid, &has) < 0 ||
        sched_getaffinity(thread->tid, sizeof(on), &on) < 0)
        return true;
    if (same_attributes(&has, had) && CPU_EQUAL(&on, &thread->on))
        return true;
    snprintf(why, NODE_WHY,
             "thread %d: class %u, nice %d, slice %.1f ms, %d CPUs; had %u, %d, %.1f, %d",
             (int)thread->tid, has.policy, has.nice, (double)has.runtime_ns / 1e6, CPU_COUNT(&on),
             had->policy, had->nice, (double)had->runtime_ns / 1e6, CPU_COUNT(&thread->on));
    return false;
}

static bool all_as_before(char *why)
{
    for (size_t i = 0; i < threads; i++)
        if (!is_as_before(&before[i], why))
            return false;
    return true;
}

/* Nothing is left by one that was killed; what the next one would give is not allowed any more.
 * (What failed is tried again at the next window.) */
static bool holds(struct node *node, char *why)
{
    struct json_object *lines = NULL;

    if (node_say(node, "{\"version\":1,\"op\":\"status\"}\n"))
        lines = node_answer(node);
    json_object_put(lines);
    if (!lines)
        snprintf(why, NODE_WHY, "berthd does not answer");
    return lines && (node->allowed || all_as_before(why));
}

static bool is_home(struct node *node, size_t i, char *why)
{
    const struct step_processes *run = &node->step[i].run;

    return all_as_before(why) && node_in_leaf(node, i, run->task[0], why) &&
           node_in_leaf(node, i, run->child[0], why);
}

const struct node_kind node_crowd = {
    .name = "crowd",
    .berthd = "tests/fault/berthd",
    .steps = 1,
    .step = {{"0-1", "\"mode\":\"auto\",\"tag\":\"crowd\",\"faithful\":true,\"shuffle\":true"}},
    .allow = allow,
    .start = start,
    .changed = changed,
    .later = true,
    .holds = holds,
    .is_home = is_home,
};
