/* SPDX-License-Identifier: GPL-2.0-or-later */
/* models - the models of `berthctl model`: a JSON object in, a JSON object out.
 *
 * A filter is a table of what is read, and a function that adds the answer of it. None of them
 * prints. An error begins with the field that is wrong. */
#ifndef BERTH_LAB_MODEL_MODELS_H
#define BERTH_LAB_MODEL_MODELS_H

#include <json-c/json.h>
#include <stddef.h>

#include "packer/base/error.h"
#include "packer/base/json.h"
#include "packer/base/json_fields.h"

struct ctl_filter {
    const struct json_field *fields; /* of the input */
    size_t size;                     /* of the struct that they fill */
    const void *unset;               /* such a struct, where the input has nothing */
    /* Adds the answer to the output: 0, or -1 and err. What is in the struct may change. */
    int (*answer)(void *in, struct json_object *output, struct berth_error *err);
    /* The same of an input that no table describes; the answer is the caller's, NULL and err. */
    struct json_object *(*whole)(struct json_object *input, struct berth_error *err);
};

/* The filter `name`, of a table of `type`'s fields, which are as they are named behind it where the
 * input has none. */
#define CTL_FILTER(name, type, table, function, ...)                                               \
    const struct ctl_filter ctl_filter_##name = {(table), sizeof(type),                            \
                                                 &(const type){__VA_ARGS__}, (function), NULL}

/* Runs a filter. Returns its answer, which the caller releases; NULL and err. */
struct json_object *ctl_filter_run(const struct ctl_filter *filter, struct json_object *input,
                                   struct berth_error *err);

/* di.c: threads on a machine of {"arity":[...]}; pairs.c: pairs of {"apps":[...]} */
extern const struct ctl_filter ctl_filter_di, ctl_filter_dio_power, ctl_filter_isolate,
    ctl_filter_missrate, ctl_filter_pain, ctl_filter_sdc, ctl_filter_animal;
/* each in a file of its name; numem is in nucore.c */
extern const struct ctl_filter ctl_filter_contend, ctl_filter_matching, ctl_filter_dramon,
    ctl_filter_flexthread, ctl_filter_numem, ctl_filter_nucore, ctl_filter_edp, ctl_filter_faithful,
    ctl_filter_tranquil, ctl_filter_reinforce, ctl_filter_shuffle, ctl_filter_adapt,
    ctl_filter_prefetch, ctl_filter_opticore, ctl_filter_thermal, ctl_filter_cohort,
    ctl_filter_locality, ctl_filter_steal, ctl_filter_throttle;

/* Runs the verb `model`; argv[0] is the verb. Returns berthctl's exit status: 0 done, 1 not, 2
 * usage.
 */
int ctl_model(int argc, char **argv);

/* Returns the name of the i-th model; NULL: there are no more. */
const char *ctl_model_name(size_t i);

#endif
