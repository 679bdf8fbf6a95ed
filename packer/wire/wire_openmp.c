/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_openmp - whether a program's OpenMP library binds its threads to places of their own, by the
 * environment that the program is started with (wire.h).
 *
 * OpenMP 5.2, sections 21.1.7 and 21.1.8; GOMP_CPU_AFFINITY is libgomp's, KMP_AFFINITY libomp's.
 * The plugin asks, which has the step's environment from Slurm. berthd must not read
 * /proc/PID/environ: the kernel takes the process's mmap_lock for it, and a user can hold that for
 * ever. */
#include "packer/wire/wire.h"

#include <string.h>
#include <strings.h>

/* Returns the value of a variable; NULL: there is none. */
static const char *value_of(char *const *env, const char *name)
{
    size_t n = strlen(name);

    for (; env && *env; env++)
        if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
            return *env + n + 1;
    return NULL;
}

/* Is a list of places given, and not a word that means none? */
static bool is_given(const char *value)
{
    return value && value[0] && strcasecmp(value, "none") != 0 &&
           strcasecmp(value, "disabled") != 0;
}

bool wire_openmp_binds(char *const *env)
{
    static const char *const places[] = {"OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"};
    const char *bind = value_of(env, "OMP_PROC_BIND");

    if (bind && bind[0])
        return strcasecmp(bind, "false") != 0;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (is_given(value_of(env, places[i])))
            return true;
    return false;
}
