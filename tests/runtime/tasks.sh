# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
# tasks - OpenMP's tasks whose threads rest (resting.c), and programs of Porterfield's kind (tests/bench/tasks_kernels.c); sourced with the
# compiler's name in $compiler.
# shellcheck disable=SC2154 # what common.sh sets
# shellcheck source=tests/runtime/common.sh
. "${srcdir:-.}/tests/runtime/common.sh"
mkdir steps
export BERTH_RT_PAGE="$work/steps/page" OMP_MAX_ACTIVE_LEVELS=2 OMP_WAIT_POLICY=passive KMP_BLOCKTIME=0 OMP_NUM_THREADS=8
board_tool=${page_tool%page}board
kinds='flat tree steps chain locks nested'

[ -x "$board_tool" ] || { echo "no $board_tool"; exit 99; }

page() { # [FIELD=N]..
    (cd steps && "$page_tool" make page "$@") || exit 99
    exec 9<>steps/page.said
    "$page_tool" said steps/page >/dev/null
}

rested() {
    "$page_tool" said steps/page | sed -n '/^reduced/p'
}

# repeat TIMES UTILISATION..
repeat() {
    times=$1
    shift
    for _ in $(seq "$times"); do printf '%s\n' "$@"; done
}

compile -O2 -fopenmp -o resting "$sources/resting.c"
compile -O2 -fopenmp -o kernels "$srcdir/tests/bench/tasks_kernels.c" -lm

# ---- each number of threads, and all of them ----
page features=3
for threads in 1 3 6; do
    # shellcheck disable=SC2086 # a list of words
    same "$threads threads" "$kinds" "$(under ./resting $threads $kinds)"
done
same 'threads rested, and none was freed' 'reduced 0 throttled no rested yes freed 0' "$(rested)"
# shellcheck disable=SC2086
same 'all eight' "$kinds" "$(under ./resting 0 $kinds)"
same 'nobody rested' '' "$(rested)"

# ---- nothing stands still ----
same 'two that wait for each other' both "$(under ./resting 1 both)"
same 'that region was freed' 'reduced 0 throttled no rested yes freed 1' "$(rested)"

# ---- who is left alone ----
# shellcheck disable=SC2086
same 'BERTH_RT=off' "$kinds" "$(BERTH_RT=off under ./resting 1 $kinds)"
page features=1
# shellcheck disable=SC2086
same 'without the feature' "$kinds" "$(under ./resting 1 $kinds)"
same 'nobody rested in these' '' "$(rested)"

# ---- a blackboard that is played: eight, six and eight again ----
page features=2 hold=1
for _ in 1 2 3; do
    repeat 10 .2
    repeat 10 .9
done >file
repeat 10 .2 >>file
"$board_tool" follow "$work/steps/blackboard" .8 .5 5 "$work/steps/loops" <file &
until [ -e steps/blackboard ]; do :; done
same 'a replayed file' play "$(under ./resting 0 play)"
wait $!
same 'it reduces' "reduced $("$board_tool" count .8 .5 5 <file) throttled yes rested yes freed 0" "$(rested)"

# ---- health, sort, strassen: regions that begin with eight, and the blackboard goes on and off ----
page features=2 hold=1
for program in health sort strassen; do
    repeat 600 .2 .2 .2 .2 .2 .9 .9 .9 .9 .9 >file
    "$board_tool" play "$work/steps/blackboard" .8 .5 5 10 <file &
    player=$!
    until [ -e steps/blackboard ]; do :; done
    same "$program" ok "$(under ./kernels $program | sed 's/.* //')"
    kill $player
    wait $player
    rm -f steps/blackboard
done
# Whether any rests hangs on how many work at a time, of eight threads on the machine's CPUs.
same 'none was freed' 'freed 0' "$(rested | sed 's/.*\(freed\)/\1/')"

closing
