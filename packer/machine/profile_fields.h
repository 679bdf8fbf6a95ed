/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine_profile_fields - the fields of a machine profile that are matrices of node pairs, for who
 * reads and who writes them. Each quantity has two, its values and their spread. */
#ifndef BERTH_MACHINE_PROFILE_FIELDS_H
#define BERTH_MACHINE_PROFILE_FIELDS_H

#include "packer/machine/profile.h"

#define MACHINE_PROFILE_VERSION 1

/* A matrix of node pairs. */
struct machine_matrix {
    const char *value, *spread; /* names of its fields */
    size_t offset;              /* in struct machine_profile */
};

static const struct machine_matrix machine_matrices[] = {
    {"uni_gbps", "uni_spread", offsetof(struct machine_profile, uni)},
    {"bi_gbps", "bi_spread", offsetof(struct machine_profile, bi)},
    {"latency_ns", "latency_spread", offsetof(struct machine_profile, latency_ns)},
    {"core_latency_ns", "core_latency_spread", offsetof(struct machine_profile, core_latency)},
};
#define MACHINE_MATRICES (sizeof(machine_matrices) / sizeof(machine_matrices[0]))

static inline struct machine_figure *machine_matrix_of(const struct machine_profile *profile,
                                                       const struct machine_matrix *matrix)
{
    return *(struct machine_figure *const *)((const char *)profile + matrix->offset);
}

#endif
