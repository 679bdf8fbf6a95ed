/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calibrate - between the files of `berthctl calibrate`. */
#ifndef BERTH_CLI_CALIBRATE_CALIBRATE_H
#define BERTH_CLI_CALIBRATE_CALIBRATE_H

#include <stdio.h>

#include "packer/machine/profile.h"

/* Prints a machine profile for people. */
void calibrate_print(const struct machine_profile *profile, FILE *out);

#endif
