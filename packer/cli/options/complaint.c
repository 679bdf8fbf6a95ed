/* SPDX-License-Identifier: GPL-2.0-or-later */
/* complaint - see complaint.h */
#include "packer/cli/options/complaint.h"

#include <stdarg.h>
#include <stdio.h>

static const char *program = "berthctl";

void ctl_program(const char *name)
{
    program = name;
}

const char *ctl_program_name(void)
{
    return program;
}

int ctl_fail(const char *what, const char *format, ...)
{
    va_list args;

    fprintf(stderr, "%s: %s: ", program, what);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return 1;
}

int ctl_usage(const char *verb, const char *format, ...)
{
    va_list args;

    fprintf(stderr, "%s: %s%s", program, verb, *verb ? ": " : "");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, " (try '%s %s%s--help')\n", program, verb, *verb ? " " : "");
    return 2;
}
