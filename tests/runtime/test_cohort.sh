#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_cohort.sh [TURNS] - the cohort (runtime/cohort.h) under threads of several domains: nobody is in with another, none is lost, most
# hand-overs are local, none waits too long; under ThreadSanitizer, too. Then with a fault of each kind made on purpose, which must be found.
# TURNS: of the longest run (a million; 100000000 take some minutes).
set -u
turns=${1:-1000000}
srcdir=$(cd "${srcdir:-.}" && pwd)
source=$srcdir/runtime/cohort.c
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

build() { # PROGRAM SOURCE [OPTION]..
    program=$1 of=$2
    shift 2
    ${CC:-gcc} -std=gnu11 -g -D_GNU_SOURCE -I"$srcdir" "$@" -o "$program" "$srcdir/tests/runtime/cohort.c" "$of" -lpthread 2>"$work/compiler.log"
}

# holds PROGRAM DOMAINS THREADS TURNS BOUND [BARE|all]
holds() {
    timeout $((300 + turns / 100000)) "$@" >"$work/said" 2>&1 && { echo "ok - $*: $(cat "$work/said")"; return; }
    echo "not ok - $*: $(head -c 2000 "$work/said")"
    failed=1
}

# found NAME SED WORD..: with this change of the source what the words run must fail, or not end.
found() {
    name=$1 change=$2
    shift 2
    sed "$change" "$source" >"$work/broken.c"
    if cmp -s "$source" "$work/broken.c" || ! build "$work/broken" "$work/broken.c" -O2; then
        echo "not ok - $name: nothing was changed, or it is no C"
        failed=1
    elif timeout 5 "$work/broken" "$@" >"$work/said" 2>&1; then
        echo "not ok - $name is not found: $(cat "$work/said")"
        failed=1
    else
        echo "ok - $name is found: $(tail -n 1 "$work/said")"
    fi
}

build "$work/cohort" "$source" -O2 || { cat "$work/compiler.log"; exit 1; }
cd "$work" || exit 99
holds ./cohort 2 4 "$turns" 64
holds ./cohort 2 4 100000 0
holds ./cohort 16 4 100000 64
holds ./cohort 2 4 100000 64 2
holds ./cohort 2 4 50000 1 2
for bound in 64 8 1 0; do
    holds ./cohort 2 4 20000 $bound all
    holds ./cohort 4 3 20000 $bound all
done
holds ./cohort 2 20 20000 64 all
holds ./cohort 1 4 20000 64 all

found 'two who take a domain at once' 's/!atomic_compare_exchange_strong(&domain->word, &free, HELD)/(sched_yield(), atomic_store(\&domain->word, HELD), free != FREE)/' \
    2 4 1000000 64
found 'the lock handed on without bound' 's/atomic_store(&cohort->left, left - 1);//' 2 4 20000 64 all
found 'who comes always before who waits' 's/may_barge(cohort, domain) ? FREE : GIVEN/FREE/' 1 4 50000 8 all
found 'the global lock given away, and back, too' 's/end_turn(cohort, HAVE);/& global->unlock(lock);/' 2 4 20000 64 all
found 'no hand-over within a domain' 's/!has_waiters(domain) || left == 0/left < UINT32_MAX/' 2 4 20000 64 all
found 'who sleeps is not woken' 's/if (asleep)$/if (0)/' 2 4 1000000 64
found 'the next leader is not told' 's/if (!invited)$/if (0)/' 2 4 20000 64 all
found 'the domain kept for a wait' 's/^    leave(cohort);$/    (void)leave;/' 2 4 1000000 64

if build "$work/sanitized" "$source" -O1 -fsanitize=thread && ./sanitized 1 1 1 1 >/dev/null 2>&1; then
    holds ./sanitized 2 4 50000 64
    holds ./sanitized 2 4 20000 2 2
    holds ./sanitized 4 3 5000 64 all
else
    echo 'skipped: ThreadSanitizer, which the compiler has not got, or which cannot run here'
fi
exit $failed
