/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node - writes the node, its caches and its steps as series for Prometheus.
 *
 * The page is made from what berthd knows already: nothing is read for it but berthd's own use of
 * the machine. The rule for labels, so that nobody's database grows without bound: a cache's series
 * have its number; a step's have `jobid` and `step` and nothing else, what else is known of it and
 * does not change is in berth_step_info, to be joined; at most metrics_steps steps are shown, the
 * live ones first, in order of registration, and then those that ended within the last minute (so
 * that their last figures are seen, with the next scrape); berth_steps_left_out counts the others.
 * (The label is not called `job`: that is Prometheus' own.) */
#ifndef BERTH_METRICS_NODE_H
#define BERTH_METRICS_NODE_H

#include "packer/counters/counters.h"
#include "packer/fact/fact.h"
#include "packer/metrics/text.h"
#include "packer/steps/packer.h"

#define METRICS_LINGER_S 60

enum metrics_id {
    METRICS_NODE,
    METRICS_UPTIME,
    METRICS_RELEASED,
    METRICS_STEPS,
    METRICS_STEPS_LEFT_OUT,
    METRICS_CORES,
    METRICS_POOL_CORES,
    METRICS_REGISTRATIONS,
    METRICS_DECISIONS,
    METRICS_MOVES,
    METRICS_FAILURES,
    METRICS_FAILED_OPEN,
    METRICS_ENDED,
    METRICS_GAINED_CORE_TIME,
    METRICS_GAINED_ENERGY,
    METRICS_FREED_CORE_TIME,
    METRICS_SLOWDOWN,
    METRICS_SLOWDOWN_CORE_TIME,
    METRICS_CPU,
    METRICS_MEMORY,
    METRICS_LEDGER_WAITING,
    METRICS_METERED,
    METRICS_ENERGY,
    METRICS_GAPS,
    METRICS_CELSIUS,
    METRICS_CACHE_SIZE,
    METRICS_CACHE_CORES,
    METRICS_CACHE_CORES_HELD,
    METRICS_CACHE_TASKS,
    METRICS_CACHE_MISS_PMI,
    METRICS_CACHE_OCCUPANCY,
    METRICS_STEP,
    METRICS_STEP_CORES,
    METRICS_STEP_TASKS,
    METRICS_STEP_CPU,
    METRICS_STEP_ENERGY,
    METRICS_STEP_DOMAIN_ENERGY,
    METRICS_STEP_INSIDE_CHANGES,
    METRICS_STEP_INSIDE_SECONDS,
#define FACT_SERIES(ID, name, type, unit) METRICS_STEP_##ID,
#include "packer/fact/facts.def"
    METRICS_STEP_SLOWDOWN,
    METRICS_FAMILIES
};
extern const struct metrics_family metrics_family[METRICS_FAMILIES];

/* Makes the page, of *length bytes, which the caller frees; without the steps' series where the
 * reader may not see other users' steps. NULL when out of memory. */
char *metrics_page(const struct packer *packer, enum metrics_format format, bool with_steps,
                   size_t *length);

/* Writes the parts of it. */
void metrics_caches(const struct packer *packer, struct metrics_text *text);
void metrics_steps(const struct packer *packer, struct metrics_text *text);

/* Returns what was counted of the step at the end of its last window; NAN: nobody counts it. */
double metrics_counted(const struct step *step, enum counter counter);

#endif
