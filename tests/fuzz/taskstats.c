/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target of the kernel's answers by netlink. The input is a few datagrams, each behind two
 * bytes of its length; a socket pair stands for the kernel. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "packer/system/taskstats.h"
#include "tests/fuzz/fuzz.h"

#define PIDS 4
#define ROOM (32 * 2048) /* as taskstats_open allocates */

static const char *const seeds[] = {"", "ab", NULL};

/* Puts the datagrams where the answers are waited for. */
static void answer(int fd, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < PIDS && size >= 2; i++) {
        size_t length = data[0] | (size_t)data[1] << 8;

        length = length < size - 2 ? length : size - 2;
        if (send(fd, data + 2, length, MSG_DONTWAIT) < 0)
            return;
        data += 2 + length;
        size -= 2 + length;
    }
}

static void one(const uint8_t *data, size_t size)
{
    static const pid_t pid[PIDS] = {1, 2, 3, 4};
    struct taskstats_link link = {.family = 0x6261};
    struct taskstats_usage usage[PIDS];
    int pair[2];

    fuzz_assert(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
    link.fd = pair[0];
    link.answers = malloc(ROOM);
    answer(pair[1], data, size);
    taskstats_read(&link, pid, PIDS, usage, NULL);
    fuzz_assert(link.sequence == PIDS);
    for (size_t i = 0; i < PIDS; i++)
        fuzz_assert(usage[i].known || (!usage[i].run_delay_ns && !usage[i].switches));
    taskstats_close(&link);
    close(pair[1]);
}

const struct fuzz_target fuzz_taskstats = {.name = "taskstats", .one = one, .seed = seeds};
