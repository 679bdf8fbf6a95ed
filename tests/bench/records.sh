# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# records - records of ended steps, for a ledger to be filled with (tests/unit/common/ledger_fill); sourced by benchmarks.

# records N: 30 days from 2026-10-01 on, a job with a batch step and up to 3 others, 100 users on 64 nodes of 32 cores.
records() {
    awk -v n="$1" 'BEGIN {
    srand(7)
    start = 1790812800
    for (i = 0; i < n; i++) {
        if (left-- <= 0) { job++; step = -5; left = int(rand() * 4); user = int(rand() * 100); node = int(rand() * 64); cpu = int(rand() * 4) * 8 }
        number = step < 0 ? 4294967296 + step : step
        step = step < 0 ? 0 : step + 1
        at = int(start + i * 2592000 / n)
        elapsed = int(rand() * 7200) + 1
        uj = int(rand() * 80 * elapsed * 1e6)
        printf "{\"cluster\":\"c\",\"node\":\"n%d\",\"job\":%d,\"step\":%d,\"nodes\":1,\"uid\":%d,\"gid\":100,\"user\":\"user%d\",\"account\":\"a%d\",\"qos\":\"normal\",\"partition\":\"main\",\"job_name\":\"solve%d\",\"program\":\"solver\",\"start\":%d,\"end\":%d,\"elapsed_s\":%d.25,\"exit_status\":%d,\"state\":\"placed\",\"tasks\":8,\"cores_given\":8,\"cores_used\":8,\"home\":\"%d-%d\",\"cpus\":\"%d-%d\",\"policy\":\"di\",\"moves\":1,\"user_s\":%d.5,\"system_s\":1.25,\"maxrss_kib\":123456,\"instructions\":%.0f,\"llc_misses\":%.0f,\"uj_package\":%.0f,\"uj_dram\":%.0f,\"counters_source\":\"perf\",\"energy_source\":\"rapl-powercap\",\"power_w\":%.6f,\"slowdown_home\":0.375,\"slowdown_predicted\":0.25,\"slowdown_observed\":0.0625,\"slowdown_source\":\"contend\"}\n", node, job, number, 1000 + user, user, user % 9, job % 20, at, at + elapsed, elapsed, rand() < 0.1 ? 256 : 0, cpu, cpu + 7, cpu, cpu + 7, elapsed * 7, elapsed * 1e9, elapsed * 1e6, uj, uj / 8, uj * 1.125e-6 / elapsed
    }
    }'
}
