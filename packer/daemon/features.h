/* SPDX-License-Identifier: GPL-2.0-or-later */
/* features - what this berthd does, and what keeps it from the rest: what berth.conf says, what the
 * machine has, and what whoever started it allows (a unit file, a container). `berthctl doctor`
 * shows it of the running daemon; what a doctor's own process may do tells nothing of that. */
#ifndef BERTH_DAEMON_FEATURES_H
#define BERTH_DAEMON_FEATURES_H

#include <json-c/json.h>

#include "packer/steps/packer.h"

enum feature_state {
    FEATURE_ON,
    FEATURE_OFF,    /* as berth.conf says */
    FEATURE_ABSENT, /* this machine, or this moment, has it not */
    FEATURE_DENIED, /* a capability is missing that it needs */
    FEATURE_STATES
};
extern const char *const feature_state_name[FEATURE_STATES]; /* "on", "off", "absent", "not
                                                                allowed" */

#define FEATURE_SAY 512

struct feature {
    const char *name;
    enum feature_state state;
    char say[FEATURE_SAY]; /* what it does, or why it does not */
    uint64_t missing;      /* capabilities; 0 but where it is denied */
};

/* Fills the i-th feature; false after the last one. */
bool features_get(const struct packer *packer, size_t i, struct feature *feature);

/* Returns all of them as [{"name","state","say","missing":null|["CAP_..",..]},..]; the caller owns
 * it. */
struct json_object *features_render(const struct packer *packer);

#endif
