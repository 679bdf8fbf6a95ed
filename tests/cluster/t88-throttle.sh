# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# OpenMP programs whose loops have fewer threads while the memory is saturated (throttle), with gcc's run-time and LLVM's.

# playing [KEY=VALUE..]: counters are played: the step "waves" moves all that the machine's memory gives for 3 s, then a sixth of it for as
# long, and so on.
playing() {
    local file=$CLUSTER/berth/waves.csv
    traffic waves 6.1e9/1e9 >"$file"
    cp "$TESTS/fixtures/machines/two-cores.json" "$CLUSTER/berth/machine.json"
    daemon_stop berthd
    berthd_conf startup=100ms first_window=200ms window=200ms "counters_replay=$file" allow=auto,tag,throttle blackboard=on rcr_hold=2 "$@"
    berthd_start
}

throttled() {
    explained "$1" ".throttle.$2"
}

is_reduced() { # NAME TIMES: so often at least
    [ "$(throttled "$1" reduced)" -ge "$2" ]
}

waves() {
    local program
    program=$(openmp_by "$1" chunks) || skip "$program"
    playing
    # shellcheck disable=SC2016 # the task's own shell
    start a -c2 --contention-aware=tag=waves,throttle=aggressive bash -c '"$0" "$1.stop" & shift; "$@"; rc=$?; wait $! && exit $rc' "$program" "$CLUSTER/out/a"
    same "what was asked for" "$(throttled a mode) $(throttled a refused)" "aggressive null"
    wait_for 60 is_reduced a 2 || fail "reduced $(throttled a reduced) times; surprise $(throttled a surprise)"
    same "threads rested, and none was freed" "$(explained a '.throttle | "\(.rests > 0) \(.idle_thread_s > 0) \(.freed)"')" "true true 0"
    awk -v throttled="$(throttled a throttled_s)" -v elapsed="$(explained a .observe.elapsed_s)" 'BEGIN { exit !(throttled > 0 && throttled < elapsed) }' ||
        fail "throttled for $(throttled a throttled_s) s"
    stop a
}

t88_loops_of_gcc_have_fewer_threads_in_waves() {
    waves gcc
}

t88_loops_of_clang_have_fewer_threads_in_waves() {
    waves clang
}

t88_without_a_blackboard_nothing_is_done() {
    playing blackboard=off
    start b -c2 --contention-aware=tag=waves,throttle
    same "why" "$(throttled b refused)" "there is no blackboard (blackboard of berth.conf)"
    stop b
    machine
}
