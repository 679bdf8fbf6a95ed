/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stranger_list - who was found on cores of the pool and is not in berth's care. Who looks for
 * them, and who counts, is said in packer/slurm/steps/strangers.h. */
#ifndef BERTH_STEPS_STRANGER_LIST_H
#define BERTH_STEPS_STRANGER_LIST_H

#include <stdint.h>

#include "packer/base/cpus.h"
#include "packer/steps/packer.h"

#define WHOLE_JOB UINT32_MAX /* as a step's number */

struct stranger {
    struct wire_step_id id; /* step WHOLE_JOB: the whole job */
    uint32_t uid;           /* whose step it is; UINT32_MAX: not known, as of a job */
    struct cpus cpus;       /* where it may run */
    double since_s;         /* CLOCK_MONOTONIC: when it was first seen */
    bool counts;            /* its cores are not in the pool */
    bool seen;              /* by the reading that is under way */
    bool asks;              /* it only asks berthd something, as berthctl --ask does */
    bool new;               /* a job that has begun while whoever starts asks for his cores, and has
                               not; nor was its program seen to run */
};

struct strangers {
    size_t n, room;
    struct stranger *stranger; /* [n] */
};

/* So many jobs in a row that have asked or registered, and none that runs and has not, show that
 * whoever starts here asks (berth.conf's idle = auto). */
#define STRANGERS_ASKED_MIN 3

/* So many new jobs in a row whose tasks run, and that have not asked for their cores, show that
 * steps start here which do not know of berth: its line is missing in their plugstack.conf. Then no
 * step stands on cores of nobody (stand_idle), until berth.conf is read again. */
#define STRANGERS_UNASKED_MAX 3

/* Returns the i-th of all that are known, counting or not; NULL: there are not so many. */
const struct stranger *strangers_at(const struct packer *packer, size_t i);

/* Adds the CPUs of the steps that count. */
void strangers_add_steps(const struct packer *packer, struct cpus *cpus);

#endif
