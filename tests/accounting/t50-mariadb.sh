# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A ledger in MariaDB: the job's comment has what all of its nodes have recorded.

# How many records of the job say whose it is: until somebody has told, a copy would stay nobody's.
ledger_records() {
    sql "select count(*) from $LEDGER_DB.ledger_record where job = $1 and identity not in ('none', 'slurmd')" 2>/dev/null
}

# As another node's berthd would have it: the same record, with a name of its own.
recorded_elsewhere() {
    sql "use $LEDGER_DB; create temporary table other as select * from ledger_record where job = $1;
        update other set node = 'elsewhere', moves = 5; insert into ledger_record select * from other"
}

ledger_in_server() {
    daemon_stop berthd
    berthd_conf ledger="mariadb://127.0.0.1:$MARIADB_PORT/$LEDGER_DB" ledger_defaults="$CLUSTER/etc/ledger.cnf"
    berthd_start
}

t50_all_nodes_of_a_job_are_in_its_comment() {
    local job
    ledger_in_server
    batch a -n1 <<<"srun --contention-aware true; $STAND a"
    running a
    job=$(cat "$CLUSTER/out/a.job")
    soon "records" 1 ledger_records "$job"
    recorded_elsewhere "$job"
    touch "$CLUSTER/out/a.stop"
    finish a
    commented "$job"
    same "its nodes, steps and moves" "$(comment_of "$job" | jq -c '.berth | [.nodes, .steps, .moves]')" "[2,1,5]"
}

# What that user types: of a ledger whose password only root has.
bill_of_nobody() {
    (cd / && timeout 60 runuser -u nobody -- "$CLUSTER/bin/berthctl" report --config "$CLUSTER/etc/berth.conf" -nP -o JobID "$@" 2>&1)
}

t50_a_user_is_told_his_own_bill_from_a_server() {
    local hers his
    ledger_in_server
    runuser -u nobody -- timeout 60 srun -n1 --contention-aware "$STAND" b >"$CLUSTER/out/b.srun" 2>&1 &
    running b
    his=$(id_of b)
    touch "$CLUSTER/out/b.stop"
    wait $!
    start c --contention-aware
    hers=$(id_of c)
    stop c
    soon "his steps" "$his" nobodys_bill -j "$his,$hers"
    soon "records of root's" "${hers%.*}" recorded "${hers%.*}"
    same "of both" "$(nobodys_bill -j "$his,$hers")" "$his"
}

nobodys_bill() {
    bill_of_nobody "$@" | paste -s -d' '
}

recorded() {
    sql "select distinct job from $LEDGER_DB.ledger_record where job = $1" 2>/dev/null
}
