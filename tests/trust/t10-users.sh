# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What users see of each other, and may do. Sourced by tests/cluster/run.

# start_as USER NAME [SRUN ARGUMENTS..]: as start, by that user.
start_as() {
    local user=$1 name=$2
    shift 2
    (cd / && exec timeout $((90 * CLUSTER_PATIENCE)) runuser -u "$user" -- srun -Q -n1 "$@" "$STAND" "$name") >"$CLUSTER/out/$name.srun" 2>&1 &
    echo $! >"$CLUSTER/out/$name.client"
    wait_for 20 started_or_over "$name" || true
    [ -s "$CLUSTER/out/$name.id" ] || fail "step $name did not start: $(cat "$CLUSTER/out/$name.srun")"
}

# refused WHAT TEXT RC: a command failed with one line.
refused() {
    same "$1: exit status" "$3" 1
    same "$1: lines" "$(wc -l <<<"$2")" 1
}

t10_a_user_sees_only_his_own_steps() {
    start_as "$VICTIM" v --contention-aware
    start_as "$ATTACKER" a --contention-aware
    same "steps that root sees" "$(ctl status --json | jq '.steps | length')" 2
    same "steps that the attacker sees" "$(berthctl_as "$ATTACKER" status --json | jq -r '[.steps[].id] | join(" ")')" "$(id_of a)"
    same "steps that the victim sees" "$(berthctl_as "$VICTIM" status --json | jq -r '[.steps[].id] | join(" ")')" "$(id_of v)"
    stop v a
}

t10_a_user_releases_nobody() {
    local rc=0 text
    start_as "$VICTIM" v --contention-aware
    text=$(berthctl_as "$ATTACKER" release "$(id_of v)" 2>&1) || rc=$?
    refused "release of another's step" "$text" "$rc"
    rc=0
    text=$(berthctl_as "$ATTACKER" release 2>&1) || rc=$?
    refused "release of the node" "$text" "$rc"
    same "state" "$(explained v .state)" placed
    stop v
}
