/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run_folder - folders beside berthd's socket. */
#ifndef BERTH_STEPS_RUN_FOLDER_H
#define BERTH_STEPS_RUN_FOLDER_H

#include <limits.h>

#include "packer/steps/packer.h"

/* Who knows a number can open what is named by it; nobody but root lists what is there. */
#define RUN_FOLDER_MODE 0711

/* Writes the path of the folder of that name. */
void run_folder(const struct packer *packer, const char *name, char path[PATH_MAX]);

/* Makes it, and that of the socket around it, or gives it its mode. 0, or -1 with errno. */
int run_folder_make(const char *path);

#endif
