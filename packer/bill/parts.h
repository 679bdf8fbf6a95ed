/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bill_parts - what the files of bill share.
 *
 *   bill.c           the stage: readings, hooks, what others may ask
 *   bill/interval.c  what each step, and everybody else, did in an interval
 *   bill/divide.c    a zone's energy among them
 *   bill/state.c     the file by which totals outlive berthd
 *   bill/stop.c      and its part by which a restart is no gap
 *
 * A zone that a reading does not know keeps what was done until it is known again: so claims are
 * kept by step and zone. */
#ifndef BERTH_BILL_PARTS_H
#define BERTH_BILL_PARTS_H

#include <stdio.h>

#include "models/energy/attribute.h"
#include "models/energy/nnls.h"
#include "packer/bill/bill.h"
#include "packer/conf/watts.h"
#include "packer/counters/counters.h"
#include "packer/steps/packer.h"
#include "packer/system/cpu_busy.h"

/* What was done since a zone was last known. */
struct bill_claim {
    double idle_s;              /* CPUs times seconds whose idle part it is billed */
    double busy_s;              /* of CPU time; where nobody knows, as held */
    double instructions, bytes; /* of steps that are not counted: as the others per busy second */
    bool there;                 /* it had CPUs there, if only others' (a batch script) */
};

/* The features of an energy model, per second; instructions and bytes in 1e9. */
enum { BILL_TIME, BILL_BUSY, BILL_INSTRUCTIONS, BILL_BYTES, BILL_FEATURES };

/* What a share went by, as bits; struct step keeps them all. */
enum { BILL_BY_COUNTERS = 1, BILL_BY_BUSY = 2, BILL_BY_CORES = 4 };

struct bill_zone {
    struct energy_zone zone;
    struct bill_account account; /* of all berthds of this node since it was booted */
    bool based;                  /* it has been readable once */
    bool resumed;                /* it goes on from the last reading of the berthd before */
    bool known_once;             /* and has moved */
    bool waits;                  /* it was readable now, and has never moved */
    bool dead;                   /* that it stands still has been logged */
    uint64_t uj, gaps;           /* of the reading that its interval began with */
    double seconds;              /* since then */
    struct bill_claim sum, unmanaged;
    double idle_s;            /* CPUs times seconds whose idle part nobody is billed */
    double counted_s[2];      /* of sum.busy_s: instructions, bytes are counted */
    bool busy_known;          /* for all of it */
    unsigned columns;         /* of fit: which features it has been given */
    struct nnls_fit fit;      /* by all that is counted */
    struct nnls_fit fit_busy; /* by time and busy time */
};

/* What a step was last read at, and its claims. */
struct bill_step {
    double since_s; /* when it began */
    unsigned by;
    bool gap;    /* in the interval that ends */
    bool missed; /* it may have ended while there was no berthd: that interval is not its */
    bool cpu_known, counter_known[2];
    double read_s, cpu_s, counter[2]; /* at its last reading: instructions, bytes */
    double taken_s;                   /* busy time of the step since cpu_s was read */
    double counted_s[2];              /* and since the counters were */
    double per_s[2];                  /* instructions, bytes per busy second; NAN not known */
    struct bill_claim claim[];        /* [zones] */
};

/* A step's part of an interval on a package. */
struct bill_part {
    size_t cpus;           /* that it may use there */
    double held_s, busy_s; /* of CPUs: shared ones in parts */
    double there_s;        /* for how long it held any */
};

/* A step that a berthd before this one has billed. */
struct bill_saved {
    struct wire_step_id id;
    int64_t started_at;
    unsigned by;
    struct step_bill bill;
};

struct bill {
    struct rootfs root;
    struct energy_node node;
    struct energy *energy;
    struct energy_watts watts; /* the site's own, of zones that are a model's */
    struct energy_reading reading;
    size_t zones, packages;
    struct bill_zone zone[ENERGY_ZONES];
    uint16_t package_of[CPUS_MAX];
    double at_s, due_s, saved_s;
    double save_took_s; /* of a CPU */
    bool save_failed;
    bool stopping;    /* what is saved is the last word of this berthd */
    bool bridging;    /* the interval began with that of the berthd before */
    bool bridge_busy; /* busy_now is known at its end, which `reading` is */
    bool busy_known;
    struct cpu_busy *busy, *busy_now; /* at at_s, and now */
    size_t saved_n;
    struct bill_saved *saved;
    /* for the length of an interval's end */
    uint16_t inner[CPUS_MAX], shells[CPUS_MAX]; /* steps that hold the CPU */
    struct step **step;
    struct bill_part *part;         /* [steps][packages] */
    struct attribute_claim *shares; /* [steps + 2] */
    size_t room;                    /* steps */
};

#define BILL_MEMORY 600.0 /* samples that a direction of a fit remembers */

/* ---- bill.c: bill_open and bill_turn, by another clock ---- */

int bill_open_at(struct bill **out, const struct packer *packer, double now_s,
                 struct berth_error *err);
void bill_turn_at(const struct packer *packer, double now_s);

/* ---- bill/interval.c ---- */

/* The interval that ends with this reading: claims are added up, and zones that are known are
 * divided. busy: of all CPUs until now, or NULL. 0, or -1 out of memory: it goes on. */
int bill_interval(const struct packer *packer, const struct energy_reading *reading,
                  const struct cpu_busy *busy);

/* The step is about to go: what it did in zones that are not known now is nobody's (unmanaged). */
void bill_leave(struct bill *bill, struct step *step);

/* ---- bill/divide.c ---- */

/* Divide what the zone has used since it was last known among step[n] and the others. */
void bill_divide(struct bill *bill, size_t zone, const struct energy_reading *reading,
                 struct step *const *step, size_t n);

/* Its claims are nobody's any more. */
void bill_clear(struct bill *bill, size_t zone, struct step *const *step, size_t n);

/* "counters, busy time" */
void bill_by_text(unsigned by, char text[32]);

/* ---- bill/state.c ---- */

/* Sets up accounts and fits for the zones, of which nothing is known yet; with NULL for those that
 * the bill has. */
void bill_zones_init(struct bill *bill, const struct energy_zone *zone, size_t n);

/* Write totals to the state folder; a failure is logged once. */
void bill_save(const struct packer *packer, struct bill *bill);

/* What a berthd before this one has left; nothing, or what cannot be read, is no failure. */
void bill_load(const struct packer *packer, struct bill *bill, double now_s);

/* This berthd has no meters: none that comes after it may go on from the last reading before it.
 * Totals stay. */
void bill_state_pass(const struct packer *packer);

/* ---- bill/stop.c ---- */

struct json_object;

/* Writes the last reading, and a comma; nothing where the next berthd cannot go on from it. */
void bill_stop_put(FILE *out, const struct packer *packer, const struct bill *bill);

/* Reads it: `bridging`, and zones are `resumed`, where it is of this boot and young enough; else
 * that is logged. 0, or -1 and err where it is none. */
int bill_stop_get(const struct packer *packer, struct bill *bill, struct json_object *object,
                  double now_s, struct berth_error *err);

/* Has a step with that bill lost energy between that berthd and this one? */
bool bill_stop_lost(const struct bill *bill, const struct step_bill *step);

#endif
