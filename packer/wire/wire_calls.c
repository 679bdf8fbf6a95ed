/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_calls - see wire_calls.h */
#include "packer/wire/wire_calls.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/wire/wire_calls_impl.h"
#include "packer/wire/wire_env.h"

/* Who is concerned. */
#define PROGRAM (1u << WIRE_CALLER_PROGRAM)
#define RANK (1u << WIRE_CALLER_RANK)
#define ANY (PROGRAM | RANK)

struct import {
    const char *text; /* one that ends with '*' is the beginning of many */
    enum wire_pin pin;
    unsigned callers;
};

/* What an executable imports or needs. */
static const struct import imports[] = {
    {"sched_setaffinity", WIRE_PIN_CALLS, ANY},
    {"sched_getaffinity", WIRE_PIN_LOOKS, ANY},
    {"pthread_setaffinity_np", WIRE_PIN_CALLS, ANY},
    {"pthread_getaffinity_np", WIRE_PIN_LOOKS, ANY},
    {"pthread_attr_setaffinity_np", WIRE_PIN_CALLS, ANY},
    {"pthread_attr_getaffinity_np", WIRE_PIN_LOOKS, ANY},
    {"sched_getcpu", WIRE_PIN_LOOKS, ANY},
    {"getcpu", WIRE_PIN_LOOKS, ANY},
    {"sched_setattr", WIRE_PIN_CALLS, ANY},
    {"sched_setscheduler", WIRE_PIN_CALLS, ANY},
    {"pthread_setschedparam", WIRE_PIN_CALLS, ANY},
    {"syscall", WIRE_PIN_CALLS, ANY},
    {"ptrace", WIRE_PIN_CALLS, ANY},
    {"libnuma.so*", WIRE_PIN_CALLS, ANY},
    {"libhwloc.so*", WIRE_PIN_CALLS, ANY},
    {"liblikwid*", WIRE_PIN_CALLS, ANY},
    {"libmpi*", WIRE_PIN_CALLS, PROGRAM},  /* binds its ranks when it begins */
    {"libgomp.so*", WIRE_PIN_CALLS, RANK}, /* by OMP_PROC_BIND and the like */
    {"libomp.so*", WIRE_PIN_CALLS, RANK},
    {"libiomp5.so*", WIRE_PIN_CALLS, RANK},
    {"libcraymp*", WIRE_PIN_CALLS, ANY},
    {"libcuda*", WIRE_PIN_DEVICE, ANY}, /* it and what is built on it set no affinity (traced) */
    {"libcublas*", WIRE_PIN_DEVICE, ANY},
    {"libcufft*", WIRE_PIN_DEVICE, ANY},
    {"libcurand*", WIRE_PIN_DEVICE, ANY},
    {"libcusolver*", WIRE_PIN_DEVICE, ANY},
    {"libcusparse*", WIRE_PIN_DEVICE, ANY},
    {"libamdhip64*", WIRE_PIN_DEVICE, ANY},
    {"libhsa-runtime64*", WIRE_PIN_DEVICE, ANY},
    {"libze_loader*", WIRE_PIN_DEVICE, ANY},
    {"libOpenCL*", WIRE_PIN_DEVICE, ANY},
    {"execv", WIRE_PIN_STARTS, ANY},
    {"execve", WIRE_PIN_STARTS, ANY},
    {"execvp", WIRE_PIN_STARTS, ANY},
    {"execvpe", WIRE_PIN_STARTS, ANY},
    {"execl", WIRE_PIN_STARTS, ANY},
    {"execle", WIRE_PIN_STARTS, ANY},
    {"execlp", WIRE_PIN_STARTS, ANY},
    {"fexecve", WIRE_PIN_STARTS, ANY},
    {"posix_spawn*", WIRE_PIN_STARTS, ANY},
    {"system", WIRE_PIN_STARTS, ANY},
    {"popen", WIRE_PIN_STARTS, ANY},
    {"dlopen", WIRE_PIN_STARTS, ANY},
    {"dlmopen", WIRE_PIN_STARTS, ANY},
};

/* LLVM's OpenMP, which is Intel's and NVIDIA's, too, and what loads it. It binds without being
 * asked to: it gives each thread that it makes the mask that the process had when it began. With
 * KMP_AFFINITY=disabled it keeps off masks. */
static const char *const llvm_openmp[] = {"libomp.so*", "libiomp5*", "libnvomp*", "libmkl_*"};

const struct wire_calls wire_calls_none = {WIRE_PIN_NONE, ""};

struct wire_calls wire_calls_say(enum wire_pin pin, const char *by)
{
    struct wire_calls said = {pin, ""};

    snprintf(said.by, sizeof(said.by), "%.*s", (int)sizeof(said.by) - 1, by);
    return said;
}

bool wire_calls_is(const char *name, const char *word)
{
    size_t length = strlen(word);

    return word[length - 1] == '*' ? strncmp(name, word, length - 1) == 0 : strcmp(name, word) == 0;
}

struct wire_calls wire_calls_of_name(const char *name, enum wire_caller caller, char *const *env)
{
    for (size_t i = 0; i < sizeof(imports) / sizeof(imports[0]); i++)
        if (imports[i].callers & 1u << caller && wire_calls_is(name, imports[i].text))
            return wire_calls_say(imports[i].pin, name);
    for (size_t i = 0; i < sizeof(llvm_openmp) / sizeof(llvm_openmp[0]); i++)
        if (wire_calls_is(name, llvm_openmp[i]) && !wire_env_says(env, "KMP_AFFINITY", "disabled"))
            return wire_calls_say(WIRE_PIN_CALLS, name);
    return wire_calls_none;
}

/* Of two reasons the heavier one counts; of two that are equal, the first. */
static unsigned weight_of(enum wire_pin pin)
{
    return pin == WIRE_PIN_NONE ? 0 : pin == WIRE_PIN_DEVICE ? 1 : pin == WIRE_PIN_LOOKS ? 2 : 3;
}

bool wire_calls_yields(enum wire_pin pin)
{
    return weight_of(pin) < weight_of(WIRE_PIN_CALLS);
}

bool wire_calls_outweighs(enum wire_pin pin, enum wire_pin before)
{
    return weight_of(pin) > weight_of(before);
}

void wire_calls_add(struct wire_calls *calls, struct wire_calls more)
{
    if (wire_calls_outweighs(more.pin, calls->pin))
        *calls = more;
}

struct wire_calls wire_calls_of_object(const struct wire_object *object, enum wire_caller caller,
                                       char *const *env)
{
    const char *end = object->strings + object->length;
    struct wire_calls calls = wire_calls_none;

    for (const char *name = object->strings + 1; name < end && wire_calls_yields(calls.pin);
         name += strlen(name) + 1)
        wire_calls_add(&calls, wire_calls_of_name(name, caller, env));
    return calls;
}

struct wire_calls wire_calls_read(int fd, enum wire_caller caller)
{
    struct wire_calls calls = {WIRE_PIN_UNREAD, ""};
    struct wire_object object;

    if (wire_object_read(&object, fd, "") && wire_object_value(&object, DT_NEEDED))
        calls = wire_calls_of_object(&object, caller, NULL);
    wire_object_drop(&object);
    return calls;
}
