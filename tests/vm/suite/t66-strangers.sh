# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Many jobs that did not opt in, one after the other, get cores on which a step stands that Slurm has given to nobody: none of them runs its first
# instruction beside it. BERTH_STRANGERS=1000 has so many of them; else there are 20.

# Five programs that never rest, on the first CPU: the load.
load_on() {
    local i
    loads=()
    for i in 1 2 3 4 5; do
        taskset -c 0 bash -c 'while :; do :; done' &
        loads+=($!)
    done
}

load_off() {
    kill "${loads[@]}"
    wait "${loads[@]}" 2>/dev/null || true
}

# strangers N: so many jobs of one core, whose batch script's interpreter says who is beside it.
strangers() {
    cat "$CLUSTER/out/m1.0.pid" "$CLUSTER/out/m2.0.pid" >"$CLUSTER/out/pids"
    mkdir -p "$CLUSTER/out/strangers"
    printf '#!%s %s\n' "$BUILD/tests/vm/beside" "$CLUSTER/out/pids" >"$CLUSTER/out/stranger.sh"
    chmod 755 "$CLUSTER/out/stranger.sh"
    timeout 20 sbatch -Q --parsable -n1 --array="1-$1%1" -o "$CLUSTER/out/strangers/%a" "$CLUSTER/out/stranger.sh"
}

have_said() {
    [ "$(cat "$CLUSTER/out/strangers/"* 2>/dev/null | grep -c .)" -ge "$1" ]
}

# What each stranger waited for its cores, in log/claims, in ms: the median, and what one in a hundred exceeds.
claims() {
    sed -n 's/.*its cores were free after \([0-9.]*\) ms/\1/p' "$CLUSTER/log/slurmd.log" | sort -n |
        awk '{ ms[NR] = $1 } END { print NR " claims, median " ms[int((NR + 1) / 2)] " ms, p99 " ms[int(NR * .99 + .99)] " ms" }' >"$CLUSTER/log/claims"
}

log_level() {
    sed -i "s/^SlurmdDebug=.*/SlurmdDebug=$1/" "$CLUSTER/etc/slurm.conf"
    timeout 20 scontrol reconfigure
}

moves() {
    echo $(($(explained m1 .enforce.moves) + $(explained m2 .enforce.moves)))
}

t66_no_stranger_begins_beside_a_guest() {
    local n=${BERTH_STRANGERS:-20} before
    idle on
    two_of_a_kind
    soon "packages of both" "0 1 " packages_of m1 m2
    before=$(moves)
    log_level verbose
    load_on
    strangers "$n" >/dev/null
    wait_for $((60 + 10 * n)) have_said "$n" || fail "$(cat "$CLUSTER/out/strangers/"* | wc -l) of $n strangers have run"
    load_off
    claims
    log_level info
    same "what they said" "$(sort "$CLUSTER/out/strangers/"* | uniq -c | sed 's/^ *//')" "$n apart"
    [ $(($(moves) - before)) -ge $((n / 2)) ] || fail "the guest moved $(($(moves) - before)) times only, for $n strangers"
    rm -r "$CLUSTER/out/strangers"
    stop m1 m2
}

t66_slurmd_starts_anew() {
    idle on
    two_of_a_kind
    soon "packages of both" "0 1 " packages_of m1 m2
    daemon_stop slurmd
    daemon_start slurmd slurmd -D -N "$CLUSTER_NODE"
    wait_for 60 node_answers || fail "slurmd does not come back"
    same "packages of both" "$(packages_of m1 m2)" "0 1 "
    half s1
    alone s1 m1 m2
    stop s1 m1 m2
}

node_answers() {
    timeout 10 scontrol ping >/dev/null && timeout 20 srun -n1 true
}
