/* SPDX-License-Identifier: GPL-2.0-or-later */
/* size_impl - what the stages that give cores hold; for their own files only. */
#ifndef BERTH_SIZE_SIZE_IMPL_H
#define BERTH_SIZE_SIZE_IMPL_H

#include "models/online/opticore.h"
#include "packer/steps/packer.h"

#define SIZE_REFUSALS 32

/* A phase of a program that lost too much on fewer cores (size/judge.h). */
struct size_refusal {
    uint64_t owner, serial; /* the program (programs.h: born; 0: not known) and the step */
    struct opticore_signature look;
    double until_s; /* CLOCK_MONOTONIC; 0: none */
};

struct size_state {
    double patience_s;  /* for how long a launch may wait for its size */
    double unhurried_s; /* for how long that of those that run may take, where nobody waits */
    double together_s;  /* and for how long for that of those that run */
    struct share_groups *groups;                /* share_adapt.c; NULL: nobody shares by ADAPT */
    struct size_refusal refusal[SIZE_REFUSALS]; /* whose size cost too much lately */
    struct phases *phases; /* of programs, for their size (phases.h); NULL: none yet */
    unsigned asked;        /* times that all were sized together in vain */
    bool later; /* the steps are to be sized together as soon as there is time (size.h) */
};

#endif
