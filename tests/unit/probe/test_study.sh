#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# test_study - berthctl study: made times whose parts are known come out right; programs are run beside each other on this machine, told
# to be another; prefetchers, which are files here, are on again after an end, a Ctrl-C and a kill; and what is wrong is said in a line.
# shellcheck source=tests/unit/common/ctl_check.sh
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"

# ---- made times ----

time_of() { printf '{"beside":"%s","prefetchers":%s,"seconds":[%s]},' "$@"; }
times='{"program":"a","beside":"b","times":['$(
    time_of alone true 8,8
    time_of same-cache true 12.8,12.8
    time_of alone false 10,10
    time_of other-package false 12,12
    time_of other-cache false 13.5,13.5
    time_of same-cache false 14.5,14.5
)
run "${times%,}]}" study --times -
grep -qE '^cache +10.0 % \+- +0.0 % +17 %$' "$dir/out" && grep -qE '^bus +15.0 % .* 25 %$' "$dir/out" &&
    grep -qE '^memory controller +20.0 % .* 33 %$' "$dir/out" && grep -qE '^prefetchers +15.0 % .* 25 %$' "$dir/out" &&
    grep -qE '^all +60.0 % .* 100 %$' "$dir/out" || bad "study --times" "the parts that were put in" "$(cat "$dir/out" "$dir/err")"
run "${times%,}]}" study --json --times -
cp "$dir/out" "$dir/first"
run "$(cat "$dir/first")" study --json --times -
cmp -s "$dir/out" "$dir/first" || bad "study --json --times" "what it has read" "$(cat "$dir/out")"

refuses '{}' 1 'times: missing' study --times -
refuses '{"times":[{"beside":"near","prefetchers":true,"seconds":[1]}]}' 1 "beside" study --times -
refuses '{"times":[{"beside":"alone","prefetchers":true,"seconds":[0]}]}' 1 "more than 0 expected" study --times -
refuses '{"times":[]}' 1 "nothing was measured alone" study --times -
refuses '' 2 "A and B expected" study a
refuses '' 2 "--times runs nothing" study --times x a b

# ---- runs, on what is told to be an Intel of two cores ----

tree() {
    local cpu
    rm -rf "$dir/devices"
    for cpu in 0 1; do
        mkdir -p "$dir/devices/dev/cpu/$cpu" "$dir/devices/proc"
        head -c 428 /dev/zero >"$dir/devices/dev/cpu/$cpu/msr"
    done
    printf '\004' | dd of="$dir/devices/dev/cpu/1/msr" bs=1 seek=420 conv=notrunc status=none
    printf 'vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 63\n' >"$dir/devices/proc/cpuinfo"
}

registers() {
    od -An -tx1 -j420 -N1 "$dir/devices/dev/cpu/0/msr" | tr -d ' \n'
    od -An -tx1 -j420 -N1 "$dir/devices/dev/cpu/1/msr" | tr -d ' '
}

wait_registers() { # VALUE
    for _ in {1..600}; do
        [ "$(registers)" = "$1" ] && return
        sleep 0.05
    done
    bad "study" "registers $1" "$(registers)"
}

printf 'device_root = %s\ntopology = package:1 l3:1 core:2 pu:1\n' "$dir/devices" >"$dir/berth.conf"
chmod 600 "$dir/berth.conf"
if [ "$(taskset -cp $$ 2>/dev/null | grep -c '0,1\|0-')" = 0 ]; then
    echo "no CPUs 0 and 1: programs are not run"
    exit "$failed"
fi
tree
run '' study --conf "$dir/berth.conf" --runs 2 --warm 0 --json 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done' 'sleep 0.05'
[ $status = 0 ] || bad study "status 0" "$status: $(cat "$dir/err")"
python3 - "$dir/out" <<'END' || bad "study --json" "four conditions, twice, and what lacks" "$(cat "$dir/out")"
import json, sys
said = json.load(open(sys.argv[1]))
assert [(one["beside"], one["prefetchers"], len(one["seconds"])) for one in said["times"]] == [
    ("alone", True, 2), ("alone", False, 2), ("same-cache", True, 2), ("same-cache", False, 2)], said
assert [one["of"] for one in said["parts"]] == [["cache", "bus", "controller"], ["prefetchers"]], said
assert [one["what"] for one in said["lacks"]] == ["other-package", "other-cache", "far-memory"], said
assert abs(sum(one["slowdown"] for one in said["parts"]) - said["total"]["slowdown"]) < 1e-9, said
END
[ "$(registers)" = 0004 ] || bad study "registers as before" "$(registers)"

# stopped SIGNAL: while prefetchers are off. What it has started goes with it, and they are on again.
stopped() {
    tree
    "$berthctl" study --conf "$dir/berth.conf" --runs 9 --warm 0 'exec sleep 0.3' "exec sleep 77.$$" >"$dir/out" 2>"$dir/err" &
    local pid=$!
    wait_registers 0f0f
    kill "-$1" $pid
    wait $pid 2>/dev/null
    wait_registers 0004
    for _ in {1..200}; do
        pgrep -f "^sleep 77.$$\$" >/dev/null || return
        sleep 0.05
    done
    bad "study, by SIG$1" "nothing that runs on" "$(pgrep -fc "^sleep 77.$$\$")"
}
stopped INT
grep -q 'stopped by SIGINT: nothing found' "$dir/err" || bad study "stopped by SIGINT" "$(cat "$dir/err")"
stopped TERM
stopped KILL
run '' study --conf "$dir/berth.conf" --warm 0 'exit 3' 'sleep 1'
[ $status = 1 ] && grep -q 'exit 3: exit status 3' "$dir/err" || bad study "exit status 3" "$(cat "$dir/err")"
exit "$failed"
