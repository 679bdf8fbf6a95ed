# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Policies: four steps on two caches of two cores each, where each policy's pairs are those of `berthctl plan --policy`.
#
# deep needs most of its cache, which a neighbour takes first; mid uses what it gets, stream takes all and needs nothing, light does next to
# nothing. By miss rate stream belongs beside deep, which misses least: the worst that can be done to deep. Slurm gives the cores in the
# order of the starts: deep beside mid, light beside stream.
NAMES="deep mid light stream"
declare -A MISSES=([deep]=100 [mid]=1500 [light]=900 [stream]=25000)
declare -A HITS=(
    [deep]=60,60,60,60,60,60,3900,3900,3900,3900,3900,3900,3900,3900,3900,3900
    [mid]=1250,1250,1250,1250,1250,1250,1250,1250,1250,1250,1250,1250,1250,1250,1250,1250
    [light]=200,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5
    [stream]=3000,20,20,20,20,20,20,20,20,20,20,20,20,20,20,20
)

CPUS=$((PACKAGES * CORES))

# berthd on caches of pairs of cores, with this policy: nothing is counted, so that the store is all that is known. Memory is in nobody's way:
# each core can have 30 GB/s.
pairs_by() {
    daemon_stop berthd
    jq -n --argjson cores "$CPUS" '{version: 1, source: "made up", runs: 5, nodes: [{node: 0, cpus: "0-\($cores - 1)", $cores,
        local_gbps: [range($cores + 1) * 30], local_spread: [range($cores + 1) * 0.01]}]}' >"$CLUSTER/berth/machine.json"
    berthd_conf "policy=$1" "topology=package:1 l3:$((CPUS / 2)) core:2 pu:1" counters= replace_horizon=3600s "${@:2}"
    berthd_start
}

# status FILTER: of each of the steps, with $name; one question for all of them, for a guest is slow.
status() {
    local name
    ctl status --json | jq -r --argjson names "{$(for name in $NAMES; do [ ! -s "$CLUSTER/out/$name.id" ] || printf '"%s":"%s",' "$(id_of "$name")" "$name"; done | sed 's/,$//')}" \
        ".steps[] | \$names[.id] as \$name | $1"
}

four() {
    local name
    for name in $NAMES; do
        knows "$name" "${MISSES[$name]}" 0 "${HITS[$name]}"
        start "$name" "--contention-aware=tag=$name$([ "$name" != deep ] || echo "$1")"
    done
    same "Slurm's cores" "$(status .home | xargs)" "0 1 2 3"
}

# by_cache: of lines "NAME CACHE", the names by cache: "deep+light mid+stream".
by_cache() {
    sort | awk '{ names[$2] = names[$2] == "" ? $1 : names[$2] "+" $1 } END { for (i in names) print names[i] }' | sort | xargs
}

found() {
    status '"\($name) \(.llc[0])"' | by_cache
}

# What berthctl plan says of the same programs.
planned() {
    local name
    for name in $NAMES; do
        jq -n --arg name "$name" --argjson misses "${MISSES[$name]}" --argjson hits "[${HITS[$name]}]" \
            '{$name, llc_mpki: ($misses / 1000), llc_apki: ((($hits | add) + $misses) / 1000), sdp: {$hits, $misses}}'
    done | jq -s --argjson cores "$CPUS" '{apps: ., machine: {llc_ways: 16, dram_gbps: ($cores * 30)}}' |
        berthctl plan --json --policy "$1" --topology "package:1 l3:2 core:2 pu:1" | jq -r '.placement[] | "\(.name) \(.llc)"' | by_cache
}

# places POLICY PAIRS
places() {
    local name said
    pairs_by "$1"
    four ""
    soon "pairs by $1" "$2" found
    same "pairs as berthctl plan says" "$2" "$(planned "$1")"
    same "what is told" "$(status '"\(.policy) \(.rung) \(.confidence > 0.5)"' | sort -u)" "$1 stack distances true"
    status '"\($name) \(.cpus)"' | while read -r name said; do same "CPUs of $name" "$(cpus_of "$name")" "$said"; done
    has "$(ctl explain -v "$(id_of deep)" | tr -s ' \n' ' ')" "by $1" "slower than alone (known by stack distances, confidence 0."
    stop deep mid light stream
}

t25_contend() {
    places contend "deep+light mid+stream"
}

t25_pain() {
    places pain "deep+light mid+stream"
}

t25_sdc() {
    places sdc "deep+stream light+mid"
}

t25_animal() {
    places animal "deep+mid light+stream"
}

t25_missrate() {
    places missrate "deep+stream light+mid"
}

t25_di() {
    places di "deep+stream light+mid"
}

t25_dio_power() {
    places dio-power "deep+stream light+mid"
}

# The word goes before the site's key where all ask for it; where they differ the key decides, and that is told.
t25_a_step_asks_for_its_policy() {
    pairs_by di
    knows deep 100 0 "${HITS[deep]}"
    start a --contention-aware=tag=deep,policy=pain
    same "policy" "$(explained a '.place | "\(.policy) \(.policy_asked)"')" "pain pain"
    start b --contention-aware=tag=deep,policy=pain
    same "the other's" "$(explained b '.place | "\(.policy) \(.policy_asked)"')" "pain pain"
    start c --contention-aware=tag=deep
    same "with one that asks for none" "$(explained a '.place | "\(.policy) \(.policy_asked)"')" "di pain"
    has "$(ctl explain -v "$(id_of a)" | tr -s ' \n' ' ')" "by di (pain was asked for)" "pain gives way"
    stop a b c
}

# Where nothing is known of anybody there is nothing to predict, whatever is asked for.
t25_a_node_that_knows_nothing_uses_di() {
    pairs_by contend
    start a --contention-aware
    same "policy" "$(explained a '.place | "\(.policy) \(.policy_asked) \(.rung) \(.confidence) \(.predicted_slowdown)"')" "di contend nothing null null"
    has "$(ctl explain -v "$(id_of a)" | tr -s ' \n' ' ')" "by di (contend was asked for)" "too little is known here for contend"
    stop a
}

# max-slowdown is kept where that can be done, though the policy would have it otherwise.
t25_max_slowdown() {
    pairs_by missrate grant=isolate=root
    four ,max-slowdown=8
    soon "pairs" "deep+light mid+stream" found
    same "met" "$(explained deep '.place.max_slowdown | "\(.asked) \(.met)"')" "0.08 true"
    has "$(ctl explain -v "$(id_of deep)" | tr -s ' \n' ' ')" "max-slowdown is met: predicted"
    stop deep mid light stream
}

t25_max_slowdown_that_cannot_be_met() {
    local said
    pairs_by contend grant=isolate=root "topology=package:1 l3:1 core:$CPUS pu:1"
    knows deep 100 0 "${HITS[deep]}"
    knows stream 15000 0 "${HITS[stream]}"
    start a --contention-aware=tag=stream
    start b --contention-aware=tag=deep,max-slowdown=1,verbose
    said=$(cat "$CLUSTER/out/b.srun")
    has "$said" "max-slowdown=1 is not met: predicted" "no better place was found"
    same "met" "$(explained b '.place.max_slowdown | "\(.asked) \(.met)"')" "0.01 false"
    has "$(ctl explain -v "$(id_of b)" | tr -s ' \n' ' ')" "max-slowdown is not met: predicted"
    stop a b
}

t25_max_slowdown_is_for_whom_the_site_names() {
    pairs_by contend grant=isolate=nobody
    knows deep 100 0 "${HITS[deep]}"
    start a --contention-aware=tag=deep,max-slowdown=5,verbose
    has "$(cat "$CLUSTER/out/a.srun")" "max-slowdown has no effect: berth.conf names neither"
    same "refused" "$(explained a .request.refused)" max-slowdown
    stop a
    rm -f "$CLUSTER/berth/machine.json"
    berthd_conf
    daemon_stop berthd
    berthd_start
}
