# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What users can keep others from. Sourced by tests/cluster/run.

# hostile MODE CONNECTIONS: the attacker does that at berthd's socket, for a minute at most; quiet ends it.
hostile() {
    "$BUILD/tests/trust/hostile" "$CLUSTER/run/berthd.sock" "$(id -u "$ATTACKER")" "$1" "$2" 60 >"$CLUSTER/out/hostile.$1" 2>&1 &
    HOSTILE+=($!)
}

quiet() {
    kill "${HOSTILE[@]}" 2>/dev/null || true
    wait "${HOSTILE[@]}" 2>/dev/null || true
    HOSTILE=()
}

# Each step of another user is registered, placed and ended as if nobody asked anything.
t20_a_flood_keeps_no_step_from_its_place() {
    HOSTILE=()
    hostile status 64
    hostile deaf 64
    hostile records 16
    hostile idle 250
    hostile storm 4
    for round in 1 2 3 4 5; do
        start_as "$VICTIM" "v$round" --contention-aware
        same "state of step $round" "$(explained "v$round" .state)" placed
        stop "v$round"
    done
    same "what the victim is told" "$(berthctl_as "$VICTIM" status --json | jq .node.berth)" "$(ctl status --json | jq .node.berth)"
    quiet
}

# One user is many, by /etc/subuid: these numbers stand in no file, so that each has a budget of its own.
t20_many_uids_keep_no_user_from_his_answer() {
    local uid
    HOSTILE=()
    trap quiet EXIT
    for uid in {2000000000..2000000031}; do
        "$BUILD/tests/trust/hostile" "$CLUSTER/run/berthd.sock" "$uid" status 8 60 >/dev/null 2>&1 &
        HOSTILE+=($!)
    done
    start_as "$VICTIM" v --contention-aware
    same "state" "$(explained v .state)" placed
    # all together have a budget; the victim, who has had least of it, has the next turn each time, and nobody turns him away
    for _ in {1..20}; do
        berthctl_as "$VICTIM" status || fail "the victim is told nothing"
    done
    stop v
    quiet
}

# The sockets are removed: they are there again, for the next step too.
t20_a_removed_socket_comes_back() {
    rm "$CLUSTER/run/berthd.sock" "$CLUSTER/run/berthd.sock.plugin"
    wait_for 20 test -S "$CLUSTER/run/berthd.sock" -a -S "$CLUSTER/run/berthd.sock.plugin"
    start_as "$VICTIM" v --contention-aware
    same "state" "$(explained v .state)" placed
    stop v
}
