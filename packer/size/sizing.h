/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sizing - the steps of a node that are sized together, and how many cores each may have. */
#ifndef BERTH_SIZE_SIZING_H
#define BERTH_SIZE_SIZING_H

#include "packer/size/model.h"
#include "packer/steps/packer.h"

#define SIZING_NOT_ASKED ((size_t)-1)

/* A step that is sized. */
struct sizing {
    struct step *step;
    size_t number; /* in the model; SIZING_NOT_ASKED: it is not in it */
    /* Of each NUMA node: cores that it has, that it uses now, shall use, must use. */
    unsigned *held, *now, *chosen, *needed;
    struct size_bounds bounds;
    struct cpus *before; /* [tasks] their `sized` until now */
};

/* All of them. */
struct sizings {
    const struct packer *packer;
    struct step *newcomer; /* NULL: nobody has come */
    size_t n, room;
    struct sizing *sizing; /* [n] */
    size_t loads;          /* steps that are not sized, and ask for what is known */
};

/* Why the step is not to be sized, or NULL. */
const char *sizing_reason(const struct step *step);

/* Lets a running step have all its cores again: its tasks' `sized`. 0, or -1 and err: it cannot be
 * written into the journal, and nothing has changed. */
int sizing_undo(const struct packer *packer, struct step *step, struct berth_error *err);

/* Collects those of the node: the steps that run and are placed, and the newcomer. Free with
 * sizings_free, also after an error. 0, or -1 with ENOMEM. */
int sizings_collect(struct sizings *all, const struct packer *packer, struct step *newcomer);
void sizings_free(struct sizings *all);

/* Adds to the model those that it knows, and what other steps ask of the memories. err: why it does
 * not know the newcomer. */
void sizings_ask(struct sizings *all, struct size_model *model, struct berth_error *err);

/* Bounds each by what it would get if all of them used all that Slurm gave: it is not to get less
 * because others are sized. */
void sizings_bound(struct sizings *all, const struct size_model *model);

/* Fills in what the step has, and what it uses. */
void sizing_count(const struct packer *packer, struct step *step);

#endif
