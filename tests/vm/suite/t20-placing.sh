# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Placing on real packages: what Slurm packed pairwise is spread, in the tasks' own words.

# packed: four jobs of half a package each, memory-bound beside memory-bound, compute-bound beside compute-bound.
packed() {
    knows memory 20000
    knows compute 10
    half m1 --contention-aware=tag=memory
    half m2 --contention-aware=tag=memory
    half c1 --contention-aware=tag=compute
    half c2 --contention-aware=tag=compute
    same "Slurm's package of the memory-bound" "$(packages "$(slurm_cpus_of m1),$(slurm_cpus_of m2)")" "0 "
    same "Slurm's package of the compute-bound" "$(packages "$(slurm_cpus_of c1),$(slurm_cpus_of c2)")" "1 "
}

# Where berthd says that a step stands, it stands; as many CPUs as Slurm gave, in one cache.
stands() {
    local cpus
    cpus=$(explained "$1" .place.cpus)
    on "$1" "$cpus"
    same "CPUs of $1" "$(count "$cpus")" "$HALF"
    same "caches of $1" "$(caches "$cpus" | wc -w)" 1
}

t20_one_memory_bound_step_a_package() {
    local name other
    packed
    soon "packages of the memory-bound" "0 1 " packages_of m1 m2
    for name in m1 m2 c1 c2; do stands "$name"; done
    same "packages of the compute-bound" "$(packages_of c1 c2)" "0 1 "
    for name in m1 m2 c1 c2; do
        for other in m1 m2 c1 c2; do
            [ "$name" = "$other" ] || disjoint "$(cpus_of "$name")" "$(cpus_of "$other")" || fail "$name and $other share CPUs"
        done
    done
    stop m1 m2 c1 c2
}

packages_of() {
    local name
    for name; do packages "$(cpus_of "$name")"; done | tr ' ' '\n' | sort -n | tr '\n' ' ' | sed 's/^ *//'
}
