/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/metrics/listen.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "packer/conf/conf.h"
#include "packer/system/capabilities.h"
#include "packer/system/unix_socket.h"

static int listen_port(const struct metrics_address *address, const char *name,
                       struct berth_error *err)
{
    int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
        bind(fd, &address->any, address->length) == 0)
        return fd;
    berth_error_set(err, "%s: %s%s", name, strerror(errno),
                    errno != EAFNOSUPPORT                ? ""
                    : address->any.sa_family == AF_INET6 ? " (AF_INET6)"
                                                         : " (AF_INET)");
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Until it has its group, only root may connect. */
static int listen_unix(const char *path, const struct conf *conf, struct berth_error *err)
{
    struct metrics_readers readers;
    int fd;

    if (metrics_readers(conf, &readers, err) < 0)
        return -1;
    fd = unix_socket_bind(path, 0600, err);
    if (fd < 0)
        return -1;
    if (readers.everybody ? chmod(path, 0666) == 0
                          : chown(path, 0, readers.group) == 0 && chmod(path, 0660) == 0)
        return fd;
    berth_error_set(err, "%s: for group '%s': %s", path, conf->metrics_group,
                    capabilities_why(CAPABILITY(CAP_CHOWN), errno));
    close(fd);
    unlink(path);
    return -1;
}

int metrics_listen(const struct metrics_address *address, const struct conf *conf,
                   struct berth_error *err)
{
    if (address->where == METRICS_UNIX)
        return listen_unix(((const struct sockaddr_un *)&address->storage)->sun_path, conf, err);
    return listen_port(address, conf->metrics, err);
}

int metrics_readers(const struct conf *conf, struct metrics_readers *readers,
                    struct berth_error *err)
{
    struct group entry, *found = NULL;
    char room[16384];

    *readers = (struct metrics_readers){.everybody = strcmp(conf->metrics_group, "*") == 0};
    if (readers->everybody || !conf->metrics_group[0])
        return 0;
    if (getgrnam_r(conf->metrics_group, &entry, room, sizeof(room), &found) != 0 || !found)
        return berth_error_set(err, "readers: there is no group '%s'", conf->metrics_group);
    readers->group = entry.gr_gid;
    return 0;
}
