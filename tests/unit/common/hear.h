/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hear - reads what a server says to a test. */
#ifndef BERTH_TESTS_HEAR_H
#define BERTH_TESTS_HEAR_H

#define HEAR_PATIENCE_MS 30000 /* a hung server is a failure, a slow machine is not */

/* Reads until the text ends with `until` (NULL: until the server hangs up). Returns it with a NUL
 * behind; the caller frees it. Fails the test when nothing comes. */
char *hear(int fd, const char *until);

#endif
