# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# suite - the cluster of tests/cluster with accounting: a MariaDB and a slurmdbd of its own, in the cluster's folder and on the
# loopback only. Sourced by tests/cluster/run after cluster.sh.
#
# Both run in the foreground below setsid like the other daemons, and are stopped by their pids after slurmctld has handed over its
# last records. MariaDB keeps nothing that must outlive us: its log is not flushed. Its one account for us is root, over the socket;
# slurmdbd and the ledger have accounts of their own, over TCP.

# Under a unit file's restrictions berthd needs these: slurmdbd, and MariaDB by TCP.
CLUSTER_DROP_INS=("$TESTS/../etc/berthd.service.d/10-network.conf" "$TESTS/../etc/berthd.service.d/30-mariadb.conf")

CLUSTER_DAEMONS="slurmdbd mariadbd"
ACCOUNTING_DB=slurm_acct
LEDGER_DB=berth

cluster_also_missing() {
    local tool
    for tool in slurmdbd sacctmgr sacct mariadbd mariadb mariadb-install-db mariadb-admin sqlite3; do
        command -v "$tool" >/dev/null || { echo "no $tool (see contrib/install-packages tests)"; return 0; }
    done
    return 1
}

# sql STATEMENTS: as MariaDB's root.
sql() {
    timeout 20 mariadb --no-defaults -uroot -S "$CLUSTER/run/mariadb.sock" -N -B -e "$1"
}

mariadb_make() {
    mkdir "$CLUSTER/mysql"
    timeout 120 mariadb-install-db --no-defaults --user=root --datadir="$CLUSTER/mysql" --skip-test-db --skip-name-resolve \
        --auth-root-authentication-method=normal >"$CLUSTER/log/mariadb-install.log" 2>&1
}

mariadb_start() {
    daemon_start mariadbd mariadbd --no-defaults --user=root --datadir="$CLUSTER/mysql" --socket="$CLUSTER/run/mariadb.sock" \
        --pid-file="$CLUSTER/run/mariadb.own.pid" --bind-address=127.0.0.1 --port="$MARIADB_PORT" --skip-log-bin \
        --innodb-buffer-pool-size=32M --innodb-log-file-size=16M --innodb-flush-log-at-trx-commit=0 \
        --innodb-lock-wait-timeout=900 --performance-schema=OFF --skip-name-resolve
    wait_for 30 mariadb-admin --no-defaults -uroot -S "$CLUSTER/run/mariadb.sock" ping || daemon_failed mariadbd
}

# Its accounts, and the option file that the ledger reads its password from.
mariadb_accounts() {
    sql "create database $ACCOUNTING_DB; create database $LEDGER_DB;
        create user 'slurm'@'127.0.0.1' identified by 'slurm'; grant all on $ACCOUNTING_DB.* to 'slurm'@'127.0.0.1';
        create user 'berth'@'127.0.0.1' identified by 'berth'; grant all on $LEDGER_DB.* to 'berth'@'127.0.0.1'"
    (umask 077 && printf '[client]\nuser=berth\npassword=berth\n' >"$CLUSTER/etc/ledger.cnf")
}

slurmdbd_conf() {
    (umask 077 && cat >"$CLUSTER/etc/slurmdbd.conf") <<END
AuthType=auth/munge
AuthInfo=socket=$CLUSTER/run/munge.socket
DbdHost=$(hostname -s)
DbdAddr=127.0.0.1
DbdPort=$SLURMDBD_PORT
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$MARIADB_PORT
StorageUser=slurm
StoragePass=slurm
StorageLoc=$ACCOUNTING_DB
LogFile=$CLUSTER/log/slurmdbd.log
PidFile=$CLUSTER/run/slurmdbd.own.pid
DebugLevel=${CLUSTER_DEBUG:-info}
END
}

slurmdbd_start() {
    daemon_start slurmdbd slurmdbd -D
    wait_for 30 timeout 5 sacctmgr -n show cluster || daemon_failed slurmdbd
}

# Accounts physics and chemistry, of which root and nobody may use both.
accounts_make() {
    local account
    timeout 10 sacctmgr -i add cluster berth || return 1
    for account in physics chemistry; do
        timeout 10 sacctmgr -i add account $account cluster=berth || return 1
        timeout 10 sacctmgr -i add user root,nobody cluster=berth account=$account || return 1
    done
}

# slurm.conf is needed already by sacctmgr; slurmctld's and slurmd's ports in it are made anew before they start.
cluster_prepare() {
    local ports
    mapfile -t ports < <(free_ports 2)
    MARIADB_PORT=${ports[0]} SLURMDBD_PORT=${ports[1]}
    CLUSTER_SLURM_CONF="AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$SLURMDBD_PORT
AccountingStoragePass=$CLUSTER/run/munge.socket
AccountingStoreFlags=job_comment"
    slurm_conf
    slurmdbd_conf
    mariadb_make || { tail -n 8 "$CLUSTER/log/mariadb-install.log" >&2; return 1; }
    mariadb_start && mariadb_accounts && slurmdbd_start && accounts_make >"$CLUSTER/log/sacctmgr.out" || return 1
    # shellcheck disable=SC2153 # run's
    cp "$BUILD/berth-comment" "$BUILD/berth-job" "$CLUSTER/bin/" || return 1
    meters_make
    CLUSTER_BERTHD_CONF=(ledger="sqlite:$CLUSTER/berth/ledger.db" ledger_queue="$CLUSTER/berth/queue" admin_comment=on move=all
        comment_program="$CLUSTER/bin/berth-comment" job_program="$CLUSTER/bin/berth-job" energy_root="$CLUSTER/meters" energy=powercap sweep=5s)
    berthd_conf
}

# ---- meters ----

METER_RANGE=262143328850

# Two packages with their memory, as powercap shows them; they are about to begin anew.
meters_make() {
    local i dir
    for i in 0 1; do
        dir=$CLUSTER/meters/sys/class/powercap/intel-rapl:$i
        mkdir -p "$dir/intel-rapl:$i:0" "$CLUSTER/meters/proc"
        echo package-$i >"$dir/name"
        echo dram >"$dir/intel-rapl:$i:0/name"
        echo $METER_RANGE | tee "$dir/max_energy_range_uj" >"$dir/intel-rapl:$i:0/max_energy_range_uj"
        echo 262143000000 | tee "$dir/energy_uj" >"$dir/intel-rapl:$i:0/energy_uj"
        # the kernel shows a part both inside its package and beside it
        ln -s "intel-rapl:$i/intel-rapl:$i:0" "$CLUSTER/meters/sys/class/powercap/"
    done
}

# meter ZONE: its counter's file. advance ZONE MICROJOULES: all digits are written at once, into the same file.
meter() {
    echo "$CLUSTER/meters/sys/class/powercap/$1/energy_uj"
}

advance() {
    local now
    now=$((10#$(cat "$(meter "$1")") + $2))
    printf '%012d\n' $((now > METER_RANGE ? now - METER_RANGE : now)) 1<>"$(meter "$1")"
}

# ---- what is recorded ----

# accounted JOB FIELDS: what sacct says of the job's last run.
accounted() {
    timeout 10 sacct -n -P -X -j "$1" -o "$2"
}

comment_of() {
    accounted "$1" AdminComment
}

# The comment up to our figures.
comment_begin() {
    comment_of "$1" | sed 's/\("berth":\).*/\1/'
}

# As `soon`, with the patience that reconnecting takes.
eventually() {
    local what=$1 wanted=$2
    shift 2
    wait_for 30 becomes "$wanted" "$@" || fail "$what: is '$("$@" 2>&1)', should be '$wanted'"
}

# commented JOB: within seconds its comment is what `berthctl report` says of the job.
commented() {
    eventually "the comment of job $1" '{"berth":' comment_begin "$1"
    same "the comment of job $1" "$(comment_of "$1")" "$(reported_figures "$1")"
}

# trying KEY=VALUE..: berthd starts again, and each try to write a comment that is over is a line of berth/tries. None comes to slurmdbd
# while there is a file berth/hold.
trying() {
    cat >"$CLUSTER/bin/try-comment" <<END
#!/bin/sh
rc=75
if [ -e $CLUSTER/berth/hold ]; then echo held; else $CLUSTER/bin/berth-comment "\$@"; rc=\$?; fi
echo tried >>$CLUSTER/berth/tries
exit \$rc
END
    chmod 755 "$CLUSTER/bin/try-comment"
    rm -f "$CLUSTER"/berth/{tries,hold}
    daemon_stop berthd
    berthd_conf comment_program="$CLUSTER/bin/try-comment" "$@"
    berthd_start
}

tried() {
    [ -s "$CLUSTER/berth/tries" ]
}

# Jobs whose comments are still to be written.
waiting() {
    sqlite3 -readonly -cmd '.timeout 10000' "$CLUSTER/berth/queue/outbox.db" 'select count(distinct job) from ledger_run'
}

# How often a job was changed at slurmdbd.
changes() {
    sql "select count(*) from $ACCOUNTING_DB.txn_table where action = 1415"
}

report() {
    timeout 20 berthctl report --config "$CLUSTER/etc/berth.conf" -a "$@"
}

# The comment that a job should have: absent figures are left out.
reported_figures() {
    report -j "$1" --json | jq -c "$PLAIN_NUMBERS"' | .jobs[0] | {berth: {version: 1, nodes: .nnodes, steps: (.steps | length), moves: .moves, energy_j: .energy_j, edp: .edp_js, source: .energy_source, idle_energy: .idle_energy}} | del(.berth[] | nulls)'
}
