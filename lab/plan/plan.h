/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan - what the parts of `berthctl plan` share: reading, policies, printing. */
#ifndef BERTH_LAB_PLAN_PLAN_H
#define BERTH_LAB_PLAN_PLAN_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "models/slowdown/contend.h"
#include "models/slowdown/evidence.h"
#include "packer/base/error.h"
#include "packer/base/nearest.h"
#include "lab/plan/apps.h"
#include "lab/plan/matrix.h"
#include "packer/machine/bandwidth.h"
#include "packer/machine/topo.h"

#define CTL_PLAN_NOTES 8
#define CTL_PLAN_POLICIES 8

/* Is what policies move about: an app, its part in one cache where DI had to split the app, or each
 * core of one that may be divided. */
struct ctl_plan_unit {
    size_t app;
    size_t first; /* of its cores in a placement */
    double part;  /* of the app */
};

/* Holds all of a plan. A placement is an array of the tree's cores: those of the first app, then of
 * the second, ... */
struct ctl_plan {
    const char *topology, *policy, *matrix, *samples, *pairs,
        *input;         /* as asked; NULL: not given */
    const char *svg;    /* where a picture goes; NULL: none is made */
    double limit_s;     /* < 0: not given */
    bool threads;       /* each hardware thread is a place */
    bool json, printed; /* printed: dio-power's order, Algorithm 4 to the letter */
    struct ctl_apps apps;
    struct ctl_matrix measured; /* .file NULL: none */
    struct topo *topo;
    struct topo_tree tree;
    size_t cores; /* that the apps ask for */
    bool mixed;   /* the topology's caches are not all of that size */
    struct ctl_plan_unit *unit;
    size_t units;
    size_t *unit_cores, *unit_kind; /* [units], as struct partition wants them */
    size_t *room;                   /* [caches of the tree] their cores */
    size_t *memory;                 /* [caches of the tree] the NUMA node next to each */
    bool joined;                    /* one of these is next to several caches */
    struct bandwidth bandwidth;     /* of the machine, where the input does not say it */
    bool assumed;                   /* nobody measured or said it: it is only assumed */
    struct contend *contend;        /* of the units; NULL: too little is known */
    struct evidence *evidence;      /* of the apps, measured beside each other; NULL: none were */
    size_t *unit_app;               /* [units] the first app of the unit's name */
    size_t *by_di, *core;           /* [cores] placements: DI's, and the chosen one */
    double *slowdown;               /* [apps] in the chosen one: a fraction, NAN: unknown */
    double lost;                    /* cores' worth of work lost in it; NAN: unknown */
    double score;                   /* of the chosen one; NAN: unknown */
    bool exact;                     /* it is the best for its policy, proven */
    size_t compared;
    struct {
        const char *policy;
        double average;  /* slowdown of an app */
        double lost;     /* cores' worth of work */
        double fairness; /* the least of the apps' speeds by the greatest */
    } other[CTL_PLAN_POLICIES];
    size_t notes;
    char note[CTL_PLAN_NOTES][256];
};

/* ---- plan/read.c ---- */

/* Reads the workload (borrowed, and still needed afterwards) and the machine that plan names, and
 * prepares what policies need. 0, or 1 after saying what is wrong. Free with ctl_plan_clear, which
 * takes a plan that is nothing but zeros, too. */
int ctl_plan_read(struct ctl_plan *plan, struct json_object *workload);
void ctl_plan_clear(struct ctl_plan *plan);

/* Returns what policies by rule rank an app by: misses per million instructions of one core, and
 * for an app of which none are known what berthd ranks it by as long as root says nothing else. */
double ctl_plan_rank(const struct ctl_plan *plan, size_t app);

/* Tells whether an app's cores may be divided over caches, and whether to policies by rule and by
 * score each of its threads is one (as place/threads.h says of berthd's steps). */
bool ctl_plan_divisible(const struct ctl_plan *plan, size_t app);
bool ctl_plan_apart(const struct ctl_plan *plan, size_t app);

/* Adds one more note for the reader; it is dropped where there are too many. */
void ctl_plan_note(struct ctl_plan *plan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- plan/samples.c ---- */

/* Adds to workload["apps"] what a file of samples says: of each step its means, as an app of its
 * name. Apps of that name which are there get what they lack of it, and keeps their own. Batch
 * scripts and shells that did nothing but wait are left out, unless FILE names them; *shells says
 * how many. 0, or -1 and err, "FILE:LINE: why". */
int ctl_plan_add_samples(struct json_object *workload, const char *path, size_t *shells,
                         struct berth_error *err);

/* ---- plan/policy.c ---- */

/* Says whether there is a policy of that name, and which one may be meant. Their names, as a list
 * to read. */
bool ctl_plan_policy_known(const char *name, struct nearest *meant);
#define CTL_PLAN_POLICY_NAMES "contend, di, dio-power, missrate, pain, sdc, animal, perfect"

/* Places by plan->policy (NULL: the best that the input allows, which is then set), judges the
 * placement, and compares it with the other policies' where this one searched for the least
 * slowdown. 0, or -1 and err. */
int ctl_plan_place(struct ctl_plan *plan, struct berth_error *err);

/* ---- plan/print.c ---- */

/* Print the answer on stdout. They return the exit status. */
int ctl_plan_print_json(const struct ctl_plan *plan);
int ctl_plan_print_table(const struct ctl_plan *plan);

/* Writes a picture of the placement into plan->svg. Returns the exit status. */
int ctl_plan_write_svg(const struct ctl_plan *plan);

/* Runs the verb `plan`; argv[0] is the verb. Returns berthctl's exit status: 0 done, 1 not, 2
 * usage.
 */
int ctl_plan(int argc, char **argv);

#endif
