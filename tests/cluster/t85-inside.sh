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

# ---- a program with more threads that are ready than cores ----

# crowd NAME: a step of two teams of threads, and three with something of their own, on two cores.
crowd() {
    local usual
    start "$1" -c2 --contention-aware=tag=locked,faithful "$BUILD/tests/cluster/teams" -o
    usual=$(slice_of_this)
    theirs="4 first 0 $usual, 4 second 0 $usual, 1 nice 0 $usual, 1 idle 5 $usual, 1 sliced 0 $([ "$usual" = 0 ] && echo 0 || echo 5), "
    given="4 first 3 $(longest "$usual"), 4 second 3 $(longest "$usual"), 1 nice 3 $(longest "$usual"), ${theirs#*nice 0 "$usual", }"
}

slice_of_this() {
    "$BUILD/tests/cluster/attributes" $$ | awk '{ print $4; exit }'
}

# What the kernel gives of 200 ms, where it has slices.
longest() {
    [ "$1" = 0 ] && echo 0 || echo 100
}

# Name, class and slice of the program's threads, but for its first one: slices_of NAME
slices_of() {
    local name pid
    pid=$(awk '{ print $4 }' "/proc/$(cat "$CLUSTER/out/$1.0.pid")/stat") # the program is the parent of what stands
    for name in first second nice idle sliced; do
        "$BUILD/tests/cluster/attributes" "$pid" | awk -v name="$name" '$1 == name { n++; line = $1 " " $2 " " $4 } END { printf "%d %s, ", n, line }'
    done
}

nice_of() {
    local pid
    pid=$(awk '{ print $4 }' "/proc/$(cat "$CLUSTER/out/$1.0.pid")/stat")
    "$BUILD/tests/cluster/attributes" "$pid" | awk '$1 == "nice" || $1 == "first" { print $3 }' | sort -nu | tr '\n' ' '
}

t85_each_thread_has_its_slice_until_the_release() {
    local nice
    waiting_for_locks
    crowd d
    soon "before it is measured" "$theirs" slices_of d
    nice=$(nice_of d)
    soon "each thread, as the kernel has it" "$given" slices_of d
    same "nice" "$(nice_of d)" "$nice"
    same "own" "$(explained d .faithful.own_threads)" "$([ "$(slice_of_this)" = 0 ] && echo 1 || echo 2)"
    ctl release "$(id_of d)" >/dev/null || fail "release"
    soon "released" "$theirs" slices_of d
    stop d
}

t85_each_thread_has_its_slice_until_berthd_stops() {
    waiting_for_locks
    crowd e
    soon "given" "$given" slices_of e
    daemon_stop berthd
    same "stopped" "$(slices_of e)" "$theirs"
    berthd_conf allow=auto,tag "counters_replay="
    berthd_start
    stop e
}

t85_each_thread_has_its_slice_until_the_next_berthd() {
    waiting_for_locks
    crowd g
    soon "given" "$given" slices_of g
    daemon_stop berthd KILL
    same "nobody is there" "$(slices_of g)" "$given"
    berthd_conf allow=auto,tag "counters_replay="
    berthd_start
    soon "by the next one" "$theirs" slices_of g
    stop g
}
