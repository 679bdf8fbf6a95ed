/* SPDX-License-Identifier: GPL-2.0-or-later */
/* users - the names of users, from whatever directory service the site has, within a bounded time.
 *
 * A lookup may take seconds, or for ever where a server does not answer, and a page must not wait
 * for it. A thread looks the names up, and each is asked for once; who is not known in time is
 * shown by number. */
#ifndef BERTH_CLI_COMMON_USERS_H
#define BERTH_CLI_COMMON_USERS_H

#include <stdint.h>

#define USERS_NAME_MAX 33 /* useradd(8): 32 bytes */
#define USERS_WAIT_S 1    /* all waiting of one program together */

/* Fills in the user's name, or his number where nobody knows a name (yet). */
void users_name(uint32_t uid, char name[USERS_NAME_MAX]);

#endif
