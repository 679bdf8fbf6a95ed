/* SPDX-License-Identifier: GPL-2.0-or-later */
/* library - loads a shared library when it is wanted: one that berthd needs at its start only, or
 * on few nodes only, does not lie in its memory all the time. */
#ifndef BERTH_BASE_LIBRARY_H
#define BERTH_BASE_LIBRARY_H

#include <stddef.h>

#include "packer/base/error.h"

/* One function of a library, and where in the caller's table its address goes. */
struct library_function {
    const char *name;
    size_t offset;
};

/* Loads the library of that file name, as ld.so(8) finds it, and fills in table with the addresses
 * of function[n]. Returns what library_close takes; or NULL and err, with the table undefined. */
void *library_open(const char *name, const struct library_function *function, size_t n, void *table,
                   struct berth_error *err);

/* Lets go of the library: its functions are not there any more. */
void library_close(void *library);

#endif
