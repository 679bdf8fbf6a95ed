/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store - what the verbs about stored profiles share: `berthctl profile
 * list|show|export|import|forget|demand`. */
#ifndef BERTH_PROBE_PROFILE_STORE_H
#define BERTH_PROBE_PROFILE_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "packer/cli/common/store.h"
#include "probe/profile/profile.h"
#include "packer/conf/conf.h"
#include "packer/profiles/profiles.h"

/* Holds what one of the verbs was asked, and where its output goes. */
struct profile_verb {
    const char *db, *socket, *output; /* NULL: not given */
    bool json, replace, samples, all;
    uint64_t older_days; /* 0: not given */
    int nargs;           /* what follows the options */
    char **arg;
    struct conf conf;
    struct ctl_store access;
    struct profiles *store; /* access.rows */
    FILE *out; /* memory, printed when the store is closed: a pager that is read slowly must not
                  keep writers waiting */
};

/* Finds the key that a person means; a program's path may lead to it by links. 0, or 1 after saying
 * why there is none. */
int profile_verb_key(const struct profile_verb *verb, const char *text, char key[PROFILE_KEY_MAX]);

/* Prints a JSON value into verb->out, and releases it. */
void profile_verb_json(const struct profile_verb *verb, struct json_object *value);

/* Are the verbs export and import. They return the exit status. */
int profile_verb_export(struct profile_verb *verb);
int profile_verb_import(struct profile_verb *verb);

/* Write the table of `list`: its head, and a line for a row. */
void profile_list_head(FILE *out);
void profile_list_line(const struct profile *profile, double devil_miss_pmi, FILE *out);
void profile_list_sample(const struct profile_sample *sample, double devil_miss_pmi, FILE *out);
void profile_list_threads(const struct profile_threads *threads, FILE *out);
void profile_list_binding(const struct profile_binding *binding, FILE *out);
void profile_list_demand(uint32_t uid, const char *key, const struct profile_demand *demand,
                         FILE *out);

/* Write a sample for people, and return one as JSON (the caller releases it). */
void profile_sample_print(const struct profile_sample *sample, double devil_miss_pmi, FILE *out);
struct json_object *profile_sample_json(const struct profile_sample *sample, double devil_miss_pmi);

#endif
