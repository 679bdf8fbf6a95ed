# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# OpenMP programs whose next parallel region has as many threads as their step has cores (threads=follow), with gcc's run-time and LLVM's;
# mutexes with cohorts (locks=cohort).

# regions_by COMPILER: the program, built by it.
regions_by() {
    local program=$CLUSTER/bin/regions-$1
    command -v "$1" >/dev/null || skip "no $1"
    [ -x "$program" ] || "$1" -O2 -fopenmp -o "$program" "$TESTS/cluster/regions.c" 2>"$CLUSTER/out/compiler" || skip "$1: $(head -n 1 "$CLUSTER/out/compiler")"
    echo "$program"
}

# start_regions NAME PROGRAM [SRUN ARGUMENTS..]: a step that stands, and beside that runs regions.
start_regions() {
    local name=$1 program=$2
    shift 2
    # shellcheck disable=SC2016 # the task's own shell
    start "$name" "$@" bash -c '"$0" "$1.threads" "$1.stop" & shift; "$@"; rc=$?; wait; exit $rc' "$program" "$CLUSTER/out/$name"
}

# How many threads regions have now, and had one after the other.
threads_of() {
    tail -n 1 "$CLUSTER/out/$1.threads" 2>/dev/null
}

all_threads_of() {
    tr '\n' ' ' <"$CLUSTER/out/$1.threads"
}

follow() {
    daemon_stop berthd
    berthd_conf allow=auto,tag,follow window=200ms first_window=200ms "$@"
    berthd_start
}

page_of() {
    echo "$CLUSTER/run/steps/$(id_of "$1")"
}

# The cores of a step that shares them become fewer while it runs, and more again.
resized() {
    local program
    program=$(regions_by "$1")
    follow
    start_regions a "$program" -p shared -c2 --contention-aware=threads=follow
    soon "alone" 2 threads_of a
    start b -p shared -c2 --contention-aware
    soon "its core" 0 cpus_of a
    soon "beside another" 1 threads_of a
    soon "told" "1 1" explained a '.follow | "\(.threads) \(.region_threads)"'
    stop b
    soon "alone again" 2 threads_of a
    soon "told again" "2 2" explained a '.follow | "\(.threads) \(.region_threads)"'
    same "one after the other" "$(all_threads_of a)" "2 1 2 "
    same "by how many, and why not" "$(explained a '.follow | "\(.processes) \(.surprise)"')" "1 null"
    [ "$(explained a .follow.regions)" -gt 0 ] || fail "no region was told"
    stop a
    [ ! -e "$CLUSTER/run/steps/$(id_of a)" ] || fail "the page is still there"
}

t87_a_program_of_gcc_is_resized() {
    resized gcc
}

t87_a_program_of_clang_is_resized() {
    resized clang
}

t87_the_next_berthd_goes_on_with_the_page() {
    local program page
    program=$(regions_by gcc)
    follow
    start_regions a "$program" -p shared -c2 --contention-aware=threads=follow
    start b -p shared -c2 --contention-aware
    soon "beside another" 1 threads_of a
    page=$(stat -c %i "$(page_of a)")
    daemon_stop berthd KILL
    same "nobody is there" "$(threads_of a)" 1
    berthd_start
    stop b
    soon "alone again" 2 threads_of a
    same "the page" "$(stat -c %i "$(page_of a)")" "$page"
    start c -p shared -c2 --contention-aware
    soon "beside another one" 1 threads_of a
    daemon_stop berthd
    soon "a berthd that stops gives the number back" 2 threads_of a
    berthd_start
    stop a c
}

t87_a_step_that_is_released_has_its_own_number() {
    local program
    program=$(regions_by gcc)
    follow
    start_regions a "$program" -p shared -c2 --contention-aware=threads=follow
    start b -p shared -c2 --contention-aware
    soon "beside another" 1 threads_of a
    ctl release "$(id_of a)" >/dev/null || fail "release"
    soon "released" 2 threads_of a
    stop a b
}

# What an outer step has, an inner srun hands on.
t87_each_step_has_its_own_page() {
    follow
    batch outer -c2 --contention-aware <<'END'
export BERTH_RT_PAGE=/outer LD_PRELOAD=libm.so.6:$CLUSTER/lib/libberth_rt.so
tell='echo "$BERTH_RT_PAGE $LD_PRELOAD" | sed "s|[^ :]*/||g"'
srun -n1 --contention-aware=threads=follow bash -c "$tell"
srun -n1 --contention-aware bash -c "$tell"
srun -n1 --contention-aware=off bash -c "$tell"
unset LD_PRELOAD
srun -n1 --contention-aware=threads=follow bash -c "$tell"
END
    finish outer
    same "what each had" "$(grep -v '^srun: ' "$CLUSTER/out/outer.batch")" "$(cat "$CLUSTER/out/outer.job").0 libm.so.6:libberth_rt.so
 libm.so.6
 libm.so.6
$(cat "$CLUSTER/out/outer.job").3 libberth_rt.so"
}

# The threads say that they are of another domain at each call: here all CPUs may be of one.
t87_mutexes_have_cohorts_as_the_page_says() {
    local locks=$CLUSTER/bin/locks
    gcc -O2 -D_GNU_SOURCE -o "$locks" "$TESTS/runtime/locks.c" -lpthread || skip "no gcc"
    follow allow=auto,tag,locks
    # shellcheck disable=SC2016 # the task's own shell
    same "from the page's first turn on" "$(timeout 90 srun -n1 --contention-aware=locks=cohort env BERTH_RT_NODES=~2 BERTH_RT_COHORT=64 \
        bash -c 'until "$0" sum | grep cohort; do :; done; "$0" mixed conditions forks' "$locks" 2>/dev/null | tr '\n' ' ')" \
        "sum cohort mixed cohort conditions cohort forks cohort "
    same "without the word" "$(timeout 60 srun -n1 --contention-aware env BERTH_RT_NODES=~2 "$locks" sum 2>/dev/null)" "sum plain"
}

t87_it_has_to_be_allowed() {
    follow allow=auto,tag
    # shellcheck disable=SC2016 # the task's own shell
    same "nothing is preloaded" "$(timeout 20 srun -n1 --contention-aware=threads=follow sh -c 'echo "page $BERTH_RT_PAGE $LD_PRELOAD"' 2>/dev/null)" "page  "
}
