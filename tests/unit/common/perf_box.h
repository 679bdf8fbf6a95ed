/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_box - for the tests of perf: can events be counted by cgroup here, and processes to count.
 */
#ifndef BERTH_TESTS_PERF_BOX_H
#define BERTH_TESTS_PERF_BOX_H

#include <stdbool.h>
#include <sys/types.h>

#include "packer/counters/perf_cgroup.h"

/* Fill the hierarchy of this machine. False, and why is printed, where it cannot be used: no root,
 * no perf_event_open, no such mount. */
bool perf_box_usable(const struct rootfs *root, struct perf_hierarchy *hierarchy);

#define NEED_PERF(root, hierarchy)                                                                 \
    do {                                                                                           \
        if (!perf_box_usable(root, hierarchy))                                                     \
            skip();                                                                                \
    } while (0)

/* A process on the CPU that computes (or sleeps), with a child that does the same where asked. It
 * ends with the test. */
pid_t perf_box_start(size_t cpu, bool busy, bool with_child);

/* Kill and reap it; its child with it. */
void perf_box_stop(pid_t pid);

#endif
