/* SPDX-License-Identifier: GPL-2.0-or-later */
/* policy - what a policy of this stage is: a row of one table. Its word (step_policy_word) is one
 * of --contention-aware and of berth.conf's allow, the name of explain's object, and of its row in
 * `berthctl doctor`.
 *
 * sample and decide are told of each window that was counted of the step, or of each burst, where
 * the policy wants bursts (burst, plan and due; else NULL and 0); enact makes true what was
 * decided, and undo takes back what it has changed. */
#ifndef BERTH_INSIDE_POLICY_H
#define BERTH_INSIDE_POLICY_H

#include <json-c/json.h>

#include "models/inside/faithful.h"
#include "models/inside/prefetch.h"
#include "models/inside/shuffle.h"
#include "models/inside/tranquil.h"
#include "packer/inside/burst.h"
#include "packer/inside/step_page.h"
#include "packer/steps/packer.h"
#include "packer/steps/step_counts.h"

#define SHUFFLE_THREADS_MAX 1024 /* of a step: to move one takes 30 us (Pusukuri 2012, 4.3: 29) */

/* What berth knows of a step that asked for a policy; step->inside.run. A plain block of memory:
 * the registry frees it with the step. */
struct inside_run {
    bool ended;
    bool read; /* there is a last one: */
    struct counters_sample last;
    double from_s;              /* when the one before it was */
    struct phase_window window; /* the rates between the two */
    unsigned enacted;           /* bits of the policies that have something in effect */
    char why[160];              /* why nothing is done any more in this step; "": it is */
    struct step_page *page;     /* NULL: no policy needs one */
    struct step_said said;
    struct inside_faithful {
        struct faithful model;
        double miss_ratio, lock; /* that the model was told last; NAN not known */
        bool knew_miss, knew_lock;
    } faithful;
    struct inside_adapt {
        bool decided, changed, deals;
        bool dealt; /* and has: it is ADAPT's to take back */
        uint64_t changes;
    } adapt;
    struct inside_tranquil {
        struct tranquil model;
        struct burst burst;
        bool changed;     /* by the last one, the policy that is to be in effect */
        double settled_s; /* from when on the trial is to be measured */
        double pass_s;    /* when the pass began (CLOCK_MONOTONIC); 0: none has */
    } tranquil;
    struct inside_shuffle {
        struct burst burst;
        uint64_t rounds;
        double done_s;       /* when the last one ended (CLOCK_MONOTONIC) */
        double lock;         /* what the step waited in it; NAN not known */
        size_t moved, bound; /* threads: that it has moved, that their program has bound */
        size_t own, threads; /* that stood on exactly one part; all */
        uint64_t changes;    /* threads that all rounds have moved */
        size_t ngiven;
        struct shuffle_given { /* where the last round has left a thread */
            pid_t tid;
            size_t group;
        } given[SHUFFLE_THREADS_MAX];
        struct cpus stand; /* of the step, then */
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
    struct inside_follow {
        uint32_t threads,
            most; /* of a region: fewer than `most` (0: as many); with all its cores */
    } follow;
    struct inside_throttle {
        uint32_t hold; /* samples in a row, in a process */
    } throttle;
    struct inside_prefetch {
        struct prefetch model;
        struct burst burst; /* without a reading: the model has been told of the last burst */
        struct cpus own;    /* first hardware threads of the cores that it has to itself */
        bool moved;         /* `own` has changed since the burst began */
        bool differs;       /* the registers are not as wanted */
        size_t cores;       /* that hold what berth has written */
        int64_t at;         /* unix seconds of the last decision; 0: there was none */
    } prefetch;
    struct inside_frequency {
        struct cpus own; /* first CPUs of the policies of cpufreq that it has to itself */
        bool differs;    /* one of them is not as wanted */
        size_t clocks;   /* that hold what berth has written */
    } frequency;
};

struct inside_policy {
    const char *model; /* what `berthctl model` calls the arithmetic by which it decides; NULL:
                          there is none */
    /* Did its user ask for it, or berth for what the site or another word wants? */
    bool (*asked)(const struct step *step);
    /* Does the site want it of steps whose user has not asked? May be NULL: never. */
    bool (*by_site)(const struct conf *conf);
    /* Returns why it can do nothing on this node; NULL: it can. The function may be NULL: it always
     * can. */
    const char *(*lacks)(const struct packer *packer);
    /* Returns why it can do nothing in this step, on a node that lacks nothing; NULL: it
     * can. The function may be NULL: it always can. */
    const char *(*refuse)(const struct packer *packer, const struct step *step);
    bool page;   /* it needs the step's page, and takes its turn as one with: */
    bool always; /* it takes its turn whether a window was counted or not */
    /* The page is there, before the tasks run; may be NULL. 0, or -1 and err: the step is left
     * alone. */
    int (*begin)(const struct packer *packer, struct step *step, struct berth_error *err);
    /* Where its burst is kept; what it is of; the seconds until the next burst is to begin, < 0:
     * none is. One with `always` takes a turn before it begins, too, and has what it is to be of
     * made so. */
    struct burst *(*burst)(struct inside_run *run);
    struct burst_plan plan;
    double (*due)(const struct packer *packer, const struct step *step, struct inside_run *run);
    /* Takes in the last window or burst. Returns whether there is something to decide. */
    bool (*sample)(const struct packer *packer, const struct step *step, struct inside_run *run);
    /* Returns whether something else is to be in effect now. */
    bool (*decide)(struct inside_run *run);
    /* Makes it so. 0, or -1 and err: then undo is called, and the step is left alone. */
    int (*enact)(const struct packer *packer, struct step *step, struct berth_error *err);
    /* It need not be undone when the step ends: TRANQUIL's slices are, with FAITHFUL's, and pages,
     * which ADAPT deals, too, end with their processes. */
    bool ends_by_itself;
    /* Takes back what is in effect. 0, or -1 and err. */
    int (*undo)(const struct packer *packer, struct step *step, struct berth_error *err);
    /* Is something of what it has enacted in effect? */
    bool (*in_effect)(const struct step *step);
    /* Adds its lists to its object of explain, which has its facts (packer/fact/facts.def); may be
     * NULL: it has none. */
    void (*explain)(const struct step *step, struct json_object *object);
};

extern const struct inside_policy inside_faithful, inside_tranquil, inside_shuffle, inside_adapt,
    inside_follow, inside_throttle, inside_flex, inside_locks, inside_prefetch, inside_frequency;

/* The rows (inside/policy.c). */
extern const struct inside_policy *const inside_policies[STEP_POLICIES];

/* Has its user asked for it, be it that the site does not allow it? */
bool inside_is_wanted(const struct step *step, enum step_policy i);

/* Returns why a policy that is wanted has no effect in this step; NULL: it has. */
const char *inside_refusal(const struct packer *packer, const struct step *step,
                           enum step_policy i);

/* ---- the step's page (inside/inside_page.c) ---- */

/* Makes the page, or takes over the one that there is. 0, or -1 and err. */
int inside_page_open(const struct packer *packer, struct step *step, struct berth_error *err);

/* Takes in what the processes said, and tells them where they stand now. 0, or -1 and err. */
int inside_page_turn(const struct packer *packer, struct step *step, struct berth_error *err);

/* Returns the step's page, also where it is a berthd's before this one and there is no run yet;
 * NULL: there is none. *opened is the caller's to close. */
struct step_page *inside_page_find(const struct packer *packer, const struct step *step,
                                   struct step_page **opened);

/* Turns a feature off, also in a page of a berthd before this one. 0, or -1 and err. */
int inside_page_turn_off(const struct packer *packer, const struct step *step,
                         enum rt_feature feature, struct berth_error *err);

/* over: the step has ended, and the page goes with it. */
void inside_page_close(const struct packer *packer, struct step *step, bool over);

/* ---- class and slice of all threads (inside/slice.c) ---- */

/* Notes in the journal whether something of berth's may be in effect: flag is one of step->inside
 * that the journal has. 0, or -1 and err: the flag is as it was, to be tried again. */
int inside_mark(const struct packer *packer, struct step *step, bool *flag, bool to,
                struct berth_error *err);

/* Has the step berth's slices? */
bool inside_is_sliced(const struct step *step);

/* Gives all threads of the step a slice. Its journal says so before. 0, or -1 and err. */
int inside_slice(const struct packer *packer, struct step *step, unsigned slice_ms,
                 struct berth_error *err);

/* Takes it back, where it was given. 0, or -1 and err: to be tried again. */
int inside_unslice(const struct packer *packer, struct step *step, struct berth_error *err);

/* Both go as far as the pace allows (enforce_pace), and leave the rest, step->inside.slicing, for
 * later turns: goes on with it. 0: there is no more; 1: there is; -1 and err: it is given up. */
int inside_slicing_turn(const struct packer *packer, struct step *step, struct berth_error *err);

/* Leaves the rest undone. */
void inside_slicing_drop(struct step *step);

#endif
