# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Isolation: who gets a domain without intensive neighbours, who may ask, and what is told to those who do not.

# isolated NAME: "granted domain", in berthd's words.
isolated() {
    explained "$1" '.place.isolate | "\(.granted) \(.domain)"'
}

# berthd with these keys, until the next test.
berthd_with() {
    daemon_stop berthd
    berthd_conf "$@"
    berthd_start
}

t70_a_sensitive_step_is_isolated_from_a_devil() {
    berthd_with grant=isolate=root policy=di
    knows devil 20000
    knows turtle 10
    start a --contention-aware=isolate,tag=devil
    same "alone" "$(isolated a)" "true package 0"
    start b --contention-aware=tag=devil
    same "the other devil" "$(cpus_of b)" 1
    same "with a devil on the node" "$(isolated a) $(cpus_of a)" "true package 0 0"
    has "$(ctl explain -v "$(id_of a)" | tr -s ' \n' ' ')" "isolated in package 0" "no other devil"
    has "$(ctl explain -v "$(id_of b)" | tr -s ' \n' ' ')" "spread over packages"
    same "who did not ask" "$(explained b '.place.isolate | "\(.asked) \(.reason)"')" "false null"
    stop a b
    start c --contention-aware=isolate,tag=turtle
    same "one that is not sensitive" "$(isolated c)" "false null"
    has "$(explained c .place.isolate.reason)" "not sensitive"
    stop c
}

t70_where_there_is_one_domain_for_all_that_is_said() {
    berthd_with grant=isolate=0 "topology=package:1 l3:1 core:2 pu:1"
    knows devil 20000
    start a --contention-aware=isolate,tag=devil
    same "alone" "$(isolated a)" "true package 0"
    start b --contention-aware=tag=devil
    same "beside a devil" "$(isolated a)" "false null"
    has "$(explained a .place.isolate.reason)" "too few cores"
    stop a b
    berthd_with
}

t70_nobody_may_ask_unless_named() {
    knows devil 20000
    start a --contention-aware=isolate,tag=devil
    same "state" "$(explained a .state)" placed
    same "refused" "$(explained a '"\(.place.isolate.asked) \(.place.isolate.granted) \(.request.refused)"')" "true false isolate"
    has "$(explained a .place.isolate.reason)" "berth.conf names neither"
    stop a
    has "$(timeout 20 srun -n1 --contention-aware=isolate,verbose,tag=devil true 2>&1)" "not isolated: berth.conf names neither"
}

t70_groups_and_accounts_are_named() {
    berthd_with grant=isolate:group=root
    knows devil 20000
    start a --contention-aware=isolate,tag=devil
    same "by group" "$(isolated a)" "true package 0"
    stop a
    berthd_with grant=isolate:account=physics
    knows devil 20000
    start b --contention-aware=isolate,tag=devil --account=physics
    soon "by account" "true package 0" isolated b # slurmctld says which
    stop b
    batch j -n1 --account=physics --contention-aware=isolate,tag=devil <<<"srun $STAND c"
    running c
    soon "by the account of a batch job" "true package 0" isolated c
    touch "$CLUSTER/out/c.stop"
    finish j
    start d --contention-aware=isolate,tag=devil --account=chemistry
    soon "who says it" slurmctld explained d .identity.source
    same "by another account" "$(isolated d)" "false null"
    stop d
}
