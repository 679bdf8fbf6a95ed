/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_left - for what a step is left alone where Slurm put it: the reasons, what people are told
 * of them, and what they can do about it. packer/wire/wire_left.def has a row for each. */
#ifndef BERTH_WIRE_WIRE_LEFT_H
#define BERTH_WIRE_WIRE_LEFT_H

#include <stdbool.h>
#include <stddef.h>

/* Who reads a record takes it from here: its reason is a sentence for people. */
enum wire_left {
    WIRE_NOT_LEFT, /* or nobody has said it: an older berth */
#define LEFT(ID, ...) WIRE_LEFT_##ID,
#include "packer/wire/wire_left.def"
#undef LEFT
    WIRE_LEFTS
};

extern const char *const wire_left_name[WIRE_LEFTS];   /* "no", "off", "refused", ... */
extern const char *const wire_left_remedy[WIRE_LEFTS]; /* one sentence; NULL: it was not left */

/* Returns the reason of that name; WIRE_NOT_LEFT: it is none of them, as NULL and "". */
enum wire_left wire_left_of(const char *name);

/* Says whether it is its program, or its devices, that let it stay. */
bool wire_left_is_pinned(enum wire_left left);

/* Writes why into text[size]; `by` is what says so (NULL where nobody does). Returns text. */
const char *wire_left_text(enum wire_left left, const char *by, char *text, size_t size);

#endif
