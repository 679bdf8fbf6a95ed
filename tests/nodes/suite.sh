# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# suite - the cluster of tests/accounting with a second node: another slurmd of this host, with a berthd, meters and a state folder of
# its own in $CLUSTER/other. Both write into one ledger in MariaDB; the second one reaches it over a link that a test may cut.
#
# On a machine that is told to have several packages Slurm gives out the same CPUs on both nodes: there it is tested what nodes say
# together, not where steps stand. On one that has them (a guest, tests/vm/run -s tests/nodes) each node has half of them.
# shellcheck source=tests/accounting/suite.sh
. "$TESTS/accounting/suite.sh"

CLUSTER_DAEMONS="berthd2 slurmd2 link $CLUSTER_DAEMONS"
CLUSTER_PLUGIN=default=off

cluster_also_missing() {
    local tool
    for tool in slurmdbd sacctmgr sacct mariadbd mariadb mariadb-install-db mariadb-admin socat; do
        command -v "$tool" >/dev/null || { echo "no $tool (see contrib/install-packages tests)"; return 0; }
    done
    return 1
}

eval "one_node_$(declare -f cluster_prepare)"
eval "one_node_$(declare -f cluster_cgroups)"
eval "one_node_$(declare -f berthd_conf)"

cluster_cgroups() {
    one_node_cluster_cgroups
    CLUSTER_NODE=$OTHER_NODE one_node_cluster_cgroups
}

# half N: the line of a node that leaves the N-th half of a real machine's packages to the other node.
half() {
    local cpus=$((${CLUSTER_SHAPE%x*} / 2 * ${CLUSTER_SHAPE#*x}))
    [ -n "$CLUSTER_TOPOLOGY" ] || echo "CpuSpecList=$(($1 * cpus))-$(($1 * cpus + cpus - 1))"
}

# NodeName of the second one, behind the first one's line.
cluster_prepare() {
    local port packages=${CLUSTER_SHAPE%x*} cores=${CLUSTER_SHAPE#*x}
    OTHER_NODE=${CLUSTER_NODE}b
    OTHER=$CLUSTER/other
    mkdir -p "$OTHER"/{berth,run,spool}
    mapfile -t port < <(free_ports 2)
    LINK_PORT=${port[1]}
    CLUSTER_NODE_CONF=$(half 1)
    one_node_cluster_prepare || return 1
    CLUSTER_SLURM_CONF="$CLUSTER_SLURM_CONF
NodeName=$OTHER_NODE $(half 0) NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=${port[0]} CPUs=$((packages * cores)) Boards=1 SocketsPerBoard=$packages CoresPerSocket=$cores ThreadsPerCore=1 RealMemory=1000 State=UNKNOWN"
    cp -a "$CLUSTER/meters" "$OTHER/meters"
    link_up
    CLUSTER_BERTHD_CONF+=("ledger=mariadb://127.0.0.1:$MARIADB_PORT/$LEDGER_DB" "ledger_defaults=$CLUSTER/etc/ledger.cnf")
    berthd_conf
}

# A slurmd that takes its plugin's socket, and all its files, from the other folder.
slurm_start() {
    slurm_conf
    [ "$CLUSTER_CGROUP" = v1 ] || cgroup2_prepare
    echo "optional $CLUSTER/lib/spank_berth.so socket=$OTHER/run/berthd.sock $CLUSTER_PLUGIN" >"$CLUSTER/etc/plugstack2.conf"
    sed -e "s,^SlurmdSpoolDir=.*,SlurmdSpoolDir=$OTHER/spool," -e "s,^SlurmdPidFile=.*,SlurmdPidFile=$OTHER/run/slurmd.own.pid," \
        -e "s,^SlurmdLogFile=.*,SlurmdLogFile=$CLUSTER/log/slurmd2.log," \
        -e "s,^PlugStackConfig=.*,PlugStackConfig=$CLUSTER/etc/plugstack2.conf," "$CLUSTER/etc/slurm.conf" >"$CLUSTER/etc/slurm2.conf"
    cp "$CLUSTER/etc/cgroup.conf" "$CLUSTER/etc/plugstack.conf" "$OTHER/"
    daemon_start slurmctld slurmctld -D -i
    daemon_start slurmd slurmd -D -N "$CLUSTER_NODE"
    daemon_start slurmd2 slurmd -D -N "$OTHER_NODE" -f "$CLUSTER/etc/slurm2.conf"
    wait_for 30 node_is idle && return 0
    daemon_failed slurmctld
    daemon_failed slurmd
    daemon_failed slurmd2
}

# ---- the second berthd ----

berthd_conf() {
    one_node_berthd_conf "$@"
    sed -e "s,^\(tune = [a-z_]*\)=$CLUSTER/\(run\|berth\),\1=$OTHER/\2," -e "s,^energy_root = .*,energy_root = $OTHER/meters," \
        -e "s,^tune = machine_profile=.*,tune = machine_profile=$OTHER/berth/machine.json," -e "s,^tune = cgroup_name=.*,tune = cgroup_name=berth_$OTHER_NODE," \
        -e "s,^ledger = .*,ledger = mariadb://127.0.0.1:$LINK_PORT/$LEDGER_DB," "$CLUSTER/etc/berth.conf" >"$CLUSTER/etc/berth2.conf"
}

berthd2_start() {
    daemon_start berthd2 "$CLUSTER/bin/berthd" --test-keys -c "$CLUSTER/etc/berth2.conf"
    wait_for 10 "$CLUSTER/bin/berthctl" status --socket "$OTHER/run/berthd.sock" || daemon_failed berthd2
}

eval "one_node_$(declare -f berthd_start)"
berthd_start() {
    one_node_berthd_start && { alive "$(daemon_pid berthd2)" || berthd2_start; }
}

# ---- its way to the ledger ----

link_up() {
    daemon_start link socat "TCP-LISTEN:$LINK_PORT,bind=127.0.0.1,reuseaddr,fork" "TCP:127.0.0.1:$MARIADB_PORT"
}

# The listener and each connection that it has: a link that is cut ends those that stand, too.
link_down() {
    pkill -KILL -P "$(daemon_pid link)" || true # nobody may be connected
    daemon_stop link KILL
}

# ---- both ----

# drawn MICROJOULES OTHERS: the meters of both nodes go on, each package's by half.
drawn() {
    local zone now file
    for zone in intel-rapl:0 intel-rapl:1; do
        file=$OTHER/meters/sys/class/powercap/$zone/energy_uj
        advance "$zone" $(($1 / 2))
        now=$((10#$(cat "$file") + $2 / 2))
        printf '%012d\n' $((now > METER_RANGE ? now - METER_RANGE : now)) 1<>"$file"
    done
}

# records JOB: of how many nodes the ledger has how many records of the job, once they say whose it is.
records() {
    sql "select count(distinct node), count(*) from $LEDGER_DB.ledger_record where job = $1 and identity not in ('none', 'slurmd')" 2>/dev/null | tr '\t' ' '
}
