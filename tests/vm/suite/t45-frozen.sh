# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Steps that hold their memory maps for ever, and berthd wants to move them: the node goes on, and so do others.

# fuse_is_there: the module that the image has, where the kernel has none built in.
fuse_is_there() {
    [ -c /dev/fuse ] || busybox insmod /lib/fuse.ko || skip "this kernel has no FUSE"
    [ -c /dev/fuse ] || mknod /dev/fuse c 10 229
}

# frozen_server NAME: a file system whose second read is never answered. The file is $CLUSTER/run/NAME/f.
frozen_server() {
    mkdir -p "$CLUSTER/run/$1"
    "$BUILD/tests/fault/frozen" serve "$CLUSTER/run/$1" >"$CLUSTER/out/$1.server" 2>&1 &
    echo $! >"$CLUSTER/run/$1.server"
    wait_for 10 grep -q mounted "$CLUSTER/out/$1.server" || fail "no file server: $(cat "$CLUSTER/out/$1.server")"
}

# The pages are refused, and who waits for them ends.
frozen_end() {
    local name
    for name; do kill "$(cat "$CLUSTER/run/$name.server")" 2>/dev/null; done
    for name; do umount -l "$CLUSTER/run/$name"; done
}

# is_frozen NAME: a thread of its holder waits for the file server.
is_frozen() {
    local pid
    pid=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$(cat "$CLUSTER/out/$1.0.pid")/status")
    grep -qE 'fuse|request_wait_answer' /proc/"$pid"/task/*/wchan
}

# frozen_half NAME HOW: a memory-bound step of half a package that holds its memory map (tests/fault/frozen.c).
frozen_half() {
    program=("$BUILD/tests/fault/frozen" "$2" "$CLUSTER/run/$1/f")
    half "$1" --contention-aware=tag=memory,pack "${program[@]}"
    program=()
    wait_for 20 is_frozen "$1" || fail "$1 does not hold its memory map"
}

answers() {
    timeout 20 berthctl status --socket "$CLUSTER/run/berthd.sock" >/dev/null || fail "no answer to status"
}

t45_steps_that_hold_their_memory_maps_do_not_stop_the_node() {
    local turn
    fuse_is_there
    trap 'frozen_end m1 m2' EXIT
    knows memory 20000
    knows compute 10
    frozen_server m1
    frozen_server m2
    frozen_half m1 fault
    frozen_half m2 fault
    half c1 --contention-aware=tag=compute # with which one of the two would change places
    for ((turn = 0; turn < 20; turn++)); do
        answers
        sleep 0.2
    done
    half c2 --contention-aware=tag=compute
    same "a later step" placed "$(explained c2 .state)"
    if [ "$CLUSTER_CGROUP" = v2 ]; then
        same "packages" "0 1 " "$(packages "$(explained m1 .place.cpus),$(explained m2 .place.cpus)")"
    elif [ "$(printf '%s\n6.2\n' "$(uname -r)" | sort -V | head -n 1)" != 6.2 ]; then
        has "$(explained m1 .enforce.reason)$(explained m2 .enforce.reason)" "waits in the kernel"
    fi
    touch "$CLUSTER/out/m1.stop" "$CLUSTER/out/m2.stop"
    frozen_end m1 m2
    trap - EXIT
    stop c1 c2
    answers
    cancel_all
    wait_for 30 no_jobs || fail "jobs are left"
}
