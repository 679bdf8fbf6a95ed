# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Memory on NUMA nodes: policies in the tasks' own words, and pages that follow a step from node to node.

# task_of NAME: the first process of the step's task; the one that says where it stands may be its child.
task_of() {
    local pid
    pid=$(cat "$CLUSTER/out/$1.0.pid")
    [ "${#program[@]}" = 0 ] || pid=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$pid/status")
    echo "$pid"
}

policy_of() {
    awk '/ heap/ { print $2; exit }' "/proc/$(task_of "$1")/numa_maps"
}

# node_of NAME: of the first CPU where it stands.
node_of() {
    local path
    path=$(compgen -G "/sys/devices/system/cpu/cpu$(cpus_of "$1" | sed 's/[,-].*//')/node*")
    echo "${path##*/node}"
}

# mib_on NODE NAME: memory of its task that is no file's.
mib_on() {
    awk -v node="N$1" '/anon=/ && !/file=/ {
            count = 0; kib = 4
            for (i = 3; i <= NF; i++) {
                split($i, part, "=")
                if (part[1] == node) count = part[2]
                if (part[1] == "kernelpagesize_kB") kib = part[2]
            }
            sum += count * kib
        }
        END { printf "%d\n", sum / 1024 }' "/proc/$(task_of "$2")/numa_maps"
}

t50_tasks_have_the_policy_that_was_asked_for() {
    half a --contention-aware=mem=bind
    same "bind" "$(policy_of a)" "bind:$(node_of a)"
    half b --contention-aware=mem=interleave
    same "interleave" "$(policy_of b)" "interleave:0-$((PACKAGES - 1))"
    half c --contention-aware=mem=local
    same "local" "$(policy_of c)" local
    half d --contention-aware=mem=auto
    same "auto" "$(policy_of d)" default
    stop a b c d
}

t50_pages_follow_a_moved_step() {
    local node
    program=("$BUILD/tests/vm/movemem" 64)
    exchanged compute
    node=$(node_of "$moved")
    soon "memory under way" false explained "$moved" .memory.running
    same "memory: why not" "$(explained "$moved" .memory.reason)" null
    same "memory: not moved" "$(explained "$moved" .memory.failed_bytes)" 0
    [ "$(mib_on "$node" "$moved")" -ge 64 ] || fail "on node $node: $(mib_on "$node" "$moved") MiB: $(explained "$moved" .memory)"
    same "on node 0" "$(mib_on 0 "$moved")" 0
    stop m1 m2 c1
}

t50_nothing_follows_where_memory_rate_is_0() {
    program=("$BUILD/tests/vm/movemem" 64)
    berthd_conf memory_rate=0
    daemon_stop berthd
    berthd_start
    exchanged compute
    has "$(explained "$moved" .memory.reason)" memory_rate
    [ "$(mib_on 0 "$moved")" -ge 64 ] || fail "on node 0: $(mib_on 0 "$moved") MiB"
    stop m1 m2 c1
    berthd_conf
    daemon_stop berthd
    berthd_start
}

t50_pages_move_on_this_kernel() {
    local rc=0
    timeout 200 "$BUILD/tests/vm/movemem" || rc=$?
    [ $rc != 77 ] || skip "no second NUMA node"
    same "status" $rc 0
}
