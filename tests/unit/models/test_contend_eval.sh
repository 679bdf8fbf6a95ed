#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_contend_eval - the figures of tests/bench/contend_eval for four programs and for copies, worked out by hand.
#
# The pairs of four suffer as in test_figure3: a program on average 20 (ab, cd), 10 (ac, bd) and 15 % (ad, bc). Products of the
# miss rates are 9 + 10, 45 + 2 and 18 + 5: miss rate takes the first, 10 points above the best; one drawn by lot is 5 above.
srcdir=${srcdir:-.}
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0

bad() {
    printf 'not ok: %s\n' "$*" >&2
    cat "$dir/out" "$dir/err" >&2
    failed=1
}
evaluate() { tests/bench/contend_eval "$@" >"$dir/out" 2>"$dir/err"; }
expect() { grep -qE "$1" "$dir/out" || bad "no line $1"; }

apps='"apps":[{"name":"a","ipc":1,"llc_mpki":9},{"name":"b","ipc":1,"llc_mpki":1},{"name":"c","ipc":1,"llc_mpki":5},
 {"name":"d","ipc":1,"llc_mpki":2}]'
truth='"corun_degradation":[[0.5,0.1,0.0,0.3],[0.3,0,0,0.1],[0.1,0,0,0.2],[0.3,0.2,0.2,null]]'
one="{$apps,\"machine\":{\"llc_bytes\":1048576,\"llc_ways\":16,\"dram_gbps\":20,\"clock_ghz\":3},$truth}"

printf '%s' "$one" >"$dir/one.json"
evaluate "$dir/one.json" || bad "status $?"
expect '^4 programs'
expect '^ *contend( +[-+0-9.]+){5}'
expect '^ *miss rate( +[-0-9.]+){2} +- +- +10\.00 '
expect '^ *by lot +- +- +- +- +5\.00 '
grep -q Pain "$dir/out" && bad 'Pain without profiles'

# Sets, of a machine in the other words; without writes the constant for them does nothing, without lines none does.
printf '{"sets":[%s,%s]}' "$one" "{$apps,\"machine\":{\"llc_sets\":1024,\"llc_ways\":16,\"line\":64,\"dram_peak_gbps\":20,
 \"clock_ghz\":3},$truth}" >"$dir/two.json"
evaluate "$dir/two.json" || bad "status $?"
[ "$(grep -c '^ *contend' "$dir/out")" = 2 ] || bad 'two sets'
[ "$(grep '^ *contend' "$dir/out" | sort -u | wc -l)" = 1 ] || bad 'the words differ, the machine does not'
evaluate "$dir/one.json" exposed=0 || bad "status $?"
expect '^ *contend .* 10\.0 +-15\.3 ' # nothing is predicted: the median and the mean of what they suffer
evaluate "$dir/one.json" nothing=1 && bad 'a constant that is none'

# Siblings: programs that do not meet in the cache lose by the core alone.
quiet='"apps":[{"name":"a","ipc":1,"mem_gbps":0},{"name":"b","ipc":1,"mem_gbps":0}]'
machine='"machine":{"llc_bytes":1048576,"llc_ways":16,"dram_gbps":20,"clock_ghz":2}'
printf '{"sibling":true,%s,%s,"corun_degradation":[[0.42,0.42],[0.42,0.42]]}' "$quiet" "$machine" >"$dir/siblings.json"
evaluate "$dir/siblings.json" || bad "status $?"
expect '^ *contend .* 0\.0 +[-+]0\.0 '
evaluate "$dir/siblings.json" sibling=0.52 || bad "status $?"
expect '^ *contend .* 10\.0 +\+10\.0 '

# The clock: with turbo programs lose by it as much as they work; what is fitted is that.
printf '{"source":"x, boost",%s,%s,"corun_degradation":[[0.031,0.031],[0.031,0.031]]}' "$quiet" "$machine" >"$dir/turbo.json"
evaluate "$dir/turbo.json" || bad "status $?"
expect '^ *contend .* 0\.0 +[-+]0\.0 '
sed 's/, boost//' "$dir/turbo.json" >"$dir/fixed.json"
evaluate "$dir/fixed.json" || bad "status $?"
expect '^ *contend .* 3\.1 +-3\.1 '
expect '^ *all +observed: clock '
evaluate --setting=turbo "$dir/fixed.json" || bad "status $?"
expect '^ *contend .* 0\.0 +[-+]0\.0 '

# A folder of results of Bubble-Up is a set.
mkdir "$dir/powersave"
printf 'a 4\nb 60\n' >"$dir/powersave/contentiousness_scores.csv"
printf 'name1 name2 expected1 expected2 actual1 actual2\na b 1 1 0.8 0.5\n' >"$dir/powersave/validated.csv"
"$srcdir"/tests/bench/bubble_set.sh "$dir/powersave" >"$dir/bubble.json" || bad 'bubble_set.sh'
grep -q '"clock":"powersave"' "$dir/bubble.json" || bad 'no clock'
[ "$(tail -n 2 "$dir/bubble.json" | tr -d '\n')" = '"corun_degradation":[[null,0.25],[1,null]]}' ] || bad 'other slowdowns'
evaluate "$dir/bubble.json" || bad "status $?"

# The integer programs of SPECspeed have one thread. Where those alone lose, by half of it beside one of theirs, the clock falls as the
# first half of the cores gets busy: two figures explain it, one does not.
mkdir "$dir/threads"
printf '600.a_s 0\n603.b_s 0\n605.c_s 0\n619.d_s 0\n' >"$dir/threads/contentiousness_scores.csv"
cat >"$dir/threads/validated.csv" <<'CSV'
600.a_s 605.c_s 1 1 0.7692 0.7692
600.a_s 603.b_s 1 1 0.625 1
600.a_s 619.d_s 1 1 0.625 1
605.c_s 603.b_s 1 1 0.625 1
605.c_s 619.d_s 1 1 0.625 1
603.b_s 619.d_s 1 1 1 1
CSV
"$srcdir"/tests/bench/bubble_set.sh "$dir/threads" >"$dir/threads.json" || bad 'bubble_set.sh'
[ "$(grep -o '"cores":[0-9]' "$dir/threads.json" | tr -d '\n')" = '"cores":1"cores":3"cores":1"cores":3' ] || bad 'other threads'
evaluate "$dir/threads.json" || bad "status $?"
expect '^ *all +observed: clock +[0-3]\.[0-9] '

# Copies: p does nothing in memory, and its three ranks take 30 % longer; half of that is waiting for each other.
cat >"$dir/runs.csv" <<'CSV'
dir,group,app,ranks,runtime_s,instr,cycles,mem_read_mbs,mem_write_mbs,l3_mbs
x,MEM,p,1,30,1e9,1e9,0,0,
x,MEM,p,3,13,1.5e9,1.725e9,0,0,
x,L3,p,1,30,1e9,1e9,,,0
CSV
evaluate "$dir/runs.csv" --domain=4 --dram-gbps=50 --each || bad "status $?"
expect '^n copies in a memory domain of 4 cores: 50 GB/s nominal'
expect '^ *p +3 +contend +0\.0 +by cpi +15\.0 +by time +30\.0$'
expect 'cycles per instruction +median error +15\.0 +bias +-15\.0 points +\(1\)'
expect 'time x ranks +median error +30\.0 +bias +-30\.0 points'
evaluate "$dir/runs.csv" --domain=2 || bad "status $?"
expect '\(0\)$'

echo '{}' >"$dir/empty.json"
echo 'app,ranks' >"$dir/short.csv"
for wrong in "$dir/empty.json" "$dir/none.json" "$dir/short.csv"; do
    if evaluate "$wrong" || [ "$(wc -l <"$dir/err")" -ne 1 ]; then
        bad "$wrong is not refused in one line"
    fi
done
exit $failed
