/* SPDX-License-Identifier: GPL-2.0-or-later */
/* programs - see programs.h */
#include "packer/steps/programs.h"

#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"

/* Returns the place of the program that nobody runs and that was asked for longest ago. */
static size_t oldest(const struct programs *programs)
{
    size_t found = PROGRAM_NONE;

    for (size_t i = 0; i < programs->n; i++)
        if (!programs->program[i].steps &&
            (found == PROGRAM_NONE || programs->program[i].used < programs->program[found].used))
            found = i;
    return found;
}

/* Returns a number for a new program: a new one, or an old one whose key is gone then. */
static size_t make_room(struct programs *programs)
{
    size_t number = programs->n;

    if (number == PROGRAMS_MAX) {
        number = oldest(programs);
        if (number != PROGRAM_NONE)
            free(programs->program[number].key);
        return number;
    }
    if (array_grow(&programs->program, &programs->room, number + 1, sizeof(*programs->program)) < 0)
        return PROGRAM_NONE;
    programs->n++;
    return number;
}

static size_t find_program(const struct programs *programs, uint32_t uid, const char *key)
{
    for (size_t i = 0; i < programs->n; i++)
        if (programs->program[i].uid == uid && strcmp(programs->program[i].key, key) == 0)
            return i;
    return PROGRAM_NONE;
}

size_t programs_find_live(const struct programs *programs, const char *key)
{
    for (size_t i = 0; i < programs->n; i++)
        if (programs->program[i].steps && strcmp(programs->program[i].key, key) == 0)
            return i;
    return PROGRAM_NONE;
}

size_t programs_number(struct programs *programs, uint32_t uid, const char *key)
{
    size_t number = key[0] ? find_program(programs, uid, key) : PROGRAM_NONE;
    char *copy;

    programs->calls++;
    if (number == PROGRAM_NONE && key[0]) {
        copy = strdup(key);
        number = copy ? make_room(programs) : PROGRAM_NONE;
        if (number == PROGRAM_NONE) {
            free(copy);
            return PROGRAM_NONE;
        }
        programs->program[number] =
            (struct program){.key = copy, .uid = uid, .born = programs->calls};
    }
    if (number != PROGRAM_NONE)
        programs->program[number].used = programs->calls;
    return number;
}

void programs_use(struct programs *programs, size_t number)
{
    if (number < programs->n)
        programs->program[number].steps++;
}

void programs_leave(struct programs *programs, size_t number)
{
    if (number < programs->n)
        programs->program[number].steps--;
}

void programs_free(struct programs *programs)
{
    for (size_t i = 0; i < programs->n; i++)
        free(programs->program[i].key);
    free(programs->program);
    *programs = (struct programs){0};
}
