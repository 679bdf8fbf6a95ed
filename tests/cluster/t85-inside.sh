# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What is given to the threads of a step: their class and time slice (faithful).

# waiting_for_locks [KEY=VALUE..]: counters are played: of the step "locked" four threads are ready all the time, two CPUs run them, and each waits
# for locks for 84 % of its time; without misses.
waiting_for_locks() {
    local file=$CLUSTER/berth/locked.csv at
    {
        echo "step,at,cpu_ns,run_delay_ns,lock_wait_ns,threads"
        for at in $(seq 1 600); do
            echo "locked,$at,$((at * 2000000000)),$((at * 2000000000)),$((at * 3360000000)),4"
        done
    } >"$file"
    daemon_stop berthd
    berthd_conf startup=100ms first_window=200ms window=200ms "counters_replay=$file" allow=auto,tag,faithful "$@"
    berthd_start
}

# threads NAME [SRUN ARGUMENTS..]: a step that stands, of three processes.
threads() {
    local name=$1
    shift
    # shellcheck disable=SC2016 # the task's own shell
    start "$name" "$@" bash -c 'sleep 1000 & one=$!; sleep 1000 & two=$!; "$@"; rc=$?; kill $one $two; exit $rc' -
}

t85_faithful_gives_slices_and_takes_them_back() {
    waiting_for_locks
    threads a -c2 --contention-aware=tag=locked,faithful
    same "before it is measured" "4 x 0 " "$(classes_of a)"
    soon "its threads" "4 x 3 " classes_of a
    same "told" "$(explained a '.faithful | "\(.class) \(.asked_ms) \(.refused)"')" "batch 200 null"
    [ "$(explained a .faithful.slice_ms)" != 0 ] || fail "a slice of nothing"
    same "threads" "$(explained a .faithful.threads)" 4
    ctl release "$(id_of a)" >/dev/null || fail "release"
    soon "released" "4 x 0 " classes_of a
    stop a
}

t85_what_a_killed_berthd_gave_is_taken_back() {
    waiting_for_locks
    threads b -c2 --contention-aware=tag=locked,faithful
    soon "its threads" "4 x 3 " classes_of b
    daemon_stop berthd KILL
    same "nobody is there" "$(classes_of b)" "4 x 3 "
    berthd_conf allow=auto,tag "counters_replay="
    berthd_start
    soon "by the next one" "4 x 0 " classes_of b
    stop b
}

t85_faithful_has_to_be_allowed() {
    waiting_for_locks allow=auto,tag
    threads c -c2 --contention-aware=tag=locked,faithful
    soon "measured" 3 eval '[ "$(explained c .observe.counts.windows)" -ge 3 ] && echo 3'
    same "classes" "$(classes_of c)" "4 x 0 "
    has "$(explained c .faithful.refused)" "berth.conf does not allow it"
    stop c
}
