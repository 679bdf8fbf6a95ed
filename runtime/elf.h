/* SPDX-License-Identifier: GPL-2.0-or-later */
/* elf - finds a function in the tables of what is loaded, as the dynamic linker would, but without
 * the lock that it keeps while constructors of a dlopen() run: these may wait for the caller. */
#ifndef BERTH_RUNTIME_ELF_H
#define BERTH_RUNTIME_ELF_H

#include <stddef.h>

/* Returns the function of that name, and how many objects have one: it is that of the first. The
 * library's own are not counted. NULL and 0: nobody has it. */
void *elf_find(const char *name, size_t *objects);

/* Returns the function of that name of the object at the address, or NULL: it has none itself. */
void *elf_find_in(const void *address, const char *name);

#endif
