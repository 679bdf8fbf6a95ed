/* SPDX-License-Identifier: GPL-2.0-or-later */
/* openmp - see openmp.h
 *
 * OpenMP 5.2, sections 21.1.7 and 21.1.8; GOMP_CPU_AFFINITY is libgomp's, KMP_AFFINITY libomp's.
 * The libraries read them when they are loaded, which is before the program could change them. */
#include "packer/inside/openmp.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "packer/base/file.h"

#define ENVIRONMENT_MAX ((size_t)8 << 20) /* bytes; execve(2) takes 6 MiB at most */

/* Returns the value of a variable; NULL: there is none. The last byte of the environment is NUL. */
static const char *value_of(const char *environment, size_t length, const char *name)
{
    const char *end = environment + length;
    size_t n = strlen(name);

    for (const char *one = environment; one < end; one += strlen(one) + 1)
        if (strncmp(one, name, n) == 0 && one[n] == '=')
            return one + n + 1;
    return NULL;
}

/* Is a list of places given, and not a word that means none? */
static bool is_given(const char *value)
{
    return value && value[0] && strcasecmp(value, "none") != 0 &&
           strcasecmp(value, "disabled") != 0;
}

bool openmp_binds_by(const char *environment, size_t length)
{
    static const char *const places[] = {"OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"};
    const char *bind;

    if (length == 0 || environment[length - 1])
        return false;
    bind = value_of(environment, length, "OMP_PROC_BIND");
    if (bind && bind[0])
        return strcasecmp(bind, "false") != 0;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (is_given(value_of(environment, length, places[i])))
            return true;
    return false;
}

bool openmp_binds(const struct rootfs *root, pid_t pid)
{
    char path[64], *text;
    size_t length = 0;
    bool binds;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    fd = rootfs_openat(root, path, O_RDONLY);
    text = fd < 0 ? NULL : file_read_fd(fd, ENVIRONMENT_MAX, &length);
    file_close(fd);
    binds = text && openmp_binds_by(text, length);
    free(text);
    return binds;
}
