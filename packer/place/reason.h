/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reason - why a step stands where it stands, in a line for people. */
#ifndef BERTH_PLACE_REASON_H
#define BERTH_PLACE_REASON_H

#include <stddef.h>

#include "packer/steps/registry.h"

/* Writes into text[size] by which policy the step was placed and what that expects of the place,
 * or why no policy has placed it. */
void place_reason(const struct step *step, char *text, size_t size);

#endif
