# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Counting: what steps do is counted while they run, shown, classed and remembered; nothing of it is left when they end.

# counting KEY=VALUE..: berthd starts again with short windows, and learns.
counting() {
    daemon_stop berthd # which stores what it has learned
    rm -f "$CLUSTER/berth/profiles.db"
    berthd_conf startup=100ms first_window=200ms window=200ms counters=perf,resctrl,software \
        "event_table=$TESTS/../etc/events.conf" learn=on "$@"
    berthd_start
}

# replaying: instead of this machine a recording counts; "devil" misses 20000 times per million instructions, "turtle" 10.
replaying() {
    counting "counters_replay=$TESTS/fixtures/samples/three.csv" "$@"
}

# busy NAME [SRUN ARGUMENTS..]: a step that stands, and has a child that never rests.
busy() {
    local name=$1
    shift
    # shellcheck disable=SC2016 # the task's own shell
    start "$name" "$@" bash -c 'while :; do :; done & "$@"; rc=$?; kill $!; wait $!; exit $rc' -
}

rate_of() {
    explained "$1" ".observe.counts.rates.$2.mean"
}

# at_least NUMBER COMMAND..: what it prints is a number, and at least that.
at_least() {
    local least=$1
    shift
    awk -v got="$("$@")" -v least="$least" 'BEGIN { exit !(got ~ /^[0-9.e+-]+$/ && got + 0 >= least) }'
}

perf_cgroups() {
    find "$CLUSTER_CGROUPS" -path "*berth_$CLUSTER_NODE*" -type d | grep -v "/cpuset/" || true
}

t60_a_step_is_counted() {
    counting
    busy a -c1 --contention-aware
    wait_for 20 at_least 2 explained a .observe.counts.windows || fail "no windows: $(explained a .observe.counts)"
    wait_for 20 at_least 0.1 rate_of a cpu || fail "a loop is not seen: $(explained a .observe.counts.rates.cpu)"
    at_least 1 explained a .observe.counts.threads || fail "no threads"
    at_least 100000 rate_of a rss_bytes || fail "no memory"
    at_least 0 rate_of a voluntary_s || fail "no context switches"
    wait_for 20 at_least 0 explained a .observe.counts.rates.cpu.error || fail "no confidence"
    has "$(ctl explain -v "$(id_of a)" | tr -s ' \n' ' ')" "counted in" "on CPUs" "alone on its caches"
    stop a
    soon "cgroups of counting" "" perf_cgroups
}

t60_an_unknown_devil_is_known_at_its_next_run() {
    replaying
    start a --contention-aware=tag=devil
    soon "class" devil explained a .class.name
    same "source" "$(explained a .profile.source)" "replay, this run"
    start b --contention-aware=tag=turtle
    soon "class" turtle explained b .class.name
    stop a b
    wait_for 10 test -s "$CLUSTER/berth/profiles.db"
    daemon_stop berthd
    berthd_start
    start c --contention-aware=tag=devil
    same "class at launch" "$(explained c .class.name)" devil
    has "$(explained c .profile.source)" replay
    stop c
}

t60_a_count_that_contradicts_a_simulated_profile_replaces_it() {
    replaying
    knows devil 5
    start a --contention-aware=tag=devil
    same "class by its profile" "$(explained a .class.name)" turtle
    wait_for 20 at_least 2 explained a .observe.counts.windows
    soon "class" devil explained a .class.name
    at_least 19000 explained a .observe.miss_pmi || fail "what is counted is not shown"
    stop a
}

t60_counting_goes_on_after_berthd_was_killed() {
    counting
    busy a -c1 --contention-aware
    wait_for 20 at_least 1 explained a .observe.counts.windows
    daemon_stop berthd KILL
    berthd_start
    wait_for 20 at_least 1 explained a .observe.counts.windows || fail "not counted again"
    wait_for 20 at_least 0.1 rate_of a cpu || fail "nothing seen: $(explained a .observe.counts)"
    stop a
    soon "cgroups of counting" "" perf_cgroups
}

t60_what_a_killed_berthd_left_is_removed() {
    counting
    busy a -c1 --contention-aware
    wait_for 20 at_least 1 explained a .observe.counts.windows
    daemon_stop berthd KILL
    stop a
    berthd_start
    soon "cgroups of counting" "" perf_cgroups
}

t60_nothing_is_counted_of_who_did_not_ask() {
    counting
    start a -c1
    same "the node's steps" "$(ctl status --json | jq .node.steps)" 0
    stop a
    soon "cgroups of counting" "" perf_cgroups
}

t60_samples_of_the_node_can_be_recorded_and_played() {
    local file=$CLUSTER/out/recorded.jsonl
    counting
    busy a -c1 --contention-aware=tag=loop
    wait_for 20 at_least 2 explained a .observe.counts.windows
    berthctl record --socket "$CLUSTER/run/berthd.sock" --interval 0.2 --duration 1.5 --output "$file"
    stop a
    at_least 3 grep -c '"step":"loop"' "$file" || fail "recorded: $(cat "$file")"
    counting "counters_replay=$file"
    start b -c1 --contention-aware=tag=loop
    wait_for 20 at_least 0.1 rate_of b cpu || fail "its loop does not show: $(explained b .observe.counts.rates.cpu) $(cat "$file")"
    stop b
}

# waits_most NAME: it waits for a CPU for a third of the time that it could run, at least.
waits_most() {
    [ "$(explained "$1" '.loss.waiting > 0.3')" = true ]
}

# "Why is my job slow?": four loops outside Slurm run on the step's CPU.
t60_processes_outside_slurm_are_named_and_fewer_cpus_are_not_proposed() {
    local cpus page pids=() i
    counting
    busy slow -c1 --contention-aware=observe
    cpus=$(slurm_cpus_of slow)
    for i in 1 2 3 4; do
        timeout 90 taskset -c "$cpus" bash -c 'while :; do :; done' &
        pids[i]=$!
    done
    wait_for 60 waits_most slow || fail "it does not wait: $(explained slow .loss) $(explained slow .observe.cpu_wait_s)"
    soon "who has its CPU" outside explained slow .loss.cpus_taken_by
    page=$(berthctl job --socket "$CLUSTER/run/berthd.sock" "$(job_of slow)" | tr -s ' \n' ' ')
    has "$page" " waiting " "of the time that it could have run" " waiting for a CPU that processes outside Slurm had" "hint processes outside Slurm ran on its CPUs while it waited for them"
    [[ $page != *"ask for fewer"* ]] || fail "it is told to ask for fewer CPUs: $page"
    kill "${pids[@]}"
    stop slow
    echo "$page"
}
