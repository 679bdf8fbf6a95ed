/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settle_figures - one run of a job in a few figures, from the ledger's records of its steps, added
 * up as berthctl report does (report.h): what goes into its AdminComment. */
#ifndef BERTH_SETTLE_FIGURES_H
#define BERTH_SETTLE_FIGURES_H

#include <stdint.h>

#include "packer/base/error.h"
#include "packer/ledger/ledger.h"
#include "packer/report/report.h"

/* The figures of a report's only job:
 *
 *     {"version":1,"nodes":1,"steps":2,"moves":0,"energy_j":1.5,"edp":3,"source":"rapl-powercap"}
 *
 * with "idle_energy" where the records have it. Energy and EDP are absent where they are not known
 * of every record. */
struct settle_figures {
    char *json;      /* the caller's to free; NULL when there is no record */
    uint64_t joules; /* rounded; 0 where not every record was metered, or one by a model */
};

/* 0; -1: out of memory. */
int settle_figures_of(struct report *report, struct settle_figures *figures);

/* Those of a run, as the ledger at that URL has them. 0, or -1 and err when it cannot be
 * read. May take long. */
int settle_figures_read(const char *url, const char *defaults_file, const struct ledger_run *run,
                        struct settle_figures *figures, struct berth_error *err);

#endif
