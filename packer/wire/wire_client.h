/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_client - asks berthd: one connection, one deadline over everything. */
#ifndef BERTH_WIRE_WIRE_CLIENT_H
#define BERTH_WIRE_WIRE_CLIENT_H

#include <sys/types.h>

struct wire_client;

/* Connects to the berthd that listens at `path`. The deadline, in seconds from now, is for all that
 * is done with this client: a server that takes no connection, hangs or trickles bytes costs no
 * more than that. Returns NULL with errno (ETIMEDOUT: the deadline). The caller closes it. */
struct wire_client *wire_client_open(const char *path, double deadline_s);
void wire_client_close(struct wire_client *client); /* NULL is fine */

/* Says whether it is root, or who we are, that listens there. 0, or -1 with errno (EPERM: neither).
 */
int wire_client_check_peer(const struct wire_client *client);

/* Sends a line, which has its newline. 0, or -1 with errno. */
int wire_client_send(struct wire_client *client, const char *line);

/* Waits for the next line. Returns its length without the newline, and *line, which stays until the
 * next call; -1 with errno: ETIMEDOUT, ECONNRESET (the connection ended before a newline), EMSGSIZE
 * (there is none in WIRE_MESSAGE_MAX bytes). */
ssize_t wire_client_receive(struct wire_client *client, const char **line);

#endif
