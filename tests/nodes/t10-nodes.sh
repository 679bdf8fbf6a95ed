# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A job over two nodes, each with a berthd of its own: report, comment and EDP add up, and no record is lost.

ROUNDED='def rounded(by): if . == null then null else . * by | round end;'

# What the comment has of the job, and what report has; the comment's EDP has six digits. Of energy that only some of the nodes know, the
# report has the sum that is known, the comment nothing: neither has an EDP.
commented_figures() {
    comment_of "$1" | jq -c "$ROUNDED"' .berth | [.nodes, .steps, (.energy_j | rounded(1e6)), (.edp | rounded(1e3))]'
}

reported_job() {
    report -j "$1" --json | jq -c "$ROUNDED"' .jobs[0] | (.edp_js | rounded(1e3)) as $edp
        | [.nnodes, (.steps | length), (if $edp then .energy_j | rounded(1e6) else null end), $edp]'
}

# The comment says what the report does, as soon as the records of both nodes are known: each node's berthd writes it when it has settled.
is_commented() {
    comment_begin "$1" | grep -qF '{"berth":' && [ "$(commented_figures "$1")" = "$(reported_job "$1")" ]
}

commented_both() {
    wait_for 30 is_commented "$1" || fail "the comment of job $1: $(commented_figures "$1"), the report: $(reported_job "$1")"
}

# Comment, report and ledger say the same: the sum of the nodes' energies, and that times the job's time.
adds_up() {
    local job=$1
    commented_both "$job"
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
    drawn 3000000 5000000
}

ended() {
    touch "$CLUSTER/out/$1.stop"
    finish "$1"
}

# state_of STEP NODE-SOCKET: what the node's berthd does with it.
state_of() {
    "$CLUSTER/bin/berthctl" explain --json --here --socket "$2" "$1" | jq -r '.steps[0] | "\(.id) \(.state)"'
}

# The components of `srun A : B` run on nodes of their own, and Slurm calls them 0+0 and 0+1.
t10_components_of_a_heterogeneous_step_are_placed() {
    local first second
    batch h -N2 -n2 <<<"srun -N1 -n1 --contention-aware $STAND first : -N1 -n1 --contention-aware $STAND h"
    wait_for 20 test -s "$CLUSTER/out/h.1.pid" || fail "no second component"
    running first
    JOB=$(cat "$CLUSTER/out/h.job")
    first=$CLUSTER/run/berthd.sock second=$OTHER/run/berthd.sock
    same "the first component" "$(state_of "$JOB.0+0" "$first")" "$JOB.0+0 placed"
    same "the second component" "$(state_of "$JOB.0+1" "$second")" "$JOB.0+1 placed"
    touch "$CLUSTER/out/first.stop"
    ended h
    eventually "records" "2 2" records "$JOB"
    same "steps of the report" "$(report -j "$JOB" --json | jq -c '[.jobs[0].steps[].job_id] | sort')" "[\"$JOB.0+0\",\"$JOB.0+1\"]"
}

t10_a_job_over_both_nodes_adds_up() {
    over_both a
    drawn 1000000 2000000
    ended a
    eventually "records" "2 2" records "$JOB"
    adds_up "$JOB"
    [ "$(report -j "$JOB" --json | jq '.jobs[0].energy_j > 0 and .jobs[0].energy_j <= 11.000001')" = true ] || fail "more than was drawn"
}

t10_one_node_loses_its_berthd_in_the_middle() {
    over_both a
    daemon_stop berthd2 KILL
    drawn 1000000 1000000
    berthd2_start
    drawn 1000000 1000000
    ended a
    eventually "records" "2 2" records "$JOB"
    adds_up "$JOB"
    # and one that ends while there is none
    over_both b
    daemon_stop berthd2 KILL
    ended b
    berthd2_start
    eventually "records" "2 2" records "$JOB"
    commented_both "$JOB"
}

t10_no_record_is_lost_while_the_link_is_down() {
    over_both a
    link_down
    drawn 1000000 1000000
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

# fares NODE: what `status --cluster` says of it
fares() {
    "$CLUSTER/bin/berthctl" status --cluster --json --config "$CLUSTER/etc/berth.conf" | jq -r --arg node "$1" '.nodes[] | select(.name == $node) | .berth_is'
}

# From one node all are seen, and one that root has released comes first; so does one whose berthd is dead, once it is silent.
t10_how_all_nodes_fare_is_seen_from_one() {
    local page
    over_both a
    ended a
    for node in "$CLUSTER_NODE" "$OTHER_NODE"; do eventually "how $node fares" ok fares "$node"; done
    "$CLUSTER/bin/berthctl" release --socket "$OTHER/run/berthd.sock" >/dev/null
    eventually "the released node" released fares "$OTHER_NODE"
    page=$("$CLUSTER/bin/berthctl" status --cluster --config "$CLUSTER/etc/berth.conf") && fail "exit status 0 with a released node"
    same "the first row" "$(sed -n 3p <<<"$page" | cut -d' ' -f1)" "$OTHER_NODE"
    "$CLUSTER/bin/berthctl" release --end --socket "$OTHER/run/berthd.sock" >/dev/null
    eventually "the node that is taken back" ok fares "$OTHER_NODE"
    sql "update $LEDGER_DB.node_now set at = at - 900 where node = '$OTHER_NODE'"
    same "a node that has told nothing for long" "$(fares "$OTHER_NODE")" silent
}
