#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_ctl_record - `berthctl record` against a berthd of canned answers: what it writes, what ends it, and what can go wrong meanwhile.
# BERTHCTL and FAKE_BERTHD name the programs (the build folder's by default).
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"
fake=${FAKE_BERTHD:-./tests/unit/common/fake_berthd}
server=
recorder=
stop() { [ -z "$server" ] || kill "$server" 2>/dev/null; server=; }
trap 'stop; [ -z "$recorder" ] || kill "$recorder" 2>/dev/null; rm -rf "$dir"' EXIT

# wait_for WHAT COMMAND...: until the command succeeds; a hung program is a failure, a slow machine is not
wait_for() {
    what=$1
    shift
    for _ in $(seq 200); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    bad record "$what" 'not within 20 s'
}

# serve FILE...: a new server that answers with them in turn
serve() {
    stop
    rm -f "$dir/sock"
    (cd "$dir" && exec "$fake" "$dir/sock" "$@" >"$dir/asked") &
    server=$!
    wait_for 'a server' [ -S "$dir/sock" ]
}
case $fake in /*) ;; *) fake=$PWD/$fake ;; esac

# sample ID NAME AT FIELDS; node UPTIME; answer FILE LINE...
sample() { printf '{"version":1,"ok":true,"more":true,"sample":{"id":"%s","step":"%s","at":%s%s}}' "$@"; }
node() { printf '{"version":1,"ok":true,"more":true,"node":{"name":"n1","uptime_s":%s}}' "$1"; }
answer() {
    name=$dir/$1
    shift
    printf '%s\n' "$@" '{"version":1,"ok":true,"more":false}' >"$name"
}

# record STATUS OPTION...: run it; its output is in out and err
record() {
    wanted=$1
    shift
    timeout 60 "$berthctl" record --socket "$dir/sock" "$@" >"$dir/out" 2>"$dir/err" </dev/null
    status=$?
    [ $status -eq "$wanted" ] || bad "record $*" "status $wanted" "$status: $(cat "$dir/err")"
}
has() { # FILE LINES
    [ "$(cat "$dir/$1")" = "$2" ] || bad "record, $1" "$2" "$(cat "$dir/$1")"
}
says_on_the_way() { grep -qF -e "$1" "$dir/err" || bad record "$1" "$(cat "$dir/err")"; }

# ---- the command line ----
says 'usage: berthctl record' record --help
refuses '' 2 "--nonsense: no such option" record --nonsense
refuses '' 2 "--output: a value is missing" record --output
refuses '' 2 "--interval: seconds from 0.1 to 3600 expected, not '0.05'" record --interval 0.05
refuses '' 2 "--duration: seconds from 0 to 1e+09 expected, not '1s'" record -d 1s
refuses '' 2 'one of --csv and --json only' record --csv --json
refuses '' 2 'one of --append and --force only' record --append --force
refuses '' 2 "'4711.x' is no JOB[_TASK|+PART][.STEP], as 4711, 4711.0, 4711_2 or 4711+1" record 4711 4711.x

# ---- what is written ----
answer one "$(node null)" "$(sample 4711.0 solver 1.5 ',"instructions":1200,"threads":2,"rss_node":[4096,0],"error":{"instructions":0.125}')" \
    "$(sample 4712.batch sh 0.5 '')" "$(sample 4713.0 'a,\"b' 2 ',"cycles":0.1')"
serve one
record 0 --duration 0
has asked '{"version":1,"op":"counters"}'
has out '{"version":1,"step":"solver","at":1.5,"instructions":1200,"threads":2,"rss_node":[4096,0],"error":{"instructions":0.125}}
{"version":1,"step":"a,\"b","at":2,"cycles":0.10000000000000001}'
says_on_the_way 'berthctl: record: 2 samples of 2 steps in 0.'
record 0 -d 0 --csv -o "$dir/csv"
[ ! -s "$dir/out" ] || bad 'record -o' 'nothing on stdout' "$(cat "$dir/out")"
has csv 'step,at,instructions,cycles,stalls,llc_accesses,llc_misses,reads_local,reads_remote,bytes_local,bytes,cpu_ns,user_ns,system_ns,run_delay_ns,lock_wait_ns,switches,voluntary,involuntary,migrations,faults,threads,rss_bytes,occupancy_bytes
solver,1.5,1200,,,,,,,,,,,,,,,,,,,2,,
"a,""b",2,,0.10000000000000001,,,,,,,,,,,,,,,,,,,,'
says_on_the_way " s, in $dir/csv"

# a duration with several rounds, which may be late
record 0 -i 0.1 -d 0.3
[ -s "$dir/out" ] || bad 'record -d' 'samples' "$(cat "$dir/err")"

# round after round; a sample that has been written already is not written again
answer two "$(sample 4711.0 solver 2.5 ',"instructions":2400')"
answer none "$(node null)"
answer three "$(sample 4711.0 solver 3.5 ',"instructions":2300')"
serve one two two three none
record 0 -i 0.1 4711.0
has out '{"version":1,"step":"solver","at":1.5,"instructions":1200,"threads":2,"rss_node":[4096,0],"error":{"instructions":0.125}}
{"version":1,"step":"solver","at":2.5,"instructions":2400}
{"version":1,"step":"solver","at":3.5,"instructions":2400}'

# the same program twice; a job that was requeued; a step without a name
answer twins "$(sample 1.0 x 5 ',"cycles":5')" "$(sample 2.0 x 1 ',"cycles":1')" "$(sample 3.0 '' 1 ',"cycles":3')"
answer again "$(sample 1.0 x 1 ',"cycles":2')"
serve twins again none
record 0 -i 0.1 1 2 3
has out '{"version":1,"step":"x","at":5,"cycles":5}
{"version":1,"step":"2.0","at":1,"cycles":1}
{"version":1,"step":"3.0","at":1,"cycles":3}
{"version":1,"step":"1.0","at":1,"cycles":2}'

# ---- what ends it ----
# the end of what was named: a step, all steps of a job; what is not here yet is waited for
serve one two none
record 0 -i 0.1 4711.0
[ "$(wc -l <"$dir/out")" -eq 2 ] || bad 'record 4711.0' 'two samples' "$(cat "$dir/out")"
serve none one one none
record 0 -i 0.1 4711 4713.0
says_on_the_way '4711 is not here: waiting for it'
says_on_the_way '4713.0 is not here: waiting for it'
says_on_the_way 'nothing is counted yet: waiting'
[ "$(grep -c 'is not here' "$dir/err")" -eq 2 ] || bad record 'said once' "$(cat "$dir/err")"
says_on_the_way '2 samples of 2 steps'

# begin OPTION...: in the background; end SIGNAL
begin() {
    "$berthctl" record --socket "$dir/sock" "$@" >"$dir/out" 2>"$dir/err" </dev/null &
    recorder=$!
}
end() {
    kill "-$1" "$recorder"
    wait "$recorder"
    status=$?
    recorder=
    [ $status -eq 0 ] || bad "record, SIG$1" 'status 0' "$status: $(cat "$dir/err")"
}
for signal in INT TERM HUP; do
    serve one
    rm -f "$dir/file"
    begin -i 3600 -o "$dir/file"
    wait_for 'a sample' [ -s "$dir/file" ]
    end $signal
    says_on_the_way '2 samples of 2 steps'
    [ "$(wc -l <"$dir/file")" -eq 2 ] || bad "record, SIG$signal" 'two lines' "$(cat "$dir/file")"
done

# ---- berthd is not well ----
rm -f "$dir/sock" "$dir/file"
record 1 -o "$dir/file"
says_on_the_way "berthctl: berthd: no answer at $dir/sock: No such file or directory"
[ ! -e "$dir/file" ] || bad 'record, no berthd' 'no file' 'one'
echo '{"version":1,"ok":false,"error":"op: '\''counters'\'' is none of: register"}' >"$dir/old"
serve old
record 1
says_on_the_way "berthctl: berthd: op: 'counters' is none of: register"
printf '%s\n' "$(sample 1.0 x -1 ',"cycles":1')" '{"version":1,"ok":true,"more":false}' >"$dir/wrong"
serve wrong
record 1 -o "$dir/file"
says_on_the_way "$dir/file: a sample of berthd: at: -1: between 0 and 1e+12 expected"

# restarted: counts begin anew, and go on in the file; gauges are as they are
answer before "$(node 1000)" "$(sample 1.0 x 10 ',"cycles":500,"faults":7,"threads":4')"
answer after "$(node 0.001)" "$(sample 1.0 x 11 ',"cycles":600,"faults":2,"threads":3')"
answer later "$(node null)" "$(sample 1.0 x 12 ',"cycles":700,"faults":2,"threads":3')"
serve before after later none
record 0 -i 0.1 1
says_on_the_way 'berthd has been restarted: counts go on'
has out '{"version":1,"step":"x","at":10,"cycles":500,"faults":7,"threads":4}
{"version":1,"step":"x","at":11,"cycles":1100,"faults":9,"threads":3}
{"version":1,"step":"x","at":12,"cycles":1200,"faults":9,"threads":3}'

# gone in the middle of an answer, which counts for nothing, and there again
sample 4711.0 solver 2.5 ',"instructions":2400' >"$dir/half"
serve one half three none
record 0 -i 0.1 4711.0
says_on_the_way "berthd: no whole answer at $dir/sock: "
says_on_the_way 'berthd answers again'
has out '{"version":1,"step":"solver","at":1.5,"instructions":1200,"threads":2,"rss_node":[4096,0],"error":{"instructions":0.125}}
{"version":1,"step":"solver","at":3.5,"instructions":2300}'

# away for a while, and back; its last answer may be whole, or not
serve two
begin -i 0.1 -o "$dir/file" --force 4711.0
wait_for 'a sample' [ -s "$dir/file" ]
stop
wait_for 'it says so' grep -q 'berthd: no \(whole \)\?answer at .*: waiting$' "$dir/err"
serve three
wait_for 'it says so' grep -q 'berthd answers again' "$dir/err"
wait_for 'a second sample' grep -q '"at":3.5' "$dir/file"
end INT
[ "$(grep -c 'waiting' "$dir/err")" -eq 1 ] || bad record 'said once' "$(cat "$dir/err")"

# ---- the file ----
serve one
record 1 -d 0 -o "$dir/file"
says_on_the_way "berthctl: record: $dir/file: it is there already: --force replaces it, --append goes on with it"
[ "$(wc -l <"$dir/file")" -eq 2 ] || bad 'record, a file that is there' 'it stays' "$(cat "$dir/file")"
record 0 -d 0 -o "$dir/file" --append
[ "$(sed -n '3s/,"at".*//p' "$dir/file")" = '{"version":1,"step":"4711.0"' ] ||
    bad 'record --append' 'a name that is not taken' "$(cat "$dir/file")"
record 0 -d 0 -o "$dir/file" --append
grep -q '"step":"4711.0#2"' "$dir/file" || bad 'record --append' '4711.0#2' "$(cat "$dir/file")"
[ "$(wc -l <"$dir/file")" -eq 6 ] || bad 'record --append' '6 lines' "$(cat "$dir/file")"
record 1 -d 0 -o "$dir/file" --append --csv
says_on_the_way "$dir/file: it is there, but not as CSV of the columns of this version"
record 1 -d 0 -o "$dir/csv" --append
says_on_the_way "$dir/csv: it is there, but not as JSON lines"
record 0 -d 0 -o "$dir/csv" --append --csv
[ "$(grep -c '^step,at' "$dir/csv")" -eq 1 ] && [ "$(wc -l <"$dir/csv")" -eq 5 ] ||
    bad 'record --append --csv' 'one header, four rows' "$(cat "$dir/csv")"
printf '{"step":"a","at":1}' >"$dir/half"
record 1 -d 0 -o "$dir/half" --append
says_on_the_way "$dir/half: its last line has no newline"
printf '{"step":"a","at":1}\n{"step":"a","at":1}\n' >"$dir/half"
record 1 -d 0 -o "$dir/half" --append
says_on_the_way "$dir/half:2: at: 1: more than 1 expected"
record 0 -d 0 -o "$dir/new" --append
[ "$(wc -l <"$dir/new")" -eq 2 ] || bad 'record --append' 'a new file' "$(cat "$dir/new")"
record 0 -d 0 -o "$dir/half" --force
[ "$(wc -l <"$dir/half")" -eq 2 ] || bad 'record --force' 'two lines' "$(cat "$dir/half")"
record 1 -d 0 -o "$dir/no/where"
says_on_the_way "$dir/no/where: No such file or directory"

# full: one line says so, and of what was written the whole lines stay
if [ -c /dev/full ]; then
    record 1 -o /dev/full --force
    says_on_the_way 'berthctl: record: /dev/full: No space left on device'
fi
set --
for i in $(seq 20); do set -- "$@" "$(sample "$i.0" "step$i" 1 ',"instructions":1000000')"; done
answer many "$@"
serve many
(ulimit -f 1 && exec "$berthctl" record --socket "$dir/sock" -d 0 -o "$dir/small" 2>"$dir/err")
[ $? -eq 1 ] || bad 'record, limited file' 'status 1' "$(cat "$dir/err")"
says_on_the_way "$dir/small: File too large"
lines=$(wc -l <"$dir/small")
[ "$lines" -gt 0 ] && [ "$lines" -lt 20 ] && [ -z "$(tail -c 1 "$dir/small")" ] ||
    bad 'record, limited file' 'some whole lines' "$(cat "$dir/small")"

# what was written can be planned with
says 'step1 ' plan --samples "$dir/small" --topology 'package:1 l3:32 core:1 pu:1'
[ "$(grep -c '^step' "$dir/out")" -eq "$lines" ] || bad 'plan --samples' "$lines steps" "$(cat "$dir/out")"

exit $failed
