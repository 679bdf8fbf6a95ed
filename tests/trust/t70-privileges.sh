# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# berthd with no more than its unit file leaves to it, and what it says of that. Sourced by tests/cluster/run.

# confined_with DROP-IN.. -- KEY=VALUE..: berthd is started so.
confined_with() {
    command -v systemd-analyze >/dev/null || { echo "systemd is not installed"; exit 77; }
    CLUSTER_CONFINE=yes
    confinement_prepare "$BUILD" || { echo "no libseccomp"; exit 77; }
    CLUSTER_DROP_INS=()
    while [ "$1" != -- ]; do
        CLUSTER_DROP_INS+=("$TESTS/../etc/berthd.service.d/$1")
        shift
    done
    shift
    berthd_conf "$@"
    daemon_stop berthd
    berthd_start
}

# feature NAME FIELD: as the running berthd says.
feature() {
    ctl status --json | jq -r --arg name "$1" ".node.features[] | select(.name == \$name).$2"
}

unconfined_again() {
    CLUSTER_CONFINE='' CLUSTER_DROP_INS=()
    berthd_conf
    daemon_stop berthd
    berthd_start
}

t70_the_unit_leaves_what_the_defaults_need() {
    confined_with -- counters=perf,resctrl,software
    start a -c1 --contention-aware
    same "the step" "$(explained a .state)" placed
    same "placing" "$(feature placement state)" on
    same "taskstats" "$(feature taskstats state)" on
    same "system calls" "$(feature seccomp state)" on
    same "what is missing" "$(ctl status --json | jq -c '[.node.features[] | select(.state == "not allowed").name]')" "[]"
    stop a
    unconfined_again
}

t70_what_a_unit_takes_away_is_said_by_name() {
    confined_with -- lock_time=on
    same "lock_time" "$(feature lock_time state)" "not allowed"
    feature lock_time 'missing | join(" ")' | grep -q CAP_BPF || fail "$(ctl status --json | jq -c .node.features)"
    berthd_says 'CAP_BPF is missing' || fail "the log says nothing of CAP_BPF"
    ctl doctor >"$CLUSTER/out/doctor" || true
    grep -q '^berthd: lock_time  *warn .*CAP_BPF' "$CLUSTER/out/doctor" || fail "doctor: $(cat "$CLUSTER/out/doctor")"
    # every other feature is as it would be, and steps are placed
    start a -c1 --contention-aware
    same "the step" "$(explained a .state)" placed
    stop a
    unconfined_again
}

t70_a_drop_in_gives_it_back() {
    [ -d /sys/kernel/tracing/events ] || { echo "tracefs is not mounted"; exit 77; }
    confined_with 20-lock-time.conf -- lock_time=on
    same "lock_time" "$(feature lock_time state)" on
    unconfined_again
}

t70_metrics_on_a_port_have_a_drop_in() {
    local port
    port=$(free_ports 1)
    confined_with -- "metrics=127.0.0.1:$port"
    same "without it" "$(feature metrics state)" absent
    feature metrics say | grep -q AF_INET || fail "$(feature metrics say)"
    confined_with 40-metrics.conf -- "metrics=127.0.0.1:$port"
    same "with it" "$(feature metrics state)" on
    curl -sS --max-time 20 "http://127.0.0.1:$port/metrics" | grep -q '^berth_steps' || fail "nothing is served"
    unconfined_again
}

t70_berthd_drops_what_it_does_not_need() {
    local pid held
    unconfined_again
    pid=$(daemon_pid berthd)
    held=$(sed -n 's/^CapEff:\t//p' "/proc/$pid/status")
    # of all that root has: DAC_OVERRIDE 1, NET_ADMIN 12, SYS_PTRACE 19, SYS_NICE 23, PERFMON 38
    (((16#$held & ~(1 << 1 | 1 << 12 | 1 << 19 | 1 << 23 | 1 << 38)) == 0)) || fail "CapEff $held"
    same "no new privileges" "$(sed -n 's/^NoNewPrivs:\t//p' "/proc/$pid/status")" 1
    same "bounding set" "$(sed -n 's/^CapBnd:\t//p' "/proc/$pid/status")" "$held"
}
