# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# tranquil: memory dealt over the nodes of a step, with its class, kept or taken back. There is no PMU here: what the step misses is played, and
# depends on the class that the kernel says its task has.

tranquil() {
    mkdir -p "$CLUSTER/berth/played"
    daemon_stop berthd
    berthd_conf startup=500ms first_window=1s window=1s tranquil_pass=3s allow=auto,tag,tranquil "counters_replay=$CLUSTER/berth/played"
    berthd_start
}

restless() {
    berthd_conf
    daemon_stop berthd
    berthd_start
}

# played NAME CALM: the step misses 9000 times per million instructions, by turns more and less; with CALM=yes 5000 times, evenly, once its task
# has SCHED_BATCH. A billion instructions a second.
played() {
    local name=$1 calm=$2 id pid
    id=$(id_of "$name")
    pid=$(cat "$CLUSTER/out/$name.0.pid")
    exec {never}<> <(:)
    while [ ! -e "$CLUSTER/out/$name.stop" ]; do
        play_once
        read -rt 0.05 -u "$never" || true
    done
}

# Uses what played() has: the time since it was called last is over. The file is written in its place: a program that renames it takes longer
# here than a reading lasts, and one that is read in that moment ends no more than its burst.
play_once() {
    local now=${EPOCHREALTIME/./} stat rate=$((9000 + RANDOM % 4000 - 2000)) file=$CLUSTER/berth/played/$id
    read -r stat <"/proc/$pid/stat" 2>/dev/null || return 0
    stat=${stat##*) }
    read -ra stat <<<"$stat"
    [ "$calm" != yes ] || [ "${stat[38]}" != 3 ] || rate=$((5000 + RANDOM % 40 - 20))
    : "${begun:=$now}" "${before:=$now}" "${misses:=0}"
    misses=$((misses + (now - before) * rate / 1000))
    before=$now
    printf '{"step":"%s","at":%d.%06d,"instructions":%d,"llc_misses":%d,"llc_accesses":%d,"involuntary":1,"threads":2}\n' "$id" \
        $((1 + (now - begun) / 1000000)) $(((now - begun) % 1000000)) $(((now - begun) * 1000)) "$misses" $((2 * misses)) >"$file"
}

# wide NAME WORD: a step on two nodes with 128 MiB that its first thread has touched: all of it on one node.
wide() {
    program=("$BUILD/tests/vm/movemem" 128)
    start "$1" -c$((2 * CORES)) "--contention-aware=$2" "${program[@]}"
}

# Per node, MiB: "64 66 ".
spread_of() {
    echo "$(mib_on 0 "$1") $(mib_on 1 "$1")"
}

# Is what two nodes have within 5 % of even?
is_even() {
    spread_of "$1" | awk '{ sum = $1 + $2; off = $1 - $2; exit !(sum >= 128 && off <= 0.05 * sum && -off <= 0.05 * sum) }'
}

is_on_one() {
    spread_of "$1" | awk '{ exit !(($1 >= 128 && $2 <= 2) || ($2 >= 128 && $1 <= 2)) }'
}

# Has it tried anything yet?
has_tried() {
    [ "$(explained "$1" .tranquil.kept)" != null ]
}

# kept NAME: sets `step` to a step, NAME1 and so on, that calms down when it has its class, whose trial was kept. Where this machine stands still for
# a moment what is played comes late, and a trial says nothing: the class stays then, and a later one finds nothing to gain.
kept() {
    local try
    for try in 1 2 3; do
        step=$1$try
        wide "$step" tranquil
        is_on_one "$step" || fail "at the start: $(spread_of "$step")"
        [[ $(classes_of "$step") != *" x 3 "* ]] || fail "class at the start: $(classes_of "$step")"
        played "$step" yes &
        wait_for 15 has_tried "$step" || fail "no trial: $(explained "$step" .tranquil); $(cat "$CLUSTER/berth/played"/*)"
        [ "$(explained "$step" .tranquil.kept)" != true ] || return 0
        stop "$step"
    done
    fail "kept: $(explained "$step" .tranquil); $(cat "$CLUSTER/berth/played"/*)"
}

t52_memory_is_dealt_and_kept() {
    local step
    tranquil
    kept a
    is_even "$step" || fail "after a pass: $(spread_of "$step") MiB: $(explained "$step" .tranquil)"
    same "told" "$(explained "$step" '.tranquil | "\(.memory) \(.class)"')" "interleave batch"
    has "$(classes_of "$step")" " x 3 "
    [[ $(classes_of "$step") != *" x 0 "* ]] || fail "not each thread: $(classes_of "$step")"
    ctl release "$(id_of "$step")" >/dev/null
    wait_for 30 is_on_one "$step" || fail "after the release: $(spread_of "$step")"
    [[ $(classes_of "$step") != *" x 3 "* ]] || fail "class after the release: $(classes_of "$step")"
    stop "$step"
    restless
}

t52_memory_goes_back_where_that_helps_nothing() {
    tranquil
    wide b mem=auto
    is_on_one b || fail "at the start: $(spread_of b)"
    played b no &
    wait_for 15 has_tried b || fail "no trial: $(explained b .tranquil); $(cat "$CLUSTER/berth/played"/*)"
    same "kept" "$(explained b .tranquil.kept)" false
    wait_for 30 is_on_one b || fail "after it: $(spread_of b) MiB: $(explained b .tranquil)"
    soon "told" "local 100" explained b '.tranquil | "\(.memory) \(.asked_ms)"' # after the last page
    stop b
    restless
}

# What was changed is there after a kill, and the next berthd takes it back: threads first, then page by page.
t52_a_killed_berthd_leaves_nothing() {
    local step
    tranquil
    kept c
    [[ $(classes_of "$step") != *" x 0 "* ]] || fail "not each thread: $(classes_of "$step")"
    daemon_stop berthd KILL
    [[ $(classes_of "$step") == *" x 3 "* ]] || fail "nobody is there: $(classes_of "$step")"
    is_even "$step" || fail "nobody is there: $(spread_of "$step") MiB"
    has "$(ls "$CLUSTER/berth")" "dealt.$(id_of "$step")"
    berthd_conf allow=auto,tag
    berthd_start
    soon "by the next one" yes has_no_class "$step"
    wait_for 30 is_on_one "$step" || fail "by the next one: $(spread_of "$step") MiB: $(tail -n 5 "$CLUSTER/log/berthd.out")"
    wait_for 15 is_forgotten || fail "kept: $(ls "$CLUSTER/berth")"
    stop "$step"
    restless
}

t52_a_stopped_berthd_leaves_nothing() {
    local step
    tranquil
    kept d
    is_even "$step" || fail "after a pass: $(spread_of "$step") MiB: $(explained "$step" .tranquil)"
    daemon_stop berthd
    if ! grep -q "were put back in time" "$CLUSTER/log/berthd.out"; then # 10 seconds were enough, or it is the next one's
        is_on_one "$step" || fail "after the stop: $(spread_of "$step") MiB: $(tail -n 5 "$CLUSTER/log/berthd.out")"
        same "kept" "$(compgen -G "$CLUSTER/berth/dealt.*")" ""
    fi
    berthd_conf allow=auto,tag
    berthd_start
    wait_for 30 is_on_one "$step" || fail "by the next one: $(spread_of "$step") MiB: $(tail -n 5 "$CLUSTER/log/berthd.out")"
    wait_for 15 is_forgotten || fail "kept: $(ls "$CLUSTER/berth")"
    stop "$step"
    restless
}

is_forgotten() {
    ! compgen -G "$CLUSTER/berth/dealt.*" >/dev/null
}

has_no_class() {
    [[ $(classes_of "$1") == *" x 3 "* ]] || echo yes
}
