# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a user's processes can do to the core that berth put them on. Sourced by tests/cluster/run.

BREED=$CLUSTER/bin/breed # where every user can run it
cp "$BUILD/tests/trust/breed" "$BREED"

# swapped MODE [ARGUMENTS..]: the attacker's step, with what breed makes, stands on the core of the victim's job.
swapped() {
    knows turtle 10
    knows devil 20000
    (cd / && exec timeout $((90 * CLUSTER_PATIENCE)) runuser -u "$ATTACKER" -- srun -Q -n1 --contention-aware=tag=turtle \
        "$BREED" "$@" "$STAND" a) >"$CLUSTER/out/a.srun" 2>&1 &
    echo $! >"$CLUSTER/out/a.client"
    wait_for 20 started_or_over a || true
    [ -s "$CLUSTER/out/a.id" ] || fail "step a did not start: $(cat "$CLUSTER/out/a.srun")"
    start_as "$VICTIM" b --contention-aware=tag=devil
    soon "the attacker's step" 1 cpus_of a
    soon "the victim's step" 0 cpus_of b
}

# processes [NAMES]: those of the attacker's step, by their names; his srun is none of them, and other clusters may have steps of his.
processes() {
    pgrep -xu "$ATTACKER" "${1:-breed|stand|slurmstepd}" | sed 's|.*|/proc/&/cgroup|' | xargs -r grep -ls "$CLUSTER_NODE[_/]" | tr -cd '0-9\n'
}

# at_least N: there are so many.
at_least() {
    [ "$(processes | wc -l)" -ge "$1" ]
}

# elsewhere CPU: how many of them may run anywhere but there, those that have ended left out.
elsewhere() {
    processes | sed 's|.*|/proc/&/status|' | xargs -r cat 2>/dev/null |
        awk -v cpu="$1" '$1 == "State:" { over = $2 ~ /[ZX]/ } $1 == "Cpus_allowed_list:" && $2 != cpu && !over { n++ } END { print n + 0 }'
}

t30_a_deep_tree_is_off_a_core_that_slurm_takes_back() {
    swapped tree 611 110
    wait_for 20 at_least 611 || fail "only $(processes | wc -l) processes"
    soon "processes beside the core" 0 elsewhere 1
    soon "verified" true explained a .enforce.verified
    stop b
    same "processes that stay on the victim's core" "$(elsewhere 0)" 0
    soon "verified" true explained a .enforce.verified
    stop a
}

t30_thousands_of_processes_are_off_a_core_that_slurm_takes_back() {
    swapped tree 2001 0
    wait_for 20 at_least 2001 || fail "only $(processes | wc -l) processes"
    soon "processes beside the core" 0 elsewhere 1
    stop b
    same "processes that stay on the victim's core" "$(elsewhere 0)" 0
    soon "verified" true explained a .enforce.verified
    stop a
}

# forking N: so many are there, as the kernel has it: who looks for them in /proc misses those that live for 300 us.
forking() {
    [ "$(wc -l <"$(folder_of a)/cgroup.procs")" -ge "$1" ]
}

t30_who_forks_all_the_time_is_off_a_core_that_slurm_takes_back() {
    swapped chains 24 300 "$CLUSTER/out/fork"
    touch "$CLUSTER/out/fork"
    wait_for 20 forking 24 || fail "nobody forks: $(wc -l <"$(folder_of a)/cgroup.procs") processes"
    stop b
    same "processes that stay on the victim's core" "$(elsewhere 0)" 0
    stop a
}

t30_a_name_keeps_nobody_on_his_core() {
    swapped orphan slurmstepd
    same "orphans" "$(processes slurmstepd | wc -l)" 1
    same "processes beside the core" "$(elsewhere 1)" 0
    stop b
    same "processes that stay on the victim's core" "$(elsewhere 0)" 0
    stop a
}
