# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# AllocTRES: a job's energy at slurmdbd when it has ended, where the site wants it and its Slurm lets it be written (25.11).

tres_is_taken() {
    slurmd -V | sed 's/^[^0-9]*//; s/\./ /g' | { read -r year month _ && [ $((10#$year * 100 + 10#$month)) -ge 2511 ]; }
}

# What berthd says of itself: "on", or another state and why.
tres_feature() {
    ctl status --json | jq -r '.node.features[] | select(.name == "tres_energy") | if .state == "on" then .state else "\(.state) \(.say)" end'
}

with_tres_energy() {
    daemon_stop berthd
    berthd_conf tres_energy=on "$@"
    berthd_start
}

# AllocTRES without its energy; its energy.
other_tres() {
    timeout 10 sacct -n -P -X --noconvert -j "$1" -o AllocTRES | sed 's/energy=[0-9]*,\?//; s/,$//'
}

tres_energy() {
    timeout 10 sacct -n -P -X --noconvert -j "$1" -o AllocTRES | grep -o 'energy=[0-9]*'
}

t80_energy_is_in_alloctres() {
    [ -z "$CLUSTER_CONFINE" ] || skip "the unit leaves no openat2, without which no recorded tree of meters is read"
    tres_is_taken || skip "this Slurm is older than 25.11"
    local job energy_j others
    with_tres_energy
    soon "what berthd says" on tres_feature
    start a --contention-aware
    job=$(job_of a)
    others=$(other_tres "$job")
    for _ in 1 2 3 4; do
        advance intel-rapl:0 $((9 * 1000 * 1000 + 7))
        advance intel-rapl:1 $((9 * 1000 * 1000))
        sleep 0.5
    done
    stop a
    eventually "the comment" '{"berth":' comment_begin "$job" # in the same change
    energy_j=$(report -j "$job" --json | jq '.jobs[0].energy_j | round')
    [ "$energy_j" -gt 0 ] || fail "nothing is billed: $energy_j"
    eventually "its energy" "energy=$energy_j" tres_energy "$job"
    same "its other TRES" "$(other_tres "$job")" "$others"
    same "ConsumedEnergyRaw" "$(accounted "$job" ConsumedEnergyRaw)" "$energy_j"
    berthd_as_ever
}

t80_a_models_energy_is_not() {
    tres_is_taken || skip "this Slurm is older than 25.11"
    with_tres_energy energy= energy_model=idle=40W,core=6W
    start a --contention-aware
    sleep 1.5
    stop a
    commented "$(job_of a)"
    same "its energy" "$(tres_energy "$(job_of a)")" ""
    berthd_as_ever
}

t80_an_older_slurm_says_why_not() {
    ! tres_is_taken || skip "this Slurm is 25.11 or newer"
    with_tres_energy
    wait_for 30 refuses || fail "what berthd says: $(tres_feature)"
    has "$(cat "$CLUSTER/log/berthd.out")" "no energy goes into AllocTRES: berth-comment: energy: from 25.11 on"
    start a --contention-aware
    stop a
    commented "$(job_of a)" # all the same
    same "its energy" "$(tres_energy "$(job_of a)")" ""
    berthd_as_ever
}

refuses() {
    tres_feature | grep -q '^absent .*from 25.11 on Slurm lets it be written'
}
