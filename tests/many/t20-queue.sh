# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Thousands of jobs through a real slurmctld, by turns with berth-steer and without: all of them end well, and how long they wait is
# shown, and how many RPCs that change nodes slurmctld had. One of twenty wants a node of its own, which is whom it would starve.
#
# JOBS (10000): in arrays of a thousand, half of which are steered: the first of a turn or its last one by turns, so that neither has the
# quieter machine. tests/nightly has it; it takes about 10 minutes of two quiet CPUs.

JOBS=${JOBS:-10000}

# an_array NAME: a thousand jobs that are there at once.
an_array() {
    local whole=50 narrow=950
    # shellcheck disable=SC2016 # for the job's shell
    timeout 60 sbatch -Q -n1 --array=1-$narrow -o /dev/null -J "$1.narrow" --wrap 'exec sleep 0.$((SLURM_ARRAY_TASK_ID % 10))'
    timeout 60 sbatch -Q -N1 --exclusive --array=1-$whole -o /dev/null -J "$1.whole" --wrap 'exec sleep 1'
    wait_for 3000 no_jobs
}

# waits NAME: of how many jobs the database has the end, and how long they waited: "JOBS MEAN LONGEST", in seconds.
waits() {
    timeout 60 sacct -a -X -n -P -S now-1day -E now+1day --name="$1" -s CD -o Submit,Start |
        sed 's/|/ /' | while read -r submit start; do echo "$submit"; echo "$start"; done | date -f - +%s | paste - - |
        awk '{ n++; wait = $2 - $1; sum += wait; most = wait > most ? wait : most } END { printf "%d %.1f %d\n", n, n ? sum / n : 0, most }'
}

have_ended() {
    [ "$(waits "$1" | cut -d' ' -f1)" = "$2" ]
}

# turn_of WAY: an array, and how many RPCs changed nodes meanwhile (nobody else does), which is added to RPCS.
turn_of() {
    timeout 20 sdiag -r
    "turn_$1"
    RPCS[$1]=$((${RPCS[$1]} + $(timeout 20 sdiag | sed -n 's/.*REQUEST_UPDATE_NODE .*count:\([0-9]*\) .*/\1/p' | grep . || echo 0)))
}

turn_plain() {
    an_array plain
}

turn_steered() {
    told
    steer_on
    wait_for 60 grep -q '"at":[0-9][0-9]' "$STEER_STATE"
    an_array steered
    daemon_stop steer
    same "the weights without it" "$(weights_by_count)" "${MANY}x1"
}

t20_thousands_of_jobs_end_and_nobody_starves() {
    local i turns=$((JOBS / 2000)) names way kind
    local -A RPCS=([plain]=0 [steered]=0)
    [ -x "$BUILD/berth-steer" ] || skip "berth-steer is not built"
    rm -f "$STEER_STATE"
    told
    for i in $(seq "$turns"); do
        if ((i % 2)); then way="steered plain"; else way="plain steered"; fi
        for way in $way; do turn_of "$way"; done
    done
    for way in plain steered; do
        echo "$way: ${RPCS[$way]} RPCs that change nodes" >>"${BERTH_SHOWN:-/dev/null}"
        for kind in narrow whole; do
            case $kind in narrow) names=$((950 * turns)) ;; *) names=$((50 * turns)) ;; esac
            wait_for 120 have_ended "$way.$kind" "$names" || fail "of $names jobs $way.$kind have ended well: $(waits "$way.$kind")"
            echo "$way.$kind: $(waits "$way.$kind") (jobs, mean wait, longest wait in s)" >>"${BERTH_SHOWN:-/dev/null}"
        done
    done
    untold
}
