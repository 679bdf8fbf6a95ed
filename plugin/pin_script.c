/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pin_script - see pin_impl.h. An interpreter imports everything, so its script is read instead,
 * for the words by which scripts bind, and by which they start what does. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/wire/wire_calls.h"
#include "packer/wire/wire_object.h"
#include "pin_impl.h"

#define PIN_INTERPRETER_MAX 256

/* What scripts bind by, or start what may. Any part of a word counts. */
static const struct pin_word script_words[] = {
    {"affinity", WIRE_PIN_CALLS},
    {"getcpu", WIRE_PIN_CALLS},
    {"Cpus_allowed", WIRE_PIN_CALLS},
    {"cpuset", WIRE_PIN_CALLS},
    {"taskset", WIRE_PIN_CALLS},
    {"numactl", WIRE_PIN_CALLS},
    {"hwloc", WIRE_PIN_CALLS},
    {"likwid", WIRE_PIN_CALLS},
    {"OMP_PROC_BIND", WIRE_PIN_CALLS},
    {"OMP_PLACES", WIRE_PIN_CALLS},
    {"CPU_AFFINITY", WIRE_PIN_CALLS},
    {"I_MPI_PIN", WIRE_PIN_CALLS},
    {"ctypes", WIRE_PIN_CALLS},
    {"syscall", WIRE_PIN_CALLS},
    {"mpi4py", WIRE_PIN_CALLS},
    {"Rmpi", WIRE_PIN_CALLS},
    {"mpirun", WIRE_PIN_STARTS},
    {"mpiexec", WIRE_PIN_STARTS},
    {"subprocess", WIRE_PIN_STARTS},
    {"system", WIRE_PIN_STARTS},
    {"popen", WIRE_PIN_STARTS},
    {"exec", WIRE_PIN_STARTS},
    {"spawn", WIRE_PIN_STARTS},
    {"`", WIRE_PIN_STARTS},
    {"ProcessBuilder", WIRE_PIN_STARTS},
    {"importlib", WIRE_PIN_STARTS},
    {"__import__", WIRE_PIN_STARTS},
    {"runpy", WIRE_PIN_STARTS},
    {"require_relative", WIRE_PIN_STARTS},
    {"use lib", WIRE_PIN_STARTS},
    {"source(", WIRE_PIN_STARTS},
    {"include(", WIRE_PIN_STARTS},
    {"require('.", WIRE_PIN_STARTS},
    {"require(\".", WIRE_PIN_STARTS},
};

struct pin pin_of_words(const char *text, size_t length)
{
    for (size_t i = 0; i < COUNT(script_words); i++) {
        const char *word = script_words[i].text;

        if (memmem(text, length, word, strlen(word)))
            return pin_say(script_words[i].pin, word, strlen(word));
    }
    return pin_nothing;
}

static struct pin pin_of_script(int fd)
{
    size_t length;
    char *text = wire_object_read_at(fd, 0, PIN_SCRIPT_MAX, &length);
    struct pin pin = text ? pin_of_words(text, length) : pin_say(WIRE_PIN_UNREAD, "", 0);

    free(text);
    return pin;
}

/* Code, options, and files that it reads. */
static struct pin pin_of_arguments(int argc, char *const *argv)
{
    struct pin pin = pin_nothing;

    for (int i = 1; i < argc && argv[i] && pin.pin == WIRE_PIN_NONE; i++) {
        int fd = argv[i][0] == '-' ? -1 : wire_calls_open(argv[i]);

        pin = pin_of_words(argv[i], strlen(argv[i]));
        if (pin.pin == WIRE_PIN_NONE && fd >= 0)
            pin = pin_of_script(fd);
        if (fd >= 0)
            close(fd);
    }
    return pin;
}

static bool is_python(const char *path)
{
    const char *name = wire_program_name(path);

    return strncmp(name, "python", 6) == 0 || strncmp(name, "pypy", 4) == 0 ||
           strncmp(name, "ipython", 7) == 0;
}

struct pin pin_of_interpreter(const struct wire_program *program, const char *path, int argc,
                              char *const *argv, char *const *env)
{
    bool known = program->kind == WIRE_PROGRAM_SCRIPT || program->kind == WIRE_PROGRAM_MODULE ||
                 program->kind == WIRE_PROGRAM_CODE;
    struct pin pin = known ? pin_of_arguments(argc, argv)
                           : pin_say(WIRE_PIN_STARTS, wire_program_name(path), SIZE_MAX);
    char *script;

    if (pin.pin != WIRE_PIN_NONE || !is_python(path))
        return pin;
    script = program->kind == WIRE_PROGRAM_SCRIPT ? realpath(program->what, NULL) : NULL;
    if (program->kind == WIRE_PROGRAM_SCRIPT && !script)
        pin = pin_say(WIRE_PIN_UNREAD, "", 0);
    else
        pin = pin_of_python(program, path, script, env);
    free(script);
    return pin;
}

/* Finds the interpreter of a file that begins with "#!": the first word, or behind env the next. */
static void read_interpreter(const char *head, char path[PIN_INTERPRETER_MAX])
{
    const char *at = head + 2 + strspn(head + 2, " \t");

    snprintf(path, PIN_INTERPRETER_MAX, "%.*s", (int)strcspn(at, " \t\n"), at);
    if (strcmp(wire_program_name(path), "env") == 0) {
        at += strcspn(at, " \t\n");
        at += strspn(at, " \t");
        snprintf(path, PIN_INTERPRETER_MAX, "%.*s", (int)strcspn(at, " \t\n"), at);
    }
}

struct pin pin_of_hash_bang(int fd, const char *path, const char *head, char *const *env)
{
    const struct wire_program program = {.kind = WIRE_PROGRAM_SCRIPT, .option = ""};
    char interpreter[PIN_INTERPRETER_MAX];
    struct pin pin;

    read_interpreter(head, interpreter);
    if (!wire_program_is_read(interpreter))
        return pin_say(WIRE_PIN_STARTS, wire_program_name(interpreter), SIZE_MAX);
    pin = pin_of_script(fd);
    if (pin.pin == WIRE_PIN_NONE && is_python(interpreter))
        pin = pin_of_python(&program, interpreter, path, env);
    return pin;
}
