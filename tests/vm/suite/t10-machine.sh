# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The machine under the suite: what berthd sees of it, and which way it enforces by. And what the other files ask of it.

PACKAGES=${CLUSTER_SHAPE%x*}
CORES=${CLUSTER_SHAPE#*x} # of a package
HALF=$((CORES / 2))       # two jobs of so many share a package

# It moves pages, too, and hides others meanwhile.
[ ! -e /proc/sys/kernel/numa_balancing ] || echo 0 >/proc/sys/kernel/numa_balancing

# For tests that need a second package to put somebody into.
several_packages() {
    [ "$PACKAGES" -gt 1 ] || skip "one package"
}

# expand LIST: its CPUs, one a line: 0-2,5
expand() {
    local part
    for part in ${1//,/ }; do seq "${part%-*}" "${part#*-}"; done
}

# count LIST: how many CPUs it has.
count() {
    expand "$1" | wc -l
}

# of_cpus LIST FILE: what the file of each of these CPUs has. (One program for all: under emulation each takes long.)
of_cpus() {
    local cpu files=()
    for cpu in $(expand "$1"); do files+=("/sys/devices/system/cpu/cpu$cpu/$2"); done
    cat "${files[@]}" </dev/null
}

# packages LIST: the packages that its CPUs belong to.
packages() {
    of_cpus "$1" topology/physical_package_id | sort -nu | tr '\n' ' '
}

# caches LIST: the caches of the last level that its CPUs share.
caches() {
    of_cpus "$1" cache/index3/shared_cpu_list | sort -u | tr '\n' ' '
}

# disjoint LIST LIST
disjoint() {
    [ -z "$(sort <(expand "$1") <(expand "$2") | uniq -d)" ]
}

# allowed PID: its CPUs, as the kernel has them.
allowed() {
    sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$1/status"
}

ran_on() {
    cat "$CLUSTER/out/$1.${2:-0}.ran"
}

# on NAME LIST: the task says that it may run there, the kernel has put its cpuset and itself there, berthd has verified it.
on() {
    soon "$1 in its own words" "$2" cpus_of "$1"
    same "cpuset of $1, with all that Slurm gave it" "$(expand "$(cpuset_of "$1")" | sort -n)" "$(expand "$2,$(slurm_cpus_of "$1")" | sort -nu)"
    soon "berthd's word of $1" "$2 true" explained "$1" '"\(.place.cpus) \(.enforce.verified)"'
    wait_for 5 runs_inside "$1" "$2" || fail "$1 runs on CPU $(ran_on "$1"), not on $2"
}

runs_inside() {
    ! disjoint "$(ran_on "$1")" "$2"
}

# half NAME [SRUN ARGUMENTS..]: a job of one task with half the cores of a package.
half() {
    local name=$1
    shift
    start "$name" -c"$HALF" "$@"
}

t10_berthd_sees_the_machine() {
    same "packages, caches, cores" "$(ctl status --json | jq -r '.node | "\(.packages) \(.llcs) \(.cores)"')" \
        "$PACKAGES $VM_CACHES $((PACKAGES * CORES))"
}

t10_the_way_is_that_of_the_kernel() {
    same "way" "$(ctl status --json | jq -r .node.enforcement)" "cgroup${CLUSTER_CGROUP#v}"
}

t10_steps_start_where_slurm_put_them() {
    half a
    half b --contention-aware
    same "a" "$(cpus_of a)" "$(slurm_cpus_of a)"
    on b "$(slurm_cpus_of b)"
    disjoint "$(cpus_of a)" "$(cpus_of b)" || fail "a and b share CPUs"
    stop a b
}
