# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Energy: what the meters count while jobs, and berthd, come and go is in the steps' records, in `idle` or in `unmanaged`, to the microjoule.

# What berthd's accounts of all zones have of steps, and of idle and unmanaged; and what was metered: microjoules.
accounts() {
    ctl status --json | jq -r 'def uj: (. // 0) * 1e6 | round; # null: the meter has not moved yet
         .node.energy
        | "\(map(.steps_j | uj) | add) \(map((.idle_j | uj) + (.unmanaged_j | uj)) | add) \(map(.metered_j | uj) | add)"'
}

metered() {
    accounts | cut -d' ' -f3
}

# What all records have, microjoules.
recorded_uj() {
    sqlite3 -readonly -cmd '.timeout 10000' "$CLUSTER/berth/ledger.db" 'select coalesce(sum(coalesce(uj_package, 0) + coalesce(uj_dram, 0)), 0) from ledger_record' 2>/dev/null || echo 0
}

t40_what_is_metered_is_recorded_or_nobodys() {
    [ -z "$CLUSTER_CONFINE" ] || skip "the unit leaves no openat2, without which no recorded tree of meters is read"
    local before after records total=0 i zone uj
    local zones=(intel-rapl:0 intel-rapl:1 intel-rapl:0/intel-rapl:0:0 intel-rapl:1/intel-rapl:1:0)
    read -r -a before < <(accounts)
    soon "what waits" 0 waiting
    records=$(recorded_uj)
    batch a -n1 --contention-aware <<<"for i in 1 2 3; do srun sleep 0.5; done"
    start b -p shared --contention-aware
    for i in 1 2 3 4 5 6 7 8; do
        for zone in "${zones[@]}"; do
            uj=$((RANDOM * 1000 + RANDOM + 1)) # 33 J at most
            advance "$zone" $uj
            total=$((total + uj))
        done
        [ "$i" != 3 ] || { daemon_stop berthd; berthd_start; } # takes the steps and the accounts over
        [ "$i" != 5 ] || start c -p shared --contention-aware
        sleep 0.3
    done
    stop b c
    wait_for 30 job_is a COMPLETED || fail "job a: $(job_state a)"
    soon "metered" $((before[2] + total)) metered
    read -r -a after < <(accounts)
    soon "the records" $((records + after[0] - before[0])) recorded_uj
    same "records, idle and unmanaged" $((after[0] - before[0] + after[1] - before[1])) "$total"
    [ $((after[0] - before[0])) -gt 0 ] || fail "the steps have nothing"
}
