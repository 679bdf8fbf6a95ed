/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tally - what was counted since berthd's start: each stage adds to it, status and the metrics tell
 * it. */
#ifndef BERTH_STEPS_TALLY_H
#define BERTH_STEPS_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "packer/steps/os_noise.h"

/* Why a launch went on without berthd. */
enum packer_missed {
    PACKER_LATE, /* berthd answered when the launch had gone on */
    PACKER_UNHEARD /* berthd was not reached, or refused it: it heard of the step at its end */,
    PACKER_MISSED
};

/* A slowdown summed up over steps: one plus it, which is above 0, times their core time. */
struct tally_slowdown {
    double sum, core_s;
};

/* What the steps that have ended say of berth's help (daemon/tally.h): by what is predicted, gained
 * [0] and lost [1]; of steps that berth placed [0], and observed [1]. */
struct tally {
    uint64_t registrations, decisions, moves, failures;
    uint64_t turns;        /* of the windows (observe/window.h) */
    struct os_noise noise; /* of the event loop, when nobody asked it for anything */
    double swept_s;        /* CLOCK_MONOTONIC, of the last whole sweep; 0: there was none */
    bool scraped;          /* the metrics were, since the steps were read */
    double asked_s; /* CLOCK_MONOTONIC, when somebody asked what is known of the steps; 0: nobody */
    struct {
        uint64_t n, in_a_row; /* in_a_row: since one was taken */
        char why[256];        /* of the last one */
    } refused;                /* registrations: their steps run where Slurm put them */
    uint64_t failed_open[PACKER_MISSED];
    uint64_t steps[2]; /* of which nothing is known, and something is */
    double core_s[2][2], energy_j[2][2];
    double freed_core_s; /* by sizes */
    struct tally_slowdown slowdown[2][3];
#define PACKER_SLURM 0    /* predicted where Slurm put all */
#define PACKER_BERTH 1    /* where berth put them, or would have */
#define PACKER_MEASURED 2 /* as they stood */
};

#endif
