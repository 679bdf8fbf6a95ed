/* SPDX-License-Identifier: GPL-2.0-or-later */
/* devices - see devices.h */
#include "devices.h"

#include <stdio.h>
#include <string.h>

/* Variables that list devices; of those of one group the first counts that is set. */
static const struct {
    const char *name, *kind;
    enum { GPUS, ADAPTERS } group;
} variables[] = {
    {"SLURM_STEP_GPUS", "gpu", GPUS},       {"SLURM_JOB_GPUS", "gpu", GPUS},
    {"CUDA_VISIBLE_DEVICES", "cuda", GPUS}, {"ROCR_VISIBLE_DEVICES", "rocm", GPUS},
    {"GPU_DEVICE_ORDINAL", "rocm", GPUS},   {"ZE_AFFINITY_MASK", "ze", GPUS},
    {"SLURM_STEP_NICS", "nic", ADAPTERS},   {"SLURM_JOB_NICS", "nic", ADAPTERS},
};

/* Returns the value of a variable; NULL: it is not set, or to nothing, or to no device. */
static const char *value_of(char *const *env, const char *name)
{
    size_t length = strlen(name);

    for (; env && *env; env++) {
        const char *value = *env + length + 1;

        if (strncmp(*env, name, length) == 0 && (*env)[length] == '=')
            return *value && strcmp(value, "-1") != 0 && strcmp(value, "NoDevFiles") != 0 ? value
                                                                                          : NULL;
    }
    return NULL;
}

/* Appends each device of a value. Of "0.1", a tile of one of Intel's, the device counts. Returns -1
 * where there is no room. */
static int add_value(char *devices, const char *kind, const char *value)
{
    for (; *value; value += *value == ',') {
        size_t used = strlen(devices), length = strcspn(value, ","), name = length;

        if (strcmp(kind, "ze") == 0)
            name = strcspn(value, ".,");
        if (snprintf(devices + used, WIRE_DEVICES_MAX - used, "%s%s:%.*s", used ? "," : "", kind,
                     (int)name, value) >= (int)(WIRE_DEVICES_MAX - used))
            return -1;
        value += length;
    }
    return 0;
}

void devices_of_environment(char *const *env, char devices[WIRE_DEVICES_MAX])
{
    bool known[2] = {false, false};

    devices[0] = '\0';
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *value = known[variables[i].group] ? NULL : value_of(env, variables[i].name);

        if (!value)
            continue;
        known[variables[i].group] = true;
        if (add_value(devices, variables[i].kind, value) < 0) {
            devices[0] = '\0';
            return;
        }
    }
    if (devices[0] && !wire_devices_valid(devices))
        devices[0] = '\0';
}
