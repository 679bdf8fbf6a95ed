# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# berth-steer with MANY nodes: how many RPCs it takes, that jobs go to the quiet nodes, that all is given back whoever is killed, and that
# a stream of jobs goes through.

# weights_by_count: "COUNTxWEIGHT .." of all nodes.
weights_by_count() {
    timeout 20 sinfo -h -N -p all -o %w | sort -n | uniq -c | awk '{ printf "%s%sx%s", sep, $1, $2; sep = " " } END { print "" }'
}

# occupied N: a job on each of the first N of the many, and none elsewhere.
occupied() {
    local i
    for i in $(many | head -n "$1"); do
        timeout 30 sbatch -Q -w "${CLUSTER_NODE}x$i" -n1 -o /dev/null --wrap 'exec sleep 1800'
    done
    wait_for 60 jobs_run "$1" || fail "of $1 jobs $(timeout 10 squeue -h -t R -o %i | wc -l) run"
}

jobs_run() {
    [ "$(timeout 10 squeue -h -t R -o %i | wc -l)" = "$1" ]
}

# told: the pressure of each of the many, the higher the greater its number is: 0.02, 0.04, .., 1.
told() {
    sql "create table if not exists $LEDGER_DB.steer_node (node varchar(64) not null, at bigint not null, pressure double, primary key (node));
        delete from $LEDGER_DB.steer_node;
        $(for i in $(many); do echo "insert into $LEDGER_DB.steer_node values ('${CLUSTER_NODE}x$i', unix_timestamp(), $((10#$i)) / $MANY);"; done)"
}

untold() {
    timeout 10 scancel -u root
    wait_for 60 no_jobs
    steer --undo >/dev/null
    same "the weights in the end" "$(weights_by_count)" "${MANY}x1"
    [ ! -e "$STEER_STATE" ] || fail "a file of state is left"
}

t10_many_nodes_are_steered_by_few_rpcs() {
    local said
    [ -x "$BUILD/berth-steer" ] || skip "berth-steer is not built"
    rm -f "$STEER_STATE"
    occupied 40
    told
    timeout 10 sdiag -r
    said=$(steer --once --json | jq -c '[.news, .changed, .rpcs]')
    same "a round" "$said" "[$((MANY - 1)),$((MANY - 1)),27]" # 02 is within half a level of the lowest
    same "nodes by weight" "$(weights_by_count)" \
        "1x1 1x2 1x3 2x4 1x5 2x6 1x7 2x8 2x9 1x10 2x11 1x12 2x13 1x14 2x15 1x16 2x17 2x18 1x19 2x20 1x21 2x22 1x23 2x24 2x25 1x26 1x27 10x33"
    same "RPCs that update nodes, by sdiag" "$(timeout 10 sdiag | sed -n 's/.*REQUEST_UPDATE_NODE .*count:\([0-9]*\) .*/\1/p')" 27
    same "where a job comes to" "$(job_comes_to)" "${CLUSTER_NODE}x02"
    same "another round" "$(a_round)" "[$((MANY - 1)),0,0]"
    untold
}

t10_many_nodes_get_their_weights_back_whoever_is_killed() {
    occupied 40
    told
    steer_on
    wait_for 30 grep -q '"at":[0-9][0-9]' "$STEER_STATE"
    sleep 2
    daemon_stop steer KILL
    daemon_stop mariadbd KILL
    daemon_stop berthd KILL
    overdue
    steer --undo --overdue >/dev/null
    same "the weights" "$(weights_by_count)" "${MANY}x1"
    mariadb_start
    berthd_start
    a_round >/dev/null
    daemon_stop slurmctld
    daemon_start slurmctld slurmctld -D -i
    wait_for 60 jobs_run 40 || fail "jobs are lost"
    same "the weights after a restart of slurmctld" "$(weights_by_count)" "${MANY}x1"
    untold
}

# stream NAME: 200 jobs of a second.
stream() {
    timeout 300 sbatch -Q -W -n1 --array=1-200 -o /dev/null --wrap 'exec sleep 1' -J "$1" || fail "the jobs of $1 have not all ended well"
}

t10_a_stream_of_jobs_goes_through_with_steering_and_without() {
    local without with
    without=$EPOCHREALTIME
    stream plain
    without=$(((${EPOCHREALTIME/./} - ${without/./}) / 1000))
    told
    steer_on
    with=$EPOCHREALTIME
    stream steered
    with=$(((${EPOCHREALTIME/./} - ${with/./}) / 1000))
    daemon_stop steer
    echo "200 jobs of 1 s: $without ms without, $with ms with steering" >>"${BERTH_SHOWN:-/dev/null}"
    untold
}
