# SPDX-License-Identifier: GPL-2.0-or-later
# ctl_check.sh - sourced by the tests of berthctl's filters: run a verb, compare status, stdout and stderr.
berthctl=${BERTHCTL:-./berthctl}
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0

bad() { # WHAT WANTED GOT
    printf 'not ok: berthctl %s\n  wanted %s\n  got    %s\n' "$1" "$2" "$3" >&2
    failed=1
}

run() { # INPUT ARGUMENT...
    printf '%s' "$1" >"$dir/in"
    shift
    "$berthctl" "$@" <"$dir/in" >"$dir/out" 2>"$dir/err"
    status=$?
}

# answers INPUT OUTPUT ARGUMENT...: exit status 0, exactly this on stdout and nothing on stderr.
answers() {
    input=$1 wanted=$2
    shift 2
    run "$input" "$@"
    [ $status -eq 0 ] || bad "$*" "status 0" "$status: $(cat "$dir/err")"
    [ "$(cat "$dir/out")" = "$wanted" ] || bad "$* <<< $input" "$wanted" "$(cat "$dir/out")"
    [ ! -s "$dir/err" ] || bad "$*" "nothing on stderr" "$(cat "$dir/err")"
}

# refuses INPUT STATUS TEXT ARGUMENT...: this status, nothing on stdout, and one line with TEXT on stderr.
refuses() {
    input=$1 wanted=$2 text=$3
    shift 3
    run "$input" "$@"
    [ $status -eq "$wanted" ] || bad "$* <<< $input" "status $wanted" "$status"
    [ ! -s "$dir/out" ] || bad "$* <<< $input" "nothing on stdout" "$(cat "$dir/out")"
    [ "$(wc -l <"$dir/err")" -eq 1 ] || bad "$* <<< $input" "one line on stderr" "$(cat "$dir/err")"
    grep -qF -e "$text" "$dir/err" || bad "$* <<< $input" "$text" "$(cat "$dir/err")"
}

# says TEXT ARGUMENT...: exit status 0 and TEXT somewhere on stdout.
says() {
    text=$1
    shift
    run '' "$@"
    [ $status -eq 0 ] || bad "$*" "status 0" "$status"
    grep -qF -e "$text" "$dir/out" || bad "$*" "$text" "$(cat "$dir/out")"
}
