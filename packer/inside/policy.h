/* SPDX-License-Identifier: GPL-2.0-or-later */
/* policy - what a policy of this stage is: a row of one table.
 *
 * sample and decide are told of each window that was counted of the step; enact makes true what was
 * decided, and undo takes back what it has changed. */
#ifndef BERTH_INSIDE_POLICY_H
#define BERTH_INSIDE_POLICY_H

#include <json-c/json.h>

#include "models/inside/faithful.h"
#include "packer/steps/packer.h"
#include "packer/steps/step_counts.h"

/* What berth knows of a step that asked for a policy; step->inside.run. A plain block of memory:
 * the registry frees it with the step. */
struct inside_run {
    bool ended;
    bool read; /* there is a last one: */
    struct counters_sample last;
    struct phase_window window; /* the rates between the last two readings */
    unsigned enacted;           /* bits of the policies that have something in effect */
    char why[160];              /* why nothing is done any more in this step; "": it is */
    struct inside_faithful {
        struct faithful model;
        double miss_ratio, lock; /* that the model was told last; NAN not known */
        bool knew_miss, knew_lock;
    } faithful;
};

struct inside_policy {
    const char *word; /* of --contention-aware, of berth.conf's allow, and of explain's object */
    /* Did its user ask for it, or berth for what the site or another word wants? */
    bool (*asked)(const struct step *step);
    /* Returns why it can do nothing on this node; NULL: it can. */
    const char *(*refuse)(const struct packer *packer);
    /* Takes in the last window. Returns whether there is something to decide. */
    bool (*sample)(const struct packer *packer, const struct step *step, struct inside_run *run);
    /* Returns whether something else is to be in effect now. */
    bool (*decide)(struct inside_run *run);
    /* Makes it so. 0, or -1 and err: then undo is called, and the step is left alone. */
    int (*enact)(struct packer *packer, struct step *step, struct berth_error *err);
    /* Takes back what is in effect. 0, or -1 and err. */
    int (*undo)(struct packer *packer, struct step *step, struct berth_error *err);
    /* Adds what is known to its object. */
    void (*explain)(const struct step *step, struct json_object *object);
};

extern const struct inside_policy inside_faithful, inside_adapt;

/* ---- class and slice of all threads (inside/slice.c) ---- */

/* Gives all threads of the step a slice. Its journal says so before. 0, or -1 and err. */
int inside_slice(struct packer *packer, struct step *step, unsigned slice_ms,
                 struct berth_error *err);

/* Takes it back, where it was given. 0, or -1 and err: to be tried again. */
int inside_unslice(struct packer *packer, struct step *step, struct berth_error *err);

/* Adds "class", "slice_ms", "asked_ms", "threads", "own_threads". */
void inside_slice_explain(const struct step *step, struct json_object *object);

#endif
