/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire - see wire.h. Encoding and decoding only: no socket is opened here. */
#include "packer/wire/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/json_fields.h"

const char *const wire_policy_name[WIRE_POLICIES] = {"di",     "dio-power", "pain",   "sdc",
                                                     "animal", "missrate",  "contend"};
const char *const wire_mem_name[WIRE_MEMS] = {"auto", "local", "interleave", "bind"};
const char *const wire_mode_name[WIRE_MODES] = {"off", "auto", "observe"};
static const char *const op_name[WIRE_OPS] = {"register", "end",      "job_end", "status",
                                              "explain",  "counters", "release"};

void wire_options_init(struct wire_options *options)
{
    memset(options, 0, sizeof(*options));
    options->max_slowdown_pct = -1;
}

/* ---- encoding ---- */

/* Print an object as one line with its newline; consumes the object. */
static char *line_of(struct json_object *object)
{
    size_t length;
    const char *text = json_object_to_json_string_length(object, JSON_C_TO_STRING_PLAIN, &length);
    char *line = NULL;

    if (text && length + 2 > WIRE_MESSAGE_MAX) {
        errno = EMSGSIZE;
    } else if (text && (line = malloc(length + 2))) {
        memcpy(line, text, length);
        memcpy(line + length, "\n", 2);
    }
    json_object_put(object);
    return line;
}

static struct json_object *encode_options(const struct wire_options *o)
{
    struct json_object *object = json_object_new_object();

    json_add_text(object, "mode", wire_mode_name[o->mode]);
    json_add_bool(object, "isolate", o->isolate);
    json_add_bool(object, "edp", o->edp);
    json_add_bool(object, "size", o->size);
    json_add_bool(object, "require", o->require);
    json_add_bool(object, "verbose", o->verbose);
    json_add_text(object, "policy", o->policy_given ? wire_policy_name[o->policy] : NULL);
    json_add_u64(object, "cores_min", o->cores_min);
    json_add_u64(object, "cores_max", o->cores_max);
    json_add_measure(object, "max_slowdown_pct", o->max_slowdown_pct);
    json_add_text(object, "mem", wire_mem_name[o->mem]);
    json_add_text(object, "tag", o->tag);
    return object;
}

static struct json_object *encode_tasks(const struct wire_register *reg)
{
    struct json_object *tasks = json_object_new_array_ext((int)reg->ntasks);

    for (size_t i = 0; i < reg->ntasks; i++) {
        struct json_object *pair = json_object_new_array_ext(2);

        json_object_array_add(pair, json_object_new_uint64(reg->task[i].id));
        json_object_array_add(pair, json_object_new_int64(reg->task[i].pid));
        json_object_array_add(tasks, pair);
    }
    return tasks;
}

/* An array of numbers; NULL where there is none. */
static struct json_object *encode_groups(const struct wire_register *reg)
{
    struct json_object *groups = reg->ngroups ? json_object_new_array() : NULL;

    for (size_t i = 0; i < reg->ngroups; i++)
        json_object_array_add(groups, json_object_new_uint64(reg->group[i]));
    return groups;
}

static void encode_register(struct json_object *object, const struct wire_register *reg)
{
    json_add_u64(object, "job", reg->id.job);
    json_add_u64(object, "step", reg->id.step);
    json_add_u64(object, "array_job", reg->array_job);
    json_add_u64(object, "array_task", reg->array_task);
    json_add_u64(object, "uid", reg->uid);
    json_add_u64(object, "gid", reg->gid);
    json_add_u64(object, "restart", reg->restart);
    json_add_u64(object, "cpus_per_task", reg->cpus_per_task);
    json_add_text(object, "node", reg->node);
    json_add_text(object, "job_cores", reg->job_cores);
    json_add_text(object, "step_cores", reg->step_cores);
    json_add_text(object, "exe", reg->exe);
    json_add_text(object, "hash", reg->hash);
    json_add_text(object, "shape", reg->shape);
    json_add_text(object, "account", reg->account);
    json_add_text(object, "qos", reg->qos);
    json_add_text(object, "partition", reg->partition);
    json_add_text(object, "job_name", reg->job_name);
    json_add_text(object, "cluster", reg->cluster);
    json_add_u64(object, "nodes", reg->nodes);
    json_object_object_add(object, "groups", encode_groups(reg));
    json_add_bool(object, "bound_by_hand", reg->bound_by_hand);
    json_add_bool(object, "user_omp_threads", reg->user_omp_threads);
    json_object_object_add(object, "options", encode_options(&reg->options));
    json_object_object_add(object, "tasks", encode_tasks(reg));
}

static void encode_end(struct json_object *object, const struct wire_end *end)
{
    json_add_u64(object, "job", end->id.job);
    json_add_u64(object, "step", end->id.step);
    json_object_object_add(object, "exit_status",
                           end->exit_status < 0 ? NULL : json_object_new_int(end->exit_status));
    json_add_measure(object, "user_s", end->user_s);
    json_add_measure(object, "system_s", end->system_s);
    json_add_u64(object, "maxrss_kib", end->maxrss_kib);
    json_add_u64(object, "restart", end->restart);
}

/* A whole job has no step, a whole node no job. */
static void encode_id(struct json_object *object, struct wire_step_id id)
{
    if (id.job != UINT32_MAX)
        json_add_u64(object, "job", id.job);
    if (id.step != UINT32_MAX)
        json_add_u64(object, "step", id.step);
}

static void encode_release(struct json_object *object, const struct wire_release *release)
{
    encode_id(object, release->id);
    json_add_bool(object, "end", release->end);
}

char *wire_request_encode(const struct wire_request *request)
{
    struct json_object *object = json_object_new_object();

    json_add_u64(object, "version", WIRE_VERSION);
    json_add_text(object, "op", op_name[request->op]);
    if (request->op == WIRE_OP_REGISTER)
        encode_register(object, &request->reg);
    else if (request->op == WIRE_OP_END)
        encode_end(object, &request->end);
    else if (request->op == WIRE_OP_RELEASE)
        encode_release(object, &request->release);
    else if (request->op == WIRE_OP_JOB_END)
        json_add_u64(object, "job", request->id.job);
    else if (request->op == WIRE_OP_EXPLAIN)
        encode_id(object, request->id);
    return line_of(object);
}

/* ---- decoding ---- */

/* The policy is null where none was asked for. */
static int decode_policy(struct json_object *object, struct wire_options *o,
                         struct berth_error *err)
{
    int policy = -1;

    if (json_get_word(object, "policy", JSON_OPTIONAL, wire_policy_name, WIRE_POLICIES, &policy,
                      err) < 0)
        return -1;
    o->policy_given = policy >= 0;
    o->policy = policy >= 0 ? (enum wire_policy)policy : WIRE_POLICY_DI;
    return 0;
}

static bool tag_valid(const char *tag)
{
    return strspn(tag, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
           strlen(tag);
}

static int decode_options(struct json_object *object, struct wire_options *o,
                          struct berth_error *err)
{
    int mode = WIRE_MODE_OFF, mem = WIRE_MEM_AUTO;

    wire_options_init(o);
    if (json_get_word(object, "mode", JSON_REQUIRED, wire_mode_name, WIRE_MODES, &mode, err) < 0 ||
        json_get_word(object, "mem", JSON_OPTIONAL, wire_mem_name, WIRE_MEMS, &mem, err) < 0 ||
        decode_policy(object, o, err) < 0 ||
        json_get_bool(object, "isolate", JSON_OPTIONAL, &o->isolate, err) < 0 ||
        json_get_bool(object, "edp", JSON_OPTIONAL, &o->edp, err) < 0 ||
        json_get_bool(object, "size", JSON_OPTIONAL, &o->size, err) < 0 ||
        json_get_bool(object, "require", JSON_OPTIONAL, &o->require, err) < 0 ||
        json_get_bool(object, "verbose", JSON_OPTIONAL, &o->verbose, err) < 0 ||
        json_get_u32(object, "cores_min", JSON_OPTIONAL, &o->cores_min, err) < 0 ||
        json_get_u32(object, "cores_max", JSON_OPTIONAL, &o->cores_max, err) < 0 ||
        json_get_double(object, "max_slowdown_pct", JSON_OPTIONAL, &o->max_slowdown_pct, err) < 0 ||
        json_get_text(object, "tag", JSON_OPTIONAL, o->tag, sizeof(o->tag), err) < 0)
        return -1;
    if (!tag_valid(o->tag))
        return berth_error_set(err, "tag: letters, digits, '.', '_' and '-' only");
    o->mode = (enum wire_mode)mode;
    o->mem = (enum wire_mem)mem;
    return 0;
}

/* One [id, pid] of "tasks". */
static int decode_task(struct json_object *pair, struct wire_task *task)
{
    int64_t id, pid;

    if (!json_object_is_type(pair, json_type_array) || json_object_array_length(pair) != 2 ||
        !json_object_is_type(json_object_array_get_idx(pair, 0), json_type_int) ||
        !json_object_is_type(json_object_array_get_idx(pair, 1), json_type_int))
        return -1;
    id = json_object_get_int64(json_object_array_get_idx(pair, 0));
    pid = json_object_get_int64(json_object_array_get_idx(pair, 1));
    if (id < 0 || id > UINT32_MAX || pid < 1 || pid > INT32_MAX)
        return -1;
    *task = (struct wire_task){.id = (uint32_t)id, .pid = (pid_t)pid};
    return 0;
}

static int decode_tasks(struct json_object *object, struct wire_register *reg,
                        struct berth_error *err)
{
    struct json_object *tasks = NULL;

    if (json_get_array(object, "tasks", JSON_REQUIRED, &tasks, err) < 0)
        return -1;
    reg->ntasks = json_object_array_length(tasks);
    if (reg->ntasks == 0)
        return berth_error_set(err, "tasks: at least one expected");
    reg->task = calloc(reg->ntasks, sizeof(*reg->task));
    if (!reg->task)
        return berth_error_set(err, "tasks: out of memory");
    for (size_t i = 0; i < reg->ntasks; i++)
        if (decode_task(json_object_array_get_idx(tasks, i), &reg->task[i]) < 0) {
            free(reg->task);
            reg->task = NULL;
            return berth_error_set(err, "tasks: [id, pid] expected at %zu", i);
        }
    return 0;
}

static int decode_groups(struct json_object *object, struct wire_register *reg,
                         struct berth_error *err)
{
    struct json_object *groups = NULL;

    if (json_get_array(object, "groups", JSON_OPTIONAL, &groups, err) < 0)
        return -1;
    reg->ngroups = groups ? json_object_array_length(groups) : 0;
    if (reg->ngroups > WIRE_GROUPS_MAX)
        return berth_error_set(err, "groups: more than %d", WIRE_GROUPS_MAX);
    for (size_t i = 0; i < reg->ngroups; i++) {
        struct json_object *group = json_object_array_get_idx(groups, i);
        int64_t number =
            json_object_is_type(group, json_type_int) ? json_object_get_int64(group) : -1;

        if (number < 0 || number > UINT32_MAX)
            return berth_error_set(err, "groups: a number expected at %zu", i);
        reg->group[i] = (uint32_t)number;
    }
    return 0;
}

static int decode_id(struct json_object *object, enum json_need need_step, struct wire_step_id *id,
                     struct berth_error *err)
{
    id->step = UINT32_MAX;
    if (json_get_u32(object, "job", JSON_REQUIRED, &id->job, err) < 0)
        return -1;
    return json_get_u32(object, "step", need_step, &id->step, err);
}

/* A node name becomes part of a path. */
static int check_node(const char *node, struct berth_error *err)
{
    if (node[0] == '.' || strchr(node, '/'))
        return berth_error_set(err, "node: '%s' is no node name", node);
    return 0;
}

/* What the step runs, and for whom, by its environment. */
static int decode_names(struct json_object *object, struct wire_register *reg,
                        struct berth_error *err)
{
    const struct {
        const char *key;
        char *text;
        size_t size;
    } name[] = {
        {"exe", reg->exe, sizeof(reg->exe)},
        {"hash", reg->hash, sizeof(reg->hash)},
        {"shape", reg->shape, sizeof(reg->shape)},
        {"account", reg->account, sizeof(reg->account)},
        {"qos", reg->qos, sizeof(reg->qos)},
        {"partition", reg->partition, sizeof(reg->partition)},
        {"job_name", reg->job_name, sizeof(reg->job_name)},
        {"cluster", reg->cluster, sizeof(reg->cluster)},
    };

    for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
        if (json_get_text(object, name[i].key, JSON_OPTIONAL, name[i].text, name[i].size, err) < 0)
            return -1;
    return json_get_u32(object, "nodes", JSON_OPTIONAL, &reg->nodes, err);
}

static int decode_register(struct json_object *object, struct wire_register *reg,
                           struct berth_error *err)
{
    struct json_object *options = NULL;

    memset(reg, 0, sizeof(*reg));
    if (decode_id(object, JSON_REQUIRED, &reg->id, err) < 0 ||
        json_get_u32(object, "array_job", JSON_OPTIONAL, &reg->array_job, err) < 0 ||
        json_get_u32(object, "array_task", JSON_OPTIONAL, &reg->array_task, err) < 0 ||
        json_get_u32(object, "uid", JSON_REQUIRED, &reg->uid, err) < 0 ||
        json_get_u32(object, "gid", JSON_OPTIONAL, &reg->gid, err) < 0 ||
        json_get_u32(object, "restart", JSON_OPTIONAL, &reg->restart, err) < 0 ||
        json_get_u32(object, "cpus_per_task", JSON_OPTIONAL, &reg->cpus_per_task, err) < 0 ||
        json_get_text(object, "node", JSON_OPTIONAL, reg->node, sizeof(reg->node), err) < 0 ||
        json_get_text(object, "job_cores", JSON_OPTIONAL, reg->job_cores, sizeof(reg->job_cores),
                      err) < 0 ||
        json_get_text(object, "step_cores", JSON_OPTIONAL, reg->step_cores, sizeof(reg->step_cores),
                      err) < 0 ||
        decode_names(object, reg, err) < 0 || decode_groups(object, reg, err) < 0 ||
        json_get_bool(object, "bound_by_hand", JSON_OPTIONAL, &reg->bound_by_hand, err) < 0 ||
        json_get_bool(object, "user_omp_threads", JSON_OPTIONAL, &reg->user_omp_threads, err) < 0 ||
        json_get_object(object, "options", JSON_REQUIRED, &options, err) < 0 ||
        decode_options(options, &reg->options, err) < 0 || check_node(reg->node, err) < 0)
        return -1;
    return decode_tasks(object, reg, err);
}

static int decode_end(struct json_object *object, struct wire_end *end, struct berth_error *err)
{
    int64_t status = -1;

    *end = (struct wire_end){.user_s = -1, .system_s = -1};
    if (decode_id(object, JSON_REQUIRED, &end->id, err) < 0 ||
        json_get_i64(object, "exit_status", JSON_OPTIONAL, &status, err) < 0 ||
        json_get_double(object, "user_s", JSON_OPTIONAL, &end->user_s, err) < 0 ||
        json_get_double(object, "system_s", JSON_OPTIONAL, &end->system_s, err) < 0 ||
        json_get_u64(object, "maxrss_kib", JSON_OPTIONAL, &end->maxrss_kib, err) < 0 ||
        json_get_u32(object, "restart", JSON_OPTIONAL, &end->restart, err) < 0)
        return -1;
    if (status < -1 || status > UINT16_MAX)
        return berth_error_set(err, "exit_status: no wait status");
    end->exit_status = (int)status;
    return 0;
}

static int decode_release(struct json_object *object, struct wire_release *release,
                          struct berth_error *err)
{
    *release = (struct wire_release){.id = {UINT32_MAX, UINT32_MAX}};
    if (json_get_u32(object, "job", JSON_OPTIONAL, &release->id.job, err) < 0 ||
        json_get_u32(object, "step", JSON_OPTIONAL, &release->id.step, err) < 0 ||
        json_get_bool(object, "end", JSON_OPTIONAL, &release->end, err) < 0)
        return -1;
    if (release->id.job == UINT32_MAX && release->id.step != UINT32_MAX)
        return berth_error_set(err, "job: missing, beside a step");
    if (release->id.job != UINT32_MAX && release->end)
        return berth_error_set(err, "job: what was released is taken back for the whole node only");
    return 0;
}

/* Parse a line, which must be an object of our version. */
static struct json_object *decode_line(const char *line, size_t length, struct berth_error *err)
{
    struct json_object *object;
    uint32_t version = 0;

    if (length > WIRE_MESSAGE_MAX) {
        berth_error_set(err, "message longer than %d bytes", WIRE_MESSAGE_MAX);
        return NULL;
    }
    object = json_parse(line, length, err);
    if (!object)
        return NULL;
    if (!json_object_is_type(object, json_type_object))
        berth_error_set(err, "an object expected");
    else if (json_get_u32(object, "version", JSON_REQUIRED, &version, err) == 0 &&
             version != WIRE_VERSION)
        berth_error_set(err, "version: %u is not spoken here, only %d", version, WIRE_VERSION);
    if (version == WIRE_VERSION)
        return object;
    json_object_put(object);
    return NULL;
}

static int decode_body(struct json_object *object, struct wire_request *request,
                       struct berth_error *err)
{
    switch (request->op) {
    case WIRE_OP_REGISTER:
        return decode_register(object, &request->reg, err);
    case WIRE_OP_END:
        return decode_end(object, &request->end, err);
    case WIRE_OP_JOB_END:
    case WIRE_OP_EXPLAIN:
        return decode_id(object, JSON_OPTIONAL, &request->id, err);
    case WIRE_OP_RELEASE:
        return decode_release(object, &request->release, err);
    default:
        return 0;
    }
}

int wire_request_decode(const char *line, size_t length, struct wire_request *request,
                        struct berth_error *err)
{
    struct json_object *object = decode_line(line, length, err);
    int op = 0, rc = -1;

    if (!object)
        return -1;
    if (json_get_word(object, "op", JSON_REQUIRED, op_name, WIRE_OPS, &op, err) == 0) {
        request->op = (enum wire_op)op;
        rc = decode_body(object, request, err);
    }
    json_object_put(object);
    return rc;
}

void wire_request_clear(struct wire_request *request)
{
    if (request->op == WIRE_OP_REGISTER) {
        free(request->reg.task);
        request->reg.task = NULL;
    }
}

/* ---- answers ---- */

static void encode_places(struct json_object *object, const struct wire_answer *answer)
{
    struct json_object *tasks = json_object_new_array();

    for (size_t i = 0; i < answer->ntasks; i++) {
        struct json_object *pair = json_object_new_array_ext(2);
        char text[CPUS_TEXT_MAX];

        if (cpus_format(&answer->task[i].cpus, text, sizeof(text)) < 0)
            text[0] = '\0';
        json_object_array_add(pair, json_object_new_uint64(answer->task[i].id));
        json_object_array_add(pair, json_object_new_string(text));
        json_object_array_add(tasks, pair);
    }
    json_object_object_add(object, "tasks", tasks);
}

static struct json_object *encode_answer(const struct wire_answer *answer)
{
    struct json_object *object = json_object_new_object(), *env = json_object_new_object();

    json_add_u64(object, "version", WIRE_VERSION);
    json_add_bool(object, "ok", answer->ok);
    if (!answer->ok)
        json_add_text(object, "error", answer->error);
    json_add_bool(object, "managed", answer->managed);
    json_add_text(object, "note", answer->note);
    json_add_text(object, "mem", wire_mem_name[answer->mem]);
    json_add_cpus(object, "mems", &answer->mems);
    for (size_t i = 0; i < answer->nenv; i++)
        json_add_text(env, answer->env[i].name, answer->env[i].value);
    json_object_object_add(object, "env", env);
    return object;
}

char *wire_answer_encode(const struct wire_answer *answer)
{
    struct json_object *object = encode_answer(answer);
    char *line;

    encode_places(object, answer);
    line = line_of(object);
    if (!line && errno == EMSGSIZE)
        line = line_of(encode_answer(answer));
    return line;
}

static int decode_env(struct json_object *object, struct wire_answer *answer,
                      struct berth_error *err)
{
    struct json_object *env = NULL;

    if (json_get_object(object, "env", JSON_OPTIONAL, &env, err) < 0)
        return -1;
    if (!env)
        return 0;
    json_object_object_foreach(env, name, value)
    {
        if (answer->nenv == WIRE_ENV_MAX || strlen(name) >= sizeof(answer->env[0].name))
            return berth_error_set(err, "env: too many, or a name too long");
        if (json_get_text(env, name, JSON_REQUIRED, answer->env[answer->nenv].value,
                          sizeof(answer->env[0].value), err) < 0)
            return -1;
        strcpy(answer->env[answer->nenv++].name, name);
        (void)value;
    }
    return 0;
}

/* One [id, "cpulist"] of "tasks". */
static int decode_place(struct json_object *pair, struct wire_task_place *place)
{
    const char *cpus;
    int64_t id;

    if (!json_object_is_type(pair, json_type_array) || json_object_array_length(pair) != 2 ||
        !json_object_is_type(json_object_array_get_idx(pair, 0), json_type_int) ||
        !(cpus = json_text(json_object_array_get_idx(pair, 1))))
        return -1;
    id = json_object_get_int64(json_object_array_get_idx(pair, 0));
    if (id < 0 || id > UINT32_MAX)
        return -1;
    place->id = (uint32_t)id;
    return cpus_parse(&place->cpus, cpus);
}

static int decode_places(struct json_object *object, struct wire_answer *answer,
                         struct berth_error *err)
{
    struct json_object *tasks = NULL;
    size_t n;

    if (json_get_array(object, "tasks", JSON_OPTIONAL, &tasks, err) < 0)
        return -1;
    n = tasks ? json_object_array_length(tasks) : 0;
    if (n == 0)
        return 0;
    answer->task = calloc(n, sizeof(*answer->task));
    if (!answer->task)
        return berth_error_set(err, "tasks: out of memory");
    for (answer->ntasks = 0; answer->ntasks < n; answer->ntasks++)
        if (decode_place(json_object_array_get_idx(tasks, answer->ntasks),
                         &answer->task[answer->ntasks]) < 0)
            return berth_error_set(err, "tasks: [id, \"CPUs\"] expected at %zu", answer->ntasks);
    return 0;
}

static int decode_mems(struct json_object *object, struct wire_answer *answer,
                       struct berth_error *err)
{
    char text[1024] = "";

    if (json_get_text(object, "mems", JSON_OPTIONAL, text, sizeof(text), err) < 0)
        return -1;
    if (cpus_parse(&answer->mems, text) < 0)
        return berth_error_set(err, "mems: '%.64s' is no list of nodes", text);
    return 0;
}

int wire_answer_decode(const char *line, size_t length, struct wire_answer *answer,
                       struct berth_error *err)
{
    struct json_object *object = decode_line(line, length, err);
    int mem = WIRE_MEM_AUTO, rc = -1;

    memset(answer, 0, sizeof(*answer));
    if (!object)
        return -1;
    if (json_get_bool(object, "ok", JSON_REQUIRED, &answer->ok, err) == 0 &&
        json_get_text(object, "error", JSON_OPTIONAL, answer->error, sizeof(answer->error), err) ==
            0 &&
        json_get_bool(object, "managed", JSON_OPTIONAL, &answer->managed, err) == 0 &&
        json_get_text(object, "note", JSON_OPTIONAL, answer->note, sizeof(answer->note), err) ==
            0 &&
        json_get_word(object, "mem", JSON_OPTIONAL, wire_mem_name, WIRE_MEMS, &mem, err) == 0 &&
        decode_mems(object, answer, err) == 0 && decode_env(object, answer, err) == 0)
        rc = decode_places(object, answer, err);
    answer->mem = (enum wire_mem)mem;
    json_object_put(object);
    if (rc < 0)
        wire_answer_clear(answer);
    return rc;
}

void wire_answer_clear(struct wire_answer *answer)
{
    free(answer->task);
    answer->task = NULL;
    answer->ntasks = 0;
}
