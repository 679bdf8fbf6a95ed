/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_libraries - see wire_calls.h. Here: a program with the libraries that it needs. Each is read
 * once; there is no recursion, as a stack may be small where the plugin runs. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/wire/wire_calls_impl.h"
#include "packer/wire/wire_env.h"
#include "packer/wire/wire_program.h"

#define LIBRARIES_MAX 64
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Libraries that are known: they bind no thread of a program that does not ask for it, and remember
 * no CPUs. Any other one is read as the executable is. */
static const char *const known[] = {
    "ld-linux*",     "libc.so*",        "libm.so*",    "libmvec.so*",     "libpthread.so*",
    "libdl.so*",     "librt.so*",       "libutil.so*", "libresolv.so*",   "libgcc_s.so*",
    "libstdc++.so*", "libgfortran.so*", "libgomp.so*", "libquadmath.so*", "libatomic.so*",
    "libimf.so*",    "libsvml.so*",     "libirng.so*", "libintlc.so*",    "libifcore*",
    "libifport*",    "libz.so*",        "libblas.so*", "liblapack.so*",   "libopenblas*",
    "libfftw3*",     "libhdf5*",        "libnetcdf*",  "libgsl*",         "libcrypto.so*",
};

/* Where a library is looked for that no path of the program's or the user's has. */
#define SYSTEM_FOLDERS                                                                             \
    "/lib64:/usr/lib64:/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib/aarch64-linux-gnu:"    \
    "/usr/lib/aarch64-linux-gnu:/usr/local/lib:/lib:/usr/lib"

int wire_calls_open(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;

    if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

/* The objects that have been read or will be: the first is the executable. */
struct search {
    char *const *env;
    char *path[LIBRARIES_MAX]; /* malloc'd */
    size_t paths;
    char rpath[PATH_MAX]; /* of the executable, which counts for its libraries, too */
    bool go;              /* the executable is a calm program of Go */
};

static bool is_known(const char *name)
{
    for (size_t i = 0; i < COUNT(known); i++)
        if (wire_calls_is(name, known[i]))
            return true;
    return false;
}

/* Writes where a library would be in a folder of a path, of which so many characters are the
 * folder's name; $ORIGIN is the folder of the object that names it. */
static void place_in(const struct wire_object *object, const char *folder, size_t length,
                     const char *name, char path[PATH_MAX])
{
    size_t origin = 0;

    if (length >= 7 && strncmp(folder, "$ORIGIN", 7) == 0)
        origin = 7;
    if (length >= 9 && strncmp(folder, "${ORIGIN}", 9) == 0)
        origin = 9;
    snprintf(path, PATH_MAX, "%.*s%.*s/%s",
             origin ? (int)(wire_program_name(object->path) - object->path) : 0, object->path,
             (int)(length - origin), folder + origin, name);
}

/* Looks for a library in the folders of a path. Returns whether there is a file of that name, and
 * fills in where. */
static bool find_in(const struct wire_object *object, const char *folders, const char *name,
                    char path[PATH_MAX])
{
    while (folders && *folders) {
        size_t length = strcspn(folders, ":");
        int fd;

        place_in(object, folders, length, name, path);
        fd = wire_calls_open(path);
        if (fd >= 0) {
            close(fd);
            return true;
        }
        folders += length + (folders[length] == ':');
    }
    return false;
}

static bool find_library(const struct search *search, const struct wire_object *object,
                         const char *name, char path[PATH_MAX])
{
    return find_in(object, wire_object_string(object, wire_object_value(object, DT_RPATH)), name,
                   path) ||
           find_in(object, search->rpath, name, path) ||
           find_in(object, wire_env_find(search->env, "LD_LIBRARY_PATH"), name, path) ||
           find_in(object, wire_object_string(object, wire_object_value(object, DT_RUNPATH)), name,
                   path) ||
           find_in(object, SYSTEM_FOLDERS, name, path);
}

/* Notes an object that has to be read. Returns false where there is no room for it. */
static bool search_add(struct search *search, const char *path)
{
    for (size_t i = 0; i < search->paths; i++)
        if (strcmp(search->path[i], path) == 0)
            return true;
    if (search->paths == LIBRARIES_MAX || !(search->path[search->paths] = strdup(path)))
        return false;
    search->paths++;
    return true;
}

/* Notes the libraries that an object needs. What it says: one that is not found may bind. */
static struct wire_calls search_needed(struct search *search, const struct wire_object *object)
{
    static char path[PATH_MAX];

    for (size_t i = 0; i < object->entries; i++) {
        const char *name = wire_object_string(object, object->dynamic[i].d_un.d_val);

        if (object->dynamic[i].d_tag != DT_NEEDED || !*name || is_known(name))
            continue;
        if (wire_calls_of_name(name, WIRE_CALLER_PROGRAM, NULL).pin != WIRE_PIN_NONE)
            continue; /* it is said already, or the environment has lifted it */
        if (!find_library(search, object, name, path) || !search_add(search, path))
            return wire_calls_say(WIRE_PIN_CALLS, name);
    }
    return wire_calls_none;
}

/* What an object says with what it needs; it is closed by the caller. */
static struct wire_calls calls_of_file(struct search *search, int fd, const char *path)
{
    bool executable = search->paths == 1;
    struct wire_calls calls;
    struct wire_object object;

    if (wire_object_read(&object, fd, path) &&
        (!executable || wire_object_value(&object, DT_NEEDED))) {
        if (executable)
            snprintf(search->rpath, sizeof(search->rpath), "%s",
                     wire_object_string(&object, wire_object_value(&object, DT_RPATH)));
        calls = wire_calls_of_object(&object, WIRE_CALLER_PROGRAM, search->env);
        if (wire_calls_yields(calls.pin))
            wire_calls_add(&calls, search_needed(search, &object));
    } else {
        calls = executable && search->go ? wire_calls_none : wire_calls_say(WIRE_PIN_UNREAD, "");
    }
    wire_object_drop(&object);
    return calls;
}

static struct wire_calls calls_of_library(struct search *search, const char *path)
{
    struct wire_calls calls = {WIRE_PIN_UNREAD, ""};
    int fd = wire_calls_open(path);

    if (fd >= 0) {
        calls = calls_of_file(search, fd, path);
        close(fd);
    }
    if (calls.pin == WIRE_PIN_UNREAD)
        calls = wire_calls_say(WIRE_PIN_CALLS, wire_program_name(path));
    return calls;
}

struct wire_calls wire_calls_of_program(int fd, const char *path, char *const *env)
{
    struct search *search = calloc(1, sizeof(*search));
    struct wire_calls calls = {WIRE_PIN_UNREAD, ""};

    if (search && search_add(search, path)) {
        search->env = env;
        search->go = wire_calls_of_go(fd, &calls);
    }
    if (search && search->paths && (!search->go || calls.pin == WIRE_PIN_NONE)) {
        calls = calls_of_file(search, fd, path);
        for (size_t i = 1; i < search->paths && wire_calls_yields(calls.pin); i++)
            wire_calls_add(&calls, calls_of_library(search, search->path[i]));
    }
    for (size_t i = 0; search && i < search->paths; i++)
        free(search->path[i]);
    free(search);
    return calls;
}
