/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl_profile - what the parts of `berthctl profile` share. */
#ifndef BERTH_CTL_PROFILE_H
#define BERTH_CTL_PROFILE_H

#include <json-c/json.h>
#include <stdio.h>

#include "conf.h"
#include "profiles.h"

/* A profile for people: miss rate, class (a devil has devil_miss_pmi or more), and a bar for each
 * LRU position. */
void profile_print(const struct profile *profile, double devil_miss_pmi, FILE *out);

/* A profile as JSON, an `app` of the models: key, sdp, llc_apki, llc_mpki, ..., machine. The caller
 * releases it. */
struct json_object *profile_json(const struct profile *profile, double devil_miss_pmi);

/* "list", "show KEY", "forget KEY" and "demand KEY [FILE]"; argv[0] is that word. berthctl's exit
 * status. */
int profile_stored(int argc, char **argv);

#endif
