/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outcome - see steer/outcome.h */
#include "steer/outcome.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "models/placing/steer.h"
#include "packer/base/file.h"
#include "packer/base/json.h"
#include "packer/base/log.h"

static size_t count_chosen(const struct steer_nodes *nodes)
{
    size_t n = 0;

    for (size_t i = 0; i < nodes->n; i++)
        n += nodes->node[i].chosen;
    return n;
}

/* ---- for people and scripts ---- */

static struct json_object *node_json(const struct steer_node *node)
{
    struct json_object *object = json_object_new_object();

    json_add_text(object, "node", node->name);
    json_add_u64(object, "own", node->own);
    json_add_u64(object, "weight", node->weight);
    json_add_u64(object, "wanted", node->wanted);
    json_add_measure(object, "pressure", node->pressure);
    return object;
}

static void print_json(const struct steer_nodes *nodes, const struct outcome *outcome)
{
    struct json_object *object = json_object_new_object(), *array = json_object_new_array();

    json_add_u64(object, "news", outcome->news);
    json_add_u64(object, "changed", outcome->changed);
    json_add_u64(object, "rpcs", outcome->rpcs);
    if (nodes->levels > 0)
        json_add_u64(object, "levels", (uint64_t)nodes->levels);
    json_add_bool(object, "control", !outcome->hour.steered);
    json_add_text(object, "why", outcome->why);
    for (size_t i = 0; i < nodes->n; i++)
        if (nodes->node[i].chosen)
            json_append(array, node_json(&nodes->node[i]));
    json_add(object, "nodes", array);
    puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
    json_object_put(object);
}

static const char *control_text(const struct outcome *outcome)
{
    return outcome->hour.steered ? "" : "; control: nothing is steered in this hour";
}

static void print_text(const struct steer_nodes *nodes, const struct outcome *outcome)
{
    for (size_t i = 0; i < nodes->n; i++) {
        const struct steer_node *node = &nodes->node[i];

        if (node->chosen && node->weight != node->wanted)
            printf("%s: weight %u, would be %u\n", node->name, node->weight, node->wanted);
    }
    printf("%zu nodes, %zu with news, %zu changed by %zu RPCs%s%s%s\n", count_chosen(nodes),
           outcome->news, outcome->changed, outcome->rpcs, *outcome->why ? ": " : "", outcome->why,
           control_text(outcome));
}

void outcome_print(const struct steer_options *options, const struct steer_nodes *nodes,
                   const struct outcome *outcome)
{
    if (options->json)
        print_json(nodes, outcome);
    else if (options->task != STEER_RUN)
        print_text(nodes, outcome);
    else if (outcome->changed > 0)
        log_info("%zu of %zu nodes have another weight, by %zu RPCs; %zu have news%s",
                 outcome->changed, count_chosen(nodes), outcome->rpcs, outcome->news,
                 control_text(outcome));
}

/* ---- for Prometheus ---- */

static void put_gauge(FILE *out, const char *name, const char *help, double value)
{
    fprintf(out, "# HELP berth_steer_%s %s\n# TYPE berth_steer_%s gauge\nberth_steer_%s %.17g\n",
            name, help, name, name, value);
}

/* How many nodes have which level; no name of a node, so that 10,000 make no more series. */
static void put_levels(FILE *out, const struct steer_nodes *nodes)
{
    size_t n[STEER_FINE + 1] = {0};

    for (size_t i = 0; i < nodes->n; i++) {
        int level = steer_level_of(nodes->node[i].own, nodes->node[i].weight, nodes->levels);

        if (nodes->node[i].chosen && level >= 0)
            n[level]++;
    }
    fputs("# HELP berth_steer_level_nodes Nodes by what berth-steer adds to their weight; those "
          "of the highest level are without jobs.\n# TYPE berth_steer_level_nodes gauge\n",
          out);
    for (int level = 0; level <= nodes->levels; level++)
        fprintf(out, "berth_steer_level_nodes{level=\"%d\"} %zu\n", level, n[level]);
}

static void put_spread(FILE *out, const struct steer_nodes *nodes)
{
    double sum = 0, squares = 0, n = 0;

    for (size_t i = 0; i < nodes->n; i++) {
        double pressure = nodes->node[i].pressure;

        if (!nodes->node[i].chosen || !nodes->node[i].in_use || isnan(pressure))
            continue;
        sum += pressure;
        squares += pressure * pressure;
        n++;
    }
    if (n == 0)
        return;
    put_gauge(out, "pressure_mean_ratio",
              "Part of the memory's bandwidth in use, mean of nodes with jobs.", sum / n);
    put_gauge(out, "pressure_deviation_ratio", "Standard deviation of that over these nodes.",
              sqrt(fmax(squares / n - sum * sum / n / n, 0)));
}

static void put_all(FILE *out, const struct steer_nodes *nodes, const struct outcome *outcome)
{
    put_gauge(out, "round_timestamp_seconds", "When the last round was made.", (double)time(NULL));
    put_gauge(out, "nodes", "Nodes that are steered.", (double)count_chosen(nodes));
    put_gauge(out, "news_nodes", "Nodes whose berthd has told how busy their memory is.",
              (double)outcome->news);
    put_gauge(out, "changed_nodes", "Nodes whose weight the last round has changed.",
              (double)outcome->changed);
    put_gauge(out, "round_rpcs", "RPCs of the last round that told slurmctld weights.",
              (double)outcome->rpcs);
    put_gauge(out, "control", "1: the lot has left this hour to Slurm's own choice of nodes.",
              !outcome->hour.steered);
    put_levels(out, nodes);
    put_spread(out, nodes);
}

int outcome_write(const char *path, const struct steer_nodes *nodes, const struct outcome *outcome,
                  struct berth_error *err)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int rc = -1;

    if (!out)
        return berth_no_memory(err);
    put_all(out, nodes, outcome);
    if (fclose(out) == 0)
        rc = file_replace(path, 0644, 0, text, size);
    if (rc < 0)
        berth_error_set(err, "--metrics-textfile: %.200s: %s", path, strerror(errno));
    free(text);
    return rc;
}
