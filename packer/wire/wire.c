/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire - see wire.h. Encoding and decoding only: no socket is opened here. */
#include "packer/wire/wire.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/wire/wire_records.h"
#include "enum_table.h"

const char *const TABLE(wire_policy_name, WIRE_POLICIES) = {
    ROW(WIRE_POLICY_DI) = "di",           ROW(WIRE_POLICY_DIO_POWER) = "dio-power",
    ROW(WIRE_POLICY_PAIN) = "pain",       ROW(WIRE_POLICY_SDC) = "sdc",
    ROW(WIRE_POLICY_ANIMAL) = "animal",   ROW(WIRE_POLICY_MISSRATE) = "missrate",
    ROW(WIRE_POLICY_CONTEND) = "contend",
};
TABLE_COMPLETE(wire_policy_name);
const char *const TABLE(wire_throttle_name, WIRE_THROTTLES) = {
    ROW(WIRE_THROTTLE_OFF) = "off",
    ROW(WIRE_THROTTLE_LAZY) = "lazy",
    ROW(WIRE_THROTTLE_BASELINE) = "baseline",
    ROW(WIRE_THROTTLE_AGGRESSIVE) = "aggressive",
};
TABLE_COMPLETE(wire_throttle_name);
const char *const TABLE(wire_mem_name, WIRE_MEMS) = {
    ROW(WIRE_MEM_AUTO) = "auto",
    ROW(WIRE_MEM_LOCAL) = "local",
    ROW(WIRE_MEM_INTERLEAVE) = "interleave",
    ROW(WIRE_MEM_BIND) = "bind",
};
TABLE_COMPLETE(wire_mem_name);
const char *const TABLE(wire_env_name, WIRE_ENVS) = {
    ROW(WIRE_ENV_CPUS) = "BERTH_CPUS",
    ROW(WIRE_ENV_CLASS) = "BERTH_CLASS",
    ROW(WIRE_ENV_THREADS) = "OMP_NUM_THREADS",
    ROW(WIRE_ENV_PLAIN_BARRIER) = "KMP_PLAIN_BARRIER_PATTERN",
    ROW(WIRE_ENV_FORKJOIN_BARRIER) = "KMP_FORKJOIN_BARRIER_PATTERN",
    ROW(WIRE_ENV_REDUCTION_BARRIER) = "KMP_REDUCTION_BARRIER_PATTERN",
    ROW(WIRE_ENV_PAGE) = "BERTH_RT_PAGE",
};
TABLE_COMPLETE(wire_env_name);
const char *const TABLE(wire_prefetch_name, WIRE_PREFETCHES) = {
    ROW(WIRE_PREFETCH_NONE) = NULL,
    ROW(WIRE_PREFETCH_AUTO) = "auto",
    ROW(WIRE_PREFETCH_ON) = "on",
    ROW(WIRE_PREFETCH_OFF) = "off",
};
TABLE_COMPLETE(wire_prefetch_name);
const char *const TABLE(wire_mode_name, WIRE_MODES) = {
    ROW(WIRE_MODE_OFF) = "off", ROW(WIRE_MODE_AUTO) = "auto", ROW(WIRE_MODE_OBSERVE) = "observe"};
TABLE_COMPLETE(wire_mode_name);
const char *const TABLE(wire_pin_name, WIRE_PINS) = {
    ROW(WIRE_PIN_NONE) = NULL,       ROW(WIRE_PIN_ENVIRONMENT) = "environment",
    ROW(WIRE_PIN_CALLS) = "calls",   ROW(WIRE_PIN_LOOKS) = "looks",
    ROW(WIRE_PIN_STARTS) = "starts", ROW(WIRE_PIN_MEMORY) = "memory",
    ROW(WIRE_PIN_DEVICE) = "device", ROW(WIRE_PIN_UNREAD) = "unread",
};
TABLE_COMPLETE(wire_pin_name);
static const char *const TABLE(op_name, WIRE_OPS) = {
    ROW(WIRE_OP_REGISTER) = "register",
    ROW(WIRE_OP_END) = "end",
    ROW(WIRE_OP_JOB_END) = "job_end",
    ROW(WIRE_OP_STATUS) = "status",
    ROW(WIRE_OP_EXPLAIN) = "explain",
    ROW(WIRE_OP_COUNTERS) = "counters",
    ROW(WIRE_OP_RELEASE) = "release",
    ROW(WIRE_OP_PROFILES) = "profiles",
    ROW(WIRE_OP_PROFILE_PUT) = "profile_put",
    ROW(WIRE_OP_PROFILE_FORGET) = "profile_forget",
    ROW(WIRE_OP_RECORDS) = "records",
    ROW(WIRE_OP_CLAIM) = "claim",
    ROW(WIRE_OP_CORES) = "cores",
    ROW(WIRE_OP_PROPOSE) = "propose",
};
TABLE_COMPLETE(op_name);

#define TAG_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

bool wire_tag_valid(const char *tag)
{
    size_t length = strlen(tag);

    return length > 0 && length < sizeof(((struct wire_options *)NULL)->tag) &&
           strspn(tag, TAG_LETTERS) == length;
}

/* Is it KIND:NAME, of so many bytes? */
static bool is_device(const char *text, size_t length)
{
    size_t kind = strspn(text, "abcdefghijklmnopqrstuvwxyz");

    return kind > 0 && kind + 1 < length && text[kind] == ':' &&
           kind + 1 + strspn(text + kind + 1, TAG_LETTERS) >= length;
}

bool wire_devices_valid(const char *devices)
{
    if (strlen(devices) >= WIRE_DEVICES_MAX)
        return false;
    for (const char *at = devices;; at++) {
        size_t length = strcspn(at, ",");

        if (!is_device(at, length))
            return false;
        at += length;
        if (!*at)
            return true;
    }
}

void wire_options_init(struct wire_options *options)
{
    memset(options, 0, sizeof(*options));
    options->max_slowdown_pct = options->size_loss_pct = -1;
}

double wire_size_loss(const struct wire_options *options)
{
    return (options->size_loss_pct < 0 ? WIRE_SIZE_LOSS_PCT : options->size_loss_pct) / 100;
}

/* ---- the fields ---- */

#define FIELD(type, member, need) JSON_FIELD(struct wire_##type, #member, member, need)
#define AMOUNT(type, member) JSON_RANGE(struct wire_##type, #member, member, OPTIONAL, 0, HUGE_VAL)
#define WORD(type, member, need)                                                                   \
    JSON_CHOICE(struct wire_##type, #member, member, need, wire_##member##_name)
#define JOB(type, need) JSON_FIELD(struct wire_##type, "job", id.job, need)
#define STEP(type, need) JSON_FIELD(struct wire_##type, "step", id.step, need)

static const struct json_field options_fields[] = {
    WORD(options, mode, REQUIRED),
    FIELD(options, isolate, OPTIONAL),
    FIELD(options, edp, OPTIONAL),
    FIELD(options, size, OPTIONAL),
    FIELD(options, spread, OPTIONAL),
    FIELD(options, pack, OPTIONAL),
    FIELD(options, require, OPTIONAL),
    FIELD(options, verbose, OPTIONAL),
    JSON_CHOICE_GIVEN(struct wire_options, "policy", policy, policy_given, wire_policy_name),
    FIELD(options, cores_min, OPTIONAL),
    FIELD(options, cores_max, OPTIONAL),
    AMOUNT(options, max_slowdown_pct),
    JSON_RANGE(struct wire_options, "size_loss_pct", size_loss_pct, OPTIONAL, 0,
               WIRE_SIZE_LOSS_MOST),
    WORD(options, mem, OPTIONAL),
    FIELD(options, mem_auto, OPTIONAL),
    FIELD(options, threads_auto, OPTIONAL),
    FIELD(options, threads_follow, OPTIONAL),
    WORD(options, throttle, OPTIONAL),
    FIELD(options, flex, OPTIONAL),
    JSON_RANGE(struct wire_options, "flex_threads", flex_threads, OPTIONAL, 0, WIRE_FLEX_MOST),
    FIELD(options, locks_cohort, OPTIONAL),
    FIELD(options, faithful, OPTIONAL),
    FIELD(options, tranquil, OPTIONAL),
    FIELD(options, shuffle, OPTIONAL),
    FIELD(options, adapt, OPTIONAL),
    FIELD(options, nocount, OPTIONAL),
    FIELD(options, nodevice, OPTIONAL),
    WORD(options, prefetch, OPTIONAL),
    FIELD(options, tag, OPTIONAL),
    JSON_END,
};

#define LONG(member, size) JSON_RANGE(struct wire_register, #member, member, OPTIONAL, 0, (size)-1)

static const struct json_field register_fields[] = {
    JOB(register, REQUIRED),
    STEP(register, REQUIRED),
    FIELD(register, array_job, OPTIONAL),
    FIELD(register, array_task, OPTIONAL),
    FIELD(register, uid, REQUIRED),
    FIELD(register, gid, OPTIONAL),
    FIELD(register, cpus_per_task, OPTIONAL),
    FIELD(register, node, OPTIONAL),
    LONG(job_cores, WIRE_CORES_MAX),
    LONG(step_cores, WIRE_CORES_MAX),
    LONG(exe, PATH_MAX),
    FIELD(register, hash, OPTIONAL),
    FIELD(register, shape, OPTIONAL),
    FIELD(register, nodes, OPTIONAL),
    FIELD(register, bound_by_hand, OPTIONAL),
    LONG(bound_cpus, WIRE_CORES_MAX),
    FIELD(register, by_cpu, OPTIONAL),
    FIELD(register, user_omp_threads, OPTIONAL),
    FIELD(register, asked, OPTIONAL),
    WORD(register, pin, OPTIONAL),
    FIELD(register, pin_by, OPTIONAL),
    FIELD(register, pin_within, OPTIONAL),
    LONG(devices, WIRE_DEVICES_MAX),
    AMOUNT(register, began_s),
    JSON_NESTED(struct wire_register, "options", options, REQUIRED, options_fields),
    JSON_END,
};
static const struct json_field group_item = {
    .kind = JSON_UNSIGNED, .need = JSON_REQUIRED, .size = sizeof(uint32_t)};

static const struct json_field task_fields[] = {
    FIELD(task, id, REQUIRED),
    JSON_RANGE(struct wire_task, "pid", pid, REQUIRED, 1, INT32_MAX),
    JSON_END,
};
static const struct json_field task_item = {
    .kind = JSON_TUPLE, .need = JSON_REQUIRED, .fields = task_fields};

static const struct json_field end_fields[] = {
    JOB(end, REQUIRED),
    STEP(end, REQUIRED),
    JSON_RANGE(struct wire_end, "exit_status", exit_status, OPTIONAL, 0, UINT16_MAX),
    AMOUNT(end, user_s),
    AMOUNT(end, system_s),
    FIELD(end, maxrss_kib, OPTIONAL),
    AMOUNT(end, ended_s),
    JSON_END,
};

static const struct json_field job_end_fields[] = {
    JOB(job_end, REQUIRED),
    JSON_NESTED(struct wire_job_end, "said", said, OPTIONAL, wire_identity_fields),
    JSON_END,
};

static const struct json_field release_fields[] = {
    JOB(release, OPTIONAL),
    STEP(release, OPTIONAL),
    FIELD(release, end, OPTIONAL),
    JSON_END,
};

static const struct json_field propose_fields[] = {
    JOB(propose, REQUIRED),
    STEP(propose, REQUIRED),
    FIELD(propose, policy, REQUIRED),
    FIELD(propose, cpus, OPTIONAL),
    FIELD(propose, task, OPTIONAL),
    FIELD(propose, khz, OPTIONAL),
    WORD(propose, prefetch, OPTIONAL),
    JSON_RANGE(struct wire_propose, "for_s", for_s, OPTIONAL, 0, WIRE_PROPOSAL_MOST_S),
    JSON_END,
};

static const struct json_field profile_fields[] = {
    FIELD(profile, replace, OPTIONAL),
    FIELD(profile, samples, OPTIONAL),
    JSON_END,
};

static const struct json_field answer_fields[] = {
    FIELD(answer, ok, REQUIRED),
    FIELD(answer, managed, OPTIONAL),
    FIELD(answer, note, OPTIONAL),
    FIELD(answer, warning, OPTIONAL),
    WORD(answer, mem, OPTIONAL),
    FIELD(answer, mems, OPTIONAL),
    JSON_END,
};

static const struct json_field place_fields[] = {
    FIELD(task_place, id, REQUIRED),
    FIELD(task_place, cpus, REQUIRED),
    JSON_END,
};
static const struct json_field place_item = {
    .kind = JSON_TUPLE, .need = JSON_REQUIRED, .fields = place_fields};

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

static void encode_register(struct json_object *object, const struct wire_register *reg)
{
    json_write(object, register_fields, reg);
    json_add(object, "groups",
             reg->ngroups
                 ? json_new_list(reg->ngroups, &group_item, reg->group, sizeof(reg->group[0]))
                 : NULL);
    json_add(object, "tasks",
             json_new_list(reg->ntasks, &task_item, reg->task, sizeof(reg->task[0])));
}

static void encode_end(struct json_object *object, const struct wire_end *end)
{
    struct json_object *late;

    json_write(object, end_fields, end);
    if (!end->late)
        return;
    late = json_object_new_object();
    encode_register(late, end->late);
    json_add(object, "late", late);
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

static void encode_propose(struct json_object *object, const struct wire_propose *propose)
{
    json_write(object, propose_fields, propose);
    if (propose->task == UINT32_MAX)
        json_object_object_del(object, "task");
    if (cpus_empty(&propose->cpus))
        json_object_object_del(object, "cpus");
}

static void encode_profile(struct json_object *object, const struct wire_profile *profile)
{
    if (profile->key)
        json_add_text(object, "key", profile->key);
    if (profile->row)
        json_add(object, "row", json_parse(profile->row, strlen(profile->row), NULL));
    json_write(object, profile_fields, profile);
}

static bool is_profile(enum wire_op op)
{
    return op == WIRE_OP_PROFILES || op == WIRE_OP_PROFILE_PUT || op == WIRE_OP_PROFILE_FORGET;
}

static void encode_job_end(struct json_object *object, const struct wire_job_end *end)
{
    if (end->said.source != WIRE_SOURCE_NONE)
        json_write(object, job_end_fields, end);
    else
        encode_id(object, (struct wire_step_id){end->id.job, UINT32_MAX});
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
    else if (request->op == WIRE_OP_PROPOSE)
        encode_propose(object, &request->propose);
    else if (is_profile(request->op))
        encode_profile(object, &request->profile);
    else if (request->op == WIRE_OP_RECORDS)
        wire_records_encode(object, &request->records);
    else if (request->op == WIRE_OP_JOB_END)
        encode_job_end(object, &request->job_end);
    else if (request->op == WIRE_OP_EXPLAIN || request->op == WIRE_OP_CLAIM)
        encode_id(object, request->id);
    return line_of(object);
}

/* ---- decoding ---- */

/* Reads the elements of a list, at least one, into memory that the caller frees. NULL and err. */
static void *decode_list(struct json_object *list, const char *name, size_t n,
                         const struct json_field *item, size_t size, struct berth_error *err)
{
    void *first = calloc(n, size);

    if (!first)
        berth_error_set(err, "%s: out of memory", name);
    else if (json_get_list(list, name, n, item, first, size, err) == 0)
        return first;
    free(first);
    return NULL;
}

static int decode_tasks(struct json_object *object, struct wire_register *reg,
                        struct berth_error *err)
{
    struct json_object *tasks;

    if (json_get_array(object, "tasks", JSON_REQUIRED, &tasks, err) < 0)
        return -1;
    reg->ntasks = json_object_array_length(tasks);
    if (reg->ntasks == 0)
        return berth_error_set(err, "tasks: at least one expected");
    reg->task = decode_list(tasks, "tasks", reg->ntasks, &task_item, sizeof(*reg->task), err);
    return reg->task ? 0 : -1;
}

/* Reads the groups into group[WIRE_GROUPS_MAX]. */
static int decode_groups(struct json_object *object, struct wire_register *reg, uint32_t *group,
                         struct berth_error *err)
{
    struct json_object *groups = NULL;

    if (json_get_array(object, "groups", JSON_OPTIONAL, &groups, err) < 0)
        return -1;
    if (!groups)
        return 0;
    reg->ngroups = json_object_array_length(groups);
    if (reg->ngroups > WIRE_GROUPS_MAX)
        return berth_error_set(err, "groups: at most %d expected, not %zu", WIRE_GROUPS_MAX,
                               reg->ngroups);
    reg->group = group;
    return json_get_list(groups, "groups", reg->ngroups, &group_item, group, sizeof(group[0]), err);
}

/* Copies a text to *to, which goes behind it. Returns the copy. */
static const char *keep_text(const char *text, char **to)
{
    char *copy = *to;

    *to = stpcpy(copy, text ? text : "") + 1;
    return copy;
}

static size_t text_size(const char *text)
{
    return text ? strlen(text) + 1 : 1;
}

int wire_register_keep(struct wire_register *reg)
{
    size_t groups = reg->ngroups * sizeof(reg->group[0]);
    char *kept = malloc(groups + text_size(reg->job_cores) + text_size(reg->step_cores) +
                        text_size(reg->bound_cpus) + text_size(reg->devices) + text_size(reg->exe)),
         *text = kept + groups;

    if (!kept)
        return -1;
    if (groups)
        memcpy(kept, reg->group, groups);
    reg->group = (const uint32_t *)(void *)kept;
    reg->job_cores = keep_text(reg->job_cores, &text);
    reg->step_cores = keep_text(reg->step_cores, &text);
    reg->bound_cpus = keep_text(reg->bound_cpus, &text);
    reg->devices = keep_text(reg->devices, &text);
    reg->exe = keep_text(reg->exe, &text);
    reg->kept = kept;
    return 0;
}

/* The numbers that name a whole job or node are no step's, and in the extern step no task runs. A
 * node's name becomes part of a path, a tag part of a profile's key. */
static int check_names(const struct wire_register *reg, struct berth_error *err)
{
    const char *node = reg->node, *tag = reg->options.tag;
    uint32_t job = reg->id.job, step = reg->id.step;

    if (job == UINT32_MAX)
        return berth_error_set(err, "job: %u is no job", job);
    if (step == UINT32_MAX || step == WIRE_STEP_EXTERN)
        return berth_error_set(err, "step: %u is no step that has tasks", step);
    if (node[0] == '.' || strchr(node, '/'))
        return berth_error_set(err, "node: '%s' is no node name", node);
    if (tag[0] && !wire_tag_valid(tag))
        return berth_error_set(err, "options.tag: letters, digits, '.', '_' and '-' only");
    if (reg->devices && reg->devices[0] && !wire_devices_valid(reg->devices))
        return berth_error_set(err, "devices: names such as gpu:0, with commas between them");
    return 0;
}

static int decode_register(struct json_object *object, struct wire_register *reg,
                           struct berth_error *err)
{
    uint32_t group[WIRE_GROUPS_MAX];

    memset(reg, 0, sizeof(*reg));
    wire_options_init(&reg->options);
    if (json_read(object, register_fields, reg, err) < 0 || check_names(reg, err) < 0 ||
        decode_groups(object, reg, group, err) < 0 || decode_tasks(object, reg, err) < 0)
        return -1;
    if (wire_register_keep(reg) == 0)
        return 0;
    free(reg->task);
    reg->task = NULL; /* of a late registration it would be freed once more */
    return berth_no_memory(err);
}

static void clear_register(struct wire_register *reg)
{
    free(reg->task);
    free(reg->kept);
    reg->task = NULL;
    reg->kept = NULL;
}

/* Reads the registration that comes with the end of a step, which is the same step's. */
static int decode_late(struct json_object *late, struct wire_end *end, struct berth_error *err)
{
    end->late = malloc(sizeof(*end->late));
    if (!end->late)
        return berth_no_memory(err);
    if (decode_register(late, end->late, err) == 0) {
        if (end->late->id.job == end->id.job && end->late->id.step == end->id.step)
            return 0;
        clear_register(end->late);
        berth_error_set(err, "another step's");
    }
    free(end->late);
    return berth_error_before(err, "late: ");
}

static int decode_end(struct json_object *object, struct wire_end *end, struct berth_error *err)
{
    struct json_object *late = NULL;

    *end = (struct wire_end){.exit_status = -1, .user_s = -1, .system_s = -1};
    if (json_read(object, end_fields, end, err) < 0 ||
        json_get_object(object, "late", JSON_OPTIONAL, &late, err) < 0)
        return -1;
    return late ? decode_late(late, end, err) : 0;
}

static int decode_id(struct json_object *object, struct wire_step_id *id, struct berth_error *err)
{
    id->step = UINT32_MAX;
    if (json_get_u32(object, "job", JSON_REQUIRED, &id->job, err) < 0)
        return -1;
    return json_get_u32(object, "step", JSON_OPTIONAL, &id->step, err);
}

/* Whatever is wrong with what was said beside it, the job has ended. */
static int decode_job_end(struct json_object *object, struct wire_job_end *end,
                          struct berth_error *err)
{
    *end = (struct wire_job_end){.id.step = UINT32_MAX};
    if (json_read(object, job_end_fields, end, NULL) == 0) {
        wire_identity_clean(&end->said);
        return 0;
    }
    *end = (struct wire_job_end){.id.step = UINT32_MAX};
    return decode_id(object, &end->id, err);
}

static int decode_release(struct json_object *object, struct wire_release *release,
                          struct berth_error *err)
{
    *release = (struct wire_release){.id = {UINT32_MAX, UINT32_MAX}};
    if (json_read(object, release_fields, release, err) < 0)
        return -1;
    if (release->id.job == UINT32_MAX && release->id.step != UINT32_MAX)
        return berth_error_set(err, "job: missing, beside a step");
    if (release->id.job != UINT32_MAX && release->end)
        return berth_error_set(err, "job: what was released is taken back for the whole node only");
    return 0;
}

static int decode_propose(struct json_object *object, struct wire_propose *propose,
                          struct berth_error *err)
{
    int given;

    *propose = (struct wire_propose){.task = UINT32_MAX, .for_s = WIRE_PROPOSAL_S};
    if (json_read(object, propose_fields, propose, err) < 0)
        return -1;
    if (!wire_tag_valid(propose->policy))
        return berth_error_set(err, "policy: letters, digits, '.', '_' and '-' only");
    if (propose->prefetch == WIRE_PREFETCH_AUTO)
        return berth_error_set(err, "prefetch: on or off expected");
    given = !cpus_empty(&propose->cpus) + (propose->khz > 0) +
            (propose->prefetch != WIRE_PREFETCH_NONE);
    if (given != 1)
        return berth_error_set(err, "one of cpus, khz and prefetch expected, not %d", given);
    if (propose->task != UINT32_MAX && cpus_empty(&propose->cpus))
        return berth_error_set(err, "task: only beside cpus");
    return 0;
}

/* Reads a text that may be long. Returns 0, with *text NULL where there is none, or -1 and err. */
static int decode_text(struct json_object *object, const char *key, char **text,
                       struct berth_error *err)
{
    struct json_object *value = json_object_object_get(object, key);

    if (!value)
        return 0;
    if (!json_text(value)) /* a NUL in it is no text either */
        return berth_error_set(err, "%s: string expected", key);
    *text = strdup(json_text(value));
    return *text ? 0 : berth_no_memory(err);
}

static int decode_profile(struct json_object *object, bool put, struct wire_profile *profile,
                          struct berth_error *err)
{
    struct json_object *row = NULL;

    *profile = (struct wire_profile){0};
    if (json_read(object, profile_fields, profile, err) < 0 ||
        (put && json_get_object(object, "row", JSON_REQUIRED, &row, err) < 0) ||
        decode_text(object, "key", &profile->key, err) < 0)
        return -1;
    if (!put)
        return 0;
    profile->row = strdup(json_object_to_json_string_ext(row, JSON_C_TO_STRING_PLAIN));
    if (profile->row)
        return 0;
    free(profile->key);
    return berth_no_memory(err);
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
        return decode_job_end(object, &request->job_end, err);
    case WIRE_OP_EXPLAIN:
    case WIRE_OP_CLAIM:
        return decode_id(object, &request->id, err);
    case WIRE_OP_RELEASE:
        return decode_release(object, &request->release, err);
    case WIRE_OP_PROPOSE:
        return decode_propose(object, &request->propose, err);
    case WIRE_OP_RECORDS:
        return wire_records_decode(object, &request->records, err);
    case WIRE_OP_PROFILES:
    case WIRE_OP_PROFILE_PUT:
    case WIRE_OP_PROFILE_FORGET:
        return decode_profile(object, request->op == WIRE_OP_PROFILE_PUT, &request->profile, err);
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
    if (is_profile(request->op)) {
        free(request->profile.key);
        free(request->profile.row);
        request->profile = (struct wire_profile){0};
    }
    if (request->op == WIRE_OP_RECORDS)
        wire_records_clear(&request->records);
    if (request->op == WIRE_OP_REGISTER)
        clear_register(&request->reg);
    if (request->op == WIRE_OP_END && request->end.late) {
        clear_register(request->end.late);
        free(request->end.late);
        request->end.late = NULL;
    }
}

/* ---- answers ---- */

static struct json_object *encode_answer(const struct wire_answer *answer)
{
    struct json_object *object = json_object_new_object(), *env = json_object_new_object();

    json_add_u64(object, "version", WIRE_VERSION);
    json_write(object, answer_fields, answer);
    if (!answer->ok)
        json_add_text(object, "error", answer->error);
    for (size_t i = 0; i < answer->nenv; i++)
        json_add_text(env, answer->env[i].name, answer->env[i].value);
    json_add(object, "env", env);
    return object;
}

char *wire_answer_encode(const struct wire_answer *answer)
{
    struct json_object *object = encode_answer(answer);
    char *line;

    json_add(object, "tasks",
             json_new_list(answer->ntasks, &place_item, answer->task, sizeof(answer->task[0])));
    line = line_of(object);
    if (!line && errno == EMSGSIZE)
        line = line_of(encode_answer(answer));
    return line;
}

bool wire_env_known(const char *name)
{
    for (enum wire_env i = 0; i < WIRE_ENVS; i++)
        if (strcmp(name, wire_env_name[i]) == 0)
            return true;
    return false;
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
    answer->task = decode_list(tasks, "tasks", n, &place_item, sizeof(*answer->task), err);
    answer->ntasks = answer->task ? n : 0;
    return answer->task ? 0 : -1;
}

int wire_answer_decode(const char *line, size_t length, struct wire_answer *answer,
                       struct berth_error *err)
{
    struct json_object *object = decode_line(line, length, err);
    int rc = -1;

    memset(answer, 0, sizeof(*answer));
    if (!object)
        return -1;
    if (json_read(object, answer_fields, answer, err) == 0 &&
        json_get_text(object, "error", JSON_OPTIONAL, answer->error, sizeof(answer->error), err) ==
            0 &&
        decode_env(object, answer, err) == 0)
        rc = decode_places(object, answer, err);
    json_object_put(object);
    return rc;
}

void wire_answer_clear(struct wire_answer *answer)
{
    free(answer->task);
    answer->task = NULL;
    answer->ntasks = 0;
}
