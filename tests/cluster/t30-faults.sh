# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Fail open: whatever is wrong with berthd, steps run on Slurm's cores and the node stays in service.

# answers WHAT: something else listens in berthd's place (see answer.c).
answers() {
    daemon_stop berthd
    daemon_start berthd "$BUILD/tests/cluster/answer" "$CLUSTER/run/berthd.sock" "$1"
    wait_for 5 test -S "$CLUSTER/run/berthd.sock"
}

# unanswered WHAT: something else listens there, and the plugin waits no longer than it does by itself, for what never comes.
unanswered() {
    CLUSTER_DEADLINE=
    plugin_on
    answers "$1"
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
    CLUSTER_DEADLINE='' plugin_on
    kill -STOP "$(daemon_pid berthd)"
    runs_on_slurms_cores
    kill -CONT "$(daemon_pid berthd)"
}

t30_berthd_accepts_and_never_answers() {
    unanswered hang
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

# many_at_once N TAG: so many short steps in one job, all begun before one is waited for; each says that it ran.
many_at_once() {
    local i
    timeout 20 salloc -Q -n2 --no-shell 2>"$CLUSTER/out/salloc"
    SLURM_JOB_ID=$(timeout 10 squeue -h -o %i)
    export SLURM_JOB_ID SLURM_JOBID=$SLURM_JOB_ID
    for ((i = 0; i < $1; i++)); do
        timeout 60 srun -Q -n1 --overlap --contention-aware=tag="$2" sh -c "echo >>$CLUSTER/out/$2" &
    done
}

# records TAG [WHAT]: how many the ledger has of these steps, or another figure of them.
records() {
    sqlite3 -readonly -cmd '.timeout 10000' "$CLUSTER/berth/ledger.db" "select ${2:-count(*)} from ledger_record where tag = '$1'"
}

# berthd hears nothing from before the first step begins until all are over: nobody waits for it longer than he may, and when it goes
# on each step has its record, with its own times and what it used.
t30_each_step_has_its_record() {
    local before after
    berthd_conf sweep=60s # which does not help here
    daemon_stop berthd
    berthd_start
    kill -STOP "$(daemon_pid berthd)"
    before=$EPOCHSECONDS
    many_at_once 20 stopped
    wait
    after=$EPOCHSECONDS
    sleep 2 # so that the time at which berthd hears of them is none of theirs
    kill -CONT "$(daemon_pid berthd)"
    same "steps that ran" "$(wc -l <"$CLUSTER/out/stopped")" 20
    soon "records" 20 records stopped
    same "steps that berthd heard of late" "$(records stopped "sum(state = 'late')")" 20
    same "records with the time of their steps" "$(records stopped "sum(\"start\" >= $before and \"end\" <= $after and elapsed_s >= 0)")" 20
    same "records with CPU time" "$(records stopped 'sum(user_s >= 0 and exit_status = 0)')" 20
    timeout 10 scancel "$SLURM_JOB_ID"
    berthd_conf # jobs that ended while nobody listened are found to be over by sweeps
    kill -HUP "$(daemon_pid berthd)"
}

# A step whose registration was heard late is moved as one that runs: it has all its cores, is in the pool, and told as late.
t30_late_step_is_taken_in() {
    kill -STOP "$(daemon_pid berthd)"
    start slow --contention-aware=tag=slow
    kill -CONT "$(daemon_pid berthd)"
    soon "state" placed explained slow .state
    soon "late" true explained slow .request.late
    same "CPUs" "$(cpus_of slow)" "$(slurm_cpus_of slow)"
    start devil --contention-aware
    soon "who came after it" placed explained devil .state
    stop devil
    stop slow
    soon "record" placed records slow state
}

# slurmd loads no plugin of another series: steps run as if there were none, and who asks for berth is told that there is no such
# option. doctor says why, where Slurm (25.11 and later) says nothing.
t30_a_plugin_of_another_series() {
    local other=22.05 mine text rc=0
    mine=$(slurmd -V | sed 's/.* \([0-9]*\.[0-9]*\)\..*/\1/')
    [ "$mine" != 22.05 ] || other=26.05
    command -v gcc >/dev/null || skip "no compiler" # in a guest
    make -s -C "$BUILD" tests/spank/flags libwire.la >/dev/null || fail "no flags"
    (cd "$BUILD" && srcdir=$TESTS/.. "$TESTS/spank/series-plugin" "$other" "$CLUSTER/lib/other.so") || fail "not built"
    mkdir -p "$CLUSTER/lib/other"
    mv "$CLUSTER/lib/other.so" "$CLUSTER/lib/other/spank_berth.so"
    echo "optional $CLUSTER/lib/other/spank_berth.so socket=$CLUSTER/run/berthd.sock default=auto" >"$CLUSTER/etc/plugstack.new"
    mv "$CLUSTER/etc/plugstack.new" "$CLUSTER/etc/plugstack.conf"
    has "$(timeout 30 srun -n1 sh -c 'echo ran' 2>/dev/null)" ran
    same "steps that berthd was told of" "$(ctl status --json | jq '.steps | length')" 0
    text=$(timeout 30 srun -n1 --contention-aware true 2>&1) || rc=$?
    same "status of srun --contention-aware" "$rc" 255
    has "$text" "unrecognized option"
    has "$(ctl doctor 2>&1 || true)" "spank_berth.so is for Slurm $other, and this is $mine"
    soon "node" idle node_state
    plugin_on
    has "$(ctl doctor --all 2>&1 || true)" "spank_berth.so, for Slurm $mine"
}
