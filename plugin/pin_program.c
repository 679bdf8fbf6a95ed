/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pin_program - see pin.h. Here: the program, and what stands before it. */
#include <elf.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/wire/wire_calls.h"
#include "packer/wire/wire_env.h"
#include "packer/wire/wire_object.h"
#include "pin_impl.h"

#define HEAD_MAX 4096 /* of a file: what it is */

/* Wrappers and launchers that bind what they start. */
static const struct pin_word wrappers[] = {
    {"numactl", WIRE_PIN_CALLS},  {"taskset", WIRE_PIN_CALLS},   {"chrt", WIRE_PIN_CALLS},
    {"mpirun*", WIRE_PIN_STARTS}, {"mpiexec*", WIRE_PIN_STARTS}, {"orterun", WIRE_PIN_STARTS},
    {"prterun", WIRE_PIN_STARTS}, {"srun", WIRE_PIN_STARTS},
};

const struct pin pin_nothing = {WIRE_PIN_NONE, ""};

struct pin pin_say(enum wire_pin pin, const char *by, size_t length)
{
    struct pin said = {pin, ""};

    snprintf(said.by, sizeof(said.by), "%.*s",
             (int)(length < sizeof(said.by) ? length : sizeof(said.by) - 1), by);
    return said;
}

struct pin pin_stronger(struct pin first, struct pin then)
{
    return wire_calls_outweighs(then.pin, first.pin) ? then : first;
}

/* A wrapper, one of its options, or a variable that env sets. */
static struct pin pin_of_word(char *word)
{
    char *const one[] = {word, NULL};

    for (size_t row = 0; row < COUNT(wrappers); row++)
        if (wire_calls_is(wire_program_name(word), wrappers[row].text))
            return pin_say(wrappers[row].pin, wire_program_name(word), SIZE_MAX);
    return pin_of_environment(one);
}

/* The words before the program. */
static struct pin pin_of_wrappers(int words, char *const *argv)
{
    struct pin pin = pin_nothing;

    for (int i = 0; i < words; i++)
        pin = pin_stronger(pin, pin_of_word(argv[i]));
    return pin;
}

/* Libraries that are loaded before the program's own. */
static struct pin pin_of_preloaded(char *const *env)
{
    const char *at = wire_env_find(env, "LD_PRELOAD");
    struct pin pin = pin_nothing;
    struct wire_calls calls;
    char path[PATH_MAX];

    while (at && *at) {
        size_t length = strcspn(at, ": ");

        snprintf(path, sizeof(path), "%.*s", (int)length, at);
        calls = wire_calls_of_name(wire_program_name(path), WIRE_CALLER_PROGRAM, env);
        pin = pin_stronger(pin, pin_say(calls.pin, calls.by, SIZE_MAX));
        at += length + strspn(at + length, ": ");
    }
    return pin;
}

static struct pin pin_of_file(const struct wire_program *program, int fd, const char *path,
                              int argc, char *const *argv, char *const *env)
{
    struct pin pin = {WIRE_PIN_UNREAD, ""};
    struct wire_calls calls;
    size_t length;
    char *head = wire_object_read_at(fd, 0, HEAD_MAX, &length);

    if (head && length > 2 && memcmp(head, "#!", 2) == 0)
        pin = pin_of_hash_bang(fd, path, head, env);
    else if (wire_program_is_read(path))
        pin = pin_of_interpreter(program, path, argc, argv, env);
    else if (wire_program_is_shell(path) || program->kind != WIRE_PROGRAM_FILE)
        pin = pin_say(WIRE_PIN_STARTS, wire_program_name(path), SIZE_MAX);
    else if (head && length > SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0) {
        calls = wire_calls_of_program(fd, path, env);
        pin = pin_say(calls.pin, calls.by, SIZE_MAX);
    }
    free(head);
    return pin;
}

struct pin pin_of_program(const struct wire_program *program, const char *path, int argc,
                          char *const *argv, char *const *env)
{
    struct pin before = pin_stronger(pin_of_wrappers(program->at, argv), pin_of_preloaded(env));
    struct pin pin = {WIRE_PIN_UNREAD, ""};
    int fd;

    if (!wire_calls_yields(before.pin))
        return before;
    fd = wire_calls_open(path);
    if (fd >= 0) {
        pin = pin_of_file(program, fd, path, argc, argv, env);
        close(fd);
    }
    return pin_stronger(before, pin);
}
