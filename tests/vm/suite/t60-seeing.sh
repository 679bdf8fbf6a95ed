# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Placing by what is counted (DIO): programs that nobody knows start where Slurm put them, and move when they have been seen.

# unknown: two jobs that are memory-bound share package 0, two that are compute-bound package 1; nobody has said so.
unknown() {
    local name
    program=("$BUILD/tests/vm/movemem" 64)
    half m1 --contention-aware=tag=devil,pack "${program[@]}"
    half m2 --contention-aware=tag=devil,pack "${program[@]}"
    half c1 --contention-aware=tag=turtle
    half c2 --contention-aware=tag=turtle
    same "Slurm's package of the memory-bound" "$(packages "$(slurm_cpus_of m1),$(slurm_cpus_of m2)")" "0 "
    same "Slurm's package of the compute-bound" "$(packages "$(slurm_cpus_of c1),$(slurm_cpus_of c2)")" "1 "
    for name in m1 m2 c1 c2; do on "$name" "$(slurm_cpus_of "$name")"; done
}

# counted: from now on a recording counts: "devil" misses 20000 times per million instructions, "turtle" 10. (Not before all of
# them run: who comes when the others have been seen is placed at once.)
counted() {
    daemon_stop berthd KILL
    berthd_conf startup=500ms first_window=1s window=1s "counters_replay=$TESTS/fixtures/samples/three.csv" "$@"
    berthd_start
}

usual() {
    berthd_conf
    daemon_stop berthd
    berthd_start
}

t60_unknown_programs_move_when_they_have_been_seen() {
    local name node moved=m1
    # without `berthctl calibrate` nobody knows what a package's memory gives: only shared caches promise a gain
    [ "$VM_CACHES" = "$PACKAGES" ] || skip "the memory-bound have a cache each from the start"
    unknown
    counted
    soon "packages of the memory-bound" "0 1 " packages_of m1 m2
    for name in m1 m2 c1 c2; do stands "$name"; done
    same "packages of the compute-bound" "$(packages_of c1 c2)" "0 1 "
    [ "$(cpus_of m1)" != "$(slurm_cpus_of m1)" ] || moved=m2
    same "class of $moved" "$(explained $moved .class.name)" devil
    has "$(explained $moved .replace.verdict)" moved
    node=$(node_of $moved)
    soon "memory under way" false explained $moved .memory.running
    [ "$(mib_on "$node" $moved)" -ge 64 ] || fail "on node $node: $(mib_on "$node" $moved) MiB: $(explained $moved .memory)"
    same "on node 0" "$(mib_on 0 $moved)" 0
    stop m1 m2 c1 c2
    usual
}

t60_nobody_moves_where_replace_is_off() {
    local name
    unknown
    counted replace=off
    for name in m1 m2; do soon "class of $name" devil explained $name .class.name; done
    for name in c1 c2; do soon "class of $name" turtle explained $name .class.name; done
    sleep 5
    for name in m1 m2 c1 c2; do on "$name" "$(slurm_cpus_of "$name")"; done
    stop m1 m2 c1 c2
    usual
}

# in_folder KEY: what the kernel counts in the folder of the only step (version 2).
in_folder() {
    awk -v key="$1" '$1 == key { print $2 }' "$(find "$CLUSTER_CGROUPS" -path "*/step_0/user/memory.stat")"
}

near_folder() {
    local mapped said
    mapped=$(($(in_folder anon) + $(in_folder file_mapped)))
    said=$(explained m1 .observe.counts.rates.rss_bytes.mean)
    awk -v said="$said" -v mapped="$mapped" 'BEGIN { exit !(said > 64e6 && said < 1.1 * mapped && said > 0.8 * mapped) }'
}

t60_a_step_is_counted_by_its_folder() {
    [ "$CLUSTER_CGROUP" = v2 ] || skip "Slurm has no folder that counts memory here"
    berthd_conf counters=software startup=500ms first_window=1s window=1s
    daemon_stop berthd
    berthd_start
    half m1 --contention-aware "$BUILD/tests/vm/movemem" 64
    wait_for 30 near_folder ||
        fail "resident: $(explained m1 .observe.counts.rates.rss_bytes), its folder: $(in_folder anon), $(in_folder file_mapped)"
    soon "faults, threads and waiting" "number number number" explained m1 \
        '[.observe.counts.rates.faults_s.mean, .observe.counts.threads, .observe.counts.rates.run_delay.mean] | map(type) | join(" ")'
    stop m1
    usual
}
