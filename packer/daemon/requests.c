/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/daemon/requests.h"

#include "packer/conf/admit.h"
#include "packer/daemon/pipeline.h"
#include "packer/daemon/propose.h"
#include "packer/daemon/records.h"
#include "packer/daemon/render.h"
#include "packer/daemon/render_sample.h"
#include "packer/daemon/stored.h"
#include "packer/steps/rest.h"
#include "enum_table.h"

/* ---- answers about many steps: the node, then step by step ---- */

static bool may_see(const struct reply *reply, const struct step *step)
{
    return reply->uid == step->request.uid ||
           admit_proposes(&reply->packer->world.conf, reply->uid);
}

/* Says whether it is time for the node; then the walk over the steps begins. */
static bool is_first(struct reply *reply, bool ended)
{
    if (reply->walk.registry)
        return false;
    step_walk_begin(&reply->walk, reply->packer->steps, ended);
    rest_asked(reply->packer);
    return true;
}

static struct json_object *tell_node(const struct reply *reply, const char **name)
{
    *name = "node";
    return render_node_to(reply->packer, reply->uid);
}

static struct json_object *tell_status(struct reply *reply, const char **name)
{
    struct step *step;

    if (is_first(reply, false))
        return tell_node(reply, name);
    while ((step = step_walk_next(&reply->walk))) {
        if (!may_see(reply, step))
            continue;
        *name = "step";
        return render_step(reply->packer, step);
    }
    return NULL;
}

/* Says whether the step is asked for. As in sacct an array's number means all of its tasks, as far
 * as Slurm has said whose task it is: its environment may say anything. */
static bool is_asked(struct wire_step_id asked, const struct step *step)
{
    const struct wire_identity *is = &step->identity.is;
    bool task = is->source != WIRE_SOURCE_NONE && is->array_job && is->array_job == asked.job;

    return (step->request.id.job == asked.job || task) &&
           (asked.step == UINT32_MAX || step->request.id.step == asked.step);
}

static struct json_object *tell_explanations(struct reply *reply, const char **name)
{
    struct step *step;

    if (is_first(reply, true))
        return tell_node(reply, name);
    while ((step = step_walk_next(&reply->walk))) {
        if (!is_asked(reply->request.id, step) || !may_see(reply, step))
            continue;
        *name = "step";
        return render_explanation(reply->packer, step, reply->uid);
    }
    return NULL;
}

/* Only root makes counters be read; others are told what the last window ended with. */
static struct json_object *tell_counters(struct reply *reply, const char **name)
{
    struct step *step;

    if (is_first(reply, false))
        return tell_node(reply, name);
    while ((step = step_walk_next(&reply->walk))) {
        if (!may_see(reply, step))
            continue;
        *name = "sample";
        return render_sample(reply->packer, step, reply->uid == 0);
    }
    return NULL;
}

/* ---- what the plugin says ---- */

static int start_step(struct reply *reply, struct berth_error *err)
{
    (void)err;
    pipeline_start(reply->packer, &reply->request.reg, &reply->answer);
    return 0;
}

static char *tell_start(struct reply *reply)
{
    return wire_answer_encode(&reply->answer);
}

static void leave_late(struct reply *reply)
{
    pipeline_late(reply->packer, &reply->request.reg);
}

static int end_step(struct reply *reply, struct berth_error *err)
{
    (void)err;
    pipeline_end(reply->packer, &reply->request.end);
    return 0;
}

static int end_job(struct reply *reply, struct berth_error *err)
{
    (void)err;
    pipeline_job_end(reply->packer, reply->request.job_end.id.job, &reply->request.job_end.said);
    return 0;
}

static int claim(struct reply *reply, struct berth_error *err)
{
    (void)err;
    pipeline_claim(reply->packer, reply->request.id);
    return 0;
}

/* ---- root releases steps ---- */

static int release(struct reply *reply, struct berth_error *err)
{
    const struct wire_release *asked = &reply->request.release;

    return asked->end ? pipeline_manage(reply->packer, err)
                      : pipeline_release(reply->packer, asked->id, err);
}

/* Tells what has become of each step that was named. */
static struct json_object *tell_released(struct reply *reply, const char **name)
{
    const struct wire_release *asked = &reply->request.release;
    struct step *step;

    if (is_first(reply, false))
        return tell_node(reply, name);
    while (!asked->end && (step = step_walk_next(&reply->walk))) {
        if (!step->released || !step_is_named(step, asked->id))
            continue;
        *name = "step";
        return render_step(reply->packer, step);
    }
    return NULL;
}

const struct request_op TABLE(request_ops, WIRE_OPS) = {
    ROW(WIRE_OP_REGISTER) = {.root = true,
                             .act = start_step,
                             .line = tell_start,
                             .unheard = leave_late},
    ROW(WIRE_OP_END) = {.root = true, .act = end_step},
    ROW(WIRE_OP_JOB_END) = {.root = true, .act = end_job},
    ROW(WIRE_OP_CLAIM) = {.root = true, .act = claim},
    ROW(WIRE_OP_RELEASE) = {.root = true, .act = release, .part = tell_released},
    ROW(WIRE_OP_STATUS) = {.part = tell_status},
    ROW(WIRE_OP_EXPLAIN) = {.part = tell_explanations},
    ROW(WIRE_OP_COUNTERS) = {.part = tell_counters},
    ROW(WIRE_OP_PROFILES) = {.act = stored_begin, .part = stored_tell},
    ROW(WIRE_OP_PROFILE_PUT) = {.act = stored_put},
    ROW(WIRE_OP_RECORDS) = {.act = records_begin, .text = records_tell},
    ROW(WIRE_OP_CORES) = {.act = cores_begin, .part = cores_tell},
    ROW(WIRE_OP_PROPOSE) = {.act = propose_act},
    ROW(WIRE_OP_PROFILE_FORGET) = {.act = stored_forget, .line = stored_tell_forgotten},
};
TABLE_COMPLETE(request_ops);
