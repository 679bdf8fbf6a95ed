#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_adapt - `berthctl calibrate --adapt`: runs made of the paper's equations give its coefficients back; with noise, how good they are is
# told; few runs and runs that say nothing are refused.
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"

# runs PAIRS SETS NOISE: lines of runs on 64 cores, the same each time.
runs() {
    awk -v pairs="$1" -v sets="$2" -v noise="$3" '
        function any() { state = (state * 16807) % 2147483647; return state / 2147483647 }
        function program(name) {
            threads[name] = 16 + int(48 * any()); sys[name] = any() / 2; lat[name] = 8 * any(); lock[name] = 20 * any(); mpa[name] = any()
            return sprintf("{\"threads\":%d,\"sys\":%.9f,\"lat\":%.9f,\"lock\":%.9f,\"mpa\":%.9f}", threads[name], sys[name], lat[name], lock[name], mpa[name])
        }
        BEGIN {
            state = 18
            for (i = 0; i < pairs; i++) {
                a = program("a"); b = program("b")
                usr = 65.2 - 0.6 * lock["a"] - 0.8 * lat["b"] - 9.6 * mpa["a"] - 10.2 * sys["a"] + 7.8 * 64 / threads["b"] + noise * (any() - 0.5)
                printf "{\"cores\":64,\"usr\":%.9f,\"a\":%s,\"b\":%s}\n", usr, a, b
            }
            for (i = 0; i < sets; i++) {
                a = program("a"); cores = 8 + int(8 * any())
                printf "{\"cores\":%d,\"usr\":%.9f,\"a\":%s}\n", cores, 18.6 - 0.3 * lock["a"] + 32.5 * cores / threads["a"] + noise * (any() - 0.5), a
            }
        }'
}

fits() { # CONDITION: awk's, on $1 to $6 (paap), $7 to $9 (pacc), $10 (R2) and $11 (sMAPE) of the pairs
    tr -d '{}" ' <"$dir/out" | sed 's/[][]/ /g' | awk '
        { split($0, part, " "); split(part[2], p, ","); split(part[4], c, ",")
          r2 = part[3]; sub(/.*r2:/, "", r2); sub(/,.*/, "", r2); smape = part[3]; sub(/.*,smape:/, "", smape); sub(/,.*/, "", smape)
          print p[1], p[2], p[3], p[4], p[5], p[6], c[1], c[2], c[3], r2, smape }' >"$dir/figures"
    awk "{ if (!($1)) exit 1 }" "$dir/figures" || bad 'calibrate --adapt' "$1" "$(cat "$dir/figures" "$dir/out" "$dir/err")"
}
near() { echo "\$$1 - ($2) < $3 && ($2) - \$$1 < $3"; }

runs 30 30 0 >"$dir/exact"
run '' calibrate --adapt "$dir/exact"
[ $status -eq 0 ] || bad 'calibrate --adapt' 'status 0' "$(cat "$dir/err")"
fits "$(near 1 65.2 .001) && $(near 2 -.6 .001) && $(near 3 -.8 .001) && $(near 4 -9.6 .001) && $(near 5 -10.2 .001) && $(near 6 7.8 .001)"
fits "$(near 7 18.6 .001) && $(near 8 -.3 .001) && $(near 9 32.5 .001) && \$10 > .9999 && \$11 < .01"
grep -q '"paap_fit":{"runs":30,"r2":.*"smape":.*"unseen_smape":.*"source":"'"$dir/exact"'"}}' "$dir/out" || bad 'calibrate --adapt' 'runs and source' "$(cat "$dir/out")"

# The model takes them as they are
coefficients=$(sed 's/^{"adapt"://; s/}$//' "$dir/out")
program='{"threads":32,"sys":0,"lat":0,"lock":0,"mpa":0}'
run "{\"cores\":64,\"programs\":[$program,$program],\"coefficients\":$coefficients}" model adapt
[ $status -eq 0 ] && [ ! -s "$dir/err" ] || bad 'model adapt' 'the coefficients taken, and nothing unread' "$(cat "$dir/err")"

# A folder of the same runs in two files says the same
mkdir "$dir/folder"
sed -n '1,20p' "$dir/exact" >"$dir/folder/first"
sed -n '21,$p' "$dir/exact" >"$dir/folder/second"
echo 'no JSON' >"$dir/folder/.hidden"
run '' calibrate --adapt "$dir/exact"
sed 's/"source":.*//' "$dir/out" >"$dir/by_file"
run '' calibrate --adapt "$dir/folder"
[ $status -eq 0 ] && [ "$(sed 's/"source":.*//' "$dir/out")" = "$(cat "$dir/by_file")" ] || bad 'calibrate --adapt' 'the same of a folder' "$(cat "$dir/out" "$dir/err")"
echo '{' >"$dir/folder/third"
refuses '' 1 "berthctl: calibrate: $dir/folder/third:1: " calibrate --adapt "$dir/folder"

runs 200 40 10 >"$dir/noisy"
run '' calibrate --adapt "$dir/noisy"
fits "$(near 2 -.6 .2) && $(near 3 -.8 .4) && $(near 9 32.5 15) && \$10 > .5 && \$10 < .97 && \$11 > 1 && \$11 < 15"

wrong() { # FILE TEXT
    refuses '' 1 "berthctl: calibrate: $2" calibrate --adapt "$dir/$1"
}
runs 29 30 0 >"$dir/few"
wrong few '--adapt: 29 runs beside another: at least 30 are needed for paap'
runs 30 1 0 >"$dir/one"
wrong one '--adapt: 1 run in a set of cores: at least 30 are needed for pacc'
runs 40 40 0 | sed 's/"sys":[0-9.]*/"sys":0.5/g' >"$dir/same"
wrong same '--adapt: runs beside another do not tell what is due to what'
echo '{"cores":64,"usr":101,"a":{}}' >"$dir/line"
wrong line "$dir/line:1: usr: 101: between 0 and 100"
{ sed 1q "$dir/exact"; echo '{"cores":64,"usr":1,"a":{"threads":1}}'; } >"$dir/line"
wrong line "$dir/line:2: a.sys: missing"
wrong nosuch "$dir/nosuch: No such file"
mkdir "$dir/empty"
wrong empty '--adapt: 0 runs beside another: at least 30 are needed for paap'

exit $failed
