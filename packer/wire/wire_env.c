/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_env - see wire_env.h */
#include "packer/wire/wire_env.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

const char *wire_env_find(char *const *env, const char *name)
{
    size_t length = strlen(name);

    for (; env && *env; env++)
        if (strncmp(*env, name, length) == 0 && (*env)[length] == '=' && (*env)[length + 1])
            return *env + length + 1;
    return NULL;
}

bool wire_env_says(char *const *env, const char *name, const char *word)
{
    const char *value = wire_env_find(env, name);
    size_t length = strlen(word);

    return value && strncasecmp(value, word, length) == 0 && !isalnum((unsigned char)value[length]);
}
