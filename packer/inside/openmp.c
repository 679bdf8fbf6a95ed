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
#include <unistd.h>

#include "packer/base/file.h"

/* Bytes that are looked at: a user may make it 6 MiB. */
#define ENVIRONMENT_MAX ((size_t)64 << 10)

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

/* Reads the whole variables among the first bytes of a file. Returns their length. */
static size_t read_whole(int fd, char *text)
{
    size_t length = 0;
    ssize_t got;

    while ((got = read(fd, text + length, ENVIRONMENT_MAX - length)) > 0)
        length += (size_t)got;
    while (length > 0 && text[length - 1])
        length--;
    return length;
}

bool openmp_binds(const struct rootfs *root, pid_t pid)
{
    char path[64], *text = malloc(ENVIRONMENT_MAX);
    bool binds;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    fd = rootfs_openat(root, path, O_RDONLY);
    binds = text && fd >= 0 && openmp_binds_by(text, read_whole(fd, text));
    file_close(fd);
    free(text);
    return binds;
}
