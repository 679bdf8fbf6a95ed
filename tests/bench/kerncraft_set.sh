#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# kerncraft_set.sh - sets of hardware threads for contend_eval, on stdout, of kerncraft's machine files (RRZE-HPC).
#
# usage: kerncraft_set.sh FILE
#
# FILE is an extract as JSON: {MACHINE: {"clock", "threads_per_core", "cores_per_numa", "kernels", "measurements": {LEVEL: {THREADS:
# {"gbps": {KERNEL: [of 1 core, ..]}}}}}}. A set is a machine with two threads a core, a program a kernel in a level of its memory (L1
# to MEM). Of two copies on one core's threads each takes 2 a / b times as long as alone, if one thread draws a GB/s and both draw b.
# Who else they would be beside was not measured: null.
#
# What the programs count is not in the file; it follows from the kernel: loads, stores and additions or multiplications of a vector, two
# for the loop in eight. 2.5 MiB a core stand in for the last-level cache.
[ $# -eq 1 ] && [ -r "$1" ] || {
    echo "usage: kerncraft_set.sh FILE" >&2
    exit 2
}
exec jq -c '
def number: tostring | split(" ")[0] | tonumber;
# Bytes of a vector; those of an iteration, in vectors: loads, stores, bytes that move; instructions of a vector, with the loop.
def width: (. // "") | if test("512") then 64 elif test("avx") then 32 elif test("sse") then 16 else 8 end;
def loads: {load: 1, copy: 1, update: 1, daxpy: 2, triad: 3}[.];
def stores: if . == "load" then 0 else 1 end;
def works($by): if . == "load" then 1 elif . == "update" then 1 elif . == "copy" then 0 elif (($by // "") | test("fma")) then 1 else 2 end;
def app($machine; $level; $kernel; $gbps):
    ($machine.kernels[$kernel]["fastest bench kernel"]) as $by
    | ($kernel | loads + stores) as $moved
    | (($kernel | loads + stores + works($by)) + 0.25) as $instructions
    | ($gbps / (($by | width) * $moved)) as $vectors # 1e9 a second
    | ($gbps / 64 / ($vectors * $instructions) * 1000) as $lines # per 1000 instructions
    | {name: "\($kernel)-\($level)", cores: 1, ipc: ($vectors * $instructions / ($machine.clock | number)),
       llc_apki: (if $level == "L3" or $level == "MEM" then $lines else 0 end),
       llc_mpki: (if $level == "MEM" then $lines else 0 end), mem_gbps: (if $level == "MEM" then $gbps else 0 end)};
{sets: [to_entries[] | select(.value.threads_per_core == 2) | .value as $machine
    | [$machine.measurements | to_entries[] | select(.value["2"]) | .key as $level | .value as $by
        | $by["1"].gbps | to_entries[] | select(.value[0] and $by["2"].gbps[.key][0])
        | {app: app($machine; $level; .key; .value[0]), slower: (2 * .value[0] / $by["2"].gbps[.key][0] - 1)}] as $all
    | {source: "kerncraft, \(.key)", sibling: true,
       machine: {llc_bytes: ($machine.cores_per_numa * 2.5 * 1048576 | floor), llc_ways: 20, line_bytes: 64,
                 dram_gbps: ([$machine.measurements.MEM["1"].gbps[] | max] | max), clock_ghz: ($machine.clock | number)},
       apps: [$all[].app],
       corun_degradation: [range($all | length) as $i | [range($all | length) as $j | if $i == $j then $all[$i].slower else null end]]}]}
' "$1"
