#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the preload library and of libberth_tasks in which threads give up their CPU between any two atomic operations (yields.h): barriers,
# throttled loops, tasks, sleeping workers, cohorts, condition variables. With BERTH_THOROUGH it is shown first that a lost wake-up is seen.
set -u
srcdir=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
unset LD_PRELOAD BERTH_RT BERTH_RT_PAGE BERTH_RT_NODES BERTH_RT_COHORT
cc=${CC:-gcc}
failed=0
shorter='-DSTOLEN=200000 -DTREES=1' # the tests of tasks, where a thread meets others all the time
[ "${BERTH_THOROUGH:-}" != 1 ] || shorter=
page=$PWD/tests/runtime/page

# compile OPTION..
compile() {
    # shellcheck disable=SC2086 # the compiler may have options
    $cc -std=gnu11 -O1 -g -D_GNU_SOURCE -DRUNSTATEDIR='"/run"' -include "$srcdir/tests/runtime/yields.h" -I"$srcdir" "$@"
}

# build PROGRAM SOURCE..
build() {
    program=$work/$1
    shift
    compile -o "$program" "$@" -lcmocka -ldl -lpthread || exit 99
}

# right PROGRAM [WORD]..
right() {
    timeout 1200 "$work/$1" >"$work/log" 2>&1 && { echo "ok - $1"; rm "$work/$1"; return; }
    echo "not ok - $1"
    grep -v '^\[ RUN\|^\[  *OK' "$work/log" | head -n 40
    failed=1
}

printf '#ifdef __clang__\n#error\n#endif\n' | $cc -E - >/dev/null 2>&1 || { echo 'no gcc: skipped'; exit 77; }

# ---- barriers: at first with a flag that who ends a round takes from those who sleep for the next ----
with_barrier="$srcdir/tests/unit/runtime/test_barrier.c $srcdir/runtime/lines.c $srcdir/runtime/nodes.c -Wl,--wrap=lines_take"
lost_wake_up() {
    end=$(($(date +%s) + 900))
    sed 's/atomic_load(&slots.slot\[i\]->sleepers)/atomic_exchange(\&slots.slot[i]->sleepers, 0)/
        s/atomic_fetch_add(&slot->sleepers, 1)/atomic_store(\&slot->sleepers, 1)/
        /atomic_fetch_sub(&slot->sleepers, 1)/d' "$srcdir/runtime/barrier.c" >"$work/flag.c"
    # shellcheck disable=SC2086 # a list of words
    build flag "$work/flag.c" $with_barrier
    until [ "$(date +%s)" -gt "$end" ]; do # on a machine with other work few threads meet there
        timeout 15 "$work/flag" 'threads_may_come_from_another*' >/dev/null 2>&1
        status=$?
        [ $status -eq 0 ] || break
    done
    if [ "$status" -eq 124 ]; then
        echo 'ok - a lost wake-up is seen'
    else
        echo "not ok - a lost wake-up is seen: status $status"
        failed=1
    fi
}
[ -z "${BERTH_THOROUGH:-}" ] || lost_wake_up # a test of this test: whether threads meet there is luck
# shellcheck disable=SC2086 # a list of words
build barrier "$srcdir/runtime/barrier.c" $with_barrier
right barrier

# ---- throttled loops, tasks ----
build throttle "$srcdir/tests/unit/runtime/test_throttle.c" "$srcdir/runtime/throttle.c"
right throttle
(cd "$work" && compile -c "$srcdir"/tasks/*.c "$srcdir/blackboard/reader.c" "$srcdir/models/tasks/locality.c" "$srcdir/models/tasks/threshold.c" \
    "$srcdir/runtime/cohort.c" "$srcdir/runtime/contention.c" "$srcdir/runtime/crowd.c" "$srcdir/runtime/rt.c" "$srcdir/runtime/said.c") || exit 99
for test in deque sleep tasks fork trees; do
    wrap=
    [ $test = sleep ] && wrap=-Wl,--wrap=pthread_mutex_lock
    # shellcheck disable=SC2086 # lists of words
    build $test $wrap $shorter "$srcdir/tests/unit/tasks/test_$test.c" "$work"/*.o
    right $test
done
rm -f "$work"/*.o

# ---- mutexes and spin locks with cohorts ----
build locks "$srcdir/tests/runtime/locks.c" "$srcdir"/runtime/*.[cS] "$srcdir/blackboard/reader.c"
(cd "$work" && "$page" make page features=8) || exit 99
export BERTH_RT_PAGE="$work/page" BERTH_RT_NODES=~2 BERTH_RT_COHORT=64
for word in sum kinds mixed conditions cancelled forks destroyed reused spins; do
    said=$(timeout 1200 "$work/locks" $word 2>&1) && echo "ok - locks: $word" && continue
    echo "not ok - locks: $word: $said"
    failed=1
done

# ---- condition variables and barriers, as programs call them ----
build sync "$srcdir/tests/runtime/sync.c" "$srcdir"/runtime/*.[cS] "$srcdir/blackboard/reader.c"
(cd "$work" && "$page" make page features=12) || exit 99
for nodes in '*2' '~3'; do
    for word in pending barrier destroy queue herd destroy-cond cancel users; do
        said=$(BERTH_RT_NODES=$nodes timeout 1200 "$work/sync" $word 2>&1) && echo "ok - sync, $nodes: $word" && continue
        echo "not ok - sync, $nodes: $word: $said"
        failed=1
    done
done
exit $failed
