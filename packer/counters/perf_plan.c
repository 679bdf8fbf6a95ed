/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_plan - see perf_plan.h.
 *
 * That the kernel opens a group does not mean that it is ever counted: what others hold for good
 * (the NMI watchdog's cycles, a hypervisor's share) is not looked at then. So a group is good when
 * it has counted for a moment. */
#include "packer/counters/perf_plan.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/base/file.h"
#include "packer/system/capabilities.h"
#include "packer/system/perf_open.h"

#define TRY_NS 20000000 /* how long a group may take to be counted once: five turns */

const enum counter perf_software[PERF_SOFTWARE] = {COUNTER_CPU_NS, COUNTER_SWITCHES,
                                                   COUNTER_MIGRATIONS, COUNTER_FAULTS};

static const uint64_t software_config[PERF_SOFTWARE] = {
    PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS,
    PERF_COUNT_SW_PAGE_FAULTS};

/* How every event is read: with its group, and with the times that it is scaled by. */
static struct perf_event_attr prepare(const struct perf_event_attr *event, bool leads)
{
    struct perf_event_attr attr = *event;

    attr.size = sizeof(attr);
    attr.read_format =
        PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attr.disabled = leads;
    attr.exclude_hv = attr.type != PERF_TYPE_SOFTWARE;
    return attr;
}

static int open_self(const struct perf_event_attr *attr, int leader)
{
    return perf_open(attr, 0, -1, leader, 0);
}

static int explain(struct berth_error *err)
{
    switch (errno) {
    case ENOSYS:
        return berth_error_set(err, "the kernel has no perf_event_open");
    case EACCES:
    case EPERM:
        return berth_error_set(err, "perf_event_open: %s",
                               capabilities_why(CAPABILITY(CAP_PERFMON), errno));
    default:
        return berth_error_set(err, "perf_event_open: %s", strerror(errno));
    }
}

int perf_plan_software(struct perf_plan *plan, struct berth_error *err)
{
    memset(plan, 0, sizeof(*plan));
    for (size_t i = 0; i < PERF_SOFTWARE; i++) {
        struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE, .config = software_config[i]};
        int fd;

        plan->event[i] = prepare(&event, i == 0);
        fd = open_self(&plan->event[i], -1);
        if (fd < 0)
            return explain(err);
        close(fd);
    }
    plan->n = plan->first[1] = PERF_SOFTWARE;
    plan->groups = 1;
    return 0;
}

/* ---- hardware events ---- */

#define DEVICES "/sys/bus/event_source/devices"

/* Does the file of an event ("event=0x0036") have this code? */
static bool has_code(const struct rootfs *root, const char *path, uint64_t code)
{
    char *text = rootfs_read(root, path);
    unsigned long long listed;
    bool has = text && sscanf(text, "event=%llx", &listed) == 1 && listed == code;

    free(text);
    return has;
}

/* Does the Arm PMU of that name list the event? */
static bool pmu_lists(const struct rootfs *root, const char *pmu, uint64_t code)
{
    char dir[384], path[672], **name;
    bool lists = false;

    snprintf(dir, sizeof(dir), DEVICES "/%.255s/events", pmu);
    name = rootfs_list(root, dir);
    for (size_t i = 0; name && name[i] && !lists; i++) {
        snprintf(path, sizeof(path), "%s/%.255s", dir, name[i]);
        lists = has_code(root, path, code);
    }
    rootfs_list_free(name);
    return lists;
}

bool perf_plan_listed(const struct perf_event_attr *attr, const struct rootfs *root)
{
    char **name = attr->type == PERF_TYPE_RAW ? rootfs_list(root, DEVICES) : NULL;
    bool arm = false, lists = false;

    for (size_t i = 0; name && name[i]; i++)
        if (strncmp(name[i], "armv8", strlen("armv8")) == 0) {
            arm = true;
            lists = lists || pmu_lists(root, name[i], attr->config & 0xffff);
        }
    rootfs_list_free(name);
    return lists || !arm;
}

bool perf_plan_usable(const struct perf_event_attr *attr, const struct rootfs *root)
{
    struct perf_event_attr event = prepare(attr, true);
    int fd;

    if (root && !perf_plan_listed(attr, root)) {
        errno = ENOENT;
        return false;
    }
    fd = open_self(&event, -1);
    file_close(fd);
    return fd >= 0;
}

/* Is the group of this leader counted, at least now and then? */
static bool gets_a_turn(int leader)
{
    uint64_t value[3 + PERF_EVENTS_MAX] = {0}, until = clock_ns(CLOCK_MONOTONIC) + TRY_NS;

    if (ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) < 0)
        return false;
    do { /* value: number, time enabled, time running, .. */
        if (read(leader, value, sizeof(value)) < 0)
            return false;
    } while (value[2] == 0 && clock_ns(CLOCK_MONOTONIC) < until);
    return value[2] > 0;
}

/* Can these n events be counted at once? */
static bool fits(const struct perf_event_attr *event, size_t n)
{
    int fd[PERF_EVENTS_MAX];
    size_t opened = 0;
    bool good;

    while (opened < n) {
        struct perf_event_attr attr = prepare(&event[opened], opened == 0);

        fd[opened] = open_self(&attr, opened ? fd[0] : -1);
        if (fd[opened] < 0)
            break;
        opened++;
    }
    good = opened == n && gets_a_turn(fd[0]);
    while (opened > 0)
        close(fd[--opened]);
    return good;
}

void perf_plan_hardware(struct perf_plan *plan, const struct perf_events *events)
{
    for (size_t i = 0; i < events->n; i++) {
        size_t first = plan->groups > 1 ? plan->first[plan->groups - 1] : plan->n;
        bool leads;

        plan->event[plan->n] = events->event[i];
        leads = first == plan->n || !fits(&plan->event[first], plan->n + 1 - first);
        plan->event[plan->n] = prepare(&events->event[i], leads);
        plan->groups += leads;
        plan->first[plan->groups] = ++plan->n;
    }
}
