# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ConstrainCores=no: Slurm leaves cpusets alone, and berth sets them for the steps that it places.

# constrain yes|no: slurmd starts again with it, when nothing runs.
constrain() {
    cancel_all
    wait_for 10 no_jobs
    sed -i "s/^ConstrainCores=.*/ConstrainCores=$1/" "$CLUSTER/etc/cgroup.conf"
    daemon_stop slurmd
    daemon_start slurmd slurmd -D -N "$CLUSTER_NODE"
    wait_for 20 node_is idle || fail "slurmd does not come back"
}

t40_steps_without_cpusets_are_spread_and_put_back() {
    local name
    trap 'constrain yes' EXIT
    constrain no
    packed
    soon "packages of the memory-bound" "0 1 " packages_of m1 m2
    for name in m1 m2 c1 c2; do
        soon "$name in its own words" "$(explained $name .place.cpus)" cpus_of $name
        # who stays at home is held there by his affinity alone; the others may bind themselves to what Slurm gave
        [ "$(cpus_of $name)" = "$(slurm_cpus_of $name)" ] ||
            same "cpuset of $name" "$(expand "$(cpuset_of $name)" | sort -n)" "$(expand "$(cpus_of $name),$(slurm_cpus_of $name)" | sort -nu)"
        same "CPUs of $name" "$(count "$(cpus_of $name)")" "$HALF"
    done
    daemon_stop berthd
    for name in m1 m2 c1 c2; do
        soon "$name" "$(slurm_cpus_of $name)" cpus_of $name
        same "cpuset of $name" "$(cpuset_of $name)" "$(cat "$(cpuset_root)"/cpuset.cpus* | head -n 1)"
    done
    stop m1 m2 c1 c2
}
