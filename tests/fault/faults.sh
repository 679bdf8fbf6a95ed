# shellcheck shell=bash disable=SC2317,SC2329
# SPDX-License-Identifier: GPL-2.0-or-later
# faults - what happens to berthd, to its files and to Slurm: on_FAULT begins it, off_FAULT ends it; FAULT_MOMENT is a cell that is
# not made of these; FAULT_lacks prints what the machine lacks for it, if anything. Sourced by tests/fault/run.

STATE=$CLUSTER/berth # a small file system of its own
PAGE=$CLUSTER/run/fault.page
FILES=(journal profiles ledger outbox bill markers machine events statedir)
# Where the pair is then, if not still swapped: a step that could not be moved for want of memory or descriptors is at home, and stays
# there.
declare -gA AFTER=([term]=apart [nomemory]=apart [fewmemory]=apart [noaddresses]=apart [nofds]=apart)
declare -gA SLURMS_OWN=([slurmd]=99) # how many short steps Slurm fails by itself

# ---- berthd, as its unit would have it ----

berthd_begin() {
    daemon_start berthd env LD_PRELOAD="$BUILD/tests/fault/.libs/preload.so" BERTH_FAULT_PAGE="$PAGE" "$CLUSTER/bin/berthd" \
        --test-keys -c "$CLUSTER/etc/berth.conf"
}

answers() {
    timeout 5 berthctl status --socket "$CLUSTER/run/berthd.sock"
}

berthd_start() {
    berthd_begin
    wait_for 10 answers || daemon_failed berthd
}

# Restart=on-failure: one that has ended is started again.
service() {
    alive "$(daemon_pid berthd)" || berthd_begin
    wait_for 10 answers && return
    alive "$(daemon_pid berthd)" || berthd_begin # it may not have been able to, before the fault was over
    wait_for 10 answers || fail "berthd does not answer: $(tail -n 3 "$CLUSTER/log/berthd.out")"
}

signal_berthd() {
    kill "-$1" "$(daemon_pid berthd)" 2>/dev/null || true
}

# page SHIFT_S REFUSE_EVERY: see preload.c; written in one go.
page() {
    perl -e 'print pack "q<q<", @ARGV' "$@" | dd of="$PAGE" conv=notrunc status=none
}

# Files that are there from the beginning, whole.
restore_files() {
    rm -f "$STATE/profiles.db"* "$STATE/ledger.db"*
    knows turtle 10
    knows devil 20000
    cp "$TESTS/fixtures/machines/two-cores.json" "$STATE/machine.json"
    cp "$TESTS/../etc/events.conf" "$CLUSTER/etc/events.conf"
}

on_killed() { daemon_stop berthd KILL; }
off_killed() { sleep 0.3; }

# Killed before a chosen system call of the registration and of the swap.
killed_swap() {
    local n killer killed=0
    for n in 40 160 320 640; do
        half
        "$BUILD/tests/fault/killat" "$(daemon_pid berthd)" "$n" >"$OUT/killat" < <(sleep 4) &
        killer=$!
        wait_for 5 grep -q watching "$OUT/killat" || fail "killat does not watch"
        go b
        if wait "$killer"; then killed=$((killed + 1)); fi
        service
        stands b
        apart
    done
    [ "$killed" -ge 2 ] || fail "killed $killed times only"
}

on_term() { daemon_stop berthd; }
off_term() { sleep 0.3; }

on_stopped() { signal_berthd STOP; }
off_stopped() { sleep 1; signal_berthd CONT; }

on_nomemory() { page 0 1; }
off_nomemory() { page 0 0; }

on_fewmemory() { page 0 7; }
off_fewmemory() { page 0 0; }

# No more address space than there is now.
on_noaddresses() {
    local pid
    pid=$(daemon_pid berthd)
    prlimit --pid "$pid" --as="$(($(awk '{ print $1 }' "/proc/$pid/statm") * 4096)):" 2>/dev/null || true
}
off_noaddresses() { prlimit --pid "$(daemon_pid berthd)" --as=unlimited: 2>/dev/null || true; }

# No more descriptors than are open: as many clients as there may be sit on the others.
on_nofds() {
    local pid
    pid=$(daemon_pid berthd)
    prlimit --pid "$pid" --nofile="$(find "/proc/$pid/fd" -type l 2>/dev/null | wc -l):" 2>/dev/null || true
}
off_nofds() { prlimit --pid "$(daemon_pid berthd)" --nofile=1024: 2>/dev/null || true; }

on_fulldisk() { dd if=/dev/zero of="$STATE/fill" bs=64k status=none 2>/dev/null || true; }
off_fulldisk() { rm -f "$STATE/fill"; }

# Not possible while files are open for writing.
on_readonly() { mount -o remount,ro "$STATE" || fail "not read-only"; }
off_readonly() { mount -o remount,rw "$STATE"; }

on_socket() { rm -f "$CLUSTER/run/berthd.sock" "$CLUSTER/run/berthd.sock.plugin"; }
off_socket() { :; }

on_dayforth() { page 86400 0; }
off_dayforth() { page 0 0; }
on_dayback() { page -86400 0; }
off_dayback() { page 0 0; }

on_badreload() {
    echo "colour = blue" >>"$CLUSTER/etc/berth.conf"
    signal_berthd HUP
}
off_badreload() {
    berthd_conf
    signal_berthd HUP
}

# Refused at a start: the pair stays as it is until it is mended.
badreload_start() {
    pair
    daemon_stop berthd KILL
    echo "colour = blue" >>"$CLUSTER/etc/berth.conf"
    berthd_begin
    wait_for 5 gone "$(daemon_pid berthd)" || fail "a wrong berth.conf is taken"
    berthd_conf
    service
    swapped "adopted when berth.conf was mended"
}

# ---- files ----

# damage KIND FILE: garbage over its beginning, its second half gone, or all of it.
damage() {
    case $1 in
    garbage) dd if=/dev/urandom of="$2" bs=4k count=2 conv=notrunc status=none ;;
    truncated) [ ! -e "$2" ] || truncate -s "$(($(stat -c %s "$2") / 2))" "$2" ;;
    gone) rm -rf "$2" ;;
    esac
}

# The files of a fault.
files_of() {
    case $1 in
    journal) echo "$STATE/journal" ;;
    profiles) echo "$STATE/profiles.db" ;;
    ledger) echo "$STATE/ledger.db" ;;
    outbox) mkdir -p "$STATE/ledger.queue" && find "$STATE/ledger" "$STATE/ledger.queue" -type f 2>/dev/null; echo "$STATE/ledger.queue/0" ;;
    bill) echo "$STATE/bill" ;;
    markers) echo "$CLUSTER/run/pool" ;;
    machine) echo "$STATE/machine.json" ;;
    events) echo "$CLUSTER/etc/events.conf" ;;
    statedir) echo "$STATE/journal $STATE/journal.lock $STATE/bill $STATE/profiles.db $STATE/ledger.db" ;;
    esac
}

mended() { # FAULT: as it was before
    case $1 in
    machine | events | profiles | ledger | statedir) restore_files ;;
    esac
}

damage_all() { # KIND FAULT
    local file
    for file in $(files_of "$2"); do
        if [ -d "$file" ] && [ "$1" != gone ]; then
            find "$file" -type f -exec rm -f {} +
            continue
        fi
        damage "$1" "$file"
    done
}

# While berthd runs, and steps start and end.
files_launch() {
    local kind
    for kind in garbage truncated gone; do
        pair
        churn 1
        damage_all "$kind" "$1"
        signal_berthd HUP
        churned
        service
        apart
        mended "$1"
    done
}

# While it is dead; then a new one starts.
files_start() {
    local kind
    for kind in garbage truncated gone; do
        pair
        daemon_stop berthd KILL
        damage_all "$kind" "$1"
        service
        apart
        mended "$1"
        # whoever is not known any more has to go before there is a pair again
        if [ "$(both)" != "1 0" ]; then
            dissolve
            a_clean_node
        fi
    done
}

# ---- Slurm ----

on_slurmd() {
    daemon_stop slurmd KILL
    slurmd_begin
}
off_slurmd() { wait_for 30 node_answers || fail "slurmd does not come back"; }

# A launch that the slurmd had taken when it was killed fails, by Slurm: its srun says so, and the step is started again.
slurmd_swap() {
    half
    go b
    on_slurmd
    wait_for 8 standing_or_over b || true
    off_slurmd
    service
    [ ! -s "$OUT/b.rc" ] || go b
    stands b
    apart
}

standing_or_over() {
    standing "$1" || [ -s "$OUT/$1.rc" ]
}

slurmd_begin() { daemon_start slurmd slurmd -D -N "$CLUSTER_NODE"; }

node_answers() { [[ $(node_state) == @(mixed|allocated|idle) ]]; }

# Ended in good order: one that is killed forgets the jobs that it has not written down yet, whatever berth does.
on_slurmctld() { daemon_stop slurmctld; }
off_slurmctld() {
    slurmctld_begin
    wait_for 30 node_answers || fail "slurmctld does not come back"
}

# An srun that asks while there is none waits for a minute, and a pending one is not woken, with or without berth: short steps run
# before and after.
slurmctld_launch() {
    pair
    churn 2
    churn_ends
    on_slurmctld
    off_slurmctld
    churn 2
    churned
    swapped
}

slurmctld_begin() { daemon_start slurmctld slurmctld -D; }

on_drain() { timeout 10 scontrol update NodeName="$CLUSTER_NODE" State=DRAIN Reason=test; }
off_drain() { timeout 10 scontrol update NodeName="$CLUSTER_NODE" State=RESUME; }

job_id() {
    cat "$OUT/$1.job"
}

# The batch script of b stands still: slurmd has suspended it.
script_stopped() {
    local script
    script=$(pgrep -o -f "$CLUSTER/spool/job0*$(job_id b)/slurm_script")
    [[ $(ps -o stat= -p "$script") == [TD]* ]]
}

script_goes_on() { ! script_stopped; }

# slurmd takes two seconds to suspend a job; a resume and a further suspend that wait for it meanwhile come in any order. So each is
# awaited before the next.
on_suspend() {
    timeout 10 scontrol suspend "$(job_id b)"
    wait_for 20 script_stopped || fail "job b is not suspended"
}

off_suspend() {
    timeout 10 scontrol resume "$(job_id b)"
    wait_for 20 script_goes_on || fail "job b is not resumed"
}

# The stranger gets the core of a job that is suspended, not over.
suspend_stranger() {
    pair
    stranger_comes
    wait_for 10 stranger_waits || fail "the stranger does not wait"
    on_suspend
    wait_for 20 standing s || fail "the stranger does not start"
    a_is_home
    stranger_goes
    off_suspend
    apart
}

suspend_end() {
    pair
    on_suspend
    halt a
    off_suspend
    stand_up a
    swapped
}

on_requeue() {
    rm -f "$OUT/b.up"
    timeout 10 scontrol requeue "$(job_id b)"
}
off_requeue() {
    again "$(job_id b)"
    wait_for 60 test -e "$OUT/b.up" || fail "job b does not start again: $(job_state b)"
}

requeue_stand() {
    pair
    on_requeue
    a_is_home
    off_requeue
    stands b
    swapped "requeued"
}

requeue_start() {
    pair
    daemon_stop berthd KILL
    on_requeue
    off_requeue
    stands b
    service
    apart
}

cancel() { timeout 10 scancel "$@"; }

cancelled() { # NAME
    wait_for 20 job_over "$1" || fail "job $1 is not cancelled: $(job_state "$1")"
}

# Before, while and after its step starts.
cancel_launch() {
    local delay
    half
    job_ends b
    for delay in 0 0.05 0.15 0.25 0.4 0.6; do
        rm -f "$OUT/b".*
        job_script b devil >"$OUT/b.sh"
        timeout 10 sbatch --parsable -n1 -o "$OUT/b.batch" "$OUT/b.sh" >"$OUT/b.job"
        sleep "$delay"
        cancel "$(job_id b)"
        cancelled b
    done
    a_is_home
}

cancel_stand() {
    pair
    cancel "$(job_id b)"
    cancelled b
    a_is_home
}

cancel_swap() {
    half
    go b
    sleep 0.12
    cancel "$(job_id b)"
    cancelled b
    a_is_home
}

cancel_end() {
    pair
    touch "$OUT/b.stop"
    cancel --signal=KILL "$(job_id b)"
    cancelled b
    a_is_home
}

cancel_start() {
    pair
    daemon_stop berthd KILL
    cancel "$(job_id b)"
    cancelled b
    service
    a_is_home
}

on_cancel() { cancel "$(job_id b)"; }
off_cancel() { :; }

# Slurm looks after time limits every 30 s.
limit_stand() {
    pair
    wait_for 20 timeout 10 scontrol update JobId="$(job_id b)" EndTime=now || fail "no end time"
    wait_for 60 job_over b || fail "no time limit: $(job_state b)"
    same "job b" "$(job_state b)" TIMEOUT
    a_is_home
}

stepds_gone() {
    grep -c "its slurmstepd has ended without a word" "$CLUSTER/log/berthd.out" || true
}

# The step's slurmstepd is killed: Slurm leaves its cgroups behind, and they take no core out of the pool.
stepd_stand() {
    local stepd gone
    gone=$(stepds_gone)
    pair
    stepd=$(ps -o ppid= -p "$(cat "$OUT/b.0.pid")" | tr -d ' ')
    kill -KILL "$stepd"
    wait_for 10 more_than "$gone" stepds_gone || fail "berthd did not see that the slurmstepd is gone"
    wait_for 12 on_two_cores || fail "a and b on '$(both)'"
    cancel "$(job_id b)"
    cancelled b
    kill -KILL "$(cat "$OUT/b.0.pid")" 2>/dev/null || true
    a_is_home
    pair
}

# ---- a step whose memory map nobody may look at ----

# berthd on a machine that has two memory nodes for it, of which it asks a step's processes. jobs have no memory cgroup here.
berthd_two_nodes() {
    echo 0-1 >"$CLUSTER/run/has_memory"
    daemon_start berthd unshare -m --propagation private sh -c 'mount --bind "$1" /sys/devices/system/node/has_memory && shift && exec "$@"' sh \
        "$CLUSTER/run/has_memory" "$CLUSTER/bin/berthd" --test-keys -c "$CLUSTER/etc/berth.conf"
    wait_for 10 answers || fail "berthd does not answer: $(tail -n 3 "$CLUSTER/log/berthd.out")"
}

# frozen_said FILE: how often berthd has said that a step lets nobody read that one of its processes.
frozen_said() {
    grep -c "lets nobody read its $1" "$CLUSTER/log/berthd.out" || true
}

# frozen_given_up FILE BEFORE: berthd is asked until it has given up what it reads there; prints the longest answer, in milliseconds,
# or what is wrong.
frozen_given_up() {
    local longest=0 began took turn
    for ((turn = 0; turn < 1200; turn++)); do
        began=${EPOCHREALTIME/./}
        answers >/dev/null 2>&1 || { echo "berthd does not answer while a step lets nobody read its $1"; return 1; }
        took=$(((${EPOCHREALTIME/./} - began) / 1000))
        [ "$took" -le "$longest" ] || longest=$took
        [ "$(frozen_said "$1")" = "$2" ] || { echo "$longest"; return; }
        sleep 0.05
    done
    echo "berthd has not given up the step's $1 within a minute"
    return 1
}

# The page is refused, and the process ends.
frozen_off() {
    local server
    server=$(cat "$CLUSTER/run/frozen.pid" 2>/dev/null) || return 0
    rm -f "$CLUSTER/run/frozen.pid"
    kill "$server" 2>/dev/null || true
    wait_for 5 gone "$server" || true
    umount -l "$CLUSTER/run/frozen" 2>/dev/null || true
}

# A step binds itself to the CPU that Slurm gave it, where the other one stands by then, and berthd is killed before it can see that: the
# next one respects it.
bound_stand() {
    local pid
    pair
    pid=$(cat "$OUT/a.0.pid")
    taskset -cp 0 "$pid" >"$OUT/taskset" 2>&1 || fail "a cannot be bound: $(cat "$OUT/taskset")"
    daemon_stop berthd KILL
    service
    settle_at "a is bound to its own core" "0 1"
    has "$(explained a .enforce.reason)" "its thread $pid is bound to 0"
    same "the process" "$(sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$pid/status")" 0
}

frozen_lacks() {
    [ -c /dev/fuse ] || echo "there is no /dev/fuse"
}

frozen_serve() {
    mkdir -p "$CLUSTER/run/frozen"
    "$BUILD/tests/fault/frozen" serve "$CLUSTER/run/frozen" >"$OUT/frozen.server" 2>&1 &
    echo $! >"$CLUSTER/run/frozen.pid"
    wait_for 10 grep -q mounted "$OUT/frozen.server" || fail "no file server: $(cat "$OUT/frozen.server")"
}

# frozen_srun HOW FILE: a step of job b's that lets nobody look at it, begun in the background.
frozen_srun() {
    timeout 120 srun -Q --jobid="$(job_id b)" --overlap -n1 --contention-aware=observe "$BUILD/tests/fault/frozen" "$1" "$CLUSTER/run/frozen/$2" \
        >"$OUT/frozen.srun" 2>&1 &
}

# A process whose page fault is never answered: everybody is answered all the while, and berthd ends.
frozen_stand() {
    local client said longest
    said=$(frozen_said numa_maps)
    pair
    daemon_stop berthd TERM
    berthd_two_nodes
    frozen_serve
    frozen_srun hold f
    client=$!
    longest=$(frozen_given_up numa_maps "$said") || fail "$longest"
    echo "frozen: the longest answer took $longest ms" >"$CLUSTER/log/measured"
    has "$(berthctl explain --socket "$CLUSTER/run/berthd.sock" --json "$(job_id b)" | jq -c '[.steps[].observe.unread[]]')" \
        '{"what":"rss_node","hung":true}'
    daemon_stop berthd TERM || fail "berthd does not end while a process holds its memory map"
    frozen_off
    wait "$client" || true
    service
    apart
}

stalled_lacks() {
    frozen_lacks
}

# stat_is_held: can nobody read the stat of the process that is in exec? By some kernels everybody can. Where nobody can, ps and pgrep
# hang, too.
stat_is_held() {
    local pid
    wait_for 10 grep -qxE '[0-9]+' "$OUT/frozen.srun" || fail "the step does not say its number: $(cat "$OUT/frozen.srun")"
    pid=$(grep -xEm 1 '[0-9]+' "$OUT/frozen.srun")
    ! timeout 1 cat "/proc/$pid/stat" >/dev/null
}

# A process whose exec waits for its file server for ever: everybody is answered all the while, and what berthd counts of others goes on.
stalled_stand() {
    local client said longest=0
    said=$(frozen_said stat)
    pair
    frozen_serve
    frozen_srun exec mute
    client=$!
    wait_for 20 grep -q "mute is to be closed" "$OUT/frozen.server" || fail "nobody is in exec: $(cat "$OUT/frozen.srun")"
    if stat_is_held; then
        longest=$(frozen_given_up stat "$said") || fail "$longest"
        has "$(berthctl explain --socket "$CLUSTER/run/berthd.sock" --json "$(job_id b)" | jq -c '[.steps[].observe.unread[]]')" \
            '{"what":"processes","hung":true}'
    fi
    same "what is not known of another step" "$(explained a .observe.unread)" "[]"
    echo "stalled: the longest answer took $longest ms" >"$CLUSTER/log/measured"
    daemon_stop berthd TERM || fail "berthd does not end while an exec is held up"
    service
    answers >/dev/null || fail "berthd does not answer after a restart beside an exec that is held up"
    frozen_off
    wait "$client" || true
    apart
}

# ---- the plugin ----

on_replaced() {
    install -m 755 "$CLUSTER/lib/spank_berth.so" "$CLUSTER/lib/new.so"
    mv "$CLUSTER/lib/new.so" "$CLUSTER/lib/spank_berth.so"
}
off_replaced() { on_replaced; }

# The clients have the plugin, and with it the option; the node has not.
on_missing() {
    echo "optional $CLUSTER/lib/gone/spank_berth.so" >"$CLUSTER/etc/plugstack.new"
    mv "$CLUSTER/etc/plugstack.new" "$CLUSTER/etc/plugstack.conf"
}
off_missing() { plugin_on; }

# The clients' configuration: as the node's, but with a plugstack.conf of its own.
client_conf() {
    mkdir -p "$CLUSTER/etc/client"
    cp "$CLUSTER/etc/plugstack.conf" "$CLUSTER/etc/client/plugstack.conf"
    sed "s|^PlugStackConfig=.*|PlugStackConfig=$CLUSTER/etc/client/plugstack.conf|" "$CLUSTER/etc/slurm.conf" >"$CLUSTER/etc/client/slurm.conf"
}
