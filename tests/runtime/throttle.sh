# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
# throttle - loops whose threads rest (loops.c); sourced with the compiler's name in $compiler.
# shellcheck disable=SC2154 # what common.sh sets
# shellcheck source=tests/runtime/common.sh
. "${srcdir:-.}/tests/runtime/common.sh"
mkdir steps
export BERTH_RT_PAGE="$work/steps/page" OMP_MAX_ACTIVE_LEVELS=2 OMP_CANCELLATION=true OMP_SCHEDULE=dynamic OMP_WAIT_POLICY=passive
board_tool=${page_tool%page}board
plain='dynamic guided any-dynamic any-guided runtime unsigned inner-dynamic inner-guided inner-any inner-runtime inner-ull inner-ull-guided inner-ull-runtime'
kinds="$plain ordered across nowait few nested alone tasks taskloop late lone cancelled"
# A child of a process whose libgomp has threads can have no regions, one of libomp's none within a loop. Behind a region that was cancelled
# libomp 14 leaves out iterations, or hangs; and it hangs in the 24th loop that is cancelled, with the library or without.
case $compiler in gcc*) kinds="$kinds fork" ;; *) kinds="$kinds between" ;; esac

[ -x "$board_tool" ] || { echo "no $board_tool"; exit 99; }

page() { # [FIELD=N]..
    (cd steps && "$page_tool" make page "$@") || exit 99
    exec 9<>steps/page.said
    "$page_tool" said steps/page >/dev/null
}

rested() {
    "$page_tool" said steps/page | sed -n '/^reduced/p'
}

# The same words as it was told to run, or what was wrong.
runs() { # WHAT WORD..
    what=$1
    shift
    same "$what" "$(printf '%s\n' "$@" | grep -v = | tr '\n' ' ' | sed 's/ $//')" "$(LD_PRELOAD=$library timeout 900 ./loops "$@" 2>&1 | tr '\n' ' ' | sed 's/ $//')"
}

compile -O2 -fopenmp -o loops "$sources/loops.c" -lpthread

# ---- each number of threads, and all of them by turns ----
page features=3
# shellcheck disable=SC2086 # lists of words
{
    for correct in 1 2 3 4 5 6 7 8; do
        runs "$correct threads" correct=$correct $kinds cancelled-region
    done
    same 'threads rested, and none was freed' 'reduced 0 throttled no rested yes freed 0' "$(rested)"
    runs 'the number changes within loops' random=1 rounds=3 $kinds rounds=1 cancelled-region
    runs 'ten thousand loops' random=1 rounds=3400 few
    same 'none was freed of these' 'reduced 0 throttled no rested yes freed 0' "$(rested)"
}

# ---- who is left alone ----
same 'schedule(runtime) that is static' 'runtime inner-runtime inner-ull-runtime' \
    "$(OMP_SCHEDULE=static under ./loops random=1 runtime inner-runtime inner-ull-runtime)"
same 'ordered loops' 'ordered across' "$(under ./loops random=1 ordered across)"
same 'nobody rested in them' '' "$(rested)"
same 'BERTH_RT=off' 'dynamic' "$(BERTH_RT=off under ./loops random=1 dynamic)"
page features=1
same 'without the feature' 'dynamic' "$(under ./loops random=1 dynamic)"
same 'nobody rested in these' '' "$(rested)"

# ---- nothing stands still ----
page features=3
same 'who rests has a lock' 'locked' "$(under ./loops correct=1 locked)"
same 'that loop was freed' 'reduced 0 throttled no rested yes freed 1' "$(rested)"

# ---- a blackboard that is played: the next sample when the program has seen the last ----
# repeat TIMES UTILISATION..
repeat() {
    times=$1
    shift
    for _ in $(seq "$times"); do printf '%s\n' "$@"; done
}

# plays WHAT: the file's reductions are the program's.
plays() {
    "$board_tool" follow "$work/steps/blackboard" .8 .5 5 "$work/steps/loops" <file &
    until [ -e steps/blackboard ]; do :; done
    runs "$1" play
    wait $!
    same "$1: as often as the file says" "reduced $("$board_tool" count .8 .5 5 <file) throttled yes rested yes freed 0" "$(rested)"
}

page features=2 hold=1
{
    repeat 25 .2
    for _ in 1 2 3; do
        repeat 25 .9
        repeat 20 .6 # normal: nothing changes
        repeat 25 1.1 .85
        repeat 8 .9 .9 .9 .7 # never five in a row
        repeat 25 .3
        repeat 6 .95 .9 .2 # never five in a row
        repeat 25 nan
    done
} >file
same 'the file reduces' 3 "$("$board_tool" count .8 .5 5 <file)"
plays 'a replayed file'

closing
