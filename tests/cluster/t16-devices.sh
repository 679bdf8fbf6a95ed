# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Steps with GPUs, which Slurm gives out by the gres.conf of suite.sh: GPU 0 with core 0, GPU 1 with core 1. Where they are says a made machine
# (device_root), and in some tests it says the opposite. The programs are plain ones, which may be moved.

# gpus NEAR0 NEAR1 [KEY=VALUE..]: the CPUs near each of the two GPUs; berthd starts with it.
gpus() {
    local root=$CLUSTER/berth/devices gpu=0 cpus dir
    rm -rf "$root"
    for cpus in "$1" "$2"; do
        dir=$root/sys/bus/pci/devices/0000:0$((gpu + 3)):00.0
        mkdir -p "$dir"
        echo 0x030200 >"$dir/class"
        echo 0x10de >"$dir/vendor"
        echo 0 >"$dir/numa_node"
        echo "$cpus" >"$dir/local_cpulist"
        gpu=$((gpu + 1))
    done
    shift 2
    daemon_stop berthd
    berthd_conf move=known "device_root=$root" "$@"
    berthd_start
    install -m 755 "$BUILD/tests/fixtures/programs/turtle" "$CLUSTER/bin/"
    knows turtle 10
    knows devil 20000
}

# launched NAME WORDS [ARGUMENTS..]: a plain program in the background.
launched() {
    local name=$1 words=$2
    shift 2
    timeout $((90 * CLUSTER_PATIENCE)) srun -n1 -J "$name" --contention-aware="$words" "$@" turtle 80s >"$CLUSTER/out/$name.said" 2>&1 &
    echo $! >"$CLUSTER/out/$name.client"
    wait_for 20 known_job "$name" || fail "step $name did not start: $(cat "$CLUSTER/out/$name.said")"
}

cancelled() {
    local name
    for name; do
        timeout 10 scancel "$(job_of "$name")"
        wait "$(cat "$CLUSTER/out/$name.client")" || true
    done
}

t16_a_step_near_its_gpu_stays() {
    gpus 0 1
    launched a tag=turtle --gres=gpu:1 --gres-flags=enforce-binding
    same "devices" "$(explained a .place.near.asked)" gpu:0
    same "state" "$(explained a .state)" placed
    launched devil tag=devil
    same "the devil, as Slurm has it" "$(slurm_cpus_of devil)" 1
    same "the devil" "$(explained devil .place.cpus)" 1
    same "CPUs" "$(kernel_has a)" 0
    same "moves" "$(explained a .enforce.moves)" 0
    same "explain" "$(explained a .place.near.text)" "near gpu0 (PCI 0000:03:00.0, node 0)"
    same "status" "$(ctl status --json | jq -r '.node.devices[] | "\(.name) \(.node) \(.cpus)"' | tr '\n' ,)" "gpu0 0 0,gpu1 0 1,"
    cancelled devil
    same "CPUs, alone" "$(kernel_has a)" 0
    cancelled a
}

t16_a_step_far_from_its_gpu_starts_near_and_another_makes_room() {
    gpus 0 0
    launched a tag=turtle
    same "the first, as Slurm has it" "$(slurm_cpus_of a)" 0
    launched g tag=devil --gres=gpu:1
    same "devices" "$(explained g .place.near.holds)" true
    same "the GPU's, as Slurm has it" "$(slurm_cpus_of g)" 1
    same "the GPU's" "$(explained g .place.cpus)" 0
    same "the GPU's, as the kernel has it" "$(kernel_has g)" 0
    same "the other, as the kernel has it" "$(kernel_has a)" 1
    same "far" "$(explained g .place.near.far)" false
    cancelled g
    soon "the other, at home" 0 kernel_has a
    cancelled a
}

t16_a_step_far_from_its_gpu_waits_for_room() {
    gpus 1 0
    launched g tag=turtle --gres=gpu:1
    same "the GPU's" "$(explained g .place.cpus)" 0
    same "explain" "$(explained g .place.near.text)" "far from gpu0 (PCI 0000:03:00.0, node 0): there is no room near"
    launched a tag=turtle
    soon "the GPU's, later" 1 kernel_has g
    soon "who made room" 0 kernel_has a
    cancelled a
    soon "the GPU's, at home" 0 kernel_has g
    cancelled g
}

t16_the_site_and_the_user_can_lift_it() {
    gpus 1 0 device_near=off
    launched g tag=turtle --gres=gpu:1
    same "state" "$(explained g .state)" left
    has "$(explained g .enforce.reason)" "it has a device (SLURM_"
    cancelled g
    gpus 1 0
    launched g tag=turtle,nodevice --gres=gpu:1
    same "state with nodevice" "$(explained g .state)" placed
    same "they count" "$(explained g .place.near.holds)" false
    cancelled g
}
