# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# mpi - what tests with Open MPI share: a batch script that runs mpirun, and what berthd knows of its ranks; sourced by t17-ranks.sh, and by
# that of the guests, who have mpirun and no compiler.

# berthd, where processes are hidden from others (hidepid of /proc), so that it keeps the right to read executables of users.
tracing_start() {
    # shellcheck disable=SC2016 # the shell's own
    daemon_start berthd unshare -m sh -c 'mount -t proc -o hidepid=1 proc /proc && exec "$@"' sh "$CLUSTER/bin/berthd" --test-keys -c "$CLUSTER/etc/berth.conf"
    wait_for 10 ctl status || daemon_failed berthd
}

# mpi: the program is built; berthd begins anew.
mpi() {
    command -v mpirun.openmpi >/dev/null || skip "no Open MPI"
    [ ! -x "$BUILD/tests/cluster/rank" ] || cp "$BUILD/tests/cluster/rank" "$CLUSTER/bin/"
    [ -x "$CLUSTER/bin/rank" ] || mpicc.openmpi -O1 -D_GNU_SOURCE -o "$CLUSTER/bin/rank" "$TESTS/cluster/rank.c" >"$CLUSTER/out/compiler" 2>&1 ||
        skip "mpicc: $(head -n 1 "$CLUSTER/out/compiler")"
    daemon_stop berthd
    berthd_conf move=known "$@"
    tracing_start
}

# job NAME WORDS SBATCH ARGUMENTS.. -- MPIRUN ARGUMENTS..: a batch script that runs mpirun twice, on a node that is called as Slurm calls it, as
# nodes are: mpirun starts the ranks of its own node itself. Between the two it waits for NAME.again.
job() {
    local name=$1 words=$2 arguments=()
    shift 2
    while [ "$1" != -- ]; do
        arguments+=("$1")
        shift
    done
    shift
    batch "$name" -J "$name" "--contention-aware=$words" "${arguments[@]}" <<END2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_btl=self,vader # a guest has no other network
exec unshare --uts bash -c 'hostname \$SLURMD_NODENAME
for time in first second; do
    mpirun.openmpi $* "$CLUSTER/bin/rank" "$CLUSTER/out/$name-\$time"; echo \$time \$?
    while [ \$time = first -a ! -e "$CLUSTER/out/$name.again" ]; do sleep 0.1; done
done'
END2
    echo "$(cat "$CLUSTER/out/$name.job").batch" >"$CLUSTER/out/$name.id"
}

ranks_of() {
    explained "$1" '.ranks.n // 0'
}

# Its ranks run, and berthd knows so many: rank_up NAME N
rank_up() {
    wait_for 60 are_up "$@" || true
    [ "$(ranks_of "$1")" = "$2" ] || fail "ranks of $1: $(ranks_of "$1"); $(cat "$CLUSTER/out/$1.batch")"
}

# They are, or mpirun has failed.
are_up() {
    becomes "$2" ranks_of "$1" || grep -qE '^(first|second) [1-9]' "$CLUSTER/out/$1.batch"
}

# is_state NAME STATE
is_state() {
    wait_for 20 becomes "$2" explained "$1" .state || fail "$1 is $(explained "$1" '.state, .enforce.reason, .ranks')"
}

# over_with NAME: both mpiruns have ended well.
over_with() {
    touch "$CLUSTER/out/$1-first.stop" "$CLUSTER/out/$1-second.stop" "$CLUSTER/out/$1.again"
    wait_for 60 grep -q second "$CLUSTER/out/$1.batch" || fail "$1: $(cat "$CLUSTER/out/$1.batch")"
    finish "$1"
    has "$(cat "$CLUSTER/out/$1.batch")" "first 0" "second 0"
}

# Where the launcher of a job's ranks may run, as the kernel has it.
launcher_stands() {
    local pid
    pid=$(awk '{ print $4 }' "/proc/$(explained "$1" '.ranks.ranks[0].pid')/stat")
    sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$pid/status"
}
