/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capabilities - what root is allowed to do in this process: capabilities(7), by their names.
 *
 * Linux keeps them for each thread, and a new thread has those of the one that starts it. */
#ifndef BERTH_SYSTEM_CAPABILITIES_H
#define BERTH_SYSTEM_CAPABILITIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/base/error.h"

#define CAPABILITIES_MAX 64 /* bits of a set */

/* A set: bit n is the capability that the kernel numbers n. */
#define CAPABILITY(number) (UINT64_C(1) << (number))

/* Returns "CAP_SYS_NICE" of 23; NULL: a number that berth knows no name of. */
const char *capability_name(unsigned number);

/* Returns the number of "CAP_SYS_NICE", or -1. */
int capability_number(const char *name);

/* Returns the set that the calling thread has in effect; 0 where the kernel does not say. */
uint64_t capabilities_held(void);

/* Has the calling thread, and those that it starts from now on, no capability but `keep`, nor a
 * way to one, be it by the execution of a program. 0, or -1 and err. */
int capabilities_keep(uint64_t keep, struct berth_error *err);

/* Writes the names of a set to text[size], ", " in between; "none" of an empty one. What does not
 * fit is cut. */
void capabilities_format(uint64_t set, char *text, size_t size);

/* Returns why the kernel has refused something with the errno `why`: that errno's text, and where
 * it is EPERM or EACCES which of the capabilities in `needs` are missing, or which setting of the
 * kernel asks for more than CAP_PERFMON. The text is valid until this thread's next call. */
const char *capabilities_why(uint64_t needs, int why);

#endif
