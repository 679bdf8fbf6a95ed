#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# test_completion.sh - what `berthctl completion` prints is a script of that shell, and proposes verbs, options and their words.
berthctl=${BERTHCTL:-./berthctl}
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0

bad() {
    printf 'not ok: %s\n' "$*" >&2
    failed=1
}

berthctl() {
    "$berthctl" "$@"
}

for shell in bash zsh fish; do
    "$berthctl" completion $shell >"$dir/$shell" || bad "$shell: exit status $?"
    ! command -v $shell >/dev/null || $shell -n "$dir/$shell" || bad "$shell: no script of it"
    grep -q 'berthctl complete ' "$dir/$shell" || bad "$shell: does not ask"
done
# every verb and every option that --help shows is proposed
"$berthctl" complete '' >"$dir/verbs"
for verb in $("$berthctl" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p'); do
    grep -q "^$verb	." "$dir/verbs" || bad "no $verb"
    "$berthctl" complete "$verb" -- >"$dir/options"
    for option in $("$berthctl" "$verb" --help | sed -n 's/^  \(-.,\|   \) --\([a-z0-9-]*\).*/\2/p'); do
        grep -q "^--$option	." "$dir/options" || bad "no --$option of $verb"
    done
done
! "$berthctl" --help | grep -qw complete || bad 'complete is shown'

squeue() {
    echo 1234
}

# proposes WORD.. : WANTED: what bash proposes for the last word.
proposes() {
    local wanted=${!#} got
    COMP_WORDS=("${@:1:$#-2}")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _berthctl
    got=${COMPREPLY[*]}
    [ "$got" = "$wanted" ] || bad "bash: ${COMP_WORDS[*]}: '$got', should be '$wanted'"
}

. "$dir/bash"
proposes berthctl rep : report
proposes berthctl report --by a : account
proposes berthctl report --jobs 1 : 1234
proposes berthctl explain 12 : 1234
proposes berthctl model nu : "numem nucore"
proposes berthctl model f : "flexthread faithful"
proposes berthctl profile forget --o : --older
proposes berthctl profile "" : "list show export import forget demand"
proposes berthctl status --j : --json
proposes berthctl nonsense --j : ""
proposes berthctl help st : "status study"
proposes berthctl completion z : zsh
proposes berthctl status --socket /no/such : ""

mkdir "$dir/bin" && ln -s "$(realpath "$berthctl")" "$dir/bin/berthctl"
if command -v zsh >/dev/null; then # of a function of zsh, what it describes
    got=$(PATH=$dir/bin:$PATH zsh -fc 'compdef() { :; }; _describe() { print -l -- "${(@P)2}"; }
        words=(berthctl report --by ac) CURRENT=4; source '"$dir/zsh")
    grep -qx 'account:' <<<"$got" || bad "zsh: --by ac: '$got'"
fi
if command -v fish >/dev/null; then
    got=$(HOME=$dir PATH=$dir/bin:$PATH fish -c "source $dir/fish; complete -C 'berthctl report --by ac'" | cut -f 1)
    [ "$got" = account ] || bad "fish: --by ac: '$got'"
fi
"$berthctl" completion tcsh >"$dir/out" 2>"$dir/err"
[ $? = 2 ] && grep -q 'one of: bash, zsh, fish' "$dir/err" || bad "tcsh: $(cat "$dir/err")"
exit $failed
