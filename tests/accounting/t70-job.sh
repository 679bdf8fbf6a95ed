# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `berthctl job`: how jobs ended, as Slurm has it, with what berth knows of them.

job() {
    timeout 60 berthctl job --config "$CLUSTER/etc/berth.conf" "$@" 2>&1
}

# state_in_page JOB: as squeue has it, and as slurmdbd does when slurmctld knows the job no longer.
state_in_page() {
    job --json "$1" | jq -r '.jobs[].state'
}

steps_in_page() {
    job --json "$1" | jq -r '.jobs[].steps | length'
}

t70_jobs_are_shown_with_the_state_that_slurm_has() {
    local cancelled limited array
    batch cancelled -n1 --contention-aware --account=chemistry <<<"srun $STAND cancelled"
    batch limited -n1 --time=1 --contention-aware --account=physics <<<"srun $STAND limited"
    cancelled=$(cat "$CLUSTER/out/cancelled.job") limited=$(cat "$CLUSTER/out/limited.job")
    running cancelled && running limited
    same "a running job" "$(state_in_page "$cancelled")" RUNNING
    has "$(job "$cancelled")" "job $cancelled " "of root, account chemistry, partition all" "RUNNING; runs for " "hint "
    timeout 10 scancel "$cancelled"
    eventually "the state of the cancelled job" CANCELLED state_in_page "$cancelled"
    timeout 10 scontrol update JobId="$limited" EndTime=now+1
    wait_for 150 job_is limited TIMEOUT || fail "the limited job: $(job_state limited)"
    eventually "the state of the job at its time limit" TIMEOUT state_in_page "$limited"
    eventually "its steps" 2 steps_in_page "$limited"
    has "$(job "$limited")" "state     TIMEOUT; ran for " "hint      it came to its time limit: ask for more (--time)"
    batch array --array=4 -n1 --contention-aware <<<"srun true"
    array=$(cat "$CLUSTER/out/array.job")
    wait_for 30 job_is array COMPLETED
    eventually "a task of an array" COMPLETED state_in_page "${array}_4"
    has "$(job "${array}_4")" "job ${array}_4 "
    job "$cancelled"
    job "$limited"
}

t70_a_job_without_records_and_one_of_another_user_have_one_line() {
    local plain foreign
    batch plain -n1 <<<"true"
    plain=$(cat "$CLUSTER/out/plain.job")
    wait_for 30 job_is plain COMPLETED
    has "$(job "$plain")" "berthctl: $plain: it is COMPLETED"
    same "lines" "$(job "$plain" | wc -l)" 1
    start own --contention-aware
    foreign=$(job_of own)
    has "$(runuser -u nobody -- timeout 60 berthctl job --socket "$CLUSTER/run/berthd.sock" "$foreign" 2>&1)" \
        "berthctl: $foreign: it is another user's"
    stop own
}
