# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Sizing: a step whose program one core keeps waiting for memory uses one core of two, as the kernel sees it.

# A program that one core makes read 12.8 GB/s, on a machine whose memory gives it 6.1, 5.96 of it to one core below its soft roof; triad NAME [SRUN ARGUMENTS..] runs one that
# does, with OMP_NUM_THREADS as it found it in NAME.omp and its pid in NAME.child.
sized_machine() {
    machine two-cores.json
    knows triad 100000 2e9
}

triad() {
    local name=$1
    shift
    export PROGRAM=$BUILD/tests/fixtures/programs/devil
    # shellcheck disable=SC2016 # the task's own shell
    start "$name" -c2 "$@" bash -c 'echo "${OMP_NUM_THREADS:-none}" >"$CLUSTER/out/$2.omp"
        nice -n 19 "$PROGRAM" 64 1000000 >/dev/null & echo $! >"$CLUSTER/out/$2.child"; "$@"; rc=$?; kill $!; wait $!; exit $rc' -
}

# CPUs that the program itself may use.
child_cpus() {
    sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$(cat "$CLUSTER/out/$1.child")/status"
}

t50_a_step_that_one_core_serves_uses_one() {
    sized_machine
    triad a --contention-aware=size,cores=1-2,tag=triad
    same "given by Slurm" "$(slurm_cpus_of a)" 0-1
    same "CPUs at exec" "$(first_cpus_of a)" 0
    same "CPUs of its program" "$(child_cpus a)" 0
    same "its cpuset, so that it may bind itself to all that Slurm gave" "$(cpuset_of a)" 0-1
    same "threads" "$(cat "$CLUSTER/out/a.omp")" 1
    same "constraint" "$(explained a .size.constraint)" "local bandwidth"
    same "vector" "$(explained a '.size | "\(.given) of \(.cores), \(.nodes[0].given) on node \(.nodes[0].node)"')" "1 of 2, 1 on node 0"
    same "prediction" "$(explained a '.size | "\(.gbps * 100 | round) \(.gbps_all * 100 | round) \(.source)"')" "596 603 model"
    same "verified" "$(explained a .enforce.verified)" true
    has "$(ctl explain -v "$(id_of a)" | tr -s ' \n' ' ')" "1 core of the 2 that Slurm gave" "local bandwidth" "OMP_NUM_THREADS=1" "cores=1-2"
    same "in status" "$(ctl status --json | jq -r '.steps[0] | "\(.home) \(.cpus)"')" "0-1 0"
    stop a
}

t50_what_was_taken_is_given_back() {
    sized_machine
    triad a --contention-aware=size,tag=triad
    same "CPUs" "$(child_cpus a)" 0
    daemon_stop berthd KILL
    berthd_start
    same "CPUs after berthd was killed" "$(child_cpus a) $(cpuset_of a)" "0 0-1"
    same "what the new berthd knows" "$(explained a '.size | "\(.given) \(.constraint)"')" "1 local bandwidth"
    daemon_stop berthd
    soon "CPUs after berthd has gone" 0-1 child_cpus a
    same "its cpuset" "$(cpuset_of a)" 0-1
    berthd_start
    stop a
}

t50_the_next_step_of_the_job_has_all_cores() {
    sized_machine
    batch j -n1 -c2 --contention-aware <<<"export SRUN_CPUS_PER_TASK=2
srun --contention-aware=size,tag=triad $STAND a; srun --contention-aware $STAND b"
    running a
    same "the sized step" "$(first_cpus_of a)" 0
    touch "$CLUSTER/out/a.stop"
    running b
    same "the next step" "$(first_cpus_of b)" 0-1
    touch "$CLUSTER/out/b.stop"
    finish j
}

t50_tasks_keep_a_core_each_and_users_their_threads() {
    sized_machine
    start a -n2 --contention-aware=size,tag=triad
    wait_for 10 test -s "$CLUSTER/out/a.1" || fail "no second task"
    has "$(cpus_of a 0) $(cpus_of a 1)" 0 1
    same "cores" "$(explained a '"\(.size.given) \(.size.threads)"')" "2 null"
    stop a
    OMP_NUM_THREADS=5 triad b --contention-aware=size,tag=triad
    same "threads" "$(cat "$CLUSTER/out/b.omp")" 5
    same "CPUs" "$(child_cpus b)" 0
    stop b
}

t50_what_is_not_known_is_not_sized() {
    sized_machine
    start a -c2 --contention-aware=size,tag=never-seen
    same "without a profile" "$(cpus_of a)" 0-1
    has "$(explained a .size.reason)" "no profile"
    same "constraint" "$(explained a '"\(.size.constraint) \(.size.gbps)"')" "null null"
    stop a
    start a -c2 --contention-aware=tag=triad
    same "not asked" "$(cpus_of a)" 0-1
    stop a
    machine
    start b -c2 --contention-aware=size,tag=triad
    same "without a machine profile" "$(cpus_of b)" 0-1
    has "$(explained b .size.reason)" "no machine profile"
    stop b
}

t50_what_a_step_leaves_is_idle_or_another_steps() {
    sized_machine
    batch j -n1 -c2 --contention-aware <<<"export SRUN_CPUS_PER_TASK=2
srun --overlap --contention-aware=size,tag=triad $STAND a &
until [ -e $CLUSTER/out/next ]; do sleep 0.05; done
srun --overlap --contention-aware=size,tag=triad $STAND b &
wait"
    running a
    same "the first step" "$(first_cpus_of a)" 0
    same "what it leaves" "$(explained a '.size | "\(.idle) \(.offered)"')" "1 "
    same "in status" "$(ctl status --json | jq -r .node.idle)" 1
    touch "$CLUSTER/out/next"
    running b
    same "the second step" "$(first_cpus_of b)" 1
    same "what the first leaves now" "$(explained a '.size | "\(.idle) \(.offered)"')" " 1"
    same "in status" "$(ctl status --json | jq -r .node.idle)" ""
    has "$(explained b .size.reason)" "together with 1 other step"
    touch "$CLUSTER/out/a.stop" "$CLUSTER/out/b.stop"
    finish j
}

t50_threads_auto_is_what_berthctl_threads_has_found() {
    machine
    echo '{"thresholds":{"cpu_util_delta":1000}}' >"$CLUSTER/out/thresholds"
    export KNEE=$BUILD/tests/fixtures/programs/knee
    # shellcheck disable=SC2016 # the program's own shell
    berthctl threads --db "$CLUSTER/berth/profiles.db" --topology "$CLUSTER_TOPOLOGY" --tag team --cores 2 --min 3 --max 4 --step 1 \
        --thresholds "$CLUSTER/out/thresholds" -- sh -c 'exec "$KNEE" "$OMP_NUM_THREADS" 1' >"$CLUSTER/out/threads" || fail "threads: $(cat "$CLUSTER/out/threads")"
    has "$(cat "$CLUSTER/out/threads")" "3 threads (n = 3) on 2 cores"
    triad a -c2 --contention-aware=threads=auto,tag=team
    same "threads" "$(cat "$CLUSTER/out/a.omp")" 3
    stop a
    OMP_NUM_THREADS=5 triad b -c2 --contention-aware=threads=auto,tag=team
    same "its user's own" "$(cat "$CLUSTER/out/b.omp")" 5
    stop b
    triad c -c2 --contention-aware=threads=auto,tag=never-seen
    same "nothing stored" "$(cat "$CLUSTER/out/c.omp")" none
    stop c
}
