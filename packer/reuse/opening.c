/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opening - see opening.h */
#include "packer/reuse/opening.h"

#include <fcntl.h>
#include <stdlib.h>

#include "packer/base/file.h"

/* A descriptor of its own; -1 for none. 0, or -1: there is no other one. */
static int own(int fd, int *copy)
{
    *copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return fd >= 0 && *copy < 0 ? -1 : 0;
}

struct opening *opening_new(const struct perf_event_attr *counts, const struct watch_clock *clock,
                            uint64_t address, unsigned traps)
{
    struct opening *opening = calloc(1, sizeof(*opening));

    if (!opening)
        return NULL;
    opening->counts = *counts;
    opening->clock.tid = clock->tid;
    opening->address = address;
    opening->traps = traps;
    opening->point.fd = -1;
    if (own(clock->fd, &opening->clock.fd) == 0)
        return opening;
    opening_free(opening);
    return NULL;
}

void opening_free(void *arg)
{
    struct opening *opening = arg;

    if (opening->set)
        watchpoint_close(&opening->point);
    file_close(opening->clock.fd);
    free(opening);
}

/* In the thread. */
static void set(void *arg, struct hands_hand *hand)
{
    struct opening *opening = arg;
    struct watch_clock *clock = &opening->clock;

    (void)hand;
    if (clock->fd >= 0 || watch_clock_open(clock, &opening->counts, clock->tid, NULL) == 0)
        opening->set =
            watchpoint_open(&opening->point, clock, opening->address, opening->traps, NULL) == 0;
    if (opening->set && watch_clock_read(clock, &opening->start) < 0) {
        watchpoint_close(&opening->point);
        opening->set = false;
    }
}

const struct hands_task opening_task = {set, opening_free};
