# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Placing on real packages: what Slurm packed pairwise is spread, in the tasks' own words.

# packed: four jobs of half a package each, memory-bound beside memory-bound, compute-bound beside compute-bound; their tasks stay whole.
packed() {
    several_packages
    knows memory 20000
    knows compute 10
    half m1 --contention-aware=tag=memory,pack
    half m2 --contention-aware=tag=memory,pack
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

# wide ROUND WORDS: dROUND, a memory-bound task with all cores of package 0, and tROUND.0 and so on, a compute-bound one on each core of
# package 1. (A name is one step's only: what it was told and where it ran stays in files.)
wide() {
    local i
    knows memory 30000
    knows compute 100
    start "d$1" -c"$CORES" "--contention-aware=tag=memory$2"
    for ((i = 0; i < CORES; i++)); do start "t$1.$i" -c1 --contention-aware=tag=compute; done
    same "Slurm's package of the wide one" "$(packages "$(slurm_cpus_of "d$1")")" "0 "
}

# in_packages NAME: how many of its CPUs are in a package, the most first.
in_packages() {
    local cpu
    for cpu in $(cpus_of "$1" | tr ',' ' '); do seq -s' ' "${cpu%-*}" "${cpu#*-}"; done | tr ' ' '\n' |
        awk -v cores="$CORES" '{ n[int($1 / cores)]++ } END { print n[0] + 0; print n[1] + 0 }' | sort -rn | xargs
}

# A memory-bound task that fits into a cache stays whole by DI, too, unless its user says spread. (What contend does is in tests/unit/place: here it
# depends on when each of the others comes, and to contend three of four threads on a package can be as good as two.)
threads() {
    local words round=0 d
    daemon_stop berthd
    berthd_conf policy=di
    berthd_start
    for words in "" ,spread ,pack; do
        d=d$((++round))
        wide "$round" "$words"
        soon "CPUs in each package by DI$words" "$([ "$words" = ,spread ] && echo "$((CORES / 2)) $((CORES / 2))" || echo "$CORES 0")" in_packages "$d"
        sleep 2 # the last of them may still be finding its place, and the wide one with it
        on "$d" "$(explained "$d" .place.cpus)"
        same "caches, as explain says" "$(explained "$d" .place.spread.caches)" "$(caches "$(cpus_of "$d")" | wc -w)"
        # shellcheck disable=SC2046 # a list of names
        stop "$d" $(seq -f "t$round.%g" 0 $((CORES - 1)))
    done
}

t20_threads_of_a_memory_bound_task_stay_together() {
    [ "$VM_CACHES" = "$PACKAGES" ] || skip "packages of several caches"
    [ "$PACKAGES" = 2 ] || skip "more than two packages"
    threads
    daemon_stop berthd
    berthd_conf
    berthd_start
}
