/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calibrate - between the files of `berthctl calibrate`. */
#ifndef BERTH_PROBE_CALIBRATE_CALIBRATE_H
#define BERTH_PROBE_CALIBRATE_CALIBRATE_H

#include <stdio.h>

#include "packer/machine/profile.h"

/* Prints a machine profile for people. */
void calibrate_print(const struct machine_profile *profile, FILE *out);

/* Fits the coefficients of ADAPT to the runs in a file and prints them, as the model adapt takes
 * them. Returns the exit status. */
int calibrate_adapt(const char *path);

/* Runs the verb `calibrate`; argv[0] is the verb. Returns berthctl's exit status: 0 done, 1 not, 2
 * usage.
 */
int ctl_calibrate(int argc, char **argv);

#endif
