/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/system/unix_socket.h"

#include <errno.h>
#include <libgen.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "packer/base/file.h"

/* Removes what a dead daemon left; refuses when a live one answers. */
static int clear_stale(const struct sockaddr_un *address, struct berth_error *err)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct stat st;
    int alive = fd >= 0 && (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ||
                            errno == EAGAIN); /* a daemon with more to do than it can take */

    file_close(fd);
    if (alive)
        return berth_error_set(err, "%s: another berthd answers there", address->sun_path);
    if (lstat(address->sun_path, &st) == 0 && !S_ISSOCK(st.st_mode))
        return berth_error_set(err, "%s: there is something that is no socket", address->sun_path);
    if (unlink(address->sun_path) < 0 && errno != ENOENT)
        return berth_error_set(err, "%s: %s", address->sun_path, strerror(errno));
    return 0;
}

int unix_socket_bind(const char *path, mode_t mode, struct berth_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char folder[sizeof(address.sun_path)];
    int fd;

    if (strlen(path) >= sizeof(address.sun_path))
        return berth_error_set(err, "%s: %s", strerror(ENAMETOOLONG), path);
    strcpy(address.sun_path, path);
    memcpy(folder, address.sun_path, sizeof(folder));
    if (file_folder(dirname(folder), 0755) < 0)
        return berth_error_set(err, "%s: %s", path, strerror(errno));
    if (clear_stale(&address, err) < 0)
        return -1;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        chmod(path, mode) < 0) {
        berth_error_set(err, "%s: %s", path, strerror(errno));
        file_close(fd);
        return -1;
    }
    return fd;
}

#define BACKLOG                                                                                    \
    4096 /* what slurmstepds say of the steps that start while berthd is stopped is heard when it  \
            goes on */

int unix_socket_listen(const char *path, mode_t mode, struct unix_socket_file *file,
                       struct berth_error *err)
{
    int fd = unix_socket_bind(path, mode, err);
    struct stat st;

    if (fd < 0)
        return -1;
    if (listen(fd, BACKLOG) == 0 && lstat(path, &st) == 0) {
        *file = (struct unix_socket_file){st.st_dev, st.st_ino};
        return fd;
    }
    berth_error_set(err, "%s: cannot listen: %s", path, strerror(errno));
    close(fd);
    return -1;
}

bool unix_socket_is_at(const char *path, const struct unix_socket_file *file)
{
    struct stat st;

    return lstat(path, &st) == 0 && st.st_dev == file->dev && st.st_ino == file->ino;
}

uid_t unix_socket_peer(int fd)
{
    struct ucred peer;
    socklen_t length = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.uid : (uid_t)-1;
}
