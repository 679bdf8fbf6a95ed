/* SPDX-License-Identifier: GPL-2.0-or-later */
/* imc - the memory traffic of each package, whoever's it is, as Intel's memory controllers count
 * it: the kernel's PMUs uncore_imc_N (CAS commands of each channel, servers) or uncore_imc (data
 * reads and writes, clients), else uncore_imc_free_running_N. Linux: arch/x86/events/intel/
 * uncore_snbep.c, uncore_snb.c. */
#ifndef BERTH_BOARD_IMC_H
#define BERTH_BOARD_IMC_H

#include <linux/perf_event.h>

#include "packer/machine/topo.h"
#include "packer/system/rootfs.h"

struct imc;

/* Opens an event on a CPU, in the group of `leader` (-1: a new one). Returns the descriptor, or -1
 * with errno. */
typedef int imc_opener(const struct perf_event_attr *attr, int cpu, int leader, void *arg);

/* Begins to count. open_event NULL: the kernel is asked, where root is this machine's. 0; or -1 and
 * err: no traffic is counted here. */
int imc_open(struct imc **imc, const struct rootfs *root, const struct topo *topo,
             imc_opener *open_event, void *arg, struct berth_error *err);
void imc_close(struct imc *imc); /* NULL is fine */

/* Reads all now, at_s (CLOCK_MONOTONIC). traffic: [topo->packages] bytes per second since the last
 * reading, read and written; NAN not known, as where one of a package's controllers says nothing.
 */
void imc_read(struct imc *imc, double at_s, double *traffic);

#endif
