#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# test_microstates - `berthctl microstates` on programs whose threads are known: of `knee` some wait for a lock, a loop runs or waits for a
# CPU, a sleeper does nothing. What it cannot do is said in a line.
# shellcheck source=tests/unit/common/ctl_check.sh
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"
pids=
trap 'for pid in $pids; do kill "$pid" 2>/dev/null; done; wait; rm -rf "$dir"' EXIT

tests/fixtures/programs/knee 6 1 &
knee=$!
sh -c 'while :; do :; done' &
loop=$!
sleep 600 &
sleeper=$!
pids="$knee $loop $sleeper"
for _ in {1..600}; do # until its threads are there
    [ "$(find /proc/$knee/task -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)" -ge 6 ] && break
    sleep 0.05
done

run '' microstates --json --for 3 $pids
[ $status = 0 ] || bad microstates "status 0" "$status: $(cat "$dir/err")"
python3 - "$dir/out" $pids <<'END' || bad microstates "what is known of these programs" "$(cat "$dir/out")"
import json, sys
said = json.load(open(sys.argv[1]))
knee, loop, sleeper = ([one for one in said["threads"] if one["pid"] == int(pid)] for pid in sys.argv[2:])
assert len(knee) >= 6 and len(loop) == len(sleeper) == 1, "threads"
assert sleeper[0]["cpu"] == sleeper[0]["waits_per_s"] == 0, "the sleeper"
assert loop[0]["cpu"] + loop[0]["lat"] > 80, "the loop runs, or waits for a CPU"
assert all(one["lck"] in (None, 0) for one in loop + sleeper), "who waits for no lock"
if all(one["lck"] is not None for one in knee):
    assert sum(one["lck"] > 50 for one in knee) >= 3, "of one useful thread of six the others wait"
for one in said["threads"]:
    if one["usr"] is not None and one["sys"] is not None:
        assert abs(one["usr"] + one["sys"] - one["cpu"]) < 1e-6, "parts of its CPU time"
END
run '' microstates --for 0.2 $loop
[ "$(wc -l <"$dir/out")" = 2 ] && grep -qE '^ +PID +TID NAME +CPU% +USR% +SYS% +LAT% +LCK% +WAITS/S$' "$dir/out" ||
    bad microstates "a line for one thread" "$(cat "$dir/out" "$dir/err")"
[ "$(awk '{ if (length > 80) n++ } END { print n + 0 }' "$dir/out")" = 0 ] || bad microstates "80 columns" "$(cat "$dir/out")"

refuses '' 1 "4194305: no such process" microstates 4194305
refuses '' 2 "the number of a process expected, not 'x1'" microstates x1
refuses '' 2 "takes PIDs" microstates
refuses '' 2 "--for" microstates --for 0 1
exit "$failed"
