# shellcheck shell=bash disable=SC2119,SC2120
# SPDX-License-Identifier: GPL-2.0-or-later
# cluster - a private one-node Slurm cluster with berthd and the plugin, in a folder of its own; sourced by bash scripts.
#
# munged, slurmctld, slurmd and berthd run in the foreground below setsid, so that each pid is known and a Ctrl-C reaches
# this shell alone, which then takes them down in order. Ports are free ones, addresses the loopback's, and the node's name
# is unique, so that its cgroups (slurm_NODE, berth_NODE) are too. The plugin, berthd and berthctl are copied from the build: an
# unprivileged user can then run them, wherever the tree lies.
#
# The node claims two CPUs and berthd is told that each has a package of its own: then DI has something to choose on
# the smallest machine. The guests of tests/vm have a real topology, and set CLUSTER_SHAPE and CLUSTER_TOPOLOGY. cgroup v2 is
# used where it is mounted with the cpuset controller, else v1.
#
#   cluster_missing         prints why a cluster cannot run here; fails where it can
#   cluster_up BUILD        starts everything and arms the traps; $CLUSTER is the folder, $CLUSTER_NODE the node
#   cluster_down            stops what was started, removes cgroups and folder
#   plugin_on [ARGS..]      plugstack.conf with the plugin and these arguments (it is read again by every srun and step)
#   plugin_off              plugstack.conf without it
#   berthd_conf [KEY=VALUE..]  berth.conf of the tests, with these keys
#   berthd_start, daemon_stop berthd [SIGNAL], daemon_pid berthd

CLUSTER_CGROUPS=${CLUSTER_CGROUPS:-/sys/fs/cgroup}
CLUSTER_KEEP=${CLUSTER_KEEP:-} # "yes" leaves the folder with its logs behind
CLUSTER_SHAPE=${CLUSTER_SHAPE-1x2} # of the node: packages x cores
CLUSTER_TOPOLOGY=${CLUSTER_TOPOLOGY-package:2 l3:1 core:1 pu:1} # what berthd is told; empty: the machine's own
CLUSTER_CONSTRAIN=${CLUSTER_CONSTRAIN:-yes} # ConstrainCores
CLUSTER_PATIENCE=${CLUSTER_PATIENCE:-1} # how many times longer than on a machine of its own anything may take
CLUSTER_PAUSE=${CLUSTER_PAUSE:-0.02} # seconds between two looks at what shall happen
CLUSTER_PLUGIN=${CLUSTER_PLUGIN:-} # the plugin's arguments besides those of plugin_on
CLUSTER_DEADLINE=${CLUSTER_DEADLINE:-} # berthd's, for the answer to a registration; empty: the plugin's own, 50 ms
CLUSTER_PROLOG_FLAGS=${CLUSTER_PROLOG_FLAGS:-Contain} # with RunInJob (24.05 and later) slurmd calls no epilog of plugins
CLUSTER_SLURM_CONF=${CLUSTER_SLURM_CONF:-} # more lines of slurm.conf
CLUSTER_CGROUP_CONF=${CLUSTER_CGROUP_CONF:-} # more lines of cgroup.conf
CLUSTER_NODE_CONF=${CLUSTER_NODE_CONF:-} # more of the node's line in slurm.conf
CLUSTER_NODE_NAME=${CLUSTER_NODE_NAME:-} # of the node; empty: one that the process's number makes unique
CLUSTER_CONFINE=${CLUSTER_CONFINE:-} # "yes": berthd has only what its unit file leaves to it (tests/confined)
CLUSTER_DROP_INS=() # of that unit, more files
CLUSTER_BERTHD_CONF=() # more keys of berth.conf
CLUSTER_USER=${CLUSTER_USER:-root} # whom berthd runs as
CLUSTER_DAEMONS= # what cluster_prepare has started, to be stopped after slurmctld, in this order

# What a suite of its own needs besides (tests/cluster/run sources its suite.sh, which defines these anew):
cluster_also_missing() { return 1; } # as cluster_missing
cluster_prepare() { return 0; }      # starts what must be there before slurmctld

grep -qs cpuset "$CLUSTER_CGROUPS/cgroup.controllers" && CLUSTER_CGROUP=v2 || CLUSTER_CGROUP=v1

# wait_for SECONDS COMMAND..: until it succeeds.
wait_for() {
    local end=$((${EPOCHREALTIME/[.,]/} + $1 * CLUSTER_PATIENCE * 1000000))
    shift
    until "$@" >/dev/null 2>&1; do
        ((${EPOCHREALTIME/[.,]/} < end)) || return 1
        sleep "$CLUSTER_PAUSE"
    done
}

# alive PID: one of its threads runs. (The first thread of a killed process can be a zombie while another one still waits for the
# disk, with all its files open.)
alive() {
    local stat file
    for file in "/proc/$1/task"/*/stat; do
        read -r stat 2>/dev/null <"$file" && [[ ${stat##*) } != [ZX]* ]] && return
    done
    return 1
}

gone() {
    ! alive "$1"
}

# ---- daemons ----

# daemon_start NAME COMMAND..
daemon_start() {
    local name=$1
    shift
    setsid "$@" >>"$CLUSTER/log/$name.out" 2>&1 </dev/null &
    echo $! >"$CLUSTER/run/$name.pid"
    disown $!
}

daemon_pid() {
    cat "$CLUSTER/run/$1.pid" 2>/dev/null
}

# daemon_stop NAME [SIGNAL]: waits for its end; a daemon that ignores SIGTERM is killed, and that is an error.
daemon_stop() {
    local pid
    pid=$(daemon_pid "$1") || return 0
    rm -f "$CLUSTER/run/$1.pid"
    kill "-${2:-TERM}" "$pid" 2>/dev/null
    wait_for 15 gone "$pid" && return 0
    kill -KILL "$pid"
    wait_for 5 gone "$pid"
    echo "cluster: $1 did not end by signal ${2:-TERM}" >&2
    return 1
}

# daemon_failed NAME: says what its logs end with.
daemon_failed() {
    echo "cluster: $1 does not answer; its log ends with:" >&2
    cat "$CLUSTER/log/$1.out" "$CLUSTER/log/$1.log" 2>/dev/null | tail -n 8 >&2
    return 1
}

# ---- cgroups ----

cpuset_root() {
    [ "$CLUSTER_CGROUP" = v2 ] && echo "$CLUSTER_CGROUPS" || echo "$CLUSTER_CGROUPS/cpuset"
}

# This node's own, those of all hierarchies.
cluster_cgroups() {
    if [ "$CLUSTER_CGROUP" = v2 ]; then
        compgen -G "$CLUSTER_CGROUPS/system.slice/${CLUSTER_NODE}_slurmstepd.scope"
    else
        compgen -G "$CLUSTER_CGROUPS/*/slurm_$CLUSTER_NODE"
    fi
    compgen -G "$CLUSTER_CGROUPS/*/berth_$CLUSTER_NODE"
    compgen -G "$CLUSTER_CGROUPS/berth_$CLUSTER_NODE"
}

# Where systemd is not, nobody makes what Slurm expects of it.
cgroup2_prepare() {
    local dir controller
    mkdir -p "$CLUSTER_CGROUPS/system.slice"
    for dir in "$CLUSTER_CGROUPS" "$CLUSTER_CGROUPS/system.slice"; do
        for controller in cpuset cpu memory pids; do
            echo "+$controller" >"$dir/cgroup.subtree_control"
        done
    done
}

# ---- what is needed ----

cluster_missing() {
    local tool
    [ "$(id -u)" = 0 ] || { echo "not root"; return 0; }
    for tool in munged munge slurmctld slurmd srun sbatch scontrol scancel squeue sinfo setsid runuser; do
        command -v "$tool" >/dev/null || { echo "no $tool (see contrib/install-packages)"; return 0; }
    done
    [ "$(nproc)" -ge 2 ] || { echo "only one CPU"; return 0; }
    cluster_also_missing && return 0
    [ "$CLUSTER_CGROUP" = v2 ] || for tool in cpuset freezer; do
        [ -e "$CLUSTER_CGROUPS/$tool/cgroup.procs" ] ||
            { echo "no cgroup v1 hierarchy $CLUSTER_CGROUPS/$tool"; return 0; }
    done
    mkdir "$(cpuset_root)/probe$$" 2>/dev/null || { echo "no cgroup can be made in $(cpuset_root)"; return 0; }
    rmdir "$(cpuset_root)/probe$$"
    return 1
}

# ---- configuration ----

# free_ports N: prints N TCP ports that nobody listens on, and that were not given to anybody of this cluster before.
free_ports() {
    local want=$1 port hex given=$CLUSTER/run/ports
    while [ "$want" -gt 0 ]; do
        port=$((20000 + RANDOM % 10000))
        printf -v hex ':%04X ' "$port"
        grep -q "$hex" /proc/net/tcp /proc/net/tcp6 2>/dev/null && continue
        grep -qsx "$port" "$given" && continue
        echo "$port" | tee -a "$given"
        want=$((want - 1))
    done
}

slurm_conf() {
    local ports packages=${CLUSTER_SHAPE%x*} cores=${CLUSTER_SHAPE#*x}
    mapfile -t ports < <(free_ports 2)
    cat >"$CLUSTER/etc/slurm.conf" <<END
ClusterName=berth
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmdPort=${ports[1]}
SlurmUser=root
SlurmdUser=root
AuthInfo=socket=$CLUSTER/run/munge.socket,cred_expire=$((5 * CLUSTER_PATIENCE))
StateSaveLocation=$CLUSTER/state
SlurmdSpoolDir=$CLUSTER/spool
SlurmctldPidFile=$CLUSTER/run/slurmctld.own.pid
SlurmdPidFile=$CLUSTER/run/slurmd.own.pid
SlurmctldLogFile=$CLUSTER/log/slurmctld.log
SlurmdLogFile=$CLUSTER/log/slurmd.log
SlurmctldDebug=${CLUSTER_DEBUG:-info}
SlurmdDebug=${CLUSTER_DEBUG:-info}
PlugStackConfig=$CLUSTER/etc/plugstack.conf
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
PrologFlags=$CLUSTER_PROLOG_FLAGS
ReturnToService=2
KillWait=1
SlurmctldTimeout=60
SlurmdTimeout=60
MailProg=/bin/true
MpiDefault=none
PropagateResourceLimits=NONE
SlurmdParameters=config_overrides
NodeName=$CLUSTER_NODE NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$((packages * cores)) Boards=1 SocketsPerBoard=$packages CoresPerSocket=$cores ThreadsPerCore=1 RealMemory=1000 State=UNKNOWN $CLUSTER_NODE_CONF
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
PartitionName=shared Nodes=ALL MaxTime=INFINITE State=UP OverSubscribe=FORCE:2
$CLUSTER_SLURM_CONF
END
    cat >"$CLUSTER/etc/cgroup.conf" <<END
CgroupPlugin=cgroup/$CLUSTER_CGROUP
CgroupMountpoint=$CLUSTER_CGROUPS
ConstrainCores=$CLUSTER_CONSTRAIN
ConstrainRAMSpace=no
ConstrainDevices=no
$CLUSTER_CGROUP_CONF
END
    [ "$CLUSTER_CGROUP" = v1 ] || echo IgnoreSystemd=yes >>"$CLUSTER/etc/cgroup.conf"
}

# Written beside and moved into place: a step that starts meanwhile never reads half a file.
plugin_off() {
    : >"$CLUSTER/etc/plugstack.new"
    mv "$CLUSTER/etc/plugstack.new" "$CLUSTER/etc/plugstack.conf"
}

plugin_on() {
    echo "optional $CLUSTER/lib/spank_berth.so socket=$CLUSTER/run/berthd.sock ${CLUSTER_DEADLINE:+deadline=$CLUSTER_DEADLINE} $CLUSTER_PLUGIN $*" >"$CLUSTER/etc/plugstack.new"
    mv "$CLUSTER/etc/plugstack.new" "$CLUSTER/etc/plugstack.conf"
}

# What berthd takes keys that are for tests with; empty where it is older than that.
CLUSTER_BERTHD_FLAGS=(--test-keys)

# berthd_conf KEY=VALUE..: all but berthd's keys of their own are entries of tune.
berthd_conf() {
    local line own
    local -A conf=(
        [socket]=$CLUSTER/run/berthd.sock
        [state_dir]=$CLUSTER/berth [control]=0
        [profile_db]=$CLUSTER/berth/profiles.db
        [machine_profile]=$CLUSTER/berth/machine.json
        [ledger]=sqlite:$CLUSTER/berth/ledger.db
        [ledger_queue]=$CLUSTER/berth/ledger.queue
        [cgroup_root]=$CLUSTER_CGROUPS
        [topology]=$CLUSTER_TOPOLOGY
        [cgroup_name]=berth_$CLUSTER_NODE
        [sweep]=1s
        [log_level]=debug
        [counters]=software
        [learn]=off
        [job_program]=$CLUSTER/bin/berth-job
        [policy]=dio-power # places by rule where no power is known: the one that moves steps on so small a machine
    )
    [ "$CLUSTER_USER" = root ] || conf[user]=$CLUSTER_USER
    for line in "${CLUSTER_BERTHD_CONF[@]}" "$@"; do conf[${line%%=*}]=${line#*=}; done
    own=$("$CLUSTER/bin/berthd" "${CLUSTER_BERTHD_FLAGS[@]}" --print-config | sed -n 's/^\([a-z_0-9]*\) =.*/ \1 /p') || return 1
    for line in "${!conf[@]}"; do
        case $own in
        *" $line "*) echo "$line = ${conf[$line]}" ;;
        *) echo "tune = $line=${conf[$line]}" ;;
        esac
    done >"$CLUSTER/etc/berth.conf"
}

# ---- up ----

berthd_start() {
    local confined=()
    [ -z "$CLUSTER_CONFINE" ] ||
        confined=("$CLUSTER/bin/confined" -r "$CLUSTER" -w "$CLUSTER/run" -w "$CLUSTER/berth" "$CLUSTER/etc/berthd.service" "${CLUSTER_DROP_INS[@]}" --)
    daemon_start berthd "${confined[@]}" "$CLUSTER/bin/berthd" "${CLUSTER_BERTHD_FLAGS[@]}" -c "$CLUSTER/etc/berth.conf"
    # top, and not status, which ends with 1 on a node that is released
    wait_for 10 "$CLUSTER/bin/berthctl" top -b -n 1 --socket "$CLUSTER/run/berthd.sock" || daemon_failed berthd
}

munged_start() {
    dd if=/dev/urandom of="$CLUSTER/munge/key" bs=128 count=1 status=none
    chmod 600 "$CLUSTER/munge/key"
    daemon_start munged munged --foreground --force --num-threads=2 --key-file="$CLUSTER/munge/key" \
        --socket="$CLUSTER/run/munge.socket" --pid-file="$CLUSTER/run/munged.own.pid" \
        --seed-file="$CLUSTER/munge/seed" --log-file="$CLUSTER/log/munged.log"
    wait_for 10 munge -n -S "$CLUSTER/run/munge.socket" || daemon_failed munged
}

node_state() {
    timeout 10 sinfo -h -o %T
}

node_is() {
    [ "$(node_state)" = "$1" ]
}

slurm_start() {
    slurm_conf
    [ "$CLUSTER_CGROUP" = v1 ] || cgroup2_prepare
    daemon_start slurmctld slurmctld -D -i
    daemon_start slurmd slurmd -D -N "$CLUSTER_NODE"
    wait_for 20 node_is idle && return 0
    daemon_failed slurmctld
    daemon_failed slurmd
}

# cluster_folders BUILD
cluster_folders() {
    local name
    CLUSTER=$(mktemp -d "${TMPDIR:-/tmp}/berth.XXXXXX") || return 1
    CLUSTER_NODE=${CLUSTER_NODE_NAME:-berth$$}
    export CLUSTER CLUSTER_NODE CLUSTER_PATIENCE CLUSTER_PAUSE SLURM_CONF=$CLUSTER/etc/slurm.conf
    mkdir "$CLUSTER"/{etc,log,run,state,spool,munge,bin,lib,berth,out}
    chmod 755 "$CLUSTER"
    chmod 700 "$CLUSTER/munge"
    chmod 1777 "$CLUSTER/out"
    # The environment of a job that we may run in would go on to ours.
    while read -r name; do unset "$name"; done < <(compgen -e | grep -E '^(SLURM|SBATCH|SALLOC|SINFO|SQUEUE)_' | grep -v '^SLURM_CONF$')
}

# confinement_prepare BUILD: the unit as it is installed, and what puts it into effect. Its RuntimeDirectory and StateDirectory are
# $CLUSTER/run and $CLUSTER/berth.
confinement_prepare() {
    [ ! -e "$CLUSTER/bin/confined" ] || [ ! -e "$CLUSTER/etc/berthd.service" ] || return 0
    make -s -C "$1" tests/confined/confined etc/berthd.service >&2 || return 1
    cp "$1/tests/confined/confined" "$CLUSTER/bin/confined.new" && mv "$CLUSTER/bin/confined.new" "$CLUSTER/bin/confined" &&
        cp "$1/etc/berthd.service" "$CLUSTER/etc/"
}

cluster_up() {
    local build=$1 why file
    if why=$(cluster_missing); then
        echo "cluster: cannot run here: $why" >&2
        return 1
    fi
    for file in berthd berthctl .libs/spank_berth.so; do
        [ -e "$build/$file" ] || { echo "cluster: $build/$file is not built" >&2; return 1; }
    done
    cluster_folders || return 1
    trap cluster_down EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    cp "$build/berthd" "$build/berth-hand" "$build/berthctl" "$build/berth-lab" "$build/berth-probe" "$CLUSTER/bin/"
    chown "$CLUSTER_USER" "$CLUSTER/berth" "$CLUSTER/run" || return 1
    [ ! -e "$build/berth-job" ] || cp "$build/berth-job" "$CLUSTER/bin/" # guests have no libslurm
    [ ! -d "$build/probe/trace/tool" ] || ln -sfn "$(readlink -f "$build/probe")" "$CLUSTER/bin/probe" # where berth-probe looks for its tool of valgrind
    cp "$build/.libs/spank_berth.so" "$build/.libs/libberth_rt.so" "$CLUSTER/lib/"
    [ -z "$CLUSTER_CONFINE" ] || confinement_prepare "$build" || return 1
    PATH=$CLUSTER/bin:$PATH
    berthd_conf
    plugin_on
    munged_start && cluster_prepare && slurm_start && berthd_start
}

# ---- down ----

# Steps outlive slurmd: whatever is left in this node's own cgroups is ours to kill.
cluster_kill_left() {
    local procs top=freezer/slurm_$CLUSTER_NODE
    [ "$CLUSTER_CGROUP" = v1 ] || top=system.slice/${CLUSTER_NODE}_slurmstepd.scope
    mapfile -t procs < <(find "$CLUSTER_CGROUPS/$top" -name cgroup.procs -exec cat {} + 2>/dev/null)
    [ ${#procs[@]} = 0 ] || kill -KILL "${procs[@]}" 2>/dev/null
    return 0
}

cluster_remove_cgroups() {
    local dir
    while read -r dir; do
        find "$dir" -depth -type d -exec rmdir {} + 2>/dev/null
    done < <(cluster_cgroups)
    [ -z "$(cluster_cgroups)" ]
}

cancel_all() {
    local user
    for user in root nobody ${ATTACKER:-} ${VICTIM:-}; do # the suite of tests/trust has the latter
        timeout 10 scancel --quiet --user="$user" || true # from 26.05 on Slurm knows no user of nobody's number
    done
}

no_jobs() {
    [ -z "$(timeout 10 squeue -h -o %i)" ]
}

cluster_down() {
    local name left=0
    trap - EXIT
    [ -n "${CLUSTER:-}" ] || return 0
    trap '' INT TERM HUP # a second Ctrl-C would leave the half of it behind
    if [ -e "$CLUSTER/run/slurmd.pid" ]; then
        cancel_all 2>/dev/null
        wait_for 10 no_jobs
    fi
    for name in berthd slurmd slurmctld $CLUSTER_DAEMONS munged; do daemon_stop "$name" || left=1; done
    cluster_kill_left
    wait_for 5 cluster_remove_cgroups || {
        echo "cluster: cgroups of $CLUSTER_NODE could not be removed" >&2
        left=1
    }
    if [ "$CLUSTER_KEEP" = yes ]; then
        echo "cluster: the logs are left in $CLUSTER/log" >&2
    else
        wait_for 5 rm -rf "$CLUSTER" # threads of a slurmctld that is gone may still write down its state
    fi
    unset CLUSTER SLURM_CONF
    trap - INT TERM HUP
    return $left
}
