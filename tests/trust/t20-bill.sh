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
