# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Moving across packages, and what Slurm does meanwhile: later steps of a moved job, ends of jobs, berthd's own ends.

# exchanged COMMAND..: two memory-bound jobs share package 0; the command starts c1, compute-bound, with half of package 1,
# and one of the two, $moved, changes places with it: both stand outside what Slurm gave to their jobs.
exchanged() {
    knows memory 20000
    knows compute 10
    half m1 --contention-aware=tag=memory,pack "${program[@]}"
    half m2 --contention-aware=tag=memory,pack "${program[@]}"
    "$@"
    moved=m1
    [ "$(cpus_of m1)" != "$(slurm_cpus_of m1)" ] || moved=m2
    on "$moved" "$(slurm_cpus_of c1)"
    on c1 "$(slurm_cpus_of $moved)"
}
program=() # that the memory-bound run, around the one that says where it stands

compute() {
    half c1 --contention-aware=tag=compute
}

# c1 is a step of a job that starts c2 beside it when it is told to, and c3 when both have ended.
compute_job() {
    batch j -n1 -c"$HALF" --contention-aware=tag=compute <<END
export SRUN_CPUS_PER_TASK=$HALF
srun --overlap $STAND c1 &
until [ -e $CLUSTER/out/go ]; do sleep 0.5; done
srun --overlap $STAND c2 &
wait
srun $STAND c3
END
    running c1 || fail "c1 did not start: $(cat "$CLUSTER/out/j.batch")"
}

t30_later_steps_of_a_moved_job_start() {
    local place
    exchanged compute_job
    place=$(cpus_of c1)
    if [ "$CLUSTER_CGROUP" = v2 ]; then # as Slurm does at the start of a step, here of one that berth never hears of
        slurm_cpus_of c1 >"$(job_list c1)"
        sleep 1
        on c1 "$place"
    fi
    touch "$CLUSTER/out/go"
    running c2 || fail "the second step did not start: $(cat "$CLUSTER/out/j.batch")"
    on c2 "$place" # it shares what its job has, wherever that stands
    on c1 "$place"
    on "$moved" "$(slurm_cpus_of c2)"
    touch "$CLUSTER/out/c1.stop" "$CLUSTER/out/c2.stop"
    running c3 || fail "the third step did not start: $(cat "$CLUSTER/out/j.batch")"
    on c3 "$place"
    touch "$CLUSTER/out/c3.stop"
    finish j
    on "$moved" "$(slurm_cpus_of $moved)" # home: there is nothing to change places with
    stop m1 m2
}

t30_a_killed_berthd_finds_its_steps_and_a_stopped_one_puts_them_back() {
    local name place
    exchanged compute
    place=$(cpus_of c1)
    daemon_stop berthd KILL
    berthd_start
    on c1 "$place"
    on "$moved" "$(slurm_cpus_of c1)"
    daemon_stop berthd
    for name in m1 m2 c1; do
        soon "$name" "$(slurm_cpus_of $name)" cpus_of $name
        same "cpuset of $name" "$(cpuset_of $name)" "$(slurm_cpus_of $name)"
        same "cpuset of the job of $name" "$(cat "$(job_list $name)")" "$(slurm_cpus_of $name)"
    done
    same "berth's cgroups" "$(berth_cgroups)" ""
    stop m1 m2 c1
}

# The list of a step's job: the file that Slurm writes.
job_list() {
    compgen -G "$(cpuset_root)/*$CLUSTER_NODE*/uid_*/job_$(job_of "$1")/cpuset.cpus" ||
        echo "$(cpuset_root)$(sed -n 's,^0::\(.*\)/step_.*,\1,p' "/proc/$(cat "$CLUSTER/out/$1.0.pid")/cgroup")/cpuset.cpus" # named by SLUID from 26.05 on
}

# A stranger waits for the cores that the moved step stands on: by his first instruction it must be gone from them.
t30_a_stranger_finds_the_cores_of_an_ended_job_free() {
    local home
    exchanged compute
    home=$(slurm_cpus_of $moved)
    start filler -c$((PACKAGES * CORES - 3 * HALF))
    # shellcheck disable=SC2016 # the stranger's own shell
    timeout 600 srun -Q -n1 -c"$HALF" bash -c 'while read -r k v; do [ "$k" = Cpus_allowed_list: ] && echo "$v" >"$1"
        done <"/proc/$2/status"; exec "$3" s' - "$CLUSTER/out/seen" "$(cat "$CLUSTER/out/$moved.0.pid")" "$STAND" >"$CLUSTER/out/s.srun" 2>&1 &
    echo $! >"$CLUSTER/out/s.client"
    soon "the stranger waits" 1 pending
    same "the moved step" "$(cpus_of $moved)" "$(slurm_cpus_of c1)"
    stop c1
    running s || fail "the stranger did not start"
    same "the moved step, as the stranger saw it" "$(cat "$CLUSTER/out/seen")" "$home"
    disjoint "$(cpus_of s)" "$home" || fail "the stranger is on $(cpus_of s)"
    stop s filler m1 m2
}

pending() {
    timeout 60 squeue -h -t PENDING | wc -l
}

# Threads and processes that come into being all the time, one that has narrowed itself, and later ones: all are moved.
t30_what_is_born_meanwhile_is_moved_too() {
    program=("$BUILD/tests/vm/restless")
    exchanged compute
    for _ in 1 2 3 4 5; do
        all_inside "$moved" "$(slurm_cpus_of c1)"
        sleep 0.3
    done
    stop c1
    on "$moved" "$(slurm_cpus_of $moved)"
    all_inside "$moved" "$(slurm_cpus_of $moved)"
    stop m1 m2
}

# all_inside NAME LIST: every thread of the task, which stands around the one that says where it is, and of what descends from it.
all_inside() {
    local pid list n=0
    for pid in $(descendants "$(sed -n 's/^PPid:\t//p' "/proc/$(cat "$CLUSTER/out/$1.0.pid")/status")"); do
        for list in $(sed -n 's/^Cpus_allowed_list:\t//p' /proc/"$pid"/task/*/status 2>/dev/null); do
            n=$((n + 1))
            [ -z "$(comm -23 <(expand "$list" | sort) <(expand "$2" | sort))" ] || fail "a thread of $1 may run on $list, not only on $2"
        done
    done
    [ "$n" -gt 3 ] || fail "only $n threads of $1"
}

descendants() {
    local child
    echo "$1"
    for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do descendants "$child"; done
}
