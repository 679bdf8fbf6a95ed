# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# From a login node: no berthd runs where somebody asks; where he wants that, srun asks the nodes of his job, and the ledger knows what has ended.
# Why berth tells nothing of a job: one line, from there and at its node.

# from_login VERB ARGUMENT..: typed where the cluster's Slurm is, and no berthd: its socket is hidden from this one program.
from_login() {
    : >"$CLUSTER/etc/nothing"
    timeout 60 unshare -m sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' sh "$CLUSTER/etc/nothing" "$CLUSTER/run/berthd.sock" \
        berthctl "$1" --config "$CLUSTER/etc/berth.conf" "${@:2}" 2>&1
}

moves_of_both() {
    echo "$(explained a2 .enforce.moves) $(explained a3 .enforce.moves)"
}

t55_a_running_task_of_an_array_is_explained_from_a_login_node() {
    local array moves
    batch j -n1 --array=2-3 --contention-aware=tag=inner <<<"srun $STAND a\$SLURM_ARRAY_TASK_ID"
    running a2
    running a3
    array=$(cat "$CLUSTER/out/j.job")
    soon "what Slurm says of the task" "$array" explained a2 .request.array_job
    moves=$(moves_of_both)
    same "by its number" "$(from_login explain --ask --json "$array"_2 | jq -r '[.steps[] | select(.profile.key == "tag:inner")] | .[].id' | grep -v batch)" "$(id_of a2)"
    same "a step" "$(from_login explain --ask --json "$array"_3.0 | jq -r '.steps[].id')" "$(id_of a3)"
    has "$(from_login explain --ask "$array"_2.0)" "$(id_of a2)" "stand of root: " "why " "gain "
    has "$(from_login explain --ask -v "$array"_2.0)" "berthctl profile --tag inner -- COMMAND"
    has "$(from_login status -w "$CLUSTER_NODE")" "node $CLUSTER_NODE: " "$(id_of a2)" "$(id_of a3)"
    same "who only asked is never registered" \
        "$(ctl explain --json "$(job_of a2)" | jq -r '.steps[].id' | sort | paste -s -d' ') $(from_login explain --ask --json "$array"_2 | jq -r '.steps[].id' | sort | paste -s -d' ')" \
        "$(id_of a2) $(job_of a2).batch $(id_of a2) $(job_of a2).batch"
    same "moves for a question" "$(moves_of_both)" "$moves"
    same "at the node itself" "$(ctl explain --json "$array"_3.0 | jq -r '.steps[].id')" "$(id_of a3)"
    touch "$CLUSTER/out/a2.stop" "$CLUSTER/out/a3.stop"
}

# Slurm gives the parts different nodes, of which there is one: the job waits, and squeue knows its parts.
t55_a_part_of_a_heterogeneous_job_is_found_by_slurm() {
    local leader
    timeout 10 sbatch --parsable -o /dev/null -n1 --wrap true : -n1 >"$CLUSTER/out/het.job"
    leader=$(cat "$CLUSTER/out/het.job")
    same "its number" "$(timeout 10 squeue -h -o "%i %A" -j "$leader" | sort | paste -s -d,)" "$leader+0 $leader,$leader+1 $((leader + 1))"
    same "its part" "$(from_login explain "$leader"+1)" "berthctl: $leader+1: it is PENDING: berth knows of a job once it runs"
    timeout 10 scancel "$leader"
    has "$(from_login explain "$leader"+7)" "berthctl: $leader+7: neither squeue nor sacct tells here which job that is"
}

t55_what_cannot_be_asked_is_told_in_one_line() {
    local job
    runuser -u nobody -- timeout 90 srun -n1 --contention-aware "$STAND" foreign >"$CLUSTER/out/foreign.srun" 2>&1 &
    running foreign
    job=$(job_of foreign)
    same "another user's" "$(from_login explain "$job")" \
        "berthctl: $job: it is another user's, and runs on $CLUSTER_NODE: its owner, or root, can type there: berthctl explain $job"
    same "a node without a job of one's own" "$(from_login status -w "$CLUSTER_NODE")" \
        "berthctl: $CLUSTER_NODE: no job of yours runs there to ask by; type there: berthctl status"
    touch "$CLUSTER/out/foreign.stop"
    wait $!
    has "$(from_login explain 4000000)" "on the job's node type: berthctl explain 4000000"
}

in_ledger() {
    from_login explain --here --json "$1" | jq -r '.steps[].from'
}

t55_what_has_ended_is_told_from_the_ledger() {
    local id
    start a --contention-aware
    id=$(id_of a)
    stop a
    soon "what is told at a login node" ledger in_ledger "$id"
    daemon_stop berthd
    rm -f "$CLUSTER"/berth/journal*
    berthd_start
    has "$(berthctl explain --config "$CLUSTER/etc/berth.conf" "$id" | tr -s ' \n' ' ')" "$id" "it has ended (from the ledger, node $CLUSTER_NODE)" "gain "
}

# at_node VERB ARGUMENT..: typed on the job's node.
at_node() {
    timeout 60 berthctl "$1" --config "$CLUSTER/etc/berth.conf" "${@:2}" 2>&1
}

# recorded_steps JOB: those of the ledger, in one line.
recorded_steps() {
    at_node report -j "$1" -o JobID -P --noheader 2>&1 | grep '\.' | sort | tr '\n' ' ' | sed 's/ $//'
}

# A job that did not opt in: why is one line at its node and from a login node, while it runs and after; nothing is started in it unasked, and
# what was started when somebody asked is no step of berth's.
t55_why_a_job_was_not_placed_is_one_line_everywhere() {
    local job placed verb asks="and did not ask for berth: neither it nor the site's default has --contention-aware"
    local srun="srun --contention-aware (in a batch script: #SBATCH --contention-aware) has berth place it"
    start placed --contention-aware
    start plain
    job=$(job_of plain) placed=$(job_of placed)
    for verb in job explain; do
        same "$verb at its node" "$(at_node "$verb" "$job")" "berthctl: $job: it is RUNNING, $asks; $srun"
        has "$(from_login "$verb" "$job")" "berthctl: $job: it " "$CLUSTER_NODE"
    done
    same "steps of the job" "$(timeout 10 squeue -s -h -o %i | grep -c "^$job\.[0-9]")" 1
    has "$(from_login job --ask "$placed")" "job $placed " "berth "
    has "$(at_node job --plot "$placed")" "$placed.0: "
    same "steps that berth knows of" "$(at_node explain --json "$placed" | jq '.steps | length')" 1
    has "$(at_node explain "$placed.7")" "of this step berth knows nothing, but of others of the job"
    stop placed plain
    soon "what is said at its end" "berthctl: $job: it is COMPLETED, $asks; $srun" at_node job "$job"
    soon "steps in the ledger" "$placed.0" recorded_steps "$placed"
    ! berthd_says 'runs and is not registered' || fail "berthctl was a stranger"
}
