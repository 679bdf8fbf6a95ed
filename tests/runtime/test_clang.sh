#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# clang's programs, with libomp, under the preload library: checks.sh; with gcc's beside them in one process; and the library itself
# built by clang, and by gcc's link-time optimisation: what assembler calls must stay.
compiler=$("${srcdir:-.}/tests/find-clang")
# shellcheck source=tests/runtime/checks.sh
. "${srcdir:-.}/tests/runtime/checks.sh"

check_regions ./regions-O2
check_opened library-O0.so library-O2.so
compiler=gcc compile -O2 -fopenmp -fPIC -shared -DLIBRARY -o gcc.so "$sources/regions.c" -lpthread
check_opened library-O2.so gcc.so
compiler=gcc compile -O2 -fopenmp -fPIC -shared -o constructor-gcc.so "$sources/constructor.c" -lpthread
check_constructors constructor.so constructor-gcc.so
check_constructors constructor-gcc.so constructor.so

# ---- the region with a condition ----
if "$compiler" -fopenmp -DIF -o try "$sources/calls.c" 2>/dev/null; then
    compile -fopenmp -DIF -o calls-if "$sources/calls.c"
    make_page threads=3
    same 'a region with a condition, as its own' 'if 1 clause-if 1 if 6 clause-if 2 if 6' "$(./calls-if | tr '\n' ' ' | sed 's/ $//')"
    same 'a region with a condition, as the page says' 'if 1 clause-if 1 if 3 clause-if 2 if 3' "$(under ./calls-if)"
else
    echo 'skipped: a region with a condition, which LLVM has from 16 on'
fi

compile_library -o clang.so
compiler=gcc compile_library -flto -o lto.so
for library in "$work/clang.so" "$work/lto.so"; do
    check_kinds ./regions-O2
    check_own ./regions-O2
done
closing
