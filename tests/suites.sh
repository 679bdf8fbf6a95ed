# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# suites - reads the table tests/suites, chooses suites, and runs them in lanes; sourced by tests/run and tests/nightly, in the tree's root.
#
#   suites_choose WHEN [SUITE..]    those of tests/run or tests/nightly: all, or these
#   suites_since REV                of the chosen, those that a change since REV can break; the others are in $left_out
#   suites_run                      installs what `contrib/install-packages ${packages:-tests}` does, builds, runs what is chosen, and counts it:
#                                   $passed, $failed, $skipped
#   suites_ended                    prints the table of what ran, what was left out, and the closing line
#
# Each lane is a shell of its own. What a suite says is printed as one piece when it has ended; build/results keeps its counts.

# shellcheck source=tests/counting.sh
. tests/counting.sh

export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=1 # as contrib/build has it
results=build/results
jobs=$((2 * $(nproc))) # of make, where tests run: many of them mostly wait
suite_limit=${SUITE_LIMIT:-2700} # seconds after which a suite is taken for hung
chosen=() left_out=()
declare -A list lane minutes depends command

# ---- the table ----

# suites_read WHEN: the rows of tests/run or tests/nightly, in order.
suites_read() {
    local line when name
    while read -r line; do
        case $line in
        "" | "#"*) ;;
        run\ * | both\ * | nightly\ *)
            read -r when name _ <<<"$line"
            [ "$when" = "$1" ] || [ "$when" = both ] || continue
            chosen+=("$name")
            read -r _ _ lane[$name] minutes[$name] depends[$name] <<<"${line%% : *}"
            command[$name]=${line#* : }
            ;;
        *" = "*) list[${line%% *}]=${line#*= } ;;
        *) echo "tests/suites: '$line' is neither a suite nor a list" >&2; return 1 ;;
        esac
    done <tests/suites
}

# suites_choose WHEN [SUITE..]
suites_choose() {
    local all name
    suites_read "$1" || return
    shift
    [ $# -gt 0 ] || return 0
    all=" ${chosen[*]} "
    for name; do
        [[ $all == *" $name "* ]] || { echo "no suite is called '$name'; there are:$all" >&2; return 1; }
    done
    chosen=("$@")
}

suites_print() {
    local name
    printf '%-13s %-6s %7s  %s\n' suite lane minutes command
    for name in "${chosen[@]}"; do
        printf '%-13s %-6s %7s  %s\n' "$name" "${lane[$name]}" "${minutes[$name]}" "${command[$name]}"
    done
    told_left_out
}

# ---- what a change can break ----

# paths WORD..: the files and folders, with lists put in for their names, and theirs.
paths() {
    local word
    for word; do
        # shellcheck disable=SC2086 # a list of words
        if [ -n "${list[$word]:-}" ]; then
            [ "${list[$word]}" = "$word" ] || paths ${list[$word]}
        else
            echo "$word"
        fi
    done
}

# fits FILE PATH..: is the file one of these, or in one of these folders?
fits() {
    local file=$1 path
    shift
    for path; do [[ $path == all || $file == "$path" || $file == "$path"/* ]] && return; done
    return 1
}

# What differs from REV in the tree as it stands, and what git does not know yet.
changed_since() {
    { git diff --name-only "$1" -- && git ls-files --others --exclude-standard; } | sort -u
}

# suites_since REV
suites_since() {
    local -A hit=()
    local file name known all=("${chosen[@]}")
    mapfile -t changed < <(changed_since "$1")
    for file in "${changed[@]}"; do
        known=
        # shellcheck disable=SC2046 # lists of words, here and below
        fits "$file" $(paths nothing) && known=yes
        for name in "${all[@]}"; do
            # shellcheck disable=SC2046,SC2086
            fits "$file" $(paths building ${depends[$name]}) && hit[$name]=yes known=yes
        done
        [ -n "$known" ] || { echo "$file has changed and stands nowhere in tests/suites: all suites run"; return 0; }
    done
    chosen=()
    for name in "${all[@]}"; do
        if [ -n "${hit[$name]:-}" ]; then chosen+=("$name"); else left_out+=("$name"); fi
    done
}

# ---- tests of make check ----

# tests_of BUILD: "program NAME" and "script NAME" of each.
tests_of() {
    # shellcheck disable=SC2016 # for make
    make -s -C "$1" --eval='tests-of:;@printf "program %s\n" $(filter $(check_PROGRAMS),$(TESTS)); printf "script %s\n" $(filter-out $(check_PROGRAMS),$(TESTS))' tests-of |
        grep '^program \|^script ' # and not what making the Makefile anew says
}

# The patterns of all rows of the table that check in the build folder as it is.
other_patterns() {
    sed -n 's/^[a-z]* .* : check build \(.*\)/\1/p' tests/suites
}

# fitting PATTERN..: of the "KIND NAME" lines read, the names that a pattern fits; `programs` fits what no other row's does.
fitting() {
    local kind name pattern others=()
    read -r -d '' -a others < <(other_patterns)
    while read -r kind name; do
        for pattern; do
            # shellcheck disable=SC2053 # a pattern
            if [ "$pattern" = programs ]; then
                [ "$kind" = program ] && ! fits_pattern "$name" "${others[@]}" && echo "$name"
            else
                [[ $name == $pattern ]] && echo "$name" && break
            fi
        done
    done
}

fits_pattern() {
    local name=$1 pattern
    shift
    # shellcheck disable=SC2053 # a pattern
    for pattern; do [[ $name == $pattern ]] && return; done
    return 1
}

# A make that failed while no test did, or that ran none.
make_ended() { # RC LOG
    [ "$1" = 0 ] && [ "$passed" -gt 0 ] && return
    [ "$failed" -gt 0 ] && return
    echo "not ok - make ended with $1 (124: it hung) after $passed tests; $2 ends with:"
    tail -n 30 "$2"
    count 0 1 0
}

# The sanitizers' build. -O1 builds faster than -O2; with it gcc warns of lengths and values that it does not know.
build_asan() {
    contrib/build --configure build/asan --enable-werror --enable-sanitizers CFLAGS='-g -O1 -Wno-format-truncation -Wno-maybe-uninitialized'
}

# check BUILD PATTERN..: builds those tests, and what all may use, and runs them.
check() {
    local build=$1 log=build/$suite.log tests helpers rc
    shift
    [ "$build" != build/asan ] || build_asan || { count 0 1 0; return; }
    tests=$(tests_of "$build" | fitting "$@")
    helpers=$(helpers_of "$build")
    # shellcheck disable=SC2086 # a list of words
    (cd "$build" && rm -f ${tests//$'\n'/.trs }.trs)
    timeout "$suite_limit" make -k -C "$build" -j"$jobs" check-TESTS TESTS="${tests//$'\n'/ }" \
        check_PROGRAMS="${helpers//$'\n'/ }" LOG_COMPILER="$PWD/tests/once" >"$log" 2>&1 </dev/null
    rc=$?
    # shellcheck disable=SC2086 # a list of words
    count_trs < <(printf "$build/%s.trs\n" $tests)
    make_ended "$rc" "$log"
}

# helpers_of BUILD: programs that tests run, and that are no tests.
helpers_of() {
    # shellcheck disable=SC2016 # for make
    make -s -C "$1" --eval='helpers-of:;@printf "helper %s\n" $(filter-out $(TESTS),$(check_PROGRAMS))' helpers-of | sed -n 's/^helper //p'
}

# No test of make check is forgotten by the table.
forgotten() {
    local all some
    all=$(tests_of build | cut -d' ' -f2 | sort)
    # shellcheck disable=SC2046 # patterns
    some=$(set -f; tests_of build | fitting programs $(other_patterns) | sort -u)
    comm -23 <(echo "$all") <(echo "$some")
}

# ---- suites and lanes ----

# run_command: of $suite: a command of its own, whose closing line counts, or one of the functions here and in the caller.
run_command() {
    local log=build/$suite.log words
    set -f # patterns are for `check`
    # shellcheck disable=SC2206 # words
    words=(${command[$suite]//\$draw/${draw:-}})
    case ${words[0]} in
    check | distribution | coverage) "${words[@]}"; return ;;
    esac
    timeout "$suite_limit" "${words[@]}" >"$log" 2>&1 </dev/null
    cat "$log"
    count_suite "$log"
}

# run_suite NAME: prints what it said as one piece, and keeps its counts.
run_suite() {
    local suite=$1 began=$SECONDS said took
    echo 0 1 0 >"$results/$suite.counts" # until it has ended
    : >"$results/$suite.running"
    said=$(passed=0 failed=0 skipped=0; run_command; echo "$passed $failed $skipped" >"$results/$suite.counts")
    read -r passed failed skipped <"$results/$suite.counts"
    took=$(clock $((SECONDS - began)))
    rm -f "$results/$suite.running"
    echo "$suite $passed $failed $skipped $took" >>"$results/table"
    {
        flock 9
        printf '\n== %s\n%s\n%s: %s passed, %s failed, %s skipped in %s\n' "$suite" "$said" "$suite" "$passed" "$failed" "$skipped" "$took"
    } 9>"$results/lock"
}

clock() { # SECONDS
    printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

# run_lane NAME: what needs the CPUs goes behind what waits for a Slurm; that waits longer before it gives up.
run_lane() {
    local name
    export CLUSTER_PATIENCE=${CLUSTER_PATIENCE:-3}
    [ "$1" = slurm ] || renice -n 5 -p "$BASHPID" >/dev/null
    for name in "${chosen[@]}"; do
        [ "${lane[$name]}" != "$1" ] || run_suite "$name"
    done
}

# All that this shell has started, and what that has: timeout(1) keeps process groups of its own.
descendants() {
    ps -e -o pid= -o ppid= | awk -v top=$$ '
        { parent[$1] = $2 }
        END { for (pid in parent) { for (up = parent[pid]; up > 1 && up != top;) up = parent[up]; if (up == top) print pid } }'
}

stop() {
    trap - INT TERM HUP
    # shellcheck disable=SC2046 # a list of numbers
    kill -TERM $(descendants) 2>/dev/null
    exit 130
}

# What every suite needs. A test that no row of the table has is a failure.
prepare() {
    local lost
    headline "what is needed"
    contrib/install-packages "${packages:-tests}" || return
    headline "build"
    # shellcheck disable=SC2046 # a list of words
    contrib/build build --enable-werror && make -C build -j"$(nproc)" $(helpers_of build) >build/helpers.log 2>&1 ||
        { tail -n 20 build/helpers.log 2>/dev/null; return 1; }
    lost=$(forgotten)
    [ -z "$lost" ] || { echo "not ok - tests/suites has no suite for ${lost//$'\n'/, }"; count 0 1 0; }
}

# On a terminal: which suites are under way, until no lane is.
progress() {
    local running
    while [ -t 2 ] && [ -n "$(jobs -pr)" ]; do
        running=$(cd "$results" && for each in *.running; do [ ! -e "$each" ] || echo "${each%.running}"; done | tr '\n' ' ')
        printf '\r\033[K%s: %s of %s suites have ended; running: %s' "$(clock "$SECONDS")" "$(wc -l <"$results/table")" ${#chosen[@]} "$running" >&2
        sleep 1
    done
    [ ! -t 2 ] || printf '\r\033[K' >&2
}

suites_run() {
    local each counts
    [ ${#chosen[@]} -gt 0 ] || return 0
    prepare || { count 0 1 0; return; }
    trap stop INT TERM HUP
    rm -rf "$results" && mkdir -p "$results" && : >"$results/table" || return
    for each in $(for name in "${chosen[@]}"; do echo "${lane[$name]}"; done | sort -u); do run_lane "$each" & done
    progress
    wait
    for counts in "$results"/*.counts; do
        # shellcheck disable=SC2046 # three numbers
        count $(cat "$counts")
    done
}

told_left_out() {
    [ ${#left_out[@]} = 0 ] || echo "left out, as nothing that can break them has changed: ${left_out[*]}"
}

# The suites with their counts and minutes, what was left out, the time, and the closing line.
suites_ended() {
    echo
    [ ! -e "$results/table" ] || awk '
        BEGIN { format = "%-13s %7s %7s %8s %8s\n"; printf format, "suite", "passed", "failed", "skipped", "minutes" }
        { printf format, $1, $2, $3, $4, $5 }' "$results/table"
    told_left_out
    echo "in $(clock "$SECONDS")"
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
}
