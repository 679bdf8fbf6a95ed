/* SPDX-License-Identifier: GPL-2.0-or-later */
/* refuse - what the hand does not do, it says why. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "packer/hand/hand_impl.h"

int hand_refuse(struct hand_asked *asked, const char *format, ...)
{
    struct berth_error *why = &asked->answer->why;
    int n = snprintf(why->text, sizeof(why->text), "the hand refuses: ");
    va_list args;

    va_start(args, format);
    vsnprintf(why->text + n, sizeof(why->text) - (size_t)n, format, args);
    va_end(args);
    errno = EPERM;
    return -1;
}
