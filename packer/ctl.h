/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl - what the verbs of berthctl share: how they end, the configuration, and one question to
 * berthd.
 *
 * Every verb is `int ctl_VERB(int argc, char **argv)` with argv[0] the verb; it returns berthctl's
 * exit status: 0 done, 1 not, 2 usage. */
#ifndef BERTH_CTL_H
#define BERTH_CTL_H

#include <json-c/json.h>
#include <stdio.h>

#include "conf.h"
#include "error.h"
#include "wire.h"

int ctl_status(int argc, char **argv);
int ctl_top(int argc, char **argv);
int ctl_explain(int argc, char **argv);
int ctl_plan(int argc, char **argv);
int ctl_model(int argc, char **argv);
int ctl_profile(int argc, char **argv);
int ctl_doctor(int argc, char **argv);

/* Print "berthctl: WHAT: WHY" on stderr. Returns 1. */
int ctl_fail(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Print "berthctl: VERB: WHY (try 'berthctl VERB --help')" on stderr. Returns 2. */
int ctl_usage(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Print a JSON value for a person or a pipe, with a newline, on stdout, and release it. Returns 0,
 * or 1 after saying so when stdout cannot be written. */
int ctl_print_json(struct json_object *value);

/* The daemon's configuration from `path`; NULL means CONF_DEFAULT_PATH, whose absence means the
 * defaults. 0, or -1 and err. */
int ctl_conf(const char *path, struct conf *conf, struct berth_error *err);

/* Ask the berthd that listens at `socket` and gather its answer lines as
 * {"node":{...},"steps":[...]}; ["steps"] is always there. Waits 2 s at most in all. The caller
 * releases it; NULL and err when there is no berthd or it refuses. */
struct json_object *ctl_ask(const char *socket, const struct wire_request *request,
                            struct berth_error *err);

#endif
