#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_parts - the verbs of berthctl that are programs of their own: found beside it, named with their package where they are not there,
# and nothing of them linked into berthctl.
berthctl=${BERTHCTL:-./berthctl}
beside=$(dirname "$berthctl")
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
status=0

bad() {
    echo "not ok: $*" >&2
    status=1
}

# says WHAT COMMAND..: it fails, with this one line alone.
says() {
    what=$1
    shift
    "$@" >"$dir/out" 2>"$dir/err" && bad "$*: succeeds"
    [ "$(cat "$dir/err")" = "$what" ] || bad "$*: $(cat "$dir/err")"
    [ -s "$dir/out" ] && bad "$*: prints $(cat "$dir/out")"
}

"$berthctl" model --help | grep -q '^usage: berthctl model ' || bad "model --help"
"$berthctl" help profile | grep -q '^usage: berthctl profile ' || bad "help profile"
"$berthctl" complete model '' | grep -q '^nucore' || bad "complete model"
"$berthctl" complete profile '' | grep -q '^:commands$' || bad "complete profile"
"$berthctl" complete profile list -- | grep -q '^--socket' || bad "complete profile list --"
"$berthctl" plan --no-such 2>"$dir/err"
[ $? -eq 2 ] || bad "the part's exit status is not passed on"
grep -q '^berthctl: plan: ' "$dir/err" || bad "who complains: $(cat "$dir/err")"
says "berth-lab: berthctl starts it, with one of its verbs: plan model (see 'berthctl --help')" "$beside/berth-lab"

cp "$berthctl" "$dir/alone"
if "$dir/alone" model --help >/dev/null 2>&1; then
    echo "skipped: berth's parts are installed here, so each berthctl finds them"
else
    for verb in plan model; do
        says "berthctl: $verb: is not installed here: the package berth-lab has it" "$dir/alone" "$verb" --help
    done
    for verb in profile threads microstates study pairs calibrate; do
        says "berthctl: $verb: is not installed here: the package berth-probe has it" "$dir/alone" help "$verb"
    done
    "$dir/alone" complete profi | grep -q '^profile' || bad "alone, its verbs are not known"
    "$dir/alone" complete report -- | grep -q '^--by' || bad "alone, its own verbs are not completed"
fi

ldd "$berthctl" | grep -i glpk && bad "berthctl is linked with what only berth-lab needs"
exit $status
