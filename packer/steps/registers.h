/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registers - what berth has taken over of processors for steps (inside/core_registers.h): the
 * registers that switch prefetchers, a core each, and the greatest frequencies, a policy of cpufreq
 * each. They are the machine's and not a step's: one that cannot be given back when its step ends
 * is remembered here, and in the journal, until it can. */
#ifndef BERTH_STEPS_REGISTERS_H
#define BERTH_STEPS_REGISTERS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/base/error.h"

enum register_kind { REGISTER_PREFETCHERS, REGISTER_FREQUENCY, REGISTER_KINDS };

#define REGISTERS_NO_CLOCK UINT32_MAX

struct core_register {
    enum register_kind kind;
    uint32_t cpu;   /* the first hardware thread of the core, the first CPU of the policy */
    uint64_t was;   /* what it held before berth */
    uint64_t mask;  /* the bits of it that berth sets or clears; of a frequency what berth writes,
                       kHz */
    uint64_t holds; /* what it holds, by what berth has read or written last */
    bool left;      /* nobody knows that: by a berthd before this one, or a call that failed */
    bool changed;   /* it may hold what berth has written: in the journal */
    bool said;      /* that it could not be given back */
    uint64_t owner; /* serial number of its step (registry.h); 0: of nobody that still runs */
};

struct registers { /* all zero: none */
    size_t n, room;
    struct core_register *core; /* [n] */
    uint64_t prefetchers; /* bits of such a register that switch a prefetcher off; 0: none does */
    uint32_t *clock; /* [CPUS_MAX] the first CPU of its policy of cpufreq, REGISTERS_NO_CLOCK: it
                        has none; NULL: none has */
};

void registers_free(struct registers *registers);

/* Returns the register of that kind and CPU, or NULL; a new one, all zero but for these, or NULL
 * without memory. Both are good until the next one is added or dropped. */
struct core_register *registers_find(const struct registers *registers, enum register_kind kind,
                                     uint32_t cpu);
struct core_register *registers_add(struct registers *registers, enum register_kind kind,
                                    uint32_t cpu);

/* Forgets one; the last one takes its place in the array. */
void registers_drop(struct registers *registers, struct core_register *core);

/* Says whether one may hold what berth has written. */
bool registers_changed(const struct registers *registers);

/* Adds to the object, a list for each kind, what the journal has of those that are changed. */
void registers_write(const struct registers *registers, struct json_object *object);

/* Reads that back, as left by a berthd before this one, in the place of all there are. 0, or -1 and
 * err: then it is unchanged. */
int registers_read(struct registers *registers, struct json_object *object,
                   struct berth_error *err);

#endif
