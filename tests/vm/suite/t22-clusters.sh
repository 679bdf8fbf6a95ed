# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Sub-NUMA clusters: several memory nodes share a cache, as the shapes with nN have it. Each is a place of its own.

# nodes_of NAME..: the memory nodes of the steps' CPUs.
nodes_of() {
    local name cpu
    for name; do
        for cpu in $(expand "$(cpus_of "$name")"); do basename /sys/devices/system/cpu/cpu"$cpu"/node*; done
    done | sort -u | xargs
}

t22_devils_go_to_different_clusters() {
    local all i each
    all=$(cat /sys/devices/system/node/online)
    [ "$(count "$all")" -gt "$(caches "$(cat /sys/devices/system/cpu/online)" | wc -w)" ] || skip "no cache that memory nodes share"
    each=$((PACKAGES * CORES / $(count "$all")))
    knows memory 20000
    knows compute 10
    for ((i = 0; i < each; i++)); do start "m$i" -c1 --contention-aware=tag=memory; done
    for ((i = 0; i < each; i++)); do start "c$i" -c1 --contention-aware=tag=compute; done
    soon "memory nodes of the memory-bound" "node0 node1" nodes_of $(seq -f 'm%g' -s' ' 0 $((each - 1)))
    soon "memory nodes of the compute-bound" "node0 node1" nodes_of $(seq -f 'c%g' -s' ' 0 $((each - 1)))
    same "caches that berthd tells of m0" "$(ctl status --json | jq -r '[.steps[].llc[]] | unique | length')" 2
    for ((i = 0; i < each; i++)); do stop "m$i" "c$i"; done
}
