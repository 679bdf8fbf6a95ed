/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settle_figures - one run of a job in a few figures, from the ledger's records of its steps: what
 * goes into its AdminComment. */
#ifndef BERTH_SETTLE_FIGURES_H
#define BERTH_SETTLE_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "ledger.h"

/* A run of a job: `restart` counts those before it. `at` is a time at which it was running, in Unix
 * seconds. */
struct settle_run {
    char cluster[64];
    uint32_t job, restart;
    int64_t at;
};

struct settle_figures;

/* NULL: out of memory. */
struct settle_figures *settle_figures_new(void);
void settle_figures_free(struct settle_figures *figures); /* NULL is fine */

/* Take a record in. 0, or -1: out of memory. */
int settle_figures_add(struct settle_figures *figures, const struct ledger_record *record);

/* Nodes that the records are of; 0: there was no record. */
size_t settle_figures_nodes(struct settle_figures *figures);

/* {"version":1,"nodes":1,"steps":2,"moves":0,"energy_j":1.5,"edp":3,"source":"rapl-powercap"}: the
 * energy and the EDP of all its steps added up; absent where they are not known of every step. The
 * caller frees it; NULL: out of memory. */
char *settle_figures_json(struct settle_figures *figures);

/* The figures of a run, as the ledger at that URL has them; NULL and err when it cannot be read.
 * May take long. */
struct settle_figures *settle_figures_read(const char *url, const char *defaults_file,
                                           const struct settle_run *run, struct berth_error *err);

#endif
