/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bound_process - a process of this machine that does nothing on the CPUs it is bound to: who reads
 * the affinity of a step's threads reads this one's. To be started before a fixture is opened: it
 * would keep the journal locked. */
#ifndef BERTH_TESTS_BOUND_PROCESS_H
#define BERTH_TESTS_BOUND_PROCESS_H

#include <sys/types.h>

/* Starts one, binds it to other CPUs, ends it; fails the test where that cannot be. */
pid_t bound_process_start(const char *cpus);
void bound_process_bind(pid_t pid, const char *cpus);
void bound_process_end(pid_t pid);

#endif
