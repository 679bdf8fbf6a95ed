# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A job over two nodes, each with a berthd of its own: report, comment and EDP add up, and no record is lost.

# What the comment has of the job, and what report has; the comment's EDP has six digits.
commented_figures() {
    comment_of "$1" | jq -c '.berth | [.nodes, .steps, (.energy_j * 1e6 | round), (.edp * 1e3 | round)]'
}

reported_job() {
    report -j "$1" --json | jq -c '.jobs[0] | [.nnodes, (.steps | length), (.energy_j * 1e6 | round), (.edp_js * 1e3 | round)]'
}

# Comment, report and ledger say the same: the sum of the nodes' energies, and that times the job's time.
adds_up() {
    local job=$1
    eventually "the comment of job $job" '{"berth":' comment_begin "$job"
    same "the comment of job $job" "$(commented_figures "$job")" "$(reported_job "$job")"
    report -j "$job" --json | jq -e '.jobs[0] as $job
        | ($job.steps | length > 0) and $job.nnodes == 2 and $job.energy_j > 0
            and ($job.edp_js / ($job.energy_j * $job.elapsed_s) - 1 | fabs < 1e-6)' >/dev/null ||
        fail "job $job: $(report -j "$job" --json)"
    same "energy of job $job, uJ" "$(report -j "$job" --json | jq '.jobs[0].energy_j * 1e6 | round')" \
        "$(sql "select sum(coalesce(uj_package, 0) + coalesce(uj_dram, 0)) from $LEDGER_DB.ledger_record where job = $job")"
}

# over_both NAME: a job with one step on both nodes, of which each draws something while it runs.
over_both() {
    batch "$1" -N2 -n2 <<<"srun -N2 -n2 --contention-aware $STAND $1"
    running "$1"
    wait_for 20 test -s "$CLUSTER/out/$1.1.pid" || fail "no task on the second node"
    JOB=$(cat "$CLUSTER/out/$1.job")
    drawn intel-rapl:0 3000000 5000000
}

ended() {
    touch "$CLUSTER/out/$1.stop"
    finish "$1"
}

t10_a_job_over_both_nodes_adds_up() {
    over_both a
    drawn intel-rapl:1 1000000 2000000
    ended a
    eventually "records" "2 2" records "$JOB"
    adds_up "$JOB"
    [ "$(report -j "$JOB" --json | jq '.jobs[0].energy_j > 0 and .jobs[0].energy_j <= 11.000001')" = true ] || fail "more than was drawn"
}

t10_one_node_loses_its_berthd_in_the_middle() {
    over_both a
    daemon_stop berthd2 KILL
    drawn intel-rapl:0 1000000 1000000
    berthd2_start
    drawn intel-rapl:0 1000000 1000000
    ended a
    eventually "records" "2 2" records "$JOB"
    adds_up "$JOB"
    # and one that ends while there is none
    over_both b
    daemon_stop berthd2 KILL
    ended b
    berthd2_start
    eventually "records" "2 2" records "$JOB"
    eventually "the comment of job $JOB" '{"berth":' comment_begin "$JOB"
    same "the comment of job $JOB" "$(commented_figures "$JOB")" "$(reported_job "$JOB")"
}

t10_no_record_is_lost_while_the_link_is_down() {
    over_both a
    link_down
    drawn intel-rapl:1 1000000 1000000
    ended a
    eventually "records of the first node" "1 1" records "$JOB"
    over_both b
    ended b
    same "records of both jobs, the link down" "$(sql "select count(distinct node) from $LEDGER_DB.ledger_record where job in ($JOB, $(cat "$CLUSTER/out/a.job"))")" 1
    daemon_stop berthd2 # what waits is on its disk
    berthd2_start
    link_up
    for JOB in $(cat "$CLUSTER/out/a.job" "$CLUSTER/out/b.job"); do
        eventually "records of job $JOB" "2 2" records "$JOB"
        adds_up "$JOB"
    done
}
