/* SPDX-License-Identifier: GPL-2.0-or-later */
/* metrics_address - the value of `metrics` in berth.conf: where metrics are served. */
#ifndef BERTH_CONF_ADDRESS_H
#define BERTH_CONF_ADDRESS_H

#include <sys/socket.h>

#include "packer/base/error.h"

enum metrics_where { METRICS_OFF, METRICS_UNIX, METRICS_PORT };

struct metrics_address {
    enum metrics_where where;
    union {
        struct sockaddr_storage storage;
        struct sockaddr any;
    };
    socklen_t length;
};

/* Reads "off", "unix:PATH", "127.0.0.1:PORT" or "[::1]:PORT" (port 0: any). Returns 0, or -1 and
 * err; an address that is not of the loopback interface is refused. */
int metrics_address(const char *text, struct metrics_address *address, struct berth_error *err);

#endif
