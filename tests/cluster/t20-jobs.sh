# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Jobs: options that travel, several steps, arrays, ways to end, and strangers on cores that a pool job gave back.

t20_the_job_option_reaches_its_steps() {
    batch j -n1 --contention-aware=tag=inner <<<"srun $STAND a; srun $STAND b"
    running a
    same "tag" "$(explained a .profile.key)" tag:inner
    touch "$CLUSTER/out/a.stop"
    running b
    same "second step" "$(explained b .state)" placed
    touch "$CLUSTER/out/b.stop"
    finish j
}

t20_the_step_option_wins_over_the_job() {
    batch j -n1 --contention-aware=tag=job <<<"srun --contention-aware=tag=step $STAND a; srun --contention-aware=off $STAND b"
    running a
    same "tag" "$(explained a .profile.key)" tag:step
    touch "$CLUSTER/out/a.stop"
    running b
    same "the step that opted out of a pool job" "$(explained b .state)" left
    touch "$CLUSTER/out/b.stop"
    finish j
}

t20_the_job_option_wins_over_the_site() {
    plugin_on default=auto
    start a
    same "by the site's default" "$(explained a .state)" placed
    stop a
    start b --contention-aware=observe
    same "by the user's word" "$(explained b .state)" observed
    stop b
    start c --contention-aware=off
    same "off" "$(ctl status --json | jq '[.steps[] | select(.state == "placed" or .state == "observed")] | length')" 0
    stop c
}

t20_steps_side_by_side_in_one_job() {
    knows turtle 10
    knows devil 20000
    batch j -n2 --contention-aware <<END
srun -n1 --exact --contention-aware=tag=turtle $STAND a &
until [ -s $CLUSTER/out/a.id ]; do sleep 0.05; done
srun -n1 --exact --contention-aware=tag=devil $STAND b &
wait
END
    running a
    running b
    soon "the devil" 0 cpus_of b
    soon "the turtle" 1 cpus_of a
    touch "$CLUSTER/out/a.stop" "$CLUSTER/out/b.stop"
    finish j
}

t20_overlapping_steps_share_what_slurm_lets_them_share() {
    batch j -n1 --contention-aware <<END
srun --overlap $STAND a &
until [ -s $CLUSTER/out/a.id ]; do sleep 0.05; done
srun --overlap $STAND b &
wait
END
    running a
    running b
    same "first" "$(cpus_of a)" "$(slurm_cpus_of a)"
    same "second" "$(cpus_of b)" "$(slurm_cpus_of b)"
    touch "$CLUSTER/out/a.stop" "$CLUSTER/out/b.stop"
    finish j
}

t20_tasks_of_an_array_are_jobs_of_their_own() {
    batch j -n1 --array=0-1 --contention-aware <<<"srun $STAND a\$SLURM_ARRAY_TASK_ID"
    running a0
    running a1
    same "array task" "$(explained a1 .request.array_task)" 1
    same "state" "$(explained a0 .state)" placed
    [ "$(cpus_of a0)" != "$(cpus_of a1)" ] || fail "both on $(cpus_of a0)"
    touch "$CLUSTER/out/a0.stop" "$CLUSTER/out/a1.stop"
}

t20_the_second_step_of_a_moved_job_starts() {
    knows turtle 10
    knows devil 20000
    batch j -n1 --contention-aware=tag=turtle <<<"srun $STAND a; srun $STAND c; srun $STAND d"
    running a
    start b --contention-aware=tag=devil
    soon "the first step, moved" 1 cpus_of a
    touch "$CLUSTER/out/a.stop"
    running c || fail "the second step did not start: $(cat "$CLUSTER/out/j.batch")"
    same "the second step" "$(first_cpus_of c)" 1
    stop b
    touch "$CLUSTER/out/c.stop"
    running d || fail "the third step did not start: $(cat "$CLUSTER/out/j.batch")"
    same "the third step" "$(first_cpus_of d)" 0
    touch "$CLUSTER/out/d.stop"
    finish j
}

t20_a_new_step_starts_while_another_of_its_job_is_moved() {
    knows turtle 10
    knows devil 20000
    batch j -n1 --contention-aware=tag=turtle <<END
srun --overlap $STAND a &
until [ -e $CLUSTER/out/go ]; do sleep 0.05; done
srun --overlap $STAND c &
wait
END
    running a
    start b --contention-aware=tag=devil
    soon "the first step, moved" 1 cpus_of a
    touch "$CLUSTER/out/go"
    running c || fail "the second step did not start: $(cat "$CLUSTER/out/j.batch")"
    [ "$(cpus_of c)" != "$(cpus_of b)" ] || fail "beside the devil on $(cpus_of b)"
    touch "$CLUSTER/out/a.stop" "$CLUSTER/out/c.stop"
    stop b
    finish j
}

# How many jobs wait for a core.
waiting() {
    timeout 10 squeue -h -t PENDING | wc -l
}

# apart NAME NAME: two tasks that Slurm kept apart, as the kernel sees them now.
apart() {
    local first second
    first=$(sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$(cat "$CLUSTER/out/$1.0.pid")/status")
    second=$(sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$(cat "$CLUSTER/out/$2.0.pid")/status")
    [ "$first" != "$second" ] || fail "$1 and $2 share $first"
}

# The moved turtle stands on the devil's core when the devil's job ends and a stranger waits for just this core: by the
# stranger's first instruction the turtle must be gone from it. The stranger looks himself.
t20_a_stranger_finds_the_cores_of_an_ended_job_free() {
    knows turtle 10
    knows devil 20000
    start a --contention-aware=tag=turtle
    start b --contention-aware=tag=devil
    soon "the turtle on the devil's core" 1 cpus_of a
    # shellcheck disable=SC2016 # the stranger's own shell
    timeout 60 srun -Q -n1 bash -c 'while read -r k v; do [ "$k" = Cpus_allowed_list: ] && echo "$1 $v" >"$4"; done <"/proc/$2/status"
        exec "$3" s' - turtle "$(cat "$CLUSTER/out/a.0.pid")" "$STAND" "$CLUSTER/out/seen" >"$CLUSTER/out/s.srun" 2>&1 &
    echo $! >"$CLUSTER/out/s.client"
    soon "the stranger waits" 1 waiting
    stop b
    running s || fail "the stranger did not start"
    same "the turtle, as the stranger saw it" "$(cat "$CLUSTER/out/seen" "$CLUSTER/out/s.srun")" "turtle 0"
    same "the stranger" "$(first_cpus_of s)" 1
    apart a s
    stop s a
}

t20_a_stranger_finds_the_cores_of_a_cancelled_job_free() {
    knows turtle 10
    knows devil 20000
    start a --contention-aware=tag=turtle
    start b --contention-aware=tag=devil
    soon "the turtle on the devil's core" 1 cpus_of a
    timeout 60 srun -Q -n1 "$STAND" s >"$CLUSTER/out/s.srun" 2>&1 &
    echo $! >"$CLUSTER/out/s.client"
    soon "the stranger waits" 1 waiting
    timeout 10 scancel "$(job_of b)"
    running s || fail "the stranger did not start"
    apart a s
    wait "$(cat "$CLUSTER/out/b.client")" || true
    stop s a
}

t20_a_step_that_opts_out_takes_its_cores_back() {
    knows turtle 10
    knows devil 20000
    batch j -n1 --contention-aware=tag=turtle <<END
srun --overlap $STAND a &
until [ -e $CLUSTER/out/go ]; do sleep 0.05; done
srun --overlap --contention-aware=off $STAND c &
wait
END
    running a
    start b --contention-aware=tag=devil
    soon "the devil on the turtle's core" 0 cpus_of b
    touch "$CLUSTER/out/go"
    running c || fail "the step that opted out did not start: $(cat "$CLUSTER/out/j.batch")"
    same "the step that opted out" "$(first_cpus_of c)" 0
    apart c b
    soon "the devil, back home" 1 cpus_of b
    touch "$CLUSTER/out/a.stop" "$CLUSTER/out/c.stop"
    stop b
    finish j
}

t20_a_cancelled_step_leaves_nothing() {
    knows turtle 10
    knows devil 20000
    start a --contention-aware=tag=turtle
    start b --contention-aware=tag=devil
    soon "the turtle, moved" 1 cpus_of a
    timeout 10 scancel "$(job_of a)"
    wait "$(cat "$CLUSTER/out/a.client")" || true
    soon "the devil, back home" 1 cpus_of b
    soon "state" ended explained a .state
    stop b
}

t20_a_requeued_job_is_placed_again() {
    batch j -n1 --requeue --contention-aware <<<"srun $STAND a\${SLURM_RESTART_COUNT:-}"
    running a
    requeue "$(cat "$CLUSTER/out/j.job")"
    running a1 || fail "did not start again: $(cat "$CLUSTER/out/j.batch")"
    same "state" "$(explained a1 .state)" placed
    touch "$CLUSTER/out/a1.stop"
    finish j
}

# Slurm looks after time limits every 30 s: the limit is brought near, the wait is its.
t20_a_job_at_its_time_limit_leaves_nothing() {
    knows turtle 10
    knows devil 20000
    batch j -n1 --time=5 --contention-aware=tag=turtle <<<"srun $STAND a"
    running a
    start b --contention-aware=tag=devil
    soon "the turtle, moved" 1 cpus_of a
    # scontrol reads the clock, slurmctld compares: in the next second that is the past
    wait_for 20 timeout 10 scontrol update JobId="$(job_of a)" EndTime=now || fail "no end time"
    wait_for 50 job_is j TIMEOUT || fail "no time limit: $(job_state j)"
    soon "the devil, back home" 1 cpus_of b
    soon "state" ended explained a .state
    stop b
}
