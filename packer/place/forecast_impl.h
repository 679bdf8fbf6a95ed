/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forecast_impl - what the parts of the forecast share: forecast.c (what programs are known by, and
 * their slots), forecast_ask.c (what is asked of slots). Only for these. */
#ifndef BERTH_PLACE_FORECAST_IMPL_H
#define BERTH_PLACE_FORECAST_IMPL_H

#include "models/slowdown/evidence.h"
#include "packer/place/forecast.h"
#include "packer/place/pair_table.h"
#include "packer/place/solved.h"

#define FORECAST_NO_NUMBER                                                                         \
    (EVIDENCE_PROGRAMS_MAX - 1) /* of a program without a key: nothing is said of it */

struct slot {
    size_t users;   /* live steps */
    bool studied;   /* app is in contend */
    size_t program; /* its number for the evidence */
    struct app app; /* sdp.hits points to hits */
    double hits[PROFILE_WAYS_MAX];
    struct forecast_figures figures;
};

struct forecast {
    struct contend *contend;   /* of slots */
    struct evidence *evidence; /* of programs on one cache, */
    struct evidence *siblings; /* and of who shares a core, in pairs: what that costs besides */
    struct app_machine machine;
    struct pair_table *pairs; /* of slots; NULL: for want of memory */
    struct solved *solved;    /* of contend's */
    double effect;            /* by which all that is predicted is multiplied */
    size_t n, room;
    struct slot **slot;              /* [n] */
    size_t of_program[PROGRAMS_MAX]; /* the slot that was studied of it last; 0: none */
    uint64_t born[PROGRAMS_MAX];     /* of the program that has the number (programs.h); 0: none */
    bool known;                      /* anything is, of a step at work */
    bool ready;                      /* slowdowns can be told, as of the last update */
    bool observed;                   /* there is any evidence of caches, */
    bool shared;                     /* and of siblings */
    bool unsettled;                  /* the evidence has more to do */
};

/* Returns the slot that stands for a program: its own, else the average. */
size_t forecast_slot_of(const struct forecast *forecast, size_t program);

#endif
