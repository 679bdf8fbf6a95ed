/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pin_program - see pin.h. Here: the program.
 *
 * An executable says it by what it imports (packer/wire/wire_calls.h). An interpreter imports
 * everything, so its script is read instead, for the words by which scripts bind, and by which they
 * start what does. */
#include "pin.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/wire/wire_calls.h"

#define HEAD_MAX 4096         /* of a file: what it is */
#define SCRIPT_MAX (1u << 20) /* of a script */

struct word {
    const char *text; /* one that ends with '*' is the beginning of many */
    enum wire_pin pin;
};

/* Wrappers and launchers that bind what they start. */
static const struct word wrappers[] = {
    {"numactl", WIRE_PIN_CALLS},  {"taskset", WIRE_PIN_CALLS},   {"chrt", WIRE_PIN_CALLS},
    {"mpirun*", WIRE_PIN_STARTS}, {"mpiexec*", WIRE_PIN_STARTS}, {"orterun", WIRE_PIN_STARTS},
    {"prterun", WIRE_PIN_STARTS}, {"srun", WIRE_PIN_STARTS},
};

/* What scripts bind by, or start what may. Any part of a word counts. */
static const struct word script_words[] = {
    {"affinity", WIRE_PIN_CALLS},        {"getcpu", WIRE_PIN_CALLS},
    {"Cpus_allowed", WIRE_PIN_CALLS},    {"cpuset", WIRE_PIN_CALLS},
    {"taskset", WIRE_PIN_CALLS},         {"numactl", WIRE_PIN_CALLS},
    {"hwloc", WIRE_PIN_CALLS},           {"likwid", WIRE_PIN_CALLS},
    {"OMP_PROC_BIND", WIRE_PIN_CALLS},   {"OMP_PLACES", WIRE_PIN_CALLS},
    {"CPU_AFFINITY", WIRE_PIN_CALLS},    {"I_MPI_PIN", WIRE_PIN_CALLS},
    {"ctypes", WIRE_PIN_CALLS},          {"syscall", WIRE_PIN_CALLS},
    {"mpi4py", WIRE_PIN_CALLS},          {"Rmpi", WIRE_PIN_CALLS},
    {"mpirun", WIRE_PIN_STARTS},         {"mpiexec", WIRE_PIN_STARTS},
    {"subprocess", WIRE_PIN_STARTS},     {"system", WIRE_PIN_STARTS},
    {"popen", WIRE_PIN_STARTS},          {"exec", WIRE_PIN_STARTS},
    {"spawn", WIRE_PIN_STARTS},          {"`", WIRE_PIN_STARTS},
    {"ProcessBuilder", WIRE_PIN_STARTS},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct pin say(enum wire_pin pin, const char *by, size_t length)
{
    struct pin said = {pin, ""};

    snprintf(said.by, sizeof(said.by), "%.*s",
             (int)(length < sizeof(said.by) ? length : sizeof(said.by) - 1), by);
    return said;
}

static const struct pin nothing = {WIRE_PIN_NONE, ""};

static bool is(const char *name, const char *text)
{
    size_t length = strlen(text);

    return text[length - 1] == '*' ? strncmp(name, text, length - 1) == 0 : strcmp(name, text) == 0;
}

/* ---- scripts ---- */

/* Looks for the words in a text of so many bytes, and in an argument. */
static struct pin pin_of_text(const char *text, size_t length)
{
    for (size_t i = 0; i < COUNT(script_words); i++) {
        const char *word = script_words[i].text;

        if (memmem(text, length, word, strlen(word)))
            return say(script_words[i].pin, word, strlen(word));
    }
    return nothing;
}

static struct pin pin_of_script(int fd)
{
    size_t length;
    char *text = wire_calls_read_at(fd, 0, SCRIPT_MAX, &length);
    struct pin pin = text ? pin_of_text(text, length) : say(WIRE_PIN_UNREAD, "", 0);

    free(text);
    return pin;
}

static int open_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;

    if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

/* An interpreter's arguments: code, options, and files that it reads. */
static struct pin pin_of_arguments(int argc, char *const *argv)
{
    struct pin pin = nothing;

    for (int i = 1; i < argc && argv[i] && pin.pin == WIRE_PIN_NONE; i++) {
        int fd = argv[i][0] == '-' ? -1 : open_file(argv[i]);

        pin = pin_of_text(argv[i], strlen(argv[i]));
        if (pin.pin == WIRE_PIN_NONE && fd >= 0)
            pin = pin_of_script(fd);
        if (fd >= 0)
            close(fd);
    }
    return pin;
}

/* Finds the interpreter of a file that begins with "#!": the first word, or behind env the next. */
static void read_interpreter(const char *head, char name[WIRE_PIN_MAX])
{
    const char *at = head + 2 + strspn(head + 2, " \t");
    char path[256];

    snprintf(path, sizeof(path), "%.*s", (int)strcspn(at, " \t\n"), at);
    if (strcmp(wire_program_name(path), "env") == 0) {
        at += strcspn(at, " \t\n");
        at += strspn(at, " \t");
        snprintf(path, sizeof(path), "%.*s", (int)strcspn(at, " \t\n"), at);
    }
    snprintf(name, WIRE_PIN_MAX, "%.*s", WIRE_PIN_MAX - 1, wire_program_name(path));
}

static struct pin pin_of_hash_bang(int fd, const char *head)
{
    char name[WIRE_PIN_MAX];

    read_interpreter(head, name);
    return wire_program_is_read(name) ? pin_of_script(fd)
                                      : say(WIRE_PIN_STARTS, name, sizeof(name));
}

/* ---- a program ---- */

static struct pin pin_of_executable(int fd)
{
    struct wire_calls calls = wire_calls_read(fd, WIRE_CALLER_PROGRAM);

    return say(calls.pin, calls.by, sizeof(calls.by));
}

/* The words before the program: wrappers, their options, and variables that env sets. */
static struct pin pin_of_wrappers(int words, char *const *argv)
{
    for (int i = 0; i < words; i++) {
        char *const one[] = {argv[i], NULL};
        struct pin pin = pin_of_environment(one);

        if (pin.pin != WIRE_PIN_NONE)
            return pin;
        for (size_t row = 0; row < COUNT(wrappers); row++)
            if (is(wire_program_name(argv[i]), wrappers[row].text))
                return say(wrappers[row].pin, wire_program_name(argv[i]), SIZE_MAX);
    }
    return nothing;
}

static struct pin pin_of_file(const struct wire_program *program, int fd, const char *path,
                              int argc, char *const *argv)
{
    struct pin pin = {WIRE_PIN_UNREAD, ""};
    size_t length;
    char *head = wire_calls_read_at(fd, 0, HEAD_MAX, &length);

    if (head && length > 2 && memcmp(head, "#!", 2) == 0)
        pin = pin_of_hash_bang(fd, head);
    else if (wire_program_is_read(path))
        pin = pin_of_arguments(argc, argv);
    else if (wire_program_is_shell(path) || program->kind != WIRE_PROGRAM_FILE)
        pin = say(WIRE_PIN_STARTS, wire_program_name(path), SIZE_MAX);
    else if (head && length > SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0)
        pin = pin_of_executable(fd);
    free(head);
    return pin;
}

struct pin pin_of_program(const struct wire_program *program, const char *path, int argc,
                          char *const *argv)
{
    struct pin pin = pin_of_wrappers(program->at, argv);
    int fd;

    if (pin.pin != WIRE_PIN_NONE)
        return pin;
    fd = open_file(path);
    if (fd < 0)
        return say(WIRE_PIN_UNREAD, "", 0);
    pin = pin_of_file(program, fd, path, argc, argv);
    close(fd);
    return pin;
}
