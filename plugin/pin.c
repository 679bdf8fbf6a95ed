/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pin - see pin.h. Here: the environment. */
#include "pin.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A variable of the environment, and the words with which its value says something, or nothing. The
 * first one of the table counts that says something. */
struct variable {
    const char *name; /* one that ends with '*' is the beginning of many */
    enum wire_pin pin;
    enum { BUT, ONLY } which; /* any value but these; only these */
    const char *word[6];
};

#define OFF "0", "off", "no", "false", "disable"

static const struct variable variables[] = {
    {"OMP_PROC_BIND", WIRE_PIN_ENVIRONMENT, BUT, {"false"}},
    {"OMP_PLACES", WIRE_PIN_ENVIRONMENT, BUT, {NULL}},
    {"GOMP_CPU_AFFINITY", WIRE_PIN_ENVIRONMENT, BUT, {NULL}},
    {"KMP_AFFINITY", WIRE_PIN_ENVIRONMENT, BUT, {"none", "disabled"}},
    {"KMP_HW_SUBSET", WIRE_PIN_ENVIRONMENT, BUT, {NULL}},
    {"KMP_PLACE_THREADS", WIRE_PIN_ENVIRONMENT, BUT, {NULL}},
    {"MP_BLIST", WIRE_PIN_ENVIRONMENT, BUT, {NULL}},
    {"MP_BIND", WIRE_PIN_ENVIRONMENT, BUT, {OFF}},
    {"I_MPI_PIN*", WIRE_PIN_ENVIRONMENT, BUT, {OFF}},
    {"MV2_CPU_*", WIRE_PIN_ENVIRONMENT, BUT, {NULL}},
    {"MV2_ENABLE_AFFINITY", WIRE_PIN_ENVIRONMENT, BUT, {OFF}},
    {"MV2_HYBRID_*", WIRE_PIN_ENVIRONMENT, BUT, {NULL}},
    {"OMPI_MCA_hwloc_base_binding_policy", WIRE_PIN_ENVIRONMENT, BUT, {"none"}},
    {"OMPI_MCA_rmaps_*", WIRE_PIN_ENVIRONMENT, BUT, {NULL}},
    {"PRTE_MCA_hwloc_*", WIRE_PIN_ENVIRONMENT, BUT, {NULL}},
    {"PRTE_MCA_rmaps_*", WIRE_PIN_ENVIRONMENT, BUT, {NULL}},
    {"HYDRA_BINDING", WIRE_PIN_ENVIRONMENT, BUT, {"none"}},
    {"JULIA_EXCLUSIVE", WIRE_PIN_ENVIRONMENT, BUT, {OFF}},
    {"LIKWID_PIN", WIRE_PIN_ENVIRONMENT, BUT, {NULL}},
    {"SLURM_MEM_BIND_TYPE", WIRE_PIN_MEMORY, ONLY, {"map_mem", "mask_mem", "local", "rank"}},
    {"SLURM_STEP_GPUS", WIRE_PIN_DEVICE, BUT, {NULL}},
    {"SLURM_JOB_GPUS", WIRE_PIN_DEVICE, BUT, {NULL}},
    {"CUDA_VISIBLE_DEVICES", WIRE_PIN_DEVICE, BUT, {"-1", "NoDevFiles"}},
    {"ROCR_VISIBLE_DEVICES", WIRE_PIN_DEVICE, BUT, {"-1"}},
    {"GPU_DEVICE_ORDINAL", WIRE_PIN_DEVICE, BUT, {"-1"}},
    {"ZE_AFFINITY_MASK", WIRE_PIN_DEVICE, BUT, {NULL}},
    {"SLURM_STEP_NICS", WIRE_PIN_DEVICE, BUT, {NULL}},
    {"SLURM_JOB_NICS", WIRE_PIN_DEVICE, BUT, {NULL}},
};

/* Returns the value of a "NAME=value" that is of the variable; NULL: it is not, or it is empty. */
static const char *value_of(const char *entry, const char *name)
{
    size_t length = strlen(name);
    const char *equals = strchr(entry, '=');
    bool many = name[length - 1] == '*';

    if (!equals || !equals[1] || strncmp(entry, name, many ? length - 1 : length) != 0)
        return NULL;
    return many || equals == entry + length ? equals + 1 : NULL;
}

/* Says whether the value begins with the word, and that ends there. */
static bool begins(const char *value, const char *word)
{
    size_t length = strlen(word);

    return strncasecmp(value, word, length) == 0 && !isalnum((unsigned char)value[length]);
}

static bool says(const struct variable *variable, const char *value)
{
    bool found = false;

    for (size_t i = 0; i < sizeof(variable->word) / sizeof(variable->word[0]); i++)
        found |= variable->word[i] && begins(value, variable->word[i]);
    return found == (variable->which == ONLY);
}

/* Returns the first entry by which the variable says something; NULL: there is none. */
static const char *entry_of(char *const *env, const struct variable *variable)
{
    for (; env && *env; env++) {
        const char *value = value_of(*env, variable->name);

        if (value && says(variable, value))
            return *env;
    }
    return NULL;
}

struct pin pin_of_environment(char *const *env)
{
    struct pin pin = {WIRE_PIN_NONE, ""};

    for (size_t i = 0; pin.pin == WIRE_PIN_NONE && i < sizeof(variables) / sizeof(variables[0]);
         i++) {
        const char *entry = entry_of(env, &variables[i]);

        if (!entry)
            continue;
        pin.pin = variables[i].pin;
        snprintf(pin.by, sizeof(pin.by), "%.*s", (int)strcspn(entry, "="), entry);
    }
    return pin;
}

/* Variables whose value is a word that has a run-time divide the CPUs that its process has when it
 * begins, and the characters by which it may name a CPU all the same. */
static const struct {
    const char *name, *numbers;
} within[] = {
    {"OMP_PROC_BIND", ""},
    {"OMP_PLACES", "{!,:"},
    {"KMP_AFFINITY", "[{0123456789"},
};

static bool is_within(const char *name, const char *entry)
{
    const char *value = value_of(entry, name);

    for (size_t i = 0; i < sizeof(within) / sizeof(within[0]); i++)
        if (strcmp(name, within[i].name) == 0)
            return isalpha((unsigned char)value[0]) && !strpbrk(value, within[i].numbers);
    return false;
}

bool pin_is_within(char *const *env)
{
    bool any = false;

    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *entry = entry_of(env, &variables[i]);

        if (entry && !is_within(variables[i].name, entry))
            return false;
        any |= entry != NULL;
    }
    return any;
}
