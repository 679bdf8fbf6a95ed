# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cores that Slurm has given to nobody: a step may stand there, and has left before anybody has them.

# idle CHOICE [KEY=VALUE..]: berthd runs with it.
idle() {
    daemon_stop berthd
    berthd_conf "idle=$1" "${@:2}"
    berthd_start
}

marked() {
    [ -e "$CLUSTER/run/pool/idle" ] && echo marked || echo "not marked"
}

# two_of_a_kind: m1 and m2, memory-bound, to whom Slurm has given package 0; nobody has package 1.
two_of_a_kind() {
    knows memory 20000
    half m1 --contention-aware=tag=memory,pack
    half m2 --contention-aware=tag=memory,pack
    same "Slurm's package of both" "$(packages "$(slurm_cpus_of m1),$(slurm_cpus_of m2)")" "0 "
}

# The one of both that stands elsewhere than Slurm put it.
moved() {
    [ "$(cpus_of m1)" = "$(slurm_cpus_of m1)" ] && echo m2 || echo m1
}

# alone NAME OTHER..: it stands where Slurm put it, and none of the others does.
alone() {
    local name=$1 other
    shift
    same "CPUs of $name" "$(cpus_of "$name")" "$(slurm_cpus_of "$name")"
    for other; do
        disjoint "$(cpus_of "$name")" "$(cpus_of "$other")" || fail "$name and $other share CPUs: $(cpus_of "$name"), $(cpus_of "$other")"
        disjoint "$(cpus_of "$name")" "$(cpuset_of "$other")" || fail "$other may run where $name does: $(cpuset_of "$other")"
    done
}

t65_off_is_off() {
    idle off
    two_of_a_kind
    sleep 3
    same "marker" "$(marked)" "not marked"
    same "packages" "$(packages_of m1 m2)" "0 0 "
    stop m1 m2
}

# The first stranger gets its cores before it runs; so does the second, for whom there is no other place than home.
t65_strangers_find_their_cores_free() {
    idle on
    two_of_a_kind
    soon "packages of both" "0 1 " packages_of m1 m2
    same "marker" "$(marked)" marked
    same "idle cores, as explain says" "$(explained "$(moved)" .place.idle)" "$(cpus_of "$(moved)")"
    half s1
    alone s1 m1 m2
    half s2
    alone s2 m1 m2
    same "m1" "$(cpus_of m1)" "$(slurm_cpus_of m1)"
    same "m2" "$(cpus_of m2)" "$(slurm_cpus_of m2)"
    stop s1
    soon "packages of both" "0 1 " packages_of m1 m2
    stop s2 m1 m2
    soon "marker" "not marked" marked
}

# Says whether a step has its CPUs to itself, as the programs of all last said.
apart_from_both() {
    disjoint "$(cpus_of "$1")" "$(cpus_of m1),$(cpus_of m2)" && echo apart || echo "shares CPUs: $(cpus_of "$1"), $(cpus_of m1) and $(cpus_of m2)"
}

# A job whose cores another stands on, and that opted in itself, starts where nobody is. (On a machine as slow as this one the other may
# have left them first: a new job is a stranger until it registers. test_place has both stay. What the other's program says of its CPUs
# may be of before that.)
t65_one_of_the_pool_starts_where_nobody_is() {
    idle on
    two_of_a_kind
    soon "packages of both" "0 1 " packages_of m1 m2
    knows compute 10
    half c1 --contention-aware=tag=compute
    soon "c1" apart apart_from_both c1
    soon "packages of both" "0 1 " packages_of m1 m2
    stop m1 m2 c1
}

# Strangers whose slurmstepd does not know of berth: their cores are free when their programs run, or two seconds later, and after three of
# them nobody stands on idle cores any more, until berth.conf is read again.
t65_without_the_plugin() {
    local i
    idle on
    two_of_a_kind
    soon "packages of both" "0 1 " packages_of m1 m2
    plugin_off
    for i in 1 2 3; do
        half "p$i"
        soon "p$i alone" apart alone_now "p$i"
        stop "p$i"
    done
    plugin_on
    soon "marker" "not marked" marked
    soon "packages" "0 0 " packages_of m1 m2
    ctl status --json | jq -r '.node.features[] | select(.name == "idle") | .say' | grep -q plugstack.conf || fail "status does not say why"
    stop m1 m2
    idle on
}

alone_now() {
    disjoint "$(cpus_of "$1")" "$(cpus_of m1),$(cpus_of m2)" && echo apart || echo "$(cpus_of "$1") of $(both)"
}

# A berthd that hangs does not make room: the plugin does.
t65_a_berthd_that_hangs() {
    idle on
    two_of_a_kind
    soon "packages of both" "0 1 " packages_of m1 m2
    kill -STOP "$(daemon_pid berthd)"
    half s1
    same "threads of $(moved) beside s1" "$(apart_now s1)" apart
    kill -CONT "$(daemon_pid berthd)"
    soon "s1 alone" apart alone_now s1
    stop s1 m1 m2
}

# Where the kernel lets the tasks of m1 and m2 run, whatever they say themselves.
apart_now() {
    local name
    for name in m1 m2; do
        disjoint "$(cpus_of "$1")" "$(sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$(cat "$CLUSTER/out/$name.0.pid")/status")" || echo "$name beside"
    done
    echo apart
}

# A killed berthd finds them; a stopped one takes all home; and without it they stay there.
t65_a_restart_and_a_stop() {
    idle on
    two_of_a_kind
    soon "packages of both" "0 1 " packages_of m1 m2
    daemon_stop berthd KILL
    half s1 # the plugin makes room for it
    same "threads beside s1" "$(apart_now s1)" apart
    berthd_start
    soon "m1 and m2" "$(slurm_cpus_of m1) $(slurm_cpus_of m2)" both
    stop s1
    soon "packages of both" "0 1 " packages_of m1 m2
    daemon_stop berthd
    soon "m1 and m2" "$(slurm_cpus_of m1) $(slurm_cpus_of m2)" both
    same "marker" "$(marked)" "not marked"
    berthd_conf
    berthd_start
    stop m1 m2
}

both() {
    echo "$(cpus_of m1) $(cpus_of m2)"
}

# late_team NAME: an OpenMP program whose environment binds its threads, beside one that is memory-bound; its team is made later. It begins on
# the idle package.
late_team() {
    [ -x "$BUILD/tests/cluster/lateteam" ] || skip "no gcc"
    idle on move=known
    knows memory 20000
    launch m1 -c"$HALF" --contention-aware=tag=memory,pack "$BUILD/tests/fixtures/programs/devil" 64 600s
    sleep 5 # it is seen to work
    rm -f "$CLUSTER/out/now"
    OMP_PROC_BIND=true OMP_PLACES=threads launch "$1" -c1 --contention-aware=tag=memory "$BUILD/tests/cluster/lateteam" "$CLUSTER/out/now"
    same "Slurm's package of both" "$(packages "$(slurm_cpus_of m1),$(slurm_cpus_of "$1")")" "0 "
    same "the package of $1" "$(packages "$(explained "$1" .place.cpus)")" "1 "
    same "idle cores, as explain says" "$(explained "$1" .place.idle)" "$(explained "$1" .place.cpus)"
    has "$(explained "$1" .enforce.reason)" "stays where it began: its threads bind themselves (OMP_PROC_BIND is set)"
}

# team NAME: now it makes its team, whose threads it binds to CPUs that it has had since it began; it ends well.
team() {
    touch "$CLUSTER/out/now"
    ended "$1"
    same "exit status of $1" "$rc" 0
    has "$(cat "$CLUSTER/out/$1.said")" "2 worked"
    timeout 10 scancel "$(job_of m1)"
    ended m1
    rm -f "$CLUSTER/out/m1".* "$CLUSTER/out/$1".*
}

t65_who_binds_his_threads_begins_on_idle_cores() {
    late_team b
    team b
    soon "marker" "not marked" marked
}

# A stranger gets all other cores: it has left them before that one runs, and does not fail for it.
t65_who_has_begun_there_makes_room() {
    late_team b
    start s1 -c$((2 * CORES - HALF - 1))
    same "b" "$(explained b .place.cpus)" "$(slurm_cpus_of b)"
    disjoint "$(kernel_has b)" "$(cpus_of s1)" || fail "b may run on $(kernel_has b), s1 has $(cpus_of s1)"
    same "state" "$(explained b .state)" placed
    team b
    stop s1
}

# A berthd that stops takes it home, and does not make it fail; nor does one that is killed.
t65_who_has_begun_there_bears_a_stop_and_a_kill() {
    late_team b
    daemon_stop berthd
    team b
    berthd_start
    late_team b
    daemon_stop berthd KILL
    berthd_start
    same "the package" "$(packages "$(explained b .place.cpus)")" "1 "
    same "state" "$(explained b .state)" placed
    team b
}

t65_slurmd_starts_anew() {
    idle on
    two_of_a_kind
    soon "packages of both" "0 1 " packages_of m1 m2
    daemon_stop slurmd
    daemon_start slurmd slurmd -D -N "$CLUSTER_NODE"
    wait_for 60 node_answers || fail "slurmd does not come back"
    same "packages of both" "$(packages_of m1 m2)" "0 1 "
    half s1
    alone s1 m1 m2
    stop s1 m1 m2
}

node_answers() {
    timeout 10 scontrol ping >/dev/null && timeout 20 srun -n1 true
}
