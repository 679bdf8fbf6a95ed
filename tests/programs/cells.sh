# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# cells - a row in one of its ways: the program is launched, somebody comes, and what there is to be seen is compared. Sourced by
# tests/programs/run, whose `row` has set launcher, cpus, program, binding, expected and why.

FOLDER=$CLUSTER/out/wait # where programs look for `now` and `end`

# Devils make room for turtles and turtles for devils, so they are known; the newcomer itself may always be moved.
cells_prepare() {
    install -m 755 "$BUILD/tests/fixtures/programs/turtle" "$CLUSTER/bin/"
    knows turtle 10
    knows devil 20000
}

# cell_begin: sets `command`, `launch`, `options` of srun or sbatch, `wrapper` and `variables`, or prints what is missing.
cell_begin() {
    local words
    options=() wrapper=() variables=()
    read -r -a words <<<"${binding//HERE/$(here)}"
    case $binding in
    none) ;;
    -*) options=("${words[@]}") ;;
    *=*) if [[ ${words[0]} == *=* ]]; then variables=("${words[@]}"); else wrapper=("${words[@]}"); fi ;;
    *) wrapper=("${words[@]}") ;;
    esac
    [ ${#wrapper[@]} = 0 ] || needs "${wrapper[0]}" || return
    launcher "$launcher" "${options[@]}" && program "$program" "$launcher"
}

# The CPUs that Slurm gives to the first job of an empty node.
here() {
    [ "$cpus" = 1 ] && echo 0 || echo 0-1
}

# ---- the program ----

# begin WAY: it is launched, and all its processes say that they have begun.
begin() {
    local own=() processes=1
    mkdir -p "$FOLDER"
    [ "$1" = off ] && plugin_off || own=(--contention-aware=tag=turtle)
    [ "$cpus" = 1 ] || own+=(-p shared)
    if [ "$launcher" = srun ]; then
        env "${variables[@]}" timeout $((60 * CLUSTER_PATIENCE)) srun -J a -n1 -c"$cpus" "${own[@]}" "${options[@]}" "${wrapper[@]}" "${command[@]}" \
            "$FOLDER" >"$CLUSTER/out/a.said" 2>&1 &
        echo $! >"$CLUSTER/out/a.client"
    else
        processes=2
        begin_batch
    fi
    wait_for 30 begun_or_over "$processes" || true
    begun "$processes" || fail "the program has not begun: $(cat "$CLUSTER/out/a.said")"
}

begin_batch() {
    (
        export PATH "${variables[@]}"
        batch a -J a -n"$cpus" "${own[@]}" <<END
${launch[@]@Q} ${wrapper[@]@Q} ${command[@]@Q} $FOLDER
echo \$? >$CLUSTER/out/a.rc
END
    )
    ln -s a.batch "$CLUSTER/out/a.said"
}

begun() {
    [ "$(grep -c '^begun' "$CLUSTER/out/a.said")" = "$1" ]
}

begun_or_over() {
    begun "$1" || over
}

over() {
    if [ "$launcher" = srun ]; then gone "$(cat "$CLUSTER/out/a.client")"; else [ -s "$CLUSTER/out/a.rc" ]; fi
}

# go_on: it does its work, and waits again.
go_on() {
    touch "$FOLDER/now"
    wait_for 30 done_or_over || fail "the program does not end its work: $(cat "$CLUSTER/out/a.said")"
    grep -q '^done' "$CLUSTER/out/a.said" || fail "the program has failed: $(cat "$CLUSTER/out/a.said")"
}

done_or_over() {
    grep -q '^done' "$CLUSTER/out/a.said" || over
}

# The masks of all threads of its processes, each once.
masks() {
    local pid
    sed -n 's/^begun \([0-9]*\).*/\1/p' "$CLUSTER/out/a.said" | while read -r pid; do
        cat "/proc/$pid/task"/*/status
    done | sed -n 's/^Cpus_allowed_list:\t//p' | sort -u | paste -sd ' '
}

# end: it ends. Sets rc and output.
end() {
    touch "$FOLDER/end"
    wait_for 30 over || fail "the program does not end"
    rc=0
    if [ "$launcher" = srun ]; then wait "$(cat "$CLUSTER/out/a.client")" || rc=$?; else rc=$(cat "$CLUSTER/out/a.rc"); fi
    output=$(sed '/^begun/d' "$CLUSTER/out/a.said")
}

# ---- berth ----

# Its step: a.id as checks.sh has it.
find_step() {
    local job step=0
    [ "$launcher" = srun ] || step=batch
    job=$(timeout 10 squeue -h -t R -n a -o %A | tail -n 1)
    [ -n "$job" ] && ctl explain --json "$job.$step" >/dev/null 2>&1 && echo "$job.$step" >"$CLUSTER/out/a.id"
}

# What berth has to say of it as soon as it has begun.
judged() {
    wait_for 20 find_step || fail "berthd knows no step of it: $(ctl status)"
    if [ "$expected" = moves ]; then
        same "state ($(explained a .enforce.reason))" "$(explained a .state)" placed
    else
        same "state" "$(explained a .state)" left
        has "$(explained a .enforce.reason)" "$why"
    fi
}

# newcomer: somebody comes for whom it has to make room.
newcomer() {
    local words=(-n1 --contention-aware=tag=devil)
    [ "$cpus" = 1 ] || words=(-p shared -n1 -c2 --contention-aware)
    timeout $((60 * CLUSTER_PATIENCE)) srun -J b "${words[@]}" turtle 100s >"$CLUSTER/out/b.said" 2>&1 &
    echo $! >"$CLUSTER/out/b.client"
    wait_for 20 newcomer_is_there || fail "the newcomer does not begin: $(cat "$CLUSTER/out/b.said")"
    [ "$expected" = stays ] || wait_for 10 has_moved || fail "it has not moved: $(ctl explain "$(id_of a)")"
}

newcomer_is_there() {
    local job
    job=$(timeout 10 squeue -h -t R -n b -o %A)
    [ -n "$job" ] && ctl explain --json "$job" >/dev/null 2>&1 && echo "$job.0" >"$CLUSTER/out/b.id" &&
        [ "$(explained b .state)" = placed ]
}

has_moved() {
    [ "$(explained a .place.cpus)" != "$(here)" ] && [ "$(explained a .enforce.verified)" = true ]
}

newcomer_goes() {
    local rc=0
    timeout 10 scancel "$(job_of b)"
    wait "$(cat "$CLUSTER/out/b.client")" || rc=$?
}

# ---- a cell ----

# try WAY: what is seen of `off` is kept for the other ways.
try() {
    local stood rc output wanted
    begin "$1"
    [ "$1" = off ] || judged
    [ "$1" != newcomer ] || newcomer
    go_on
    stood=$(masks)
    wanted=$(cat "$CLUSTER/log/off.masks" 2>/dev/null || true)
    [ "$1 $expected" != "newcomer moves" ] || wanted=$(explained a .place.cpus)
    end
    echo "${stood// /,}" >"$CLUSTER/log/stood"
    same "exit status ($output)" "$rc" 0
    if [ "$1" = off ]; then
        has "$output" "sum 4950" "done"
        echo "$stood" >"$CLUSTER/log/off.masks"
        echo "$output" >"$CLUSTER/log/off.output"
    else
        same "output" "$output" "$(cat "$CLUSTER/log/off.output")"
        same "masks" "$stood" "$wanted"
    fi
    [ "$1" != newcomer ] || newcomer_goes
    settled
}
