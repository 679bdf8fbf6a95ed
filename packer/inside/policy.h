/* SPDX-License-Identifier: GPL-2.0-or-later */
/* policy - what a policy of this stage is: a row of one table.
 *
 * sample and decide are told of each window that was counted of the step, or of each burst, where
 * the policy wants bursts (burst, burst_s and due; else NULL and 0); enact makes true what was
 * decided, and undo takes back what it has changed. */
#ifndef BERTH_INSIDE_POLICY_H
#define BERTH_INSIDE_POLICY_H

#include <json-c/json.h>

#include "models/inside/faithful.h"
#include "models/inside/shuffle.h"
#include "models/inside/tranquil.h"
#include "packer/inside/burst.h"
#include "packer/steps/packer.h"
#include "packer/steps/step_counts.h"

/* What berth knows of a step that asked for a policy; step->inside.run. A plain block of memory:
 * the registry frees it with the step. */
struct inside_run {
    bool ended;
    bool read; /* there is a last one: */
    struct counters_sample last;
    struct phase_window window;   /* the rates between the last two readings */
    struct memory_origin *origin; /* where its pages were before they were dealt; NULL: never */
    unsigned enacted;             /* bits of the policies that have something in effect */
    char why[160];                /* why nothing is done any more in this step; "": it is */
    struct inside_faithful {
        struct faithful model;
        double miss_ratio, lock; /* that the model was told last; NAN not known */
        bool knew_miss, knew_lock;
    } faithful;
    struct inside_adapt {
        bool decided, changed;
        uint64_t changes;
    } adapt;
    struct inside_tranquil {
        struct tranquil model;
        struct tranquil_rules rules;
        struct burst burst;
        struct tranquil_burst seen; /* what that says */
        double settled_s;           /* from when on the trial is to be measured */
        double pass_s;              /* when the pass began (CLOCK_MONOTONIC); 0: none has */
    } tranquil;
    struct inside_shuffle {
        struct burst burst;
        uint64_t rounds;
        double done_s;       /* when the last one ended (CLOCK_MONOTONIC) */
        double lock;         /* what the step waited in it; NAN not known */
        size_t moved, bound; /* threads: that it has moved, that their program has bound */
        size_t own, threads; /* that stood on exactly one part; all */
        uint64_t changes;    /* threads that all rounds have moved */
        struct shuffle_move {
            pid_t tid;
            size_t task, to;
        } * move; /* [moved], from sample to enact */
        bool caches;
        size_t groups;
        struct shuffle_group { /* of all tasks */
            size_t index, threads;
            double lock[2]; /* the least and the most */
        } group[SHUFFLE_PACKAGES_MAX];
    } shuffle;
};

struct inside_policy {
    const char *word; /* of --contention-aware, of berth.conf's allow, and of explain's object */
    /* Did its user ask for it, or berth for what the site or another word wants? */
    bool (*asked)(const struct step *step);
    /* Returns why it can do nothing on this node; NULL: it can. */
    const char *(*refuse)(const struct packer *packer);
    /* Where its burst is kept; the seconds between its readings; the seconds until the next burst
     * is to begin, < 0: none is. */
    struct burst *(*burst)(struct inside_run *run);
    double burst_s;
    bool by_thread; /* and it wants to know what each thread did */
    double (*due)(const struct packer *packer, const struct step *step, struct inside_run *run);
    /* Takes in the last window or burst. Returns whether there is something to decide. */
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

extern const struct inside_policy inside_faithful, inside_tranquil, inside_shuffle, inside_adapt;

/* ---- class and slice of all threads (inside/slice.c) ---- */

/* Gives all threads of the step a slice. Its journal says so before. 0, or -1 and err. */
int inside_slice(struct packer *packer, struct step *step, unsigned slice_ms,
                 struct berth_error *err);

/* Takes it back, where it was given. 0, or -1 and err: to be tried again. */
int inside_unslice(struct packer *packer, struct step *step, struct berth_error *err);

/* ---- memory (inside/deal.c) ---- */

/* Has the step's pages dealt over the nodes that it stands on, or put back to where they were
 * before that. It is done by the mover's thread, bit by bit. Nothing where that is so already, or
 * there is one node only. 0, or -1 and err. */
int inside_deal(struct packer *packer, struct step *step, bool deal, struct berth_error *err);

/* Says whether pages are on their way. */
bool inside_dealing(const struct packer *packer, const struct step *step);

/* Adds "class", "slice_ms", "asked_ms", "threads", "own_threads". */
void inside_slice_explain(const struct step *step, struct json_object *object);

#endif
