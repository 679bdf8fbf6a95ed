#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_pairs - `berthctl pairs`: what was measured of programs beside others, as a table, as JSON, there and back; and `plan --pairs`.
# BERTHCTL names the program.
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"
db=$dir/store/profiles.db
now=1700000000

pair() { # KEY BESIDE SLOWDOWN [AT]
    printf '{"version":1,"kind":"pair","key":"%s","machine":"Some CPU; LLC 1048576:16","beside":[%s],"cores":1,"slowdown":%s,"error":0.0625,"windows":12.0,"seconds":12.0,"runs":2,"measured_at":%s}\n' "$1" "$2" "$3" "${4:-$now}"
}
beside() { # KEY [CORES]
    printf '{"key":"%s","cores":%s}' "$1" "${2:-1}"
}
profile() { # KEY MISSES
    printf '{"version":1,"kind":"profile","key":"%s","source":"valgrind","measured_at":5,"llc_bytes":1048576,"llc_ways":16,"line_bytes":64,"hits":[0,0,0,0,0,0,0,0,0,0,9000,9000,0,0,0,0],"misses":%s,"accesses":%s,"instructions":100,"references":50}\n' "$1" "$2" "$(($2 + 18000))"
}
pairs() { "$berthctl" pairs --db "$db" "$@"; }
has() { grep -qE -e "$1" "$dir/out" || bad "pairs" "$1" "$(cat "$dir/out")"; }
lacks() { ! grep -qE -e "$1" "$dir/out" || bad "pairs" "nothing of $1" "$(cat "$dir/out")"; }

# No store yet, and an empty one
refuses '' 1 "$db: No such file" pairs --db "$db" --json
says '0 rows taken' pairs --db "$db" --import /dev/null
answers '' '[]' pairs --db "$db" --json
answers '' '' pairs --db "$db" --export
refuses '' 1 'solver: the profile store knows no such program' pairs --db "$db" solver

# What is taken in comes out again
{
    pair tag:a "$(beside tag:b)" 0.25
    pair exe:/opt/solver#0123456789 "$(beside tag:a 2),$(beside tag:b)" 0.5 $((now - 9))
} >"$dir/rows"
answers '' '2 rows taken, 0 kept as they were' pairs --db "$db" --import "$dir/rows"
answers '' '{"taken":0,"kept":2}' pairs --db "$db" --json --import "$dir/rows"
answers '' '{"taken":2,"kept":0}' pairs --store "$db" --json --replace --import "$dir/rows"
answers '' "$(cat "$dir/rows")" pairs --db "$db" --export
answers '' "$(tail -n 1 "$dir/rows")" pairs --db "$db" --export solver
answers '' "$(cat "$dir/rows")" profile export --db "$db"

# The table; nothing is predicted of programs that the store does not know alone
says 'PROGRAM beside OTHERS' pairs --db "$db"
has '^ +- +25\.0 +6\.2 +0\.94 +12  2023-11-1. ..:..  a beside b$'
has '^ +- +50\.0 .*  solver#012345 beside a x2, b$'
run '' pairs --db "$db" a
has 'a beside b$'
lacks solver
run '' pairs --db "$db" --json a
has '^\[\{"key":"tag:a","machine":"Some CPU; LLC 1048576:16","beside":\[\{"key":"tag:b","cores":1\}\],"cores":1,.*"predicted":null,"measured":0\.25,"confidence":0\.9375\}\]$'

# It is, where it knows them
{ profile tag:a 100; profile tag:b 20000; } >"$dir/profiles"
run '' profile import --db "$db" "$dir/profiles"
run '' pairs --db "$db" --json a
has '"predicted":[0-9.]+,"measured":0\.25'
run '' pairs --db "$db" --json solver
has '"predicted":null'

# What is wrong is named, with what would be right, and nothing of it is taken
{ pair tag:new "$(beside tag:b)" 1; pair tag:x "$(beside b)" 1; } >"$dir/wrong"
refuses '' 1 "$dir/wrong: line 2: beside[0].key: tag:NAME or exe:PATH#HASH expected" pairs --db "$db" --import "$dir/wrong"
refuses '' 1 'new: the profile store knows no such program' pairs --db "$db" new
refuses 'frob' 1 'stdin: line 1: not JSON' pairs --db "$db" --import -
refuses '' 1 'No such file' pairs --db "$db" --import "$dir/none"
refuses '' 2 '--import takes neither' pairs --db "$db" --import "$dir/rows" a
refuses '' 2 '--replace is for --import' pairs --db "$db" --replace
refuses '' 2 'no --json' pairs --db "$db" --export --json
refuses '' 2 'one PROGRAM at most' pairs --db "$db" a b

# plan: four programs on two caches. By the model two streams had better be together; measured, that is what hurts.
app() { # NAME MISSES MORE
    printf '{"name":"%s","ipc":1,"llc_apki":%s,"llc_mpki":%s%s}' "$1" 30 "$2" "$3"
}
work="{\"apps\":[$(app d1 20),$(app d2 20),$(app t1 0.1),$(app t2 0.1 ',"tag":"other"')],\"machine\":{\"llc_bytes\":1048576,\"llc_ways\":16,\"line_bytes\":64,\"dram_gbps\":10,\"clock_ghz\":2}}"
for d in d1 d2; do
    other=d2
    [ $d = d1 ] || other=d1
    pair tag:$d "$(beside tag:$other)" 3
    for t in exe:/opt/t1#00 tag:other; do
        pair tag:$d "$(beside $t)" 0.01
        pair $t "$(beside tag:$d)" 0.01
    done
    pair exe:/opt/t1#00 "$(beside tag:other)" 0.01
    pair tag:other "$(beside exe:/opt/t1#00)" 0.01
    pair tag:t2 "$(beside tag:$d)" 0 # not the one of that tag
    pair tag:stranger "$(beside tag:$d)" 3
done >"$dir/measured"
together() { # TEXT: who shares d1's cache
    "$berthctl" plan --topology 'package:1 l3:2 core:2 pu:1' --json "$@" <"$dir/work" >"$dir/out" 2>"$dir/err" ||
        bad "plan $*" "status 0" "$(cat "$dir/err")"
    sed 's/},/}\n/g' "$dir/out" | sed -n 's/.*"name":"\([a-z0-9]*\)","cpus":"[0-9]*","llc":\([0-9]*\).*/\2 \1/p' | sort >"$dir/llc"
    awk '{ on[$1] = on[$1] " " $2 } END { for (l in on) if (on[l] ~ / d1/) print on[l] }' "$dir/llc"
}
printf '%s' "$work" >"$dir/work"
[ "$(together)" = ' d1 d2' ] || bad plan "d1 beside d2" "$(cat "$dir/out")"
case $(together --pairs "$dir/measured") in *d2*) bad 'plan --pairs' "d1 and d2 apart" "$(cat "$dir/out")" ;; esac
has "14 measured pairs of $dir/measured"
echo '{"version":1,"kind":"pair","key":"tag:a"}' >>"$dir/measured"
refuses "$work" 1 'measured: line 19: cores: missing' plan --topology 'package:1 l3:2 core:2 pu:1' --pairs "$dir/measured"
refuses "$work" 1 'No such file' plan --topology 'package:1 l3:2 core:2 pu:1' --pairs "$dir/none"

exit $failed
