#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_ctl_profile_store - `berthctl profile list|show|export|import|forget|demand`: what the profile store holds, by any name.
# BERTHCTL names the program.
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"
db=$dir/store/profiles.db
now=$(date +%s)

profile() { # KEY AT MISSES
    printf '{"version":1,"kind":"profile","key":"%s","shape":"-n #","machine":"Some CPU; LLC 1000:2","source":"valgrind","command":"./solver -n 7","measured_at":%s,"llc_bytes":1000,"llc_ways":2,"line_bytes":64,"hits":[5,1],"misses":%s,"misses_error":2.5,"accesses":9,"instructions":100,"references":50,"instructions_per_s":1e9}\n' "$1" "$2" "$3"
}

sample() { # KEY AT CO_RUN RATES
    printf '{"version":1,"kind":"sample","key":"%s","shape":"()","geometry":"4x2","machine":"Some CPU; LLC 1000:2","co_run":%s,"source":"perf","command":"/opt/solver","measured_at":%s,"llc_bytes":1000,"line_bytes":64,"runs":3,"windows":12,"seconds":60,"instructions":1e12,"rates":{%s}}\n' "$1" "$3" "$2" "$4"
}

demand() { # KEY
    printf '{"version":1,"kind":"demand","key":"%s","demand":{"curve_gbps":[0,1.5]}}\n' "$1"
}

store() { # VERB ARGUMENT...: on the test's store
    verb=$1
    shift
    "$berthctl" profile "$verb" --db "$db" "$@"
}

has() { # TEXT: in $dir/out
    grep -qF -e "$1" "$dir/out" || bad "profile" "$1" "$(cat "$dir/out")"
}

# An empty store, and one that is not there
for verb in list export 'show solver'; do
    # shellcheck disable=SC2086 # words
    refuses '' 1 "$db: No such file" profile $verb --db "$db"
done
[ ! -e "$db" ] || bad "profile list" "no store made" "$db"
says '0 rows taken' profile import --db "$db"
says 'misses/Minst' profile list --db "$db"
says 'nothing is stored' profile list --db "$db"
answers '' '[]' profile list --db "$db" --json
answers '' '' profile export --db "$db"
refuses '' 1 'solver: no such key' profile show --db "$db" solver

# No store, and no berthd to ask: that is not "nothing is stored" (a site's own store may be there)
site=$("$berthctl" profile list --socket "$dir/none" 2>&1)
case $site in
*'berthd cannot be asked'*)
    for verb in 'profile list' 'profile list --json' 'profile export' 'profile show solver' pairs; do
        # shellcheck disable=SC2086 # words
        refuses '' 1 "berthd cannot be asked: no answer at $dir/none" $verb --socket "$dir/none"
    done
    ;;
*'nothing is stored'*) bad 'profile list --socket none' 'that berthd cannot be asked' "$site" ;;
esac

# Import, from stdin and from a file
{
    profile tag:solver $((now - 280)) 2500.5
    sample exe:/opt/solver#11 $((now - 5 * 86400)) false '"misses":[1500,30.25],"cpus":[7.5,null]'
    echo
    sample exe:/opt/solver#11 $((now - 4 * 3600)) true '"misses":[1700,null]'
    sample tag:probed $((now + 3600)) false '"intensity":[0.25,0.125]'
    demand tag:asked
} >"$dir/rows"
run "$(cat "$dir/rows")" profile import --db "$db"
[ "$status" -eq 0 ] || bad "profile import" "status 0" "$(cat "$dir/err")"
has '5 rows taken, 0 kept as they were'
answers '' '{"taken":0,"kept":5}' profile import --db "$db" --json "$dir/rows"
answers '' '{"taken":5,"kept":0}' profile import --db "$db" --json --replace "$dir/rows"

# What is wrong is named, and nothing of it is taken
{
    profile tag:other "$now" 1
    profile tag:another "$now" -1
} >"$dir/wrong"
refuses '' 1 "$dir/wrong: line 2: misses: -1: between 0 and 2000000 expected" profile import --db "$db" "$dir/wrong"
refuses 'frob' 1 'stdin: line 1: not JSON' profile import --db "$db"
refuses '' 1 'No such file' profile import --db "$db" "$dir/none"
refuses '' 1 'no such key' profile show --db "$db" tag:other

# A line for each row
run '' profile list --db "$db"
for line in '      2500.5       2.5  devil   valgrind           5 min     1  tag:solver, -n #, Some CPU; LLC 1000:2' \
    '      1500.0      30.2  turtle  perf, solo           5 d     3  exe:/opt/solver#11, (), 4x2, Some CPU; LLC 1000:2' \
    '      1700.0         -  turtle  perf, co-run         4 h     3  exe:/opt/solver#11' \
    '           -         -  -       perf, solo         0 min     3  tag:probed'; do
    has "$line"
done
run '' profile list --db "$db" --json
has '{"key":"tag:solver","command":"./solver -n 7","shape":"-n #","geometry":null,"class":"devil","sdp":{"hits":[5.0,1.0],"misses":2500.5}'
has '"class":"turtle","llc_apki":null,"llc_mpki":1.5,"llc_apki_error":null,"llc_mpki_error":0.030249999999999999,"rates":{"misses":[1500.0,30.25],"cpus":[7.5,null]},"co_run":false,"runs":3'
has '"class":null,"llc_apki":null,"llc_mpki":null'

# One key, by its tag, its program, or its beginning
for key in tag:solver tag:s; do
    says 'miss rate     2500.5 +- 2.5 per million' profile show --db "$db" $key
done
for key in exe:/opt/solver#11 /opt/solver /op; do
    says 'by perf, beside other steps: 3 runs, 12 windows in 60 s' profile show --db "$db" $key
done
says 'misses              1500 +- 30.2 per million instructions' profile show --db "$db" /opt/solver
says 'intensity           0.25 +- 0.125 by which a probe' profile show --db "$db" probed
says 'demand        {' profile show --db "$db" asked
says '"key":"tag:asked","profiles":[],"samples":[],"demand":{"curve_gbps":[0.0,1.5]' profile show --db "$db" --json asked
says '"demand":null}' profile show --db "$db" --json solver
refuses '' 1 'tag:: 3 keys fit: tag:asked, tag:probed, tag:solver' profile show --db "$db" tag:
refuses '' 1 'no such key' profile show --db "$db" olver

# Runs that bound their threads, and runs without that have lifted that
binding() { # KEY RUNS CLEAN
    printf '{"version":1,"kind":"binding","key":"%s","runs":%s,"clean":%s,"measured_at":1000000000}\n' "$1" "$2" "$3"
}
{ binding tag:binds 2 1; binding tag:once 1 3; } | store import >"$dir/out" || bad "import" "status 0" "$?"
says 'binds         its threads, in 2 runs, last on 2001-09-09; 1 run since then without: left where Slurm puts it' profile show --db "$db" binds
says 'binds         its threads, in 1 run, last on 2001-09-09; 3 runs since then without: trusted again' profile show --db "$db" once
says '"bindings":[{"runs":2,"clean":1,"counts":true,"measured_at":1000000000,"uid":0}]}' profile show --db "$db" --json binds
run '' profile list --db "$db"
for line in 'demand, ' 'tag:asked' '           -         -  -       binds ' '     2  tag:binds' 'binds, trusted '; do
    has "$line"
done
run '' profile list --db "$db" --json
has '"uid":0,"key":"tag:binds","kind":"binding"}'
has '"key":"tag:asked","kind":"demand"}'
store forget --samples binds once || bad "profile forget binds once" "status 0" "$?"
refuses '' 1 'no such key' profile show --db "$db" binds

# A number of threads alone is a row, too
printf '{"version":1,"kind":"threads","key":"tag:many","shape":"","machine":"Some CPU; LLC 1000:2","cores":8,"threads":6,"environment":true,"measured_at":1000000000}\n' | store import >"$dir/out" ||
    bad "import" "status 0" "$?"
says 'threads, 6 on 8 ' profile list --db "$db"
says '"cores":8,"threads":6,"environment":true,"measured_at":1000000000,"key":"tag:many","kind":"threads"}' profile list --db "$db" --json
store forget many || bad "profile forget many" "status 0" "$?"

# A path that leads to the program by a link
touch "$dir/program"
ln -s program "$dir/link"
sample "exe:$(realpath "$dir/program")#00" "$now" false '"misses":[1,1]' | store import >"$dir/out" || bad "import" "status 0" "$?"
says "$dir/program#00" profile show --db "$db" "$dir/link"

# Rows under the path of what starts others are told of once, and stay until somebody forgets them
if grep -q 'of a program that starts others' "$dir/out"; then bad "profile list" "nothing of unused rows" "$(cat "$dir/out")"; fi
{
    profile exe:/usr/bin/numactl#00 "$now" 1
    sample exe:/var/spool/slurmd/job00038/slurm_script#00 "$now" false '"misses":[1,1]'
    sample "exe:/usr/bin/python3 /home/a/fit.py#00" "$now" false '"misses":[1,1]'
} | store import >"$dir/out" || bad "import" "status 0" "$?"
store list >"$dir/out"
has '2 of these rows are of a program that starts others'
store forget numactl || bad "profile forget numactl" "status 0" "$?"
store list >"$dir/out"
has '1 of these rows is of a program that starts others'
store forget slurm_script || bad "profile forget slurm_script" "status 0" "$?"
says 'fit.py#00' profile show --db "$db" /home/a/fit.py
store forget fit.py || bad "profile forget fit.py" "status 0" "$?"
store list >"$dir/out"
if grep -q 'of a program that starts others' "$dir/out"; then bad "profile list" "nothing of unused rows" "$(cat "$dir/out")"; fi

# Control characters that a user has in his names do not reach the terminal
sample 'exe:/opt/\u001b[2Jx#00' "$now" false '"misses":[1,1]' | store import >"$dir/out"
store list >"$dir/out"
has 'exe:/opt/?[2Jx#00'
store show "$(printf '/opt/\033[2Jx')" >"$dir/out"
has 'exe:/opt/?[2Jx#00'
store forget "$(printf '/opt/\033')" || bad "profile forget" "status 0" "$?"

# Export, and back into another store: the same text
store export >"$dir/export" || bad "profile export" "status 0" "$?"
"$berthctl" profile import --db "$dir/other.db" "$dir/export" >"$dir/out" 2>&1 || bad "import" "status 0" "$(cat "$dir/out")"
"$berthctl" profile export --db "$dir/other.db" --output "$dir/again" || bad "export --output" "status 0" "$?"
cmp "$dir/export" "$dir/again" || bad "export, import, export" "the same text" "$(diff "$dir/export" "$dir/again")"
store export /opt/solver asked >"$dir/out"
[ "$(wc -l <"$dir/out")" -eq 3 ] || bad "export KEY KEY" "3 rows" "$(cat "$dir/out")"
refuses '' 1 'no such key' profile export --db "$db" asked none
refuses '' 1 '/dev/full: No space left' profile export --db "$db" --output /dev/full asked
[ -c /dev/full ] || bad "export --output /dev/full" "a device still" "$(ls -l /dev/full)"
refuses '' 1 'No such file' profile export --db "$db" --output "$dir/no/such" asked
"$berthctl" profile list --db "$db" >/dev/full 2>"$dir/err" && bad "list >/dev/full" "status 1" 0
grep -q 'stdout: No space left' "$dir/err" || bad "list >/dev/full" "No space left" "$(cat "$dir/err")"

# A sample with every rate that the store can keep, as berthd counts them, in every form in which it is printed
names=$(sed -n '/profile_rate_name.* = {/,/;/p' "${srcdir:-.}/packer/profiles/sample.c" | grep -o '"[a-z_]*"' | tr -d '"')
[ "$(echo "$names" | wc -l)" -ge 16 ] || bad "the rates of profiles/sample.c" "16 or more" "$names"
# shellcheck disable=SC2086 # words
rates=$(printf '"%s":[3.5,0.5],' $names)
sample tag:all "$now" false "${rates%,}" >"$dir/all"
"$berthctl" profile import --db "$dir/all.db" "$dir/all" >"$dir/out" || bad "import" "status 0" "$?"
run '' profile show --db "$dir/all.db" all
[ "$status" -eq 0 ] || bad "profile show of every rate" "status 0" "$status"
for name in $names; do
    grep -q "^  $name  *3\.5 +- 0\.5" "$dir/out" || bad "profile show of every rate" "$name" "$(cat "$dir/out")"
done
has 'cpus                3.5 +- 0.5 in use'
has 'system              3.5 +- 0.5 of the CPUs in use, in the kernel'
has 'threads             3.5 +- 0.5'
sample tag:unseen "$now" false '"cpus":[0.123456,0],"run_delay":[0.654321,0.0123456]' | "$berthctl" profile import --db "$dir/all.db" >"$dir/out" || bad "import" "status 0" "$?"
run '' profile show --db "$dir/all.db" unseen
has 'cpus                0.1235 in use'
has 'run_delay           0.6543 +- 0.0123 s waiting for a CPU, per second'
has 'class         not known: no cache misses were counted; berthctl profile -- COMMAND measures them'
for verb in 'show all --json' 'list --json' export; do
    # shellcheck disable=SC2086 # words
    run '' profile $verb --db "$dir/all.db"
    [ "$status" -eq 0 ] || bad "profile $verb of every rate" "status 0" "$status"
    grep -o '"[a-z_]*":\[3\.5,0\.5\]' "$dir/out" | cut -d '"' -f 2 >"$dir/names"
    echo "$names" | cmp -s - "$dir/names" || bad "profile $verb of every rate" "$names" "$(cat "$dir/out")"
done
run '' profile list --db "$dir/all.db"
[ "$status" -eq 0 ] || bad "profile list of every rate" "status 0" "$status"
has '         3.5       0.5  turtle  perf, solo'

# Forget: samples, keys, what is old, all; none of several when one is wrong
refuses '' 1 'no such key' profile forget --db "$db" asked none
says '"curve_gbps"' profile export --db "$db" asked
answers '' '{"forgotten":1}' profile forget --db "$db" --json --older 3
answers '' '{"forgotten":1}' profile forget --db "$db" --json --samples /opt/solver
refuses '' 1 'no such key' profile show --db "$db" /opt/solver
answers '' '{"forgotten":0}' profile forget --db "$db" --json --samples solver
answers '' '{"forgotten":2}' profile forget --db "$db" --json solver asked
answers '' '' profile forget --db "$db" probed
answers '' '{"forgotten":1}' profile forget --db "$db" --json --all
answers '' '[]' profile list --db "$db" --json

# What cannot be
for verb in list show export import forget demand; do
    says "usage: berthctl profile $verb" profile $verb --help
    refuses '' 2 "profile $verb: --frob: no such option" profile $verb --frob
    refuses '' 2 "profile $verb: --db: a value is missing" profile $verb --db
done
refuses '' 2 'profile list: takes no argument: x' profile list x
refuses '' 2 'profile show: takes one KEY' profile show
refuses '' 2 'profile import: takes one FILE at most: b' profile import a b
refuses '' 2 'profile list: --samples: no such option' profile list --samples
refuses '' 2 'profile export: --replace: no such option' profile export --replace
refuses '' 2 'one of KEY..., --all and --older' profile forget
refuses '' 2 'one of KEY..., --all and --older' profile forget --all x
refuses '' 2 'one of KEY..., --all and --older' profile forget --all --older 5
for days in 0 x -1 36501 99999999999999999999 ''; do
    refuses '' 2 '--older' profile forget --older "$days"
done
echo 'this is no database, and it is long enough to be looked at: more than one hundred bytes of it are here, no fewer' >"$dir/bad.db"
for verb in list 'show x' export import 'forget --all'; do
    refuses '' 1 'damaged, or no profile store' profile $verb --db "$dir/bad.db"
done

exit $failed
