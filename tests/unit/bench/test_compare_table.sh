#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_compare_table - what tests/bench/compare's table marks: what is worse by more than a tenth and by more than chance, and nothing
# else.
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0
table=tests/bench/compare_table

bad() {
    printf 'not ok: %s\n' "$1" >&2
    cat "$dir/out" >&2
    failed=1
}

# samples KEY PER_ROUND REV HEAD: of 9 rounds; REV and HEAD are awk's, of r (the round), i (the sample) and noise (0 to 1).
samples() {
    awk -v key="$1" -v n="$2" 'BEGIN {
        srand(1)
        for (r = 0; r < 9; r++)
            for (i = 0; i < n; i++) {
                noise = rand(); printf "rev %d %s %f\n", r, key, '"$3"'
                noise = rand(); printf "head %d %s %f\n", r, key, '"$4"'
            }
    }' >>"$dir/samples"
}

row() { # KEY PATTERN WHAT: the label is the key
    grep "^$1 " "$dir/out" | grep -qE "$2" || bad "$3"
}

cat >"$dir/figures" <<'END'
same|same|ms|less|chance
slower|slower|ms|less|chance
little|little|ms|less|chance
once|once|ms|less|chance
memory|memory|KiB|less|chance
faster|faster|ms|less|chance
tail|tail|ms|less|chance
share|share|%|more|chance
gain|gain|%|more|chance
lines|lines|-|less|exact
less|less|-|less|exact
lacks|lacks|ms|less|chance
neither|neither|ms|less|chance
END
samples same 50 '10 + 5 * noise' '10 + 5 * noise'
samples slower 50 '10 + 5 * noise' '12 + 6 * noise'
samples little 50 '10 + noise' '10.8 + noise'
samples once 1 '10' '(r == 4 ? 90 : 10)'
samples memory 1 '100' '120'
samples faster 50 '10 + noise' '5 + noise'
samples tail 50 '10 + noise' '(i % 25 == 0 ? 40 : 10) + noise'
samples share 1 '90 + noise' '60 + noise'
samples gain 1 '60 + noise' '90 + noise'
printf '%s\n' 'rev 0 lines 1000' 'head 0 lines 1200' 'rev 0 less 1200' 'head 0 less 1000' 'head 0 lacks 3' >>"$dir/samples"
printf '%s\n' 'rev lacks that tree has none' 'head neither not here' >"$dir/reasons"
$table "$dir/figures" "$dir/samples" "$dir/reasons" >"$dir/out" || bad "status $?"

row same ' [0-9.]+$' "the same is marked"
row slower '  worse, p99 worse$' "a fifth more, each round"
row little ' 1\.0[0-9] .* [0-9.]+$' "less than a tenth is marked"
row memory '  worse$' "one sample a round, without noise"
row once ' 1\.00 ' "the median of nine rounds"
row once ' -$' "one round out of nine"
row faster ' 0\.[45][0-9] .* [0-9.]+$' "what is faster"
row tail '  p99 worse$' "a tail"
row share '  worse$' "more is better: less is marked"
row gain ' 1\.[45][0-9] .* -$' "more is better: more is not marked"
row lines ' 1\.20 .*  worse$' "what has no chance in it is marked by its ratio"
row less ' 0\.83 .* -$' "fewer lines"
row lacks ' - +3\.000 .* REV: that tree has none$' "why REV has none"
row neither ' - .* HEAD: not here$' "why HEAD has none"

$table --json "$dir/figures" "$dir/samples" "$dir/reasons" >"$dir/out" || bad "JSON: status $?"
grep -q '"figure":"slower".*"median":{[^}]*"worse":true}.*"figure":"little"' "$dir/out" || bad "JSON: worse"
grep -q '"figure":"lacks".*"median":{"rev":null,"head":3.0,"ratio":null,"p":null,"worse":false}.*"rev_lacks":"that tree has none"' "$dir/out" ||
    bad "JSON: what was not measured is null"
$table "$dir/none" "$dir/samples" "$dir/reasons" 2>"$dir/out" && bad "no such file"
exit $failed
