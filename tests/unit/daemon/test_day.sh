#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_day - two short days of tests/bench/day, with the real berthd: what must hold of any policy, and of DI.
#
# Two devils on one cache lose half of their time, a devil and a turtle little, two turtles nothing: to spread them is best, which
# DI does by their miss rates. Where nobody disturbs anybody every stretch is 1. A job lasts hours, and a window of counts 5 minutes: what
# berthd does at each window is most of the work. BERTH_THOROUGH=1: berth.conf's 10 seconds.
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0
window=300
[ "${BERTH_THOROUGH:-}" != 1 ] || window=10

bad() {
    printf 'not ok: %s\n' "$1" >&2
    cat "$dir/out" "$dir/err" >&2
    failed=1
}

truth() { # ROW ROW
    cat >"$dir/truth.json" <<JSON
{"machine":{"llc_bytes":1048576,"llc_ways":16,"line_bytes":64,"dram_gbps":20,"clock_ghz":2},
 "apps":[{"name":"devil","ipc":0.5,"llc_apki":40,"llc_mpki":20,"mem_gbps":1.3},
         {"name":"turtle","ipc":1.5,"llc_apki":1,"llc_mpki":0.1,"mem_gbps":0.02}],
 "corun_degradation":[$1,$2]}
JSON
}

day() { # OPTION...
    tests/bench/day --jobs 30 --days 2 --topology "package:1 l3:2 core:2 pu:1" --policies di --window $window "$@" "$dir/truth.json" \
        >"$dir/out" 2>"$dir/err" || bad "status $?"
    [ ! -s "$dir/err" ] || bad "something on stderr"
}

figures() { # all but berthd's CPU time
    sed -E 's/ s +[0-9.]+ s$/ s/' "$dir/out" | tail -n +2
}

# rows CONDITION: each row of a day, $3 stretch, $4 avoided, $6 at once, $8 moves, holds it; there is one at least.
rows() {
    awk '/^ *[0-9]+ +(slurm|di|payer|forgetful|optimum) / { n++; if (!('"$1"')) wrong = 1 } END { exit wrong || !n }' "$dir/out" || bad "$1"
}

truth '[1,0.1]' '[0.05,0]'
day
[ "$(grep -cE '^ +[12]  (slurm|di|payer|forgetful|optimum) ' "$dir/out")" -eq 8 ] || bad "two days of four"
rows '$3 >= 1'
rows '$2 != "slurm" || ($4 == 0 && $6 == 0 && $8 == 0)'
rows '$2 != "optimum" || ($4 == 100 && $6 == 100)'
rows '$2 != "payer" || ($4 > 50 && $6 > 50 && $8 > 0)'
rows '$2 != "di" || ($4 > 50 && $6 > 50 && $6 <= 100 && $8 > 0 && $11 > 0)'
figures >"$dir/first"
awk '/^ *[0-9]+ +(slurm|di|payer|forgetful|optimum) / { print $3, $8, $9 }' "$dir/out" >"$dir/short"
day --json
grep -q '"placed_by":"di".*"avoided":0\.[5-9]' "$dir/out" || bad "JSON"
tr '{' '\n' <"$dir/out" | sed -n 's/.*"stretch":\([^,]*\),.*"moves_a_job":\([^,]*\),"wait_s":\([^,]*\),.*/\1 \2 \3/p' |
    awk '{ printf "%.4f %.2f %.1f\n", $1, $2, $3 }' | cmp -s - "$dir/short" || bad "the same seed, other days"
day --seed 2
figures | cmp -s - "$dir/first" && bad "another seed, the same days"

# On two memory nodes pages follow where berthd moves a job, and that costs something; Slurm moves nobody, and the optimum pays nothing.
day --days 1 --memory-gib 4 --topology "package:2 [numa] l3:1 core:2 pu:1"
rows '$2 != "di" || ($8 > 0 && $11 > 0 && $12 > 0)'
rows '($2 != "slurm" && $2 != "optimum") || ($11 == 0 && $12 == 0)'
[ "$(grep -c forgetful "$dir/out")" -eq 1 ] || bad "nobody forgets the memory"
figures >"$dir/first"
day --days 1 --memory-gib 4 --topology "package:2 [numa] l3:1 core:2 pu:1"
figures | cmp -s - "$dir/first" || bad "the same seed, other memory"

# Jobs of the sizes of a log: one core, two, three cores of a job on two nodes. A part of them stay, and Slurm has larger sockets or smaller ones.
cat >"$dir/log.swf" <<'SWF'
; Version: 2.2
1 0 5 100 1 -1 -1 1 -1 -1 1 1 1 1 1 -1 -1 -1
2 0 5 100 2 -1 -1 2 -1 -1 1 1 1 1 1 -1 -1 -1
3 0 5 0 64 -1 -1 4 -1 -1 1 1 1 1 1 -1 -1 -1
4 0 5 100 5 -1 -1 5 -1 -1 1 1 1 1 1 -1 -1 -1 {17,17,18,18,18} q 1
SWF
day --days 1 --sizes "$dir/log.swf" --topology "package:2 [numa] l3:1 core:4 pu:1" --free on
rows '$3 >= 1 && ($2 != "slurm" || $8 == 0) && ($2 != "optimum" || $8 > 0)'
rows '($2 != "optimum" && $2 != "payer") || $4 > 20'
[ "$(grep -cE '^  1  (lot|missrate|emptiest) ' "$dir/out")" -eq 3 ] || bad "what costs nothing has no sizes"
figures >"$dir/first"
day --days 1 --sizes "$dir/log.swf" --topology "package:2 [numa] l3:1 core:4 pu:1" --free on --keep 1 --memory-gib 4
rows '$8 == 0'
day --days 1 --sizes "$dir/log.swf" --socket l3 --topology "package:1 [numa] l3:2 core:4 pu:1"
figures | cmp -s - "$dir/first" && bad "other sockets, the same cores"

truth '[0,0]' '[0,0]'
day --days 1
rows '$3 >= 1 && $3 <= 1.0002'

truth '[1,0.1]' '[0.05,0]'
day --days 1 --null --free on --noise .3,.15,.05 --policies di,di+learn=off
grep -qE '^  1  di\+learn=off +1\.000[0-9] +- % +- % ' "$dir/out" || bad "a policy with a line of its own; nothing to be had"
[ "$(grep -cE '^  1  (lot|missrate|emptiest) +1\.000[0-9] ' "$dir/out")" -eq 3 ] || bad "what costs nothing"
day --days 1 --keep 1
rows '$2 != "di" || $8 == 0'
day --days 1 --opted 0
rows '$2 != "di" || $8 == 0'

truth '[0,1]' '[1,0]' # who parts the devils is worse at once
day --days 1 --json
grep -q '"placed_by":"di"[^}]*"avoided_at_once":-[0-9]' "$dir/out" || bad "JSON of what is worse"

# Where who misses least disturbs most, parting those that miss often is wrong.
truth '[1,0.1]' '[0.05,0]'
day --days 1 --wrong --json
grep -q '"placed_by":"di"[^}]*"avoided_at_once":-[0-9]' "$dir/out" || bad "di does not hurt where it is wrong"

# The page: three sentences, and each cache with as many jobs on the left as on the right; of two devils and two turtles on two caches the devils
# are parted. Where all stay both sides are alike.
page() { # OPTION...
    day --days 1 --page "$@"
    awk 'length > 80' "$dir/out" | grep -q . && bad "the page is wider than 80 columns"
    for sentence in Slowdown Queue Energy; do
        grep -q "^$sentence: " "$dir/out" || bad "no sentence of $sentence"
    done
    [ "$(grep -c '^cache ' "$dir/out")" -eq 2 ] || bad "two caches are not drawn"
    tr '\n' ' ' <"$dir/out" | sed -nE 's/.*took ([0-9.]+) % longer than alone, +with berth +([0-9.]+) %.* ([0-9.]+) kWh, +with berth ([0-9.]+) kWh.*/\1 \2 \3 \4/p' >"$dir/short"
}
truth '[1,0.1]' '[0.05,0]'
page
awk '$2 >= $1 || $4 >= $3 { exit 1 } END { exit !NR }' "$dir/short" || bad "the page has no gain"
page --keep 1
awk '$2 != $1 || $4 != $3 { exit 1 } END { exit !NR }' "$dir/short" || bad "the page gains where all stay"
sed -n 's/^cache . //p; s/^ *work lost/work lost/p' "$dir/out" | awk -F '|' '{ sub(/ +$/, "", $1); sub(/ +$/, "", $2); sub(/^ +/, "", $1); sub(/^ +/, "", $2) } NF == 2 && $1 != $2 { exit 1 }' ||
    bad "the drawing differs where all stay"

# What the demo plays.
srcdir=${srcdir:-.}
tests/bench/day --days 1 --jobs 100 --page --window $window "$srcdir/tests/fixtures/pairs/spec2017.json" >"$dir/out" 2>"$dir/err" || bad "the demo's day"
[ "$(grep -c '^cache ' "$dir/out")" -eq 8 ] || bad "the demo's day has no eight caches"
# A standing trial: each policy is run once more, a part of its jobs is only observed by lot, the same part each time, and where nobody
# disturbs anybody that costs nothing, and nothing wrong is said.
# told KEY: a word or number of the trial's JSON
told() { sed -n 's/.*"trials":\[{\(.*\)}\].*/\1/p' "$dir/out" | tr -d '{}' | tr ',' '\n' | sed -n "s/^\"$1\"://p" | head -n 1; }
truth '[1,0.1]' '[0.05,0]'
day --days 1 --jobs 100 --control 30 --json
grep -q '"placed_by":"di, control 30"' "$dir/out" || bad "no run with the trial"
[ "$(told truth)" = '"helps"' ] && [ "$(told jobs)" -eq 100 ] && [ "$(told lot)" -ge 15 ] && [ "$(told lot)" -le 45 ] || bad "the lot"
grep -q '"sentence":".*the lot had left these there (control)' "$dir/out" || bad "the verdict is not the trial's"
first=$(told lot)
day --days 1 --jobs 100 --control 30 --json
[ "$(told lot)" = "$first" ] || bad "the same seed, another lot"
day --days 1 --jobs 100 --control 30 --null --noise .1,.05,.02
grep -qE '^di, control 30, trial: 100 jobs, [0-9]+ by lot; it costs -?0\.0[0-9] % of the time' "$dir/out" || bad "a trial costs where there is nothing to gain"
grep -q '^  "no gain here" is said ' "$dir/out" || bad "what is right where there is nothing to gain"
grep -q '^  something wrong is said  after 0 jobs$' "$dir/out" || bad "something wrong is said"

echo '{}' >"$dir/empty.json"
for wrong in "$dir/empty.json" "$dir/none.json"; do
    if tests/bench/day "$wrong" >"$dir/out" 2>"$dir/err" || [ "$(wc -l <"$dir/err")" -ne 1 ]; then
        bad "$wrong is not refused in one line"
    fi
done
exit $failed
