# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# DIO-POWER: who asks for it, and what its two predictions are told to be. On two CPUs with a package each there is nothing to
# cluster: the figures are those of where the steps stand, and can be worked out by hand.

# berthd with these keys, and packages that take 40 W awake, 5 W for each core and 10 W asleep.
powered() {
    daemon_stop berthd
    berthd_conf "topology=package:2 l3:1 core:1 pu:1" energy_model=idle=40W,core=5W,sleep=10W "$@"
    berthd_start
    knows turtle 10
}

unpowered() {
    daemon_stop berthd
    berthd_conf
    berthd_start
}

# What decided about a step.
edp_of() {
    explained "$1" 'def whole: if . then floor else . end;
        .place | "\(.policy) \(.edp_choice) \(.edp_cluster | whole) \(.edp_spread | whole) \(.edp_source)"'
}

t75_the_products_of_where_steps_stand() {
    powered
    start a --contention-aware=edp,tag=turtle
    soon "one core, and a package asleep" "dio-power cluster 55 55 model" edp_of a
    start b --contention-aware=edp,tag=turtle
    soon "both packages" "dio-power cluster 90 90 model" edp_of b
    soon "told anew" "dio-power cluster 90 90 model" edp_of a
    same "CPUs" "$(cpus_of a) $(cpus_of b)" "0 1"
    has "$(ctl explain -v "$(id_of b)" | tr -s ' \n' ' ')" "DIO-POWER: number" "energy-delay product clustered 90.000 J s" \
        "spread 90.000 J s" "by the site's model"
    stop b a
    unpowered
}

# accounts_with N: whether each zone's account is the sum of its parts, and the first has so many gaps.
accounts_with() {
    ctl status --json | jq --argjson n "$1" '[.node.energy[] | (.metered_j - .steps_j - .idle_j - .unmanaged_j)
        | fabs < 0.001] + [.node.energy[0].gaps == $n] | all'
}

is_metered() {
    [ "$(explained "$1" '.bill.energy_j > 0')" = true ]
}

t75_a_planned_restart_is_no_gap() {
    local gaps
    powered
    start a --contention-aware=tag=turtle
    wait_for 20 is_metered a || fail "a step is not metered"
    gaps=$(ctl status --json | jq '.node.energy[0].gaps')
    daemon_stop berthd
    berthd_start
    same "gaps after SIGTERM" "$(explained a .bill.gaps)" 0
    same "accounts after SIGTERM" "$(accounts_with "$gaps")" true
    daemon_stop berthd KILL
    berthd_start
    same "gaps after SIGKILL" "$(explained a .bill.gaps)" 1
    same "accounts after SIGKILL" "$(accounts_with $((gaps + 1)))" true
    stop a
    unpowered
}

t75_without_power_figures_the_devils_decide() {
    unpowered
    knows devil 20000
    start a --contention-aware=edp,tag=devil
    start b --contention-aware=policy=dio-power,tag=devil
    same "by the word edp" "$(edp_of a)" "dio-power cluster null null null"
    same "by policy" "$(edp_of b)" "dio-power cluster null null null"
    same "CPUs" "$(cpus_of a) $(cpus_of b)" "0 1"
    same "verified" "$(explained a .enforce.verified) $(explained b .enforce.verified)" "true true"
    has "$(ctl explain -v "$(id_of a)" | tr -s ' \n' ' ')" "energy-delay products are not known"
    stop b a
    has "$(timeout 20 srun -n1 --contention-aware=edp,verbose,tag=devil true 2>&1)" "DIO-POWER: number 1 of 1"
}

t75_the_site_has_a_default() {
    powered policy=dio-power
    same "of the node" "$(ctl status --json | jq -r .node.policy)" dio-power
    start a --contention-aware=tag=turtle
    start b --contention-aware=policy=di,tag=turtle
    same "who asks for nothing" "$(edp_of a)" "dio-power cluster 90 90 model"
    same "who names another policy" "$(edp_of b)" "di null null null null"
    daemon_stop berthd KILL
    berthd_start
    same "after a restart" "$(explained a .place.policy) $(explained b .place.policy)" "dio-power di"
    stop b a
    powered policy=di allow=auto,tag
    start c --contention-aware=edp,tag=turtle
    same "where the site does not allow it" "$(explained c '"\(.place.policy) \(.request.refused)"')" "di edp"
    stop c
    unpowered
}
