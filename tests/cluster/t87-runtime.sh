# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# OpenMP programs whose next parallel region has as many threads as their step has cores (threads=follow), with gcc's run-time and LLVM's;
# mutexes with cohorts (locks=cohort).

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
    program=$(openmp_by "$1" regions) || skip "$program"
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

# ---- programs of others ----

# resize_while COMMAND..: what the regions of one process of the command have before a neighbour comes, beside it, and when it has gone: $seen. It
# goes on in short turns, and stands still while berthd is to notice something, lest it is over before that. What it prints is in a.said.
resize_while() {
    follow
    seen=
    rm -f "$CLUSTER"/out/[ab].*
    start a -p shared -c2 --contention-aware=threads=follow "$TESTS/cluster/beside" "$@"
    wait_for 5 test -s "$CLUSTER/out/a.program" || fail "it does not begin"
    see 2
    start b -p shared -c2 --contention-aware
    see 1
    stop b
    see 2
    go_on
    wait_for 60 is_over a || fail "it does not end"
    same "how it ended" "$(cat "$CLUSTER/out/a.rc")" 0
    same "whose regions these were" "$(explained a '.follow | "\(.processes) \(.surprise)"')" "1 null"
    stop a
}

# see THREADS: adds what the last region had to $seen, as soon as that is THREADS, or the program is over. The program takes no turn before its
# page says THREADS: a turn is the time of some regions, and a short program has few.
see() {
    wait_for 20 same_number "$1" .follow.threads || fail "its page does not say $1"
    wait_for 20 tells_or_over "$1" || true
    seen="$seen${seen:+ }$(explained a .follow.region_threads)"
}

same_number() {
    [ "$(explained a "$2")" = "$1" ]
}

tells_or_over() {
    is_over a || { turn; wait_for 20 all_is_heard; same_number "$1" .follow.region_threads; }
}

turn() {
    go_on
    sleep 0.02
    kill -STOP "$(cat "$CLUSTER/out/a.program")" || true
}

# berthd has read what the step's programs have said.
all_is_heard() {
    local path fifo rc=0
    path=$(page_of a).said
    [ -p "$path" ] || return 0
    exec {fifo}<>"$path"
    read -rt 0 -u "$fifo" || rc=1
    exec {fifo}>&-
    [ $rc != 0 ]
}

go_on() {
    kill -CONT "$(cat "$CLUSTER/out/a.program")" || true
}

is_over() {
    [ -s "$CLUSTER/out/$1.rc" ]
}

# Debian's par2, which makes what repairs a file: a region and a dynamic loop for each of its blocks. Its result is the same without berth.
resize_par2() {
    local folder
    command -v par2 >/dev/null || skip "no par2"
    mkdir "$CLUSTER/out/alone" "$CLUSTER/out/resized"
    head -c 50331648 /dev/urandom >"$CLUSTER/out/alone/data"
    cp "$CLUSTER/out/alone/data" "$CLUSTER/out/resized"
    for folder in alone resized; do
        set -- par2 create -q -q -s163840 -c30 -n1 "$CLUSTER/out/$folder/set.par2" "$CLUSTER/out/$folder/data"
        if [ "$folder" = alone ]; then "$@" >/dev/null; else resize_while "$@"; fi
    done
    same "threads of regions" "$seen" "2 1 2"
    diff -r "$CLUSTER/out/alone" "$CLUSTER/out/resized" || fail "its result is another one"
    rm -r "$CLUSTER/out/alone" "$CLUSTER/out/resized"
}

t87_par2_is_resized() {
    resize_par2
}

# LLVM's run-time has gcc's functions, too, and runs what gcc has built.
t87_par2_is_resized_with_llvms_run_time() {
    local omp folder=$CLUSTER/lib/llvm
    omp=$(/sbin/ldconfig -p | sed -n 's/.*libomp\.so.* => //p' | head -n 1)
    [ "$omp" ] || skip "no libomp"
    mkdir -p "$folder" && ln -sf "$omp" "$folder/libgomp.so.1"
    export LD_LIBRARY_PATH=$folder
    [[ $(ldd "$(command -v par2)") == *"libgomp.so.1 => $folder/libgomp.so.1"* ]] || fail "par2 has another run-time"
    resize_par2
}

# NPB=FOLDER tests/cluster/run t87_npb: each program in it, built by whichever compiler; it checks its own result. One that is a single region to its
# end, as some are, keeps its number of threads. With CLUSTER_KEEP=yes the file out/npb of the cluster's folder tells of each.
t87_npb_is_resized() {
    local program
    [ "${NPB:-}" ] || skip "NPB names no folder with programs"
    for program in "$NPB"/*; do
        resize_while "$program"
        has "$(cat "$CLUSTER/out/a.said")" SUCCESSFUL
        echo "${program##*/}: threads of regions $seen; its result is right" | tee -a "$CLUSTER/out/npb"
    done
    grep -q "regions 2 1 2" "$CLUSTER/out/npb" || fail "none was resized"
}

t87_the_next_berthd_goes_on_with_the_page() {
    local program page
    program=$(openmp_by gcc regions) || skip "$program"
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
    program=$(openmp_by gcc regions) || skip "$program"
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
    gcc -O2 -D_GNU_SOURCE -I"$TESTS/.." -o "$locks" "$TESTS/runtime/locks.c" -lpthread || skip "no gcc"
    follow allow=auto,tag,locks
    # shellcheck disable=SC2016 # the task's own shell
    same "from the page's first turn on" "$(timeout 90 srun -n1 --contention-aware=locks=cohort env BERTH_RT_NODES=~2 BERTH_RT_COHORT=64 \
        bash -c 'until "$0" sum | grep cohort; do :; done; "$0" mixed conditions forks' "$locks" 2>/dev/null | tr '\n' ' ')" \
        "sum cohort mixed cohort conditions cohort forks cohort "
    same "without the word" "$(timeout 60 srun -n1 --contention-aware env BERTH_RT_NODES=~2 "$locks" sum 2>/dev/null)" "sum plain"
}

# It does not begin behind another library, unless it is told that it may.
t87_a_program_of_address_sanitizer_begins() {
    local program=$CLUSTER/out/asan
    echo 'int main(void) { return 42; }' | gcc -fsanitize=address -x c -o "$program" - 2>/dev/null || skip "no gcc with AddressSanitizer"
    follow
    timeout 20 srun -n1 --contention-aware=threads=follow "$program" && fail "exit status 0"
    same "its exit status" "$?" 42
}

t87_it_has_to_be_allowed() {
    follow allow=auto,tag
    # shellcheck disable=SC2016 # the task's own shell
    same "nothing is preloaded" "$(timeout 20 srun -n1 --contention-aware=threads=follow sh -c 'echo "page $BERTH_RT_PAGE $LD_PRELOAD"' 2>"$CLUSTER/out/said")" "page  "
    has "$(cat "$CLUSTER/out/said")" "threads=follow has no effect: "
}
