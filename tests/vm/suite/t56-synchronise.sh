# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# flex and locks=cohort on real memory nodes: a thread's domain is what the page says of the CPU that it runs on, and nothing is played.

# has_domains NAME CORES N: a step of that name with so many cores has N.
has_domains() {
    start "$1" "-c$2" --contention-aware=flex
    soon "the page of $1" "$3" explained "$1" .flex.domains
    stop "$1"
}

# fought_for CORES WANTED: what a mutex has that threads on so many cores fight for: WANTED, if that comes in twenty tries. The page may have its bits a
# turn after the step begins, and on a slow machine threads may not meet in one.
fought_for() {
    # shellcheck disable=SC2016 # the task's own shell
    timeout 200 srun -n1 "-c$1" --contention-aware=flex,locks=cohort env BERTH_RT_COHORT=64 bash -c \
        'sleep 2; for i in {1..20}; do said=$("$0" sum); [ "$said" != "$1" ] || break; done; echo "$said"' "$BUILD/tests/vm/locks" "$2" 2>&1 | grep -v "^srun: "
}

t56_threads_are_divided_by_the_nodes_that_they_run_on() {
    daemon_stop berthd
    berthd_conf window=200ms first_window=200ms allow=auto,tag,flex,locks
    berthd_start
    has_domains wide $((2 * CORES)) 2
    has_domains narrow "$CORES" 1
    same "on two nodes" "$(fought_for $((2 * CORES)) "sum cohort")" "sum cohort"
    same "on one" "$(fought_for "$CORES" "sum plain")" "sum plain"
    daemon_stop berthd
    berthd_conf
    berthd_start
}
