# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Beside Slurm's own ways to choose cores, its administrators' and its users': what Slurm chose is berth's pool, and steps change places
# there as ever. (tests/vm/suite/t28-slurm.sh does it on machines where there is more to choose.)

# exchanged WHAT SRUN_OPTIONS..: two jobs of a core each are the pool, and the devil has the turtle's core while both run. (A name is one
# step's only.)
exchanged() {
    local what=$1 turtle="t.$1" devil="d.$1"
    shift
    knows turtle 10
    knows devil 20000
    start "$turtle" "$@" --contention-aware=tag=turtle
    start "$devil" "$@" --contention-aware=tag=devil
    same "$what: Slurm's CPUs" "$(slurm_cpus_of "$turtle") $(slurm_cpus_of "$devil")" "0 1"
    soon "$what: the turtle" 1 cpus_of "$turtle"
    soon "$what: the devil" 0 cpus_of "$devil"
    same "$what: the pool" "$(ctl status --json | jq -r .node.pool)" 0-1
    same "$what: what berth does" "$(explained "$turtle" .state) $(explained "$devil" .state)" "placed placed"
    stop "$devil"
    soon "$what: the turtle, its neighbour gone" 0 cpus_of "$turtle"
    stop "$turtle"
}

t19_sockets_and_what_is_selected() {
    slurm_is SlurmdParameters=config_overrides,l3cache_as_socket SelectTypeParameters=CR_CPU
    exchanged caches
    slurm_is SlurmdParameters=config_overrides,numa_node_as_socket SelectTypeParameters=CR_Core,CR_CORE_DEFAULT_DIST_BLOCK
    exchanged memory-nodes
    slurm_is SelectTypeParameters=CR_Socket Sockets=2
    exchanged sockets
    slurm_is SelectType=select/linear SelectTypeParameters=CR_Memory
    start a -n2 --contention-aware
    same "whole nodes: CPUs, the pool" "$(slurm_cpus_of a) $(ctl status --json | jq -r .node.pool)" "0-1 0-1"
    same "whole nodes: what berth does" "$(explained a .state)" placed
    stop a
}

t19_words_that_bind_nobody_by_hand() {
    local word
    for word in hint=compute_bound hint=memory_bound hint=nomultithread cpu-bind=cores cpu-bind=sockets; do
        exchanged "$word" "--$word"
    done
}

# Each of the two tasks keeps a core of its own, whichever Slurm gave it.
t19_distributions() {
    local by name
    for by in block:block cyclic:cyclic block:fcyclic:fcyclic plane=1; do
        name=d-${by//[:=]/-}
        start "$name" -n2 "--distribution=$by" --contention-aware
        wait_for 10 test -s "$CLUSTER/out/$name.1" || fail "$by: no second task"
        same "$by: CPUs" "$(cpus_of "$name" 0) $(cpus_of "$name" 1)" "0 1"
        same "$by: what berth does" "$(explained "$name" .state)" placed
        stop "$name"
    done
}
