/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_left - see wire_left.h */
#include "packer/wire/wire_left.h"

#include <stdio.h>
#include <string.h>

#include "enum_table.h"

const char *const TABLE(wire_left_name, WIRE_LEFTS) = {
    ROW(WIRE_NOT_LEFT) = "no",
#define LEFT(ID, name, pinned, sentence, remedy) ROW(WIRE_LEFT_##ID) = name,
#include "packer/wire/wire_left.def"
#undef LEFT
};
TABLE_COMPLETE(wire_left_name);

const char *const TABLE(wire_left_remedy, WIRE_LEFTS) = {
    ROW(WIRE_NOT_LEFT) = NULL,
#define LEFT(ID, name, pinned, sentence, remedy) ROW(WIRE_LEFT_##ID) = remedy,
#include "packer/wire/wire_left.def"
#undef LEFT
};
TABLE_COMPLETE(wire_left_remedy);

enum wire_left wire_left_of(const char *name)
{
    for (enum wire_left left = WIRE_NOT_LEFT; name && left < WIRE_LEFTS; left++)
        if (strcmp(name, wire_left_name[left]) == 0)
            return left;
    return WIRE_NOT_LEFT;
}

bool wire_left_is_pinned(enum wire_left left)
{
    static const bool TABLE(is_pinned, WIRE_LEFTS) = {
        ROW(WIRE_NOT_LEFT) = false,
#define LEFT(ID, name, pinned, sentence, remedy) ROW(WIRE_LEFT_##ID) = pinned,
#include "packer/wire/wire_left.def"
#undef LEFT
    };
    TABLE_COMPLETE(is_pinned);

    return is_pinned[left];
}

const char *wire_left_text(enum wire_left left, const char *by, char *text, size_t size)
{
    static const char *const TABLE(sentence, WIRE_LEFTS) = {
        ROW(WIRE_NOT_LEFT) = "",
#define LEFT(ID, name, pinned, sentence, remedy) ROW(WIRE_LEFT_##ID) = sentence,
#include "packer/wire/wire_left.def"
#undef LEFT
    };
    TABLE_COMPLETE(sentence);
    const char *says = sentence[left], *hole = strstr(says, "%s");

    if (hole)
        snprintf(text, size, "%.*s%s%s", (int)(hole - says), says, by ? by : "?", hole + 2);
    else
        snprintf(text, size, "%s", says);
    return text;
}
