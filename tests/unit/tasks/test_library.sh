#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_library - libberth_tasks.so exports what berth_tasks.h and berth_mutex.h declare and nothing else, needs libc only, and its headers are of
# C11 and of C++. Runs in the build folder.
src=${srcdir:-.}
library=.libs/libberth_tasks.so
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0
bad() {
    echo "$*"
    failed=1
}

[ -r "$library" ] || { echo "no library at $library: build it"; exit 1; }
readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' |
    grep -vE '^(libc|libpthread|ld-linux.*|lib[a-z]*san)\.so' >"$dir/needed" && bad "needs $(cat "$dir/needed")"
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >"$dir/exported"
sed -n '/^typedef/d; s/^[a-z].*[ *]\(berth_[mt][a-z_]*\)(.*/\1/p' "$src/tasks/berth_tasks.h" "$src/tasks/berth_mutex.h" | sort -u >"$dir/declared"
diff "$dir/declared" "$dir/exported" || bad 'declared (<) and exported (>) differ'
readelf -lW "$library" | grep -q 'GNU_STACK.*RWE' && bad 'wants a stack that can be executed'

cat >"$dir/use.c" <<'END'
#include <berth_mutex.h>
#include <berth_tasks.h>
static struct berth_mutex *mutex;
static int done;
static void say(const void *arguments)
{
    berth_mutex_lock(mutex);
    done += *(const int *)arguments;
    berth_mutex_unlock(mutex);
}
int main(void)
{
    struct berth_tasks *pool = berth_tasks_start(0);
    int one = 1;
    mutex = berth_mutex_new(0);
    berth_tasks_run(pool, say, &one, sizeof(one));
    berth_mutex_free(mutex);
    return berth_tasks_stop(pool) == 0 && done == 1 ? 0 : 1;
}
END
cp "$dir/use.c" "$dir/use.cc"
case $(nm -D --undefined-only "$library") in *__asan* | *__ubsan* | *__tsan*) exit $failed ;; esac # programs would need them, too
"${CC:-cc}" -std=c11 -pedantic -Wall -Wextra -Werror -I"$src/tasks" "$dir/use.c" -o "$dir/c" "$library" || bad 'C11: it is not'
LD_LIBRARY_PATH=.libs "$dir/c" || bad 'a program of C does not get what it wants'
if command -v c++ >/dev/null; then
    c++ -std=c++11 -pedantic -Wall -Wextra -Werror -I"$src/tasks" "$dir/use.cc" -o "$dir/cc" "$library" || bad 'C++: it is not'
    LD_LIBRARY_PATH=.libs "$dir/cc" || bad 'a program of C++ does not get what it wants'
fi
exit $failed
