# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
# told - the commands that the manual pages and README.md tell people to type, and the table tests/told of what each prints; sourced by
# tests/check-man and tests/accounting/t90-told.sh. TOLD_SRC is the tree.

# told_commands: each of them once, as the pages have it.
told_commands() {
    {
        sed -nE 's/^\.(Dl|Ql|It Ql) ([$#] )?((berthctl|berthd|srun|curl|build\/tests\/bench\/day) .*)/\3/p' "$TOLD_SRC"/man/*.[1-8] "$TOLD_SRC"/man/*.[1-8].in
        sed -nE 's/^\.Nm (berthctl|berthd) (Cm |Fl Fl )/\1 \2/p' "$TOLD_SRC"/man/*.[1-8] "$TOLD_SRC"/man/*.[1-8].in |
            sed -E 's/ (Cm|Ar|No) / /g; s/ Fl (Fl |-)/ --/g; s/ Fl / -/g; s/ Ns = Ns /=/g'
        sed -nE 's/^    (\$ )?((berthctl|berthd|srun|curl|build\/tests\/bench\/day) .*)/\2/p; s/.*`((berthctl|berthd|srun --contention-aware) [^`]*)`.*/\1/p' "$TOLD_SRC/README.md"
    } | grep -v -e '<--' -e '-->' -e 'slurmstepd   ' | sed -E 's/\\\(dq/"/g; s/ +#.*//; s/( [,.:;)])+$//; s/[,.:]$//' | sort -u
}

told_rows() { # COLUMN: of each row
    grep -v -e '^#' -e '^$' "$TOLD_SRC/tests/told" | cut -f "$1" | sort -u
}

# told_gaps: what the pages tell and has no row, rows of what they do not tell, and of tests that there are none of.
told_gaps() {
    told_commands >"$told_scratch/commands"
    told_rows 2 >"$told_scratch/rows"
    comm -23 "$told_scratch/commands" "$told_scratch/rows" | sed 's/^/no row of tests\/told for: /'
    comm -13 "$told_scratch/commands" "$told_scratch/rows" | sed 's/^/tests\/told has a row that no page tells: /'
    for where in $(told_rows 1 | grep -v -x -e here -e node); do
        [ -s "$TOLD_SRC/$where" ] || echo "tests/told: $where: there is no such test"
    done
}

# told_type WHERE [JOB]: types the commands of these rows in this folder, with the tools first in PATH, and says what is not as told.
told_type() {
    tab=$(printf '\t')
    grep "^$1$tab" "$TOLD_SRC/tests/told" | while IFS=$tab read -r _ told typed prints; do
        [ "$typed" != - ] || typed=$told
        typed=$(echo "$typed" | sed "s/4711/${2:-4711}/g")
        timeout 120 bash -c "$typed" >"$told_scratch/out" 2>&1 </dev/null || { printf "not as told: '%s' ends with %s:\n%s\n" "$typed" $? "$(cat "$told_scratch/out")"; continue; }
        [ "$prints" = - ] || grep -qE -e "$(echo "$prints" | sed "s/4711/${2:-4711}/g")" "$told_scratch/out" ||
            printf "not as told: '%s' prints no line with '%s':\n%s\n" "$typed" "$prints" "$(cat "$told_scratch/out")"
    done
}
