/* SPDX-License-Identifier: GPL-2.0-or-later */
/* berth-steer - has Slurm give jobs the nodes whose memory is least busy, by the weights of nodes.
 *
 * Each 30 s it reads what berthd has written of each node, asks slurmctld for all nodes (one RPC),
 * and tells it the weights that have changed (one RPC a weight: STEER_FINE + 1 for each weight of
 * the admin at most). A job's start never waits for it: slurmctld uses the weights that it has.
 *
 * What it changed is undone when it ends, by --undo after it was killed, and when rounds have
 * ceased for STEER_UNTIL_S (--undo --overdue, by a timer). It holds nothing in memory between two
 * rounds. slurmctld takes weights from slurm.conf when it starts or is reconfigured: the next round
 * sees that and steers again. */
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "packer/base/log.h"
#include "steer/controller.h"
#include "steer/hours.h"
#include "steer/news.h"
#include "steer/options.h"
#include "steer/outcome.h"
#include "steer/round.h"
#include "steer/state.h"

#define STEER_REST_S 30   /* a node's weight is changed that seldom */
#define STEER_UNTIL_S 300 /* without a round all is to be undone */

static void complain(const struct steer_options *options, const char *why)
{
    if (options->task == STEER_RUN)
        log_error("%s", why);
    else
        fprintf(stderr, "berth-steer: %s\n", why);
}

/* ---- a round ---- */

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

/* Has all nodes want their admin's weights in an hour that the lot leaves to Slurm. An hour without
 * any news is of no trial. That the trial cannot be written down is said once. */
static void draw(const struct steer_options *options, struct steer_nodes *nodes, int64_t now,
                 struct outcome *outcome)
{
    static bool told;
    struct berth_error err;

    if (hours_draw(options->ledger, options->defaults, (unsigned)options->control, now,
                   &outcome->hour, &err) < 0 &&
        !told) {
        told = true;
        complain(options, err.text);
    }
    if (!outcome->hour.steered)
        round_undo(nodes);
}

/* Does what is wanted, and notes until when the hour is known to be as its lot says. */
static int act_and_note(const struct steer_options *options, struct steer_nodes *nodes, int64_t now,
                        struct outcome *outcome, struct berth_error *err)
{
    struct berth_error lost; /* a report that lacks a few minutes is no failure */

    if (tell(options, nodes, now, outcome, err) < 0)
        return -1;
    if (outcome->hour.kept)
        hours_note(options->ledger, options->defaults, now, now + (int64_t)options->interval_s,
                   &lost);
    return 0;
}

static int steer(const struct steer_options *options, struct steer_nodes *nodes,
                 struct outcome *outcome, struct berth_error *err)
{
    int64_t now = time(NULL);
    struct steer_state state;
    struct berth_error silent;

    if (state_read(options->state, &state, nodes, err) < 0 || round_levels(nodes, err) < 0)
        return -1;
    if (news_read(options->ledger, options->defaults, nodes, now, &silent) < 0)
        complain(options, silent.text); /* nobody has news: all is undone */
    outcome->news = round_want(nodes, now);
    outcome->why = options->dryrun ? "dryrun" : refuses(&state, now);
    if (*outcome->why)
        return 0;
    if (outcome->news > 0)
        draw(options, nodes, now, outcome);
    return act_and_note(options, nodes, now, outcome, err);
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
    struct outcome outcome = {.why = "", .hour = {.steered = true}};
    struct steer_nodes nodes;
    struct berth_error err;
    int rc = controller_load(&nodes, options->nodes, &err);

    if (rc == 0)
        rc = what(options, &nodes, &outcome, &err);
    if (rc < 0)
        complain(options, err.text);
    if (rc == 0)
        outcome_print(options, &nodes, &outcome);
    if (rc == 0 && options->metrics && what == steer &&
        outcome_write(options->metrics, &nodes, &outcome, &err) < 0)
        complain(options, err.text);
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
    if (options->metrics)
        unlink(options->metrics);
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
