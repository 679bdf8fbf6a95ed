/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mariadb_box - a MariaDB server of the test's own: in a temporary folder, on a Unix socket only,
 * with an empty database "berth". */
#ifndef BERTH_TESTS_MARIADB_BOX_H
#define BERTH_TESTS_MARIADB_BOX_H

#include <stdbool.h>
#include <sys/types.h>

struct mariadb_box {
    char folder[64];
    char url[128]; /* mariadb:///berth?socket=.. */
    pid_t pid;     /* 0: it does not run */
};

/* Make and start one. False, with the reason: there is no MariaDB here, or it does not start; then
 * nothing is left behind. */
bool mariadb_box_open(struct mariadb_box *box, char why[256]);

/* Stop it, in good order or as a crash would, and start it again on its data. */
void mariadb_box_stop(struct mariadb_box *box, bool crash);
bool mariadb_box_start(struct mariadb_box *box, char why[256]);

/* Stop it and remove its folder. */
void mariadb_box_close(struct mariadb_box *box);

#endif
