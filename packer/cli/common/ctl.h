/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl - what the verbs of berthctl share: how they end, the configuration, and one question to
 * berthd. */
#ifndef BERTH_CLI_COMMON_CTL_H
#define BERTH_CLI_COMMON_CTL_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

#include "packer/base/error.h"
#include "packer/cli/options/complaint.h"
#include "packer/cli/options/terminal.h"
#include "packer/conf/conf.h"
#include "packer/wire/wire.h"

/* Prints a JSON value for a person or a pipe, with a newline, on stdout, and releases it. Returns
 * 0, or 1 after saying so when stdout cannot be written. */
int ctl_print_json(struct json_object *value);

/* Reads the daemon's configuration from `path`; NULL means CONF_DEFAULT_PATH, whose absence means
 * the defaults. Keys that are for tests count in a file that is named. 0, or -1 and err. */
int ctl_conf(const char *path, struct conf *conf, struct berth_error *err);

/* Blocks SIGINT, SIGTERM and SIGHUP, so that a verb that they end ends well, and one more where it
 * is not 0. Returns a signalfd(2) that is readable once one of them has come; -1 and errno. */
int ctl_signals(int more);

/* The options of a verb that does nothing but ask berthd. */
struct ctl_query {
    const char *socket; /* NULL: where the configuration says */
    bool json;
};

/* Asks the berthd that listens at `socket` (NULL: where the configuration says) and gathers its
 * answer lines as {"node":{...},"steps":[...]}; "steps" is always there, "samples":[...] where some
 * came. Waits 2 s at most in all. The caller releases it; NULL and err when there is no berthd or
 * it refuses. */
struct json_object *ctl_ask(const char *socket, const struct wire_request *request,
                            struct berth_error *err);

/* What an error of ctl_ask ends with where nobody listens; doctor leaves it out. */
#define CTL_ASK_DOCTOR " (is berthd running? berthctl doctor)"

/* Asks at `socket`, and gives the answer's lines one by one to `take`, which returns 1 when more
 * follow, 0 when that was the last, or -1 and err. Waits for so long in all. Returns 0, or -1 and
 * err. */
typedef int ctl_take(struct json_object *line, void *arg, struct berth_error *err);
int ctl_ask_lines(const char *socket, const struct wire_request *request, double deadline_s,
                  ctl_take *take, void *arg, struct berth_error *err);

/* ---- reading and showing an answer (common/print.c) ---- */

/* Return a field as text, "-" where it is absent, null or no text; as a number, NAN where it is
 * absent or no number; and whether it is true. */
const char *ctl_text(struct json_object *object, const char *key);
const char *ctl_known_text(struct json_object *object, const char *key); /* NULL: "-", or "" */
double ctl_number(struct json_object *object, const char *key);
bool ctl_true(struct json_object *object, const char *key);

/* Return the value under a key (NULL where there is none), and the length of an array (0 for what
 * is none). */
struct json_object *ctl_object(struct json_object *object, const char *key);
size_t ctl_length(struct json_object *array);

/* Writes a sentence about an object, with its fields in the places that name them:
 *   {a.b}       the text or the number under b of the object under a; "-" where it is not known
 *   {a:2/1024}  a number with 2 digits after the point (else none), divided by 1024
 *   {a%3}       a number with 3 significant digits
 *   {a>0}       a number, which is known only where it is more than that (then :, / may follow)
 *   {a*}        "s", the plural's, unless the number is 1
 *   {a@}, {a~}  seconds since 1970 as local time ("" where not known), and a time as ctl_time's
 *   {a?}        nothing; it is known where it is neither false nor empty
 *   {a=word}    nothing; it is known where it is that word
 *   [A|B|...]   the first part of which all fields are known that stand in no brackets of its own
 */
void ctl_say(FILE *out, struct json_object *object, const char *sentence);

/* Returns a measure with `digits` after the point, "-" where there is none (NAN). */
const char *ctl_measure(double value, int digits, char text[32]);

/* Returns "1.2 kJ"; "-" where nothing is metered (NAN). */
const char *ctl_joules(double joules, char text[32]);

/* Writes seconds as Slurm shows them, "1-02:03:04", "2:03:04", "3:04"; "-" when not known. */
#define CTL_TIME_MAX 32
void ctl_time(double seconds, char text[CTL_TIME_MAX]);

#endif
