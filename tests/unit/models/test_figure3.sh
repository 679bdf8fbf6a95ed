#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_figure3 - the figures of tests/bench/figure3 for four programs, worked out by hand.
#
# Beside each other the pairs suffer ab 0.4, cd 0.4; ac 0.1, bd 0.3; ad 0.6, bc 0: a program on average 20, 10 and 15 %.
# The optimum is 10; the worst schedule is 10 points above, one drawn by lot (0 + 5 + 10) / 3. Products of the miss rates are
# 9 + 10, 45 + 2 and 18 + 5: DI takes the first schedule, the worst. Pain and SDC have no profiles to go by.
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0

expect() { # WHAT PATTERN
    grep -qE "$2" "$dir/distinct" || { printf 'not ok: %s: wanted %s, got\n' "$1" "$2"; cat "$dir/out"; failed=1; } >&2
}

cat >"$dir/matrix.json" <<'JSON'
{"apps":[{"name":"a","llc_mpki":9},{"name":"b","llc_mpki":1},{"name":"c","llc_mpki":5},{"name":"d","llc_mpki":2}],
 "corun_degradation":[[0.5,0.1,0.0,0.3],[0.3,0,0,0.1],[0.1,0,0,0.2],[0.3,0.2,0.2,0]]}
JSON
tests/bench/figure3 "$dir/matrix.json" >"$dir/out" || { echo "not ok: status $?" >&2; failed=1; }
awk '/^4 programs, distinct/ { on = 1; print; next } /^[0-9]/ { on = 0 } on' "$dir/out" >"$dir/distinct"
expect optimum '^4 programs, distinct: 1 workloads; optimal 10\.00 %'
expect DI '^ *DI/missrate +10\.00$'
expect random '^ *random +5\.00$'
expect worst '^ *worst +10\.00$'
grep -q pain "$dir/distinct" && { echo 'not ok: pain without profiles' >&2; failed=1; }

echo '{}' >"$dir/empty.json"
for wrong in "$dir/empty.json" "$dir/none.json"; do
    if tests/bench/figure3 "$wrong" >"$dir/out" 2>"$dir/err" || [ "$(wc -l <"$dir/err")" -ne 1 ]; then
        echo "not ok: $wrong is not refused in one line" >&2
        failed=1
    fi
done
exit $failed
