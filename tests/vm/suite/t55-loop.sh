# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# OptiCore's loop: what a step that asked for its size does is measured on a core of each package, and its cpuset follows its phases.

# A machine whose memory one node's two cores fill.
nodes() {
    jq -n --argjson n "$PACKAGES" --argjson c "$CORES" '
        def matrix(x): [range($n) as $i | [range($n) as $j | if $i == $j then null else x end]];
        {version: 1, source: "made up for the tests", runs: 5,
         nodes: [range($n) | {node: ., cpus: "\(. * $c)-\(. * $c + $c - 1)", cores: $c, alpha_gbps: 10, beta: 0.25,
                              local_gbps: ([0, 6] + [range($c - 1) | 10]),
                              local_spread: ([0] + [range($c) | 0.02])}],
         uni_gbps: matrix(4), bi_gbps: matrix(6)}'
}

# samples SECONDS: a program that asks for 6.4 GB/s on a core for so long, then 2.5, and so on; counted as the whole step.
samples() {
    awk -v n="$PACKAGES" -v all="$((PACKAGES * CORES))" -v phase="$1" 'BEGIN {
        print "step,at,instructions,llc_misses,bytes,cpu_ns,threads"
        for (at = 1; at <= 2 * phase; at++) {
            gbps = at <= phase ? 6.4 : 2.5
            bytes += n * gbps * 1e9; misses += at <= phase ? 2e8 : 8e7
            printf "phases,%d,%.0f,%.0f,%.0f,%.0f,%d\n", at, at * 4e9, misses, bytes, at * all * 1e9, all
        }
    }'
}

followed() {
    nodes >"$CLUSTER/berth/machine.json"
    samples 40 >"$CLUSTER/berth/phases.csv"
    daemon_stop berthd
    berthd_conf startup=500ms first_window=1s window=1s "counters_replay=$CLUSTER/berth/phases.csv"
    berthd_start
}

unfollowed() {
    rm -f "$CLUSTER/berth/machine.json"
    berthd_conf
    daemon_stop berthd
    berthd_start
}

# Says "2 true": the number of its phase, and whether it is known.
phase_of() {
    explained "$1" '.size | "\(.phase) \(.known)"'
}

# The vector, as the kernel has it: CPUs of each package that its task may use.
vector_of() {
    local cpu list
    list=$(for cpu in $(expand "$(sed -n "s/^Cpus_allowed_list:\t//p" "/proc/$(cat "$CLUSTER/out/$1.0.pid")/status")"); do echo $((cpu / CORES)); done)
    for ((cpu = 0; cpu < PACKAGES; cpu++)); do grep -cx "$cpu" <<<"$list"; done | paste -sd,
}

has_less() {
    [ "$(vector_of "$1")" != "$2" ]
}

# The first of a vector, which is even.
each() {
    explained "$1" '.size.vector[0]'
}

has_more() {
    [ "$(each "$1")" -gt "$2" ]
}

t55_cpusets_follow_the_phases() {
    local all i wide narrow
    all=$(for ((i = 0; i < PACKAGES; i++)); do echo "$CORES"; done | paste -sd,)
    followed
    start a "-c$((PACKAGES * CORES))" --contention-aware=size=20,tag=phases
    same "its vector before anything is known" "$(vector_of a)" "$all"
    soon "its first phase" "1 true" phase_of a
    wait_for 5 has_less a "$all" || fail "it has all cores: $(explained a .size)"
    wide=$(explained a '.size.vector | map(tostring) | join(",")')
    soon "its cpuset" "$wide" vector_of a
    same "it was profiled" "$(explained a '.size | "\(.profiles) \(.profiled_s > 0.4) \(.disturbed | type)"')" "1 true boolean"
    soon "its second phase" "2 true" phase_of a
    wait_for 2 has_more a "${wide%%,*}" || fail "it has no more cores than before: $(explained a .size)"
    narrow=$(explained a '.size.vector | map(tostring) | join(",")')
    soon "its cpuset then" "$narrow" vector_of a
    soon "its first phase again" "1 true" phase_of a
    soon "its vector again" "$wide" vector_of a
    same "profiling runs" "$(explained a '.size | "\(.profiles) \(.state)"')" "2 watching"
    daemon_stop berthd
    soon "its vector without berthd" "$all" vector_of a
    berthd_start
    stop a
    unfollowed
}
