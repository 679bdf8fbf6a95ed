/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exchange - who stands on some cores of the pool and who stands on others change places: what the
 * stages do that name cores (thermal.h), and what a site's own policy proposes (propose.h). */
#ifndef BERTH_ENACT_EXCHANGE_H
#define BERTH_ENACT_EXCHANGE_H

#include "packer/steps/packer.h"

/* Finds the CPUs of the caches on which somebody stands who is to be isolated. */
void exchange_isolated(const struct packer *packer, struct cpus *isolated);

/* Returns why the step may not stand on that core, of the pool or not, as the end of a sentence;
 * NULL: it may. isolated: as above. */
const char *exchange_barred(const struct packer *packer, const struct step *step, size_t core,
                            const struct cpus *isolated);

/* Exchanges who stands on from[i] with who, or nobody, stands on to[i], n pairs of different cores
 * of the pool; in the journal, as each other move. 0, or -1 and err with nothing done. */
int exchange_cores(const struct packer *packer, size_t n, const size_t *from, const size_t *to,
                   struct berth_error *err);

#endif
