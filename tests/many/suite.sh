# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# suite - the cluster of tests/accounting with MANY nodes (50): so many slurmd on this host, each with a port and a spool of its own. Only
# the first has a berthd, for fifty would leave two CPUs nothing to run jobs with: what the others' would write into steer_node is
# written here.
# shellcheck source=tests/accounting/suite.sh
. "$TESTS/accounting/suite.sh"
# shellcheck source=tests/nodes/t30-steer.sh
. "$TESTS/nodes/t30-steer.sh" # what it does is used; its tests are those of tests/nodes

MANY=${MANY:-50}
CLUSTER_PLUGIN=default=off
many() { seq -f %02g 2 "$MANY"; }
CLUSTER_DAEMONS="$(many | sed 's/^/slurmd/' | paste -s -d' ') $CLUSTER_DAEMONS"

eval "one_node_$(declare -f cluster_prepare)"
eval "one_node_$(declare -f cluster_cgroups)"

cluster_cgroups() {
    local i
    one_node_cluster_cgroups
    for i in $(many); do CLUSTER_NODE=${CLUSTER_NODE}x$i one_node_cluster_cgroups; done
}

cluster_prepare() {
    local ports i packages=${CLUSTER_SHAPE%x*} cores=${CLUSTER_SHAPE#*x} line
    one_node_cluster_prepare || return 1
    mapfile -t ports < <(free_ports "$MANY")
    for i in $(many); do
        mkdir -p "$CLUSTER/many/$i"
        printf -v line 'NodeName=%s NodeHostname=%s NodeAddr=127.0.0.1 Port=%s CPUs=%d Boards=1 SocketsPerBoard=%d CoresPerSocket=%d ThreadsPerCore=1 RealMemory=1000 State=UNKNOWN' \
            "${CLUSTER_NODE}x$i" "$(hostname -s)" "${ports[10#$i - 1]}" $((packages * cores)) "$packages" "$cores"
        CLUSTER_SLURM_CONF="$CLUSTER_SLURM_CONF
$line"
    done
    CLUSTER_BERTHD_CONF+=("ledger=mariadb://127.0.0.1:$MARIADB_PORT/$LEDGER_DB" "ledger_defaults=$CLUSTER/etc/ledger.cnf")
    berthd_conf
}

slurm_start() {
    local i
    slurm_conf
    [ "$CLUSTER_CGROUP" = v1 ] || cgroup2_prepare
    : >"$CLUSTER/etc/plugstack-many.conf" # without berth
    cp "$CLUSTER/etc/cgroup.conf" "$CLUSTER/many/"
    daemon_start slurmctld slurmctld -D -i
    daemon_start slurmd slurmd -D -N "$CLUSTER_NODE"
    for i in $(many); do
        sed -e "s,^SlurmdSpoolDir=.*,SlurmdSpoolDir=$CLUSTER/many/$i," -e "s,^SlurmdPidFile=.*,SlurmdPidFile=$CLUSTER/many/$i/slurmd.pid," \
            -e "s,^SlurmdLogFile=.*,SlurmdLogFile=$CLUSTER/log/slurmd-many.log," \
            -e "s,^PlugStackConfig=.*,PlugStackConfig=$CLUSTER/etc/plugstack-many.conf," "$CLUSTER/etc/slurm.conf" >"$CLUSTER/many/slurm$i.conf"
        daemon_start "slurmd$i" slurmd -D -N "${CLUSTER_NODE}x$i" -f "$CLUSTER/many/slurm$i.conf"
    done
    wait_for 120 node_is idle && return 0
    daemon_failed slurmctld
    daemon_failed slurmd02
}
