# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Which cores Slurm gives, on a node of more sockets than this machine has: tests/bench/day_slurm has to know it. A slurmctld and a
# slurmd of their own grant jobs that never start a task.

# wide_up SOCKETSxCORES: a node of that shape; SLURM_CONF is its cluster's from here on.
wide_up() {
    local folder=$CLUSTER/wide-$1 ports shape=$1
    mkdir -p "$folder/state" "$folder/spool"
    mapfile -t ports < <(free_ports 2)
    cp "$CLUSTER/etc/cgroup.conf" "$folder/"
    cat >"$folder/slurm.conf" <<END
ClusterName=wide
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmdPort=${ports[1]}
SlurmUser=root
SlurmdUser=root
AuthInfo=socket=$CLUSTER/run/munge.socket,cred_expire=5
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MailProg=/bin/true
MpiDefault=none
SlurmdParameters=config_overrides
NodeName=wide NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$((${shape%x*} * ${shape#*x})) Boards=1 SocketsPerBoard=${shape%x*} CoresPerSocket=${shape#*x} ThreadsPerCore=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
    export SLURM_CONF=$folder/slurm.conf
    trap wide_down EXIT
    daemon_start slurmctld-wide slurmctld -D -i
    daemon_start slurmd-wide slurmd -D -N wide
    wait_for 20 node_is idle || fail "no node: $(tail -n 3 "$CLUSTER/log"/slurm*-wide.out)"
}

wide_down() {
    timeout 10 scancel -u root || true
    daemon_stop slurmctld-wide
    daemon_stop slurmd-wide
}

# What each job that is there has been given, "-" in all where there is none.
declare -A given=()

taken() {
    local IFS=,
    echo "${given[*]:--}"
}

# grant JOB TASKS WIDTH: asks Slurm for that, and compares what it gives.
grant() {
    local told wanted got
    wanted=$("$BUILD/tests/cluster/given" "$SHAPE" "$(taken)" "$2" "$3")
    [ "$wanted" != none ] || return 0
    told=$(timeout 10 salloc --no-shell -n "$2" -c "$3" 2>&1)
    id[$1]=$(sed -n 's/.*Granted job allocation \([0-9]*\).*/\1/p' <<<"$told")
    [ "${id[$1]}" ] || fail "-n$2 -c$3: $told"
    got=$(timeout 10 scontrol show job -d "${id[$1]}" | sed -n 's/.*CPU_IDs=\([^ ]*\).*/\1/p')
    same "-n$2 -c$3 beside $(taken)" "$got" "$wanted"
    given[$1]=$got
}

# leave JOB
leave() {
    timeout 10 scancel "${id[$1]}"
    wait_for 10 becomes "" timeout 10 squeue -h -j "${id[$1]}"
    unset "given[$1]"
}

# play SHAPE COMMAND..: each "JOB:TASKSxWIDTH" starts a job, each "JOB-" ends it. In a subshell: the cluster of the suite stays
# that of whoever calls.
play() (
    local SHAPE=$1 what
    local -A id=()
    shift
    wide_up "$SHAPE"
    for what; do
        case $what in
        *-) leave "${what%-}" ;;
        *) grant "${what%:*}" "$(sed 's/.*:\(.*\)x.*/\1/' <<<"$what")" "${what#*x}" ;;
        esac
    done
)

# The simulated day gives wide tasks cores as Slurm 22.05 does; 24.11 and 26.05 do otherwise where not every socket has room for one.
divides_in_turn() {
    [ "$(slurmd -V | sed 's/^[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1\2/')" -lt 2302 ]
}

t18_slurm_gives_the_cores_that_the_simulated_day_gives() {
    play 4x8 a:1x1 b:1x1 c:4x1 d:6x1 e:1x4 f:2x3 g:1x5 c- h:1x3 a- i:2x2 f- k:3x1 g- e-
}

t18_tasks_that_no_socket_has_room_for_are_divided() {
    divides_in_turn || skip "this Slurm divides them otherwise"
    play 4x8 a:1x1 b:1x1 c:4x1 d:6x1 e:1x4 f:2x3 g:1x5 c- h:1x3 a- i:2x2 f- j:1x6 k:3x1 g- e- l:1x9
    play 4x8 a:1x6 b:1x6 c:1x6 d:3x4 a- c- e:1x9 d- f:4x3
}
