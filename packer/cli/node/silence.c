/* SPDX-License-Identifier: GPL-2.0-or-later */
/* silence - see silence.h */
#include "packer/cli/node/silence.h"

#include <math.h>
#include <stdio.h>

#include "packer/cli/common/ctl.h"

double silence_say(struct json_object *node, char *text, size_t size)
{
    struct json_object *silence = ctl_object(node, "silence");
    double seconds = ctl_number(silence, "seconds"), nodes = ctl_number(silence, "nodes");
    double longer = ctl_number(ctl_object(silence, "longer"), "5ms");
    char wide[160] = "";

    snprintf(text, size, "%s", "");
    if (!(seconds > 0))
        return NAN;
    if (nodes > 1)
        snprintf(wide, sizeof(wide),
                 "; who waits for %.0f nodes each 5 ms takes %.3f times as long", nodes, longer);
    snprintf(text, size, "%.2g bursts a second of up to %.2g ms, %.2g %% of a core%s%s",
             ctl_number(silence, "bursts_per_s"), ctl_number(silence, "longest_ms"),
             100 * ctl_number(silence, "core"),
             json_object_get_boolean(json_object_object_get(silence, "rests"))
                 ? "; it rests while nobody asks"
                 : "",
             wide);
    return nodes > 1 ? longer : 1;
}
