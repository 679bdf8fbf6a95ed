/* SPDX-License-Identifier: GPL-2.0-or-later */
/* silence_tell - see silence_tell.h */
#include "tests/bench/silence_tell.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/json.h"
#include "packer/cli/common/ctl.h"
#include "tests/bench/silence_sim.h"

#define BAR 30

static const double iterations_ms[SILENCE_ITERATIONS] = {1, 5, 20, 100};
static const struct {
    size_t nodes;
    bool together;
} columns[SILENCE_NODES] = {{1, false},    {10, false},   {100, false},
                            {1000, false}, {5000, false}, {1000, true}};

void silence_play(struct silence_result *result, double skew_s, unsigned seed)
{
    for (size_t i = 0; i < SILENCE_ITERATIONS; i++)
        for (size_t c = 0; c < SILENCE_NODES; c++) {
            struct silence_program program = {.nodes = columns[c].nodes,
                                              .iteration_s = iterations_ms[i] / 1e3,
                                              .together = columns[c].together,
                                              .skew_s = skew_s,
                                              .seed = seed};

            result->longer[i][c] = silence_longer(&result->train, &program);
        }
}

void silence_tell_progress(const char *what, double done)
{
    char bar[BAR + 1] = "";

    if (!isatty(STDERR_FILENO))
        return;
    if (!what) {
        ctl_put_progress("%s", "");
        return;
    }
    for (int i = 0; i < BAR; i++)
        bar[i] = i < done * BAR ? '#' : '.';
    ctl_put_progress("silence: %-12s %s %3.0f %%", what, bar, 100 * done);
}

/* ---- text ---- */

static void put_figures(const char *name, const struct silence_figures *figures)
{
    char median[32], p90[32], worst[32];

    printf("  %-24s %9.3f %8zu %8s %8s %8s %9.4f\n", name, figures->a_second, figures->n,
           ctl_measure(1e3 * figures->median_s, 3, median),
           ctl_measure(1e3 * figures->p90_s, 3, p90), ctl_measure(1e3 * figures->worst_s, 3, worst),
           100 * figures->share);
}

static void put_threads(const struct silence_train *train)
{
    struct silence_figures figures;
    char name[48];

    printf("  %-24s %9s %8s %8s %8s %8s %9s\n", "thread", "wakes/s", "bursts", "median", "p90",
           "worst ms", "% of core");
    for (size_t i = 0; i < train->threads; i++) {
        figures = silence_train_figures(train, train->thread[i].id);
        snprintf(name, sizeof(name), "%s %d", train->thread[i].name, (int)train->thread[i].id);
        put_figures(name, &figures);
    }
    figures = silence_train_figures(train, 0);
    put_figures("all", &figures);
}

static void put_longer(const struct silence_result *result)
{
    char text[32];

    printf("  %-9s", "iteration");
    for (size_t c = 0; c < SILENCE_NODES; c++) {
        snprintf(text, sizeof(text), "%zu%s", columns[c].nodes,
                 columns[c].together ? " together"
                 : c == 0            ? " node"
                                     : "");
        printf(" %8s", text);
    }
    putchar('\n');
    for (size_t i = 0; i < SILENCE_ITERATIONS; i++) {
        printf("  %6.0f ms", iterations_ms[i]);
        for (size_t c = 0; c < SILENCE_NODES; c++)
            printf(" %8.3f", result->longer[i][c]);
        putchar('\n');
    }
}

static void put_detours(const char *name, const struct silence_detours *detours, bool berthd)
{
    char worst[32], its_worst[32];

    if (detours->seconds == 0)
        return;
    printf("  detours %s berthd, %.0f s of %zu CPUs: %zu, %zu above .2 ms, worst %s ms, %.4f %%",
           name, detours->seconds, detours->cpus, detours->n, detours->longs,
           ctl_measure(1e3 * detours->worst_s, 3, worst), 100 * detours->share);
    if (berthd)
        printf("; of these berthd's: %zu, %zu above .2 ms, worst %s ms, %.4f %%", detours->berthd_n,
               detours->berthd_longs, ctl_measure(1e3 * detours->berthd_worst_s, 3, its_worst),
               100 * detours->berthd_share);
    putchar('\n');
}

void silence_tell(const struct silence_result *result)
{
    printf("%s: %s; %.1f s by %s", result->scene->name, result->scene->what, result->train.seconds,
           result->train.by);
    if (result->train.lost > 0)
        printf(", %llu switches unseen", (unsigned long long)result->train.lost);
    putchar('\n');
    put_threads(&result->train);
    put_longer(result);
    put_detours("without", &result->without, false);
    put_detours("with", &result->with, true);
    putchar('\n');
    fflush(stdout);
}

/* ---- JSON ---- */

static struct json_object *figures_json(const struct silence_train *train, pid_t thread)
{
    struct silence_figures figures = silence_train_figures(train, thread);
    struct json_object *object = json_object_new_object();

    json_add_u64(object, "bursts", figures.n);
    json_add_measure(object, "wakes_a_second", figures.a_second);
    json_add_measure(object, "median_ms", 1e3 * figures.median_s);
    json_add_measure(object, "p90_ms", 1e3 * figures.p90_s);
    json_add_measure(object, "worst_ms", 1e3 * figures.worst_s);
    json_add_measure(object, "share_of_a_core", figures.share);
    return object;
}

static struct json_object *threads_json(const struct silence_train *train)
{
    struct json_object *threads = json_object_new_array();

    for (size_t i = 0; i < train->threads; i++) {
        struct json_object *object = figures_json(train, train->thread[i].id);

        json_add_text(object, "name", train->thread[i].name);
        json_add_u64(object, "thread", (uint64_t)train->thread[i].id);
        json_append(threads, object);
    }
    return threads;
}

static struct json_object *longer_json(const struct silence_result *result)
{
    struct json_object *rows = json_object_new_array();

    for (size_t i = 0; i < SILENCE_ITERATIONS; i++)
        for (size_t c = 0; c < SILENCE_NODES; c++) {
            struct json_object *row = json_object_new_object();

            json_add_double(row, "iteration_ms", iterations_ms[i]);
            json_add_u64(row, "nodes", columns[c].nodes);
            json_add_bool(row, "together", columns[c].together);
            json_add_double(row, "longer", result->longer[i][c]);
            json_append(rows, row);
        }
    return rows;
}

static struct json_object *detours_json(const struct silence_detours *detours, bool berthd)
{
    struct json_object *object = json_object_new_object();

    if (detours->seconds == 0) {
        json_object_put(object);
        return NULL;
    }
    json_add_double(object, "seconds", detours->seconds);
    json_add_u64(object, "cpus", detours->cpus);
    json_add_u64(object, "detours", detours->n);
    json_add_u64(object, "long", detours->longs);
    json_add_measure(object, "worst_ms", 1e3 * detours->worst_s);
    json_add_double(object, "share", detours->share);
    if (!berthd)
        return object;
    json_add_u64(object, "berthd", detours->berthd_n);
    json_add_u64(object, "berthd_long", detours->berthd_longs);
    json_add_measure(object, "berthd_worst_ms", 1e3 * detours->berthd_worst_s);
    json_add_double(object, "berthd_share", detours->berthd_share);
    return object;
}

static struct json_object *result_json(const struct silence_result *result)
{
    struct json_object *object = json_object_new_object();

    json_add_text(object, "scene", result->scene->name);
    json_add_double(object, "seconds", result->train.seconds);
    json_add_text(object, "by", result->train.by);
    json_add_u64(object, "unseen", result->train.lost);
    json_add(object, "threads", threads_json(&result->train));
    json_add(object, "all", figures_json(&result->train, 0));
    json_add(object, "longer", longer_json(result));
    json_add(object, "without", detours_json(&result->without, false));
    json_add(object, "with", detours_json(&result->with, true));
    return object;
}

void silence_tell_json(const struct silence_result *result, size_t n, double skew_s, unsigned seed)
{
    struct json_object *object = json_object_new_object(), *scenes = json_object_new_array();

    json_add_u64(object, "seed", seed);
    json_add_double(object, "skew_ms", 1e3 * skew_s);
    for (size_t i = 0; i < n; i++)
        json_append(scenes, result_json(&result[i]));
    json_add(object, "scenes", scenes);
    puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
    json_object_put(object);
}
