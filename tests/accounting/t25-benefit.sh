# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `berthctl report --benefit` of steps that really ran: observed, placed, and without berthd.

# helping KEY=VALUE..: berthd starts again, with both CPUs on one cache, and a recording counts: "devil" misses 20000 times per
# million instructions.
helping() {
    daemon_stop berthd
    berthd_conf "topology=package:1 l3:1 core:2 pu:1" policy=contend startup=100ms first_window=200ms window=200ms \
        "counters_replay=$TESTS/fixtures/samples/three.csv" "$@"
    berthd_start
}

as_ever() {
    daemon_stop berthd
    berthd_conf
    berthd_start
}

# benefit JOBS FILTER: of what report --benefit --json says of them.
benefit() {
    report -j "$1" --benefit --json | jq -c "$2"
}

# counted NAME: enough windows of it were counted for a slowdown to be predicted.
counted() {
    [ "$(explained "$1" .observe.counts.windows)" -ge 3 ]
}

two_devils() {
    start "$1a" --contention-aware="$2"
    start "$1b" --contention-aware="$2"
    wait_for 20 counted "$1a" && wait_for 20 counted "$1b" || fail "nothing is counted: $(explained "$1a" .observe)"
    stop "$1a" "$1b"
}

t25_what_berth_helps_is_told_of_observed_and_of_placed_steps() {
    local seen placed text
    helping
    two_devils seen observe,tag=devil
    two_devils put auto,tag=devil
    seen=$(job_of seena),$(job_of seenb) placed=$(job_of puta),$(job_of putb)
    eventually "steps that were observed" '[2,2,2]' benefit "$seen,$placed" '.observed | [.steps, .slurm_predicted.n, .berth_predicted.n]'
    eventually "steps that were placed" '[2,2,2]' benefit "$seen,$placed" '.placed | [.steps, .slurm_predicted.n, .berth_predicted.n]'
    same "of two CPUs on one cache there is nothing to gain" \
        "$(benefit "$seen,$placed" '[.gained_predicted, .lost_predicted, (.placed.core_s_predicted.sum | fabs < 1e-6), (.observed.core_s_predicted.sum | fabs < 1e-6)]')" \
        '[[],[],true,true]'
    same "beside each other they are slower" "$(benefit "$seen" '.observed.slurm_predicted.mean > 0')" true
    same "what is not known" "$(benefit "$seen,$placed" .not_known)" '[]'
    text=$(report -j "$seen,$placed" --benefit)
    has "$text" "Placed by berth: 2 steps" "Only observed: 2 steps" "Not known of 0 of 4 steps"
    same "lines of more than 80 characters" "$(printf '%s\n' "$text" | grep -c '.\{81\}')" 0
    same "where an observed step stood" "$(report -j "$(job_of seena)" -nP -X -o CPUs)" "$(report -j "$(job_of seena)" -nP -X -o Home)"
    as_ever
}

t25_a_launch_without_berthd_is_counted_by_the_next_one() {
    local job
    daemon_stop berthd
    start alone --contention-aware
    job=$(job_of alone)
    stop alone
    berthd_start
    eventually "why nothing is known" '[{"why":"failed_open","steps":1}]' benefit "$job" '[.not_known[] | {why, steps}]'
    same "who it was" "$(report -j "$job" -nP -X -o Placed,ExitCode)" "late|0:0"
    [ ! -e "$CLUSTER/run/missed" ] || fail "the note is still there"
}

t25_a_job_with_a_step_that_opted_out_is_one_job() {
    local job
    batch mixed -n1 --account=physics <<<"srun --contention-aware sleep 0.2; srun --contention-aware $STAND in & wait_in=\$!
until [ -s $CLUSTER/out/in.id ]; do sleep 0.05; done; srun --overlap --contention-aware=off true; touch $CLUSTER/out/in.stop; wait \$wait_in"
    wait_for 30 job_is mixed COMPLETED || fail "$(job_state mixed): $(cat "$CLUSTER/out/mixed.batch")"
    job=$(cat "$CLUSTER/out/mixed.job")
    eventually "its rows" "$job|physics|3" report -j "$job" -nP -X -o JobID,Account,Steps
    same "its steps" "$(report -j "$job" -nP -o JobID,Account | sort | paste -s -d' ')" "$job.0|physics $job.1|physics $job.2|physics $job|physics"
}

t25_what_failed_since_a_time_is_shown_until_now() {
    timeout 30 srun -n1 --contention-aware false && fail "it did not fail"
    eventually "steps that failed" true sh -c "timeout 20 berthctl report --config '$CLUSTER/etc/berth.conf' -a -s F -S now-10minutes -nP -X -o State | grep -q FAILED && echo true"
}
