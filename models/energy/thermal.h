/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thermal - where who stands on a core that is too hot goes (Wang 2015, section 7.4.1, "Fighting
 * the broken screw", Policy 1.a and 1.b).
 *
 * A core has two thresholds: from t1 on the hardware slows it down, from t2 on it stops it. Who
 * stands on one at t2 or above remembers it as hot, and goes to the coolest free core below t2 that
 * is not hot for it; who stands on one at t1 or above goes to a free core below t1. Where there is
 * none, it stays. The paper takes any core below t1, and asks for hot ones in the first case only;
 * here it is the coolest one, and never a hot one. Where no core is free, two exchange their places
 * if they disturb their neighbours alike: the paper has no such step, as its machine has free
 * cores.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_ENERGY_THERMAL_H
#define BERTH_MODELS_ENERGY_THERMAL_H

#include <stdbool.h>
#include <stddef.h>

#define THERMAL_EVERY_S 10 /* the paper's: between two looks, and two moves of a core */
#define THERMAL_NONE ((size_t)-1)

enum thermal_limit { THERMAL_BELOW, THERMAL_T1, THERMAL_T2, THERMAL_LIMITS };
extern const char *const thermal_limit_name[THERMAL_LIMITS]; /* NULL, "t1", "t2" */

/* Who may be on a core, beside a program's number. */
#define THERMAL_FREE ((size_t)-1)
#define THERMAL_TAKEN ((size_t)-2) /* by who does not move, or by several */

struct thermal_core {
    double celsius, t1, t2; /* NAN: not known */
    size_t who;             /* a program, THERMAL_FREE or THERMAL_TAKEN */
    bool rests;             /* somebody came here, or left, less than THERMAL_EVERY_S ago */
};

struct thermal_program {
    int kind;          /* of how it disturbs others: programs of the same kind may exchange */
    const bool *hot;   /* [cores] that it remembers as hot */
    const bool *never; /* [cores] where it may not stand for another reason; NULL: none */
};

struct thermal_scene {
    size_t cores;
    const struct thermal_core *core;       /* [cores] */
    const struct thermal_program *program; /* by thermal_core.who */
};

/* Tells which threshold a core has reached; what is not known is not reached. */
enum thermal_limit thermal_limit_of(const struct thermal_core *core);

/* Returns the core where the program on core `from` goes, with which it exchanges places where
 * somebody stands there; THERMAL_NONE: it stays. At t2, `from` counts as hot for it already. */
size_t thermal_target(const struct thermal_scene *scene, size_t from);

#endif
