# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What berthd publishes of the node's memory, as any user reads it.

# drawing: counters are played: the step "draws" moves 5.1 GB/s, "calm" 1 GB/s; both together all that the machine's memory gives.
drawing() {
    local file=$CLUSTER/berth/draws.csv
    traffic draws 5.1e9 calm 1e9 >"$file"
    cp "$TESTS/fixtures/machines/two-cores.json" "$CLUSTER/berth/machine.json"
    daemon_stop berthd
    berthd_conf startup=100ms first_window=200ms window=200ms "counters_replay=$file" allow=auto,tag blackboard=on rcr_hold=2
    berthd_start
}

# board SECTION FIELD: what is published, as the user nobody reads it.
board() {
    runuser -u nobody -- timeout 10 "$CLUSTER/bin/berthctl" blackboard --json -n 1 -f "$CLUSTER/berth/blackboard" |
        jq -r --arg name "$1" ".sections[] | select(.name == \$name).$2"
}

t86_memory_is_saturated_and_idle_again() {
    drawing
    same "without a step" "$(board node state)" null
    start a --contention-aware=tag=calm
    soon "it draws little" idle board node state
    start b --contention-aware=tag=draws
    soon "they draw all" saturated board node state
    same "the only memory, too" "$(board memory0 state)" saturated
    board node traffic_bytes_s | awk '{ exit !($1 > 5.9e9 && $1 < 6.3e9) }' || fail "traffic $(board node traffic_bytes_s)"
    stop b
    soon "one draws little" idle board node state
    stop a
    soon "it has ended" null board node state
}

t86_users_read_it_and_cannot_write_it() {
    local file=$CLUSTER/berth/blackboard
    drawing
    start a --contention-aware=tag=calm
    start b --contention-aware=tag=draws
    soon "published" saturated board node state
    same "its mode" "$(stat -c '%a %u' "$file")" "644 0"
    runuser -u nobody -- sh -c ': >>"$1"' - "$file" 2>/dev/null && fail "nobody may write to it"
    same "its writer" "$(runuser -u nobody -- "$CLUSTER/bin/berthctl" blackboard --json -n 1 -f "$file" | jq .writer)" "$(cat "$CLUSTER/run/berthd.pid")"
    daemon_stop berthd KILL
    soon "a writer that was killed" "not written for too long" board node why
    berthd_start
    soon "the next one" saturated board node state
    stop a b
    machine
}
