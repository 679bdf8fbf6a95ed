/* SPDX-License-Identifier: GPL-2.0-or-later */
/* benefit_json - writes what berth's benefit is as JSON: benefit.h, berthctl(1). */
#include <math.h>

#include "packer/base/json.h"
#include "packer/report/benefit.h"
#include "enum_table.h"

static void add_mean(struct json_object *object, const char *key, const struct benefit_mean *mean)
{
    struct json_object *inner = json_object_new_object();

    json_add_u64(inner, "n", mean->n);
    json_add_number(inner, "mean", mean->mean);
    json_add_number(inner, "low", mean->mean - mean->half);
    json_add_number(inner, "high", mean->mean + mean->half);
    json_add(object, key, inner);
}

static void add_amount(struct json_object *object, const char *key,
                       const struct benefit_amount *amount)
{
    struct json_object *inner = json_object_new_object();
    bool known = amount->n > 0;

    json_add_u64(inner, "n", amount->n);
    json_add_number(inner, "sum", known ? amount->sum : NAN);
    json_add_number(inner, "gained", known ? amount->gained : NAN);
    json_add_number(inner, "lost", known ? amount->lost : NAN);
    json_add(object, key, inner);
}

void benefit_add_part(struct json_object *object, const char *key, const struct benefit_part *part)
{
    struct json_object *inner = json_object_new_object();

    json_add_u64(inner, "n", part->n);
    json_add_number(inner, "mean", part->mean);
    json_add_number(inner, "low", part->low);
    json_add_number(inner, "high", part->high);
    json_add(object, key, inner);
}

static struct json_object *group_object(const struct benefit_group *group)
{
    struct json_object *object = json_object_new_object();

    json_add_u64(object, "steps", group->steps);
    json_add_number(object, "core_s", group->core_s);
    add_mean(object, "slurm_predicted", &group->slurm);
    add_mean(object, "berth_predicted", &group->berth);
    add_mean(object, "measured", &group->measured);
    add_amount(object, "core_s_predicted", &group->core_time);
    add_amount(object, "energy_j_predicted", &group->energy);
    json_add_u64(object, "judged", group->judged);
    json_add_u64(object, "slower_than_slurm", group->slower);
    return object;
}

static struct json_object *pairs_object(const struct benefit_pairs *pairs)
{
    struct json_object *object = json_object_new_object();

    json_add_u64(object, "programs", pairs->programs);
    add_mean(object, "slurm", &pairs->slurm);
    add_mean(object, "berth", &pairs->berth);
    benefit_add_part(object, "less", &pairs->less);
    json_add_number(object, "core_s", pairs->core_s);
    return object;
}

/* Adds what was measured to be gained, with its interval, and of how many programs. */
static void add_gain(struct json_object *object, const struct benefit_verdict *verdict)
{
    json_add_number(object, "gain", verdict->gain);
    json_add_number(object, "low", verdict->low);
    json_add_number(object, "high", verdict->high);
    json_add_u64(object, "programs", verdict->programs);
}

struct json_object *benefit_verdict_json(const struct benefit_result *result)
{
    const struct benefit_verdict *verdict = &result->verdict;
    struct json_object *object = json_object_new_object();
    char sentence[BENEFIT_SENTENCE_MAX];

    benefit_sentence(result, sentence);
    json_add_text(object, "word", benefit_word_text[verdict->word]);
    json_add_text(object, "sentence", sentence);
    json_add_text(object, "by", verdict->programs ? "measured" : NULL);
    add_gain(object, verdict);
    json_add_u64(object, "steps_slurm", verdict->slurm_n);
    json_add_u64(object, "steps_berth", verdict->berth_n);
    json_add_u64(object, "more_steps", verdict->more);
    json_add_bool(object, "trial", verdict->trial);
    json_add_number(object, "control_needed", verdict->needed ? (double)verdict->needed : NAN);
    return object;
}

/* NULL: no berth-steer has written hours. */
static struct json_object *steering_object(const struct benefit_steering *steering)
{
    const struct benefit_verdict *verdict = &steering->verdict;
    struct json_object *object = steering->known ? json_object_new_object() : NULL;
    char sentence[BENEFIT_SENTENCE_MAX];

    if (!object)
        return NULL;
    benefit_steering_sentence(steering, sentence);
    json_add_text(object, "word", benefit_word_text[verdict->word]);
    json_add_text(object, "sentence", sentence);
    add_gain(object, verdict);
    json_add_u64(object, "jobs_control", verdict->slurm_n);
    json_add_u64(object, "jobs_steered", verdict->berth_n);
    json_add_u64(object, "hours_control", steering->hours[0]);
    json_add_u64(object, "hours_steered", steering->hours[1]);
    json_add_number(object, "hours_needed", verdict->needed ? (double)verdict->needed : NAN);
    return object;
}

static struct json_object *compared_object(const struct benefit_compared *of)
{
    struct json_object *object = json_object_new_object();

    json_add_text(object, "program", of->program);
    json_add_text(object, "tag", of->tag);
    json_add_text(object, "user", of->user);
    json_add_u64(object, "uid", of->uid);
    json_add_u64(object, "cores", of->cores);
    add_mean(object, "slurm", &of->slurm);
    add_mean(object, "berth", &of->berth);
    benefit_add_part(object, "less", &of->less);
    json_add_number(object, "core_s", of->core_s);
    return object;
}

static void add_compared(struct json_object *object, const char *key,
                         const struct benefit_compared *list, size_t n)
{
    struct json_object *array = json_object_new_array();

    for (size_t i = 0; i < n; i++)
        json_append(array, compared_object(&list[i]));
    json_add(object, key, array);
}

static struct json_object *step_object(const struct benefit_step *step)
{
    struct json_object *object = json_object_new_object();
    char name[WIRE_STEP_NAME_MAX], command[BENEFIT_COMMAND_MAX];

    wire_step_name(step->id, name);
    benefit_command(step, command);
    json_add_text(object, "step", name);
    json_add_text(object, "node", step->node);
    json_add_text(object, "user", step->user);
    json_add_u64(object, "uid", step->uid);
    json_add_text(object, "program", step->program);
    json_add_u64(object, "cores", step->cores);
    json_add_text(object, "placed", step->kind == BENEFIT_PLACED ? "placed" : "observed");
    json_add_number(object, "slurm_predicted", step->slurm);
    json_add_number(object, "berth_predicted", step->berth);
    json_add_number(object, "measured", step->measured);
    json_add_number(object, "core_s_predicted", step->core_s);
    json_add_number(object, "energy_j_predicted", step->energy_j);
    json_add_text(object, "explain", command);
    return object;
}

static void add_steps(struct json_object *object, const char *key, const struct benefit_step *list,
                      size_t n)
{
    struct json_object *array = json_object_new_array();

    for (size_t i = 0; i < n; i++)
        json_append(array, step_object(&list[i]));
    json_add(object, key, array);
}

static struct json_object *unknown_list(const struct benefit_result *result)
{
    static const char *const TABLE(word, BENEFIT_WHYS) = {
        ROW(BENEFIT_NOT_OPTED) = "not_opted_in", ROW(BENEFIT_BOUND) = "bound_by_hand",
        ROW(BENEFIT_LATE) = "failed_open",       ROW(BENEFIT_FAILED) = "put_back",
        ROW(BENEFIT_LEFT) = "left_alone",        ROW(BENEFIT_UNPROFILED) = "nothing_known",
        ROW(BENEFIT_SHORT) = "not_predicted",    ROW(BENEFIT_OLD) = "not_recorded",
    };
    TABLE_COMPLETE(word);
    struct json_object *array = json_object_new_array();

    for (int i = 0; i < BENEFIT_WHYS; i++) {
        struct json_object *object;

        if (result->why[i].n == 0)
            continue;
        object = json_object_new_object();
        json_add_text(object, "why", word[i]);
        json_add_text(object, "text", benefit_why_text[i]);
        json_add_u64(object, "steps", result->why[i].n);
        json_add_number(object, "core_s", result->why[i].sum);
        json_append(array, object);
    }
    return array;
}

static struct json_object *program_list(const struct benefit_result *result)
{
    struct json_object *array = json_object_new_array();

    for (size_t i = 0; i < result->programs; i++) {
        const struct benefit_program *program = &result->program[i];
        struct json_object *object = json_object_new_object();

        json_add_text(object, "program", program->program);
        json_add_text(object, "user", program->user);
        json_add_u64(object, "uid", program->uid);
        json_add_u64(object, "steps", program->steps);
        json_add_u64(object, "not_predicted", program->unknown);
        json_add_number(object, "core_s", program->core_s);
        json_add_text(object, "knowledge", program->knowledge);
        json_append(array, object);
    }
    return array;
}

struct json_object *benefit_json(const struct benefit_result *result,
                                 const struct benefit_about *about)
{
    struct json_object *object = json_object_new_object();

    if (!object)
        return NULL;
    json_add(object, "verdict", benefit_verdict_json(result));
    json_add(object, "steering", steering_object(&result->steering));
    json_add(object, "since", json_object_new_int64(about->since));
    json_add(object, "until", json_object_new_int64(about->until));
    json_add_u64(object, "steps", result->steps);
    json_add_u64(object, "shells", result->shells);
    json_add_u64(object, "nodes", result->nodes);
    json_add_number(object, "core_s", result->core_s);
    json_add(object, "placed", group_object(&result->group[BENEFIT_PLACED]));
    json_add(object, "observed", group_object(&result->group[BENEFIT_OBSERVED]));
    add_mean(object, "predicted_less_measured", &result->bias);
    add_mean(object, "prediction_error", &result->error);
    json_add(object, "measured_gain", pairs_object(&result->pairs));
    add_amount(object, "idle_core_s", &result->on_idle);
    add_amount(object, "idle_saved_core_s", &result->idle_core_time);
    add_amount(object, "size_freed_core_s", &result->freed);
    add_mean(object, "size_loss_measured", &result->size_loss);
    add_compared(object, "gained", result->gain, result->gained);
    add_compared(object, "lost", result->loss, result->lost);
    add_steps(object, "gained_predicted", result->winner, result->winners);
    add_steps(object, "lost_predicted", result->loser, result->losers);
    json_add(object, "not_known", unknown_list(result));
    json_add(object, "profile_first", program_list(result));
    return object;
}
