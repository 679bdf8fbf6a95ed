/* SPDX-License-Identifier: GPL-2.0-or-later */
/* berth-steer - has Slurm give jobs the nodes whose memory is least busy, by the weights of nodes.
 *
 * Each 30 s it reads what berthd has written of each node, asks slurmctld for all nodes (one RPC),
 * and tells it the weights that have changed (one RPC a weight: STEER_EMPTY + 1 for each weight of
 * the admin at most). A job's start never waits for it: slurmctld uses the weights that it has.
 *
 * What it changed is undone when it ends, by --undo after it was killed, and when rounds have
 * ceased for STEER_UNTIL_S (--undo --overdue, by a timer). It holds nothing in memory between two
 * rounds. slurmctld takes weights from slurm.conf when it starts or is reconfigured: the next round
 * sees that and steers again. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "models/placing/steer.h"
#include "packer/base/json.h"
#include "packer/base/log.h"
#include "steer/controller.h"
#include "steer/news.h"
#include "steer/options.h"
#include "steer/round.h"
#include "steer/state.h"

#define STEER_REST_S 30   /* a node's weight is changed that seldom */
#define STEER_UNTIL_S 300 /* without a round all is to be undone */

struct outcome {
    size_t nodes, news, changed, rpcs;
    const char *why; /* nothing was done; "" */
};

/* ---- what is printed ---- */

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
    json_add_text(object, "why", outcome->why);
    for (size_t i = 0; i < nodes->n; i++)
        if (nodes->node[i].chosen)
            json_append(array, node_json(&nodes->node[i]));
    json_add(object, "nodes", array);
    puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
    json_object_put(object);
}

static void print_text(const struct steer_nodes *nodes, const struct outcome *outcome)
{
    for (size_t i = 0; i < nodes->n; i++) {
        const struct steer_node *node = &nodes->node[i];

        if (node->chosen && node->weight != node->wanted)
            printf("%s: weight %u, would be %u\n", node->name, node->weight, node->wanted);
    }
    printf("%zu nodes, %zu with news, %zu changed by %zu RPCs%s%s\n", outcome->nodes, outcome->news,
           outcome->changed, outcome->rpcs, *outcome->why ? ": " : "", outcome->why);
}

static void print_outcome(const struct steer_options *options, const struct steer_nodes *nodes,
                          const struct outcome *outcome)
{
    if (options->json)
        print_json(nodes, outcome);
    else if (options->task != STEER_RUN)
        print_text(nodes, outcome);
    else if (outcome->changed > 0)
        log_info("%zu of %zu nodes have another weight, by %zu RPCs; %zu have news",
                 outcome->changed, outcome->nodes, outcome->rpcs, outcome->news);
}

static void complain(const struct steer_options *options, const char *why)
{
    if (options->task == STEER_RUN)
        log_error("%s", why);
    else
        fprintf(stderr, "berth-steer: %s\n", why);
}

/* ---- a round ---- */

static size_t count_chosen(const struct steer_nodes *nodes)
{
    size_t n = 0;

    for (size_t i = 0; i < nodes->n; i++)
        n += nodes->node[i].chosen;
    return n;
}

static bool is_any_steered(const struct steer_nodes *nodes)
{
    for (size_t i = 0; i < nodes->n; i++)
        if (nodes->node[i].weight != nodes->node[i].own ||
            nodes->node[i].wanted != nodes->node[i].own)
            return true;
    return false;
}

/* Says why there is no round now; "": there is one. */
static const char *refuses(const struct steer_state *state, int64_t now)
{
    return state->at <= now && now < state->at + STEER_REST_S ? "the last change is not 30 s old"
                                                              : "";
}

/* The file is there before anything is changed, and goes when all is as the admin wants it. */
static int tell(const struct steer_options *options, struct steer_nodes *nodes, int64_t now,
                struct outcome *outcome, struct berth_error *err)
{
    const struct steer_state state = {.at = now, .until = now + STEER_UNTIL_S};

    if (!is_any_steered(nodes))
        return state_remove(options->state, err);
    if (state_write(options->state, &state, nodes, err) < 0 ||
        controller_tell(nodes, &outcome->rpcs, &outcome->changed, err) < 0)
        return -1;
    return is_any_steered(nodes) ? 0 : state_remove(options->state, err);
}

static int steer(const struct steer_options *options, struct steer_nodes *nodes,
                 struct outcome *outcome, struct berth_error *err)
{
    int64_t now = time(NULL);
    struct steer_state state;
    struct berth_error silent;

    if (state_read(options->state, &state, nodes, err) < 0 || round_check(nodes, err) < 0)
        return -1;
    if (news_read(options->ledger, options->defaults, nodes, now, &silent) < 0)
        complain(options, silent.text); /* nobody has news: all is undone */
    outcome->news = round_want(nodes, now);
    outcome->why = options->dryrun ? "dryrun" : refuses(&state, now);
    return *outcome->why ? 0 : tell(options, nodes, now, outcome, err);
}

static int undo(const struct steer_options *options, struct steer_nodes *nodes,
                struct outcome *outcome, struct berth_error *err)
{
    struct steer_state state;

    if (state_read(options->state, &state, nodes, err) < 0)
        return -1;
    if (state.until == 0)
        outcome->why = "nothing is steered";
    else if (options->overdue && time(NULL) < state.until)
        outcome->why = "it is not due yet";
    if (*outcome->why)
        return 0;
    round_undo(nodes);
    if (controller_tell(nodes, &outcome->rpcs, &outcome->changed, err) < 0)
        return -1;
    return state_remove(options->state, err);
}

static int act(const struct steer_options *options,
               int (*what)(const struct steer_options *options, struct steer_nodes *nodes,
                           struct outcome *outcome, struct berth_error *err))
{
    struct outcome outcome = {.why = ""};
    struct steer_nodes nodes;
    struct berth_error err;
    int rc = controller_load(&nodes, options->nodes, &err);

    if (rc == 0)
        rc = what(options, &nodes, &outcome, &err);
    if (rc < 0)
        complain(options, err.text);
    outcome.nodes = count_chosen(&nodes);
    if (rc == 0)
        print_outcome(options, &nodes, &outcome);
    steer_nodes_free(&nodes);
    return rc;
}

/* ---- the program ---- */

/* Goes on until it is to end. A round that fails is followed by the next one. */
static int go_on(const struct steer_options *options)
{
    const struct timespec pause = {.tv_sec = (time_t)options->interval_s};
    sigset_t end;

    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigaddset(&end, SIGINT);
    sigprocmask(SIG_BLOCK, &end, NULL);
    do
        act(options, steer);
    while (sigtimedwait(&end, NULL, &pause) < 0);
    return act(options, undo);
}

int main(int argc, char **argv)
{
    struct steer_options options;
    struct berth_error err;
    int status = options_take(&options, argc, argv);

    if (status >= 0)
        return status;
    log_open(LOG_TARGET_STDERR, LOG_LEVEL_INFO);
    if (!options.dryrun && !options.overdue && state_lock(options.state, &err) < 0) {
        complain(&options, err.text);
        return 1;
    }
    controller_open();
    if (options.task == STEER_RUN)
        status = go_on(&options);
    else
        status = act(&options, options.task == STEER_UNDO ? undo : steer);
    controller_close();
    return status < 0;
}
