#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_berthctl - what a person sees: berthctl's verbs that talk to berthd, against canned answers.
# BERTHCTL and FAKE_BERTHD name the programs (the build folder's by default).
set -u
berthctl=${BERTHCTL:-./berthctl}
fake=${FAKE_BERTHD:-./tests/unit/common/fake_berthd}
dir=$(mktemp -d) || exit 99
server=
failures=0
stop() { [ -z "$server" ] || kill "$server" 2>/dev/null; server=; }
trap 'stop; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM

fail() {
    echo "FAIL $1"
    sed 's/^/    out: /' "$dir/out"
    sed 's/^/    err: /' "$dir/err"
    failures=$((failures + 1))
}

# wait_for WHAT COMMAND...: until the command succeeds; a hung program is a failure, a slow machine is not
wait_for() {
    what=$1
    shift
    for _ in $(seq 400); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.05
    done
    fail "$what: not within 20 s"
}

# serve [FILE]: a new server that answers with FILE
serve() {
    stop
    rm -f "$dir/sock"
    "$fake" "$dir/sock" "$@" >"$dir/asked" &
    server=$!
    wait_for 'the fake berthd' [ -S "$dir/sock" ]
}

# expect STATUS NAME COMMAND...: run it, keep its output, compare the exit status
expect() {
    want=$1 name=$2
    shift 2
    "$@" >"$dir/out" 2>"$dir/err" </dev/null
    got=$?
    [ "$got" -eq "$want" ] || fail "$name: exit status $got, not $want"
}
out_has() { grep -q -- "$1" "$dir/out" || fail "stdout has no '$1'"; }
out_lacks() { ! grep -q -- "$1" "$dir/out" || fail "stdout has '$1'"; }
err_is() { [ "$(cat "$dir/err")" = "$1" ] || fail "stderr is not '$1'"; }
err_has() { grep -q -- "$1" "$dir/err" || fail "stderr has no '$1'"; }
asked() { [ "$(tail -n 1 "$dir/asked")" = "$1" ] || fail "asked: $(tail -n 1 "$dir/asked")"; }
ctl() { expect "$1" "berthctl $2 $3" "$berthctl" "$2" --socket "$dir/sock" $3; }

node='{"version":1,"ok":true,"more":true,"node":{"name":"n1","berth":"0.1.0","topology":"this machine","packages":1,"llcs":2,"cores":4,"pool":"0-3","steps":2,"enforcement":"cgroup1","policy":"contend","rungs":{"stack distances":1,"counters":0,"miss rate":1,"nothing":0},"profiles":"/p.db","history":7,"uptime_s":3725.5,"caches":[{"package":0,"cpus":"0-1","cores":2,"size_bytes":1048576,"pool":2,"used":0},{"package":0,"cpus":"2-3","cores":2,"size_bytes":1048576,"pool":2,"used":2}],"registrations":12,"moves":3,"failures":0}}'
last='{"version":1,"ok":true,"more":false}'
# step ID USER_S COMMAND
step() {
    printf '{"version":1,"ok":true,"more":true,"step":{"id":"%s","job":4711,"step":0,"state":"placed","uid":0,"command":"%s","tasks":2,"class":"devil","miss_pmi":5400.4,"policy":"di","home":"0-1","cpus":"2-3","llc":[1],"mems":"0","elapsed_s":93784.2,"user_s":%s,"system_s":0.5}}\n' "$1" "$3" "$2"
}

# ---- the command line ----
expect 0 help "$berthctl" --help
out_has explain
expect 0 version "$berthctl" --version
out_has '^berthctl [0-9]'
expect 2 'no verb' "$berthctl"
err_is "berthctl: a verb: missing; one of: status top blackboard explain job record release report plan model profile threads microstates study pairs calibrate doctor completion (try 'berthctl --help')"
expect 2 'unknown verb' "$berthctl" statsu
err_is "berthctl: statsu: no such verb (status?); one of: status top blackboard explain job record release report plan model profile threads microstates study pairs calibrate doctor completion (try 'berthctl --help')"
expect 2 'help of an unknown verb' "$berthctl" help statsu
err_has 'statsu: no such verb (status?)'
expect 0 'help of a verb' "$berthctl" help status
out_has '^usage: berthctl status'
expect 2 'nearly an option' "$berthctl" status --jsn
err_has "^berthctl: status: --jsn: no such option (--json?) (try 'berthctl status --help')"
for words in --help --version 'status --help'; do
    # shellcheck disable=SC2086 # words
    "$berthctl" $words >/dev/full 2>"$dir/err" && fail "$words on a full disk"
    err_has '^berthctl: stdout: No space left on device'
done
for verb in status top explain job record release report plan model profile pairs doctor; do
    expect 0 "$verb --help" "$berthctl" $verb --help
    out_has "^usage: berthctl $verb"
    expect 2 "$verb --wrong" "$berthctl" $verb --wrong
    err_has "^berthctl: $verb: "
done
expect 2 'explain nothing' "$berthctl" explain
expect 2 'explain two' "$berthctl" explain 1 2
expect 2 'explain no step' "$berthctl" explain 4711.x
err_is "berthctl: explain: '4711.x' is no JOB[_TASK|+PART][.STEP], as 4711, 4711.0, 4711_2 or 4711+1 (try 'berthctl explain --help')"
expect 2 'top -d' "$berthctl" top -d 0
expect 2 'top -n' "$berthctl" top -n 0
expect 2 'status argument' "$berthctl" status now

# ---- no berthd, and one that is not well ----
expect 1 'no berthd' "$berthctl" status --socket "$dir/none"
err_is "berthctl: berthd: no answer at $dir/none: No such file or directory (is berthd running? berthctl doctor)"
long=$(printf '%0120d' 0)
expect 1 'long path' "$berthctl" status --socket "/$long"
err_has 'File name too long'
serve
ctl 1 status ''
err_has 'no whole answer at .*: Connection timed out'
for bad in '' '{"version":1,"ok":true,' 'garbage' '[]' '{"version":1}'; do
    printf '%s\n' "$bad" >"$dir/answer"
    serve "$dir/answer"
    ctl 1 status ''
    err_has '^berthctl: berthd: '
done
echo "$node" >"$dir/answer" # and then nothing
ctl 1 status --json
err_has 'Connection reset'
echo '{"version":1,"ok":false,"error":"only root may change anything"}' >"$dir/answer"
ctl 1 status ''
err_is 'berthctl: berthd: only root may change anything'
head -c 70000 /dev/zero | tr '\0' x >"$dir/answer"
ctl 1 status ''
err_has 'Message too long'

# a berthd that is too busy to take a connection at once is waited for
{ echo "$node"; echo "$last"; } >"$dir/answer"
stop
rm -f "$dir/sock"
"$fake" -b "$dir/sock" "$dir/answer" >"$dir/asked" &
server=$!
wait_for 'a busy one' grep -q busy "$dir/asked"
ctl 0 status ''
out_has '^node n1'

# ---- status ----
serve "$dir/answer"
{ echo "$node"; step 4711.0 12.5 solver; step 4712.batch null sh; echo "$last"; } >"$dir/answer"
ctl 0 status ''
asked '{"version":1,"op":"status"}'
out_has '^node n1: 2 steps; 4 cores, 2 caches, 1 package$'
out_has '^cores: 4 of 4 in the pool (100 %), 2 in use (50 %); CPUs of the pool: 0-3$'
out_has '^berth 0.1.0 up 1:02:05: contend by cgroup1; 12 registrations, 3 moves, 0 failures$'
out_has '^what is known of the steps: stack distances of 1, miss rate of 1$'
out_lacks 'left where Slurm put them'
{ echo "$node" | sed 's/"cores":4,/"cores":4,"places":"threads",/'; echo "$last"; } >"$dir/answer"
ctl 0 status ''
out_has '^node n1: 2 steps; 4 hardware threads, 2 caches, 1 package$'
out_has '^hardware threads: 4 of 4 in the pool (100 %), 2 in use (50 %);'
{ echo "$node"; step 4711.0 12.5 solver; step 4712.batch null sh; echo "$last"; } >"$dir/answer"
ctl 0 status ''
# a batch script whose job has steps only waits: it is in the table, and nobody's neighbour
out_has '4711.0 solver  *2 cores'
out_lacks '| 4712.batch'
out_has '^4711.0 *0.0 solver *- *- *- *- 2-3 *root *devil *placed *0-1 *1-02:03:04 *- *2 *5400 *0:13$'
out_has '^4712.batch *- sh '
ctl 0 status --json
out_has '^{"node":{"name":"n1",.*},"steps":\[{"id":"4711.0",.*},{"id":"4712.batch",.*}\]}$'

# steps that could not be placed are told, by doctor too, as long as none was since
unplaced='"refused":12,"refused_in_a_row":3,"refused_why":"step 1.0 has no cgroup"'
{ echo "$node" | sed "s/\"failures\":0/&,$unplaced/"; echo "$last"; } >"$dir/answer"
ctl 1 status ''
out_has '^left where Slurm put them: 12 steps, and none was placed since; the last one: step 1.0 has no cgroup$'
"$berthctl" doctor --socket "$dir/sock" >"$dir/out" 2>"$dir/err"
out_has '^berthd: steps  *warn  *the last 3 could not be placed: step 1.0 has no cgroup'

# what berthd does by itself is told, and doctor warns where a wide step would notice
noisy='"silence":{"rests":true,"together":false,"seconds":300,"bursts_per_s":1,"core":0.002,"longest_ms":2.2,"nodes":1000,"longer":{"1ms":2.95,"5ms":1.5,"20ms":1.13,"100ms":1.03}}'
{ echo "$node" | sed "s/\"failures\":0/&,$noisy/"; echo "$last"; } >"$dir/answer"
ctl 0 status ''
out_has '^berthd by itself: 1 bursts a second of up to 2.2 ms, 0.2 % of a core; it rests while nobody asks; who waits'
"$berthctl" doctor --socket "$dir/sock" >"$dir/out" 2>"$dir/err"
out_has '^berthd: silence  *warn  *1 bursts a second'

{ echo "$node"; echo "$last"; } >"$dir/answer"
ctl 0 status ''
out_has 'no step is registered here'
ctl 0 status --json
out_has '"steps":\[\]'

# devices, and where they are
gear='{"name":"gpu0","kind":"gpu","pci":"0000:3b:00.0","node":0,"cpus":"0-1"},{"name":"0000:02:00.0","kind":"network","pci":"0000:02:00.0","node":null,"cpus":""}'
{ echo "$node" | sed 's/"steps":2/"steps":2,"devices":['"$gear"']/'; echo "$last"; } >"$dir/answer"
ctl 0 status ''
out_has '^devices: gpu0 (PCI 0000:3b:00.0, node 0, CPUs 0-1), 0000:02:00.0 (node not known)$'

# meters: the joules are by those that count; one that stands still is named, and is not 0 J
zones() { echo "$node" | sed 's/"steps":2/"steps":2,"energy":['"$1"']/'; echo "$last"; }
still='{"domain":"package","package":0,"source":"rapl-perf","counts":false,"metered_j":null,"steps_j":null,"idle_j":null,"unmanaged_j":null,"gaps":0}'
psys='{"domain":"node","package":null,"source":"hwmon","counts":true,"metered_j":90.5,"steps_j":60,"idle_j":30,"unmanaged_j":0.5,"gaps":0,"idle_energy":"nobody"}'
zones "$still,$psys" >"$dir/answer"
ctl 0 status ''
out_has '^energy 90.5 J by hwmon: steps 60.0 J (66 %), idle 30.0 J (33 %), outside steps 0.5 J (0.6 %)$'
out_has '^energy: 1 meter of rapl-perf not counted: it stands still or cannot be read$'
zones "$psys" >"$dir/answer"
ctl 0 status ''
out_has 'outside steps 0.5 J (0.6 %); idle_energy=nobody$'
zones "$still" >"$dir/answer"
ctl 0 status ''
out_lacks 'energy 0'

# the machine as a picture, that a browser takes
{ echo "$node"; step 4711.0 12.5 'sol<ver'; echo "$last"; } >"$dir/answer"
ctl 0 status --svg=-
out_has '^<svg xmlns="http://www.w3.org/2000/svg" '
out_has '>4711.0 sol&lt;ver</text>'
[ "$(grep -c 'class="cache"' "$dir/out")" -eq 2 ] || fail 'two caches'
[ "$(grep -c 'width="14".*class="c0"' "$dir/out")" -eq 2 ] || fail 'two cores'
! command -v xmllint >/dev/null || xmllint --noout "$dir/out" || fail 'the picture is no XML'
expect 0 'status --svg FILE' "$berthctl" status --svg "$dir/picture" --socket "$dir/sock"
[ -s "$dir/picture" ] || fail 'no picture'
expect 1 'status --svg nowhere' "$berthctl" status --svg /nowhere/picture --socket "$dir/sock"
err_is 'berthctl: /nowhere/picture: No such file or directory'
# the picture in README.md, by the command that README.md names
srcdir=${srcdir:-.}
words=$(sed -n 's|.*`berthctl \(plan .*\)--svg doc/plan.svg doc/plan.json`.*|\1|p' "$srcdir/README.md")
case $words in 'plan --topology "'*'" ') ;; *) fail "README.md: $words" ;; esac
eval "set -- $words"
expect 0 'plan --svg' "$berthctl" "$@" --svg "$dir/picture" "$srcdir/doc/plan.json"
cmp "$dir/picture" "$srcdir/doc/plan.svg" || fail 'doc/plan.svg is not what plan draws'
[ "$(grep -o 'class="c[0-7]"' "$dir/picture" | sort -u | wc -l)" -eq 8 ] || fail 'eight programs have eight colours, each its own'
grep -q 'percent at a name: ' "$dir/picture" || fail 'a picture with slowdowns does not say what they are'
[ "$(grep -c 'cores*, ~[0-9.]* %' "$dir/picture")" -eq 8 ] || fail 'eight programs have a predicted slowdown each'
sed 's/"ipc": 1, //' "$srcdir/doc/plan.json" >"$dir/plan.json"
expect 0 'plan --svg' "$berthctl" "$@" --svg "$dir/picture" "$dir/plan.json"
! grep -q 'percent at a name\|~' "$dir/picture" || fail 'a picture without slowdowns speaks of percent'

{ echo "$node"; for i in $(seq 500); do step "$i.0" "$i" x; done; echo "$last"; } >"$dir/answer"
ctl 0 status ''
[ "$(grep -c ' placed ' "$dir/out")" -eq 500 ] || fail '500 steps'

# what a user named must not drive the terminal
{ echo "$node"; step 4711.0 1 'a\u001b[2Jb\nc'; echo "$last"; } >"$dir/answer"
ctl 0 status ''
out_has 'a?\[2Jb?c '

# the same on a terminal of 40 columns: nothing is wider, nothing is lost below
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    script -qec "stty cols 40 rows 24; NO_COLOR=1 LC_ALL=C $berthctl status --socket $dir/sock" /dev/null 2>"$dir/err" </dev/null |
        tr -d '\r' >"$dir/out"
    [ "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' "$dir/out")" -le 40 ] || fail 'too wide'
    out_has '^4711.0'
    # colour is for terminals that can, and for who has not said no; never in a pipe
    escape=$(printf '\033')
    # paints NAME WANTED SETTING..: how many lines of a page are painted, "no" or "some"
    paints() {
        name=$1 wanted=$2
        shift 2
        script -qec "env -u NO_COLOR $* $berthctl status --socket $dir/sock" /dev/null 2>"$dir/err" </dev/null >"$dir/out"
        grep -q "$escape\\[[0-9]*m" "$dir/out" && got=some || got=no
        [ "$got" = "$wanted" ] || fail "$name: $got colour, not $wanted"
    }
    paints terminal some TERM=xterm
    paints NO_COLOR no TERM=xterm NO_COLOR=1
    paints 'empty NO_COLOR' some TERM=xterm NO_COLOR=
    paints 'dumb terminal' no TERM=dumb
    # characters that are not ASCII only where the locale has them
    script -qec "LC_ALL=C NO_COLOR=1 $berthctl status --socket $dir/sock" /dev/null 2>"$dir/err" </dev/null >"$dir/out"
    ! LC_ALL=C grep -q '[^ -~[:cntrl:]]' "$dir/out" || fail 'not ASCII'
    script -qec "LC_ALL=C.UTF-8 NO_COLOR=1 $berthctl status --socket $dir/sock" /dev/null 2>"$dir/err" </dev/null >"$dir/out"
    out_has '┌─'
fi
TERM=xterm ctl 0 status ''
out_lacks "$(printf '\033')"

# ---- top ----
{ echo "$node"; step 4711.0 1 x; step 4712.0 1 y; echo "$last"; } >"$dir/answer"
expect 0 'top' "$berthctl" top -b -d 0.1 -n 3 --socket "$dir/sock"
[ "$(grep -c '^node n1' "$dir/out")" -eq 3 ] || fail 'three pages'
[ "$(grep -c '^ *CPU% .* TREND ' "$dir/out")" -eq 2 ] || fail 'the trend of CPU%, from the second page on'
out_has '^ *0.0 x *4711.0 '
# sorted as asked, and the machine where that is wanted
expect 0 'top --sort' "$berthctl" top -b -n 1 --sort step -m --socket "$dir/sock"
out_has 'cache 1, 1 MiB'
expect 2 'top --sort x' "$berthctl" top --sort x --socket "$dir/sock"
err_has "--sort: one of step, cpu, ipc, memory, watts, slowdown, user expected, not 'x'"
expect 0 'top --json' "$berthctl" top --json -d 0.1 -n 2 --socket "$dir/sock"
[ "$(grep -c '^{"node":' "$dir/out")" -eq 2 ] || fail 'two objects'
[ "$(head -n 1 "$dir/out" | grep -c '"cpu_pct":null')" -eq 1 ] || fail 'no share in the first page'
[ "$(tail -n 1 "$dir/out" | grep -c '"cpu_pct":0.0')" -eq 1 ] || fail 'a share in the second'
# by IPC: the greatest first, who has none last; by user
{ echo "$node"; step 8.0 1 x; step 9.0 1 y | sed 's/"uid":0/"uid":1,"ipc":0.5/'; step 10.0 1 z | sed 's/"uid":0/"uid":2,"ipc":2.25/'; echo "$last"; } >"$dir/answer"
expect 0 'top by IPC' "$berthctl" top -b -n 1 -s ipc --socket "$dir/sock"
[ "$(grep -o '[89].0  *\(-\|0.50\) \|10.0  *2.25' "$dir/out" | tr -s ' \n' ' ')" = '10.0 2.25 9.0 0.50 8.0 - ' ] || fail 'order by IPC'
{ echo "$node"; step 9.0 1 x | sed 's/"job":4711/"job":9/'; step 10.0 1 y; echo "$last"; } >"$dir/answer"
expect 0 'top, order' "$berthctl" top -b -n 1 --socket "$dir/sock"
[ "$(grep -n ' 9.0 ' "$dir/out" | cut -d: -f1)" -lt "$(grep -n ' 10.0 ' "$dir/out" | cut -d: -f1)" ] || fail 'order of top'
expect 1 'top, no berthd' "$berthctl" top -n 1 --socket "$dir/none"
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    # on_terminal LINE: a shell's line on a terminal; beside: what is done with top, whose number is $1, where until_it waits for a command
    on_terminal() {
        : >"$dir/out"
        script -qec "sh -c '$1'" /dev/null >"$dir/out" 2>"$dir/err" </dev/null
    }
    beside() {
        cat >"$dir/beside" <<END
until_it() { for _ in \$(seq 400); do eval "\$1" && return; sleep 0.05; done; echo "never: \$1"; }
shown() { [ "\$(grep -c '1049h' "$dir/out")" -eq "\$1" ]; }
$1
END
    }
    top="$berthctl top -d 0.1 --socket $dir/sock"
    # leaves the alternate screen and shows the cursor again, also by a signal
    beside 'until_it "shown 1"; kill -INT $1'
    on_terminal "sh $dir/beside \$\$ & exec $top"
    tail -c 14 "$dir/out" | grep -q '?25h.*?1049l' || fail 'the terminal is not given back'
    # Ctrl-Z stops it, with the terminal given back; continued, it goes on
    beside 'until_it "shown 1"; kill -TSTP $1; until_it "ps -o stat= -p $1 | grep -q ^T"; echo state $(ps -o stat= -p $1)
        kill -CONT $1; until_it "shown 2"; kill $1'
    on_terminal "$top & sh $dir/beside \$!; wait \$!; echo ended \$?"
    tr -d '\r' <"$dir/out" | grep -q '1049l.*state T' || fail 'Ctrl-Z does not give the terminal back'
    [ "$(grep -c '1049h' "$dir/out")" -eq 2 ] || fail 'it does not go on'
    tr -d '\r' <"$dir/out" | grep -q '1049lended 0' || fail 'it does not end well'
fi
# a berthd that is restarted is waited for; one that never answered is not
pages() { [ "$(grep -c '^node n1' "$dir/pages")" -ge "$1" ]; }
{ echo "$node"; echo "$last"; } >"$dir/answer"
"$berthctl" top -b -d 0.2 --socket "$dir/sock" >"$dir/pages" 2>"$dir/silence" &
top=$!
wait_for 'a first page' pages 1
stop
rm -f "$dir/sock"
wait_for 'a word about it' grep -q '^berthctl: berthd: .*; asking again$' "$dir/silence"
before=$(grep -c '^node n1' "$dir/pages")
serve "$dir/answer"
wait_for 'pages afterwards' pages $((before + 2))
kill $top
wait $top || fail 'a restart of berthd ends top'
[ "$(grep -c 'asking again' "$dir/silence")" -le 2 ] || fail 'top says it again and again'

# ---- release ----
{ echo "$node"; step 4711.0 1 x | sed 's/"state":"placed"/"state":"left","verified":true/'; echo "$last"; } >"$dir/answer"
ctl 0 release ''
asked '{"version":1,"op":"release","end":false}'
out_has '^4711.0 *left *CPUs 0-1$'
out_has '^node n1: new steps are placed$'
ctl 0 release 4711.0
asked '{"version":1,"op":"release","job":4711,"step":0,"end":false}'
ctl 0 release '--json 4711'
asked '{"version":1,"op":"release","job":4711,"end":false}'
out_has '^{"node":{"name":"n1",.*},"steps":\[{"id":"4711.0",.*}\]}$'
{ echo "$node" | sed 's/"steps":2/"released":true,"steps":2/'; step 4711.0 1 x; echo "$last"; } >"$dir/answer"
ctl 1 release ''
out_has 'not yet seen there: berthd tries again$'
out_has '^node n1: new steps are left alone (berthctl release --end)$'
{ echo "$node"; echo "$last"; } >"$dir/answer"
ctl 0 release --end
asked '{"version":1,"op":"release","end":true}'
ctl 2 release '--end 4711'
err_has '^berthctl: release: --end is for the whole node: 4711'
ctl 2 release '4711 4712'
ctl 2 release x
ctl 1 release '--socket /nowhere'
err_has 'no answer at /nowhere'

# ---- explain ----
explained='{"version":1,"ok":true,"more":true,"step":{"id":"4711.0","state":"ended","started_at":1700000000,"ended_at":1700000060,"exit_status":EXIT,"request":{"job":4711,"step":0,"array_job":0,"array_task":0,"uid":1000,"options":"auto,policy=pain","exe":"/usr/bin/solver","hash":"00","tasks":9,"cpus_per_task":1,"job_cores":"0-3","step_cores":"0-1","bound_by_hand":false},"profile":{"key":"exe:/usr/bin/solver#00","known":KNOWN},"class":{"name":"devil","reason":"5400 misses"},"size":SIZE,"place":{"policy":"di","policy_asked":"pain","rank":1,"of":3,"home":"0","cpus":"2","llc":[1],"mems":"0","reason":"the emptiest","neighbours":[{"id":"4712.0","class":"turtle","miss_pmi":12,"llc":1,"shared":"2"},{"id":"4713.0","class":"unprofiled","miss_pmi":null,"llc":1,"shared":""}]},"enforce":{"way":"cgroup1","verified":true,"moves":1,"reason":"","tasks":[TASKS]},"observe":{"elapsed_s":60,"user_s":58.25,"system_s":null,"maxrss_kib":2048,"cores_used":0.97,"miss_pmi":null,"unread":[{"what":"rss_node","hung":true},{"what":"ranks","hung":false}]},"bill":{"energy_j":null,"edp":null,"source":null}}}'
task='{"id":1,"pid":77,"home":"0","cpus":"2"}'
tasks=$task,$task,$task,$task,$task,$task,$task,$task,$task
{
    echo "$node"
    echo "$explained" | sed "s/SIZE/{\"cores\":2,\"given\":1,\"reason\":\"as asked\"}/; s/EXIT/256/; s/KNOWN/true,\"miss_pmi\":5400,\"source\":\"valgrind\",\"truncated\":true,\"measured_at\":1700000000/; s/TASKS/$tasks/"
    echo "$last"
} >"$dir/answer"
ctl 0 explain '-v 4711.0'
asked '{"version":1,"op":"explain","job":4711,"step":0}'
tr -s ' \n' '  ' <"$dir/out" >"$dir/flat" && mv "$dir/flat" "$dir/out"
out_has '4711.0 ended, started 2023-11-1.* ended .*, exit status 1 request user [a-z0-9]* asked for --contention-aware=auto,policy=pain: 9 tasks of 1 CPU; Slurm gave the step cores 0-1 of the job.s 0-3; the program is /usr/bin/solver profile'
out_has 'profile 5400 cache misses per million instructions, from valgrind, measured 2023-.* over the program.s beginning only; key exe:/usr/bin/solver#00 class devil: 5400 misses size 1 core of the 2 that Slurm gave: as asked place'
out_has 'place CPUs 0 -> 2, cache 1, memory node 0, by di (pain was asked for): the emptiest; beside it there: 4712.0 (turtle, 12 misses, cache 1; it shares the core of CPU 2), 4713.0 (unprofiled, cache 1) enforce'
out_has 'enforce by cgroup1, read back as wanted, moved 1 time; task 1 (pid 77) 0 -> 2;.*; and 1 more tasks (--json has all) observe'
out_has 'observe elapsed 1:00; CPU time user 58.25 s; system not known; largest process 2.0 MiB; cores in use 0.97 on average; cache misses not known; its memory by node not known: a process of it lets nobody look; its ranks not known: too many threads hang that look at its user.s processes bill not metered'
# without -v three lines: what, why, gain
# lines NAME STEP WANTED: what explain says of it, blanks as one
lines() {
    { echo "$node"; printf '{"version":1,"ok":true,"more":true,"step":%s}\n' "$2"; echo "$last"; } >"$dir/answer"
    ctl 0 explain 4711.0
    tr -s ' \n' '  ' <"$dir/out" >"$dir/flat" && mv "$dir/flat" "$dir/out"
    [ "$(cat "$dir/out")" = "$3 " ] || fail "explain: $1: should be: $3"
}
# plain STATE WHY SLOWDOWN PLACE [MORE]
plain() {
    printf '{"id":"4711.0","state":"%s","request":{"uid":0,"exe":"/usr/bin/solver"},"class":{"name":"devil"},"profile":{"miss_pmi":5400},"size":{"cores":2,"given":2},"enforce":{"way":"cgroup2","reason":"%s"},"slowdown":{%s},"place":{%s},"bill":{}%s}' \
        "$1" "$2" "$3" "$4" "${5:-}"
}
contend='"policy":"contend","rank":1,"of":3,"home":"0-1","cpus":"4-5","reason":"","neighbours":[{"class":"devil","program":"sweep","shared":"4"},{"class":"turtle","shared":""}]'
because='why it disturbs others in the cache (5400 misses per million instructions); of all places this one costs the node'"'"'s steps least speed'
suffers=$(echo "$because" | sed 's/in the cache (/in the cache, and suffers from who disturbs it (/')
both='; 2 steps share its caches, 1 of which disturbs it (sweep), 1 shares a core with it'
lines placed "$(plain placed '' '"predicted":0.05,"home":0.26,"measured":0.04' "$contend")" \
    "4711.0 solver of root: berth put it on CPUs 4-5; Slurm had given 0-1 $because$both gain 20 % faster than where Slurm put it (slower than alone: predicted 5.0 %, where Slurm put it 26 %, measured 4.0 %)"
one='"policy":"contend","rank":1,"of":3,"home":"0-1","cpus":"4-5","reason":"","neighbours":[{"class":"CLASS","program":"sweep","shared":""}]'
lines 'beside a devil' "$(plain placed '' '' "$(echo "$one" | sed s/CLASS/devil/)")" \
    "4711.0 solver of root: berth put it on CPUs 4-5; Slurm had given 0-1 $because; 1 step shares its caches and disturbs it (sweep) gain not known: too little is known of the node's programs"
lines 'beside a turtle' "$(plain placed '' '' "$(echo "$one" | sed s/CLASS/turtle/)")" \
    "4711.0 solver of root: berth put it on CPUs 4-5; Slurm had given 0-1 $because; 1 step shares its caches and hardly disturbs it gain not known: too little is known of the node's programs"
lines observed "$(plain observed '' '"predicted":0.26' "$contend,\"predicted_slowdown\":0.05")" \
    "4711.0 solver of root: berth only observes: it stays on CPUs 0-1, and would be put on 4-5 $suffers$both gain it would be 20 % faster than where Slurm put it (slower than alone: predicted 5.0 %, where Slurm put it 26 %)"
lines left "$(plain left 'not opted in' '"measured":null' "$contend")" \
    '4711.0 solver of root: berth leaves it alone, on CPUs 0-1 why not opted in gain nothing: it stands where Slurm put it'
lines failed "$(plain failed 'no such folder' '' "$contend")" \
    '4711.0 solver of root: berth put it back on CPUs 0-1, where Slurm had it why no such folder gain nothing: it stands where Slurm put it'
lines ended "$(plain ended '' '' "$contend" ',"ended_at":1700000060,"exit_status":256')" \
    "4711.0 solver of root: berth put it on CPUs 4-5; Slurm had given 0-1; it has ended, exit status 1 $because gain not known: too little is known of the node's programs"
lines 'ended, left alone' "$(plain ended 'left alone: not opted in' '' "$contend" ',"ended_at":1700000060,"exit_status":0')" \
    '4711.0 solver of root: berth leaves it alone, on CPUs 0-1; it has ended why left alone: not opted in gain nothing: it stands where Slurm put it'
lines 'observed for a while' "$(plain observed '' '"predicted":0.26,"proposed":0.2' "$contend,\"predicted_slowdown\":0.05")" \
    "4711.0 solver of root: berth only observes: it stays on CPUs 0-1, and would be put on 4-5 $suffers$both gain it would be 5.0 % faster than where Slurm put it (slower than alone: predicted 20 %, where Slurm put it 26 %)"
lines 'ended, observed' "$(plain ended 'observed only, nothing was moved' '"predicted":0.26' "$contend,\"predicted_slowdown\":0.05" ',"ended_at":1700000060,"exit_status":0')" \
    "4711.0 solver of root: berth only observes: it stays on CPUs 0-1, and would be put on 4-5; it has ended $suffers gain it would be 20 % faster than where Slurm put it (slower than alone: predicted 5.0 %, where Slurm put it 26 %)"
lines 'ended, was observed' "$(plain ended '' '"predicted":0.26' "$contend,\"predicted_slowdown\":0.05" ',"ended_at":1700000060,"exit_status":0,"was":"observed"')" \
    "4711.0 solver of root: berth only observes: it stays on CPUs 0-1, and would be put on 4-5; it has ended $suffers gain it would be 20 % faster than where Slurm put it (slower than alone: predicted 5.0 %, where Slurm put it 26 %)"
lines 'by DI, at home' "$(plain placed '' '' '"policy":"di","rank":2,"of":3,"home":"0-1","cpus":"0-1","reason":"","neighbours":[]')" \
    "4711.0 solver of root: berth leaves it on CPUs 0-1, where Slurm put it why it disturbs others in the cache (5400 misses per million instructions); number 2 of 3 by cache misses, which are spread over the caches; nobody else is on its caches gain not known: too little is known of the node's programs"
# its speed over time, in blocks or ASCII; who came and left, and a move; where instructions are not counted, the cores that it used
course='"course":{"from_s":[1,11,21,31],"to_s":[11,21,31,41],"instructions_s":[2000000000,2000000000,1000000000,null],"cpu":[1,1,1,0.5],"events":[{"at_s":21,"what":"came","id":"12.0","program":"stream"},{"at_s":31,"what":"moved","cpus":"4-5"},{"at_s":41,"what":"went","id":null,"program":null}]}'
{ echo "$node"; printf '{"version":1,"ok":true,"more":true,"step":%s}\n' "$(plain placed '' '' "$contend" ",$course" | sed 's/"uid":0/"job":4711,&/')"; echo "$last"; } >"$dir/answer"
LC_ALL=C ctl 0 job '--plot 4711'
sed -n '/^4711.0: /,$p' "$dir/out" >"$dir/plot"
[ "$(wc -L <"$dir/plot")" -le 80 ] || fail 'a curve is wider than 80 columns'
for line in '^4711.0: 1e9 instructions per second$' '^     2 | *##*[-.]*$' '^     0 | *###*$' '^       +--*a--*b--*c$' '^        0:00  *0:41$' \
    '^        a     0:21  stream (12.0) came beside it$' '^        b     0:31  berth moved it to CPUs 4-5$' '^        c     0:41  a step of another user left$'; do
    grep -q "$line" "$dir/plot" || { cp "$dir/plot" "$dir/out"; fail "the curve has no '$line'"; }
done
high=$(sed -n 2p "$dir/plot" | tr -cd '#' | wc -c) low=$(sed -n 9p "$dir/plot" | tr -cd '#' | wc -c)
[ "$high" -ge 34 ] && [ "$low" -ge $((high + 15)) ] && [ "$low" -le 56 ] || { cp "$dir/plot" "$dir/out"; fail "$high columns at full speed, $low at any"; }
sed -i 's/"instructions_s":\[[^]]*\]/"instructions_s":[null,null,null,null]/' "$dir/answer"
ctl 0 job '--plot 4711'
out_has '^4711.0: cores used (its instructions are not counted here)$'
sed -i 's/"course":{.*}\]}/"course":null/' "$dir/answer"
ctl 0 job '--plot 4711'
out_has '^4711.0: no curve: no window of it has ended, or nothing is counted of it$'
near='"near":{"asked":"gpu:0","devices":[],"holds":true,"far":false,"text":"near gpu0 (PCI 0000:3b:00.0, node 0)"}'
lines 'near its device' "$(plain placed '' '' '"policy":"di","rank":2,"of":3,"home":"0-1","cpus":"0-1","reason":"","neighbours":[],'"$near")" \
    "4711.0 solver of root: berth leaves it on CPUs 0-1, where Slurm put it why it disturbs others in the cache (5400 misses per million instructions); near gpu0 (PCI 0000:3b:00.0, node 0); nobody else is on its caches gain not known: too little is known of the node's programs"
billed='{"energy_j":340.04,"package_j":300,"dram_j":40.04,"node_j":null,"power_w":17,"edp":6800.5,"edp_per_instruction":1.7e-7,"source":"rapl-powercap","by":"counters, busy time","gaps":2,"idle_j":85.01,"idle_energy":"evenly"}'
{
    echo "$node"
    echo "$explained" | sed "s/SIZE/null/; s/EXIT/0/; s/KNOWN/false,\"miss_pmi\":null/; s/TASKS//; s/\"bill\":{[^}]*}/\"bill\":$billed/"
    echo "$last"
} >"$dir/answer"
ctl 0 explain '-v 4711.0'
tr -s ' \n' '  ' <"$dir/out" >"$dir/flat" && mv "$dir/flat" "$dir/out"
out_has 'bill 340.0 J by rapl-powercap, shared by counters, busy time; packages 300.0 J; memory 40.0 J; idle part 85.0 J by the rule evenly; average power 17.0 W; energy-delay product 6800.5 J s, 1.7e-07 J s per instruction; not metered for a time: 2 gaps'
ctl 0 explain '--json 4711'
asked '{"version":1,"op":"explain","job":4711}'
out_has '^{"steps":\[{"id":"4711.0",.*}\]}$'
sized='{"cores":6,"given":3,"threads":3,"constraint":"max out","gbps":12.345,"gbps_all":null,"source":"model","reason":"NuCore","nodes":[{"node":0,"cores":4,"given":2},{"node":1,"cores":2,"given":1}]}'
{ echo "$node"; echo "$explained" | sed "s/SIZE/$sized/; s/EXIT/9/; s/KNOWN/false,\"miss_pmi\":null/; s/TASKS//"; echo "$last"; } >"$dir/answer"
ctl 0 explain '-v 4711.0'
out_has 'killed by signal 9'
tr -s ' \n' '  ' <"$dir/out" >"$dir/flat"
grep -qF 'size 3 cores of the 6 that Slurm gave (node 0: 2 of 4, node 1: 1 of 2): NuCore; what limits it: max out; predicted 12.35 GB/s with them, not known with all; OMP_NUM_THREADS=3' "$dir/flat" ||
    fail "size: $(cat "$dir/flat")"
out_has 'none in the store for exe:/usr/bin/solver#00 (berthctl profile -- /usr/bin/solver'
# a task of an array is found by what berthd remembers, or by squeue, or by sacct; of a part of a job only these know
task_answer() { echo "$node"; echo "$explained" | sed "s/SIZE/null/; s/EXIT/0/; s/KNOWN/false,\"miss_pmi\":null/; s/TASKS//; s/\"array_job\":0,\"array_task\":0/\"array_job\":4700,\"array_task\":3/"; echo "$last"; }
task_answer >"$dir/answer"
ctl 0 explain 4700_3.0
[ "$(tail -n 2 "$dir/asked")" = '{"version":1,"op":"explain","job":4700}
{"version":1,"op":"explain","job":4711,"step":0}' ] || fail "asked: $(cat "$dir/asked")"
mkdir -p "$dir/slurm"
# slurm_says PROGRAM TEXT STATUS: what a program of Slurm prints that the tests find first
slurm_says() {
    printf '#!/bin/sh\necho "$@" >>%s/called\n%s\nexit %s\n' "$dir" "${2:+echo $2}" "$3" >"$dir/slurm/$1"
    chmod 755 "$dir/slurm/$1"
}
with_slurm() {
    : >"$dir/called"
    PATH="$dir/slurm:$PATH" ctl "$@"
}
# named JOB NAME: a job as squeue and sacct have it
named() { echo "'$1|0|1|RUNNING|n1|$2|1:00|2023-11-14T22:13:20|4||all|chem|a|b'"; }
slurm_says squeue "$(named 4711 4700_4)" 0
slurm_says sacct '' 1
with_slurm 0 explain 4700_4
grep -q '^-h -t all -o .* -j 4700_4$' "$dir/called" || fail "squeue: $(cat "$dir/called")"
asked '{"version":1,"op":"explain","job":4711}'
# squeue may name other parts of the job, too
printf '#!/bin/sh\necho %s\necho %s\n' "$(named 4710 4711+0)" "$(named 4711 4711+2)" >"$dir/slurm/squeue"
with_slurm 0 explain 4711+2.0
asked '{"version":1,"op":"explain","job":4711,"step":0}'
with_slurm 1 release 4700_3.0 # that answer has nobody at home
asked '{"version":1,"op":"release","job":4711,"step":0,"end":false}'
slurm_says squeue '' 1
slurm_says sacct "$(named 4711 4700_4)" 0
with_slurm 0 explain 4700_4
asked '{"version":1,"op":"explain","job":4711}'
for broken in '' 'Slurm accounting storage is disabled' 4700_4 "$(named 4711 4700_5)"; do
    slurm_says sacct "$broken" 0
    with_slurm 1 explain 4700_4
    err_is 'berthctl: 4700_4: neither squeue nor sacct tells here which job that is'
done
# from a login node: no berthd there; srun into the job asks the job's nodes
printf 'tune = socket=%s\nledger = sqlite:%s\n' "$dir/none" "$dir/ledger.db" >"$dir/login.conf"
chmod 600 "$dir/login.conf"
# from_login STATUS VERB ARGUMENT..: typed where no berthd runs
from_login() {
    : >"$dir/called"
    want=$1 verb=$2
    shift 2
    expect "$want" "login node: $verb $*" env PATH="$dir/slurm:$PATH" "$berthctl" "$verb" --config "$dir/login.conf" "$@"
    [ "$(wc -l <"$dir/err")" -le 1 ] || fail "more than a line"
}
me=$(id -u) columns='4711|1:00|2023-11-14T22:13:20|4||all|chem|a|b'
slurm_says squeue "'4711|$me|2|RUNNING|n[1-2]|$columns'" 0
# Answers come in lines that srun brings whole, between which anybody may say anything: what slurmstepd cut into parts of 1024 bytes was lost then.
ctl 0 explain '--json --pieces 4711.0'
[ "$(wc -l <"$dir/out")" -ge 3 ] || fail "an answer is not in pieces: $(cat "$dir/out")"
! grep -q '.\{480\}' "$dir/out" || fail 'a piece is longer than a line of slurmstepd'
sed 's/$/\nsrun: noise/' "$dir/out" >"$dir/said"
printf '#!/bin/sh\necho "$@" >>%s\ncat %s\n' "$dir/called" "$dir/said" >"$dir/slurm/srun"
chmod 755 "$dir/slurm/srun"
from_login 0 explain --ask 4711.0
out_has '^4711.0 *solver of '
[ "$(tail -n 1 "$dir/called")" = "--overlap --quiet --mpi=none -c1 --jobid=4711 -N2 -n2 $(readlink -f "$berthctl") explain --json --pieces --config $dir/login.conf 4711.0" ] ||
    fail "srun: $(tail -n 1 "$dir/called")"
# an answer of which a line is missing is said to be one, and is not printed as what went wrong
cp "$dir/said" "$dir/whole"
sed 3d "$dir/whole" >"$dir/said"
from_login 1 explain --ask 4711.0
err_is 'berthctl: 4711.0: it runs on n[1-2], and by srun into job 4711: a part of the answer is missing; type there: berthctl explain 4711.0'
mv "$dir/whole" "$dir/said"
# of two nodes both answer, and a task of an array is one job
slurm_says squeue "'4711|$me|2|RUNNING|n[1-2]|4700_3|1:00|2023-11-14T22:13:20|4||all|chem|a|b'" 0
sed 's/^berthctl-piece [^ ]*/berthctl-piece 1.1/' "$dir/said" | paste -d '\n' "$dir/said" - >"$dir/both" && mv "$dir/both" "$dir/said"
from_login 0 explain --ask --json 4700_3
[ "$(grep -o '"id":"4711.0"' "$dir/out" | wc -l)" -eq 2 ] || fail 'both nodes'
grep -q '^-h -t all -o .* -j 4700_3$' "$dir/called" || fail 'squeue is not asked which job it is'
# a node of one's own job
slurm_says squeue "'4711|$me|2|RUNNING|n[1-2]|$columns'" 0
ctl 0 status '--json --pieces'
sed 's/"name":"n1"/"name":"n2"/' "$dir/out" >"$dir/said"
from_login 0 status -w n2
out_has '^node n2: '
grep -q '^-h -t R -o .* -w n2 -u '"$me"'$' "$dir/called" || fail 'squeue -w n2'
grep -q -- '-N1 -n1 -w n2 .* status --json --pieces' "$dir/called" || fail 'srun -w n2'
slurm_says squeue '' 0
from_login 1 status -w n2
err_is 'berthctl: n2: no job of yours runs there to ask by; type there: berthctl status'
# what cannot be asked: one line that says what to type
for squeue in "4711|$me|1|PENDING||it is PENDING: berth knows of a job once it runs" \
    "4711|$me|1|COMPLETED|n1|it is COMPLETED, and the ledger here has nothing of it; on n1 type: berthctl explain 4711" \
    "4711|$((me + 1))|1|RUNNING|n1|it is another user's, and runs on n1: its owner, or root, can type there: berthctl explain 4711"; do
    slurm_says squeue "'${squeue%|*}|$columns'" 0
    from_login 1 explain 4711
    err_is "berthctl: 4711: ${squeue##*|}"
    ! grep -q overlap "$dir/called" || fail 'srun into a job that cannot be asked'
done
slurm_says squeue "'4711|$me|1|RUNNING|n1|$columns'" 0
slurm_says srun "'srun: error: Unable to create step for job 4711: Access/permission denied' >&2" 1
from_login 1 explain 4711 # nothing is started in anybody's job unasked
err_is 'berthctl: 4711: it runs on n1, and only berthd there knows of it; type there: berthctl explain 4711; or here: berthctl explain --ask 4711, for which srun starts a step in the job for a moment'
! grep -q overlap "$dir/called" || fail 'srun into a job unasked'
from_login 1 explain --ask 4711
err_is 'berthctl: 4711: it runs on n1, and by srun into job 4711: srun: error: Unable to create step for job 4711: Access/permission denied; type there: berthctl explain 4711'
# an srun that never answers is given up
printf '#!/bin/sh\nexec sleep 600\n' >"$dir/slurm/srun"
from_login 1 explain --ask --wait 0.2 4711
err_is 'berthctl: 4711: it runs on n1, and by srun into job 4711: srun: took too long; type there: berthctl explain 4711'
# what berthctl says there is said here
slurm_says srun "'berthctl: 4711: it is RUNNING, and did not ask for berth'" 1
from_login 1 explain --ask 4711
err_is 'berthctl: 4711: it is RUNNING, and did not ask for berth'
from_login 1 explain --here 4711
[ ! -s "$dir/called" ] || fail '--here asks Slurm'
err_has 'on the job.s node type: berthctl explain 4711$'
# what the ledger has of a step that ended is told, also by a berthd that has forgotten it
slurm_says squeue '' 1
printf '{"cluster":"c","node":"n9","job":4711,"step":0,"uid":0,"gid":0,"start":1700000000,"end":1700000060,"elapsed_s":60,"exit_status":256,"program":"solver","state":"placed","home":"0-1","cpus":"4-5","reason":"the emptiest","cores_given":2,"cores_used":2,"slowdown_predicted":0.05,"slowdown_home":0.26,"uj_package":3000000}\n' |
    "${LEDGER_FILL:-./tests/unit/common/ledger_fill}" "sqlite:$dir/ledger.db" || fail 'ledger_fill'
told='4711.0 solver of root: berth put it on CPUs 4-5; Slurm had given 0-1; it has ended, exit status 1 (from the ledger, node n9) why the emptiest gain 20 % faster than where Slurm put it (slower than alone: predicted 5.0 %, where Slurm put it 26 %); 3.0 J'
ledger_tells() {
    tr -s ' \n' '  ' <"$dir/out" >"$dir/flat"
    grep -qF "$told" "$dir/flat" || fail "of the ledger should be told: $told: $(cat "$dir/flat")"
}
from_login 0 explain 4711
ledger_tells
from_login 0 explain -v 4711.0
out_has '^4711.0 placed (from the ledger of n9), started '
from_login 0 explain --json 4711
out_has '"from":"ledger"'
slurm_says sacct '' 1
from_login 1 explain 4711.1
err_has '; the ledger has no such step; on the job.s node type: berthctl explain 4711.1$'
{ echo "$node"; echo "$last"; } >"$dir/answer"
sed -i "s;^tune = socket.*;tune = socket=$dir/sock;" "$dir/login.conf"
from_login 0 explain 4711.0
ledger_tells
[ ! -s "$dir/called" ] || fail 'Slurm is asked what the ledger knows'
# the job that berthd of its node knows nothing of: one line and its remedy, and no step in the job
mkdir -p "$dir/empty" && sed -i "s;^ledger.*;ledger = sqlite:$dir/empty/ledger.db;" "$dir/login.conf"
{ echo "$node"; echo "$last"; } >"$dir/answer"
now=$(date +%s) srun='srun --contention-aware (in a batch script: #SBATCH --contention-aware) has berth place it'
at() { date -d "@$1" +%Y-%m-%dT%H:%M:%S; }
untold() { # STATE NODES START VERB WANTED
    slurm_says squeue "'4711|$me|1|$1|$2|4711|1:00|$(at "$3")|4||all|chem|a|b'" 0
    from_login 1 "$4" 4711
    err_is "berthctl: 4711: $5"
    ! grep -q overlap "$dir/called" || fail 'srun into a job unasked'
}
"${LEDGER_FILL:-./tests/unit/common/ledger_fill}" "sqlite:$dir/empty/ledger.db" </dev/null
for verb in explain job; do
    untold RUNNING n1 "$now" $verb "it is RUNNING, and did not ask for berth: neither it nor the site's default has --contention-aware; $srun"
    untold RUNNING 'n[1-3]' "$now" $verb "it is RUNNING, and did not ask for berth: neither it nor the site's default has --contention-aware; $srun"
    untold COMPLETED n1 "$now" $verb "it is COMPLETED, and did not ask for berth: neither it nor the site's default has --contention-aware; $srun"
    untold RUNNING n1 $((now - 86400)) $verb 'it is RUNNING, and began before berthd did on n1; steps that start now are placed, if they ask: srun --contention-aware'
    untold CANCELLED '' "$now" $verb 'it is CANCELLED, and ran nowhere'
    untold RUNNING n2 "$now" $verb "it runs on n2, and only berthd there knows of it; type there: berthctl $verb 4711; or here: berthctl $verb --ask 4711, for which srun starts a step in the job for a moment"
done
rm -rf "$dir/empty"
untold COMPLETED n1 "$now" explain "it is COMPLETED; berthd on n1 has nothing of it, and remembers its last steps only ($dir/empty/ledger.db: there is no ledger yet: no step has ended here, or it is kept elsewhere (--ledger URL, ledger of berth.conf)); root can have all of them kept: ledger in berth.conf(5)"
slurm_says squeue '' 1
# hinted FROM TO WANTED: what is proposed of a step without a profile
hinted() {
    { echo "$node"; echo "$explained" | sed "s/SIZE/null/; s/EXIT/0/; s/KNOWN/false,\"miss_pmi\":null/; s/TASKS//; s;$1;$2;g"; echo "$last"; } >"$dir/answer"
    ctl 0 explain '-v 4711.0'
    tr -s ' \n' '  ' <"$dir/out" >"$dir/flat"
    grep -qF "profile none in the store for $3 class" "$dir/flat" || fail "hint: should be: $3: $(cat "$dir/flat")"
}
hinted 'exe:/usr/bin/solver#00' tag:big 'tag:big (berthctl profile --tag big -- COMMAND makes one)'
hinted /usr/bin/solver /var/spool/slurmd/job7/slurm_script \
    'exe:/var/spool/slurmd/job7/slurm_script#00: a batch script, whose programs are profiled where srun starts them'
hinted '"id":"4711.0"' '"id":"4711.batch"' 'exe:/usr/bin/solver#00: a batch script, whose programs are profiled where srun starts them'
# edp_explained FIELDS WANTED: what is said of DIO-POWER's two predictions
edp_explained() {
    { echo "$node"; echo "$explained" | sed "s/SIZE/null/; s/EXIT/0/; s/KNOWN/false,\"miss_pmi\":null/; s/TASKS//; s/\"reason\":\"the emptiest\"/&,$1/"; echo "$last"; } >"$dir/answer"
    ctl 0 explain '-v 4711.0'
    tr -s ' \n' '  ' <"$dir/out" >"$dir/flat"
    grep -qF ": the emptiest$2; beside it there" "$dir/flat" || fail "edp: $(cat "$dir/flat")"
}
edp_explained '"edp_spread":90,"edp_cluster":60.5,"edp_choice":"cluster","edp_source":"model"' \
    "; energy-delay product clustered 60.500 J s; spread 90.000 J s (predicted, power by the site's model)"
edp_explained '"edp_spread":90,"edp_cluster":60.5,"edp_choice":"cluster","edp_source":"measured"' \
    '; energy-delay product clustered 60.500 J s; spread 90.000 J s (predicted, power measured)'
edp_explained '"edp_spread":null,"edp_cluster":null,"edp_choice":"cluster","edp_source":null' '; energy-delay products are not known'
edp_explained '"edp_spread":null,"edp_cluster":null,"edp_choice":null,"edp_source":null' ''
# max-slowdown, in the same place
edp_explained '"max_slowdown":{"asked":0.05,"predicted":0.03,"met":true,"reason":"predicted 3.0 %"}' '; max-slowdown is met: predicted 3.0 %'
edp_explained '"max_slowdown":{"asked":0.05,"predicted":0.5,"met":false,"reason":"predicted 50 %"}' '; max-slowdown is not met: predicted 50 %'
edp_explained '"max_slowdown":{"asked":null,"predicted":null,"met":false,"reason":"not allowed"}' '; max-slowdown has no effect: not allowed'
edp_explained '"max_slowdown":null' ''
{ echo "$node"; echo "$last"; } >"$dir/answer"
ctl 1 explain 4799
err_is 'berthctl: 4799: no such step here (ended steps are remembered: the last 7)'

# ---- doctor ----
# stopped_by ROW: what doctor shows first, and says on stderr
stopped_by() {
    [ "$(head -n 1 "$dir/out")" = 'stops berth' ] || fail "doctor does not begin with what stops berth"
    sed -n 2p "$dir/out" | grep -q "^$1  " || fail "the first row is not $1"
    err_has "^berthctl: doctor: berth cannot place steps here: see \(.*, \)*$1\(, .*\)*$"
}
SLURM_CONF="$dir/none" "$berthctl" doctor --json --socket "$dir/sock" >"$dir/out" 2>"$dir/err"
works=$?
[ $works -le 1 ] || fail "doctor: exit status $works"
out_has "^{\"works\":$([ $works -eq 0 ] && echo true || echo false),\"missing\":\["
for row in privileges configuration slurm kernel topology numa cgroup counters:\ perf counters:\ resctrl counters:\ software nmi\ watchdog meters:\ powercap meters:\ perf meters:\ hwmon meters resctrl enforcement valgrind profiles berthd; do
    out_has "{\"name\":\"$row\",\"state\":\"\(ok\|warn\|absent\)\",\"essential\":\(true\|false\),\"found\":\"..*\",\"without\":\(null\|\"..*\"\)}"
done
out_has "{\"name\":\"berthd\",\"state\":\"ok\",\"essential\":true,\"found\":\"0.1.0 at $dir/sock: cgroup1, 2 steps\",\"without\":null}"
printf 'window = 2s\n' >"$dir/berth.conf"
chmod 600 "$dir/berth.conf"
"$berthctl" doctor --all --config "$dir/berth.conf" --socket "$dir/sock" >"$dir/out" 2>"$dir/err"
out_has "^configuration *ok *$dir/berth.conf, of an older version, which is read"
printf 'log = nowhere\n' >"$dir/berth.conf"
chmod 600 "$dir/berth.conf"
expect 1 'doctor, bad configuration' "$berthctl" doctor --config "$dir/berth.conf" --socket "$dir/none"
out_has "^configuration *absent  $dir/berth.conf:1: log: 'nowhere' is none of"
out_has 'so: steps start where Slurm puts them'
err_has '^berthctl: doctor: berth cannot place steps here: see configuration'
printf 'PlugStackConfig=%s/stack # here\n' "$dir" >"$dir/slurm.conf"
printf 'include %s/stack.d/*.conf\n' "$dir" >"$dir/stack"
mkdir "$dir/stack.d"
printf '# required spank_berth.so\n' >"$dir/stack.d/a.conf"
expect 1 'doctor, no plugin' env SLURM_CONF="$dir/slurm.conf" "$berthctl" doctor --all --socket "$dir/sock"
stopped_by plugin
out_has "^plugin *warn *$dir/stack does not load spank_berth"
out_has 'ConstrainCores=no: berth'
printf 'ConstrainCores=yes\n' >"$dir/cgroup.conf"
printf 'optional /usr/lib/no/spank_berth.so\n' >"$dir/stack.d/b.conf"
expect 1 'doctor, no such plugin' env SLURM_CONF="$dir/slurm.conf" "$berthctl" doctor --socket "$dir/sock"
out_has "^plugin *warn */usr/lib/no/spank_berth.so: No such file or directory"
# A slurmd of one's own on PATH says which Slurm this is: the plugin fits its own series only.
series=$(sed -n 's/^SLURM_SERIES = //p' Makefile)
printf 'optional spank_berth.so default=off\n' >"$dir/stack.d/b.conf"
printf 'PlugStackConfig=%s/stack\nPluginDir=/no/where:%s/.libs\n' "$dir" "$PWD" >"$dir/slurm.conf"
slurmd_is() {
    mkdir -p "$dir/bin"
    printf '#!/bin/sh\necho slurm-wlm %s.3\n' "$1" >"$dir/bin/slurmd"
    chmod 755 "$dir/bin/slurmd"
}
doctor_of() { # WHAT: as with any plugin
    expect 0 "$1" env PATH="$dir/bin:$PATH" SLURM_CONF="$dir/slurm.conf" sh -c "$berthctl doctor --all --socket $dir/sock || [ \$? = $works ]"
}
doctor_stopped() { # WHAT: by the plugin
    expect 1 "$1" env PATH="$dir/bin:$PATH" SLURM_CONF="$dir/slurm.conf" "$berthctl" doctor --all --socket "$dir/sock"
    stopped_by plugin
}
slurmd_is "$series"
doctor_of 'doctor, plugin'
out_has "^plugin *ok *$dir/stack loads $PWD/.libs/spank_berth.so, for Slurm $series"
slurmd_is 99.11
doctor_stopped 'doctor, plugin of another series'
out_has "^plugin *warn *$PWD/.libs/spank_berth.so is for Slurm $series, and this is 99.11"
out_has "so: no step is placed, srun and sbatch know no --contention-aware"
# slurmd calls no epilog of a plugin with RunInJob, and none that is younger than it: here a process of that name.
echo 'PrologFlags=Contain,RunInJob' >>"$dir/slurm.conf"
doctor_stopped 'doctor, RunInJob'
out_has '^epilog *warn *PrologFlags=Contain,RunInJob: slurmd calls no epilog of a plugin'
# what slurm.conf includes counts as its own, the last word first
sed -i /PrologFlags/d "$dir/slurm.conf"
printf 'Include more.conf\n' >>"$dir/slurm.conf"
printf 'PrologFlags=RunInJob\nPlugStackConfig=%s/elsewhere\n' "$dir" >"$dir/more.conf"
printf 'include %s/stack\n' "$dir" >"$dir/elsewhere"
slurmd_is "$series"
doctor_of 'doctor, Include'
out_has "^plugin *ok *$dir/elsewhere loads $PWD/.libs/spank_berth.so, for Slurm"
out_has '^epilog *warn *PrologFlags=RunInJob: slurmd calls no epilog of a plugin'
rm "$dir/more.conf"
doctor_of 'doctor, Include of nothing'
out_has "^plugin *warn *no readable slurm.conf (SLURM_CONF names another): $dir/more.conf: No such file"
sed -i /Include/d "$dir/slurm.conf"
mkdir "$dir/old"
cp "$(command -v sleep)" "$dir/old/slurmd"
"$dir/old/slurmd" 600 &
slurmd=$!
# younger_says SERIES WHAT: clocks tell seconds, so the file is changed until it is the younger one
younger_says() {
    what='doctor, a younger plugstack.conf'
    slurmd_is "$1"
    for try in $(seq 100); do
        echo "# $try" >>"$dir/stack.d/b.conf"
        if [ "$1" = "$series" ]; then doctor_of "$what"; else doctor_stopped "$what"; fi
        grep -q '^epilog *warn' "$dir/out" && break
        sleep 0.1
    done
    out_has "^epilog *warn *plugstack.conf is younger than slurmd, which may not know the epilog: $2"
}
younger_says 23.02 'restart slurmd'
younger_says 23.11 'scontrol reconfigure'
kill "$slurmd"
out_has 'ConstrainCores=yes: Slurm'
# With a berthd that tells what it found, in one screen; what this user found about the same is left out, and judges nothing.
features='[{"name":"placement","state":"on","say":"steps are moved","missing":null},{"name":"memory","state":"off","say":"memory_rate=0","missing":null},{"name":"perf","state":"not allowed","say":"perf_event_open","missing":["CAP_PERFMON"]},{"name":"energy","state":"on","say":"rapl","missing":null}]'
{ echo "$node" | sed "s/\"node\":{/&\"features\":$features,/"; echo "$last"; } >"$dir/answer"
slurmd_is "$series"
expect 0 'doctor, in one screen' env PATH="$dir/bin:$PATH" SLURM_CONF="$dir/slurm.conf" "$berthctl" doctor --socket "$dir/sock"
out_has '^berth does less$'
out_has '^berthd: perf *warn *perf_event_open: missing: CAP_PERFMON'
out_has '^off, as configured *berthd: memory$'
tr -s ' \n' ' ' <"$dir/out" | grep -q ' fine .*slurm, plugin,.* berthd: placement, berthd: energy off, ' || fail "what is fine: $(cat "$dir/out")"
grep -q '^\(counters\|meters\|enforcement\|privileges\)' "$dir/out" && fail "what berthd found is shown twice: $(cat "$dir/out")"
[ "$(wc -l <"$dir/out")" -le 24 ] || fail "doctor is longer than a screen: $(cat "$dir/out")"
# A node that is dead, silent or released is told first, with exit 1, by doctor and by status.
expect 1 'doctor, no berthd' env SLURM_CONF="$dir/none" "$berthctl" doctor --socket "$dir/none"
stopped_by berthd
out_has "^berthd *absent *no answer at $dir/none: No such file or directory$"
out_lacks 'berthctl doctor)'
released() { sed "s/\"node\":{/&\"released\":true,/"; }
{ echo "$node" | released; echo "$last"; } >"$dir/answer"
expect 1 'doctor, released' env SLURM_CONF="$dir/none" "$berthctl" doctor --socket "$dir/sock"
stopped_by 'berthd: release'
out_has '^berthd: release *absent *root has released the node$'
out_has 'so: new steps stay where Slurm puts them, until: berthctl release --end$'
ctl 1 status ''
[ "$(head -n 1 "$dir/out")" = 'NOT PLACING: released by root, new steps stay where Slurm puts them: berthctl release --end takes it back' ] || fail 'status does not begin with the release'
ctl 1 status --json
out_has '"released":true'
expect 0 'top, released' "$berthctl" top -b -n 1 --socket "$dir/sock"
out_has '^NOT PLACING: released by root'
denied='[{"name":"placement","state":"not allowed","say":"steps are moved (cgroup1)","missing":["CAP_SYS_NICE"]}]'
{ echo "$node" | sed "s/\"node\":{/&\"features\":$denied,/"; echo "$last"; } >"$dir/answer"
ctl 1 status ''
out_has '^NOT PLACING: berthd is not allowed to place steps'
for refused in '0 2' '1 3'; do # the exit status, after so many steps
    { echo "$node" | sed "s/\"failures\":0/&,\"refused\":3,\"refused_in_a_row\":${refused#* }/"; echo "$last"; } >"$dir/answer"
    ctl "${refused% *}" status ''
done
out_has '^NOT PLACING: the last 3 steps could not be placed'
# so are launches that went on without it
{ echo "$node" | sed 's/"failures":0/&,"failed_open":{"late":2,"unheard":1}/'; echo "$last"; } >"$dir/answer"
ctl 0 status ''
out_has '^3 launches went on without berth since its start (2 late, 1 unheard)$'
"$berthctl" doctor --socket "$dir/sock" >"$dir/out" 2>"$dir/err"
out_has '^berthd: launches *warn *3 launches went on without berth'
# The standing trial: a step's arm is in the table where one is on, and doctor says what it tells, or how long until it can.
{ echo "$node"; step 1.0 1 a | sed 's/"tasks":2/&,"trial":"control"/'; step 2.0 1 b; echo "$last"; } >"$dir/answer"
ctl 0 status ''
out_has '^STEP .* CPUS TRIAL  *USER '
out_has '^1.0 .* 2-3  control root '
out_has '^2.0 .* 2-3  -  *root '
{ echo "$node"; step 2.0 1 b; echo "$last"; } >"$dir/answer"
ctl 0 status ''
out_lacks 'TRIAL'
trial='[{"name":"placement","state":"on","say":"steps are moved","missing":null},{"name":"trial","state":"on","say":"5 % of the jobs are only observed, by lot","missing":null}]'
{ echo "$node" | sed "s/\"node\":{/&\"features\":$trial,/"; echo "$last"; } >"$dir/answer"
printf 'ledger = sqlite:%s/trial.db\n' "$dir" >"$dir/berth.conf"
# fill JOBS SPEED: so many jobs more, each tenth by lot; those that berth placed were so many times as fast
job=0
fill() {
    now=$(date +%s) n=0
    while [ $n -lt "$1" ]; do
        job=$((job + 1)) n=$((n + 1)) arm=placed state=placed speed=$2
        [ $((job % 10)) -ne 0 ] || arm=control state=observed speed=1
        speed=$(awk -v s="$speed" -v j=$job 'BEGIN { srand(j); rand(); print 1e9 * s * (1 + (rand() - 0.5) / 5) }')
        printf '{"cluster":"c","node":"n9","job":%d,"step":0,"uid":0,"gid":0,"start":%d,"end":%d,"elapsed_s":60,"exit_status":0,"program":"solver","state":"%s","trial":"%s","home":"0-1","cpus":"4-5","cores_given":2,"cores_used":2,"core_speed":%s}\n' \
            $job $((now - 86400)) $((now - 86340)) $state $arm "$speed"
    done | "${LEDGER_FILL:-./tests/unit/common/ledger_fill}" "sqlite:$dir/trial.db" || fail 'ledger_fill'
    job=$((job + $1))
}
doctor_trial() { "$berthctl" doctor -a --config "$dir/berth.conf" --socket "$dir/sock" >"$dir/out" 2>"$dir/err"; }
fill 40 1.02
doctor_trial
out_has '^trial  *ok  *cannot be told yet: 4 jobs that the lot left where Slurm put them, of about [0-9]* that it takes; at this rate that is about [0-9]* days* more$'
fill 2000 1.1
doctor_trial
out_has '^trial  *ok  *berth helps: the same programs took '
rm "$dir/trial.db"
fill 2000 0.8
doctor_trial
out_has '^trial  *warn  *berth HURTS: the same programs took '
# On a terminal rows are wrapped, and none is cut: each word that a pipe gets is there.
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1; then
    said() { tr -d '\r' <"$1" | tr -s ' \n' '\n'; }
    ask="$berthctl doctor --socket $dir/none"
    SLURM_CONF="$dir/none" $ask >"$dir/piped" 2>"$dir/err"
    SLURM_CONF="$dir/none" script -qec "stty cols 80; $ask 2>/dev/null" /dev/null </dev/null >"$dir/out"
    [ "$(said "$dir/out")" = "$(said "$dir/piped")" ] || fail 'a word is lost at 80 columns'
    tr -d '\r' <"$dir/out" | grep -v '/' | grep -q '.\{81\}' && fail 'a row is wider than 80 columns'
fi


[ $failures -eq 0 ] && echo "berthctl: every check passed"
[ $failures -eq 0 ]
