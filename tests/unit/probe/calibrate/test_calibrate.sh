#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_ctl_calibrate - `berthctl calibrate`: the file it writes, what it refuses, and that nothing is left where it is stopped.
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"

# calibrate ARGUMENT...: status in $status
calibrate() {
    "$berthctl" calibrate --quick --runs 1 "$@" >"$dir/out" 2>"$dir/err" </dev/null
    status=$?
}

# ---- what is refused before anything is measured
refuses '' 2 "--runs: a number from 1 to 1000 expected, not '0'" calibrate --runs 0
refuses '' 2 "--runs: a number from 1 to 1000 expected, not 'five'" calibrate --runs five
refuses '' 2 '--output: a value is missing' calibrate --output
refuses '' 2 '--slow: no such option' calibrate --slow
refuses '' 2 'takes no argument: here' calibrate here
refuses '' 1 "$dir/no: No such file or directory" calibrate --output "$dir/no/m.json"
refuses '' 1 "$dir: not a regular file" calibrate --force --output "$dir"
echo kept >"$dir/m.json"
refuses '' 1 "$dir/m.json: there is one already; --force replaces it" calibrate --output "$dir/m.json"
[ "$(cat "$dir/m.json")" = kept ] || bad 'calibrate --output' 'the file as it was' "$(cat "$dir/m.json")"
says 'usage: berthctl calibrate' calibrate --help

printf '{"auto_close":-4}' >"$dir/dram"
refuses '' 1 'auto_close: -4: between 0' calibrate --quick --output "$dir/n.json" --dram "$dir/dram"

# ---- a profile
printf '{"channels":2,"auto_close":4,"tRTRS_ns":4.5}' >"$dir/dram"
calibrate --force --output "$dir/m.json" --dram "$dir/dram"
[ $status -eq 0 ] || bad 'calibrate' 'status 0' "$status: $(cat "$dir/err")"
grep -q "^NUMA node " "$dir/out" && grep -q "^written to $dir/m.json" "$dir/out" || bad calibrate 'a summary' "$(cat "$dir/out")"
[ "$(grep -c '^NUMA node' "$dir/out")" -ne 1 ] || grep -q '^one NUMA node: nothing to measure between nodes' "$dir/out" ||
    bad calibrate 'a word about the only node' "$(cat "$dir/out")"
for field in version source host date runs nodes local_gbps local_spread triad_gbps alpha_gbps beta latency_ns uni_gbps bi_gbps \
    core_latency_ns suspend_ns route; do
    grep -q "\"$field\"" "$dir/m.json" || bad calibrate "$field" "$(cat "$dir/m.json")"
done
grep -q '"source": ".*given".*"tRTRS_ns": 4.5,.*"auto_close": 4' "$dir/m.json" ||
    bad 'calibrate --dram' 'what was given' "$(cat "$dir/m.json")"
grep -q '^not known of the memory: .*(--dram gives them)' "$dir/out" || grep -q '^memory: .*SMBIOS, SPD' "$dir/out" ||
    bad calibrate 'what is not known of the memory' "$(cat "$dir/out")"
# on stdout only
calibrate --output -
[ $status -eq 0 ] && grep -q '^{.*"local_gbps"' "$dir/out" || bad 'calibrate --output -' 'a profile' "$status: $(cat "$dir/out" "$dir/err")"

# ---- it keeps to the CPUs that it may use
if cpu=$(taskset -pc $$ 2>/dev/null | sed 's/.*: \([0-9]*\).*/\1/') && [ -n "$cpu" ]; then
    taskset -c "$cpu" "$berthctl" calibrate --quick --runs 1 --output - >"$dir/out" 2>"$dir/err"
    status=$?
    [ $status -eq 0 ] && grep -q "\"cpus\":\"$cpu\",\"cores\":1," "$dir/out" ||
        bad "taskset -c $cpu calibrate" 'one core' "$status: $(cat "$dir/out" "$dir/err")"
    [ "$(nproc --all)" -eq 1 ] || grep -q 'may be used here' "$dir/err" || bad "taskset -c $cpu calibrate" 'a note' "$(cat "$dir/err")"
fi

# ---- stopped: one line, status 1, and no file
mkdir "$dir/stopped"
"$berthctl" calibrate --runs 1000 --output "$dir/stopped/m.json" >"$dir/out" 2>"$dir/err" &
pid=$!
for _ in $(seq 400); do # until it has a handler for it
    caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' /proc/$pid/status)
    [ $((0x$caught >> 14 & 1)) = 1 ] && break
    sleep 0.05
done
kill -TERM $pid
wait $pid
status=$?
[ $status -eq 1 ] || bad 'calibrate, SIGTERM' 'status 1' "$status"
grep -q 'interrupted: nothing written' "$dir/err" || bad 'calibrate, SIGTERM' 'interrupted: nothing written' "$(cat "$dir/err")"
[ -z "$(ls -A "$dir/stopped")" ] || bad 'calibrate, SIGTERM' 'no file' "$(ls -A "$dir/stopped")"

# ---- a full disk: one line, and no part of a file
export berthctl dir
if unshare -m true 2>/dev/null; then
    mkdir "$dir/full"
    unshare -m sh -c 'mount -t tmpfs -o size=16k none "$dir/full" && { dd if=/dev/zero of="$dir/full/rest" bs=4k count=8; true; } 2>/dev/null &&
        "$berthctl" calibrate --quick --runs 1 --output "$dir/full/m.json" >"$dir/out" 2>"$dir/err"; echo $? >"$dir/status"; ls "$dir/full" >"$dir/left"'
    [ "$(cat "$dir/status")" -eq 1 ] && grep -q 'full/m.json: No space left on device' "$dir/err" ||
        bad 'calibrate, disk full' 'No space left on device' "$(cat "$dir/status" "$dir/err")"
    [ "$(cat "$dir/left")" = rest ] || bad 'calibrate, disk full' 'no file' "$(cat "$dir/left")"
fi

exit $failed
