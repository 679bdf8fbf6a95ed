/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/counters/counter_info.h"
#include "enum_table.h"

#include <string.h>

const struct counter_info TABLE(counter_info, COUNTERS) = {
    ROW(COUNTER_INSTRUCTIONS) = {"instructions", "", false},
    ROW(COUNTER_CYCLES) = {"cycles", "", false},
    ROW(COUNTER_STALLS) = {"stalls", "", false},
    ROW(COUNTER_LLC_ACCESSES) = {"llc_accesses", "", false},
    ROW(COUNTER_LLC_MISSES) = {"llc_misses", "", false},
    ROW(COUNTER_READS_LOCAL) = {"reads_local", "", false},
    ROW(COUNTER_READS_REMOTE) = {"reads_remote", "", false},
    ROW(COUNTER_BYTES_LOCAL) = {"bytes_local", "bytes", false},
    ROW(COUNTER_BYTES) = {"bytes", "bytes", false},
    ROW(COUNTER_CPU_NS) = {"cpu_ns", "ns", false},
    ROW(COUNTER_USER_NS) = {"user_ns", "ns", false},
    ROW(COUNTER_SYSTEM_NS) = {"system_ns", "ns", false},
    ROW(COUNTER_RUN_DELAY_NS) = {"run_delay_ns", "ns", false},
    ROW(COUNTER_LOCK_WAIT_NS) = {"lock_wait_ns", "ns", false},
    ROW(COUNTER_SWITCHES) = {"switches", "", false},
    ROW(COUNTER_VOLUNTARY) = {"voluntary", "", false},
    ROW(COUNTER_INVOLUNTARY) = {"involuntary", "", false},
    ROW(COUNTER_MIGRATIONS) = {"migrations", "", false},
    ROW(COUNTER_FAULTS) = {"faults", "", false},
    ROW(COUNTER_THREADS) = {"threads", "", true},
    ROW(COUNTER_RSS_BYTES) = {"rss_bytes", "bytes", true},
    ROW(COUNTER_OCCUPANCY_BYTES) = {"occupancy_bytes", "bytes", true},
};
TABLE_COMPLETE(counter_info);

int counter_by_name(const char *name)
{
    for (int i = 0; i < COUNTERS; i++)
        if (strcmp(counter_info[i].name, name) == 0)
            return i;
    return -1;
}
