# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Ranks that mpirun starts in batch scripts, placed one by one on real packages: two programs of as many ranks as a package has cores, which
# Slurm has put on a package each, one of which streams memory.
# shellcheck source=tests/cluster/mpi.sh
. "$TESTS/cluster/mpi.sh"

# Where the ranks of an mpirun stand, in their own words, in the order of their numbers: stood NAME-first
stood() {
    local rank
    for ((rank = 0; rank < CORES; rank++)); do tail -n 1 "$CLUSTER/out/$1.$rank"; done | xargs
}

# How many of them are in each package: "2 2"
by_package() {
    stood "$1" | tr ' ' '\n' | awk -v cores="$CORES" '{ n[int($1 / cores)]++ } END { print n[0] + 0, n[1] + 0 }'
}

mixed() {
    echo "$((CORES / 2)) $((CORES / 2))"
}

# two: both jobs run, with all their ranks, mixed.
two() {
    mpi
    knows memory 20000
    knows compute 10
    job stream tag=memory "-n$CORES" -m block:block -- --bind-to core -n "$CORES"
    rank_up stream "$CORES"
    job calc tag=compute "-n$CORES" -m block:block -- --bind-to core -n "$CORES"
    rank_up calc "$CORES"
    is_state stream placed
    is_state calc placed
    same "Slurm's cores" "$(slurm_cpus_of stream) $(slurm_cpus_of calc)" "0-$((CORES - 1)) $CORES-$((2 * CORES - 1))"
    soon "ranks that stream, by package" "$(mixed)" by_package stream-first
    soon "ranks that compute, by package" "$(mixed)" by_package calc-first
    same "cores of all ranks" "$(echo "$(stood stream-first)" "$(stood calc-first)" | tr ' ' '\n' | sort -u | wc -l)" $((2 * CORES))
}

over_both() {
    over_with stream
    over_with calc
}

t27_ranks_of_two_jobs_are_mixed_over_the_caches() {
    two
    soon "the launcher" "0-$((CORES - 1))" launcher_stands stream
    has "$(ctl explain "$(id_of stream)" | tr -s ' \n' ' ')" "rank 1 of $CORES on CPUs"
    touch "$CLUSTER/out/stream-first.stop"
    is_state stream left
    soon "CPUs of the script" "0-$((CORES - 1))" explained stream .place.cpus
    touch "$CLUSTER/out/stream.again"
    rank_up stream "$CORES"
    is_state stream placed
    soon "ranks of the second mpirun, by package" "$(mixed)" by_package stream-second
    over_both
}

t27_ranks_go_home_core_by_core() {
    two
    daemon_stop berthd KILL
    berthd_start
    same "state" "$(explained stream .state)" placed
    same "ranks that stream, by package, after a crash" "$(by_package stream-first)" "$(mixed)"
    daemon_stop berthd
    soon "ranks that stream" "$(seq 0 $((CORES - 1)) | xargs)" stood stream-first
    soon "ranks that compute" "$(seq "$CORES" $((2 * CORES - 1)) | xargs)" stood calc-first
    berthd_start
    over_both
}
