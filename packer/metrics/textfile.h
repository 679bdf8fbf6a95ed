/* SPDX-License-Identifier: GPL-2.0-or-later */
/* textfile - keeps the page as a file for node_exporter's textfile collector.
 *
 * It is made every metrics_interval in the event loop, out of memory, and written by a thread: to
 * PATH.new, which is then renamed, so that nobody reads half of it. The file goes with berthd: one
 * that is there is of a berthd that runs, or was killed. */
#ifndef BERTH_METRICS_TEXTFILE_H
#define BERTH_METRICS_TEXTFILE_H

#include <event2/event.h>

#include "packer/steps/packer.h"

struct metrics_textfile;

/* Starts it; *out is NULL where conf.metrics_textfile is empty. The first page is handed to the
 * thread before this returns. 0, or -1 and err. */
int metrics_textfile_open(struct metrics_textfile **out, struct event_base *base,
                          const struct packer *packer, struct berth_error *err);
void metrics_textfile_close(struct metrics_textfile *file); /* NULL is fine; removes the file */

#endif
