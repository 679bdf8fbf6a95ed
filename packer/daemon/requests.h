/* SPDX-License-Identifier: GPL-2.0-or-later */
/* requests - the operations that a client can ask for: who may, and what does it. One line of the
 * table an operation. */
#ifndef BERTH_DAEMON_REQUESTS_H
#define BERTH_DAEMON_REQUESTS_H

#include "packer/serve/reply.h"

extern const struct request_op request_ops[WIRE_OPS];

#endif
