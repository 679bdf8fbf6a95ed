# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The metrics of a node with real steps, as they are scraped.

scraped() {
    curl -sS --max-time 20 --unix-socket "$CLUSTER/run/metrics.sock" "$@" http://berth/metrics
}

# has_line PATTERN: the page has such a line now.
has_line() {
    scraped | grep -q -- "$1"
}

measured() {
    command -v curl >/dev/null || { echo "curl is not installed"; exit 77; }
    berthd_conf "metrics=unix:$CLUSTER/run/metrics.sock" "metrics_textfile=$CLUSTER/run/berth.prom" metrics_interval=1s "$@"
    daemon_stop berthd
    berthd_start
}

t90_a_step_and_its_end_are_scraped() {
    local job step
    measured energy= energy_model=idle=10W,core=5W
    busy a -c1 --contention-aware=tag=loop
    job=$(scraped | sed -n 's/^berth_step_info{jobid="\([0-9]*\)".*/\1/p')
    [ -n "$job" ] || fail "no step in $(scraped)"
    step="jobid=\"$job\",step=\"0\""
    wait_for 20 has_line "^berth_steps{state=\"placed\"} 1$" || fail "$(scraped)"
    wait_for 20 has_line "^berth_step_cpu_seconds_total{$step} [0-9]" || fail "no CPU time: $(scraped)"
    wait_for 20 has_line "^berth_step_energy_joules_total{$step} [0-9]*\.[0-9]*[1-9]" || fail "no energy: $(scraped)"
    same "its end" "$(scraped -H 'Accept: application/openmetrics-text; version=1.0.0' | tail -1)" "# EOF"
    same "the socket" "$(stat -c %a:%u "$CLUSTER/run/metrics.sock")" 660:0
    wait_for 20 grep -q "^berth_step_info{jobid=\"$job\"" "$CLUSTER/run/berth.prom" || fail "the text file"
    if command -v promtool >/dev/null; then
        scraped | promtool check metrics || fail "promtool"
    fi
    stop a
    wait_for 20 has_line '^berth_steps{state="placed"} 0$' || fail "$(scraped)"
    has_line "^berth_step_energy_joules_total{$step} " || fail "its last figures: $(scraped)"
    # steps + idle + unmanaged = metered, in millionths, for each zone
    scraped | awk -F'[ {}]' '
        function micro(text) { sub(/\./, "", text); return text + 0 }
        /^berth_energy_metered_joules_total/ { metered[$2] = micro($4) }
        /^berth_energy_joules_total/ { zone = $2; sub(/,to=.*/, "", zone); sum[zone] += micro($4) }
        END { for (zone in metered) { n++; if (sum[zone] != metered[zone]) exit 1 } exit !n }' || fail "not conserved: $(scraped)"
}

t90_the_socket_and_the_file_go_with_berthd() {
    measured
    wait_for 20 [ -s "$CLUSTER/run/berth.prom" ] || fail "no text file"
    scraped >/dev/null
    berthd_conf
    daemon_stop berthd
    [ ! -e "$CLUSTER/run/berth.prom" ] || fail "the text file is left"
    [ ! -e "$CLUSTER/run/metrics.sock" ] || fail "the socket is left"
    berthd_start
}
