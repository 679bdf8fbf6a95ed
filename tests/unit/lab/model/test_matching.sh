#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_ctl_model_matching - `berthctl model matching`: what goes in, what comes out, and each thing that can be wrong with it.
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"

four='"apps":["a","b","c","d"],"degradation":[[0,9,1,2],[0,0,3,1],[0,0,0,9],[0,0,9,0]]'
answers "{$four,\"group\":2}" '{"groups":[["a","c"],["b","d"]],"total":2.0}' model matching
answers "{$four}" '{"groups":[["a","c"],["b","d"]],"total":2.0}' model matching
# a cache for each; one for all; three of them in one
answers "{$four,\"groups\":4}" '{"groups":[["a"],["b"],["c"],["d"]],"total":0.0}' model matching
answers "{$four,\"group\":1}" '{"groups":[["a"],["b"],["c"],["d"]],"total":0.0}' model matching
answers "{$four,\"group\":4}" '{"groups":[["a","b","c","d"]],"total":34.0}' model matching
answers "{$four,\"group\":99,\"groups\":1000}" '{"groups":[["a"],["b"],["c"],["d"]],"total":0.0}' model matching
answers "{$four,\"group\":3}" '{"groups":[["a","c"],["b","d"]],"total":2.0}' model matching
# who is left over is alone, and the diagonal does not count
answers '{"apps":["z","y","x"],"degradation":[[7,2,1],[1,7,1],[0,0.5,-7]]}' '{"groups":[["z","x"],["y"]],"total":1.0}' model matching
answers '{"apps":["z"],"degradation":[[7]]}' '{"groups":[["z"]],"total":0.0}' model matching
# togetherness may help, and nobody need be kept apart at any price
answers '{"apps":["a","b","c","d"],"degradation":[[0,1e12,-0.5,0],[0,0,0,0.25],[0,0,0,1e12],[0,0,0,0]]}' \
    '{"groups":[["a","c"],["b","d"]],"total":-0.25}' model matching

# ---- many: found within the time, with a bound (half of the total takes a twentieth of a second on a machine that is not busy)
many() { # PROGRAMS FIELDS
    awk -v n="$1" -v fields="$2" 'BEGIN {
        for (i = 0; i < n; i++) apps = apps (i ? "," : "") "\"p" i "\""
        for (i = 0; i < n; i++) {
            row = ""
            for (j = 0; j < n; j++) row = row (j ? "," : "") (i * 37 % 101) * (j * 53 % 97)
            rows = rows (i ? "," : "") "[" row "]"
        }
        print "{\"apps\":[" apps "],\"degradation\":[" rows "]" fields "}"
    }'
}
field() { # NAME: a number of the last answer
    sed -n "s/.*\"$1\":\\([-0-9.e+]*\\).*/\\1/p" "$dir/out"
}
run "$(many 40 ',"group":4,"time_limit_s":3')" model matching
[ $status -eq 0 ] || bad 'model matching of 40' 'status 0' "$status: $(cat "$dir/err")"
grep -qE '"status":"(optimal|feasible)"' "$dir/out" || bad 'model matching of 40' 'a status' "$(cat "$dir/out")"
awk -v total="$(field total)" -v bound="$(field lower_bound)" -v gap="$(field gap)" 'BEGIN {
    exit !(total > 0 && bound > 0.5 * total && bound <= total && (gap - (total - bound) / total) ^ 2 < 1e-12)
}' || bad 'model matching of 40' 'total, bound and gap that agree' "$(cat "$dir/out")"
[ "$(grep -o '"p[0-9]*"' "$dir/out" | sort -u | wc -l)" -eq 40 ] || bad 'model matching of 40' 'all programs once' "$(cat "$dir/out")"
# beyond 16 by twos it is still exact, and says no more than that
run "$(many 40 ',"group":2')" model matching
grep -q 'status' "$dir/out" && bad 'model matching of 40 by twos' 'no status' "$(cat "$dir/out")"
[ "$(grep -o '"p[0-9]*"' "$dir/out" | sort -u | wc -l)" -eq 40 ] || bad 'model matching of 40 by twos' 'all programs once' "$(cat "$dir/out")"

wrong() { # INPUT TEXT
    refuses "$1" 1 "berthctl: model matching: $2" model matching
}
two='"apps":["a","b"],"degradation":[[0,1],[1,0]]'
wrong '{}' 'apps: missing'
wrong '{"apps":[]}' 'apps: empty'
wrong '{"apps":["a",7],"degradation":[[0,1],[1,0]]}' 'apps[1]: string expected'
wrong '{"apps":["a",""],"degradation":[[0,1],[1,0]]}' 'apps[1]: a name of'
wrong '{"apps":["b","a","c","a"],"degradation":[[0]]}' 'apps[3]: "a" is there twice'
wrong '{"apps":["a\nb","a\nb"],"degradation":[[0]]}' 'apps[1]: "a\nb" is there twice'
wrong '{"apps":["a","b"]}' 'degradation: missing'
wrong '{"apps":["a","b"],"degradation":[[0,1]]}' 'degradation: 2 elements expected, not 1'
wrong '{"apps":["a","b"],"degradation":[[0,1],7]}' 'degradation[1]: array expected'
wrong '{"apps":["a","b"],"degradation":[[0,1],[1]]}' 'degradation[1]: 2 elements expected, not 1'
wrong '{"apps":["a","b"],"degradation":[[0,"1"],[1,0]]}' 'degradation[0][1]: number expected, not string'
wrong '{"apps":["a","b"],"degradation":[[0,1],[null,0]]}' 'degradation[1][0]: missing'
wrong '{"apps":["a","b"],"degradation":[[0,NaN],[1,0]]}' 'degradation[0][1]: not a finite number'
wrong '{"apps":["a","b"],"degradation":[[0,1],[-2e12,0]]}' 'degradation[1][0]: -2e+12: between -1e+12 and 1e+12 expected'
wrong "{$two,\"group\":0}" 'group: at least 1'
wrong "{$two,\"group\":-1}" 'group:'
wrong "{$two,\"group\":\"2\"}" 'group:'
wrong "{$two,\"group\":1,\"groups\":1}" 'groups: 2 programs need at least 2 groups of 1'
wrong "{$two,\"groups\":0}" 'groups: 2 programs need at least 1'
wrong "{$two,\"time_limit_s\":0}" 'time_limit_s: more than 0'
wrong "{$two,\"time_limit_s\":\"1\"}" 'time_limit_s:'

exit $failed
