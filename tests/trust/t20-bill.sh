# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Who is told what steps have cost: the ledger is root's, and each user's own part of it comes by berthd. Sourced by tests/cluster/run.

# bill_as USER OPTION..: what that user types, without any right.
bill_as() {
    local user=$1
    shift
    as "$user" "$CLUSTER/bin/berthctl" report --config "$CLUSTER/etc/berth.conf" "$@"
}

# steps_told USER OPTION..: the steps of his bill, in one line.
steps_told() {
    bill_as "$@" -nP -o JobID 2>/dev/null | grep -F . | sort | paste -s -d' '
}

t20_a_user_is_told_his_own_bill() {
    local hers his
    start_as "$VICTIM" v --contention-aware
    start_as "$ATTACKER" a --contention-aware
    hers=$(id_of v) his=$(id_of a)
    stop v a
    soon "steps that the victim is told of" "$hers" steps_told "$VICTIM" -j "$hers,$his"
    soon "steps that the attacker is told of" "$his" steps_told "$ATTACKER" -j "$hers,$his"
    same "the file's mode and owner" "$(stat -c '%a %U' "$CLUSTER/berth/ledger.db")" "640 root"
    as "$ATTACKER" head -c1 "$CLUSTER/berth/ledger.db" 2>/dev/null && fail "the attacker reads the ledger"
    same "users of all that he asks for" "$(bill_as "$ATTACKER" -anP -o User 2>/dev/null | sort -u)" "$ATTACKER"
    same "the victim's by her name and job" "$(steps_told "$ATTACKER" -u "$VICTIM")$(steps_told "$ATTACKER" -j "$hers")" ""
    same "what he is told of that" "$(bill_as "$ATTACKER" -j "$hers" 2>&1 >/dev/null)" \
        "berthctl: report: your own steps only: others' are shown to who may read the ledger"
    same "what root reads of her steps, and she is told" "$(bill_as "$VICTIM" --json -j "$hers" | jq -c .jobs)" \
        "$(berthctl report --config "$CLUSTER/etc/berth.conf" --json -j "$hers" -u "$VICTIM" | jq -c .jobs)"
}

t20_a_user_without_a_berthd_is_told_so_in_one_line() {
    daemon_stop berthd
    bill_as "$VICTIM" >"$CLUSTER/out/bill" 2>&1 && fail "a bill without a berthd"
    same "lines" "$(wc -l <"$CLUSTER/out/bill")" 1
    has "$(cat "$CLUSTER/out/bill")" "only root may read it" "berthd tells nothing of your own: no answer at $CLUSTER/run/berthd.sock"
    berthd_start
}

# The README's lines as they stand there, by a user in a folder of his own. Only this berth.conf is where berth looks for one.
t20_the_lines_of_the_readme_work_for_a_user() {
    local conf folder home=$CLUSTER/out/home lines=$CLUSTER/out/lines
    as "$VICTIM" test -x "$BUILD/berthctl" || skip "$VICTIM may not run $BUILD/berthctl, beside which the tool of valgrind is"
    conf=$("$BUILD/berthd" --help | sed -n 's/.*(default \(.*\); may be absent).*/\1/p')
    folder=$(dirname "$conf")
    [ -d "$folder" ] || folder=$(dirname "$folder")
    [ -d "$folder" ] && [ "$folder" != /etc ] || skip "no folder $folder to put a berth.conf into"
    sed -n 's/^    \(berthctl \(profile\|report\) [^#]*[^ #]\) *#.*/\1/p' "$TESTS/../README.md" >"$lines"
    same "lines" "$(cut -d' ' -f1,2 "$lines" | sort | uniq -c | tr -s ' \n' ' ')" " 1 berthctl profile 2 berthctl report "
    as "$VICTIM" mkdir "$home"
    as "$VICTIM" cp /bin/true "$home/solver"
    start_as "$VICTIM" v --contention-aware
    stop v
    soon "her step" "$(id_of v)" steps_told "$VICTIM" -j "$(id_of v)"
    grep -v '^topology ' "$CLUSTER/etc/berth.conf" >"$CLUSTER/etc/bare.conf" # the machine's own caches: what is made up has none
    # shellcheck disable=SC2016 # the namespace's own variables
    unshare -m sh -c 'mount -t tmpfs none "$1" && mkdir -p "$(dirname "$2")" && cp "$3" "$2" && chmod 755 "$(dirname "$2")" && chmod 644 "$2" &&
        cd "$4" && exec runuser -u "$5" -- env PATH="$6:$PATH" sh -ex "$7"' sh "$folder" "$conf" "$CLUSTER/etc/bare.conf" "$home" "$VICTIM" "$BUILD" "$lines" \
        >"$CLUSTER/out/readme" 2>&1 ||
        { grep -q 'are not known here' "$CLUSTER/out/readme" && skip "this machine does not tell its caches"; fail "$(cat "$CLUSTER/out/readme")"; }
    has "$(cat "$CLUSTER/out/readme")" "+ berthctl profile -- ./solver --small" "$(id_of v)" "+ berthctl report --benefit"
    wait_for 20 stored_of "$VICTIM"
}

# The store has a profile that is that user's.
stored_of() {
    berthctl profile export --db "$CLUSTER/berth/profiles.db" | jq -e --argjson uid "$(id -u "$1")" 'select(.uid == $uid)' >/dev/null
}
