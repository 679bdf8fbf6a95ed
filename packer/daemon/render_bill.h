/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render_bill - what the node used of energy, as JSON (berth-protocol(7)). */
#ifndef BERTH_DAEMON_RENDER_BILL_H
#define BERTH_DAEMON_RENDER_BILL_H

#include <json-c/json.h>

#include "packer/steps/packer.h"

/* [{"domain","package","source","metered_j","steps_j","idle_j","unmanaged_j","gaps",
 * "idle_energy"}] for each zone of the node. */
struct json_object *render_accounts(const struct packer *packer);

#endif
