# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# programs - what the rows of tests/programs/table start: program NAME LAUNCHER builds it and sets `command`, or prints what it lacks;
# launcher NAME sets `launch`, the words before it. Both fail with 1 where something is missing. Sourced by tests/programs/run.

SOURCE=$TESTS/programs/src
KEPT=$BUILD/programs # what is kept between runs: Intel's run-time, the library that go has compiled
# mpirun in a batch script of root's, whose ranks are more than its CPUs
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 GOCACHE=$KEPT/go GO111MODULE=off GOTOOLCHAIN=local

# needs TOOL..: prints which there is not.
needs() {
    local tool
    for tool; do
        command -v "$tool" >/dev/null || { echo "no $tool"; return 1; }
    done
}

# built FILE COMPILER..: FILE of the cluster's bin, built once from what the compiler is given.
built() {
    local file=$CLUSTER/bin/$1
    shift
    command=("$file")
    [ -e "$file" ] || "$@" -o "$file" >"$CLUSTER/log/compiler" 2>&1 || compiler_said "$1"
}

# Fails with 1 where a header or a library is missing, else with 2: the program is wrong.
compiler_said() {
    echo "$1: $(head -n 1 "$CLUSTER/log/compiler")"
    grep -qE 'No such file|cannot find|not found' "$CLUSTER/log/compiler" && return 1
    return 2
}

# program NAME LAUNCHER
program() {
    local clang mpi
    case $1 in
    threads | binds) built "$1" gcc -O2 -D_GNU_SOURCE "$SOURCE/$1.c" -pthread ;;
    linked)
        built libwork.so gcc -O2 -D_GNU_SOURCE -shared -fPIC -Dmain=work "$SOURCE/binds.c" -pthread &&
            built linked gcc -O2 "$SOURCE/linked.c" -L"$CLUSTER/bin" -lwork -Wl,-rpath,"$CLUSTER/bin"
        ;;
    static) built static gcc -O2 -static "$SOURCE/threads.c" -pthread ;;
    gomp) built gomp gcc -O2 -fopenmp "$SOURCE/team.c" ;;
    libomp) clang=$("$TESTS/find-clang") || { echo "no clang"; return 1; } && built libomp "$clang" -O2 -fopenmp "$SOURCE/team.c" ;;
    ranks | ranks-*)
        [ "$2" = openmpi ] && mpi=openmpi || mpi=mpich # Intel's library is as MPICH's to a program
        needs "mpicc.$mpi" && built "ranks-$mpi" "mpicc.$mpi" -O2 "$SOURCE/ranks.c"
        ;;
    *.java) needs java javac && java_program "${1%.java}" ;;
    matrix.py) command=(/usr/bin/python3 "$SOURCE/$1") && { /usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "no numpy"; return 1; }; } ;;
    *.py) command=(/usr/bin/python3 "$SOURCE/$1") && needs /usr/bin/python3 ;;
    *.R) command=(Rscript "$SOURCE/$1") && needs Rscript ;;
    *.go) needs go && built "${1%.go}-go" go_build "$SOURCE/$1" ;;
    *.sh) command=("$SOURCE/$1") ;;
    *) echo "no program $1" && return 1 ;;
    esac
}

java_program() { # CLASS
    command=(java -cp "$CLUSTER/bin/java" "$1")
    [ -e "$CLUSTER/bin/java/$1.class" ] || javac -d "$CLUSTER/bin/java" "$SOURCE/$1.java" >"$CLUSTER/log/compiler" 2>&1 || compiler_said javac
}

# As a compiler of C is called: go_build SOURCE -o FILE
go_build() {
    go build -o "$3" "$1"
}

# launcher NAME OPTION..: `launch` is empty for srun, whose options are those of the job.
launcher() {
    launch=()
    case $1 in
    srun) return ;;
    openmpi) needs mpirun.openmpi && launch=(mpirun.openmpi --oversubscribe -n 2 "${@:2}") ;;
    mpich) needs mpiexec.mpich && launch=(mpiexec.mpich -n 2 "${@:2}") ;;
    intel) needs unzip && intel && launch=(env LD_LIBRARY_PATH="$IMPI/lib" I_MPI_ROOT="$IMPI" I_MPI_FABRICS=shm "$IMPI/bin/mpiexec.hydra" -n 2 "${@:2}") ;;
    *) echo "no launcher $1" && return 1 ;;
    esac
}

# Intel's run-time is there, or is got from PyPI once: 130 MB, of which 30 are kept. Its library of fabrics is not asked for: both ranks are here.
intel() {
    local log=$CLUSTER/log/impi
    IMPI=$KEPT/impi
    [ ! -e "$IMPI/ready" ] || return 0
    mkdir -p "$KEPT" && rm -rf "$IMPI" "$KEPT/wheels"
    timeout 300 /usr/bin/python3 -m pip download -q --no-deps -d "$KEPT/wheels" impi-rt >"$log" 2>&1 ||
        { echo "pip does not get impi-rt: $(tail -n 1 "$log")"; return 1; }
    unpack_impi >"$log" 2>&1 && touch "$IMPI/ready" || { echo "impi-rt is not as expected: $(tail -n 1 "$log")"; return 1; }
}

# A wheel has no modes of files, and no links. A program that Debian's MPICH compiled asks for libmpich.so.12, which is libmpi.so.12 elsewhere.
unpack_impi() {
    unzip -q "$KEPT"/wheels/impi_rt-*.whl '*/data/bin/mpiexec.hydra' '*/data/bin/hydra_*' '*/data/lib/libmpi.so.12' '*/data/etc/*' -d "$KEPT/wheels" &&
        mv "$KEPT"/wheels/impi_rt-*.data/data "$IMPI" && ln -s libmpi.so.12 "$IMPI/lib/libmpich.so.12" && chmod +x "$IMPI"/bin/* && rm -rf "$KEPT/wheels"
}
