# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Jobs that did not opt in, one after the other, get the core on which a step stands that Slurm has given to nobody: none of them runs its first
# instruction beside it. The step stands there because its GPU does (t16-devices.sh). BERTH_STRANGERS=1000 has so many of them; else there are 10.
# Where something else is at work on that core, no step stands there (berth(7), idle cores): a skip, if /proc/stat says so, too.

# Five programs that never rest: the load. They are on CPU 0, and leave it to whoever else wants it, or CPU 1 would be at work.
load_on() {
    local i
    loads=()
    for i in 1 2 3 4 5; do
        nice -n 19 taskset -c 0 bash -c 'while :; do :; done' &
        loads+=($!)
    done
}

load_off() {
    [ ${#loads[@]} = 0 ] || kill "${loads[@]}"
    loads=()
}

# busy CPU: for how many hundredths of a second it has been at work.
busy() {
    awk -v cpu="cpu$1" '$1 == cpu { print $2 + $3 + $4 + $7 + $8 + $9 }' /proc/stat
}

# back N: the guest has its idle core again, after N strangers. berthd leaves a core alone for two minutes that was at work for half of a second
# twice: a guest that stays away while the core worked for less than a second in all that time is a fault.
back() {
    local was worked=0 seconds
    wait_for 30 becomes 1 kernel_has g && return
    was=$(busy 1)
    for ((seconds = 0; seconds < 150 && worked < 100; seconds++)); do
        becomes 1 kernel_has g && return
        sleep 1
        worked=$(($(busy 1) - was))
    done
    claims
    [ $worked -lt 100 ] || skip "something else uses CPU 1 of this machine, 1 s of $seconds, after $1 strangers: $(cat "$CLUSTER/log/claims")"
    fail "the guest has not come back after $1 strangers, though CPU 1 has nothing to do"
}

# strangers N: so many jobs of one core, each as soon as the guest is back, say who is beside them.
strangers() {
    local i
    for ((i = 0; i < $1; i++)); do
        back "$i"
        same "stranger $i" "$(timeout 60 srun -Q -n1 "$BUILD/tests/cluster/apart" "$CLUSTER/out/pids")" apart
    done
}

# What each stranger waited for its core, into log/claims: the median, and what one in a hundred exceeds.
claims() {
    sed -n 's/.*its cores were free after \([0-9.]*\) ms/\1/p' "$CLUSTER/log/slurmd.log" | sort -n |
        awk '{ ms[NR] = $1 } END { print NR " claims, median " ms[int((NR + 1) / 2)] " ms, p99 " ms[int(NR * .99 + .99)] " ms" }' >"$CLUSTER/log/claims"
}

log_level() {
    sed -i "s/^SlurmdDebug=.*/SlurmdDebug=$1/" "$CLUSTER/etc/slurm.conf"
    timeout 20 scontrol reconfigure
}

t21_no_stranger_begins_beside_a_guest() {
    local n=${BERTH_STRANGERS:-10}
    gpus 1 0 idle=on replace_limit=600
    launched g tag=turtle --gres=gpu:1
    same "the guest, as Slurm has it" "$(slurm_cpus_of g)" 0
    explained g '.enforce.tasks[].pid' >"$CLUSTER/out/pids"
    log_level verbose
    load_on
    trap load_off EXIT
    strangers "$n"
    load_off
    claims
    log_level info
    [ "$(explained g .enforce.moves)" -ge $((2 * n - 1)) ] || fail "the guest moved $(explained g .enforce.moves) times only, for $n strangers"
    cancelled g
}
