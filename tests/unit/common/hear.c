/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hear - see hear.h */
#include "tests/unit/common/hear.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

char *hear(int fd, const char *until)
{
    size_t used = 0, room = 1 << 16;
    char *text = malloc(room);
    ssize_t got;

    text[0] = '\0';
    for (;;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};

        if (poll(&wait, 1, HEAR_PATIENCE_MS) != 1)
            fail_msg("no answer; so far: %s", text);
        got = recv(fd, text + used, room - used - 1, 0);
        if (got <= 0)
            break;
        used += (size_t)got;
        text[used] = '\0';
        if (until && used >= strlen(until) && strcmp(text + used - strlen(until), until) == 0)
            return text;
        if (room - used < 4096)
            text = realloc(text, room *= 2);
    }
    if (until)
        fail_msg("the server hung up; so far: %s", text);
    return text;
}
