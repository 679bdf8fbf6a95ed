/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_calls_impl - what the files of wire_calls share. */
#ifndef BERTH_WIRE_CALLS_IMPL_H
#define BERTH_WIRE_CALLS_IMPL_H

#include "packer/wire/wire_calls.h"
#include "packer/wire/wire_object.h"

extern const struct wire_calls wire_calls_none;

struct wire_calls wire_calls_say(enum wire_pin pin, const char *by);

/* Takes what was found next, if it outweighs what was found before. */
void wire_calls_add(struct wire_calls *calls, struct wire_calls more);

/* What an object's own names say. */
struct wire_calls wire_calls_of_object(const struct wire_object *object, enum wire_caller caller,
                                       char *const *env);

/* Is the executable a program of Go? Then calls becomes what its own functions say. */
bool wire_calls_of_go(int fd, struct wire_calls *calls);

#endif
