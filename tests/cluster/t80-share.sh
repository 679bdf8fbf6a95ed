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
    same "the second" "$(first_cpus_of b)" 1
    soon "the first" 0 cpus_of a
    same "cpusets" "$(cpuset_of a) $(cpuset_of b)" "0 1"
    same "share" "$(explained a '.place.share | "\(.others) \(.cores)"')" "1 1"
    has "$(ctl explain -v "$(id_of b)" | tr -s ' \n' ' ')" "1 other too: its part is 1 core"
    stop b
    soon "alone again" 0-1 cpus_of a
    same "share" "$(explained a .place.share)" null
    stop a
}

t80_berthd_that_was_killed_finds_the_parts() {
    start a -p shared -c2 --contention-aware
    start b -p shared -c2 --contention-aware
    soon "the first" 0 cpus_of a
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
