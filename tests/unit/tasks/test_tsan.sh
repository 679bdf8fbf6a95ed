#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_tsan - the tests of libberth_tasks with ThreadSanitizer in the library: no two threads use anything without an order between them.
# That it would be seen is shown first. Skipped where there is no ThreadSanitizer.
src=${srcdir:-.}
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0
# Fences are not known to it; the orders that it looks for are by acquire and release.
flags="-std=gnu11 -O1 -g -D_GNU_SOURCE -fsanitize=thread -Wno-unknown-warning-option -Wno-tsan -DRUNSTATEDIR=\"/run\" -I$src"
compiler=${CC:-cc}

shorter='-DTREES=1 -DTURNS=5000'
[ "${BERTH_THOROUGH:-}" != 1 ] || shorter=

# build NAME SOURCE..
build() {
    name=$1
    shift
    # shellcheck disable=SC2086 # lists of words
    $compiler $flags -o "$dir/$name" "$@" -lcmocka -lpthread
}

cat >"$dir/race.c" <<'END'
#include <pthread.h>
int shared;
static void *set(void *one) { shared++; return one; }
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    shared++;
    return pthread_join(thread, 0);
}
END
build race "$dir/race.c" 2>/dev/null && { "$dir/race" >"$dir/log" 2>&1; grep -q 'data race' "$dir/log"; } ||
    { echo 'no ThreadSanitizer that works here: skipped'; exit 77; }
src=$(cd "$src" && pwd)
flags="$flags -I$src"
# shellcheck disable=SC2086 # lists of words
(cd "$dir" && $compiler $flags -c "$src"/tasks/*.c "$src/blackboard/reader.c" "$src/models/tasks/locality.c" "$src/models/tasks/threshold.c" \
    "$src/runtime/cohort.c" "$src/runtime/contention.c" "$src/runtime/crowd.c" "$src/runtime/rt.c" "$src/runtime/said.c") || exit 99
for test in deque trees tasks mutex; do
    [ $test = mutex ] && flags="$flags -Wl,--wrap=mmap"
    # shellcheck disable=SC2086 # lists of words
    build "$test" $shorter "$src/tests/unit/tasks/test_$test.c" "$dir"/*.o || exit 99
    "$dir/$test" >"$dir/log" 2>&1 || { echo "$test:"; grep -v '^\[ RUN\|^\[  *OK' "$dir/log" | head -n 60; failed=1; }
done
exit $failed
