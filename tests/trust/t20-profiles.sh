# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Whose runs tell what of whose program, and who reads it. Sourced by tests/cluster/run.

STORE=$CLUSTER/berth/profiles.db

# profile_as USER VERB ARGUMENTS..: by the socket. stored VERB ARGUMENTS..: root, in the file.
profile_as() {
    local user=$1 verb=$2
    shift 2
    as "$user" "$CLUSTER/bin/berthctl" profile "$verb" --socket "$CLUSTER/run/berthd.sock" "$@"
}

stored() {
    local verb=$1
    shift
    berthctl profile "$verb" --db "$STORE" "$@"
}

# row TAG MISSES: a line of a profile.
row() {
    printf '{"version":1,"kind":"profile","key":"tag:%s","source":"valgrind","measured_at":%s,"llc_bytes":1000,"llc_ways":1,"line_bytes":64,"hits":[1],"misses":%s,"accesses":30000,"instructions":100,"references":50}\n' "$1" "$(date +%s)" "$2"
}

# put_as USER TAG MISSES: that user says so of his program.
put_as() {
    row "$2" "$3" | profile_as "$1" import >/dev/null || fail "import by $1"
    wait_for 20 has_row "$1" "$2"
}

has_row() { # USER TAG
    profile_as "$1" export | grep -q "\"key\":\"tag:$2\""
}

class_of() { # NAME
    explained "$1" .class.name
}

t20_one_user_decides_nothing_of_another() {
    stored forget --all
    put_as "$ATTACKER" shared 20000
    start_as "$VICTIM" v --contention-aware=tag=shared
    start_as "$ATTACKER" a --contention-aware=tag=shared
    same "class of the victim's step" "$(class_of v)" unprofiled
    same "class of the attacker's step" "$(class_of a)" devil
    stop v a
    row shared 7 | stored import >/dev/null
    start_as "$VICTIM" w --contention-aware=tag=shared
    same "class by what root says" "$(class_of w)" turtle
    stop w
    stored forget tag:shared
}

t20_absurd_figures_are_refused() {
    stored forget --all
    has "$(row shared 1e308 | profile_as "$ATTACKER" import 2>&1)" "misses: 1e+308: between 0 and 2000000 expected"
    same "what is stored" "$(stored list --json)" "[]"
}

t20_a_user_reads_his_own_profiles() {
    stored forget --all
    put_as "$VICTIM" hers 5
    put_as "$ATTACKER" his 5
    same "the file's mode and owner" "$(stat -c '%a %U' "$STORE")" "640 root"
    as "$ATTACKER" head -c1 "$STORE" 2>/dev/null && fail "the attacker reads the store"
    same "keys that the attacker is shown" "$(profile_as "$ATTACKER" list --json | jq -r '[.[].key] | join(" ")')" "tag:his"
    same "keys that the victim is shown" "$(profile_as "$VICTIM" list --json | jq -r '[.[].key] | join(" ")')" "tag:hers"
    profile_as "$ATTACKER" show tag:hers >/dev/null 2>&1 && fail "the attacker is shown the victim's"
    profile_as "$ATTACKER" forget --all
    same "rows that root sees" "$(wait_for 20 rows_are 1; stored export | jq -r .key)" "tag:hers"
    stored forget --all
}

rows_are() { # N
    [ "$(stored export | wc -l)" -eq "$1" ]
}

t20_a_user_profiles_without_root() {
    local hash
    as "$VICTIM" test -x "$BUILD/berthctl" || skip "$VICTIM may not run $BUILD/berthctl, beside which the tool of valgrind is"
    stored forget --all
    as "$VICTIM" "$BUILD/berthctl" profile --socket "$CLUSTER/run/berthd.sock" --llc 32M:16:64 --seconds 20 -- /bin/true >"$CLUSTER/out/profile" 2>&1 ||
        fail "berthctl profile by a user: $(cat "$CLUSTER/out/profile")"
    wait_for 20 rows_are 1
    hash=$(stored export | jq -r '"\(.uid) \(.kind) \(.key)"')
    [[ $hash == "$(id -u "$VICTIM") profile exe:/"*true#* ]] || fail "stored: $hash"
    stored forget --all
}

told_steps() { # USER N
    [ "$(berthctl_as "$1" status --json | jq .node.steps)" = "$2" ]
}

t20_private_data_is_slurms() {
    berthd_conf slurm_conf="$CLUSTER/etc/slurm.conf"
    echo PrivateData=jobs >>"$CLUSTER/etc/slurm.conf"
    kill -HUP "$(daemon_pid berthd)"
    wait_for 10 told_steps "$ATTACKER" null
    start_as "$VICTIM" v --contention-aware
    start_as "$ATTACKER" a --contention-aware
    same "what the attacker is told of all" "$(berthctl_as "$ATTACKER" status --json | jq -c '.node | [.pool, .steps, .rungs, .energy, .registrations, .moves]')" "[null,null,null,null,null,null]"
    same "who is beside him" "$(berthctl_as "$ATTACKER" explain --json "$(id_of a)" | jq -c '.steps[0].place | [.neighbours, .of]')" "[[],null]"
    same "steps that root is told of" "$(ctl status --json | jq .node.steps)" 2
    sed -i '/^PrivateData=jobs$/d' "$CLUSTER/etc/slurm.conf"
    kill -HUP "$(daemon_pid berthd)"
    wait_for 10 told_steps "$ATTACKER" 2
    stop v a
}
