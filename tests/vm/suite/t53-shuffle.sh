# shellcheck shell=bash disable=SC2046,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Thread Shuffling: two teams of threads with a lock each stand in a package each, by the lock time that eBPF counts for each thread.

# with_locks [KEY=VALUE..]: berthd counts lock time.
with_locks() {
    [ "$PACKAGES" = 2 ] || skip "for two packages"
    daemon_stop berthd
    berthd_conf startup=500ms first_window=1s window=1s allow=auto,tag,shuffle lock_time=on "$@"
    berthd_start
}

without_locks() {
    daemon_stop berthd
    berthd_conf
    berthd_start
}

# The CPUs of the threads of a name in the program of a step, each list once: cpus_of_team NAME THREADS
cpus_of_team() {
    local pid task
    pid=$(awk '{ print $4 }' "/proc/$(cat "$CLUSTER/out/$1.0.pid")/stat") # the program is the parent of what stands
    for task in "/proc/$pid/task"/*; do
        [ "$(cat "$task/comm" 2>/dev/null)" != "$2" ] || sed -n 's/^Cpus_allowed_list:\t//p' "$task/status"
    done | sort -u | tr '\n' ' '
}

has_rounds() {
    [ "$(explained "$1" .shuffle.round)" -ge "$2" ]
}

# Two teams on all cores of two packages.
teams() {
    start "$1" -c$((2 * CORES)) --contention-aware=shuffle "$BUILD/tests/cluster/teams" -b -s -c "$CORES" "$CLUSTER/out/$1.locks"
    same "refused" "$(explained "$1" .shuffle.refused)" null
}

all_cpus() {
    echo "0-$((2 * CORES - 1)) "
}

# The CPUs of both teams, the lower package first: "0-3 4-7 " where each stands in one.
of_teams() {
    printf '%s\n' $(cpus_of_team "$1" first) $(cpus_of_team "$1" second) | sort -n | tr '\n' ' '
}

a_package_each() {
    echo "0-$((CORES - 1)) $CORES-$((2 * CORES - 1)) "
}

all_over() {
    echo "$(all_cpus)$(all_cpus)"
}

# How often a lock has gone to another thread until now, and how often of these to one in another package: "700 350"
locks_of() {
    cat "$CLUSTER/out/$1.locks"
}

# Has a lock gone to another thread so many times more than BEFORE says? has_locked NAME BEFORE TIMES
has_locked() {
    [ "$(locks_of "$1" | cut -d' ' -f1)" -ge $((${2% *} + $3)) ]
}

t53_each_team_stands_in_a_package() {
    local bound began before after
    with_locks
    teams a
    bound=$(cpus_of_team a bound)
    same "those that the program has bound" "$bound" "0 $((2 * CORES - 1)) "
    began=$(locks_of a)
    wait_for 30 has_rounds a 2 || fail "rounds: $(explained a .shuffle)"
    same "the teams after two rounds" "$(of_teams a)" "$(a_package_each)"
    before=$(locks_of a)
    wait_for 60 has_locked a "$before" 300 || fail "locks: $before, then $(locks_of a)"
    after=$(locks_of a)
    same "locks that have gone to another package since" "$((${after#* } - ${before#* }))" 0
    echo "locks: $((${before% *} - ${began% *})) before, $((${before#* } - ${began#* })) of them to another package; $((${after% *} - ${before% *})) then, none of them"
    same "those that the program has bound, then" "$(cpus_of_team a bound)" "$bound"
    echo "first: $(cpus_of_team a first)$(explained a .shuffle)"
    ctl release "$(id_of a)" >/dev/null
    soon "released" "$(all_over)" of_teams a
    stop a
    without_locks
}

t53_what_a_killed_berthd_has_bound_is_unbound() {
    with_locks
    teams b
    wait_for 30 has_rounds b 2 || fail "rounds: $(explained b .shuffle)"
    daemon_stop berthd KILL
    same "nobody is there" "$(of_teams b)" "$(a_package_each)"
    berthd_conf allow=auto,tag
    berthd_start
    soon "by the next one" "$(all_over)" of_teams b
    stop b
    without_locks
}
