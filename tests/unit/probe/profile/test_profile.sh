#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_ctl_profile - `berthctl profile` on real programs under valgrind, in the caches of a small machine that is the same everywhere.
# BERTHCTL names the program, PROGRAMS the folder of devil and turtle (the build folder's by default).
command -v valgrind >/dev/null || { echo "SKIP: valgrind is not installed"; exit 77; }
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"
programs=$(realpath "${PROGRAMS:-./tests/fixtures/programs}")
devil=$programs/devil
turtle=$programs/turtle
reuse=$programs/reuse
db=$dir/store/profiles.db

profile() { # ARGUMENT...: run it on the small machine; $status, $dir/out, $dir/err
    "$berthctl" profile --db "$db" --topology 'package:1 l3:1 core:2 pu:1' --llc 256K:16:64 "$@" \
        >"$dir/out" 2>"$dir/err" </dev/null
    status=$?
}

number() { # KEY [FILE]: the number of that key in the JSON on stdout
    sed -n 's/.*"'"$1"'":\([0-9.e+-]*\).*/\1/p' "${2:-$dir/out}"
}

within() { # WHAT LOW HIGH
    value=$(number "$1")
    awk -v v="$value" -v l="$2" -v h="$3" 'BEGIN { exit !(v != "" && v >= l && v <= h) }' ||
        bad "profile: $1" "$2..$3" "'$value' of $(cat "$dir/out" "$dir/err")"
}

has() { # FILE TEXT
    grep -qF -e "$2" "$dir/$1" || bad "profile: $1" "$2" "$(cat "$dir/$1")"
}

ends() { # STATUS: how the last one ended
    [ "$status" -eq "$1" ] || bad "profile" "status $1" "$status: $(cat "$dir/err")"
}

is_stored() { # KEY
    "$berthctl" profile show --db "$db" "$1" >/dev/null 2>&1
}

profile --json "$turtle"
if grep -q 'built without its tool of valgrind' "$dir/err"; then
    echo "SKIP: berth was built without its tool of valgrind"
    exit 77
fi
ends 0
has out '"source":"valgrind",'

# Without its tool, it says so in one line
cp "$berthctl" "$dir/alone"
cp "$(dirname "$berthctl")/berth-probe" "$dir/"
if "$dir/alone" profile --db "$db" --llc 256K:16:64 true >"$dir/out" 2>"$dir/err"; then
    echo "skipped: berth's tool of valgrind is installed here, so each berthctl finds it"
else
    has err "berth's tool of valgrind, is not there"
    [ "$(wc -l <"$dir/err")" -eq 1 ] || bad "profile without its tool" "one line" "$(cat "$dir/err")"
    "$dir/alone" doctor --json >"$dir/out" 2>"$dir/err"
    has out '"name":"valgrind","state":"absent"'
fi

# What streams misses at each line, pass after pass: 2 passes of 16384 lines, and few more at its start
profile --json -- "$devil" 1 2
ends 0
has out '"class":"devil"'
has out '"truncated":false'
has out '"machine":{"llc_bytes":262144,"llc_ways":16,"line_bytes":64}'
awk -v m="$(number misses)" -v i="$(number instructions)" \
    'BEGIN { n = m * i / 1e6; exit !(n >= 32768 && n < 32768 + 6000) }' ||
    bad "profile devil" "32768 to 38768 misses" "$(cat "$dir/out")"
[ "$(wc -l <"$dir/out")" -eq 1 ] || bad "profile --json" "one line of JSON" "$(cat "$dir/out")"
has err 16384 # its own output

# Timed: enough CPU time gives instructions per second of one core, and what that core reads; little of it, a piped input, or
# --no-timing give none
zeros='dd if=/dev/zero of=/dev/null bs=1M count=4000'
profile --json $zeros
ends 0
within instructions_per_s 1e5 1e11
awk -v g="$(number core_gbps)" -v m="$(number misses)" -v i="$(number instructions_per_s)" \
    'BEGIN { w = m * i * 64e-15; exit !(g > 0.999 * w && g < 1.001 * w) }' ||
    bad "profile: core_gbps" "misses * instructions_per_s * 64" "$(cat "$dir/out")"
[ ! -e /proc/self/numa_maps ] || has out '"node_share":['
profile --json --no-timing $zeros
ends 0
has out '"instructions_per_s":null,"core_gbps":null'
profile --json true
has out '"instructions_per_s":null'
has err 'instructions per second not known: it is too short'
profile --json --limit 1K --skip 0 "$turtle"
has err 'instructions per second not known: it was stopped at the limit'
echo x | "$berthctl" profile --db "$db" --llc 256K:16:64 --json cat >"$dir/out" 2>"$dir/err"
has err 'instructions per second not known: its input cannot be read twice'
profile --json sh -c "[ -e '$dir/once' ] && exit 3; touch '$dir/once'"
ends 0
has err 'instructions per second not known: its second run ended otherwise than the first'
"$berthctl" profile --db "$db" --llc 256K:16:64 --json sh -c "[ \$(wc -l) -gt 100 ] && $zeros" \
    <"$0" >"$dir/out" 2>"$dir/err"
within instructions_per_s 1e5 1e11
[ "$(grep -c copied "$dir/err")" -eq 1 ] || bad "profile" "its output once" "$(cat "$dir/err")"

# --dram: what a stream that writes asks of the memory, half of it reads, for DraMon's model and the store
profile --json --memory 2:1:8:16 --tag asked -- "$devil"
ends 0
within read_ratio 0.49 0.52
within hit 0.7 0.95
within ranks 1 1
within issue_rate_single 1e4 1e10
{
    printf '{"hardware":{"channels":2,"banks":8,"tRCD_ns":15,"tCAS_ns":15,"tRP_ns":15,"tBurst_ns":6,"tWR_ns":15,"tRTRS_ns":3,"tWTR_ns":7.5,'
    printf '"tCK_ns":1.5,"request_bytes":64,"auto_close":16},"cores":6,"software":'
    sed -n 's/.*"dram":\({.*}}\)}$/\1}/p' "$dir/out"
} >"$dir/dramon"
"$berthctl" model dramon "$dir/dramon" >"$dir/curve" 2>"$dir/err" && grep -q '"cores":6' "$dir/curve" ||
    bad "profile --dram" "model dramon takes it" "$(cat "$dir/dramon" "$dir/err")"
"$berthctl" profile show --json --db "$db" tag:asked | grep -q '"dram":{"hit":0' || bad "profile --dram" "it is stored" ""
profile --dram --topology 'package:1 core:2 pu:1' --llc 256K:16:64 -- "$turtle"
ends 1
has err '--memory tells'
profile --memory 2:1:8 -- "$turtle"
ends 2
profile --dram --sample 2 -- "$turtle"
ends 2

# What fits is a turtle once the caches are warm, and a program is stopped at the limit
profile --json --limit 200K -- "$turtle" 1000000
ends 0
has out '"class":"turtle"'
has out '"truncated":true'
within references 200000 200099 # to the end of a block
within misses 0 100
has err 'at the limit of 200000 references; the first 1000'

profile --json --seconds 1 -- "$turtle" 1000000
ends 0
has out '"truncated":true'
has err 'after 1 seconds'
has err 'instructions per second not known: it was stopped at the limit'
profile --json --seconds 4 sleep 1000 # nothing in the second half: all of it is taken
ends 0
within misses 1000 1000000

# Each process has caches of its own, also where they run side by side, and where one becomes another program: twice 4096 lines that
# fit are found
profile --json sh -c "'$reuse' sequential 3072 20 1 3 & exec '$reuse' sequential 3072 20 1 3"
ends 0
awk -v m="$(number misses)" -v i="$(number instructions)" 'BEGIN { n = m * i / 1e6; exit !(n > 6 * 3072 && n < 2 * 6 * 3072) }' ||
    bad "profile: processes" "first touches only" "$(cat "$dir/out")"
[ "$(number processes)" -eq 8 ] || bad "profile: processes" 8 "$(cat "$dir/out")"

# The limit is one for all; what is killed was counted
profile --json --limit 5M sh -c "'$turtle' 1000000 & '$turtle' 1000000 & wait"
ends 0
has out '"truncated":true'
within references 4800000 5000299
profile --json --force sh -c "'$devil' 1; kill -9 \$\$"
ends 0
within references 16384 100000000
awk -v m="$(number misses)" -v i="$(number instructions)" 'BEGIN { exit !(m * i / 1e6 >= 16384) }' ||
    bad "profile: a killed one" "its misses" "$(cat "$dir/out")"

# Some of the sets, and how far that may be off
profile --json --no-timing "$reuse" random 8192 200000
all=$(number misses)
has out '"sampling":1,"miss_pmi_error":0.0'
profile --json --no-timing --sample 4 "$reuse" random 8192 200000
ends 0
has out '"sampling":4'
awk -v a="$all" -v m="$(number misses)" -v e="$(number miss_pmi_error)" 'BEGIN { exit !(e > 0 && e < m / 20 && (a - m)^2 < 9 * e^2) }' ||
    bad "profile --sample 4" "$all within 3 standard errors" "$(cat "$dir/out")"

# The same data in a cache that holds them: found at some LRU position, in one that is smaller: missed
"$berthctl" profile --db "$db" --topology 'package:1 l3:1 core:2 pu:1' --llc 4M:16:64 --json --skip 100K \
    "$devil" 1 10 >"$dir/out" 2>"$dir/err"
status=$?
ends 0
within misses 0 2000
within llc_apki 50 400

# Keys: path and content, or a tag; links and PATH lead to the same program
ln -s "$devil" "$dir/link"
profile --json "$dir/link" 1
ends 0
has out '"key":"exe:'"$devil"'#'
PATH=$programs:$PATH
export PATH
profile --tag streams.1 --json devil 1
ends 0
has out '"key":"tag:streams.1"'
is_stored tag:streams.1 || bad "profile --tag" "stored" "not"

# The program's own streams and argv[0] are its own; what it prints does not disturb the trace
profile sh -c 'echo "I  10,8"; echo " L 10,8" >&2; cat'
ends 0
[ "$(cat "$dir/out")" = "I  10,8" ] || bad "profile sh" "its own output alone" "$(cat "$dir/out")"
has err ' L 10,8'

# Children are followed, also those of a script, and those that outlive it
cat >"$dir/script" <<END
#!/bin/sh
("$devil" 1 >/dev/null; "$devil" 1 >/dev/null) &
END
chmod +x "$dir/script"
profile --json "$dir/script"
ends 0
has out "\"key\":\"exe:$(realpath "$dir")/script#"
awk -v m="$(number misses)" -v i="$(number instructions)" 'BEGIN { exit !(m * i / 1e6 >= 32768) }' ||
    bad "profile script" "the misses of both devils" "$(cat "$dir/out")"

# What failed is not stored, unless it is wanted
profile --tag failed sh -c 'exit 3'
ends 1
has err 'berthctl: profile: sh failed with exit status 3: nothing stored (--force stores)'
profile --tag failed sh -c 'kill -9 $$'
ends 1
has err 'SIGKILL'
is_stored tag:failed && bad "profile: a failed program" "nothing stored" "stored"
profile --tag failed --force sh -c 'exit 3'
ends 0
is_stored tag:failed || bad "profile --force" "stored" "not"

# Interrupted: nothing is stored, and nothing goes on running
sleep=$dir/own_sleep
cp "$(command -v sleep)" "$sleep"
for signal in INT TERM; do
    env --default-signal=INT "$berthctl" profile --db "$db" --llc 256K:16:64 --tag stopped \
        sh -c "'$sleep' 1000 & trap '' INT TERM; while :; do :; done" >"$dir/out" 2>"$dir/err" </dev/null &
    pid=$!
    for _ in $(seq 300); do # until the program's own child runs, too: a loaded machine takes its time
        grep -qaP "$dir/own_sleep\x001000" /proc/[0-9]*/cmdline 2>/dev/null && break
        sleep 0.1
    done
    kill -s $signal $pid
    wait $pid
    status=$?
    ends 1
    has err "berthctl: profile: stopped by SIG$signal: nothing stored"
    grep -l "$dir/[o]wn_sleep" /proc/[0-9]*/cmdline 2>/dev/null &&
        bad "profile: after SIG$signal" "no process left" "the above"
done
is_stored tag:stopped && bad "profile: an interrupted program" "nothing stored" "stored"

# A full disk: the result is shown, and what was stored before is still there
if unshare -m true 2>/dev/null; then
    mkdir "$dir/full"
    full=$(unshare -m sh -c '
        mount -t tmpfs -o size=256k tmpfs "$2/full" || exit 0
        "$1" profile --db "$2/full/p.db" --llc 256K:16:64 --tag before true >/dev/null 2>&1
        dd if=/dev/zero of="$2/full/filler" bs=4k 2>/dev/null
        "$1" profile --db "$2/full/p.db" --llc 256K:16:64 --tag after --json true 2>&1; echo "status $?"
        "$1" profile list --db "$2/full/p.db"' sh "$berthctl" "$dir" 2>&1)
    for wanted in '"key":"tag:after"' 'no space left: nothing was stored' 'status 1' ' tag:before'; do
        case $full in
        *"$wanted"*) ;;
        *) bad "profile on a full disk" "$wanted" "$full" ;;
        esac
    done
else
    echo "skipped: a full disk needs the right to mount"
fi

# list, show, forget
says 'tag:streams.1' profile list --db "$db"
says '"key":"tag:streams.1"' profile list --db "$db" --json
says 'hits by LRU position' profile show --db "$db" tag:streams.1

# What it asks of memory, measured elsewhere
refuses '{"curve_gbps":[0,1]}' 1 'no such key' profile demand --db "$db" tag:none
refuses '{"curve_gbps":[0,-1]}' 1 'stdin: curve_gbps[1]' profile demand --db "$db" tag:streams.1
refuses '' 1 'stdin' profile demand --db "$db" tag:streams.1
refuses '' 1 "$dir/none" profile demand --db "$db" tag:streams.1 "$dir/none"
refuses '' 2 'one KEY and a FILE' profile demand --db "$db"
refuses '' 2 'one KEY and a FILE' profile demand --db "$db" a b c
says '"demand":null' profile show --db "$db" --json tag:streams.1
echo '{"curve_gbps":[0,1.5,2]}' | "$berthctl" profile demand --db "$db" tag:streams.1 || bad "profile demand" "status 0" "$?"
says '"demand":{"curve_gbps":[0.0,1.5,2.0],' profile show --db "$db" --json tag:streams.1
says 'demand        {' profile show --db "$db" tag:streams.1
"$berthctl" profile forget --db "$db" tag:streams.1 || bad "profile forget" "status 0" "$?"
refuses '' 1 'no such key' profile show --db "$db" tag:streams.1
refuses '' 1 'no such key' profile forget --db "$db" tag:streams.1
refuses '' 2 'one KEY' profile show --db "$db"
refuses '' 2 'no argument' profile list --db "$db" x
refuses '' 2 '--frob: no such option' profile list --db "$db" --frob

# What cannot be
says 'usage: berthctl profile' profile --help
refuses '' 2 'takes a COMMAND' profile --db "$db"
refuses '' 2 '--frob: no such option' profile --frob true
refuses '' 2 '--limit: a value is missing' profile --limit
refuses '' 1 'nonesuch: command not found' profile --db "$db" --llc 256K:16:64 nonesuch
refuses '' 1 'No such file' profile --db "$db" --llc 256K:16:64 ./none/such
refuses '' 1 'not a program' profile --db "$db" --llc 256K:16:64 "$dir"
refuses '' 1 'not known by topology = core:2 pu:1: give --llc BYTES:WAYS:LINE, as `lscpu -C` has them' profile --db "$db" --topology 'core:2 pu:1' true
refuses '' 1 'no set' profile --db "$db" --llc 64:16:64 true
refuses '' 1 'power of two' profile --db "$db" --llc 64K:16:48 true
refuses '' 1 '/no/such/folder/p.db' profile --db /no/such/folder/p.db --llc 256K:16:64 true
for limit in 0 x -1 1T 99999999999G ''; do
    refuses '' 2 '--limit' profile --limit "$limit" true
done
for seconds in x -1 '' 2M; do
    refuses '' 2 '--seconds' profile --seconds "$seconds" true
done
for sample in 0 x '' 2M; do
    refuses '' 2 '--sample' profile --sample "$sample" true
done
refuses '' 1 'sets' profile --db "$db" --llc 256K:16:64 --sample 8 true
for llc in 1M 1M:16 1M:0:64 1M:65:64 0:16:64 1M:16:64: x:16:64 1M:16:0; do
    refuses '' 2 "--llc '$llc'" profile --llc "$llc" true
done
for tag in '' 'a b' a/b "$(printf '%064d' 0)"; do
    refuses '' 2 '--tag' profile --tag "$tag" true
done
refuses '' 2 'leaves nothing' profile --limit 10 --skip 10 true
refuses '' 1 'not more than --skip' profile --db "$db" --llc 256K:16:64 --skip 10M --limit 20M true

# What a wrapper starts is the program; of an interpreter the script is; where nobody can tell, a name has to
profile -- env A=b nice -n 0 "$turtle"
ends 0
is_stored "$(realpath "$turtle")" || bad "profile -- env nice turtle" "stored under turtle" "$("$berthctl" profile list --db "$db")"
"$berthctl" profile forget --db "$db" "$(realpath "$turtle")"
mkdir "$dir/bin"
printf '#!/bin/sh\nshift 2\nexec "$@"\n' >"$dir/bin/mpirun"
chmod 755 "$dir/bin/mpirun"
profile -- "$dir/bin/mpirun" -np 2 "$turtle"
ends 0
is_stored "$(realpath "$turtle")" || bad "profile -- mpirun turtle" "stored under turtle" "$("$berthctl" profile list --db "$db")"
! is_stored env || bad "profile -- env" "nothing under env" "$("$berthctl" profile list --db "$db")"
echo 'for i in 1 2 3; do :; done' >"$dir/loop.sh"
profile --json -- sh "$dir/loop.sh"
ends 0
has out "/loop.sh#"
is_stored "$dir/loop.sh" || bad "profile -- sh loop.sh" "stored under loop.sh" "$("$berthctl" profile list --db "$db")"
profile -- sh "$dir/none.sh"
ends 1
has err "none.sh: No such file"
profile -- valgrind true
ends 1
has err 'valgrind: its command line does not tell which program it runs: give it a name (--tag NAME)'

exit $failed
