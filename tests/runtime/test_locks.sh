#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs of POSIX threads under the preload library, with domains that change at each call, so that every mutex that may have a cohort gets
# one: our own (locks.c), also with the library's sources and AddressSanitizer in it, and whatever of Debian's is installed. What is off, or is
# not asked for, leaves mutexes as they are. With BERTH_THOROUGH faults made on purpose have to be found.
set -u
srcdir=$(cd "${srcdir:-.}" && pwd)
library=${BERTH_RT_LIBRARY:-$PWD/.libs/libberth_rt.so}
page_tool=$PWD/tests/runtime/page
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 99
unset LD_PRELOAD BERTH_RT BERTH_RT_PAGE BERTH_RT_NODES BERTH_RT_COHORT
failed=0
words="sum kinds mixed conditions cancelled forks destroyed reused spins"

# same WHAT WANTED GOT
same() {
    [ "$2" = "$3" ] && { echo "ok - $1"; return; }
    printf 'not ok - %s:\n  wanted %s\n  got    %s\n' "$1" "$2" "$3"
    failed=1
}

# As if each thread had a CPU: cohorts are not for others. "unset" leaves it to the library.
export BERTH_RT_COHORT=64

# under COMMAND..: all that it says on one line.
under() {
    LD_PRELOAD=$library BERTH_RT_PAGE=$work/page BERTH_RT_NODES=${nodes-~2} timeout 1200 "$@" 2>&1 | tr '\n' ' ' | sed 's/ $//'
}

compile() { # OPTION..
    ${CC:-gcc} -std=gnu11 -g -D_GNU_SOURCE -DRUNSTATEDIR='"/run"' -I"$srcdir" "$@" 2>compiler.log
}

# build PROGRAM [OPTION]..: with the library's sources in it.
build() {
    program=$1
    shift
    compile "$@" -o "$program" "$srcdir/tests/runtime/locks.c" "$srcdir"/runtime/*.[cS] "$srcdir/blackboard/reader.c" -ldl -lpthread
}

cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
"$page_tool" make page features=8 || exit 99
${CC:-gcc} -std=gnu11 -O2 -D_GNU_SOURCE -I"$srcdir" -o locks "$srcdir/tests/runtime/locks.c" -lpthread || exit 99

# ---- ours ----
plain='sum plain normal plain default plain adaptive plain recursive plain checking plain robust plain shared plain inheriting plain mixed plain conditions plain cancelled plain forks plain destroyed plain reused plain spins plain'
cohort='sum cohort normal cohort default cohort adaptive cohort recursive plain checking plain robust plain shared plain inheriting plain mixed cohort conditions cohort cancelled cohort forks cohort destroyed cohort reused cohort spins plain'
# shellcheck disable=SC2086 # a list of words
{
    same 'without the library' "$plain" "$(PATIENCE=1 timeout 1200 ./locks $words | tr '\n' ' ' | sed 's/ $//')"
    same 'with cohorts' "$cohort" "$(under ./locks $words)"
    same 'with hand-overs between domains alone' "$cohort" "$(BERTH_RT_COHORT=0 under ./locks $words)"
}
same 'a cancellation that comes while locks are taken' 'pends cohort' "$(under ./locks pends)"
same 'the same, with more threads than CPUs' 'pends plain' "$(unset BERTH_RT_COHORT; under taskset -c "$cpu" ./locks pends)"
same 'more threads than CPUs' 'sum plain' "$(unset BERTH_RT_COHORT; under taskset -c "$cpu" ./locks sum)"
same 'flex has cohorts, too' 'sum cohort' "$("$page_tool" make page features=4; under ./locks sum)"
same 'the feature is off' 'sum plain' "$("$page_tool" make page features=1; under ./locks sum)"
"$page_tool" make page features=8
same 'BERTH_RT=off' 'sum plain' "$(BERTH_RT=off under ./locks sum)"
same 'one domain' 'sum plain' "$(nodes='*1' under ./locks sum)"
if build sanitized -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined; then
    # shellcheck disable=SC2086 # a list of words
    same 'nothing is touched that is not there any more, and spin locks have cohorts, which is not seen from outside' "${cohort%plain}cohort" \
        "$(BERTH_RT_PAGE=$work/page BERTH_RT_NODES=~2 timeout 1200 ./sanitized $words 2>&1 | head -c 3000 | tr '\n' ' ' | sed 's/ $//')"
else
    echo 'skipped: AddressSanitizer, which the compiler has not got'
fi

# ---- whatever is installed ----
seq 300000 | sed 's/.*/& some text of line & that can be packed/' >text

# agrees NAME COMMAND..: says the same with the library as without.
agrees() {
    name=$1
    shift
    command -v "$1" >/dev/null || { echo "skipped: $1 is not installed"; return; }
    same "$name" "$(timeout 1200 "$@" 2>&1 | cksum)" "$(LD_PRELOAD=$library BERTH_RT_PAGE=$work/page BERTH_RT_NODES=~2 timeout 1200 "$@" 2>&1 | cksum)"
}

cat >threads.py <<'END'
import threading, queue
lock, total, out = threading.Lock(), [0], queue.Queue(8)
def add():
    for i in range(20000):
        with lock:
            total[0] += 1
    out.put(total[0] > 0)
threads = [threading.Thread(target=add) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
print(total[0], out.qsize())
END
agrees 'xz packs in threads' sh -c 'xz -T4 --block-size=262144 -c text | xz -dc -T4'
agrees 'zstd packs in threads' sh -c 'zstd -q -T4 -B524288 -c text | zstd -q -dc'
agrees 'pigz packs in threads' pigz -p 8 -c text
agrees 'plzip packs in threads' plzip -n 4 -c text
agrees 'sort sorts in threads' sort --parallel=8 -S 8M -r text
agrees "Python's threads" python3 threads.py
agrees 'git looks in threads' git grep --no-index --threads=8 -c 99 -- text threads.py

# ---- faults made on purpose: whether these tests find them is asked by tests/nightly alone ----
[ -n "${BERTH_THOROUGH:-}" ] || exit $failed
mkdir right || exit 99
(cd right && compile -O1 -c "$srcdir/tests/runtime/locks.c" "$srcdir"/runtime/*.[cS] "$srcdir/blackboard/reader.c") || exit 99

# found NAME FILE SED WORD..: with this change of the source what the words run must fail, or not end.
found() {
    name=$1 file=$2 change=$3
    shift 3
    rm -rf broken && cp -r right broken
    sed "$change" "$srcdir/runtime/$file" >"broken/$file"
    if cmp -s "$srcdir/runtime/$file" "broken/$file" || ! compile -O1 -c "broken/$file" -o "broken/${file%.c}.o" ||
        ! compile -o faulty broken/*.o -ldl -lpthread; then
        echo "not ok - $name: nothing was changed, or it is no C"
        failed=1
        return
    fi
    for _ in 1 2 3 4 5; do # threads have to meet in the wrong place
        got=$(BERTH_RT_PAGE=$work/page BERTH_RT_NODES=~2 timeout 4 ./faulty "$@" 2>&1)
        if [ $? != 0 ] || echo "$got" | grep -q "${spoiled:-nothing}"; then
            echo "ok - $name is found: $(echo "$got" | tail -n 1)"
            return
        fi
    done
    echo "not ok - $name is not found: $got"
    failed=1
}

found 'a wait for a condition that keeps the domain' mutex.c 's/cohort_let_go(cohort);/;/' conditions
found 'a cohort that stays in a child' lines.c 's/madvise(memory, bytes, MADV_WIPEONFORK)/0/' forks
found 'a cohort that anybody with its number has' cohorts.c 's/atomic_load(&all->lock\[i\]) == (uintptr_t)lock/all->lock[i]/' reused
found 'a cohort given twice' mutex.c 's/ || has_cohort(mutex) ||/ ||/' destroyed
found 'an unlock past the cohort' mutex.c 's/cohort_unlock(cohort);/HOOK_CALL(unlock_hook.next, mutex);/' sum
found 'a spin lock unlocked past it' spin.c 's/return cohort_unlock(cohort), 0;/;/' spins
found 'a cohort of a spin lock that is no more' spin.c 's/    cohorts_drop(lock);//' spins
spoiled='recursive cohort' found 'a cohort for every kind' mutex.c 's/!is_normal(mutex) ||//' kinds
exit $failed
