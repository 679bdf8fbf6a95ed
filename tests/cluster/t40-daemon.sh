# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# berthd itself: killed and started again, stopped, told to read its configuration, asked by people.

# Two steps, each on the other's core.
swapped() {
    knows turtle 10
    knows devil 20000
    start a --contention-aware=tag=turtle
    start b --contention-aware=tag=devil
    soon "the turtle, moved" 1 cpus_of a
    soon "the devil, moved" 0 cpus_of b
}

t40_a_new_berthd_adopts_the_running_steps() {
    swapped
    daemon_stop berthd KILL
    berthd_start
    same "the turtle" "$(cpus_of a)" 1
    same "the devil" "$(cpus_of b)" 0
    same "state" "$(explained a .state)" placed
    same "known place" "$(explained a .place.cpus)" 1
    has "$(explained a .place.reason)" "adopted after a restart of berthd, where it was: DIO-POWER: by cache misses"
    has "$(berthd_said)" "adopted 2 running steps"
    ! berthd_said | grep ' error ' || fail "a restart is an error"
    stop b
    soon "the turtle, back home" 0 cpus_of a
    stop a
}

t40_steps_that_ended_meanwhile_are_forgotten() {
    swapped
    daemon_stop berthd KILL
    stop b
    rm -r "$CLUSTER/run/pool" # as a stop leaves it
    berthd_start
    ! berthd_said | grep ' error ' || fail "a restart is an error"
    soon "the turtle, back home" 0 cpus_of a
    stop a
}

t40_a_damaged_profile_store_does_not_keep_berthd_from_undoing() {
    swapped
    daemon_stop berthd KILL
    dd if=/dev/urandom of="$CLUSTER/berth/profiles.db" bs=4k count=2 conv=notrunc status=none
    berthd_start
    has "$(berthd_said)" "profiles.db: damaged" "going on without"
    same "the turtle" "$(cpus_of a)" 1
    stop b
    soon "the turtle, back home" 0 cpus_of a
    stop a
    rm -f "$CLUSTER/berth/profiles.db"
}

t40_a_term_undoes_everything() {
    swapped
    daemon_stop berthd
    soon "the turtle" "$(slurm_cpus_of a)" cpus_of a
    soon "the devil" "$(slurm_cpus_of b)" cpus_of b
    same "berth's cgroups" "$(berth_cgroups)" ""
    same "pool markers" "$(pool_markers)" ""
    [ ! -e "$CLUSTER/run/berthd.sock" ] || fail "the socket is left"
    stop a b
}

t40_a_hup_reads_the_configuration_again() {
    knows middling 5000
    start a --contention-aware=tag=middling
    same "class" "$(explained a .class.name)" devil
    stop a
    berthd_conf devil_miss_pmi=6000
    kill -HUP "$(daemon_pid berthd)"
    start b --contention-aware=tag=middling
    same "class after the new threshold" "$(explained b .class.name)" turtle
    stop b
}

node_field() {
    ctl status --json | jq -r ".node.$1"
}

t40_a_hup_names_what_waits_for_the_next_start() {
    local way
    way=$(node_field enforcement)
    berthd_conf policy=di replace=off enforcement=dryrun energy_root=/nowhere grant=isolate=root
    kill -HUP "$(daemon_pid berthd)"
    soon "policy" di node_field policy
    wait_for 5 berthd_says "berth.conf's users and groups: the names were looked up" || fail "no word about root's number"
    has "$(berthd_said)" "read again: policy = di, tune = replace=off" \
        "next start only: enforcement = dryrun, energy_root = /nowhere"
    same "enforcement" "$(node_field enforcement)" "$way"
}

t40_a_hup_with_a_wrong_configuration_changes_nothing() {
    echo "colour = blue" >>"$CLUSTER/etc/berth.conf"
    kill -HUP "$(daemon_pid berthd)"
    wait_for 5 berthd_says "berth.conf:.*colour" || fail "no word about the unknown key"
    ctl status >/dev/null || fail "berthd is gone"
}

t40_a_wrong_configuration_is_refused_with_file_and_line() {
    echo "colour = blue" >"$CLUSTER/etc/wrong.conf"
    has "$(timeout 5 berthd -c "$CLUSTER/etc/wrong.conf" 2>&1 || true)" wrong.conf:1 colour
}

t40_a_user_sees_the_node_and_his_own_steps() {
    local user=(runuser -u nobody --)
    cd /
    start a --contention-aware
    timeout 90 "${user[@]}" srun -Q -n1 --contention-aware "$STAND" n &
    running n || fail "the user's step did not start"
    same "steps that root sees" "$(ctl status --json | jq '.steps | length')" 2
    same "steps that the user sees" "$("${user[@]}" berthctl status --json --socket "$CLUSTER/run/berthd.sock" | jq -r '[.steps[].id] | join(" ")')" "$(id_of n)"
    has "$("${user[@]}" berthctl explain --socket "$CLUSTER/run/berthd.sock" "$(id_of a)" 2>&1 || true)" berthctl
    touch "$CLUSTER/out/n.stop"
    stop a
}

t40_people_are_told_what_is_wrong() {
    local rc=0 text
    text=$(berthctl status --socket "$CLUSTER/run/nothing.sock" 2>&1) || rc=$?
    same "exit status" "$rc" 1
    same "lines" "$(wc -l <<<"$text")" 1
    rc=0
    ctl explain 999999 >/dev/null 2>&1 || rc=$?
    same "exit status for an unknown job" "$rc" 1
}

t40_release_brings_everybody_home() {
    swapped
    has "$(ctl release)" "new steps are left alone"
    has "$(ctl status | head -n 1)" "NOT PLACING: released by root"
    ctl status >/dev/null && fail "status ends with 0 on a released node"
    has "$(ctl doctor 2>&1 | head -n 3)" "stops berth" "root has released the node"
    soon "the turtle" "$(slurm_cpus_of a)" cpus_of a
    soon "the devil" "$(slurm_cpus_of b)" cpus_of b
    same "state" "$(explained a .state)" left
    same "berth's cgroups" "$(berth_cgroups)" ""
    stop b
    daemon_stop berthd KILL
    berthd_start
    start c --contention-aware=tag=devil
    same "state of a new step, after a restart" "$(explained c .state)" left
    stop c
    ctl release --end >/dev/null
    ctl status >/dev/null || fail "status ends with 1 after the end of the release"
    start d --contention-aware=tag=devil
    same "state of a new step, after the end" "$(explained d .state)" placed
    stop a d
}

t40_release_of_one_job() {
    swapped
    ctl release "$(id_of a)" >/dev/null
    soon "the turtle" "$(slurm_cpus_of a)" cpus_of a
    soon "the devil" "$(slurm_cpus_of b)" cpus_of b
    same "states" "$(explained a .state) $(explained b .state)" "left placed"
    stop a b
}

# own_cpus: where berthd's threads may run, one line if all may run there.
own_cpus() {
    sed -n 's/^Cpus_allowed_list:\t*//p' "/proc/$(daemon_pid berthd)"/task/*/status | sort -u
}

t40_berthds_threads_keep_off_the_cores_of_steps() {
    daemon_stop berthd
    berthd_start
    same "nobody" "$(own_cpus)" 0-1
    start a -c1 --contention-aware=auto
    soon "beside one step" "$((1 - $(cpus_of a)))" own_cpus
    start b -c1 --contention-aware=auto
    soon "two steps have all" 0-1 own_cpus
    stop b
    soon "beside one again" "$((1 - $(cpus_of a)))" own_cpus
    stop a
}
