# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# suite - root and two unprivileged users on the cluster of tests/cluster. Sourced by tests/cluster/run after cluster.sh.
#
# Both are accounts that every Debian has; nothing of theirs is touched.

ATTACKER=games
VICTIM=news

# as USER COMMAND..: by that user, in a folder that he may be in.
as() {
    local user=$1
    shift
    (cd / && exec runuser -u "$user" -- "$@")
}

# berthctl_as USER VERB..: asks this cluster's berthd.
berthctl_as() {
    local user=$1 verb=$2
    shift 2
    as "$user" "$CLUSTER/bin/berthctl" "$verb" --socket "$CLUSTER/run/berthd.sock" "$@"
}

CLUSTER_BERTHD_CONF+=(move=all) # the tests move shells
