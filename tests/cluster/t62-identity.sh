# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Who a program is: what a wrapper or an interpreter runs, and what uses the CPUs of a batch script or a launcher.

# identifying: berthd starts again with short windows, learns, and what it has learned before is gone.
identifying() {
    daemon_stop berthd
    rm -f "$CLUSTER/berth/profiles.db"
    berthd_conf startup=100ms first_window=200ms window=200ms learn=on "$@"
    berthd_start
    for name in hog calm; do cp -f "$(command -v sleep)" "$CLUSTER/bin/$name"; done
    printf 'x' >>"$CLUSTER/bin/calm" # another content
}

# is_profiled KEY MISSES: a profile under that key, as `berthctl profile` stores one.
is_profiled() {
    printf '{"version":1,"kind":"profile","key":"%s","source":"valgrind","measured_at":%s,"llc_bytes":1048576,"llc_ways":16,"line_bytes":64,"hits":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"misses":%s,"accesses":%s,"instructions":100,"references":50}\n' \
        "$1" "$(date +%s)" "$2" "$2" | berthctl profile import --db "$CLUSTER/berth/profiles.db" >/dev/null
}

# asks NAME COMMAND..: a step of that command runs; its number is in NAME.id as start() has it.
asks() {
    local name=$1
    shift
    # shellcheck disable=SC2016 # the step's own variables
    timeout $((90 * CLUSTER_PATIENCE)) srun -n1 --contention-aware=verbose "$@" >"$CLUSTER/out/$name.srun" 2>&1 &
    echo $! >"$CLUSTER/out/$name.client"
    wait_for 20 step_of "$name" || fail "step $name did not start: $(cat "$CLUSTER/out/$name.srun")"
}

# The step that runs now: the only one.
step_of() {
    ctl status --json | jq -er '.steps[] | select(.state != "ended") | .id' >"$CLUSTER/out/$1.id"
}

over() {
    timeout 10 scancel "$(job_of "$1")"
    wait "$(cat "$CLUSTER/out/$1.client")" || true
    wait_for 20 none_runs || fail "$1 runs on"
}

none_runs() {
    [ -z "$(ctl status --json | jq -r '.steps[] | select(.state != "ended") | .id')" ]
}

key_of() {
    explained "$1" '.profile.key // "none"'
}

t62_a_wrapper_has_no_profile_and_what_it_starts_has() {
    identifying
    asks a env A=b nice -n 1 "$CLUSTER/bin/hog" 100
    has "$(key_of a)" "exe:$(realpath "$CLUSTER/bin/hog")#"
    is_profiled "$(key_of a)" 50000
    over a
    asks b env hog 100
    same "behind another wrapper" "$(explained b .class.name)" devil
    over b
    asks c env calm 100
    same "another program behind it" "$(explained c .class.name)" unprofiled
    over c
}

t62_a_script_belongs_to_the_key_of_its_interpreter() {
    identifying
    for name in one two; do printf 'exec sleep 100 # %s\n' "$name" >"$CLUSTER/out/$name.sh"; done
    asks a bash "$CLUSTER/out/one.sh"
    has "$(key_of a)" "$CLUSTER/out/one.sh#"
    is_profiled "$(key_of a)" 50000
    over a
    asks b nice bash "$CLUSTER/out/one.sh"
    same "the same script" "$(explained b .class.name)" devil
    over b
    asks c bash "$CLUSTER/out/two.sh"
    same "another script" "$(explained c .class.name)" unprofiled
    over c
}

t62_tag_is_the_last_word() {
    identifying
    is_profiled tag:mine 50000
    asks a --contention-aware=tag=mine bash -c 'sleep 100'
    same "key" "$(key_of a)" tag:mine
    same "class" "$(explained a .class.name)" devil
    over a
}

# program_of NAME: who uses its CPUs. By the key where berthd may see it: CAP_SYS_PTRACE is kept on several NUMA nodes only.
program_of() {
    if berthd_traces; then key_of "$1" | sed 's/^exe://; s/#.*//; s/.*\///'; else explained "$1" .request.exe; fi
}

berthd_traces() {
    grep capabilities: "$CLUSTER/log/berthd.out" | tail -n 1 | grep -q CAP_SYS_PTRACE
}

# What a batch script starts by itself uses the CPUs; no row has the number of a job in its key.
t62_a_batch_script_is_who_uses_its_cpus() {
    identifying
    is_profiled tag:other 1 # so that there is a store
    cp -f "$(realpath "$(command -v bash)")" "$CLUSTER/bin/cruncher"
    batch j --contention-aware <<<"$CLUSTER/bin/cruncher -c 'while :; do :; done'"
    wait_for 20 step_of j || fail "no batch step"
    same "no key while nobody knows" "$(key_of j)" none
    soon "program" cruncher program_of j
    has "$(ctl explain -v "$(id_of j)" | tr -s ' \n' ' ')" "cruncher, which uses its CPUs"
    if ! berthd_traces; then same "no key of a name alone" "$(key_of j)" none; fi
    timeout 10 scancel "$(cat "$CLUSTER/out/j.job")"
    wait_for 20 job_is j CANCELLED || fail "the job runs on"
    wait_for 20 none_runs || fail "the batch step runs on"
    daemon_stop berthd # which stores what it has learned
    berthctl profile list --db "$CLUSTER/berth/profiles.db" >"$CLUSTER/out/list"
    if berthd_traces; then has "$(cat "$CLUSTER/out/list")" cruncher; fi
    if grep slurm_script "$CLUSTER/out/list"; then fail "a dead row"; fi
    berthd_start
    wait_for 10 has_record || fail "no record of $(cat "$CLUSTER/out/j.job")"
}

has_record() {
    sqlite3 -readonly -cmd '.timeout 10000' "$CLUSTER/berth/ledger.db" 'select program from ledger_record' | grep -qx cruncher
}

# After a restart what was found is known still.
t62_what_was_found_survives_a_restart() {
    identifying
    cp -f "$(realpath "$(command -v bash)")" "$CLUSTER/bin/cruncher"
    asks a bash -c "$CLUSTER/bin/cruncher -c 'while :; do :; done'; true"
    soon "program" cruncher program_of a
    daemon_stop berthd KILL
    berthd_start
    same "program" "$(program_of a)" cruncher
    over a
}

# day_job NAME PROGRAM [LAUNCHER..]: a batch script that has it work until its program is known: by itself, or by mpirun.
day_job() {
    local name=$1 program=$2
    shift 2
    batch "$name" -n1 --contention-aware <<END
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_btl=self
exec unshare --uts bash -c 'hostname \$SLURMD_NODENAME; $* $CLUSTER/bin/$program $CLUSTER/out/$name.end; true'
END
    echo "$(cat "$CLUSTER/out/$name.job").batch" >"$CLUSTER/out/$name.id"
}

# day_over NAME PROGRAM
day_over() {
    wait_for 20 job_is "$1" RUNNING || fail "$1 does not begin: $(job_state "$1")"
    soon "program of $1" "$2" program_of "$1"
    touch "$CLUSTER/out/$1.end"
    finish "$1"
}

# Programs that work until a file is there.
workers() {
    local name
    for name; do
        printf '#include <unistd.h>\nint main(int n, char **file) { volatile long i; while (n < 2 || access(file[1], F_OK)) for (i = 0; i < 1000000; i++); }\n' |
            gcc -O1 -x c -o "$CLUSTER/bin/$name" - || skip "no compiler"
    done
}

programs_recorded() {
    sqlite3 -readonly -cmd '.timeout 10000' "$CLUSTER/berth/ledger.db" 'select program, count(*) from ledger_record group by program'
}

has_records() {
    programs_recorded | grep -qx "$1"
}

# What the day's jobs were started by is no program of the report; what has run in them is.
t62_the_benefit_of_a_day_names_programs_and_no_launchers() {
    local program i said
    command -v mpirun.openmpi >/dev/null || skip "no Open MPI"
    identifying
    workers calculix smilei
    for program in calculix smilei; do
        for i in 1 2; do
            day_job "$program-$i" $program
            day_job "$program-mpi-$i" $program mpirun.openmpi --bind-to none -n 1
        done
    done
    for program in calculix smilei; do
        for i in 1 mpi-1 2 mpi-2; do day_over "$program-$i" $program; done
        wait_for 20 has_records "$program|4" || fail "records: $(programs_recorded)"
    done
    said=$(timeout 20 berthctl report --config "$CLUSTER/etc/berth.conf" -j "$(cat "$CLUSTER/out"/{calculix,smilei}-*.job | paste -sd,)" --benefit --json |
        jq -c '[.steps, (.profile_first | map("\(.program) \(.steps)") | sort)]')
    same "steps, and programs" "$said" '[8,["calculix 4","smilei 4"]]'
}
