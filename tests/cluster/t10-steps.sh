# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Steps of srun: where they stand, in their own words.

t10_a_step_is_placed_and_says_so() {
    start a --contention-aware
    same "CPUs at exec" "$(first_cpus_of a)" "$(slurm_cpus_of a)"
    same "state" "$(explained a .state)" placed
    same "verified" "$(explained a .enforce.verified)" true
    same "CPUs in the task's own words and in berthd's" "$(cpus_of a)" "$(explained a '.place.cpus')"
    stop a
    same "state after the end" "$(explained a .state)" ended
}

t10_a_step_without_the_option_is_left_in_peace() {
    start a
    same "steps known" "$(ctl status --json | jq '.steps | length')" 0
    same "CPUs" "$(cpus_of a)" "$(slurm_cpus_of a)"
    stop a
}

t10_the_devil_goes_first_and_the_turtle_makes_room() {
    knows turtle 10
    knows devil 20000
    start a --contention-aware=tag=turtle
    same "the turtle, alone" "$(cpus_of a)" 0
    start b --contention-aware=tag=devil
    same "Slurm's CPU of the devil" "$(slurm_cpus_of b)" 1
    same "the devil at exec" "$(first_cpus_of b)" 0
    soon "the turtle beside the devil" 1 cpus_of a
    same "class of b" "$(explained b .class.name)" devil
    same "ranks" "$(explained a '"\(.place.rank) of \(.place.of)"'), $(explained b '"\(.place.rank) of \(.place.of)"')" "2 of 2, 1 of 2"
    stop b
    soon "the turtle, its neighbour gone" 0 cpus_of a
    stop a
}

t10_who_stands_well_is_not_moved() {
    knows turtle 10
    knows devil 20000
    start a --contention-aware=tag=devil
    start b --contention-aware=tag=turtle
    same "the devil" "$(cpus_of a)" 0
    same "the turtle" "$(first_cpus_of b)" 1
    stop a b
    same "moves of the devil" "$(wc -l <"$CLUSTER/out/a.0")" 1
}

t10_an_unknown_program_is_neutral_and_marked() {
    knows turtle 10
    start a --contention-aware=tag=turtle
    start b --contention-aware=tag=never-seen
    same "the unknown goes before the turtle" "$(first_cpus_of b)" 0
    same "class" "$(explained b .class.name)" unprofiled
    same "its miss rate" "$(explained b .profile.miss_pmi)" null
    stop a b
}

t10_each_task_of_a_step_has_its_core() {
    start a -n2 --contention-aware
    wait_for 10 test -s "$CLUSTER/out/a.1" || fail "no second task"
    has "$(cpus_of a 0) $(cpus_of a 1)" 0 1
    same "task 0" "$(cpus_of a 0)" "$(explained a '.enforce.tasks[0].cpus')"
    same "task 1" "$(cpus_of a 1)" "$(explained a '.enforce.tasks[1].cpus')"
    stop a
}

t10_cores_of_one_task_stay_together() {
    start a -c2 --contention-aware
    same "CPUs" "$(cpus_of a)" 0-1
    same "given by Slurm" "$(slurm_cpus_of a)" 0-1
    stop a
}

t10_children_follow_their_task() {
    knows turtle 10
    knows devil 20000
    # shellcheck disable=SC2016 # the task's own shell
    start a --contention-aware=tag=turtle bash -c 'sleep 60 & echo $! >"$CLUSTER/out/child"; exec "$@"' -
    start b --contention-aware=tag=devil
    soon "the task" 1 cpus_of a
    has "$(grep Cpus_allowed_list "/proc/$(cat "$CLUSTER/out/child")/status")" 1
    stop b a
}

t10_what_a_user_bound_by_hand_is_left_alone() {
    knows turtle 10
    knows devil 20000
    start a --contention-aware=tag=turtle --cpu-bind=map_cpu:0
    start b --contention-aware=tag=devil
    same "bound by hand" "$(cpus_of a)" 0
    same "the devil" "$(cpus_of b)" 1
    same "state" "$(explained a .state)" left
    stop a b
}

# nested SCRIPT [SRUN ARGUMENTS..]: what berth does with the step that SCRIPT, a task of srun's, starts by `inner [SRUN ARGUMENTS..]`.
nested() {
    local script=$1
    shift
    cat >"$CLUSTER/out/explain" <<END # little of it goes through both sruns: of more they may lose the end
#!/bin/sh
$CLUSTER/bin/berthctl explain --json --socket $CLUSTER/run/berthd.sock "\$SLURM_JOB_ID.\$SLURM_STEP_ID" |
    jq -r '.steps[0] | "\(.state), by hand \(.request.bound_by_hand)"'
END
    chmod 755 "$CLUSTER/out/explain"
    # shellcheck disable=SC2016 # the task's own shell
    timeout 60 srun -n1 --overlap "$@" bash -c 'inner() { srun -n1 --overlap --contention-aware "$@" "$CLUSTER/out/explain"; }'"; $script"
}

# Slurm leaves SLURM_CPU_BIND=mask_cpu:.. in each task, and an srun there takes it for its own user's word.
t10_what_an_outer_srun_left_is_nobodys_hand() {
    same "in a shell of srun" "$(nested inner)" "placed, by hand false"
    # shellcheck disable=SC2016 # the task's own variable
    same "in one of two tasks" "$(nested '[ "$SLURM_PROCID" = 1 ] || inner' -n2)" "placed, by hand false"
    same "without its environment" "$(nested 'inner --export=NONE')" "placed, by hand false"
    same "bound there" "$(nested 'inner --cpu-bind=map_cpu:0')" "left, by hand true"
    same "bound there, by what is set" "$(nested 'SLURM_CPU_BIND=map_cpu:0 inner')" "left, by hand true"
    same "in a shell that was bound" "$(nested inner --cpu-bind=map_cpu:0)" "left, by hand true"
    same "by a mask of all that it has" "$(nested 'inner --cpu-bind=mask_cpu:0x01')" "placed, by hand false"
}

nobody_else_runs() { ! timeout 10 squeue -h -t running,completing -o %A | grep -q .; }

# The job takes over SLURM_CPU_BIND of the shell, the mask of CPU 0: Slurm refuses its step on any other CPU. So it waits for the shell's.
t10_nor_is_it_in_a_job_that_was_submitted_there() {
    local job
    printf '#!/bin/bash\n#SBATCH -n1 --output=%s\nsrun --contention-aware "$@"\n' "$CLUSTER/out/job.said" >"$CLUSTER/out/job.sh"
    # shellcheck disable=SC2016 # the task's own shell
    job=$(timeout 30 srun -n1 bash -c 'cd /tmp && sbatch --parsable --hold "$@"' - "$CLUSTER/out/job.sh" "$STAND" inner)
    wait_for 60 nobody_else_runs || fail "the shell is not over"
    timeout 10 scontrol release "$job"
    running inner || fail "it does not start: $(cat "$CLUSTER/out/job.said"; timeout 10 squeue -h -o '%A %T %r')"
    same "state" "$(explained inner .state)" placed
    touch "$CLUSTER/out/inner.stop"
}

t10_observe_moves_nothing_but_says_what_it_would() {
    knows turtle 10
    knows devil 20000
    start a --contention-aware=tag=turtle
    start b --contention-aware=observe,tag=devil
    same "the turtle" "$(cpus_of a)" 0
    same "the devil" "$(cpus_of b)" 1
    same "state" "$(explained b .state)" observed
    same "where the devil would be" "$(explained b .place.cpus)" 0
    stop a b
}

t10_the_task_learns_its_cores() {
    has "$(timeout 20 srun -n1 --contention-aware sh -c 'env')" BERTH_CPUS=0
}

# refused LIST WORD..: srun says no before anything is submitted, in one line (and Slurm in another) that has the words.
refused() {
    local list=$1 text rc=0
    shift
    text=$(timeout 20 srun -n1 "--contention-aware=$list" true 2>&1) || rc=$?
    [ "$rc" != 0 ] || fail "'$list' was taken"
    has "$text" "$@"
    same "lines of ours" "$(grep -c -- "--contention-aware: '" <<<"$text")" 1
}

t10_a_wrong_word_is_refused_by_name() {
    refused fastest fastest auto observe
    refused policy=best best di
    refused cores=4-2 4-2
    refused mem=mine mine interleave
    refused auto,tag= tag
    same "jobs" "$(timeout 10 squeue -h)" ""
}

t10_a_word_without_effect_is_told_at_submission() {
    has "$(timeout 20 srun -n1 --contention-aware=cores=1-2 true 2>&1)" "--contention-aware: cores= has no effect without size"
    has "$(timeout 20 sbatch -n1 -o /dev/null --contention-aware=edp,policy=di --wrap true 2>&1)" "edp has no effect beside policy=" "Submitted batch job"
}

t10_help_is_given() {
    has "$(timeout 20 srun -n1 --contention-aware=help true 2>&1 || true)" observe policy tag require
    has "$(timeout 20 srun --help)" --contention-aware
}
