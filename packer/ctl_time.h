/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl_time - how long a verb takes, and may take. */
#ifndef BERTH_CTL_TIME_H
#define BERTH_CTL_TIME_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "error.h"

/* A clock that nobody sets, in seconds and in whole milliseconds. */
double ctl_time_s(void);
int64_t ctl_time_ms(void);

/* Whether that clock has come to *(double *)end_s: the `stop` of the models that search. */
bool ctl_time_is_late(void *end_s);

/* SIGINT, SIGTERM and SIGHUP, blocked and taken from this descriptor, so that a verb that they end
 * ends well. */
int ctl_time_signals(void);

/* "time_limit_s" of a model's input, 10 where it is absent. 0, or -1 and err. */
int ctl_time_limit(struct json_object *input, double *limit_s, struct berth_error *err);

#endif
