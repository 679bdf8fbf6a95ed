# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# AdminComment: a job's figures at slurmdbd when it has ended, beside what is there, and once.

t10_a_jobs_figures_are_in_its_comment() {
    batch a -n1 --contention-aware <<<"srun true; srun true"
    finish a
    commented "$(cat "$CLUSTER/out/a.job")"
    same "steps" "$(comment_of "$(cat "$CLUSTER/out/a.job")" | jq .berth.steps)" 3
}

t10_what_is_there_is_kept() {
    local job
    start a --contention-aware
    job=$(job_of a)
    timeout 10 scontrol update JobId="$job" AdminComment="it's \"root's\" \\note" Comment=mine
    stop a
    soon "the comment" "it's \"root's\" \\note {\"berth\":" comment_begin "$job"
    same "Comment" "$(accounted "$job" Comment)" mine
    start b --contention-aware
    job=$(job_of b)
    timeout 10 scontrol update JobId="$job" AdminComment='{"x":1.50}'
    stop b
    soon "the object" '{"x":1.50,"berth":' comment_begin "$job"
    same "its members" "$(comment_of "$job" | jq -c keys)" '["berth","x"]'
}

t10_who_did_not_opt_in_is_not_commented() {
    local job
    start a
    job=$(job_of a)
    stop a
    start b --contention-aware=observe
    stop b
    soon "the other job's comment" '{"berth":' comment_begin "$(job_of b)"
    same "the comment" "$(comment_of "$job")" ""
}

t10_nothing_is_written_while_the_job_runs_or_twice() {
    local job written
    trying
    batch a -n1 <<<"srun --contention-aware true; $STAND a"
    running a
    job=$(cat "$CLUSTER/out/a.job")
    soon "what waits" 1 waiting
    wait_for 20 tried || fail "nothing was tried"
    same "the comment of a job that runs" "$(comment_of "$job")" ""
    touch "$CLUSTER/berth/hold"
    touch "$CLUSTER/out/a.stop"
    finish a
    daemon_stop berthd
    same "what waits, berthd stopped" "$(waiting)" 1
    rm "$CLUSTER/berth/hold"
    berthd_start
    soon "the comment" '{"berth":' comment_begin "$job"
    written=$(changes)
    daemon_stop berthd
    berthd_start
    soon "what waits" 0 waiting
    same "changes at slurmdbd" "$(changes)" "$written"
}

# "known" once slurmdbd has when the job ended.
end_of() {
    accounted "$1" End | sed 's/^[0-9T:-]*$/known/'
}

t10_a_server_that_is_away_gets_it_later() {
    local job
    trying
    daemon_stop slurmdbd
    start a --contention-aware
    job=$(job_of a)
    stop a
    wait_for 20 tried || fail "nothing was tried"
    same "what waits" "$(waiting)" 1
    slurmdbd_start
    eventually "slurmdbd's job" COMPLETED accounted "$job" State # slurmctld tries every 10 seconds
    eventually "slurmdbd's end of the job" known end_of "$job"   # which may come with a later message
    daemon_stop berthd # whose next try may be later still
    berthd_start
    commented "$job"
    soon "what waits" 0 waiting
}

# Each alone, and both at once, while a step that stands elsewhere runs and others start: it stays, and in the end all is told.
t10_slurmctld_and_slurmdbd_come_and_go() {
    local job gone daemon n=0
    start a --contention-aware
    job=$(job_of a)
    for gone in slurmctld slurmdbd "slurmctld slurmdbd"; do
        for daemon in $gone; do daemon_stop "$daemon"; done
        same "the step's state without $gone" "$(explained a .state)" placed
        [[ $gone != *slurmdbd ]] || slurmdbd_start
        [[ $gone != slurmctld* ]] || daemon_start slurmctld slurmctld -D
        wait_for 60 timeout 5 scontrol ping || fail "slurmctld does not come back"
        start "b$((++n))" --contention-aware
        same "the state of a step that starts then" "$(explained "b$n" .state)" placed
        stop "b$n"
    done
    stop a
    eventually "slurmdbd's job" COMPLETED accounted "$job" State
    eventually "slurmdbd's end of the job" known end_of "$job"
    daemon_stop berthd # whose next try may be later still
    berthd_start
    commented "$job"
    for gone in $(seq "$n"); do commented "$(job_of "b$gone")"; done
    soon "what waits" 0 waiting
}
