#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs of oneTBB have fewer threads while memory is saturated (runtime/tbb.c): a blackboard is played, and what the library allows followed.
compiler=g++
# shellcheck source=tests/runtime/common.sh
. "${srcdir:-.}/tests/runtime/common.sh"
mkdir steps
export BERTH_RT_PAGE="$work/steps/page"
board_tool=${page_tool%page}board
[ -x "$board_tool" ] || { echo "no $board_tool"; exit 99; }
echo '#include <oneapi/tbb/global_control.h>' >try.cc
"$compiler" -std=c++17 -c -o try.o try.cc 2>try.log || { echo "no oneTBB"; exit 77; }

# repeat TIMES UTILISATION
repeat() {
    for _ in $(seq "$1"); do echo "$2"; done
}

# plays WHAT WANTED THREADS WORD: what the program prints while the file is played, 20 ms a sample.
plays() {
    "$board_tool" play "$work/steps/blackboard" .8 .5 5 20 <file &
    until [ -e steps/blackboard ]; do :; done
    same "$1" "$2" "$(under ./tbb "$3" "$4")"
    wait $!
}

rested() {
    "$page_tool" said steps/page | sed -n '/^reduced/p'
}

compile -O2 -std=c++17 -o tbb "$sources/tbb.cc" -ltbb
(cd steps && "$page_tool" make page features=2 hold=1) || exit 99
exec 9<>steps/page.said
"$page_tool" said steps/page >/dev/null

{ repeat 40 .2; repeat 40 .9; repeat 30 .6; repeat 40 .2; repeat 40 .9; repeat 40 nan; } >file
plays 'a quarter rests while memory is saturated' '8 6 8 6 8' 8 play
same 'as often as the file says' "reduced $("$board_tool" count .8 .5 5 <file) throttled yes rested no freed 0" "$(rested)"
{ repeat 40 .2; repeat 40 .9; repeat 40 .2; } >file
plays "a program's own limit" '4 3 4' 4 play
plays 'too few for a quarter' '3' 3 play
plays 'it ends with a limit' '8 6' 8 end
plays 'what is thrown passes through' 'seven' 8 throw
rested >/dev/null
export BERTH_RT=off
plays 'BERTH_RT=off' '8' 8 play
same 'nobody said anything' '' "$(rested)"
closing
