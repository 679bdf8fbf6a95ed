/* SPDX-License-Identifier: GPL-2.0-or-later */
/* propose - the messages of a site's own policy (REEact, Wang 2015, chapter 7): a program that asks
 * for each core how hot and how fast it is and who stands there (cores), and proposes one change of
 * one step at a time (propose). berthd is REEact's manager: it checks each proposal by its own
 * rules, journals and verifies what it does, and undoes it when the step ends.
 *
 * Root's programs may, and those whom berth.conf grants it, and no more of their proposals are
 * carried out in a minute than berthd may move steps for others' sake (replace_limit). One that is
 * refused says why in one line. */
#ifndef BERTH_DAEMON_PROPOSE_H
#define BERTH_DAEMON_PROPOSE_H

#include "packer/serve/reply.h"

/* Carries out what reply->request.propose says. 0, or -1 and err: why not. */
int propose_act(struct reply *reply, struct berth_error *err);

/* Begins, and goes on with, what is told of each core. */
int cores_begin(struct reply *reply, struct berth_error *err);
struct json_object *cores_tell(struct reply *reply, const char **name);

#endif
