# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Hardware threads of one core, as the shapes with tN have them, and a Slurm that lets jobs share cores.

# with_threads [KEY=VALUE..]: Slurm gives jobs single CPUs, and berthd runs with these keys.
with_threads() {
    [ "$(cat /sys/devices/system/cpu/cpu0/topology/thread_siblings_list)" != 0 ] || skip "a core has one hardware thread"
    slurm_is SelectTypeParameters=CR_CPU
    daemon_stop berthd
    berthd_conf policy=contend "$@"
    berthd_start
}

# cores_of NAME..: the cores of the steps' CPUs, by their first threads, each as often as a step has it.
cores_of() {
    local name cpu
    for name; do
        for cpu in $(expand "$(cpus_of "$name")"); do sed 's/[-,].*//' "/sys/devices/system/cpu/cpu$cpu/topology/thread_siblings_list"; done
    done | sort -n | xargs
}

# distinct NAME..: how many cores they have.
distinct() {
    cores_of "$@" | tr ' ' '\n' | sort -u | wc -l
}

t29_nobody_shares_a_core_while_one_is_free() {
    with_threads idle=on
    knows compute 10
    start a -n1 -c1 --contention-aware=tag=compute
    start b -n1 -c1 --contention-aware=tag=compute
    same "Slurm's CPUs" "$(all_of "$(slurm_cpus_of a)" "$(slurm_cpus_of b)" | xargs)" "0 1"
    soon "cores of both" 2 distinct a b
    same "places" "$(ctl status --json | jq -r '.node.places, .node.cores' | xargs)" "threads $((PACKAGES * CORES))"
    same "who shares a core, as explain says" "$(explained a '.place.neighbours[].shared' | xargs)" ""
    on a "$(explained a .place.cpus)"
    stop a b
}

# Where all is full two share each core, and explain says with whom.
t29_who_shares_is_told() {
    local i name cpus=$((PACKAGES * CORES)) all=()
    with_threads idle=off
    knows compute 10
    for ((i = 0; i < cpus; i++)); do all+=("s$i"); done
    for name in "${all[@]}"; do start "$name" -n1 -c1 --contention-aware=tag=compute; done
    soon "cores of all" $((cpus / 2)) distinct "${all[@]}"
    same "CPUs of all" "$(for name in "${all[@]}"; do cpus_of "$name"; done | sort -n | xargs)" "$(seq -s' ' 0 $((cpus - 1)))"
    same "who shares a core with s0" "$(explained s0 '[.place.neighbours[] | select(.shared != "")] | length')" 1
    stop "${all[@]}"
}

# A Slurm that is told of threads gives jobs whole cores, and they stay whole.
t29_whole_cores_stay_whole() {
    with_threads idle=on
    daemon_stop berthd
    slurm_is SelectTypeParameters=CR_Core
    berthd_start
    same "places" "$(ctl status --json | jq -r .node.places)" cores
}
