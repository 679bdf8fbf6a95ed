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

for shell in bash zsh fish; do
    "$berthctl" completion $shell >"$dir/$shell" || bad "$shell: exit status $?"
    ! command -v $shell >/dev/null || $shell -n "$dir/$shell" || bad "$shell: no script of it"
    # every verb and every option that --help shows is in it
    for verb in $("$berthctl" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p'); do
        grep -qw -e "$verb" "$dir/$shell" || bad "$shell: no $verb"
        for option in $("$berthctl" "$verb" --help | sed -n 's/^  \(-.,\|   \) --\([a-z0-9-]*\).*/\2/p'); do
            grep -q -e "--$option\b" -e "-l $option\b" "$dir/$shell" || bad "$shell: no --$option of $verb"
        done
    done
done

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

if command -v fish >/dev/null; then
    got=$(HOME=$dir fish -c "source $dir/fish; complete -C 'berthctl report --by ac'" | cut -f 1)
    [ "$got" = account ] || bad "fish: --by ac: '$got'"
fi
"$berthctl" completion tcsh >"$dir/out" 2>"$dir/err"
[ $? = 2 ] && grep -q 'one of: bash, zsh, fish' "$dir/err" || bad "tcsh: $(cat "$dir/err")"
exit $failed
