/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stored - what users ask of the profile store, whose file only root may open: each sees, puts and
 * forgets his own rows. */
#ifndef BERTH_DAEMON_STORED_H
#define BERTH_DAEMON_STORED_H

#include "packer/serve/reply.h"

/* Says that the store can be read; then gives its rows one by one. Of a key that was asked for, and
 * of which neither the user nor root has rows, the median of others', where the site shares it. */
int stored_begin(struct reply *reply, struct berth_error *err);
struct json_object *stored_tell(struct reply *reply, const char **name);

/* Each orders what is asked for. Returns 0, or -1 and err. */
int stored_put(struct reply *reply, struct berth_error *err);
int stored_forget(struct reply *reply, struct berth_error *err);

/* Tells how many rows are forgotten. */
char *stored_tell_forgotten(struct reply *reply);

#endif
