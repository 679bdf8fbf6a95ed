#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_silence - tests/bench/silence starts a berthd, watches it either way, and says what it saw: all figures are there.
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
export TMPDIR=$dir
failed=0
silence=tests/bench/silence
# Only root may register steps.
steps=serial.64+ step=step.64x1
[ "$(id -u)" = 0 ] || steps=nobody+ step=nobody+

bad() {
    printf 'not ok: %s\n' "$1" >&2
    cat "$dir/out" "$dir/err" >&2
    failed=1
}

# says WHAT PATTERN
says() {
    grep -qE "$2" "$dir/out" || bad "$1"
}

$silence --only "$steps" --seconds 1 --settle 0.5 --detours 0.2 --json >"$dir/out" 2>"$dir/err" || bad "status $?"
says "the scene" '"scenes":\[\{"scene":"[a-z.0-9]+\+","seconds":[0-9.]+,"by":"(switches|schedstat)","unseen":0,'
says "threads" '"threads":\[\{"bursts":[0-9]+,.*"name":"[^"]+"'
says "all of them" '"all":\{"bursts":[0-9]+,"wakes_a_second":[0-9.]+,"median_ms":([0-9.e-]+|null),"p90_ms":.*,"worst_ms":.*,"share_of_a_core":[0-9.e-]+\}'
says "a program of a thousand nodes" '\{"iteration_ms":5\.0,"nodes":1000,"together":false,"longer":[1-9][0-9.]*\}'
says "and together" '\{"iteration_ms":5\.0,"nodes":1000,"together":true,"longer":[1-9][0-9.]*\}'
says "detours" '"without":\{"seconds":.*"with":\{"seconds":.*"berthd_share":[0-9.e-]+\}'

$silence --only nobody --only "$step" --seconds 0.5 --settle 0 --detours 0 --schedstat >"$dir/out" 2>"$dir/err" || bad "text: status $?"
says "by schedstat" '^(step\.64x1|nobody\+): .* by schedstat$'
says "a row of all" '^  all  +[0-9.]+ +[0-9]+ '
says "a row of 5 ms" '^ +5 ms( +[0-9.]+){6}$'
[ "$(grep -c '^nobody: ' "$dir/out")" = 1 ] || bad "both scenes"
grep -q detours "$dir/out" && bad "detours that nobody asked for"

for wrong in '--only step.7' '--seconds 0' '--seconds x' '--nothing' 'argument'; do
    # shellcheck disable=SC2086
    $silence $wrong >"$dir/out" 2>"$dir/err"
    [ $? = 2 ] || bad "$wrong: status"
    grep -q 'silence --help' "$dir/err" || bad "$wrong: says nothing"
done
$silence --help >"$dir/out" || bad "--help: status"
says "--help" '^usage: silence'
$silence --list >"$dir/out" || bad "--list: status"
[ "$(grep -c . "$dir/out")" = 21 ] || bad "--list: all scenes"
exit $failed
