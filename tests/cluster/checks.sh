# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# checks - what the tests of the cluster suite say and ask; sourced by tests/cluster/run when the cluster is up.
#
# A test runs in a subshell with `set -eu`: whatever fails ends it. Steps are started in the background by a name, and are
# asked about by it.

STAND=$CLUSTER/bin/stand # beside berthctl: every user can run it there
cp "$TESTS/cluster/stand" "$STAND"

fail() {
    echo "FAILED: $*"
    exit 1
}

skip() {
    echo "$*"
    exit 77
}

# same WHAT GOT WANTED
same() {
    [ "$2" = "$3" ] || fail "$1: is '$2', should be '$3'"
}

# has TEXT WORD..
has() {
    local text=$1 word
    shift
    for word; do
        [[ $text == *"$word"* ]] || fail "no '$word' in: $text"
    done
}

# soon WHAT WANTED COMMAND..: within seconds the command prints this.
soon() {
    local what=$1 wanted=$2
    shift 2
    wait_for 30 becomes "$wanted" "$@" || fail "$what: is '$("$@" 2>&1)', should be '$wanted'"
}

becomes() {
    local wanted=$1 got
    shift
    got=$("$@" 2>&1) || true
    [ "$got" = "$wanted" ]
}

# What berthd has said since the test began.
berthd_said() {
    tail -n "+$((said + 1))" "$CLUSTER/log/berthd.out" # run's: how many lines there were
}

berthd_says() { # PATTERN
    berthd_said | grep -q -- "$1"
}

# ---- steps ----

# start NAME [SRUN ARGUMENTS..]: a step that stands until it is stopped; returns when all its tasks run.
start() {
    local name=$1
    shift
    timeout $((90 * CLUSTER_PATIENCE)) srun -n1 "$@" "$STAND" "$name" >"$CLUSTER/out/$name.srun" 2>&1 &
    echo $! >"$CLUSTER/out/$name.client"
    wait_for 20 started_or_over "$name" || true
    [ -s "$CLUSTER/out/$name.id" ] || fail "step $name did not start: $(cat "$CLUSTER/out/$name.srun")"
}

started_or_over() {
    [ -s "$CLUSTER/out/$1.id" ] || gone "$(cat "$CLUSTER/out/$1.client")"
}

running() {
    wait_for 20 test -s "$CLUSTER/out/$1.id"
}

# stop NAME..: ends steps and waits for their sruns, which must be satisfied.
stop() {
    local name
    for name; do touch "$CLUSTER/out/$name.stop"; done
    for name; do wait "$(cat "$CLUSTER/out/$name.client")" || fail "srun of $name: $(cat "$CLUSTER/out/$name.srun")"; done
}

# Writes the id of the step of the job of that name, as soon as berthd knows it: for a program that says nothing of itself.
known_job() {
    local job
    job=$(timeout 10 squeue -h -t R -n "$1" -o %A | tail -n 1)
    [ -n "$job" ] && ctl explain --json "$job" >/dev/null 2>&1 && echo "$job.0" >"$CLUSTER/out/$1.id"
}

# Where its first task stands, as the kernel has it: kernel_has NAME
kernel_has() {
    sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$(explained "$1" '.enforce.tasks[0].pid')/status"
}

# Where a task of a step stands now, and where it stood when it was exec'ed, in its own words: cpus_of NAME [PROCID]
cpus_of() {
    tail -n 1 "$CLUSTER/out/$1.${2:-0}"
}

first_cpus_of() {
    head -n 1 "$CLUSTER/out/$1.${2:-0}"
}

# The folder of the cpuset that a task of a step is in: folder_of NAME [PROCID]
folder_of() {
    local file=/proc/$(cat "$CLUSTER/out/$1.${2:-0}.pid")/cgroup
    if [ "$CLUSTER_CGROUP" = v2 ]; then
        echo "$CLUSTER_CGROUPS$(sed -n 's/^0:://p' "$file")"
    else
        echo "$CLUSTER_CGROUPS/cpuset$(sed -n 's/.*:cpuset://p' "$file")"
    fi
}

# That cpuset, as the kernel has it: cpuset_of NAME [PROCID]
cpuset_of() {
    local file=cpuset.cpus
    [ "$CLUSTER_CGROUP" = v1 ] || file=cpuset.cpus.effective
    cat "$(folder_of "$@")/$file"
}

id_of() {
    cat "$CLUSTER/out/$1.id"
}

job_of() {
    sed 's/\..*//' "$CLUSTER/out/$1.id"
}

# The CPUs that Slurm gave to the job of a step.
slurm_cpus_of() {
    timeout $((10 * CLUSTER_PATIENCE)) scontrol show job -d "$(job_of "$1")" | sed -n 's/.*CPU_IDs=\([0-9,-]*\).*/\1/p'
}

# launch NAME ARGUMENTS..: a step of any program, in the background; its output is in NAME.said.
launch() {
    local name=$1
    shift
    timeout $((60 * CLUSTER_PATIENCE)) srun -n1 -J "$name" "$@" >"$CLUSTER/out/$name.said" 2>&1 &
    echo $! >"$CLUSTER/out/$name.client"
    wait_for 20 known_job "$name" || fail "step $name did not start: $(cat "$CLUSTER/out/$name.said")"
}

# ended NAME: waits for it, and sets rc to its exit status.
ended() {
    rc=0
    wait "$(cat "$CLUSTER/out/$1.client")" || rc=$?
}

# batch NAME [SBATCH ARGUMENTS..] <SCRIPT: submits; the script's output is in NAME.batch, its id in NAME.job.
batch() {
    local name=$1 file=$CLUSTER/out/$1.sh
    shift
    {
        printf '#!/bin/bash\n'
        cat
    } >"$file"
    timeout 10 sbatch --parsable -o "$CLUSTER/out/$name.batch" "$@" "$file" >"$CLUSTER/out/$name.job"
}

job_state() {
    timeout 10 squeue -h -t all -o %T -j "$(cat "$CLUSTER/out/$1.job")"
}

# job_is NAME STATE
job_is() {
    [ "$(job_state "$1")" = "$2" ]
}

# requeue JOB: it starts again as soon as it can. Slurm by itself lets it wait until no credential of its first run is valid any more.
requeue() {
    timeout 10 scontrol requeue "$1"
    again "$1"
}

again() {
    wait_for 20 begins_now "$1" || fail "job $1 does not begin again"
}

begins_now() {
    case $(timeout 10 squeue -h -o %T -j "$1") in
    COMPLETING | "") return 1 ;; # its first run is not over
    PENDING) timeout 10 scontrol update JobId="$1" StartTime=now ;;
    esac
}

finish() {
    soon "job $1" COMPLETED job_state "$1"
}

# openmp_by COMPILER PROGRAM: builds an OpenMP program of this folder by gcc or clang, and prints where it is; 1: prints why it cannot be.
openmp_by() {
    local compiler=$1 program=$CLUSTER/bin/$2-$1 log=$CLUSTER/out/compiler
    [ "$1" != clang ] || compiler=$("$TESTS/find-clang") || { echo "no clang" && return 1; }
    [ -x "$program" ] || "$compiler" -O2 -fopenmp -o "$program" "$TESTS/cluster/$2.c" 2>"$log" || { echo "$1: $(head -n 1 "$log")" && return 1; }
    echo "$program"
}

# ---- berth ----

# ctl VERB [ARGUMENTS..]
ctl() {
    berthctl "$1" --socket "$CLUSTER/run/berthd.sock" "${@:2}"
}

# For jq, which from 1.7 on prints a number as it was written: each in its shortest form, 6.1 for 6.0999999999999996.
PLAIN_NUMBERS='walk(if type == "number" then . + 0 else . end)'

# explained NAME FILTER: a field of the step's explanation.
explained() {
    ctl explain --json "$(id_of "$1")" | jq -r "$PLAIN_NUMBERS | .steps[0] | $2"
}

# knows TAG MISS_PMI [INSTRUCTIONS_PER_S [HITS]]: a program of that tag misses so often; with HITS, the rest of its profile.
knows() {
    "$BUILD/tests/cluster/putprofile" "$CLUSTER/berth/profiles.db" "$@" && chown "$CLUSTER_USER" "$CLUSTER"/berth/profiles.db*
}

# policies_of NAME: the scheduling policies of its threads, each once.
policies_of() {
    local pid task
    pid=$(cat "$CLUSTER/out/$1.0.pid")
    for task in "/proc/$pid/task"/*; do
        awk '{ print $41 }' "$task/stat"
    done | sort -u | tr '\n' ' '
}

# The scheduling policies of all threads of a step, with their number: "3 3 " is three threads of SCHED_BATCH.
classes_of() {
    local pid
    for pid in $(step_pids "$1"); do
        awk '{ print $41 }' "/proc/$pid/task"/*/stat 2>/dev/null
    done | sort | uniq -c | awk '{ printf "%d x %d ", $1, $2 }'
}

# Its task and all that this has made.
step_pids() {
    local pid
    pid=$(cat "$CLUSTER/out/$1.0.pid")
    pid=$(awk '{ print $4 }' "/proc/$pid/stat") # the shell around it
    echo "$pid"
    pgrep -P "$pid"
}

# machine FILE: berthd starts again with this machine profile of the fixtures; machine without FILE: with none.
machine() {
    rm -f "$CLUSTER/berth/machine.json"
    [ $# = 0 ] || cp "$TESTS/fixtures/machines/$1" "$CLUSTER/berth/machine.json"
    daemon_stop berthd
    berthd_start
}

berth_cgroups() {
    find "$(cpuset_root)/berth_$CLUSTER_NODE" -mindepth 1 -type d 2>/dev/null
}

pool_markers() {
    local marker
    for marker in "$CLUSTER/run/pool"/*; do
        [ -e "$marker" ] || continue
        # with RunInJob nobody tells of a job's end: what asks for it goes with the next sweep
        [[ $CLUSTER_PROLOG_FLAGS == *RunInJob* && $marker == *.end ]] || basename "$marker"
    done
}

# ---- Slurm's own parameters ----

# slurm_is KEY=VALUE..: Slurm starts anew with these in the place of what slurm.conf has of them, and the node with Sockets=N, until the
# test is over. The node's cores stay as many.
slurm_is() {
    local line conf=$CLUSTER/etc/slurm.conf new=$CLUSTER/slurm.conf.new cpus=$((${CLUSTER_SHAPE%x*} * ${CLUSTER_SHAPE#*x}))
    [ -e "$CLUSTER/slurm.conf" ] || cp "$conf" "$CLUSTER/slurm.conf"
    trap slurm_usual EXIT
    cp "$CLUSTER/slurm.conf" "$new"
    for line; do
        case $line in
        Sockets=*) sed -i "s/SocketsPerBoard=[0-9]* CoresPerSocket=[0-9]*/SocketsPerBoard=${line#*=} CoresPerSocket=$((cpus / ${line#*=}))/" "$new" ;;
        *) sed -i "s|^${line%%=*}=.*|$line|" "$new" ;;
        esac
    done
    slurm_anew "$new"
}

slurm_usual() {
    cancel_all
    slurm_anew "$CLUSTER/slurm.conf"
}

# slurm_anew CONF: moves that file to the place of slurm.conf while nothing of Slurm runs that could read half of it: an epilog that cannot
# read its slurm.conf fails, and a node whose epilog failed is drained.
slurm_anew() {
    wait_for 10 no_jobs
    daemon_stop slurmd
    daemon_stop slurmctld
    mv "$1" "$CLUSTER/etc/slurm.conf"
    daemon_start slurmctld slurmctld -D -i
    daemon_start slurmd slurmd -D -N "$CLUSTER_NODE"
    wait_for 30 node_is idle || fail "no node: $(timeout 10 scontrol show node)"
}

# ---- played counters ----

# traffic NAME BYTES[/BYTES]..: ten minutes of counters, a line a second, of steps that move so many bytes in each; with a second figure
# the first one for 3 s, then that for as long, and so on.
traffic() {
    awk -v steps="$*" 'BEGIN {
        print "step,at,cpu_ns,instructions,bytes"
        n = split(steps, step, " ")
        for (at = 1; at <= 600; at++)
            for (i = 1; i < n; i += 2) {
                turns = split(step[i + 1], bytes, "/")
                moved[i] += bytes[turns == 2 && (at - 1) % 6 >= 3 ? 2 : 1]
                printf "%s,%d,%.0f,%.0f,%.0f\n", step[i], at, at * 1e9, at * 1e9, moved[i]
            }
    }'
}

# ---- after each test ----

# Nothing may be left of a test: no job, no berth cgroup, no pool marker, a node that takes work.
settled() {
    soon "jobs" "" timeout 10 squeue -h -o %i
    soon "node" idle node_state
    soon "berth's cgroups" "" berth_cgroups
    soon "pool markers" "" pool_markers
}

# Back to the state that a test finds: usual configuration, berthd there.
reset_cluster() {
    cancel_all
    wait_for 10 no_jobs
    plugin_on
    berthd_conf
    if ! alive "$(daemon_pid berthd)" || ! ctl status >/dev/null 2>&1; then
        daemon_stop berthd KILL
        berthd_start
    else
        kill -HUP "$(daemon_pid berthd)"
    fi
    node_is idle || timeout 10 scontrol update NodeName="$CLUSTER_NODE" State=RESUME 2>/dev/null
    rm -rf "$CLUSTER/out"/*
}
