/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run_folder - see run_folder.h */
#include "packer/steps/run_folder.h"

#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "packer/base/file.h"

void run_folder(const struct packer *packer, const char *name, char path[PATH_MAX])
{
    char socket[sizeof(packer->world.conf.socket)];

    memcpy(socket, packer->world.conf.socket, sizeof(socket));
    snprintf(path, PATH_MAX, "%s/%s", dirname(socket), name);
}

/* The socket is made later, and its folder with it. */
int run_folder_make(const char *path)
{
    return file_folder(path, RUN_FOLDER_MODE) < 0 ? -1 : chmod(path, RUN_FOLDER_MODE);
}
