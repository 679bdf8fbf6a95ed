/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listen - opens the socket where metrics are asked for, and knows who may read them.
 *
 * berthd speaks to its own node only: a Unix socket, or a port of the loopback interface. Everybody
 * who is logged in can reach a port, so the series of steps, which are of all users, are not there
 * unless everybody may read them; the socket and the text file have a group. */
#ifndef BERTH_METRICS_LISTEN_H
#define BERTH_METRICS_LISTEN_H

#include <stdbool.h>
#include <sys/types.h>

#include "packer/base/error.h"
#include "packer/conf/address.h"

struct conf;

/* Returns a socket that listens there, or -1 and err. A Unix socket's folder is made where it is
 * missing. */
int metrics_listen(const struct metrics_address *address, const struct conf *conf,
                   struct berth_error *err);

struct metrics_readers {
    bool everybody; /* conf.metrics_group is "*" */
    gid_t group;    /* else this one; root's, where none is named */
};

/* Finds who may read other users' steps. 0, or -1 and err: there is no such group. */
int metrics_readers(const struct conf *conf, struct metrics_readers *readers,
                    struct berth_error *err);

#endif
