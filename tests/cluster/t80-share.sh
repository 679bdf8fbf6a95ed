# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A partition where Slurm puts two jobs on each core (OverSubscribe=FORCE:2).

shared_pool() {
    ctl status --json | jq -r .node.pool
}

t80_two_jobs_on_the_same_cores_have_a_part_each() {
    start a -p shared -c2 --contention-aware
    same "alone" "$(cpus_of a)" 0-1
    start b -p shared -c2 --contention-aware
    same "what Slurm gave" "$(slurm_cpus_of a) $(slurm_cpus_of b)" "0-1 0-1"
    same "the second, at its start" "$(first_cpus_of b)" 0-1
    soon "the first" 0 cpus_of a
    soon "the second" 1 cpus_of b
    same "the cpuset of each, with all that Slurm gave it" "$(cpuset_of a) $(cpuset_of b)" "0-1 0-1"
    same "share" "$(explained a '.place.share | "\(.others) \(.cores)"')" "1 1"
    has "$(ctl explain -v "$(id_of b)" | tr -s ' \n' ' ')" "1 other too: its part is 1 core"
    stop b
    soon "alone again" 0-1 cpus_of a
    same "share" "$(explained a .place.share)" null
    stop a
}

# A program asks once how many CPUs there are, when it starts, and is told what Slurm gave; berth narrows nobody before its first window is over.
t80_a_program_is_narrowed_after_its_first_window() {
    local file=$CLUSTER/out/b.nproc
    daemon_stop berthd
    berthd_conf first_window=600s
    berthd_start
    start a -p shared -c2 --contention-aware
    # shellcheck disable=SC2016 # the step's own shell
    start b -p shared -c2 --contention-aware sh -c 'nproc >"$0"; exec "$@"' "$file"
    same "processors, in the program's words" "$(cat "$file")" 2
    soon "told" "1 null" explained b '.place.share | "\(.others) \(.cores)"'
    ctl status >/dev/null # a turn of berthd, in which nothing changes
    same "nobody is narrowed" "$(cpus_of a) $(cpus_of b)" "0-1 0-1"
    daemon_stop berthd KILL
    berthd_conf startup=100ms first_window=200ms
    berthd_start
    soon "a part each" "0 1" eval 'echo "$(cpus_of a) $(cpus_of b)"'
    stop a b
}

t80_berthd_that_was_killed_finds_the_parts() {
    start a -p shared -c2 --contention-aware
    start b -p shared -c2 --contention-aware
    soon "the first" 0 cpus_of a
    soon "the second" 1 cpus_of b
    daemon_stop berthd KILL
    berthd_start
    same "after the kill" "$(cpus_of a) $(cpus_of b)" "0 1"
    same "what the new berthd knows" "$(explained b '"\(.place.cpus) \(.place.share.cores)"')" "1 1"
    daemon_stop berthd
    soon "undone" "0-1 0-1" eval 'echo "$(cpus_of a) $(cpus_of b)"'
    berthd_start
    stop a b
}

t80_more_jobs_than_cores_share_them() {
    local name
    for name in a b c d; do start "$name" -p shared --contention-aware; done
    for name in a b c d; do
        same "state of $name" "$(explained "$name" .state)" placed
        same "CPUs of $name" "$(cpus_of "$name" | grep -c '^[01]$')" 1
        same "share of $name" "$(explained "$name" '.place.share | "\(.others) \(.cores)"')" "1 null"
    done
    same "on each core" "$(for name in a b c d; do cpus_of "$name"; done | sort | uniq -c | tr -s ' \n' ' ')" " 2 0 2 1 "
    stop a b c d
}

t80_who_shares_with_a_stranger_is_not_moved() {
    knows turtle 10
    knows devil 20000
    start a -p shared --contention-aware=tag=turtle
    start b -p shared --contention-aware=tag=devil
    soon "the turtle makes room" 1 cpus_of a
    start s -p shared # on core 0 too, without berth
    same "what Slurm gave" "$(slurm_cpus_of a) $(slurm_cpus_of b) $(slurm_cpus_of s)" "0 1 0"
    soon "the core of the stranger has left the pool" 1 shared_pool
    soon "home" "0 1" eval 'echo "$(cpus_of a) $(cpus_of b)"'
    same "the stranger" "$(cpus_of s)" 0
    stop s
    start c -p shared --contention-aware=tag=devil
    soon "the pool is whole again" 0-1 shared_pool
    stop a b c
}

# adapt_knows [KEY=VALUE..]: berthd knows what two programs do alone, `locked` and `spinning`; counters are played: each of four threads is ready
# all the time, and has a CPU for half of it.
adapt_knows() {
    local file=$CLUSTER/berth/played.csv name at
    {
        echo "step,at,instructions,llc_accesses,llc_misses,cpu_ns,user_ns,run_delay_ns,lock_wait_ns,threads"
        for name in first locked spinning; do
            for at in $(seq 1 600); do
                echo "$name,$at,$((at * 1000000000)),$((at * 1000000)),$((at * 200000)),$((at * 2000000000)),$((at * 2000000000)),$((at * 2000000000)),0,4"
            done
        done
    } >"$file"
    daemon_stop berthd
    rm -f "$CLUSTER/berth/profiles.db"
    set -- startup=100ms first_window=200ms window=200ms "counters_replay=$file" allow=auto,tag,adapt,faithful "$@"
    berthd_conf "$@" learn=on
    berthd_start
    start first -c2 --contention-aware=tag=first # by which the machine's name is known
    wait_for 20 at_least 3 explained first .observe.counts.windows
    stop first
    wait_for 20 has_learned || fail "nothing was learned"
    alone spinning 0 0
    alone locked 0.4 1.2
    daemon_stop berthd
    berthd_conf "$@" # what it saw of a few windows would come before what is given here
    berthd_start
}

# alone TAG SYSTEM LOCK: what the program does alone, per second: four threads.
alone() {
    jq -nc --arg key "tag:$1" --arg machine "$(machine_type)" --argjson system "$2" --argjson lock "$3" --argjson now "$(date +%s)" \
        '{version: 1, kind: "sample", key: $key, shape: "", geometry: "", machine: $machine, co_run: false, source: "replay",
          command: "test", measured_at: $now, runs: 1, windows: 100, seconds: 100, instructions: 1e9,
          rates: {misses: [100, 1], accesses: [1000, 1], cpus: [(3 + $system), 0.01], system: [$system, 0.01],
                  run_delay: [0.1, 0.01], lock_wait: [$lock, 0.01], threads: [4, 0]}}' >"$CLUSTER/out/alone"
    berthctl profile import --db "$CLUSTER/berth/profiles.db" "$CLUSTER/out/alone" >/dev/null || fail "import of $1"
}

# As berthd calls it in what it has learned.
machine_type() {
    berthctl profile export --db "$CLUSTER/berth/profiles.db" 2>/dev/null | jq -r 'select(.kind == "sample") | .machine' | head -1
}

has_learned() {
    [ -n "$(machine_type)" ]
}

# configurations NAME NAME: what ADAPT says of two steps, or why nothing. Where a job has just ended on their cores nobody knows for a moment whose these are.
configurations() {
    echo "$(explained "$1" '.adapt | .configuration // .why') $(explained "$2" '.adapt | .configuration // .why')"
}

t80_adapt_gives_parts_or_all_cores() {
    adapt_knows share=adapt
    start a -p shared -c2 --contention-aware=tag=spinning
    start b -p shared -c2 --contention-aware=tag=spinning
    soon "two that only compute" "all all" configurations a b
    soon "cores" "0-1 0-1" eval 'echo "$(cpus_of a) $(cpus_of b)"'
    same "what they are given beside" "$(explained b '.adapt | "\(.programs) \(.faithful) \(.interleave) \(.memory)"')" "alone false false local"
    wait_for 20 at_least 10 explained b .observe.counts.windows
    same "their classes" "$(policies_of a)$(policies_of b)" "0 0 "
    stop a b
    start f -p shared -c2 --contention-aware=tag=locked
    start g -p shared -c2 --contention-aware=tag=spinning
    soon "one that computes, as it comes to one that waits for locks" "all all" configurations f g
    soon "cores" "0-1 0-1" eval 'echo "$(cpus_of f) $(cpus_of g)"'
    soon "one class for both" "3 3 " eval 'echo "$(policies_of f)$(policies_of g)"'
    stop g
    soon "its class, alone" "0 " policies_of f
    stop f
    start c -p shared -c2 --contention-aware=tag=locked
    start d -p shared -c2 --contention-aware=tag=locked
    soon "two that wait for locks" "sets sets" configurations c d
    soon "a part each" "0 1 " eval '(cpus_of c; cpus_of d) | sort | tr "\n" " "'
    soon "classes" "3 3 " eval 'echo "$(policies_of c)$(policies_of d)"'
    same "told" "$(explained d .faithful.class)" batch
    stop d
    soon "alone again" 0-1 cpus_of c
    soon "its class" "0 " policies_of c
    start e -p shared -c2 --contention-aware=tag=stranger
    soon "nothing is known of it" "0 1 " eval '(cpus_of c; cpus_of e) | sort | tr "\n" " "'
    has "$(explained c .adapt.why)" "was not counted yet"
    stop c e
}

# overlapping TAG: a job with two steps on its two cores, a and b, that ask for `adapt`.
overlapping() {
    local step="srun --overlap --contention-aware=adapt,tag=$1 $STAND"
    batch j -n1 -c2 --contention-aware <<<"export SRUN_CPUS_PER_TASK=2
$step a &
until [ -s $CLUSTER/out/a.id ]; do sleep 0.05; done
$step b &
wait"
    running a
    running b
}

t80_overlapping_steps_ask_for_adapt() {
    adapt_knows share=need
    overlapping spinning
    soon "two that only compute" "all all" configurations a b
    soon "cores" "0-1 0-1" eval 'echo "$(cpus_of a) $(cpus_of b)"'
    touch "$CLUSTER/out/a.stop" "$CLUSTER/out/b.stop"
    finish j
    rm -f "$CLUSTER/out"/[ab].* # they are waited for once more
    overlapping locked
    soon "two that wait for locks" "sets sets" configurations a b
    soon "a part each" "0 1 " eval '(cpus_of a; cpus_of b) | sort | tr "\n" " "'
    soon "classes" "3 3 " eval 'echo "$(policies_of a)$(policies_of b)"'
    touch "$CLUSTER/out/a.stop" "$CLUSTER/out/b.stop"
    finish j
}
