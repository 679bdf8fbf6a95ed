/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_env - what an environment says: texts "NAME=value" that end with NULL. */
#ifndef BERTH_WIRE_ENV_H
#define BERTH_WIRE_ENV_H

#include <stdbool.h>

/* Returns the value of a variable; NULL: it is not there, or it is empty. env may be NULL. */
const char *wire_env_find(char *const *env, const char *name);

/* Does the variable's value begin with the word, and end it there? In any case of letters. */
bool wire_env_says(char *const *env, const char *name, const char *word);

#endif
