# shellcheck shell=bash disable=SC2154 # head_build, tree, build, scratch: tests/bench/compare
# SPDX-License-Identifier: GPL-2.0-or-later
# compare_figures - what tests/bench/compare measures; sourced by it.
#
# A row of `figures` is KEY|LABEL|UNIT|less or more is better|exact or chance|GROUP. A group is what gives several figures at once: its
# rounds, how its sides take turns (turns, together: both at the same time, for what does not depend on that; own: it has rounds of
# its own), and its function, measure_GROUP SIDE ROUND, which prints lines "KEY VALUE" of the tree `tree` that is built in `build`.

figures='
filling|registration, 16 fill an empty node|ms|less|chance|filling
cpu.filling|registration, CPU, 16 fill|ms|less|chance|filling
register.200|registration, 200 steps live|ms|less|chance|register
register.500|registration, 500 steps live|ms|less|chance|register
end.200|end, 200 steps live|ms|less|chance|register
end.500|end, 500 steps live|ms|less|chance|register
cpu.200|registration and end, CPU, 200 live|ms|less|chance|register
cpu.500|registration and end, CPU, 500 live|ms|less|chance|register
rss.0|RSS, no steps|KiB|less|chance|register
rss.500|RSS, 500 steps live|KiB|less|chance|register
rss.after|RSS, after 10,000 steps|KiB|less|exact|memory
deciding|deciding round, 200 steps, CPU|ms|less|chance|deciding
rates|round of new rates, 200 steps, CPU|ms|less|chance|deciding
steady|a steady second, 200 steps, CPU|ms|less|chance|steady
silence|lost by a program of 1,000 nodes, 5 ms|%|less|chance|silence
silence.together|lost by it, all nodes together|%|less|chance|silence
silence.wakes|wakes a second, a step of 64 has the node|-|less|chance|silence
silence.worst|worst burst of these|ms|less|chance|silence
start|start of berthd|ms|less|chance|start
launch|launch of a plain step, real Slurm|ms|less|chance|launch
step_cpu|CPU of berthd a step, real Slurm|ms|less|chance|launch
report100k|report of 100,000 records, CPU|ms|less|chance|report100k
report100k.kib|its memory|KiB|less|chance|report100k
totals100k|totals of 100,000 records, CPU|ms|less|chance|report100k
totals100k.kib|its memory|KiB|less|chance|report100k
report1m|report of 1,000,000 records, CPU|ms|less|chance|report1m
report1m.kib|its memory|KiB|less|chance|report1m
totals1m|totals of 1,000,000 records, CPU|ms|less|chance|report1m
totals1m.kib|its memory|KiB|less|chance|report1m
nucore8|model nucore, 8x128, CPU|ms|less|chance|nucore
nucore100|model nucore, 100x128, CPU|ms|less|chance|nucore
avoided|a day of 300 jobs, share avoided|%|more|chance|day
moves|a day of 300 jobs, moves a job|-|less|chance|day
lines|lines of C, without tests|-|less|exact|lines
root_lines|lines of C linked into what runs as root|-|less|exact|lines
'

groups='
lines|1|turns
filling|20|turns
register|12|turns
deciding|10|turns
start|9|turns
steady|8|together
silence|7|together
launch|8|own
nucore|7|turns
report100k|7|turns
report1m|7|turns
day|7|together
memory|1|together
'

measure_filling() { "$head_build/tests/bench/drive" filling "$build" 16; }
measure_register() { "$head_build/tests/bench/drive" register "$build" 100; }
measure_deciding() { "$head_build/tests/bench/drive" deciding "$build" 40; }
measure_start() { "$head_build/tests/bench/drive" start "$build" 12; }
measure_memory() { "$head_build/tests/bench/drive" memory "$build" 10000; }

measure_steady() {
    "$head_build/tests/bench/steady" 200 5 replay "$build" | sed -nE 's/.*: ([0-9.]+) ms of CPU time a second.*/steady \1/p'
}

# Of no burst at all the worst takes no time.
measure_silence() {
    local row='"iteration_ms":5\.0,"nodes":1000,"together"' seen=$scratch/silence.$1
    "$head_build/tests/bench/silence" --build "$build" --only step.64x1 --seconds 7 --settle 4 --detours 0 --json >"$seen" || return 1
    sed -nE "s/.*$row:false,\"longer\":([0-9.]+).*/silence \1/p" "$seen" | awk '{ print $1, 100 * ($2 - 1) }'
    sed -nE "s/.*$row:true,\"longer\":([0-9.]+).*/silence.together \1/p" "$seen" | awk '{ print $1, 100 * ($2 - 1) }'
    sed -nE 's/.*"all":\{[^}]*"wakes_a_second":([0-9.e-]+).*/silence.wakes \1/p' "$seen"
    sed -nE 's/.*"all":\{[^}]*"worst_ms":([0-9.e-]+|null).*/silence.worst \1/p' "$seen" | sed 's/null$/0/'
}

# ---- through Slurm ----

# Of both sides and all rounds: lines "SIDE ROUND KEY VALUE".
measure_launch() {
    [ "$(id -u)" = 0 ] || { echo "only as root" >&2; return 1; }
    tests/bench/compare_launch "$rev_build" "$head_build" "$1" 30
}

# ---- the ledger ----

# ledger N: sets `ledger`, one that is made once for each schema.
ledger() {
    local key fill=$build/tests/unit/common/ledger_fill
    [ -x "$fill" ] || { echo "no tests/unit/common/ledger_fill" >&2; return 1; }
    key=$(cat "$tree"/packer/ledger/*.[ch] tests/bench/records.sh | git hash-object --stdin)
    ledger=$PWD/build/compare/ledger-${key:0:12}-$1.db
    [ ! -e "$ledger" ] || return 0
    rm -f "$ledger".new*
    records "$1" | "$fill" "sqlite:$ledger.new" && mv "$ledger.new" "$ledger"
}

# report_of NAME [OPTION..]: all users, all time.
report_of() {
    local name=$1
    shift
    "$head_build/tests/bench/drive" run "$name" "$build/berthctl" report -a -S 2026-10-01 -E 2026-11-15 --ledger "sqlite:$ledger" "$@"
}

measure_report100k() { ledger 100000 && report_of report100k && report_of totals100k --by user; }
measure_report1m() { ledger 1000000 && report_of report1m && report_of totals1m --by user; }

# ---- models ----

measure_nucore() {
    local seed shape
    for seed in 1 2 3 4 5; do
        for shape in "8x128 dense" "100x128 partial"; do
            "$head_build/tests/bench/nucore" -p -n 1 -s "$seed" -t 10 -m "$shape" >"$scratch/nucore" || return 1
            "$head_build/tests/bench/drive" run "nucore${shape%%x*}" "$build/berthctl" model nucore "$scratch/nucore" || return 1
        done
    done
}

# ---- days ----

measure_day() {
    day_eight >"$scratch/truth.$1.json"
    TMPDIR=$memory "$head_build/tests/bench/day" --build "$build" --sdp off --jobs 300 --days 1 --seed $(($2 + 1)) --json \
        "$scratch/truth.$1.json" >"$scratch/day.$1" || return 1
    tr '{' '\n' <"$scratch/day.$1" | awk -F '[:,]' '/"avoided"/ && !/"berthd_cpu_s":null/ {
        for (i = 1; i < NF; i++) {
            if ($i == "\"avoided\"") printf "avoided %f\n", 100 * $(i + 1)
            if ($i == "\"moves_a_job\"") printf "moves %f\n", $(i + 1)
        }
    }'
}

# ---- lines ----

# The files that a program is made of, as its debugging information says.
sources_of() {
    readelf --debug-dump=info --dwarf-depth=1 "$1" 2>/dev/null | grep -A 4 'DW_TAG_compile_unit' |
        sed -nE 's/.*DW_AT_name *: *(\(indirect[^)]*\): )?//p' | sed -E 's|^(\.\./)+||' | sort -u
}

measure_lines() {
    local name
    (cd "$tree" && git ls-files -- '*.c' '*.h' ':!tests' | while read -r name; do [ ! -e "$name" ] || cat "$name"; done) | wc -l | sed 's/^/lines /'
    command -v readelf >/dev/null || { echo "no readelf" >&2; return 1; }
    for name in berthd .libs/spank_berth.so berth-job; do
        [ ! -e "$build/$name" ] || sources_of "$build/$name"
    done | sort -u | while read -r name; do [ ! -e "$tree/$name" ] || cat "$tree/$name"; done | wc -l | sed 's/^/root_lines /'
}
