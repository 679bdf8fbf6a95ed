/* SPDX-License-Identifier: GPL-2.0-or-later */
/* leaf_mark - what Slurm gave, written on Slurm's own folder of a step as long as berth has changed
 * its CPUs: an extended attribute of the cgroup. It lives as long as the folder, so that the change
 * can be undone by a berthd whose journal is lost. Kernels before 5.7 have no such attributes; the
 * journal alone knows there. */
#ifndef BERTH_ENFORCE_LEAF_MARK_H
#define BERTH_ENFORCE_LEAF_MARK_H

#include <stdbool.h>

#include <stddef.h>

#include "packer/base/cpus.h"
#include "packer/base/error.h"
#include "packer/wire/wire.h"

struct enforce;

/* The hand marks the folder with the CPUs that it had, one that is marked stays as it is, and
 * removes the mark (hand_ask_mark). */

/* Says whether this berthd, or one before it, has marked the folder, and reads the CPUs. */
bool leaf_mark_get(const struct enforce *enforce, const char *dir, struct cpus *cpus);

/* Gives each step folder that is marked, but for those of the steps known[n], the CPUs back that it
 * had, as far as its job has them still, and its processes with it. For `give_back` of both cgroup
 * versions. Returns how many could be given back; err has the last that could not. */
size_t leaf_mark_undo(struct enforce *enforce, const struct wire_step_id *known, size_t n,
                      struct berth_error *err);

#endif
