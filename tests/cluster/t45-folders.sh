# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What Slurm's own folders say: steps that berthd was never told of, and folders that Slurm left behind.

# Two batch jobs, each on the other's core. A second step of one starts when $CLUSTER/out/go exists.
swapped_jobs() {
    knows turtle 10
    knows devil 20000
    batch ja -n1 --contention-aware=tag=turtle <<<"srun --overlap $STAND a"
    running a
    batch jb -n1 --contention-aware=tag=devil <<END
srun --overlap $STAND b &
until [ -e $CLUSTER/out/go ]; do sleep 0.05; done
srun --overlap $STAND c &
wait
END
    running b
    soon "the turtle, moved" 1 cpus_of a
    soon "the devil, moved" 0 cpus_of b
}

finish_jobs() {
    touch "$CLUSTER/out/a.stop" "$CLUSTER/out/b.stop" "$CLUSTER/out/c.stop"
    finish ja
    finish jb
}

strangers() {
    ctl status --json | jq -r '[.node.strangers[] | "\(.id) \(.cpus)"] | join("; ")'
}

t45_a_step_that_started_while_there_was_no_berthd() {
    swapped_jobs
    daemon_stop berthd KILL
    touch "$CLUSTER/out/go"
    running c
    same "the step that berthd does not know" "$(cpus_of c)" 1
    berthd_start
    soon "the turtle, back home" 0 cpus_of a
    same "the step" "$(cpus_of c)" 1
    soon "what is shown" "$(id_of c) 1" strangers
    touch "$CLUSTER/out/c.stop"
    soon "what is shown when it has ended" "" strangers
    finish_jobs
}

t45_a_step_without_the_plugin() {
    swapped_jobs
    plugin_off
    touch "$CLUSTER/out/go"
    running c
    plugin_on
    soon "the turtle, back home" 0 cpus_of a
    same "the step" "$(cpus_of c)" 1
    finish_jobs
}

t45_a_folder_that_slurm_left_behind_takes_nothing() {
    local top folder dir file
    [ "$CLUSTER_CGROUP" = v1 ] && top=$(cpuset_root)/slurm_$CLUSTER_NODE/uid_0 || top=$(cpuset_root)/system.slice/${CLUSTER_NODE}_slurmstepd.scope
    start first # Slurm makes its folders, and removes them after it
    folder=$top/job_99999
    mkdir "$folder"
    # Slurm may have removed its own by now: what mkdir -p makes has neither CPUs nor memory
    [ "$CLUSTER_CGROUP" = v2 ] || for file in cpuset.mems cpuset.cpus; do
        for dir in "${top%/*}" "$top"; do cat "$(cpuset_root)/$file" >"$dir/$file"; done
    done
    [ "$CLUSTER_CGROUP" = v2 ] || echo 0 >"$folder/cpuset.mems"
    echo 0 >"$folder/cpuset.cpus"
    stop first
    swapped_jobs
    same "the pool" "$(ctl status --json | jq -r .node.pool)" 0-1
    rmdir "$folder"
    touch "$CLUSTER/out/go"
    finish_jobs
}

# Two jobs on the same two cores have a part each, in Slurm's own folders; nothing is left of the journal.
t45_a_lost_journal_gives_narrowed_steps_their_cores_back() {
    start a -p shared -c2 --contention-aware
    start b -p shared -c2 --contention-aware
    soon "the first" 0 cpus_of a
    soon "the second" 1 cpus_of b
    daemon_stop berthd KILL
    head -c 4096 /dev/urandom >"$CLUSTER/berth/journal"
    berthd_start
    soon "both" "0-1 0-1" eval 'echo "$(cpus_of a) $(cpus_of b)"'
    same "cpusets" "$(cpuset_of a) $(cpuset_of b)" "0-1 0-1"
    stop a b
    rm -f "$CLUSTER/berth/journal.bad"
}

# A job is requeued to the other core while there is no berthd, and its steps have the names that the journal knows.
t45_a_job_that_was_requeued_meanwhile_is_another_one() {
    local job
    batch ja -n1 <<<"srun --overlap $STAND a"
    running a
    batch jb -n1 --requeue --contention-aware=tag=devil <<<"srun --overlap $STAND b\${SLURM_RESTART_COUNT:-0}"
    running b0
    same "the devil" "$(cpus_of b0)" 1
    job=$(cat "$CLUSTER/out/jb.job")
    daemon_stop berthd KILL
    timeout 10 scontrol requeuehold "$job"
    wait_for 20 gone "$(cat "$CLUSTER/out/b0.0.pid")" || fail "the first run did not end"
    start s # on the core that it had
    same "the stranger" "$(cpus_of s)" 1
    touch "$CLUSTER/out/a.stop"
    finish ja
    timeout 10 scontrol release "$job"
    again "$job"
    running b1 || fail "did not start again: $(cat "$CLUSTER/out/jb.batch")"
    same "the devil, elsewhere" "$(cpus_of b1)" 0
    berthd_start
    same "what berthd takes care of" "$(ctl status --json | jq -r '[.steps[].id] | join(" ")')" ""
    same "failures" "$(ctl status --json | jq .node.failures)" 0
    same "the devil" "$(cpus_of b1)" 0
    same "the stranger" "$(cpus_of s)" 1
    touch "$CLUSTER/out/b1.stop"
    stop s
    finish jb
}

# stranger: a step without berth that says, before it does anything else, where the turtle is.
stranger() {
    # shellcheck disable=SC2016 # the stranger's own shell
    timeout 60 srun -Q -n1 bash -c 'while read -r k v; do [ "$k" = Cpus_allowed_list: ] && echo "$1 $v"; done <"/proc/$2/status"
        exec "$3" s' - turtle "$(cat "$CLUSTER/out/a.0.pid")" "$STAND" >"$CLUSTER/out/seen" 2>&1 &
    echo $! >"$CLUSTER/out/s.client"
    running s || fail "the stranger did not start"
}

# Without idle cores: a step that had one of a job whose folder is gone already could stay there.
seldom_sweeping() {
    berthd_conf sweep=60s idle=off
    kill -HUP "$(daemon_pid berthd)"
}

state_of() {
    sed 's/.*) \(.\).*/\1/' "/proc/$(cat "$CLUSTER/out/$1.0.pid")/stat"
}

# Slurm gives the core away before it stops the job that had it: until then nobody knows but slurmctld.
t45_a_stranger_finds_the_core_of_a_suspended_job_free() {
    seldom_sweeping
    swapped
    timeout 10 scontrol suspend "$(job_of b)"
    soon "the devil, stopped" T state_of b
    stranger
    soon "the turtle, as the stranger saw it" "turtle 0" cat "$CLUSTER/out/seen"
    same "the stranger" "$(first_cpus_of s)" 1
    has "$(ctl status)" "not in berth's care: job $(job_of s) on 1"
    has "$(ctl explain -v "$(id_of b)" | tr -s ' \n' ' ')" "not in berth's care: job $(job_of s) on 1"
    stop s
    soon "the pool" 0-1 eval 'ctl status --json | jq -r .node.pool'
    timeout 10 scontrol resume "$(job_of b)"
    stop b a
}

# drop_client NAME: ends the srun of a step whose slurmstepd was killed: it may wait for that one's last word for minutes.
drop_client() {
    local client
    client=$(cat "$CLUSTER/out/$1.client")
    pkill -KILL -P "$client" || true # timeout's
    wait "$client" || true
}

t45_a_stranger_finds_a_core_free_whose_end_nobody_heard_of() {
    local stepd
    seldom_sweeping
    swapped
    plugin_off # slurmd has no epilog of berth's
    stepd=$(ps -o ppid= -p "$(cat "$CLUSTER/out/b.0.pid")")
    kill -KILL $stepd "$(cat "$CLUSTER/out/b.0.pid")"
    timeout 10 scancel "$(job_of b)"
    drop_client b
    stranger
    soon "the turtle, as the stranger saw it" "turtle 0" cat "$CLUSTER/out/seen"
    same "the stranger" "$(first_cpus_of s)" 1
    same "failures" "$(ctl status --json | jq .node.failures)" 0
    plugin_on
    stop s a
    berthd_conf # sweeps find that the job is over
    kill -HUP "$(daemon_pid berthd)"
}

# No epilog comes, and no stranger either: the turtle has left the core before Slurm knows that it is free.
t45_a_slurmstepd_that_is_killed_frees_its_core_at_once() {
    seldom_sweeping
    swapped
    plugin_off
    # shellcheck disable=SC2046
    kill -KILL $(ps -o ppid= -p "$(cat "$CLUSTER/out/b.0.pid")") "$(cat "$CLUSTER/out/b.0.pid")"
    soon "the turtle, back home" 0 cpus_of a
    soon "the step" ended explained b .state
    timeout 10 scancel "$(job_of b)"
    drop_client b
    stranger
    soon "the turtle, as the stranger saw it" "turtle 0" cat "$CLUSTER/out/seen"
    same "the stranger" "$(first_cpus_of s)" 1
    same "failures" "$(ctl status --json | jq .node.failures)" 0
    plugin_on
    stop s a
    berthd_conf
    kill -HUP "$(daemon_pid berthd)"
}

# Its tasks run on, and nobody looks after them: they have the core that Slurm gave them.
t45_tasks_whose_slurmstepd_is_killed_go_home() {
    seldom_sweeping
    swapped
    plugin_off
    # shellcheck disable=SC2046
    kill -KILL $(ps -o ppid= -p "$(cat "$CLUSTER/out/b.0.pid")")
    soon "the turtle, back home" 0 cpus_of a
    soon "the devil, back home" 1 cpus_of b
    plugin_on
    kill -KILL "$(cat "$CLUSTER/out/b.0.pid")"
    timeout 10 scancel "$(job_of b)"
    wait "$(cat "$CLUSTER/out/b.client")" || true
    stop a
    berthd_conf
    kill -HUP "$(daemon_pid berthd)"
}

t45_a_step_without_the_plugin_is_found_before_the_sweep() {
    seldom_sweeping
    t45_a_step_without_the_plugin
}

# tell_of NAME PID: registers a step that the plugin has not, as one task of that number; prints the answer.
tell_of() {
    local id line
    id=$(id_of "$1")
    line='{"version":1,"op":"register","job":'${id%.*}',"step":'${id#*.}',"uid":0,"node":"'$CLUSTER_NODE'","job_cores":"","step_cores":"",'
    line+='"options":{"mode":"auto","tag":"devil"},"tasks":[[0,'$2']]}'
    timeout 20 "$BUILD/tests/cluster/tell" "$CLUSTER/run/berthd.sock" "$line"
}

# Slurm 25.11 and later can give a job a PID namespace, and says its tasks' numbers as they are in there: 1 is init's here.
t45_a_task_in_a_pid_namespace() {
    local init
    knows turtle 10
    knows devil 20000
    start a --contention-aware=tag=turtle
    start b unshare --pid --fork --mount-proc
    init=$(grep ^Cpus_allowed_list: /proc/1/status)
    has "$(tell_of b 1)" '"ok":true'
    soon "the turtle, moved" 1 cpus_of a
    soon "the devil, moved" 0 cpus_of b
    same "init" "$(grep ^Cpus_allowed_list: /proc/1/status)" "$init"
    stop b
    start c
    has "$(tell_of c 1)" "task 1: is no process of its step's cgroup"
    has "$(berthd_said)" "is left where Slurm put it: task 1: is no process"
    has "$(ctl status)" "left where Slurm put them: " "the last one: task 1: is no process"
    stop c a
}
