/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numa - machines and programs of the models numem and nucore, out of JSON. */
#ifndef BERTH_LAB_MODEL_NUMA_H
#define BERTH_LAB_MODEL_NUMA_H

#include <json-c/json.h>

#include "models/numa/nucore.h"
#include "packer/base/error.h"

/* Holds what was read; free with ctl_numa_free, also after an error. */
struct ctl_numa {
    struct numem_machine machine;
    size_t programs;
    struct nucore_program *program;
    struct json_object **name; /* of each program, borrowed; NULL where it has none */
    struct memory *memory;     /* all that the pointers above point to */
};

/* Reads the machine: "nodes", "cores", "alpha", "beta", "uni_max", "bi_max", "route". 0, or -1 and
 * err. */
int ctl_numa_machine(struct ctl_numa *numa, struct json_object *input, struct berth_error *err);

/* Reads one program of `input` itself, or those of input.programs where that is there. */
int ctl_numa_programs(struct ctl_numa *numa, struct json_object *input, struct berth_error *err);

/* Returns object[key], `n` whole numbers, which are freed with numa. NULL and err. */
unsigned *ctl_numa_counts(struct ctl_numa *numa, struct json_object *object, const char *key,
                          size_t n, struct berth_error *err);

/* Puts the fault into words and returns -1: "uni_max[2][3]: -1: a bandwidth is not negative"; the
 * program is the one it is about, or `programs`. */
int ctl_numa_fault(const struct ctl_numa *numa, const struct numem_fault *fault, size_t program,
                   struct berth_error *err);

void ctl_numa_free(struct ctl_numa *numa);

#endif
