/* SPDX-License-Identifier: GPL-2.0-or-later */
/* standing - in which domain a thread stands, also one that is no worker. */
#ifndef BERTH_TASKS_STANDING_H
#define BERTH_TASKS_STANDING_H

/* Returns the domain of the calling thread, as workers have them: of its pool, or of the CPU on
 * which it runs, asked for once in some calls; 0: not known. Keeps errno, and costs a few ns. */
unsigned standing_domain(void);

/* Returns how many CPUs the step has by its page, or the process may use; 0: not known. */
unsigned standing_cpus(void);

#endif
