# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# day_eight [MOST] - a truth for tests/bench/day: eight programs, from one that disturbs everybody to one that disturbs and notices nobody; two of the
# first slow each other down by MOST of their time (.6).
day_eight() {
    awk -v most="${1:-.6}" 'BEGIN {
        printf "{\"machine\":{\"llc_bytes\":1048576,\"llc_ways\":16,\"line_bytes\":64,\"dram_gbps\":20,\"clock_ghz\":2},\"apps\":["
        for (i = 0; i < 8; i++)
            printf "%s{\"name\":\"p%d\",\"ipc\":%.3f,\"llc_apki\":%.3f,\"llc_mpki\":%.3f,\"mem_gbps\":%.3f}", i ? "," : "", i,
                0.5 + i / 6, 60 / 2 ^ i, 30 / 2 ^ i, 4 / 2 ^ i
        printf "],\"corun_degradation\":["
        for (i = 0; i < 8; i++) {
            printf "%s[", i ? "," : ""
            for (j = 0; j < 8; j++) printf "%s%.3f", j ? "," : "", most * (1 - i / 8) * (1 - j / 8)
            printf "]"
        }
        print "]}"
    }'
}
