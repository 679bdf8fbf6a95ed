/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place_units - what the policies place: the units of the pool.
 *
 * A unit is what must move together: a task with its cores, and whatever else Slurm let onto the
 * same cores (srun --overlap). Cores change places with cores of their kind only; so units are
 * placed kind by kind, and a task that has cores of several is a unit in each. A job's batch script
 * is no unit while steps of the job run: it goes where its cores go. */
#ifndef BERTH_PLACE_UNITS_H
#define BERTH_PLACE_UNITS_H

#include "packer/steps/stand.h"

#define UNITS_NONE ((size_t)-1)

/* The units of a pool: which unit each core belongs to, and what a policy has to know of each. */
struct units {
    size_t *of_core;           /* [cores] unit, or UNITS_NONE */
    struct di_unit *unit;      /* [n] */
    struct step **first;       /* [n] its most intensive step */
    struct step **isolate_for; /* [n] the one of its steps that is to be isolated; NULL: none */
    bool *isolated;            /* [n] it is, where it goes */
    bool *packed;              /* [n] all its steps are for DIO-POWER to place */
    const struct cpus **near;  /* [n] its step has devices near these: near.h moves it; NULL */
    bool *kept;                /* [n] its step has to stay where it began: near is all CPUs */
    bool *apart;               /* [n] each of its cores is a thread of its own (threads.h) */
    bool alone;                /* they are those of one step only */
    size_t kind;               /* of all their cores (topo.h) */
    size_t n, cores;
    size_t total;      /* cores of all units */
    size_t *at;        /* [n] where its cores begin in from and to */
    size_t *from, *to; /* [total] in the order of units, then of cores: to is the policy's */
    size_t *order;     /* [n] the units by descending miss rate, from units_rank() on */
    size_t *rank;      /* [n] place in that order, 1: the most intensive */
    size_t *of_target; /* [cores] who is meant to stand there */
};

/* Collects the units on cores of that kind of all steps that count as movable and have these cores
 * in the pool; or, with `only`, those of that step: none where another step uses one of its cores,
 * too. 0, or -1 with errno ENOMEM; free with units_free. */
int units_collect(const struct scene *scene, struct step *only, size_t kind, struct units *units);

/* May a unit stand on the core? It is in the pool, and of the units' kind. */
bool units_may_have(const struct units *units, const struct scene *scene, size_t core);
void units_free(struct units *units);

/* Is the step one whose tasks are units? */
bool units_count(const struct scene *scene, const struct step *step);

/* Is a task of the step of that unit? */
bool units_have(const struct units *units, const struct topo *topo, const struct step *step,
                size_t unit);

/* Is any unit to be isolated; is any packed? */
bool units_isolate(const struct units *units);
bool units_pack(const struct units *units);

/* Orders the units by descending miss rate. */
void units_rank(struct units *units);

#endif
