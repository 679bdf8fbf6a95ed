#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_threads - `berthctl threads` on a program with a known knee: only so many of its threads are of use, the others wait for a lock. Who
# waits is as certain on a slow or busy machine as on another; no other figure is asked for.
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"
programs=$(realpath "${PROGRAMS:-./tests/fixtures/programs}")
knee=$programs/knee

threads() { # ARGUMENT...; $status, $dir/out, $dir/err
    "$berthctl" threads --start 300s --grace 100ms --db "$dir/any.db" "$@" >"$dir/out" 2>"$dir/err" </dev/null
    status=$?
}

has() { # FILE TEXT
    grep -qF -e "$2" "$dir/$1" || bad "threads: $1" "$2" "$(cat "$dir/$1")"
}

ends() { # STATUS: how the last one ended
    [ "$status" -eq "$1" ] || bad threads "status $1" "$status: $(cat "$dir/err")"
}

# The program has a name that only this test gives it.
own=$dir/knee-$$
cp "$knee" "$own"
alive() {
    for exe in /proc/[0-9]*/exe; do
        [ "$(readlink "$exe" 2>/dev/null)" != "$own" ] || return 0
    done
    return 1
}
none_left() {
    ! alive || bad threads 'nobody left' "$exe"
}

# Locks alone end it: 2, 4, 6, and 8 of which a quarter waits
echo '{"thresholds":{"cpu_util_delta":-100,"lock":10,"lock_delta":10}}' >"$dir/locks"
threads --json --cores 2 --min 2 --max 16 --step 2 --probe 500ms --thresholds "$dir/locks" -- "$own" '{n}' 6
ends 0
none_left
if grep -q 'cannot be read here (/proc/PID/task/TID/s' "$dir/err" && ! grep -q 'migrations' "$dir/err"; then
    echo 'SKIP: this kernel does not tell who waits for a lock, or CPU time of threads'
    exit 77
fi
has out '{"threads":6,"n":6,"ended":"lock",'
[ "$(grep -o '"threads":[0-9]*,"n"' "$dir/out" | tr -dc '0-9\n' | tr '\n' ' ')" = '6 2 4 6 8 ' ] || bad threads '2, 4, 6, 8 tried' "$(cat "$dir/out")"
has err "$own is started at most 16 times, and killed each time"

# Its use of the CPUs never rises by so much; a program that makes 2n+3 threads of n; a number in the environment
echo '{"thresholds":{"cpu_util_delta":1000}}' >"$dir/util"
threads --json --cores 2 --min 5 --max 9 --step 2 --makes 2n+3 --thresholds "$dir/util" -- sh -c "exec $own \$((2 * {n} + 3)) 1"
ends 0
has out '{"threads":5,"n":1,"ended":"util",'
has out '{"threads":7,"n":2,"seen":7,'
threads --cores 2 --min 2 --max 3 --step 1 --db "$dir/store.db" --tag omp --thresholds "$dir/util" -- sh -c "exec $own \$OMP_NUM_THREADS 1"
ends 0
has out '2 threads (n = 2) on 2 cores: more threads use no more of the CPUs'
"$berthctl" profile show --db "$dir/store.db" omp >"$dir/out" 2>"$dir/err"
has out '  threads       2 on 2 cores, from OMP_NUM_THREADS (())'
"$berthctl" profile show --json --db "$dir/store.db" omp >"$dir/out" 2>"$dir/err"
has out '"cores":2,"threads":2,"environment":true,"measured_at":'
none_left

# It does not take the number: what is found says nothing, which is told, and not stored
"$berthctl" threads --json --cores 2 --min 2 --max 4 --step 2 --start 100ms --grace 100ms --db "$dir/any.db" --thresholds "$dir/locks" -- "$own" 1 1 \
    >"$dir/out" 2>"$dir/err" </dev/null
status=$?
ends 0
has err 'with n = 2 it should have 2 threads, and has 1 after 0.1 s'
has err 'not stored: it did not have the threads that it should'
has out '"stored":false'
[ "$(grep -c 'it should have' "$dir/err")" -eq 1 ] || bad threads 'told once' "$(cat "$dir/err")"
"$berthctl" threads --min 2 --max 4 --step 2 --start 100ms --grace 100ms --record "$dir/none" -- "$own" 1 1 >"$dir/out" 2>"$dir/err" </dev/null
status=$?
ends 1
has err 'not recorded: it did not have the threads that it should'
[ ! -e "$dir/none" ] || bad 'threads --record' nothing "$(cat "$dir/none")"

# What leaves its session and hears no SIGTERM is killed, too
threads --json --min 2 --max 4 --step 2 --thresholds "$dir/locks" -- "$own" '{n}' 9 detach
ends 0
has out '{"threads":4,"n":4,"ended":"max",'
none_left

# SIGTERM ends it, with the program
"$berthctl" threads --probe 300s --thresholds "$dir/locks" -- "$own" '{n}' 1 >"$dir/out" 2>"$dir/err" </dev/null &
pid=$!
until alive || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
kill $pid
wait $pid
status=$?
ends 1
has err 'stopped by SIGTERM: nothing found'
none_left

# and so does Ctrl-C, which the program does not get: it is not of the terminal's foreground
"$berthctl" threads --probe 300s --thresholds "$dir/locks" -- "$own" '{n}' 1 >"$dir/out" 2>"$dir/err" </dev/null &
pid=$!
until alive || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
kill -INT $pid
wait $pid
status=$?
ends 1
has err 'stopped by SIGINT: nothing found'
none_left

# Nothing is started
threads --dry-run --min 4 --max 9 --step 4 -- "$own" '{n}' 'of {n}'
ends 0
[ "$(tail -n +2 "$dir/out")" = "$(printf '%s\n' "$own 4 of 4" "$own 8 of 8" "$own 9 of 9")" ] || bad 'threads --dry-run' '4, 8, 9' "$(cat "$dir/out")"

threads --dry-run --json --probe 500ms --min 4 --max 7 --step 4 -- "$own" 'of {n}'
ends 0
[ "$(cat "$dir/out")" = '{"most":3,"probe_s":0.5,"would_start":['"{\"threads\":4,\"n\":4,\"environment\":false,\"command\":[\"$own\",\"of 4\"]},{\"threads\":7,\"n\":7,\"environment\":false,\"command\":[\"$own\",\"of 7\"]}]}" ] ||
    bad 'threads --dry-run --json' '4, 7' "$(cat "$dir/out")"

# Each step is another n, also where a program makes several threads of one more
threads --dry-run --cores 2 --makes 4n+3 --max 24 -- "$own" '{n}'
ends 0
[ "$(tail -n +2 "$dir/out")" = "$(printf '%s\n' "$own 1" "$own 3" "$own 5")" ] || bad 'threads --makes 4n+3' '8, 16, 24 threads' "$(cat "$dir/out")"
threads --dry-run --cores 2 --makes 10n+15 --max 25 -- "$own" '{n}'
ends 0
[ "$(tail -n +2 "$dir/out")" = "$own 1" ] || bad 'threads --makes 10n+15' '25 threads' "$(cat "$dir/out")"

# Recorded sweeps, and what is learnt of them: the figures of three programs by hand
threads --min 2 --max 8 --step 2 --record "$dir/sweep" -- "$own" '{n}' 4
ends 0
[ "$(grep -c '"step":2,"points":\[{"threads":2,.*{"threads":8,' "$dir/sweep")" -eq 1 ] || bad 'threads --record' 'one line of 4 points' "$(cat "$dir/sweep")"
cat >"$dir/sweeps" <<'END'
{"step":8,"points":[{"threads":8,"cpu_util":10,"lock":1,"vcx":10,"migr":1},{"threads":16,"cpu_util":20,"lock":2,"vcx":20,"migr":2},{"threads":24,"cpu_util":30,"lock":3,"vcx":30,"migr":3},{"threads":32,"cpu_util":40,"lock":13,"vcx":40,"migr":4},{"threads":40,"cpu_util":50,"lock":23,"vcx":50,"migr":30}]}
{"step":8,"points":[{"threads":8,"cpu_util":10,"lock":0,"vcx":10,"migr":0},{"threads":16,"cpu_util":20,"lock":0,"vcx":20,"migr":0},{"threads":24,"cpu_util":30,"lock":0,"vcx":120,"migr":0},{"threads":32,"cpu_util":40,"lock":0,"vcx":220,"migr":0}]}
{"step":8,"points":[{"threads":8,"cpu_util":10,"lock":null},{"threads":16,"cpu_util":20},{"threads":24,"cpu_util":21},{"threads":32,"cpu_util":22}]}
END
threads --learn "$dir/sweeps"
ends 0
has out '{"thresholds":{"cpu_util_delta":5.5,"lock":3.0,"lock_delta":5.5,"vcx_delta":55.0,"migr_delta":13.5},"step":8,"sweeps":3,'
cp "$dir/out" "$dir/learnt"
threads --json --min 2 --max 2 --step 4 --thresholds "$dir/learnt" -- "$own" '{n}' 4
ends 0
has out '"thresholds":{"cpu_util_delta":2.75,"lock":3.0,"lock_delta":2.75,"vcx_delta":27.5,"migr_delta":6.75}'
has out '"stored":true}'
[ "$(wc -l <"$dir/err")" -eq 1 ] || bad threads 'nothing unread in what --learn printed' "$(cat "$dir/err")"

# Of three real programs, with 4, 8 and 10 useful threads, whose waiting for locks shows that; then a fourth one has 6. The use of the CPUs says
# nothing here: it depends on who else uses them.
for useful in 4 8 10; do
    threads --cores 2 --min 2 --max 16 --step 2 --record "$dir/real" -- "$own" '{n}' $useful
    ends 0
done
threads --learn "$dir/real"
ends 0
grep -q '"from":{"cpu_util_delta":[0-9.]*,"lock":3.0,"lock_delta":3.0,' "$dir/out" || bad 'threads --learn' 'three knees of LOCK' "$(cat "$dir/out")"
sed 's/"cpu_util_delta":[^,]*,/"cpu_util_delta":-100,/' "$dir/out" >"$dir/learnt-here"
refuses '' 1 "$dir/learnt-here: learnt on 2 cores, and it will have 4" threads --cores 4 --thresholds "$dir/learnt-here" -- true
sed 's/"cores":2/"cores":4/' "$dir/real" >"$dir/elsewhere"
refuses '' 1 'elsewhere:1: cores: 4: 2 expected, as in a sweep before' threads --learn "$dir/real" "$dir/elsewhere"
threads --json --cores 2 --min 2 --max 16 --step 2 --thresholds "$dir/learnt-here" -- "$own" '{n}' 6
ends 0
has out '{"threads":6,"n":6,"ended":"lock",'
none_left

threads --db /proc/nowhere --json --min 2 --max 2 --thresholds "$dir/learnt" -- "$own" '{n}' 4
ends 0
has out '"stored":false}'
has err 'not stored: /proc/nowhere'

# What is wrong
head -2 "$dir/sweeps" >"$dir/two"
refuses '' 1 'threads: --learn: 2 sweeps: 3 programs at least are needed' threads --learn "$dir/two"
refuses '' 1 'locks:1: step: missing' threads --learn "$dir/locks"
refuses '{"thresholds":{"lock":3}}' 1 'stdin: thresholds.cpu_util_delta: missing' threads --thresholds - -- true
refuses '{"thresholds":{"lock":"high"}}' 1 'stdin: thresholds.lock: number expected' threads --thresholds - -- true
refuses '' 2 '-- expected before COMMAND' threads --thresholds "$dir/locks" true
refuses '' 2 'takes -- COMMAND' threads
refuses '' 2 '--thresholds FILE expected' threads -- true
refuses '' 2 "--probe: a time from 1ms to 3600s expected, not '100'" threads --probe 100 -- true
refuses '' 2 "--makes: such as n, n+1 or 4n+3 expected, not '4m'" threads --makes 4m -- true
refuses '' 2 '--max 3: less than --min 4' threads --min 4 --max 3 -- true
refuses '' 2 '--step 3: one more of n makes 4 threads more' threads --makes 4n+3 --step 3 --dry-run -- true
refuses '' 2 '--min 2: of n = 1 it makes 7 already' threads --makes 4n+3 --min 2 --max 9 -- true
threads --thresholds "$dir/locks" -- "$dir/nosuch"
ends 1
has err "nosuch: No such file or directory"
threads --thresholds "$dir/locks" -- false
ends 1
has err 'false with 2 has ended by itself before it could be observed (exit status 1)'
sh -c 'sleep 1000 & echo $! >"$3"; exec "$1" threads --thresholds "$2" -- true' - "$berthctl" "$dir/locks" "$dir/pid" >"$dir/out" 2>"$dir/err"
status=$?
ends 1
has err "process $(cat "$dir/pid") is a child of this one already"
kill "$(cat "$dir/pid")" || bad threads 'a child of before is let be' 'it was killed'

exit $failed
