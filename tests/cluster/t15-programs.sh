# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that bind their threads, remember their CPUs or start others stay where Slurm put them by default (berth.conf: move). A devil comes
# each time: who may be moved makes room for it.

# moving WORD [KEY=VALUE..]: what the site lets berth move.
moving() {
    daemon_stop berthd
    berthd_conf move="$1" "${@:2}"
    berthd_start
    install -m 755 "$BUILD/tests/fixtures/programs/turtle" "$CLUSTER/bin/"
    knows turtle 10
    knows devil 20000
}

# devil_came: one that may be moved begins beside `a`; Slurm puts it on CPU 1.
devil_came() {
    launch devil --contention-aware=tag=devil turtle 60s
    same "the devil, as Slurm has it" "$(slurm_cpus_of devil)" 1
}

# over NAME..: these steps are cancelled, and forgotten by the test.
over() {
    local name
    for name; do
        timeout 10 scancel "$(job_of "$name")"
        ended "$name"
        rm -f "$CLUSTER/out/$name."*
    done
}

# stays NAME REASON: it is left, for that reason, and the devil stands where Slurm put it.
stays() {
    same "state of $1" "$(explained "$1" .state)" left
    has "$(explained "$1" .enforce.reason)" "$2"
    devil_came
    same "the devil" "$(explained devil .place.cpus)" 1
}

# late_team SITE COMMAND..: an OpenMP program whose team is made, and binds itself, after the command with its name; by each run-time.
late_team() {
    local program compiler site=$1
    shift
    moving "$site"
    for compiler in gcc clang; do
        program=$(openmp_by "$compiler" lateteam) || skip "$program"
        rm -f "$CLUSTER/out/now"
        OMP_PROC_BIND=true OMP_PLACES=threads launch a --contention-aware=tag=turtle "$program" "$CLUSTER/out/now"
        "$@"
        touch "$CLUSTER/out/now"
        ended a
        same "$compiler: exit status" "$rc" 0
        has "$(cat "$CLUSTER/out/a.said")" "2 worked"
        over devil
    done
}

t15_an_openmp_program_that_binds_makes_its_team_late() {
    late_team known stays a "its threads bind themselves (OMP_P"
}

# moved_by_devil NAME: a devil comes, and the step makes room for it.
moved_by_devil() {
    devil_came
    soon "$1, moved" 1 kernel_has "$1"
    soon "the devil, moved" 0 kernel_has devil
}

t15_a_moved_openmp_program_binds_its_late_team_to_what_it_had() {
    late_team all moved_by_devil a
}

t15_who_binds_himself_to_his_own_cpu_has_it_back() {
    local pid
    moving all
    launch a --contention-aware=tag=turtle turtle 60s
    moved_by_devil a
    pid=$(explained a '.enforce.tasks[0].pid')
    taskset -cp 0 "$pid" >"$CLUSTER/out/taskset" 2>&1 || fail "it cannot be bound: $(cat "$CLUSTER/out/taskset")"
    soon "state" left explained a .state
    has "$(explained a .enforce.reason)" "left alone: its thread $pid is bound to 0"
    soon "a, at home" 0 kernel_has a
    soon "the devil, at home" 1 kernel_has devil
    over a devil
}

t15_who_undoes_a_binding_gets_nobody_elses_cpu() {
    local pid
    moving all
    launch a --contention-aware=tag=turtle turtle 60s
    moved_by_devil a
    pid=$(explained a '.enforce.tasks[0].pid')
    taskset -cp 0-1 "$pid" >"$CLUSTER/out/taskset" 2>&1 || fail "it cannot be bound: $(cat "$CLUSTER/out/taskset")"
    soon "a, where it was put" 1 kernel_has a
    same "state" "$(explained a .state)" placed
    over a devil
}

# late NAME TAG [ARGUMENTS..]: a program that binds itself when it is told to, though nothing about it says that.
late() {
    rm -f "$CLUSTER/out/now" "$CLUSTER/out/now.end"
    launch "$1" --contention-aware=tag="$2" "${@:3}" "$BUILD/tests/cluster/latebind" "$CLUSTER/out/now"
}

# bind_late NAME: it is told to.
bind_late() {
    touch "$CLUSTER/out/now"
    wait_for 20 grep -q bound "$CLUSTER/out/$1.said" || fail "$1 is not bound: $(cat "$CLUSTER/out/$1.said")"
}

# ends_well NAME: it ends by itself.
ends_well() {
    touch "$CLUSTER/out/now.end"
    ended "$1"
    same "exit status of $1" "$rc" 0
    rm -f "$CLUSTER/out/$1."*
}

# grown NAME: it has begun, and its first windows are over.
grown() {
    [ "$(date +%s)" -gt $(($(explained "$1" .started_at) + 1)) ] && grep -q begun "$CLUSTER/out/$1.said"
}

# seen_runs TAG: in how many runs the program was seen to bind its threads, and in how many it was not since then.
seen_runs() {
    berthctl profile export --db "$CLUSTER/berth/profiles.db" "$1" 2>/dev/null | jq -r 'select(.kind == "binding") | "\(.runs) \(.clean)"'
}

t15_who_was_seen_to_bind_is_kept_the_next_time() {
    local day
    moving known learn=on window=200ms
    knows late 10
    late a late
    same "state" "$(explained a .state)" placed
    moved_by_devil a
    wait_for 20 grown a || fail "a does not grow older"
    bind_late a
    soon "state" left explained a .state
    has "$(explained a .enforce.reason)" "left alone: its thread $(explained a '.enforce.tasks[0].pid') is bound to 0"
    soon "runs" "1 0" seen_runs late
    ends_well a
    over devil
    late a late
    day=$(date -d "@$(explained a .profile.bound_at)" +%F)
    stays a "left alone: it bound its threads in a run of $day"
    has "$(ctl job "$(job_of a)")" "it bound its threads in a run of $day"
    has "$(berthctl profile show --db "$CLUSTER/berth/profiles.db" late)" "its threads, in 1 run, last on $day; 0 runs since then without"
    bind_late a
    ends_well a
    over devil
    same "runs" "$(seen_runs late)" "1 0" # of one CPU nothing is seen at home
    berthctl profile forget --db "$CLUSTER/berth/profiles.db" --samples late
    late a late
    same "state, when it is forgotten" "$(explained a .state)" placed
    bind_late a
    ends_well a
}

t15_who_binds_at_home_is_seen_there() {
    moving known learn=on window=200ms
    late a home -c2
    same "state" "$(explained a .state)" placed
    wait_for 20 grown a || fail "a does not grow older"
    bind_late a
    wait_for 20 becomes left explained a .state || fail "it is still $(explained a .state)"
    has "$(explained a .enforce.reason)" "is bound to 0"
    soon "runs" "1 0" seen_runs home
    ends_well a
}

t15_what_slurm_binds_says_nothing_of_a_program() {
    moving known learn=on window=200ms
    late a pair -n2
    wait_for 20 grown a || fail "a does not grow older"
    same "state" "$(explained a .state)" placed
    bind_late a # each to the CPU that it has
    ends_well a
    daemon_stop berthd # what was learned is written
    same "runs" "$(seen_runs pair)" ""
    berthd_start
}

t15_a_job_script_binds_by_the_cpus_that_it_was_given() {
    local line
    moving known
    # shellcheck disable=SC2016 # the script's own
    batch a -n1 -J a --contention-aware=tag=turtle <<'END'
given=$(taskset -cp $$ | sed 's/.*: //')
echo ready
while [ ! -e "$CLUSTER/out/now" ]; do sleep 0.1; done
taskset -c "$given" true && echo bound
END
    wait_for 20 grep -q ready "$CLUSTER/out/a.batch" || fail "the script does not begin: $(cat "$CLUSTER/out/a.batch")"
    echo "$(cat "$CLUSTER/out/a.job").batch" >"$CLUSTER/out/a.id"
    stays a "what it starts is not known (a batch script"
    touch "$CLUSTER/out/now"
    finish a
    line=$(tail -n 1 "$CLUSTER/out/a.batch")
    same "the script's last line" "$line" bound
    over devil
}

t15_a_job_script_on_shared_cores_keeps_them_all() {
    moving known
    # shellcheck disable=SC2016 # the script's own
    batch a -p shared -n2 -J a --contention-aware <<'END'
nproc
while [ ! -e "$CLUSTER/out/now" ]; do sleep 0.1; done
nproc
END
    wait_for 20 test -s "$CLUSTER/out/a.batch" || fail "the script does not begin"
    start b -p shared -c2 --contention-aware
    same "CPUs of the other" "$(cpus_of b)" 0-1
    touch "$CLUSTER/out/now"
    finish a
    same "processors, in the script's words" "$(tr '\n' ' ' <"$CLUSTER/out/a.batch")" "2 2 "
    stop b
}

t15_a_plain_program_makes_room() {
    local words
    moving known
    for words in "$CLUSTER/bin/turtle 60s" "/usr/bin/python3 -c for(i)in(range(10**10)):i*i"; do
        # shellcheck disable=SC2086 # words
        launch a --contention-aware=tag=turtle $words
        same "state" "$(explained a .state)" placed
        devil_came
        soon "the devil of $words" 0 explained devil .place.cpus
        soon "CPUs of $words" 1 explained a .place.cpus
        same "CPUs of $words, as the kernel has it" "$(kernel_has a)" 1
        over devil a
    done
}

t15_who_asks_by_name_is_moved() {
    moving known
    launch a --contention-aware=tag=turtle,policy=dio-power bash -c 'while [ ! -e "$CLUSTER/out/a.stop" ]; do sleep 0.1; done'
    same "state" "$(explained a .state)" placed
    start devil --contention-aware=tag=devil,policy=dio-power
    soon "the devil" 0 cpus_of devil
    stop devil a
}

t15_the_site_has_nobody_moved_or_all() {
    moving never
    launch a --contention-aware=tag=turtle "$CLUSTER/bin/turtle" 100000000
    stays a "the site moves nobody"
    over devil a
    moving all
    start a --contention-aware=tag=turtle
    same "state" "$(explained a .state)" placed
    start devil --contention-aware=tag=devil
    soon "the devil" 0 cpus_of devil
    stop devil a
}

t15_steps_of_a_waiting_script_are_placed() {
    moving known
    # shellcheck disable=SC2016 # the script's own
    batch a -n1 -J a --contention-aware=tag=turtle <<'END'
srun -n1 turtle 60s
END
    wait_for 20 has_inner "$(cat "$CLUSTER/out/a.job")" || fail "the inner step does not begin: $(cat "$CLUSTER/out/a.batch")"
    same "the script" "$(ctl explain --json "$(cat "$CLUSTER/out/a.job")" | jq -r '.steps[] | select(.id | endswith(".batch")) | .state')" left
    devil_came
    soon "the devil" 0 explained devil .place.cpus
    over devil
    timeout 10 scancel "$(cat "$CLUSTER/out/a.job")"
}

has_inner() {
    [ -n "$(ctl explain --json "$1" 2>/dev/null | jq '.steps[] | select(.id | endswith(".0"))')" ]
}
