/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render_course - how fast a step was over its life, and what happened beside it, as JSON
 * (berth-protocol(7)). */
#ifndef BERTH_DAEMON_RENDER_COURSE_H
#define BERTH_DAEMON_RENDER_COURSE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <sys/types.h>

#include "packer/steps/registry.h"

/* Returns {"from_s","to_s","instructions_s","cpu","events"}: lists as long as there are points, and
 * what happened. NULL where no window has ended. With `hidden` the viewer is told nothing of
 * others' steps, else not which they are. */
struct json_object *render_course(const struct step *step, bool hidden, uid_t viewer);

#endif
