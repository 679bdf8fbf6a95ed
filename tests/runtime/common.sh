# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
# common - what the tests of the preload library share; sourced with the compiler's name in $compiler. Runs in the build folder.
# Exits with 77 where the compiler or its OpenMP run-time is not installed.
# shellcheck disable=SC2154 # compiler
set -u
srcdir=$(cd "${srcdir:-.}" && pwd)
sources=$srcdir/tests/runtime
library=${BERTH_RT_LIBRARY:-$PWD/.libs/libberth_rt.so}
page_tool=$PWD/tests/runtime/page
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$work" # for a program that runs as another user
cd "$work" || exit 99
failed=0
unset LD_PRELOAD BERTH_RT OMP_DYNAMIC OMP_SCHEDULE OMP_THREAD_LIMIT OMP_PROC_BIND OMP_PLACES
export LC_ALL=C OMP_NUM_THREADS=6,4 OMP_MAX_ACTIVE_LEVELS=2 BERTH_RT_PAGE="$work/page"

# same WHAT WANTED GOT
same() {
    [ "$2" = "$3" ] && return
    printf 'not ok - %s:\n  wanted %s\n  got    %s\n' "$1" "$2" "$3"
    failed=1
}

compile() {
    "$compiler" -g -D_GNU_SOURCE -I"$srcdir" "$@" 2>"$work/compiler.log" || { echo "not ok - $compiler $*"; cat "$work/compiler.log"; exit 1; }
}

# compile_library FLAG..: the preload library, by another compiler than it was built with
compile_library() {
    compile -O2 -shared -fPIC -fvisibility=hidden -DRUNSTATEDIR='"/run"' -Wl,--version-script="$srcdir/runtime/exports.map" "$@" \
        "$srcdir"/runtime/*.c "$srcdir"/runtime/*.S "$srcdir/blackboard/reader.c"
}

# Kept open by somebody, as by berthd: else the kernel forgets what nobody has read.
make_page() { # [FIELD=N]..
    "$page_tool" make page "$@" || exit 99
    exec 9<>page.said
    "$page_tool" said page >/dev/null
}

# under COMMAND..: with the library; all that it says on one line.
under() {
    LD_PRELOAD=$library timeout 600 "$@" 2>&1 | tr '\n' ' ' | sed 's/ $//'
}

said() {
    "$page_tool" said page
}

closing() {
    [ $failed = 0 ] && echo "ok - $compiler"
    exit $failed
}

"$compiler" --version >/dev/null 2>&1 || { echo "no $compiler"; exit 77; }
echo 'int main(void) { return 0; }' >try.c
"$compiler" -fopenmp -include omp.h -o try try.c 2>try.log || { echo "$compiler has no OpenMP run-time:"; cat try.log; exit 77; }
