/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preload - a task has libberth_rt.so loaded before its libraries, and finds its step's page.
 *
 * What a step's environment has of both is inherited where srun was called inside another step: it
 * is that step's, and of no use here. */
#ifndef BERTH_PRELOAD_H
#define BERTH_PRELOAD_H

#include <slurm/spank.h>

#include "packer/wire/wire.h"

/* Writes LD_PRELOAD of a task into out: what it has inherited, in its order, without any
 * libberth_rt.so, and then the library (a path, or NULL for none). Returns 0; or -1 where that is
 * longer than size bytes, and leaves out as it was. */
int preload_list(const char *inherited, const char *library, char *out, size_t size);

/* In task_init: gives the task the page (a path) and the library, which is beside the plugin, and
 * tells AddressSanitizer to bear that; or,
 * where page is NULL, takes away what it has inherited of them. Returns 0, or -1 and err, when the
 * task has no page. */
int preload_task(spank_t spank, const char *page, struct berth_error *err);

#endif
