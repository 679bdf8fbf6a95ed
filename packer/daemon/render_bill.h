/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render_bill - what a step, and the node, used of energy, as JSON (berth-protocol(7)). */
#ifndef BERTH_DAEMON_RENDER_BILL_H
#define BERTH_DAEMON_RENDER_BILL_H

#include <json-c/json.h>

#include "packer/steps/packer.h"

/* {"energy_j","package_j","dram_j","node_j","power_w","edp","edp_per_instruction","source","by",
 * "gaps","idle_j","idle_energy"}: null where it is not metered. */
struct json_object *render_bill(const struct step *step);

/* [{"domain","package","source","metered_j","steps_j","idle_j","unmanaged_j","gaps",
 * "idle_energy"}] for each zone of the node. */
struct json_object *render_accounts(const struct packer *packer);

/* Joules of the step until now; NAN not metered. */
double render_energy_j(const struct step *step);

#endif
