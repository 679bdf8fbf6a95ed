/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/conf/address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#define FORMS "off, unix:PATH, 127.0.0.1:PORT or [::1]:PORT expected"

static int unix_address(const char *path, struct metrics_address *address, struct berth_error *err)
{
    struct sockaddr_un *to = (struct sockaddr_un *)&address->storage;

    if (path[0] != '/')
        return berth_error_set(err, "unix:%s: an absolute path expected", path);
    if (strlen(path) >= sizeof(to->sun_path))
        return berth_error_set(err, "unix:%s: longer than %zu bytes", path,
                               sizeof(to->sun_path) - 1);
    to->sun_family = AF_UNIX;
    memcpy(to->sun_path, path, strlen(path) + 1);
    address->where = METRICS_UNIX;
    address->length = sizeof(*to);
    return 0;
}

/* Reads digits only, at most 65535. */
static bool read_port(const char *text, in_port_t *port)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);

    *port = htons((uint16_t)number);
    return isdigit((unsigned char)text[0]) && *end == '\0' && strlen(text) <= 5 && number <= 65535;
}

/* Reads "[::1]" or "127.0.0.1". Returns false where host is neither kind of address. */
static bool read_host(const char *host, in_port_t port, struct metrics_address *address,
                      bool *loopback)
{
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&address->storage;
    struct sockaddr_in *four = (struct sockaddr_in *)&address->storage;
    size_t length = strlen(host);
    char inner[INET6_ADDRSTRLEN] = "";

    if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = port;
        address->length = sizeof(*four);
        *loopback = ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
        return true;
    }
    if (length < 3 || length - 2 >= sizeof(inner) || host[0] != '[' || host[length - 1] != ']')
        return false;
    memcpy(inner, host + 1, length - 2);
    if (inet_pton(AF_INET6, inner, &six->sin6_addr) != 1)
        return false;
    six->sin6_family = AF_INET6;
    six->sin6_port = port;
    address->length = sizeof(*six);
    *loopback = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
    return true;
}

int metrics_address(const char *text, struct metrics_address *address, struct berth_error *err)
{
    const char *colon = strrchr(text, ':');
    char host[64] = "";
    in_port_t port;
    bool loopback;

    memset(address, 0, sizeof(*address));
    if (strcmp(text, "off") == 0)
        return 0;
    if (strncmp(text, "unix:", 5) == 0)
        return unix_address(text + 5, address, err);
    if (!colon || (size_t)(colon - text) >= sizeof(host) || !read_port(colon + 1, &port))
        return berth_error_set(err, "'%s': " FORMS, text);
    memcpy(host, text, (size_t)(colon - text));
    if (!read_host(host, port, address, &loopback))
        return berth_error_set(err, "'%s': " FORMS, text);
    if (!loopback)
        return berth_error_set(
            err, "'%s' is no loopback address, and other nodes are not spoken to: " FORMS, text);
    address->where = METRICS_PORT;
    return 0;
}
