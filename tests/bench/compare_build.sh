# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# compare_build - the two trees of tests/bench/compare, built in build/compare with the same options; sourced by it.
#
# REV is a git worktree that stays there, by its commit: it is built once. Ours is built from the tree as it is.

compare_targets=(berthd berthctl berth-lab berth-probe berth-job spank_berth.la libberth_rt.la tests/unit/common/ledger_fill)
compare_benches=(tests/bench/drive tests/bench/compare_table tests/bench/steady tests/bench/silence tests/bench/nucore
    tests/bench/day tests/bench/day_clock.la)

# build_tree TREE FOLDER TARGET..: a target that an older tree has not is left out.
build_tree() {
    local tree=$1 folder=$2 cc=gcc
    shift 2
    command -v ccache >/dev/null && cc='ccache gcc'
    mkdir -p "$folder"
    (
        cd "$tree" && { [ -e configure ] && [ -e Makefile.in ] || ./bootstrap; } &&
            cd "$folder" && { [ -e config.status ] || "$tree/configure" CC="${CC:-$cc}"; } &&
            { make -k -j"$(nproc)" "$@" || [ -x berthd ] && [ -x berthctl ]; }
    ) >"$folder/compare.log" 2>&1 </dev/null &
    running=($!)
    wait $! && return 0
    echo "compare: $tree cannot be built; $folder/compare.log ends with:" >&2
    tail -n 15 "$folder/compare.log" >&2
    return 1
}

# build_rev REVISION: sets rev_tree and rev_build.
build_rev() {
    local commit
    commit=$(git rev-parse --quiet --verify --short=12 "$1^{commit}") || { echo "compare: $1: no such revision" >&2; return 1; }
    rev_tree=$PWD/build/compare/$commit
    rev_build=$rev_tree/build
    [ -e "$rev_tree/configure.ac" ] || git worktree add --quiet --force --detach "$rev_tree" "$commit" || return 1
    [ -e "$rev_build/compare.done" ] && return 0
    build_tree "$rev_tree" "$rev_build" "${compare_targets[@]}" && touch "$rev_build/compare.done"
}

# build_head: sets head_tree and head_build.
build_head() {
    local name
    head_tree=$PWD
    head_build=$PWD/build/compare/head
    [ ! -e config.status ] || { echo "compare: this tree is configured in place: 'make distclean' first" >&2; return 1; }
    build_tree "$head_tree" "$head_build" "${compare_targets[@]}" "${compare_benches[@]}" || return 1
    for name in "${compare_benches[@]}"; do
        [[ $name == *.la ]] || [ -x "$head_build/$name" ] || { echo "compare: $name is not built: $head_build/compare.log" >&2; return 1; }
    done
}
