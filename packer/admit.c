/* SPDX-License-Identifier: GPL-2.0-or-later */
/* admit - see admit.h */
#include "admit.h"

#include <stdio.h>
#include <string.h>

static bool allowed(const char *allow, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = allow; (at = strstr(at, word)); at += length)
        if ((at == allow || at[-1] == ',' || at[-1] == ' ') && strchr(", ", at[length]))
            return true;
    return false;
}

/* Is the word refused? Then add it to the list. */
static bool refuse(const char *allow, bool given, const char *word, char *refused, size_t size)
{
    size_t used = strlen(refused);

    if (!given || allowed(allow, word))
        return false;
    snprintf(refused + used, size - used, "%s%s", used ? "," : "", word);
    return true;
}

void admit_options(const char *allow, struct wire_options *o, char *refused, size_t size)
{
    struct wire_options none;

    wire_options_init(&none);
    refused[0] = '\0';
    if (refuse(allow, o->mode != WIRE_MODE_OFF, wire_mode_name[o->mode], refused, size))
        o->mode = WIRE_MODE_OFF;
    if (refuse(allow, o->isolate, "isolate", refused, size))
        o->isolate = false;
    if (refuse(allow, o->edp, "edp", refused, size))
        o->edp = false;
    if (refuse(allow, o->size, "size", refused, size))
        o->size = false;
    if (refuse(allow, o->policy_given, "policy", refused, size))
        o->policy_given = false;
    if (refuse(allow, o->cores_max > 0, "cores", refused, size))
        o->cores_min = o->cores_max = 0;
    if (refuse(allow, o->max_slowdown_pct >= 0, "max-slowdown", refused, size))
        o->max_slowdown_pct = none.max_slowdown_pct;
    if (refuse(allow, o->mem != WIRE_MEM_AUTO, "mem", refused, size))
        o->mem = WIRE_MEM_AUTO;
    if (refuse(allow, o->tag[0], "tag", refused, size))
        o->tag[0] = '\0';
}
