# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Beside Slurm's own ways to choose cores, those of its administrators and of its users: whatever Slurm chose is berth's pool, and in it
# stands who should.

# all_of LIST..: the CPUs of all, one a line.
all_of() {
    local list
    for list; do expand "$list"; done | sort -n
}

# pooled NAME..: berth's pool are the CPUs that Slurm gave to these jobs; each stands in it, with as many CPUs, nobody beside it.
pooled() {
    local name state stand lists=() stands=()
    for name; do
        read -r state stand < <(explained "$name" '"\(.state) \(.place.cpus)"')
        lists+=("$(slurm_cpus_of "$name")") stands+=("$stand")
        same "what berth does with $name" "$state" placed
        same "CPUs of $name" "$(count "$stand")" "$(count "${lists[-1]}")"
    done
    same "the pool" "$(expand "$(ctl status --json | jq -r .node.pool)" | sort -n)" "$(all_of "${lists[@]}" | uniq)"
    same "where they stand" "$(all_of "${stands[@]}")" "$(all_of "${lists[@]}")"
}

# spread_out WHAT SRUN_OPTIONS..: two memory-bound and two compute-bound jobs of half a package each; each of the first has a package.
# (A name is one step's only.)
spread_out() {
    local what=$1 name memory=("m1.$1" "m2.$1") compute=("c1.$1" "c2.$1")
    several_packages
    shift
    knows memory 20000
    knows compute 10
    for name in "${memory[@]}"; do half "$name" "$@" --contention-aware=tag=memory,pack; done
    for name in "${compute[@]}"; do half "$name" "$@" --contention-aware=tag=compute; done
    soon "$what: packages of the memory-bound" "0 1 " packages_of "${memory[@]}"
    soon "$what: packages of the compute-bound" "0 1 " packages_of "${compute[@]}"
    pooled "${memory[@]}" "${compute[@]}"
    for name in "${memory[@]}" "${compute[@]}"; do on "$name" "$(cpus_of "$name")"; done
    stop "${memory[@]}" "${compute[@]}"
}

# tasks_in NAME: how many of its tasks are in each package, by what they say themselves.
tasks_in() {
    local task
    for ((task = 0; task < CORES; task++)); do packages "$(cpus_of "$1" "$task")"; done | tr ' ' '\n' | grep . | sort | uniq -c | awk '{ print $1 }' | xargs
}

t28_a_cache_for_a_socket() {
    local lines
    [ "$VM_CACHES" != "$PACKAGES" ] || skip "a package has one cache"
    lines=$(wc -l <"$CLUSTER/log/slurmd.log")
    slurm_is SlurmdParameters=config_overrides,l3cache_as_socket "Sockets=$VM_CACHES"
    ! tail -n "+$((lines + 1))" "$CLUSTER/log/slurmd.log" | grep "differs from hardware" || fail "slurmd has not $VM_CACHES sockets"
    spread_out l3cache_as_socket
}

t28_a_memory_node_for_a_socket() {
    slurm_is SlurmdParameters=config_overrides,numa_node_as_socket
    spread_out numa_node_as_socket
}

# A job gets whole sockets, and nobody is beside it. With words of its own it still has berth's care, and the pool is all that Slurm gave.
t28_whole_sockets() {
    several_packages
    slurm_is SelectTypeParameters=CR_Socket
    knows memory 20000
    knows compute 10
    half m1 --contention-aware=tag=memory,pack
    half c1 --contention-aware=tag=compute,pack
    same "Slurm's packages" "$(packages "$(slurm_cpus_of m1)"),$(packages "$(slurm_cpus_of c1)")" "0 ,1 "
    same "CPUs of each in the pool" "$(expand "$(ctl status --json | jq -r .node.pool)" | sort -n)" "$(all_of "$(slurm_cpus_of m1)" "$(slurm_cpus_of c1)")"
    same "packages" "$(packages_of m1),$(packages_of c1)" "0 ,1 "
    same "what berth does with them" "$(explained m1 .state) $(explained c1 .state)" "placed placed"
    stop m1 c1
}

t28_cpus_and_blocks() {
    local parameters
    for parameters in CR_CPU CR_Core,CR_CORE_DEFAULT_DIST_BLOCK; do
        slurm_is SelectTypeParameters=$parameters
        spread_out "$parameters"
    done
}

# By block Slurm gives the tasks of each job one package, by cyclic half of each: with DI half of the memory-bound tasks are in each.
t28_distributions_of_tasks() {
    local by
    [ "$PACKAGES" = 2 ] || skip "more than two packages"
    knows memory 20000
    knows compute 10
    for by in block:block block:cyclic block:fcyclic; do
        start "m-$by" -n"$CORES" "--distribution=$by" --contention-aware=tag=memory
        start "c-$by" -n"$CORES" "--distribution=$by" --contention-aware=tag=compute
        soon "$by: memory-bound tasks in each package" "$HALF $HALF" tasks_in "m-$by"
        soon "$by: compute-bound tasks in each package" "$HALF $HALF" tasks_in "c-$by"
        pooled "m-$by" "c-$by"
        stop "m-$by" "c-$by"
    done
}

t28_hints() {
    local hint
    for hint in nomultithread compute_bound; do spread_out "$hint" "--hint=$hint"; done
}

# One core of each socket is what Slurm gives; so the tasks stand apart already.
t28_the_hint_of_memory_bound_programs() {
    knows memory 20000
    start m -n"$PACKAGES" --hint=memory_bound --contention-aware=tag=memory
    start n -n"$PACKAGES" --hint=memory_bound --contention-aware=tag=memory
    pooled m n
    same "packages of each" "$(packages "$(slurm_cpus_of m)")$(packages "$(slurm_cpus_of n)")" "$(seq -s' ' 0 $((PACKAGES - 1))) $(seq -s' ' 0 $((PACKAGES - 1))) "
    stop m n
}
