# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Ranks of MPI programs that mpirun starts in a batch script: who they are is found out, and they are placed one by one.

# shellcheck source=tests/cluster/mpi.sh
. "$TESTS/cluster/mpi.sh"

t17_ranks_of_mpirun_are_found_and_placed() {
    mpi
    job a auto -n2 -- --bind-to core -n 2
    rank_up a 2
    is_state a placed
    same "tasks" "$(explained a '.enforce.tasks | map("\(.rank) \(.id) of \(.of): \(.home)") | join(", ")')" "true 0 of 2: 0, true 1 of 2: 1"
    same "tasks that Slurm has started" "$(explained a .request.tasks)" 1
    has "$(ctl explain "$(id_of a)" | tr -s ' \n' ' ')" "rank 0 of 2 on CPUs 0, rank 1 of 2 on CPUs 1"
    has "$(ctl explain -v "$(id_of a)" | tr -s ' \n' ' ')" "2 ranks started by orterun, placed one by one" "rank 1 of 2 (pid"
    has "$(ctl job "$(job_of a)" | tr -s ' \n' ' ')" "rank 1 of 2 on CPUs 1"
    touch "$CLUSTER/out/a-first.stop"
    is_state a left
    has "$(explained a .enforce.reason)" "what it starts is not known (a batch script"
    same "ranks" "$(ranks_of a)" 0
    touch "$CLUSTER/out/a.again"
    rank_up a 2
    is_state a placed
    over_with a
}

t17_ranks_that_are_not_bound_stay() {
    mpi
    job a auto -n2 -- --bind-to none -n 2
    rank_up a 2
    soon "why" "their launcher has not bound them to cores" explained a .ranks.reason
    same "state" "$(explained a .state)" left
    has "$(ctl explain "$(id_of a)" | tr -s ' \n' ' ')" "2 ranks of orterun in it: their launcher has not bound them to cores"
    over_with a
}

t17_a_batch_script_is_not_halved_under_its_ranks() {
    mpi
    job a auto -p shared -n2 -- --bind-to core -n 2
    rank_up a 2
    start b -p shared -c2 --contention-aware
    same "CPUs of rank 0" "$(tail -n 1 "$CLUSTER/out/a-first.0")" 0
    same "CPUs of rank 1" "$(tail -n 1 "$CLUSTER/out/a-first.1")" 1
    over_with a # the second mpirun has found both cores
    same "CPUs of rank 1 of the second" "$(tail -n 1 "$CLUSTER/out/a-second.1")" 1
    stop b
}

t17_ranks_are_known_to_the_next_berthd() {
    mpi
    job a auto -n2 -- --bind-to core -n 2
    rank_up a 2
    is_state a placed
    daemon_stop berthd KILL
    tracing_start
    same "state" "$(explained a .state)" placed
    same "tasks" "$(explained a '.enforce.tasks | map(.home) | join(" ")')" "0 1"
    daemon_stop berthd KILL
    touch "$CLUSTER/out/a-first.stop" # the ranks end while there is no berthd
    wait_for 60 grep -q first "$CLUSTER/out/a.batch"
    tracing_start
    is_state a left
    over_with a
}

t17_ranks_whose_executables_may_not_be_read_stay() {
    mpi
    daemon_stop berthd
    berthd_start
    ! grep capabilities: "$CLUSTER/log/berthd.out" | tail -n 1 | grep -q CAP_SYS_PTRACE || skip "berthd may read them here"
    job a auto -n2 -- --bind-to core -n 2
    rank_up a 2
    soon "why" "berthd cannot read their executables (without CAP_SYS_PTRACE)" explained a .ranks.reason
    same "state" "$(explained a .state)" left
    over_with a
}

rank_stands() {
    tail -n 1 "$CLUSTER/out/$1"
}

t17_a_rank_makes_room_and_its_launcher_stays() {
    mpi
    daemon_stop berthd
    berthd_conf move=all
    tracing_start
    knows turtle 10
    knows devil 20000
    job a tag=turtle -n1 -- --bind-to core -n 1
    rank_up a 1
    wait_for 20 becomes true explained a .ranks.tasks || fail "it is no task: $(explained a .ranks)"
    start devil --contention-aware=tag=devil
    soon "the devil" 0 explained devil .place.cpus
    soon "the rank" 1 rank_stands a-first.0
    same "the launcher" "$(launcher_stands a)" 0
    daemon_stop berthd
    soon "the rank, at home" 0 rank_stands a-first.0
    same "the launcher" "$(sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$(pgrep -x mpirun.openmpi)/status")" 0
    tracing_start
    stop devil
    over_with a
}
