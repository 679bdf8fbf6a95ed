# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# What a PMU counts, on its way from the cgroup of a step to explain, beside what perf(1) counts of the same cgroup at the same time. A
# guest of arm64 has one: its instructions are those executed, its cycles the nanoseconds of its time, of which tests/vm/run has it take eight
# for an instruction. So all programs have the same instructions per cycle there, and differ in how many they execute.

EVENTS=armv8_pmuv3
PERF_EVENTS=(cycles instructions cpu-clock)

# counting_by TABLE [KEY=VALUE..]: berthd starts again, with short windows and these events.
counting_by() {
    local table=$1
    shift
    compgen -G "/sys/bus/event_source/devices/$EVENTS*" >/dev/null || skip "no PMU"
    command -v perf >/dev/null || skip "no perf"
    echo 2 >/proc/sys/kernel/perf_event_paranoid # Debian has 3
    daemon_stop berthd
    berthd_conf startup=100ms first_window=200ms window=200ms counters=perf,software "event_table=$TESTS/../$table" "$@"
    berthd_start
}

as_before() {
    daemon_stop berthd
    berthd_conf
    berthd_start
}

# A program around the one that says where it stands: one that never rests.
# shellcheck disable=SC2016 # the task's own shell
RESTLESS=(bash -c 'while :; do :; done & "$@"; rc=$?; kill $!; wait $!; exit $rc' -)

# The step's own cgroup, as perf(1) wants it.
perf_cgroup() {
    local dir
    dir=$(folder_of "$1")
    dir=${dir#"$CLUSTER_CGROUPS/"}
    while [[ ${dir##*/} != step_* ]]; do dir=${dir%/*}; done
    echo "$dir"
}

# both NAME COMMAND..: perf and `berthctl record` count the step while the command runs: $CLUSTER/out/NAME.perf and NAME.jsonl.
both() {
    local name=$1 group event list=() pid
    shift
    group=$(perf_cgroup "$name")
    for event in "${PERF_EVENTS[@]}"; do list+=(-e "$event" -G "$group"); done
    rm -f "$CLUSTER/out/$name.jsonl"
    berthctl record --socket "$CLUSTER/run/berthd.sock" --interval 0.2 --output "$CLUSTER/out/$name.jsonl" >"$CLUSTER/out/$name.record" 2>&1 &
    pid=$!
    perf stat -a -x , -o "$CLUSTER/out/$name.perf" "${list[@]}" -- "$@"
    kill -INT $pid
    wait $pid || true
}

# perf_has NAME EVENT: what perf has counted; berth_has NAME COUNTER: what the step's samples say, from the first to the last.
perf_has() {
    awk -F , -v event="$2" '$3 == event { print $1; exit }' "$CLUSTER/out/$1.perf"
}

berth_has() {
    jq -s --arg name "$1" --arg counter "$2" 'map(select(.step == $name and .[$counter] != null)) | .[-1][$counter] - .[0][$counter]' "$CLUSTER/out/$1.jsonl"
}

ratio() {
    awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.4f\n", a / b; else print "none" }'
}

# near WHAT GOT WANTED PERCENT
near() {
    awk -v got="$2" -v wanted="$3" -v percent="$4" 'BEGIN { exit !(got > 0 && wanted > 0 && got <= wanted * (1 + percent / 100) && got >= wanted * (1 - percent / 100)) }' ||
        fail "$1: is $2, should be $3 within $4 %"
    echo "$1: $2, perf $3"
}

# agrees NAME: instructions per cycle of its windows and of its samples are those of perf, and so are those that the samples have for each
# microsecond of CPU time, which the kernel counts by itself: who counts on some of a step's CPUs alone has fewer. (The samples begin before
# perf does, and end after it.)
agrees() {
    local ipc
    ipc=$(ratio "$(perf_has "$1" instructions)" "$(perf_has "$1" cycles)")
    near "IPC of $1 in its samples" "$(ratio "$(berth_has "$1" instructions)" "$(berth_has "$1" cycles)")" "$ipc" 5
    near "IPC of $1 by explain" "$(explained "$1" .observe.counts.rates.ipc.mean)" "$ipc" 5
    near "instructions a CPU microsecond of $1" "$(ratio "$(berth_has "$1" instructions)e3" "$(berth_has "$1" cpu_ns)")" \
        "$(ratio "$(perf_has "$1" instructions)e-3" "$(perf_has "$1" cpu-clock)")" 10
}

windows() { # NAME NUMBER
    [ "$(explained "$1" .observe.counts.windows)" -ge "$2" ]
}

backend_says() {
    ctl status --json | jq -r '.node.counters[] | select(.name == "perf").say'
}

# Debian's kernel refuses events to all but CAP_SYS_ADMIN, which berthd does not keep: it says what helps.
t80_where_the_kernel_allows_no_events_berthd_says_what_helps() {
    counting_by etc/events.conf
    daemon_stop berthd
    echo 3 >/proc/sys/kernel/perf_event_paranoid
    berthd_start
    has "$(backend_says)" "kernel.perf_event_paranoid is above 2"
    as_before
}

t80_a_step_is_counted_by_its_pmu() {
    counting_by etc/events.conf
    has "$(backend_says)" "2 hardware events in 1 group"
    start a -c1 --contention-aware=tag=a "${RESTLESS[@]}"
    wait_for 20 windows a 2 || fail "no windows: $(explained a .observe.counts)"
    both a sleep 1
    agrees a
    stop a
    as_before
}

t80_two_steps_apart_have_each_its_own() {
    counting_by etc/events.conf
    start a -c"$CORES" --contention-aware=tag=a,pack "${RESTLESS[@]}" "${RESTLESS[@]}" "${RESTLESS[@]}"
    start b -c"$CORES" --contention-aware=tag=b,pack "${RESTLESS[@]}"
    same "packages" "$(packages_of a b)" "0 1 "
    wait_for 20 windows a 2 && wait_for 20 windows b 2 || fail "no windows"
    both a sleep 1
    agrees a
    both b sleep 1
    agrees b
    awk -v a="$(explained a .observe.counts.rates.instructions_s.mean)" -v b="$(explained b .observe.counts.rates.instructions_s.mean)" \
        'BEGIN { print "instructions a second: " a ", " b; exit !(a > 1.4 * b && b > 0) }' || fail "three that never rest have executed no more than one"
    stop a b
    as_before
}

# m1 or m2, memory-bound on package 0, changes places with c1 on package 1 while it is counted.
t80_one_that_moves_is_counted_on_both_packages() {
    local name moved=m1 pids=()
    counting_by etc/events.conf policy=di move=all
    knows m1 20000
    knows m2 20000
    knows c1 10
    half m1 --contention-aware=tag=m1,pack "${RESTLESS[@]}"
    half m2 --contention-aware=tag=m2,pack "${RESTLESS[@]}"
    for name in m1 m2; do
        wait_for 20 windows $name 2 || fail "no windows of $name"
        both $name bash -c "until [ -e $CLUSTER/out/counted ]; do sleep 0.1; done" &
        pids+=($!)
    done
    sleep 1
    half c1 --contention-aware=tag=c1
    [ "$(cpus_of m1)" != "$(slurm_cpus_of m1)" ] || moved=m2
    on $moved "$(slurm_cpus_of c1)"
    sleep 1
    touch "$CLUSTER/out/counted"
    wait "${pids[@]}"
    agrees $moved
    jq -s -e --arg name $moved 'map(select(.step == $name and .by_node != null)) | .[-1].by_node.cpu_ns | map(select(. > 1e8)) | length == 2' \
        "$CLUSTER/out/$moved.jsonl" >/dev/null || fail "not counted on both nodes: $(tail -n 1 "$CLUSTER/out/$moved.jsonl")"
    stop m1 m2 c1
    as_before
}

# More events than counters: many.conf has the instructions nine times, under other names. Its misses are those of the second group, so that
# a million of them come on a million instructions, as near as their error says; perf counts the same events.
t80_what_is_counted_in_turns_is_as_near_as_its_error() {
    local PERF_EVENTS=(r8 r11 r10008 r20008 r30008 r40008 r50008 r60008 r70008 r80008) got error
    counting_by tests/vm/many.conf
    has "$(backend_says)" "groups, in turns"
    start a -c1 --contention-aware=tag=a "${RESTLESS[@]}"
    wait_for 20 windows a 4 || fail "no windows: $(explained a .observe.counts)"
    got=$(explained a .observe.counts.rates.miss_pmi.mean)
    error=$(explained a .observe.counts.rates.miss_pmi.error)
    awk -v got="$got" -v error="$error" 'BEGIN { off = got - 1e6; if (off < 0) off = -off; exit !(error > 0 && off < 4 * error + 2e4) }' ||
        fail "misses per million instructions: $got, with an error of $error"
    both a sleep 3
    near "misses by explain, in turns" "$got" "$(ratio "$(perf_has a r80008)e6" "$(perf_has a r8)")" 20
    stop a
    as_before
}
