# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Fail open: whatever is wrong with berthd, steps run on Slurm's cores and the node stays in service.

# answers WHAT: something else listens in berthd's place (see answer.c).
answers() {
    daemon_stop berthd
    daemon_start berthd "$BUILD/tests/cluster/answer" "$CLUSTER/run/berthd.sock" "$1"
    wait_for 5 test -S "$CLUSTER/run/berthd.sock"
}

# The only proof of a launch is what the task did: srun's status is 0 either way.
runs_on_slurms_cores() {
    start plain --contention-aware
    same "CPUs at exec" "$(first_cpus_of plain)" "$(slurm_cpus_of plain)"
    stop plain
    soon "node" idle node_state
}

t30_berthd_absent() {
    daemon_stop berthd
    runs_on_slurms_cores
}

t30_berthd_hung() {
    kill -STOP "$(daemon_pid berthd)"
    runs_on_slurms_cores
    kill -CONT "$(daemon_pid berthd)"
}

t30_berthd_accepts_and_never_answers() {
    answers hang
    runs_on_slurms_cores
    daemon_stop berthd KILL
}

t30_berthd_dies_while_it_is_asked() {
    answers close
    runs_on_slurms_cores
    daemon_stop berthd KILL
}

t30_berthd_answers_garbage() {
    local line
    for line in 'no json' '{"version":1' '[]' '{"version":99,"ok":true}' '{"version":1,"ok":true,"managed":true,"tasks":[[0,"x"]]}' "$(printf '%070000d' 0)"; do
        answers "$line"
        runs_on_slurms_cores
        daemon_stop berthd KILL
        rm -f "$CLUSTER"/out/plain*
    done
}

t30_berthd_answers_cores_outside_the_allocation() {
    answers '{"version":1,"ok":true,"managed":true,"note":"","mem":"auto","mems":"0","env":{},"tasks":[[0,"1"]]}'
    runs_on_slurms_cores
    daemon_stop berthd KILL
}

# Killed at any moment of several launches: each step does its work.
t30_berthd_is_killed_again_and_again() {
    local i
    for i in 1 2 3 4 5 6; do
        timeout 30 srun -Q -n1 --contention-aware sh -c "echo ran >$CLUSTER/out/ran$i" &
        sleep "0.0$((i * 3 % 10))"
        daemon_stop berthd KILL
        wait $!
        [ -s "$CLUSTER/out/ran$i" ] || fail "step $i did nothing"
        berthd_start
    done
    soon "node" idle node_state
}

t30_require_fails_the_step_without_berthd() {
    local text rc=0
    daemon_stop berthd
    text=$(timeout 20 srun -n1 --contention-aware=require sh -c 'echo ran' 2>&1) || rc=$?
    [ "$rc" != 0 ] || fail "srun was satisfied: $text"
    [[ $text != *ran* ]] || fail "the task ran: $text"
    soon "node" idle node_state
    berthd_start
    has "$(timeout 20 srun -n1 --contention-aware=require sh -c 'echo ran')" ran
}

t30_a_batch_job_with_require_does_not_drain_the_node() {
    daemon_stop berthd
    batch j -n1 --contention-aware=require <<<"srun sh -c 'echo ran >$CLUSTER/out/ran'"
    wait_for 20 no_jobs
    [ ! -e "$CLUSTER/out/ran" ] || fail "the step ran"
    soon "node" idle node_state
}

# killed_in_a_launch N: berthd dies before its N-th system call while a second step is launched. Then every step runs on the core
# that berthd says it runs on, no two on one, and when berthd is stopped all are at home.
killed_in_a_launch() {
    start a --contention-aware=tag=turtle
    "$BUILD/tests/fault/killat" "$(daemon_pid berthd)" "$1" >"$CLUSTER/out/killat" < <(sleep 5) &
    local killer=$!
    wait_for 5 grep -q watching "$CLUSTER/out/killat" || fail "killat does not watch"
    start b --contention-aware=tag=devil
    wait "$killer" || true
    daemon_stop berthd KILL || true # it is dead already
    berthd_start
    soon "cores, killed before call $1" "0 1" both_cpus
    daemon_stop berthd
    soon "the turtle, killed before call $1" "$(slurm_cpus_of a)" cpus_of a
    soon "the devil, killed before call $1" "$(slurm_cpus_of b)" cpus_of b
    same "berth's cgroups" "$(berth_cgroups)" ""
    stop a b
    berthd_start
}

both_cpus() {
    echo "$(cpus_of a) $(cpus_of b)" | tr ' ' '\n' | sort | xargs
}

t30_berthd_is_killed_at_any_point_of_a_launch() {
    local n
    [ -x "$BUILD/tests/fault/killat" ] || skip "tests/fault/killat is not built"
    knows turtle 10
    knows devil 20000
    for n in 20 150 300 450 600 750; do
        killed_in_a_launch "$n"
        rm -f "$CLUSTER"/out/a* "$CLUSTER"/out/b*
    done
}
