/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/reuse/watchpoint.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/hw_breakpoint.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/system/capabilities.h"
#include "packer/system/perf_open.h"

#define FORMAT (PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define GROUP_MAX 16 /* the clock, and more watchpoints than there are debug registers */

/* What a read of the group gives, and a trap's record after its time. */
struct group {
    uint64_t n, enabled_ns, running_ns, count[GROUP_MAX]; /* the clock is count[0] */
};

int watch_clock_open(struct watch_clock *clock, const struct perf_event_attr *attr, pid_t tid,
                     struct berth_error *err)
{
    struct perf_event_attr event = {.type = attr->type,
                                    .config = attr->config,
                                    .config1 = attr->config1,
                                    .config2 = attr->config2,
                                    .size = sizeof(event),
                                    .read_format = FORMAT,
                                    .pinned = 1,
                                    .exclude_hv = attr->type != PERF_TYPE_SOFTWARE,
                                    .use_clockid = 1,
                                    .clockid = CLOCK_MONOTONIC};

    *clock = (struct watch_clock){.tid = tid, .fd = perf_open(&event, tid, -1, -1, 0)};
    if (clock->fd < 0)
        return berth_error_set(err, "perf_event_open of thread %d: %s", (int)tid,
                               capabilities_why(CAPABILITY(CAP_PERFMON), errno));
    return 0;
}

void watch_clock_close(struct watch_clock *clock)
{
    close(clock->fd);
    *clock = (struct watch_clock){.fd = -1};
}

int watch_clock_read(const struct watch_clock *clock, uint64_t *count)
{
    struct group group;

    if (read(clock->fd, &group, sizeof(group)) <= 0 || group.enabled_ns != group.running_ns)
        return -1;
    *count = group.count[0];
    return 0;
}

static int fail(struct watchpoint *point, const char *what, struct berth_error *err)
{
    berth_error_set(err, "%s of a watchpoint: %s", what,
                    errno == ENOSPC ? "no debug register is free" : strerror(errno));
    watchpoint_close(point);
    return -1;
}

int watchpoint_open(struct watchpoint *point, const struct watch_clock *clock, uint64_t address,
                    unsigned traps, struct berth_error *err)
{
    struct perf_event_attr event = {.type = PERF_TYPE_BREAKPOINT,
                                    .size = sizeof(event),
                                    .bp_type = HW_BREAKPOINT_RW,
                                    .bp_addr = address & ~(uint64_t)7,
                                    .bp_len = HW_BREAKPOINT_LEN_8,
                                    .sample_period = 1,
                                    .sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_READ,
                                    .read_format = FORMAT,
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1,
                                    .disabled = 1,
                                    .use_clockid = 1,
                                    .clockid = CLOCK_MONOTONIC};

    *point = (struct watchpoint){.fd = perf_open(&event, clock->tid, -1, clock->fd, 0)};
    if (point->fd < 0)
        return fail(point, "perf_event_open", err);
    if (perf_ring_map(&point->ring, point->fd, 0) < 0)
        return fail(point, "mmap", err);
    if (ioctl(point->fd, PERF_EVENT_IOC_REFRESH, traps) < 0)
        return fail(point, "arming", err);
    return 0;
}

void watchpoint_close(struct watchpoint *point)
{
    perf_ring_unmap(&point->ring);
    file_close(point->fd);
    *point = (struct watchpoint){.fd = -1};
}

bool watchpoint_next(struct watchpoint *point, struct watch_trap *trap)
{
    struct {
        struct perf_event_header header;
        uint64_t time_ns;
        struct group group;
    } record;
    size_t size;

    while ((size = perf_ring_next(&point->ring, &record, sizeof(record))) > 0) {
        if (record.header.type != PERF_RECORD_SAMPLE ||
            size < offsetof(struct group, count[1]) + sizeof(record.header) + sizeof(uint64_t))
            continue;
        *trap = (struct watch_trap){record.time_ns, record.group.count[0]};
        return true;
    }
    return false;
}

bool watchpoint_over(const struct watchpoint *point)
{
    struct pollfd ready = {.fd = point->fd};

    return poll(&ready, 1, 0) > 0 && ready.revents & (POLLHUP | POLLERR);
}
