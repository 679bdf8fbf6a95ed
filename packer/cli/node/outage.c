/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outage - see outage.h */
#include "packer/cli/node/outage.h"

#include <stdio.h>
#include <string.h>

#include "packer/cli/common/ctl.h"

/* ---- why no step is placed ---- */

static bool is_released(struct json_object *node, char *text, size_t size)
{
    if (ctl_true(node, "released"))
        snprintf(text, size,
                 "released by root, new steps stay where Slurm puts them: berthctl "
                 "release --end takes it back");
    return ctl_true(node, "released");
}

static bool is_denied(struct json_object *node, char *text, size_t size)
{
    struct json_object *features = ctl_object(node, "features");

    for (size_t i = 0; i < ctl_length(features); i++) {
        struct json_object *feature = json_object_array_get_idx(features, i);

        if (strcmp(ctl_text(feature, "name"), "placement") == 0 &&
            strcmp(ctl_text(feature, "state"), "not allowed") == 0) {
            snprintf(text, size,
                     "berthd is not allowed to place steps: berthctl doctor says what it lacks");
            return true;
        }
    }
    return false;
}

static bool refuses(struct json_object *node, char *text, size_t size)
{
    double n = ctl_number(node, "refused_in_a_row");

    if (!(n >= OUTAGE_REFUSED))
        return false;
    snprintf(text, size, "the last %.0f steps could not be placed: berthd's log says why", n);
    return true;
}

bool outage_say(struct json_object *node, char *text, size_t size)
{
    static bool (*const causes[])(struct json_object *, char *, size_t) = {is_released, is_denied,
                                                                           refuses};

    snprintf(text, size, "%s", "");
    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
        if (causes[i](node, text, size))
            return true;
    return false;
}

/* ---- who was missed ---- */

bool outage_missed(struct json_object *node, char *text, size_t size)
{
    struct json_object *missed = ctl_object(node, "failed_open");
    double late = ctl_number(missed, "late"), unheard = ctl_number(missed, "unheard");

    snprintf(text, size, "%s", "");
    if (!(late + unheard > 0)) /* an older berthd does not say it */
        return false;
    snprintf(text, size,
             "%.0f launch%s went on without berth since its start (%.0f late, %.0f unheard)",
             late + unheard, late + unheard == 1 ? "" : "es", late, unheard);
    return true;
}
