# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# counting - how many tests passed, failed and were skipped; sourced by what runs several suites.

passed=0 failed=0 skipped=0

count() {
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

headline() {
    printf '\n== %s\n' "$*"
}

# cases LOG WORD: how many cases cmocka reports as PASSED, FAILED, SKIPPED in a test program's log. From 1.1.6 on it names the group before
# those of the last two.
cases() {
    sed -n "s/^\[ *$2 *\] \(.*: \)\{0,1\}\([0-9][0-9]*\) test(s).*/\2/p" "$1" | awk '{ n += $1 } END { print n + 0 }'
}

# count_trs: the results of `make check` in the files that it reads: cases where a program tells of them, else the program itself.
count_trs() {
    local trs log
    while read -r trs; do
        log=${trs%.trs}.log
        case $(sed -n 's/^:global-test-result: //p' "$trs") in
        PASS) if grep -q '^\[  PASSED' "$log"; then count "$(cases "$log" PASSED)" 0 "$(cases "$log" SKIPPED)"; else count 1 0 0; fi ;;
        SKIP) count 0 0 1 ;;
        *)
            headline "failed: ${trs%.trs}"
            tail -n 40 "$log"
            if grep -q '^\[  FAILED' "$log"; then count "$(cases "$log" PASSED)" "$(cases "$log" FAILED)" "$(cases "$log" SKIPPED)"; else count 0 1 0; fi
            ;;
        esac
    done
}

# count_check FOLDER: what `make check` ran below it.
count_check() {
    count_trs < <(find "$1" -name '*.trs' ! -name test-suite.trs 2>/dev/null | sort)
}

# count_suite LOG: by the closing line of one of the suites with a Slurm.
count_suite() {
    if [[ $(tail -n 1 "$1") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
        count "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${BASH_REMATCH[3]}"
    else
        echo "not ok - no closing line: the suite ended too early"
        count 0 1 0
    fi
}
