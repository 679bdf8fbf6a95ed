# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# On a machine with several packages each node has half of them: a step over both nodes stands on its node's half, wherever berth puts it.

# own_half CPUS NODE: they are among those that Slurm's node has (tests/nodes/suite.sh, half).
own_half() {
    local cpu cpus=$((${CLUSTER_SHAPE%x*} / 2 * ${CLUSTER_SHAPE#*x}))
    [ -n "$1" ] || fail "no CPUs on node $2"
    for cpu in $(numbers "$1"); do
        [ $((cpu / cpus)) = "$2" ] || fail "CPU $cpu on node $2: $1"
    done
}

# "0-2,5" as numbers.
numbers() {
    local part
    for part in ${1//,/ }; do seq "${part%-*}" "${part#*-}"; done
}

on_node() { # NODE: what the berthd of the first or the second one says of the job's step
    local socket=$CLUSTER/run/berthd.sock
    [ "$1" = 0 ] || socket=$OTHER/run/berthd.sock
    "$CLUSTER/bin/berthctl" explain "$JOB.0" --json --socket "$socket"
}

t20_each_node_keeps_to_its_packages() {
    local node
    [ -z "$CLUSTER_TOPOLOGY" ] || { echo "the packages of this machine are made up"; return 77; }
    over_both a
    for node in 0 1; do
        own_half "$(on_node $node | jq -r '.steps[0].place.cpus')" $node
    done
    ended a
    eventually "records" "2 2" records "$JOB"
    adds_up "$JOB"
}
