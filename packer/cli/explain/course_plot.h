/* SPDX-License-Identifier: GPL-2.0-or-later */
/* course_plot - `berthctl job --plot`: how fast a step was over its life, as a curve of text, with
 * who came beside it, who left, and when berth moved it. */
#ifndef BERTH_CLI_EXPLAIN_COURSE_PLOT_H
#define BERTH_CLI_EXPLAIN_COURSE_PLOT_H

#include <json-c/json.h>

#include "packer/cli/common/screen.h"

/* Puts the curve of a step, as `explain` answers it. Where berthd keeps none of it a line says why.
 * The curve is as wide as the screen, 80 columns where that has no limit. */
void course_plot(struct screen *screen, struct json_object *step);

#endif
