/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/counters/counter_info.h"

#include <string.h>

const struct counter_info counter_info[COUNTERS] = {
    [COUNTER_INSTRUCTIONS] = {"instructions", "", false},
    [COUNTER_CYCLES] = {"cycles", "", false},
    [COUNTER_STALLS] = {"stalls", "", false},
    [COUNTER_LLC_ACCESSES] = {"llc_accesses", "", false},
    [COUNTER_LLC_MISSES] = {"llc_misses", "", false},
    [COUNTER_READS_LOCAL] = {"reads_local", "", false},
    [COUNTER_READS_REMOTE] = {"reads_remote", "", false},
    [COUNTER_BYTES_LOCAL] = {"bytes_local", "bytes", false},
    [COUNTER_BYTES] = {"bytes", "bytes", false},
    [COUNTER_CPU_NS] = {"cpu_ns", "ns", false},
    [COUNTER_USER_NS] = {"user_ns", "ns", false},
    [COUNTER_SYSTEM_NS] = {"system_ns", "ns", false},
    [COUNTER_RUN_DELAY_NS] = {"run_delay_ns", "ns", false},
    [COUNTER_LOCK_WAIT_NS] = {"lock_wait_ns", "ns", false},
    [COUNTER_SWITCHES] = {"switches", "", false},
    [COUNTER_VOLUNTARY] = {"voluntary", "", false},
    [COUNTER_INVOLUNTARY] = {"involuntary", "", false},
    [COUNTER_MIGRATIONS] = {"migrations", "", false},
    [COUNTER_FAULTS] = {"faults", "", false},
    [COUNTER_THREADS] = {"threads", "", true},
    [COUNTER_RSS_BYTES] = {"rss_bytes", "bytes", true},
    [COUNTER_OCCUPANCY_BYTES] = {"occupancy_bytes", "bytes", true},
};

int counter_by_name(const char *name)
{
    for (int i = 0; i < COUNTERS; i++)
        if (strcmp(counter_info[i].name, name) == 0)
            return i;
    return -1;
}
