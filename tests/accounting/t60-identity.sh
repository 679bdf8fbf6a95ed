# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Who a job is: what slurmctld and slurmdbd say, whatever its user's environment says.

ATTACKER=games VICTIM=news # accounts that every Debian has

# as_attacker COMMAND..: from a folder that he may be in.
as_attacker() {
    (cd / && exec timeout 60 runuser -u "$ATTACKER" -- "$@")
}

# batch_as_attacker NAME <SCRIPT: as batch, by him.
batch_as_attacker() {
    local name=$1
    { printf '#!/bin/bash\n'; cat; } >"$CLUSTER/out/$name.sh"
    chmod 755 "$CLUSTER/out/$name.sh"
    (cd / && timeout 10 runuser -u "$ATTACKER" -- sbatch --parsable -n1 -o "$CLUSTER/out/$name.batch" "$CLUSTER/out/$name.sh") >"$CLUSTER/out/$name.job"
}

# another_cluster: slurmdbd has one more, "production".
another_cluster() {
    timeout 10 sacctmgr -n show cluster production | grep -q production || timeout 10 sacctmgr -i add cluster production >/dev/null
}

# twin_of JOB: the victim has a job of that number there, which runs now and ends in a minute. It is commented already.
twin_of() {
    sql "use $ACCOUNTING_DB; create temporary table twin as select * from berth_job_table order by job_db_inx limit 1;
        alter table twin drop column job_db_inx;
        update twin set id_job = $1, id_user = $(id -u $VICTIM), id_array_job = 0, state = 3, admin_comment = 'audited: ok',
            time_submit = unix_timestamp() - 60, time_start = unix_timestamp() - 60, time_end = unix_timestamp() + 60, deleted = 0;
        insert into production_job_table ($(columns)) select $(columns) from twin"
}

# The columns of a job's row, but for its number in the table.
columns() {
    sql "select group_concat(concat('\`', column_name, '\`') order by ordinal_position) from information_schema.columns
        where table_schema = '$ACCOUNTING_DB' and table_name = 'berth_job_table' and column_name <> 'job_db_inx'"
}

twins_comment() {
    sql "select admin_comment from $ACCOUNTING_DB.production_job_table where id_job = $1"
}

# recorded JOB COLUMNS: of the ledger's rows, in order of their start.
recorded() {
    sqlite3 -readonly -cmd '.timeout 10000' -separator ' ' "$CLUSTER/berth/ledger.db" "select $2 from ledger_record where job = $1 order by start, step"
}

# berthd with the suite's own keys again.
berthd_as_ever() {
    daemon_stop berthd
    berthd_conf
    berthd_start
}

t60_a_users_environment_changes_no_row_of_another_cluster() {
    local job
    berthd_as_ever # the tests before this one have another ledger
    another_cluster
    batch first -n1 <<<"true"
    finish first
    eventually "slurmdbd's job" COMPLETED accounted "$(cat "$CLUSTER/out/first.job")" State
    job=$(($(cat "$CLUSTER/out/first.job") + 1))
    twin_of $job
    batch_as_attacker a <<<"export SLURM_CLUSTER_NAME=production; srun --contention-aware sleep 1"
    same "the number" "$(cat "$CLUSTER/out/a.job")" $job
    finish a
    commented $job # its own
    same "the other cluster's row" "$(twins_comment $job)" "audited: ok"
    same "cluster" "$(recorded $job cluster)" berth
}

t60_what_is_no_name_never_reaches_slurmdbd() {
    local job
    batch_as_attacker a <<<"export SLURM_CLUSTER_NAME='x\"y' SLURM_JOB_ACCOUNT='x\"y'; srun --contention-aware true"
    finish a
    job=$(cat "$CLUSTER/out/a.job")
    commented "$job"
    same "cluster and account" "$(recorded "$job" "cluster, account = 'x\"y'")" "berth 0"
    ! grep -q 'x"y\|mysql_query failed' "$CLUSTER/log/slurmdbd.log" || fail "$(grep 'x"y\|mysql_query failed' "$CLUSTER/log/slurmdbd.log")"
}

t60_the_ledger_believes_no_environment() {
    local job
    as_attacker env SLURM_JOB_ACCOUNT=rivals SLURM_JOB_QOS=vip SLURM_JOB_PARTITION=vip SLURM_RESTART_COUNT=77 SLURM_JOB_NUM_NODES=99 \
        SLURM_ARRAY_JOB_ID=1 srun -n1 -J honest --contention-aware "$STAND" a >"$CLUSTER/out/a.srun" 2>&1 &
    echo $! >"$CLUSTER/out/a.client"
    running a
    job=$(job_of a)
    soon "who says it while it runs" slurmctld explained a .identity.source
    stop a
    soon "who it is" "slurmctld berth  all 0 1 0 honest $(id -u $ATTACKER)" \
        recorded "$job" "identity, cluster, account, partition, restart, nodes, array_job, job_name, uid"
    same "QOS" "$(recorded "$job" "qos in ('vip')")" 0
    # a step that is over before anybody has answered
    as_attacker env SLURM_JOB_ACCOUNT=rivals SLURM_JOB_NAME=liar srun -n1 -J honest --contention-aware sh -c 'echo $SLURM_JOB_ID' >"$CLUSTER/out/b.out"
    job=$(cat "$CLUSTER/out/b.out")
    soon "who it is" "slurmctld berth  all honest" recorded "$job" "identity, cluster, account, partition, job_name"
    same "records" "$(recorded "$job" "count(*)")" 1
    same "a report by that account" "$(report -A rivals -j "$job" --json | jq -c .jobs)" "[]"
}

t60_a_berthd_that_is_killed_while_it_asks_leaves_no_record_without_names() {
    local job mute=$CLUSTER/out/mute
    printf '#!/bin/sh\n[ ! -e %q ] || exec %q "$@"\necho nobody answers yet\nexit 75\n' "$mute.ends" "$CLUSTER/bin/berth-job" >"$mute"
    chmod 755 "$mute"
    daemon_stop berthd
    berthd_conf job_program="$mute"
    berthd_start
    # the job goes on: slurmd tells who it was at its end
    batch mute -n1 -J mute <<<"srun --contention-aware true; until [ -e $mute.stop ]; do sleep 0.1; done"
    job=$(cat "$CLUSTER/out/mute.job")
    soon "its record" none recorded "$job" identity
    daemon_stop berthd KILL
    touch "$mute.ends"
    berthd_start
    soon "who it is" "slurmctld berth mute" recorded "$job" "identity, cluster, job_name"
    touch "$mute.stop"
    finish mute
    berthd_as_ever
}

t60_isolate_is_not_had_by_the_environment() {
    daemon_stop berthd
    berthd_conf grant=isolate:account=rivals,physics
    berthd_start
    knows devil 20000
    (cd / && SLURM_JOB_ACCOUNT=rivals SLURM_JOB_QOS=rivals exec timeout 90 runuser -u "$ATTACKER" -- srun -Q -n1 --contention-aware=isolate,tag=devil \
        "$STAND" a) >"$CLUSTER/out/a.srun" 2>&1 &
    echo $! >"$CLUSTER/out/a.client"
    running a
    soon "who says it" slurmctld explained a .identity.source
    same "the attacker" "$(explained a '.place.isolate | "\(.asked) \(.granted)"')" "true false"
    has "$(explained a .place.isolate.reason)" "names neither"
    stop a
    start b --account=physics --contention-aware=isolate,tag=devil
    soon "who has that account" "true true" explained b '.place.isolate | "\(.asked) \(.granted)"'
    same "its refused words" "$(explained b .request.refused)" null
    daemon_stop berthd KILL
    berthd_start
    same "after a restart" "$(explained b '"\(.place.isolate.granted) \(.identity.account)"')" "true physics"
    stop b
    berthd_as_ever
}

t60_nobody_is_believed_where_nobody_can_be_asked() {
    daemon_stop berthd
    berthd_conf grant=isolate:account=rivals job_program=off
    berthd_start
    knows devil 20000
    start a --account=physics --contention-aware=isolate,tag=devil
    same "isolate" "$(explained a '.place.isolate | "\(.asked) \(.granted)"')" "true false"
    has "$(explained a .place.isolate.reason)" "slurmctld has not said"
    same "who says it" "$(explained a .identity.source)" none
    stop a
    berthd_as_ever
}

t60_a_comment_is_its_users_only() {
    local job rc=0
    batch_as_attacker a <<<"true"
    finish a
    job=$(cat "$CLUSTER/out/a.job")
    eventually "slurmdbd's end of the job" known end_of "$job"
    eventually "slurmdbd's user" "$(id -u $ATTACKER)" accounted "$job" UID
    timeout 20 "$CLUSTER/bin/berth-comment" -u "$(id -u $VICTIM)" -j "$job" '{"x":1}' 2>"$CLUSTER/out/said" || rc=$?
    same "exit status" "$rc" 1
    has "$(cat "$CLUSTER/out/said")" "is not that user's"
    same "the comment" "$(comment_of "$job")" ""
    timeout 20 "$CLUSTER/bin/berth-comment" -u "$(id -u $ATTACKER)" -j "$job" '{"x":1}'
    same "by its user" "$(comment_of "$job")" '{"berth":{"x":1}}'
}

t60_each_run_of_a_job_is_itself() {
    local job began
    batch j -n1 --requeue --contention-aware <<<"srun $STAND a\${SLURM_RESTART_COUNT:-}"
    running a
    job=$(cat "$CLUSTER/out/j.job")
    began=$(explained a .started_at)
    soon "who it is" 0 explained a .identity.restarts
    requeue "$job"
    wait_for 20 test -s "$CLUSTER/out/a1.id" || fail "the job was not started again"
    soon "the second run" 1 explained a1 .identity.restarts
    touch "$CLUSTER/out/a1.stop"
    finish j
    soon "restarts" "$(printf '0\n1')" recorded "$job" "distinct restart"
    # of the first run, slurmctld knows no more
    same "slurmdbd" "$("$CLUSTER/bin/berth-job" "$job@$began" | jq -r '.jobs[0] | "\(.source) \(.restart) \(.uid) \(.cluster)"')" "slurmdbd 0 0 berth"
    same "slurmctld" "$("$CLUSTER/bin/berth-job" "$job" | jq -r '.jobs[0] | "\(.source) \(.restart)"')" "slurmctld 1"
}
