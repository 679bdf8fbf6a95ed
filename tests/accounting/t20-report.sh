# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `berthctl report` and sacct, row by row: what both say of jobs of all kinds must be the same.

FIELDS=JobIDRaw,JobID,User,Account,Partition,Start,End,ElapsedRaw,AllocCPUS,ExitCode,State

# Rows of the jobs as JSON, times in seconds: sacct_rows JOBS, report_rows JOBS. sacct leaves user and partition of steps empty, and
# has the extern step, in which nobody runs anything. Runs of a requeued job are told apart by their start.
rows() {
    jq -R -s --arg fields "$FIELDS" '
        ($fields | split(",")) as $name
        | split("\n") | map(select(. != "") | split("|")
            | [$name, .] | transpose | map({(.[0]): .[1]}) | add
            | .Start |= (strptime("%Y-%m-%dT%H:%M:%S") | mktime) | .End |= (strptime("%Y-%m-%dT%H:%M:%S") | mktime)
            | .ElapsedRaw |= tonumber)
        | map(select(.JobIDRaw | endswith(".extern") | not))'
}

sacct_rows() {
    TZ=UTC timeout 20 sacct -n -P -D -j "$1" -o "$FIELDS" | rows
}

report_rows() {
    TZ=UTC report -n -P -j "$1" -o "$FIELDS" | rows
}

# Each row of ours and its row of theirs, which is that of the same step with the nearest start: what differs, a line for each. A
# time may differ by a second, and so what lies between two of them by two; slurmctld hears of the end of what was cancelled later than berthd. berth knows how a step's tasks ended, not who ended them: states are compared as far as they say
# "completed" or not, exit codes of steps that nobody ended.
differences() {
    jq -n -r --slurpfile ours "$1" --slurpfile theirs "$2" '
        def ended_by_itself: .State | test("^(COMPLETED|FAILED)$");
        ($ours[0][] | . as $a
            | [$theirs[0][] | select(.JobIDRaw == $a.JobIDRaw)] | min_by(.Start - $a.Start | fabs) | [$a, .])
        | . as [$a, $b] | "\($a.JobIDRaw) \($a.Start)" as $row
        | if $b == null then "\($row): not in sacct" else
            (("JobID", "Account", "AllocCPUS", "User", "Partition") as $field
                | select($a[$field] != $b[$field] and $b[$field] != "") | [$field, $a[$field], $b[$field]]),
            ((if ($b | ended_by_itself) then 1 else 5 end) as $late
                | ({field: "Start", early: 1, late: 1}, {field: "End", early: 1, $late}, {field: "ElapsedRaw", early: 2, late: ($late + 1)}) as $may
                | $may.field as $field
                | select($b[$field] - $a[$field] | . < -$may.early or . > $may.late) | [$field, $a[$field], $b[$field]]),
            (select(($a.State | startswith("COMPLETED")) != ($b.State | startswith("COMPLETED"))) | ["State", $a.State, $b.State]),
            (select(($b | ended_by_itself) and $a.ExitCode != $b.ExitCode) | ["ExitCode", $a.ExitCode, $b.ExitCode])
          | "\($row) \(.[0]): \(.[1]) and \(.[2])" end'
}

# rows_agree JOBS: which rows both have. Who a job is, and so which run of it a record is of, is asked beside the work: it is known a
# moment later.
rows_agree() {
    local ours theirs
    report_rows "$1" >"$CLUSTER/out/report.json"
    ours=$(names_in "$CLUSTER/out/report.json") theirs=$(sacct_names "$1")
    [ "$ours" = "$theirs" ] && echo same || echo "ours $ours, sacct's $theirs"
}

# compared JOBS: both say the same of these jobs, all of whose steps opted in.
compared() {
    eventually "rows" same rows_agree "$1"
    eventually "rows of sacct without an end" "" unended "$1"
    sacct_rows "$1" >"$CLUSTER/out/sacct.json"
    same "what differs between berthctl report and sacct" "$(differences "$CLUSTER/out/report.json" "$CLUSTER/out/sacct.json")" ""
}

names_in() {
    jq -r 'map(.JobIDRaw) | sort | join(" ")' "$1"
}

# Rows of sacct as slurmdbd has them so far: slurmctld hands over its records of starts and ends a while after squeue knows of them.
sacct_times() {
    TZ=UTC timeout 20 sacct -n -P -D -j "$1" -o JobIDRaw,Start,End | grep -v '^[^|]*[.]extern|'
}

sacct_names() {
    sacct_times "$1" | cut -d'|' -f1 | sort | paste -s -d' '
}

unended() {
    sacct_times "$1" | grep -v '|[0-9T:-]*|[0-9T:-]*$'
}

# How many of the job's runs slurmdbd has with their start.
starts_of() {
    timeout 20 sacct -n -P -D -X -j "$1" -o Start | grep -c '^[0-9T:-]*$'
}

t20_jobs_of_all_kinds_are_reported_as_sacct_has_them() {
    local requeued cancelled jobs
    batch requeued -n1 --requeue --contention-aware <<<"srun $STAND requeued"
    # The script itself ends by the signal, whoever of script and step is sooner.
    batch cancelled -n1 --contention-aware --account=chemistry <<<"srun $STAND cancelled & exec sleep 300"
    requeued=$(cat "$CLUSTER/out/requeued.job") cancelled=$(cat "$CLUSTER/out/cancelled.job")
    running requeued && running cancelled
    # A job that leaves before slurmdbd has its start, keeps a record without one.
    eventually "starts of the job to be requeued" 1 starts_of "$requeued"
    eventually "starts of the job to be cancelled" 1 starts_of "$cancelled"
    # What slurmctld has said of a run before it is requeued; afterwards there are slurmd and slurmdbd.
    soon "who the job to be requeued is" slurmctld explained requeued .identity.source
    timeout 10 scancel "$cancelled"
    requeue "$requeued"
    wait_for 10 job_is cancelled CANCELLED
    rm -f "$CLUSTER"/out/requeued.*
    echo "$requeued" >"$CLUSTER/out/requeued.job"
    touch "$CLUSTER/out/requeued.stop"

    batch steps -n1 --contention-aware --account=physics <<<"srun true; srun sh -c 'exit 3'; srun sleep 1.2; exit 0"
    batch failed -n1 -p shared --contention-aware --account=physics <<<"srun sh -c 'kill -KILL \$\$'; exit 4"
    batch array --array=1-3 -n1 --contention-aware <<<"srun sleep 0.\$SLURM_ARRAY_TASK_ID"
    # shellcheck disable=SC2016 # the step's own shell
    runuser -u nobody -- timeout 60 srun -n2 --account=chemistry --contention-aware sh -c 'echo $SLURM_JOB_ID' |
        head -n 1 >"$CLUSTER/out/nobody.job"
    for name in steps failed array requeued; do wait_for 30 job_over "$name" || fail "job $name: $(job_state "$name")"; done
    eventually "comments to be written" 0 waiting
    jobs=$(cd "$CLUSTER/out" && cat -- *.job | paste -s -d,)
    compared "$jobs"
    same "runs of the requeued job" "$(report -n -P -X -j "$requeued" -o Restarts | paste -s -d' ')" "0 1"
    TZ=UTC sacct_comments "$jobs" >"$CLUSTER/out/comments"
    has "$(cat "$CLUSTER/out/comments")" "$requeued 2" "$cancelled 1"
    same "jobs without a comment" "$(grep -v ' [1-9]$' "$CLUSTER/out/comments")" ""
}

# Each job with the number of its runs that have figures of their own.
sacct_comments() {
    timeout 20 sacct -n -P -D -X -j "$1" -o JobIDRaw,AdminComment |
        jq -R -s -r 'split("\n") | map(select(. != "") | split("|") | {job: .[0], berth: ((.[1] | fromjson? // {}) | .berth)})
            | group_by(.job)[] | "\(.[0].job) \(map(select(.berth.steps >= 1)) | length)"'
}

# Over, and known to be.
job_over() {
    [[ $(job_state "$1" | sort -u) =~ ^(COMPLETED|FAILED|CANCELLED)$ ]]
}
