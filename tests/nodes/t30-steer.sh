# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# berth-steer beside slurmctld: what it tells Slurm of two nodes, and that all of it is undone.
#
# What berthd writes into steer_node is written here. Between two changes of a node there are 30 s: the tests put the last one back.

STEER_STATE=$CLUSTER/run/steer.json

steer() {
    timeout 60 "$BUILD/berth-steer" --ledger="mariadb://127.0.0.1:$MARIADB_PORT/$LEDGER_DB" --ledger-defaults="$CLUSTER/etc/ledger.cnf" \
        --state="$STEER_STATE" --control=0 "$@"
}

# The weights of both nodes, in Slurm's order.
weights() {
    timeout 10 scontrol show node "$CLUSTER_NODE,$OTHER_NODE" | sed -n 's/.*Weight=\([0-9]*\).*/\1/p' | paste -s -d' '
}

state_of_node() {
    timeout 10 scontrol show node "$1" | sed -n 's/.*State=\([^ ]*\).*/\1/p'
}

# written NODE PRESSURE [AGE]: as the node's berthd would, so many seconds ago.
written() {
    sql "replace into $LEDGER_DB.steer_node (node, at, pressure) values ('$1', unix_timestamp() - ${3:-0}, $2)"
}

rested() {
    [ ! -e "$STEER_STATE" ] || sed -i 's/"at":[0-9]*/"at":1/' "$STEER_STATE"
}

overdue() {
    sed -i 's/"until":[0-9]*/"until":2/' "$STEER_STATE"
}

# a_round [OPTION..]: prints what was changed by how many RPCs.
a_round() {
    rested
    steer --once --json "$@" | jq -c '[.news, .changed, .rpcs]'
}

# steered FIRST SECOND: a job on each node, and a round with these pressures.
steered() {
    [ -x "$BUILD/berth-steer" ] || skip "berth-steer is not built"
    rm -f "$STEER_STATE"
    timeout 10 scontrol update NodeName="$CLUSTER_NODE,$OTHER_NODE" Weight=1
    sql "create table if not exists $LEDGER_DB.steer_node (node varchar(64) not null, at bigint not null, pressure double, primary key (node));
        delete from $LEDGER_DB.steer_node"
    start one -w "$CLUSTER_NODE"
    start two -w "$OTHER_NODE"
    written "$CLUSTER_NODE" "$1"
    written "$OTHER_NODE" "$2"
    a_round >/dev/null
}

unsteered() {
    stop one two
    steer --undo >/dev/null
    same "the weights in the end" "$(weights)" "1 1"
    [ ! -e "$STEER_STATE" ] || fail "a file of state is left"
}

# job_comes_to [OPTION..]: where a job comes to.
job_comes_to() {
    # shellcheck disable=SC2016
    timeout 30 srun -n1 "$@" sh -c 'echo "$SLURMD_NODENAME"'
}

t30_a_job_goes_to_the_node_whose_memory_is_less_busy() {
    steered 0.9 0.1
    same "the weights" "$(weights)" "29 4"
    same "the job's node" "$(job_comes_to)" "$OTHER_NODE"
    written "$CLUSTER_NODE" 0.1
    written "$OTHER_NODE" 0.9
    same "the next round" "$(a_round)" "[2,2,2]"
    same "the weights then" "$(weights)" "4 29"
    same "the next job's node" "$(job_comes_to)" "$CLUSTER_NODE"
    unsteered
}

t30_an_empty_node_is_left_for_whole_nodes() {
    steered 0.9 0.9
    stop two
    soon "the second node's state" IDLE state_of_node "$OTHER_NODE"
    a_round >/dev/null
    same "the weights" "$(weights)" "29 33"
    same "the job's node" "$(job_comes_to)" "$CLUSTER_NODE"
    start two -w "$OTHER_NODE"
    unsteered
}

# Within half a level nothing is changed, and never twice in 30 s.
t30_a_weight_is_changed_seldom() {
    steered 0.3 0.9
    written "$CLUSTER_NODE" 0.32
    same "a little more" "$(a_round)" "[2,0,0]"
    written "$CLUSTER_NODE" 0.8
    same "too soon" "$(steer --once --json | jq -r .why)" "the last change is not 30 s old"
    same "dryrun" "$(a_round --dryrun)" "[2,0,0]"
    same "the weights" "$(weights)" "10 29"
    same "later" "$(a_round)" "[2,1,1]"
    same "the weights then" "$(weights)" "26 29"
    unsteered
}

t30_silence_and_wrong_rows_change_nothing() {
    local wrong
    steered 0.5 0.5
    same "the weights" "$(weights)" "17 17"
    written "$CLUSTER_NODE" 0.5 700
    same "an old row" "$(a_round)" "[1,1,1]"
    same "the weights without news of the first" "$(weights)" "1 17"
    for wrong in -1 null 1e400 "'much'"; do
        written "$CLUSTER_NODE" 0.9
        written "$CLUSTER_NODE" "$wrong" 2>/dev/null || continue # MariaDB takes it not, or as 0
        a_round >/dev/null
        has "1 17" "$(weights)"
    done
    written "$CLUSTER_NODE" 0.9 -3600
    written nobody 0.9
    a_round >/dev/null
    same "a row of the future, and of a node that is not there" "$(weights)" "1 17"
    sql "delete from $LEDGER_DB.steer_node"
    same "no news at all" "$(a_round)" "[0,1,1]"
    same "the weights then" "$(weights)" "1 1"
    unsteered
}

t30_a_database_that_is_away_undoes_all() {
    steered 0.9 0.5
    same "the weights" "$(weights)" "29 17"
    rested
    steer --once --ledger="mariadb://127.0.0.1:1/$LEDGER_DB" 2>"$CLUSTER/out/why"
    has "$(cat "$CLUSTER/out/why")" "berth-steer: the ledger: "
    same "the weights then" "$(weights)" "1 1"
    unsteered
}

# Its own end, its death, and rounds that have ceased.
t30_what_it_changed_is_undone() {
    steered 0.9 0.1
    rested
    daemon_start steer "$BUILD/berth-steer" --ledger="mariadb://127.0.0.1:$MARIADB_PORT/$LEDGER_DB" \
        --ledger-defaults="$CLUSTER/etc/ledger.cnf" --state="$STEER_STATE" --control=0
    wait_for 20 grep -q '"at":[0-9][0-9]' "$STEER_STATE"
    has "$(steer --undo 2>&1 || true)" "another berth-steer runs"
    daemon_stop steer
    same "the weights after SIGTERM" "$(weights)" "1 1"
    [ ! -e "$STEER_STATE" ] || fail "a file of state is left"
    a_round >/dev/null
    daemon_start steer "$BUILD/berth-steer" --ledger="mariadb://127.0.0.1:$MARIADB_PORT/$LEDGER_DB" \
        --ledger-defaults="$CLUSTER/etc/ledger.cnf" --state="$STEER_STATE" --control=0
    daemon_stop steer KILL
    same "the weights after SIGKILL" "$(weights)" "29 4"
    same "not due" "$(steer --undo --overdue --json | jq -r .why)" "it is not due yet"
    overdue
    same "overdue" "$(steer --undo --overdue --json | jq -c '[.changed, .rpcs, .why]')" '[2,1,""]'
    same "the weights then" "$(weights)" "1 1"
    same "once more" "$(steer --undo --json | jq -r .why)" "nothing is steered"
    unsteered
}

# written_down JOB..: slurmctld, when it is killed, still has these; a change makes it write.
written_down() {
    local job
    [ "$CLUSTER/state/job_state" -nt "$CLUSTER/out/two.id" ] || timeout 10 scontrol update JobId="$1" Comment="$EPOCHREALTIME"
    for job; do grep -qs "Id=$job\b" <(timeout 10 scontrol show job "$job") || return 1; done
    [ "$CLUSTER/state/job_state" -nt "$CLUSTER/out/two.id" ]
}

nodes_with_news() {
    steer --dryrun --json | jq .news
}

# slurmctld forgets weights when it starts and when it is reconfigured; what is the admin's stays known.
t30_a_restart_of_slurmctld_gives_back_the_admins_weights() {
    steered 0.9 0.1
    wait_for 20 written_down "$(job_of one)" "$(job_of two)" || fail "slurmctld does not write its jobs down"
    daemon_stop slurmctld KILL
    daemon_start slurmctld slurmctld -D -i
    soon "the first node's state" MIXED state_of_node "$CLUSTER_NODE"
    soon "the second node's state" MIXED state_of_node "$OTHER_NODE"
    same "the weights after a restart" "$(weights)" "1 1"
    soon "nodes that have registered again" 2 nodes_with_news
    same "the next round" "$(a_round)" "[2,2,2]"
    same "the weights then" "$(weights)" "29 4"
    timeout 10 scontrol reconfigure
    soon "the weights after a reconfiguration" "1 1" weights
    same "the round after that" "$(a_round)" "[2,2,2]"
    unsteered
}

# An admin's order stays, and what he sets by hand is his.
t30_an_admins_weights_stay() {
    steered 0.9 0.1
    timeout 10 scontrol update NodeName="$OTHER_NODE" Weight=100
    a_round >/dev/null
    same "the weights" "$(weights)" "29 103"
    written "$OTHER_NODE" 0.9
    a_round >/dev/null
    same "a level above his" "$(weights)" "29 128"
    same "the job's node" "$(job_comes_to)" "$CLUSTER_NODE"
    timeout 10 scontrol update NodeName="$OTHER_NODE" Weight=33
    same "levels between weights that are 32 apart" "$(a_round >/dev/null; steer --once --json | jq .levels)" 8
    same "the weights, by levels that leave his order" "$(weights)" "8 40"
    steer --undo >/dev/null
    same "undone" "$(weights)" "1 33"
    timeout 10 scontrol update NodeName="$OTHER_NODE" Weight=34
    same "levels between weights that are 33 apart" "$(a_round >/dev/null; steer --once --json | jq .levels)" 32
    same "the weights then" "$(weights)" "29 62"
    steer --undo >/dev/null
    same "undone" "$(weights)" "1 34"
    timeout 10 scontrol update NodeName="$OTHER_NODE" Weight=5
    has "$(a_round 2>&1 || true)" "the weights 1 and 5 of nodes are too near"
    same "nothing is changed" "$(weights)" "1 5"
    timeout 10 scontrol update NodeName="$OTHER_NODE" Weight=1
    unsteered
}

# Each partition has one node, and the admin wants the second one last: neither is otherwise, whichever is quiet. (Where jobs of a
# partition may share cores, Slurm gives no other partition a core of their nodes.)
t30_partitions_are_respected() {
    timeout 10 scontrol update PartitionName=all OverSubscribe=NO
    steered 0.9 0.1
    timeout 10 scontrol update NodeName="$OTHER_NODE" Weight=100
    timeout 10 scontrol create PartitionName=first Nodes="$CLUSTER_NODE"
    timeout 10 scontrol create PartitionName=second Nodes="$OTHER_NODE"
    a_round >/dev/null
    same "the weights" "$(weights)" "29 103"
    same "the node of a job of the first partition" "$(job_comes_to -p first)" "$CLUSTER_NODE"
    same "the node of a job of the second one" "$(job_comes_to -p second)" "$OTHER_NODE"
    same "the node of a job of the partition that has both" "$(job_comes_to)" "$CLUSTER_NODE"
    written "$CLUSTER_NODE" 0.1
    written "$OTHER_NODE" 0.9
    a_round >/dev/null
    same "the weights then" "$(weights)" "4 128"
    same "the node of a job of the first partition then" "$(job_comes_to -p first)" "$CLUSTER_NODE"
    same "the node of a job of the second one then" "$(job_comes_to -p second)" "$OTHER_NODE"
    timeout 10 scontrol delete PartitionName=first
    timeout 10 scontrol delete PartitionName=second
    timeout 10 scontrol update PartitionName=all OverSubscribe=YES
    steer --undo >/dev/null
    same "undone" "$(weights)" "1 100"
    timeout 10 scontrol update NodeName="$OTHER_NODE" Weight=1
    unsteered
}

# The quiet node is reserved: weights order only what a job may have.
t30_reservations_are_respected() {
    steered 0.9 0.1
    same "the weights" "$(weights)" "29 4"
    timeout 10 scontrol create reservation ReservationName=kept Nodes="$OTHER_NODE" StartTime=now Duration=10 Users=root Flags=IGNORE_JOBS
    same "the node of a job outside the reservation" "$(job_comes_to)" "$CLUSTER_NODE"
    same "the node of a job inside" "$(job_comes_to --reservation=kept)" "$OTHER_NODE"
    timeout 10 scontrol delete ReservationName=kept
    soon "the node of a job afterwards" "$OTHER_NODE" job_comes_to
    unsteered
}

# ---- each part is killed ----

# Its database is killed: a round gives all back, and steers again when it is there.
t30_a_killed_database_undoes_all_until_it_is_back() {
    steered 0.9 0.1
    same "the weights" "$(weights)" "29 4"
    sleep 2 # what it was told is on its disk
    daemon_stop mariadbd KILL
    rested
    steer --once 2>"$CLUSTER/out/why"
    has "$(cat "$CLUSTER/out/why")" "berth-steer: the ledger: "
    same "the weights without it" "$(weights)" "1 1"
    same "the job's node" "$(job_comes_to)" "$CLUSTER_NODE"
    mariadb_start
    same "the next round" "$(a_round)" "[2,2,2]"
    same "the weights then" "$(weights)" "29 4"
    unsteered
}

# A berth-steer that runs on lives through a slurmctld that is killed and comes back.
t30_a_killed_slurmctld_is_steered_again() {
    steered 0.9 0.1
    wait_for 20 written_down "$(job_of one)" "$(job_of two)" || fail "slurmctld does not write its jobs down"
    rm -f "$STEER_STATE"
    timeout 10 scontrol update NodeName="$CLUSTER_NODE,$OTHER_NODE" Weight=1
    steer_on
    soon "the weights" "29 4" weights
    daemon_stop slurmctld KILL
    daemon_start slurmctld slurmctld -D -i
    soon "the second node's state" MIXED state_of_node "$OTHER_NODE"
    same "the weights after it came back" "$(weights)" "1 1"
    daemon_stop steer
    steer_on
    soon "nodes that have registered again" 2 nodes_with_news
    soon "the weights then" "29 4" steered_again
    daemon_stop steer
    unsteered
}

# One round after the other, with what was changed last put back: what a berth-steer that runs on does each 30 s.
steered_again() {
    a_round >/dev/null 2>&1 || true # the one that runs has the lock
    weights
}

steer_on() {
    daemon_start steer "$BUILD/berth-steer" --ledger="mariadb://127.0.0.1:$MARIADB_PORT/$LEDGER_DB" \
        --ledger-defaults="$CLUSTER/etc/ledger.cnf" --state="$STEER_STATE" --control=0
}

# All at once: the next start knows what was changed, and gives it back.
t30_all_parts_killed_at_once_leave_nothing() {
    steered 0.9 0.1
    steer_on
    wait_for 20 written_down "$(job_of one)" "$(job_of two)" || fail "slurmctld does not write its jobs down"
    sleep 2
    daemon_stop steer KILL
    daemon_stop slurmctld KILL
    daemon_stop mariadbd KILL
    daemon_stop berthd KILL
    daemon_start slurmctld slurmctld -D -i
    soon "the first node's state" MIXED state_of_node "$CLUSTER_NODE"
    soon "the second node's state" MIXED state_of_node "$OTHER_NODE"
    overdue
    steer --undo --overdue >/dev/null
    same "the weights" "$(weights)" "1 1"
    [ ! -e "$STEER_STATE" ] || fail "a file of state is left"
    mariadb_start
    berthd_start
    soon "nodes with news" 2 nodes_with_news
    a_round >/dev/null
    same "the next round" "$(weights)" "29 4"
    unsteered
}

# ---- the trial ----

# hour STEERED: the lot of this hour and of the next one.
hour() {
    sql "create table if not exists $LEDGER_DB.steer_hour (hour bigint not null primary key, begins bigint not null, ends bigint not null,
            steered integer not null);
        replace into $LEDGER_DB.steer_hour select at, unix_timestamp(), unix_timestamp(), $1 from
            (select unix_timestamp() div 3600 * 3600 at union select unix_timestamp() div 3600 * 3600 + 3600) hours"
}

noted() {
    sql "select count(*) from $LEDGER_DB.steer_hour where ends > unix_timestamp() and steered = $1"
}

t30_the_lot_leaves_hours_to_slurm() {
    steered 0.9 0.1
    same "the weights" "$(weights)" "29 4"
    hour 0
    rested
    same "a round that steers nothing" "$(steer --once --json --control=50 | jq -c '[.news, .changed, .control]')" "[2,2,true]"
    same "the weights in that hour" "$(weights)" "1 1"
    same "hours that are noted" "$(noted 0)" 1
    hour 1
    has "$(steer --once --control=50)" "2 nodes, 2 with news, 2 changed by 2 RPCs"
    same "the weights in another hour" "$(weights)" "29 4"
    same "hours that are noted" "$(noted 1)" 1
    sql "drop table $LEDGER_DB.steer_hour"
    rested
    has "$(steer --once --control=50 2>&1)" "table steer_hour: no berthd of this version has written to it yet"
    same "the weights where it cannot be written down" "$(weights)" "29 4"
    unsteered
}

t30_figures_for_prometheus() {
    local file=$CLUSTER/out/steer.prom
    steered 0.9 0.1
    rested
    steer --once --metrics-textfile="$file" >/dev/null
    has "$(cat "$file")" 'berth_steer_level_nodes{level="28"} 1'
    has "$(cat "$file")" "berth_steer_news_nodes 2"
    has "$(cat "$file")" "berth_steer_pressure_mean_ratio 0.5"
    if command -v promtool >/dev/null; then promtool check metrics <"$file"; fi
    unsteered
}

# ---- what berthd writes ----

pressure_written() {
    sql "select count(*) from $LEDGER_DB.steer_node where node = '$CLUSTER_NODE' and pressure > 0 and at > unix_timestamp() - 60" 2>/dev/null
}

# Counters are played: 1e9 bytes a second.
t30_berthd_writes_the_pressure_that_is_steered_by() {
    [ -x "$BUILD/berth-steer" ] || skip "berth-steer is not built"
    traffic waves 1e9 >"$CLUSTER/berth/waves.csv"
    sql "drop table if exists $LEDGER_DB.steer_node, $LEDGER_DB.steer_schema"
    daemon_stop berthd
    berthd_conf startup=100ms first_window=200ms window=200ms counters_replay="$CLUSTER/berth/waves.csv" allow=auto,tag steer=on
    berthd_start
    start waves -w "$CLUSTER_NODE" --contention-aware=tag=waves
    soon "its row" 1 pressure_written
    same "nodes with news" "$(steer --dryrun --json | jq .news)" 1
    daemon_stop berthd KILL
    same "nodes with news a moment later" "$(steer --dryrun --json | jq .news)" 1
    sql "update $LEDGER_DB.steer_node set at = at - 700"
    same "nodes with news of a berthd that is silent" "$(steer --dryrun --json | jq .news)" 0
    berthd_start
    soon "its row when it is back" 1 pressure_written
    same "nodes with news then" "$(steer --dryrun --json | jq .news)" 1
    stop waves
    daemon_stop berthd
}
