/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wait - what each program of this folder in C does at its beginning and at its end: it says
 * "begun PID" and waits for FOLDER/now; it says "done" and waits for FOLDER/end. */
#ifndef TESTS_PROGRAMS_WAIT_H
#define TESTS_PROGRAMS_WAIT_H

#include <stdio.h>
#include <unistd.h>

/* Until the file exists, or two minutes are over. */
static void wait_for_file(const char *folder, const char *name)
{
    char path[4096];

    fflush(stdout);
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    for (int i = 0; i < 12000 && access(path, F_OK) < 0; i++)
        usleep(10000);
}

static void begin(const char *folder)
{
    printf("begun %d\n", (int)getpid());
    wait_for_file(folder, "now");
}

static void done(const char *folder)
{
    puts("done");
    wait_for_file(folder, "end");
}

#endif
