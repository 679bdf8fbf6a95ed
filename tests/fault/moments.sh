# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# moments - what berthd is doing when a fault hits: sourced by tests/fault/run.
#
# Two batch jobs, a turtle (a, Slurm's core 0) and a devil (b, Slurm's core 1), have a standing step each, and berth has them change
# places. Each can churn: start one short step after the other.

OUT=$CLUSTER/out

# The batch script of a job: `go` starts its standing step (again), `churn` short ones, `over` ends it. Its sruns read the
# clients' slurm.conf, which may have the plugin where the node has not.
job_script() { # NAME TAG
    cat <<END
#!/bin/bash
name=$1
cd $OUT
exec {never}<> <(:)
rm -f \$name.over \$name.stop \$name.id \$name.0 \$name.0.pid \$name.rc
export SLURM_CONF=$CLUSTER/etc/client/slurm.conf CLUSTER_PATIENCE=30
srun=(srun -Q --overlap -n1 --contention-aware=tag=$2)
touch \$name.up \$name.go
while [ ! -e \$name.over ]; do
    if [ -e \$name.go ]; then
        rm -f \$name.go \$name.rc
        { "\${srun[@]}" $STAND \$name >\$name.srun 2>&1; echo \$? >\$name.rc; } &
    fi
    if [ -e churn ]; then
        said=\$(timeout 60 "\${srun[@]}" echo ran 2>&1)
        echo "\$? \$said" >>churn.log
    else
        : >\$name.rests
        read -rt 0.05 -u \$never
    fi
done
wait
END
}

tag_of() {
    [ "$1" = a ] && echo turtle || echo devil
}

job_running() { # NAME
    [ -s "$OUT/$1.job" ] && [ "$(job_state "$1")" = RUNNING ]
}

# The whole job of a asks to be placed, of b only its steps.
submit() { # NAME
    local option=()
    rm -f "$OUT/$1".*
    [ "$1" = b ] || option=(--contention-aware=tag=turtle)
    job_script "$1" "$(tag_of "$1")" >"$OUT/$1.sh"
    timeout 20 sbatch --parsable -n1 --requeue "${option[@]}" -o "$OUT/$1.batch" "$OUT/$1.sh" >"$OUT/$1.job" ||
        fail "sbatch of $1"
    wait_for 20 test -e "$OUT/$1.up" || fail "job $1 does not start: $(job_state "$1")"
}

# The CPUs that a standing step may run on, as the kernel has it; nothing where it does not run.
where() {
    sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$(cat "$OUT/$1.0.pid" 2>/dev/null || echo none)/status" 2>/dev/null
}

both() {
    echo "$(where a) $(where b)"
}

standing() { # NAME
    [ -n "$(where "$1")" ]
}

go() { # NAME
    rm -f "$OUT/$1.stop" "$OUT/$1.id" "$OUT/$1.0" "$OUT/$1.0.pid" "$OUT/$1.rc"
    touch "$OUT/$1.go"
}

stands() { # NAME
    wait_for 20 standing "$1" || fail "the step of $1 does not start: $(cat "$OUT/$1.srun" 2>/dev/null)"
}

# The step of a job ends, and its srun must be satisfied.
halt() {
    touch "$OUT/$1.stop"
    wait_for 40 test -s "$OUT/$1.rc" || fail "the step of $1 does not end"
    same "srun of $1" "$(cat "$OUT/$1.rc") $(cat "$OUT/$1.srun")" "0 "
}

job_ends() { # NAME
    touch "$OUT/$1.over" "$OUT/$1.stop"
    wait_for 40 job_over "$1" || fail "job $1 does not end: $(job_state "$1")"
}

job_over() {
    [[ $(job_state "$1") != @(RUNNING|COMPLETING|PENDING|SUSPENDED) ]]
}

# ---- what has to be so ----

settle_at() { # WHAT WANTED
    wait_for 12 becomes "$2" both || fail "$1: a and b on '$(both)', should be '$2'; berthd: $(ctl status --json 2>&1 | jq -c '[.steps[]? | {id, state, reason}]' 2>&1)"
}

# Each on the core of the other.
swapped() {
    settle_at "${1:-a pair}" "1 0"
}

# Each on a core of its own, whichever.
apart() {
    wait_for 12 on_two_cores || fail "a and b on '$(both)': not each on a core of its own"
}

on_two_cores() {
    [[ $(both) == @("0 1"|"1 0") ]]
}

a_is_home() {
    wait_for 12 becomes 0 where a || fail "a on '$(where a)', should be home on 0"
    soon "a's cpuset" 0 cpuset_of a
    wait_for 12 in_slurms || fail "a is in a cpuset of berth's" # what could not be undone is tried again by the sweep
}

in_slurms() {
    ! grep -q "berth_$CLUSTER_NODE" "/proc/$(cat "$OUT/a.0.pid")/cgroup"
}

# The step of a job stands; it is started again where it does not.
stand_up() { # NAME
    if ! job_running "$1"; then
        submit "$1"
    elif ! standing "$1"; then
        go "$1"
    fi
    stands "$1"
}

# Both are swapped, or not in the second that a swap at the start of b takes at most: patience helps no step that berthd has not heard of
# or leaves alone, and where it was early the steps are started again.
soon_swapped() {
    CLUSTER_PATIENCE=1 wait_for 1 becomes "1 0" both
}

# a and b swapped, by jobs that run already if there are any; a is first, on core 0. A step that berthd has not heard of (it was away)
# is started again.
pair() {
    job_running a || ! job_running b || job_ends b
    stand_up a
    stand_up b
    soon_swapped && return
    halt b
    stand_up b
    soon_swapped && return
    dissolve # berth leaves a job alone of which a step could not be moved
    stand_up a
    stand_up b
    swapped "a pair to begin with"
}

# Of the pair, b stands no more; its job runs.
half() {
    pair
    halt b
    a_is_home
}

# Both jobs end.
dissolve() {
    local name
    for name in a b; do touch "$OUT/$name.over" "$OUT/$name.stop"; done
    for name in a b; do
        [ ! -s "$OUT/$name.job" ] || wait_for 40 job_over "$name" || fail "job $name does not end: $(job_state "$name")"
    done
}

ran() { # N: so many short steps are over
    [ "$(wc -l <"$OUT/churn.log")" -ge "$1" ]
}

churn() { # N: short steps begin to run one after the other in both jobs; so many are over
    : >"$OUT/churn.log"
    touch "$OUT/churn"
    wait_for 30 ran "$1" || fail "short steps do not run: $(cat "$OUT/churn.log")"
}

# rests NAME: its script runs no short step.
rests() {
    [ -e "$OUT/$1.rests" ] || ! job_running "$1"
}

# No more of them begin, and those that run end.
churn_ends() {
    local name
    rm -f "$OUT/churn" "$OUT/a.rests" "$OUT/b.rests"
    for name in a b; do wait_for 60 rests "$name" || fail "a short step of $name does not end"; done
}

# They end, all of them having done their work; but for $1 of them (what Slurm itself fails).
churned() {
    local failed n
    n=$(($(wc -l <"$OUT/churn.log") + 3))
    wait_for 30 ran "$n" || fail "no more short steps run: $(tail -n 3 "$OUT/churn.log")"
    churn_ends
    failed=$(grep -vc '^0 ran$' "$OUT/churn.log") || true
    [ "$failed" -le "${1:-0}" ] || fail "$failed of $(wc -l <"$OUT/churn.log") short steps failed: $(grep -v '^0 ran$' "$OUT/churn.log" | head -n 3)"
}

# ---- the moments ----

# Short steps start and end in both jobs, before, during and after the fault.
moment_launch() {
    pair
    churn 2
    "on_$1"
    sleep 0.6
    "off_$1"
    service
    churned "${SLURMS_OWN[$1]:-0}"
    "${AFTER[$1]:-swapped}"
}

# The pair stands.
moment_stand() {
    pair
    "on_$1"
    sleep 0.4
    "off_$1"
    service
    "${AFTER[$1]:-swapped}"
}

# The second step is registered and the first one moved.
moment_swap() {
    half
    go b
    "on_$1"
    wait_for 8 standing b || true
    "off_$1"
    service
    stands b
    apart
}

# A step of the pair ends.
moment_end() {
    pair
    touch "$OUT/b.stop"
    "on_$1"
    wait_for 5 test -s "$OUT/b.rc" || true
    "off_$1"
    service
    halt b
    a_is_home
}

# A berthd that was killed starts and adopts the pair.
moment_start() {
    pair
    daemon_stop berthd KILL
    "on_$1"
    berthd_begin
    sleep 0.15
    "off_$1"
    service
    "${AFTER[$1]:-swapped}"
}

stranger_waits() {
    [ "$(timeout 10 squeue -h -t PENDING -o %j)" = stranger ]
}

stranger_comes() {
    rm -f "$OUT"/s.*
    CLUSTER_PATIENCE=30 timeout 100 srun -Q -n1 -J stranger "$STAND" s >"$OUT/s.srun" 2>&1 &
    echo $! >"$OUT/s.client"
}

stranger_goes() {
    touch "$OUT/s.stop"
    wait "$(cat "$OUT/s.client")" || fail "srun of the stranger: $(cat "$OUT/s.srun")"
}

# The job of b ends, and a stranger waits for its core, on which a stands.
moment_stranger() {
    pair
    stranger_comes
    wait_for 10 stranger_waits || fail "the stranger does not wait"
    "on_$1"
    touch "$OUT/b.over" "$OUT/b.stop"
    wait_for 20 standing s || fail "the stranger does not start"
    "off_$1"
    service
    a_is_home
    same "the stranger" "$(where s)" 1
    stranger_goes
}
