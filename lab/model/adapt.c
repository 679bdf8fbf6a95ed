/* SPDX-License-Identifier: GPL-2.0-or-later */
/* adapt - the model adapt: all cores for all programs, or a set for each; and what becomes of that
 * along a history. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/inside/adapt.h"
#include "packer/base/json.h"
#include "packer/base/json_asked.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/input.h"
#include "lab/model/models.h"
#include "packer/machine/adapt.h"

#define MOST_CORES 65536

struct program {
    double threads;
    struct adapt_program is;
};

#define PERCENT(member) JSON_RANGE(struct program, #member, is.member, REQUIRED, 0, 100)

static const struct json_field program_fields[] = {
    JSON_WHOLE(struct program, "threads", threads, REQUIRED, 1, 65536),
    JSON_RANGE(struct program, "usr", is.usr, OPTIONAL, 0, 100),
    PERCENT(sys),
    PERCENT(lat),
    PERCENT(lock),
    JSON_RANGE(struct program, "mpa", is.mpa, REQUIRED, 0, 1),
    JSON_END,
};

struct input {
    double cores, present, newcomer;   /* < 0: none is named */
    struct adapt_limits limits;        /* NAN: none */
    struct machine_adapt coefficients; /* the paper's, unless the input has its own */
    struct adapt_program program[ADAPT_PROGRAMS_MAX];
    unsigned configuration[ADAPT_CONFIGURATIONS_MAX * ADAPT_PROGRAMS_MAX];
    struct adapt_question question;
};

static const struct json_field limit_fields[] = {
    JSON_RANGE(struct adapt_limits, "mpa", mpa, REQUIRED, 0, 1),
    JSON_RANGE(struct adapt_limits, "lock", lock, REQUIRED, 0, 100),
    JSON_END,
};

static const struct json_field input_fields[] = {
    JSON_WHOLE(struct input, "cores", cores, REQUIRED, 1, MOST_CORES),
    JSON_WHOLE(struct input, "present", present, OPTIONAL, 0, ADAPT_CONFIGURATIONS_MAX - 1),
    JSON_WHOLE(struct input, "newcomer", newcomer, OPTIONAL, 0, ADAPT_PROGRAMS_MAX - 1),
    JSON_NESTED(struct input, "limits", limits, OPTIONAL, limit_fields),
    JSON_END,
};

/* ---- the input ---- */

/* Reads a list of programs, which may be those of a later phase. */
static int read_programs(struct json_object *object, struct adapt_program *program, size_t *n,
                         struct berth_error *err)
{
    struct json_object *list;

    if (ctl_input_list(object, "programs", json_type_object, &list, err) < 0)
        return -1;
    *n = json_object_array_length(list);
    if (*n > ADAPT_PROGRAMS_MAX)
        return berth_error_set(err, "programs: at most %d expected", ADAPT_PROGRAMS_MAX);
    for (size_t i = 0; i < *n; i++) {
        struct program in = {.is.usr = NAN};

        json_asked_note(json_object_array_get_idx(list, i), "name");
        if (json_read(json_object_array_get_idx(list, i), program_fields, &in, err) < 0)
            return berth_error_before(err, "programs[%zu].", i);
        in.is.threads = (unsigned)in.threads;
        program[i] = in.is;
    }
    return 0;
}

/* Reads "configurations", or makes them. */
static int read_configurations(struct input *input, struct json_object *object,
                               struct berth_error *err)
{
    struct json_field item = {.kind = JSON_UNSIGNED,
                              .need = JSON_REQUIRED,
                              .size = sizeof(*input->configuration),
                              .min = 1,
                              .max = input->cores};
    struct adapt_question *question = &input->question;
    struct json_object *list = NULL;

    if (json_get_array(object, "configurations", JSON_OPTIONAL, &list, err) < 0)
        return -1;
    if (!list) {
        question->configurations =
            adapt_candidates(&input->coefficients.is, question->cores, question->n, input->program,
                             NULL, input->configuration);
        return 0;
    }
    question->configurations = json_object_array_length(list);
    if (question->configurations == 0 || question->configurations > ADAPT_CONFIGURATIONS_MAX)
        return berth_error_set(err, "configurations: 1 to %d expected", ADAPT_CONFIGURATIONS_MAX);
    return json_get_matrix(list, "configurations", question->configurations, question->n, &item,
                           input->configuration, sizeof(*input->configuration), err);
}

/* Who has just come is one of the programs, and the limits say whether it is light. */
static int check_newcomer(const struct input *input, struct berth_error *err)
{
    if (input->newcomer >= (double)input->question.n)
        return berth_error_set(err, "newcomer: %g: there are programs 0 to %zu only",
                               input->newcomer, input->question.n - 1);
    if (input->newcomer >= 0 && isnan(input->limits.mpa))
        return berth_error_set(err, "limits: missing, by which a newcomer is light");
    return 0;
}

static int input_read(struct input *input, struct json_object *object, struct berth_error *err)
{
    struct adapt_question *question = &input->question;

    *input = (struct input){
        .present = -1, .newcomer = -1, .limits = {NAN, NAN}, .coefficients.is = adapt_pusukuri};
    if (json_read(object, input_fields, input, err) < 0 ||
        read_programs(object, input->program, &question->n, err) < 0 ||
        machine_adapt_read(object, "coefficients", &input->coefficients, err) < 0)
        return -1;
    question->coefficients = &input->coefficients.is;
    question->cores = (unsigned)input->cores;
    question->program = input->program;
    question->configuration = input->configuration;
    if (check_newcomer(input, err) < 0 || read_configurations(input, object, err) < 0)
        return -1;
    if (input->present >= (double)question->configurations)
        return berth_error_set(err, "present: %g: there are configurations 0 to %zu only",
                               input->present, question->configurations - 1);
    return 0;
}

/* ---- the history ---- */

/* Reads "usr" or "used" of an interval, of which values may be null. */
static int read_measured(struct json_object *interval, const char *key, size_t n, double *value,
                         struct berth_error *err)
{
    static const struct json_field item = {.kind = JSON_NUMBER, .min = 0, .max = 100};
    struct json_object *list = json_find(interval, key);

    for (size_t i = 0; i < n; i++)
        value[i] = NAN;
    return list ? json_get_list(list, key, n, &item, value, sizeof(*value), err) : 0;
}

/* Takes in an interval, and what the programs do alone in its phase where it says that. Returns
 * whether the configuration changed; -1 and err. */
static int take_interval(struct input *input, struct json_object *interval, struct adapt *adapt,
                         struct berth_error *err)
{
    double usr[ADAPT_PROGRAMS_MAX], used[ADAPT_PROGRAMS_MAX];
    size_t n = input->question.n, given = n;

    if (read_measured(interval, "usr", n, usr, err) < 0 ||
        read_measured(interval, "used", n, used, err) < 0)
        return -1;
    if (json_find(interval, "programs") && read_programs(interval, input->program, &given, err) < 0)
        return -1;
    if (given != n)
        return berth_error_set(err, "programs: %zu expected, not %zu", n, given);
    return adapt_interval(adapt, &input->question, &(struct adapt_measured){usr, used});
}

/* Goes through the history. Returns its changes, *why the last one's reason; NULL and err. */
static struct json_object *follow(struct input *input, struct json_object *history,
                                  struct adapt *adapt, enum adapt_why *why, struct berth_error *err)
{
    struct json_object *changes = json_object_new_array(), *change;

    for (size_t i = 0; i < json_object_array_length(history); i++) {
        size_t from = adapt->present;
        int changed = take_interval(input, json_object_array_get_idx(history, i), adapt, err);

        if (changed < 0) {
            berth_error_before(err, "history[%zu].", i);
            json_object_put(changes);
            return NULL;
        }
        if (!changed)
            continue;
        change = json_object_new_object();
        json_add_u64(change, "interval", i);
        json_add_u64(change, "from", from);
        json_add_u64(change, "to", adapt->present);
        json_add_text(change, "why", adapt_why_name[adapt->why]);
        json_append(changes, change);
        *why = adapt->why;
    }
    return changes;
}

/* ---- the answer ---- */

static void add_predictions(struct json_object *output, const struct adapt_question *question)
{
    static const struct json_field cores = {.kind = JSON_UNSIGNED, .size = sizeof(unsigned)};
    double usr[ADAPT_CONFIGURATIONS_MAX * ADAPT_PROGRAMS_MAX];

    for (size_t c = 0; c < question->configurations; c++)
        adapt_predict(question, c, &usr[c * question->n]);
    json_add(output, "configurations",
             json_new_matrix(question->configurations, question->n, &cores, question->configuration,
                             sizeof(*question->configuration)));
    json_add(
        output, "predicted",
        json_new_matrix(question->configurations, question->n, &json_number, usr, sizeof(*usr)));
}

/* Adds what each program gets, where the limits were given. */
static void add_policies(struct json_object *output, const struct input *input, size_t choice)
{
    struct adapt_policy policy[ADAPT_PROGRAMS_MAX];
    struct json_object *list, *one;

    if (isnan(input->limits.mpa))
        return;
    adapt_policies(&input->question, &input->limits, choice, policy);
    list = json_object_new_array();
    for (size_t i = 0; i < input->question.n; i++) {
        one = json_object_new_object();
        json_add_text(one, "memory", policy[i].interleave ? "interleave" : "local");
        json_add_text(one, "class", policy[i].faithful ? "faithful" : "default");
        json_append(list, one);
    }
    json_add(output, "policies", list);
}

/* The configuration by the programs as they are now. */
static size_t choose(const struct input *input)
{
    return input->newcomer < 0
               ? adapt_best(&input->question)
               : adapt_enter(&input->question, &input->limits, (size_t)input->newcomer);
}

static struct json_object *answer_of(struct input *input, struct json_object *history,
                                     struct berth_error *err)
{
    size_t best = choose(input);
    size_t first = input->present < 0 ? best : (size_t)input->present;
    struct json_object *changes = NULL, *output;
    struct adapt adapt = {.present = first};
    enum adapt_why why = ADAPT_NO_REASON;

    if (history) {
        changes = follow(input, history, &adapt, &why, err);
        if (!changes)
            return NULL;
    } else
        adapt.present = best;
    output = json_object_new_object();
    add_predictions(output, &input->question);
    json_add_u64(output, "choice", adapt.present);
    json_add_bool(output, "changed", adapt.present != first);
    json_add_text(output, "why", adapt_why_name[why]);
    if (changes)
        json_add(output, "changes", changes);
    add_policies(output, input, adapt.present);
    return output;
}

static struct json_object *adapt_of(struct json_object *object, struct berth_error *err)
{
    struct json_object *history = NULL;
    struct input input;

    if (input_read(&input, object, err) < 0 ||
        json_get_array(object, "history", JSON_OPTIONAL, &history, err) < 0)
        return NULL;
    if (history && json_object_array_length(history) == 0) /* nothing has happened yet */
        history = NULL;
    if (history && ctl_input_list(object, "history", json_type_object, &history, err) < 0)
        return NULL;
    return answer_of(&input, history, err);
}

const struct ctl_filter ctl_filter_adapt = {.whole = adapt_of};
