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
    local top folder
    [ "$CLUSTER_CGROUP" = v1 ] && top=$(cpuset_root)/slurm_$CLUSTER_NODE/uid_0 || top=$(cpuset_root)/system.slice/${CLUSTER_NODE}_slurmstepd.scope
    start first # Slurm makes its folders
    stop first
    folder=$top/job_99999
    mkdir -p "$top" "$folder"
    [ "$CLUSTER_CGROUP" = v2 ] || echo 0 >"$folder/cpuset.mems"
    echo 0 >"$folder/cpuset.cpus"
    swapped_jobs
    same "the pool" "$(ctl status --json | jq -r .node.pool)" 0-1
    rmdir "$folder"
    touch "$CLUSTER/out/go"
    finish_jobs
}
