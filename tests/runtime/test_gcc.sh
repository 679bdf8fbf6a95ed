#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# gcc's programs, with libgomp, under the preload library: checks.sh; and what only gcc has: wheels with a libgomp of their own, static
# programs, set-group-ID, interfaces of old, the library itself built by link-time optimisation.
compiler=gcc
# shellcheck source=tests/runtime/checks.sh
. "${srcdir:-.}/tests/runtime/checks.sh"

check_preload ./regions-O2
check_regions ./regions-O2
make_page threads=3
same 'regions within leagues of teams' 'teams 4' "$(under ./regions-O2 teams=2)"
check_opened library-O0.so library-O2.so
if make_wheel library-O2.so wheel.so; then
    export LD_LIBRARY_PATH="$work"
    check_opened library-O2.so wheel.so
    unset LD_LIBRARY_PATH
else
    same 'a library with its own libgomp' 'could be made' 'could not'
fi

# ---- interfaces ----
compile -o calls "$sources/calls.c"
compile -DOLD -o calls-old "$sources/calls.c" -l:libgomp.so.1
make_page threads=3
same 'gcc 4.8: as its own' 'start 6 loop 6 sum 4950' "$(./calls-old | tr '\n' ' ' | sed 's/ $//')"
same 'gcc 4.8: as the page says' 'start 3 loop 3 sum 4950' "$(under ./calls-old)"
same 'a weak symbol, alone' 'weak 1' "$(./calls)"
same 'a weak symbol: the region is run' 'weak 3' "$(under ./calls)"

# ---- programs that are left alone ----
make_page threads=3
if "$compiler" -static -fopenmp -o try try.c 2>/dev/null; then
    compile -O2 -fopenmp -static -o regions-static "$sources/regions.c" -lpthread
    same 'a static program' 'plain 6' "$(under ./regions-static plain)"
else
    echo 'skipped: a static program, for which there are no libraries'
fi
if [ "$(id -u)" = 0 ] && cp regions-O2 regions-setgid && chgrp 65534 regions-setgid && chmod g+s regions-setgid &&
    [ "$(./regions-setgid secure)" = 'secure 1' ]; then
    same 'a program that is set-group-ID' 'secure 1 plain 6' "$(under ./regions-setgid secure plain)"
else
    echo 'skipped: a program that is set-group-ID, which needs root and a file system that has it'
fi

# ---- the library by link-time optimisation ----
compile_library -flto -o lto.so
library=$work/lto.so
check_kinds ./regions-O2
check_own ./regions-O2
closing
