/* SPDX-License-Identifier: GPL-2.0-or-later */
/* error - see error.h */
#include "packer/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int berth_error_set(struct berth_error *err, const char *format, ...)
{
    int saved = errno;
    va_list args;

    if (err) {
        va_start(args, format);
        vsnprintf(err->text, sizeof(err->text), format, args);
        va_end(args);
    }
    errno = saved;
    return -1;
}

int berth_no_memory(struct berth_error *err)
{
    return berth_error_set(err, "out of memory");
}

int berth_error_before(struct berth_error *err, const char *format, ...)
{
    struct berth_error why;
    int saved = errno, used;
    va_list args;

    if (err) {
        why = *err;
        va_start(args, format);
        used = vsnprintf(err->text, sizeof(err->text), format, args);
        va_end(args);
        if (used >= 0 && (size_t)used < sizeof(err->text))
            snprintf(err->text + used, sizeof(err->text) - (size_t)used, "%s", why.text);
    }
    errno = saved;
    return -1;
}
