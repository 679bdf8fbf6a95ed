# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Steps with devices: the guest has a display adapter at each memory node, behind a PCI host bridge of that node (pxb-pcie), which the kernel calls
# a display controller: berthd's gpu0 is at node 0, gpu1 at node 1.

# gpu NAME NUMBER [SRUN ARGUMENTS..]: a step that has that GPU, as Slurm would say.
gpu() {
    local name=$1 number=$2
    shift 2
    SLURM_STEP_GPUS=$number start "$name" --contention-aware "$@"
    same "devices of $name" "$(explained "$name" .place.near.asked)" "gpu:$number"
}

# near NAME NODE: all its CPUs are of the memory node, as task, kernel and berthd have it.
near() {
    soon "$1 is near its device" "false $2" explained "$1" '"\(.place.near.far) \(.place.mems)"'
    on "$1" "$(explained "$1" .place.cpus)"
    same "package of $1" "$(packages "$(cpus_of "$1")")" "$2 "
}

t26_devices_are_at_their_memory_nodes() {
    local node
    for node in 0 1; do
        same "device $node" "$(ctl status --json | jq -r ".node.devices[] | select(.name == \"gpu$node\") | \"\(.node) \(.cpus)\"")" \
            "$node $((node * CORES))-$((node * CORES + CORES - 1))"
    done
}

t26_steps_stand_near_their_devices() {
    gpu far 1 -c "$HALF"  # Slurm begins with the first package
    gpu here 0 -c "$HALF" # and goes on there
    near here 0
    same "moves of the one that is near" "$(explained here .enforce.moves)" 0
    same "the other is far" "$(explained far .place.near.far)" true
    start b --contention-aware -c "$HALF" # at the second package: it makes room
    near far 1
    start c --contention-aware -c "$HALF"
    near here 0
    near far 1
    same "moves of the one that was near" "$(explained here .enforce.moves)" 0
    stop b # its cores go, and the next one makes room
    near far 1
    stop c
    soon "home, for nobody's cores are there" true explained far .place.near.far
    stop far here
}
