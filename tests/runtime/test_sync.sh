#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Barriers, condition variables and mutexes of POSIX threads under the preload library (sync.c): as POSIX says, by themselves and distributed
# over 1, 2 and 4 played domains, and with threads that wander between 3; a million operations drawn at random; a million whose results are
# known (reference.c); ThreadSanitizer.
set -u
srcdir=$(cd "${srcdir:-.}" && pwd)
library=${BERTH_RT_LIBRARY:-$PWD/.libs/libberth_rt.so}
page_tool=$PWD/tests/runtime/page
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 99
failed=0
unset LD_PRELOAD BERTH_RT BERTH_RT_NODES
export LC_ALL=C BERTH_RT_PAGE="$work/page"
words='pending barrier destroy shared-barrier fork-barrier queue kinds shared-cond herd destroy-cond timed cancel users storm=1'

# same WHAT WANTED GOT
same() {
    [ "$2" = "$3" ] && return
    printf 'not ok - %s:\n  wanted %s\n  got    %s\n' "$1" "$2" "$3"
    failed=1
}

make_page() { # [FIELD=N]..
    "$page_tool" make page "$@" || exit 99
    exec 9<>page.said
    "$page_tool" said page >/dev/null
}

# right PROGRAM WORD..: what it prints when all is right.
right() {
    shift
    for word; do printf '%s right ' "$word"; done | sed 's/ $//'
}

# try WHAT NODES PROGRAM WORD..
try() {
    what=$1 nodes=$2
    shift 2
    same "$what" "$(right "$@")" "$(BERTH_RT_NODES=$nodes timeout 900 "$@" 2>&1 | tr '\n' ' ' | sed 's/ $//')"
}

under() { # WHAT NODES PROGRAM WORD..
    export LD_PRELOAD="$library"
    try "$@"
    unset LD_PRELOAD
}

# objects: how many were distributed, as the processes have said.
objects() {
    "$page_tool" said page | sed -n 's/.*processes \([0-9]*\) .* surprise 0 .*objects \([0-9]*\)$/\1 \2/p'
}

gcc --version >/dev/null 2>&1 || { echo 'no gcc'; exit 77; }
program=./sync
gcc -O2 -g -D_GNU_SOURCE -o sync "$srcdir/tests/runtime/sync.c" -lpthread || exit 1
# shellcheck disable=SC2086 # words
{
    try 'by themselves' '' "$program" $words
    make_page features=4
    for nodes in '*1' '*2' '*4' '~3'; do under "distributed over $nodes" "$nodes" "$program" $words; done
    under 'with the domains of the page' '' "$program" $words
    objects >/dev/null
    under 'barriers' '*2' "$program" barrier shared-barrier fork-barrier
    same 'those of one process are distributed, none in a child' '1 2' "$(objects)"
    under 'clocks' '*2' "$program" timed
    same 'condition variables of each clock are, where threads wait' '1 2' "$(objects)"
    under 'clocks in one domain' '*1' "$program" timed
    same 'there they are left to libc' '' "$(objects)"
    make_page features=1
    under 'with the feature off' '*2' "$program" barrier queue
    same 'nothing is distributed' '' "$(objects)"
}

# What each operation returns, on mutexes that have cohorts and on those that have none.
gcc -O2 -g -D_GNU_SOURCE -o reference "$srcdir/tests/runtime/reference.c" -lpthread || exit 1
same 'results by themselves' '1 right cohorts 0' "$(timeout 900 ./reference 1 2>&1)"
make_page features=12
for nodes in '*2' '~3'; do
    for game in 2 3 4 5 6 7 8 9; do # where CPUs are few, threads may not meet at a mutex
        got=$(LD_PRELOAD=$library BERTH_RT_NODES=$nodes BERTH_RT_COHORT=64 timeout 900 ./reference $game 2>&1)
        same "results, $nodes, game $game" "$game right" "${got% cohorts*}"
        [ "${got##* }" = 0 ] || break
    done
    [ "${got##* }" != 0 ] || same "mutexes that had a cohort, $nodes" 'some' 'none'
done

# ThreadSanitizer, without what it does not bear: fork, libc's waits by their version, and being cancelled in the midst of it.
runtime=$srcdir/runtime
# shellcheck disable=SC2086 # flags
if echo 'int main(void) { return 0; }' | gcc -fsanitize=thread -x c -o try - 2>/dev/null && ./try; then
    # Mutexes are libc's there: ThreadSanitizer stands before them itself.
    printf '#include "runtime/mutex.h"\nvoid mutex_before_wait(pthread_mutex_t *mutex) { (void)mutex; }\n' >mutexes.c
    gcc -O1 -g -fsanitize=thread -D_GNU_SOURCE -DRUNSTATEDIR='"/run"' -I"$srcdir" -o sync-tsan "$srcdir/tests/runtime/sync.c" mutexes.c \
        "$runtime/barrier.c" "$runtime/barrier_calls.c" "$runtime/cond.c" "$runtime/cond_calls.c" "$runtime/contention.c" \
        "$runtime/lines.c" "$runtime/nodes.c" "$runtime/rt.c" "$runtime/said.c" "$runtime/table.c" "$srcdir/blackboard/reader.c" \
        -lpthread -ldl >compiler.log 2>&1 || { cat compiler.log; exit 1; }
    make_page features=4
    try 'ThreadSanitizer, *1' '*1' ./sync-tsan barrier destroy # waits for conditions are libc's there
    for nodes in '*2' '*4' '~3'; do
        try "ThreadSanitizer, $nodes" "$nodes" ./sync-tsan barrier destroy herd destroy-cond timed storm=2
    done
else
    echo 'skipped: ThreadSanitizer, which gcc does not have here, or which does not run'
fi
[ $failed = 0 ] && echo 'ok - sync'
exit $failed
