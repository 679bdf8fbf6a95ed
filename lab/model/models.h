/* SPDX-License-Identifier: GPL-2.0-or-later */
/* models - the models of `berthctl model`: a JSON object in, a JSON object out.
 *
 * Each takes the input object (borrowed) and returns its answer, which the caller releases; or
 * NULL and err, which begins with the field that is wrong. None of them prints. */
#ifndef BERTH_LAB_MODEL_MODELS_H
#define BERTH_LAB_MODEL_MODELS_H

#include <json-c/json.h>
#include <stddef.h>

#include "packer/base/error.h"

/* Place threads on a machine of {"arity":[...]} (model/di.c). */
struct json_object *ctl_model_di(struct json_object *input, struct berth_error *err);
struct json_object *ctl_model_dio_power(struct json_object *input, struct berth_error *err);
struct json_object *ctl_model_isolate(struct json_object *input, struct berth_error *err);

/* Score pairs of {"apps":[...]} (model/pairs.c). */
struct json_object *ctl_model_missrate(struct json_object *input, struct berth_error *err);
struct json_object *ctl_model_pain(struct json_object *input, struct berth_error *err);
struct json_object *ctl_model_sdc(struct json_object *input, struct berth_error *err);
struct json_object *ctl_model_animal(struct json_object *input, struct berth_error *err);

struct json_object *ctl_model_contend(struct json_object *input, struct berth_error *err);
struct json_object *ctl_model_matching(struct json_object *input, struct berth_error *err);
struct json_object *ctl_model_dramon(struct json_object *input, struct berth_error *err);
struct json_object *ctl_model_flexthread(struct json_object *input, struct berth_error *err);
/* cores and bandwidth on several nodes (model/nucore.c) */
struct json_object *ctl_model_numem(struct json_object *input, struct berth_error *err);
struct json_object *ctl_model_nucore(struct json_object *input, struct berth_error *err);

struct json_object *ctl_model_edp(struct json_object *input, struct berth_error *err);

/* What programs and their threads are given (model/reinforce.c, tranquil.c, faithful.c, shuffle.c,
 * adapt.c, prefetch.c). */
struct json_object *ctl_model_faithful(struct json_object *input, struct berth_error *err);
struct json_object *ctl_model_tranquil(struct json_object *input, struct berth_error *err);
struct json_object *ctl_model_reinforce(struct json_object *input, struct berth_error *err);
struct json_object *ctl_model_shuffle(struct json_object *input, struct berth_error *err);
struct json_object *ctl_model_adapt(struct json_object *input, struct berth_error *err);
struct json_object *ctl_model_prefetch(struct json_object *input, struct berth_error *err);

/* When a program that runs is profiled (model/opticore.c). */
struct json_object *ctl_model_opticore(struct json_object *input, struct berth_error *err);

/* Who leaves a core that is too hot (model/thermal.c). */
struct json_object *ctl_model_thermal(struct json_object *input, struct berth_error *err);

/* How tasks and loops are dealt to threads (model/cohort.c, locality.c, steal.c, throttle.c). */
struct json_object *ctl_model_cohort(struct json_object *input, struct berth_error *err);
struct json_object *ctl_model_locality(struct json_object *input, struct berth_error *err);
struct json_object *ctl_model_steal(struct json_object *input, struct berth_error *err);
struct json_object *ctl_model_throttle(struct json_object *input, struct berth_error *err);

/* Runs the verb `model`; argv[0] is the verb. Returns berthctl's exit status: 0 done, 1 not, 2
 * usage.
 */
int ctl_model(int argc, char **argv);

/* Returns the name of the i-th model; NULL: there are no more. */
const char *ctl_model_name(size_t i);

#endif
