/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_program_table - see wire_program_table.h. A new wrapper, launcher or interpreter is a row
 * here and one in berth-inside(7), WHO A PROGRAM IS. An option that is missing makes the program unknown:
 * it has no profile then, which is better than another one's. */
#include "packer/wire/wire_program_table.h"

#define SHELL_OPTIONS                                                                              \
    "-c& -e -u -x -v -l -n -f -r -p -a -b -h -k -m -t -B -C -E -H -P -T -o: -O: +e +u +x +v "      \
    "+f +a +b +h +m +B +C +o: +O: --login --norc --noprofile --posix --restricted --verbose "      \
    "--rcfile: --init-file: -s^ -i^"

const struct starter starters[] = {
    /* ---- wrappers ---- */
    {"env", STARTER_WRAPPER, STARTER_ASSIGNS, 0,
     "- -i -0 -v -u: -a: -S^ -C^ --ignore-environment --null --debug --unset: --argv0: "
     "--split-string^ --chdir^ --default-signal --ignore-signal --block-signal"},
    {"nice", STARTER_WRAPPER, 0, 0,
     "-n: --adjustment: -0 -1 -2 -3 -4 -5 -6 -7 -8 -9"}, /* nice -19 */
    {"ionice", STARTER_WRAPPER, 0, 0, "-c: -n: -t --class: --classdata: --ignore"},
    {"time", STARTER_WRAPPER, 0, 0,
     "-a -v -p -q -f: -o: --append --verbose --portability --quiet --format: --output:"},
    {"timeout", STARTER_WRAPPER, 0, 1,
     "-k: -s: -v -f -p --kill-after: --signal: --verbose --foreground --preserve-status"},
    {"numactl", STARTER_WRAPPER, 0, 0,
     "-a -i: -p: -P: -c: -N: -C: -m: -w: -l -b -t --all --interleave: --preferred: "
     "--preferred-many: --cpubind: --cpunodebind: --physcpubind: --membind: "
     "--weighted-interleave: --localalloc --balancing --strict"},
    {"taskset", STARTER_WRAPPER, 0, 1, "-a -c --all-tasks --cpu-list"},
    {"chrt", STARTER_WRAPPER, 0, 1,
     "-b -d -f -i -o -r -R -v -T: -P: -D: --batch --deadline --fifo --idle --other --rr "
     "--reset-on-fork --verbose --sched-runtime: --sched-period: --sched-deadline:"},
    {"stdbuf", STARTER_WRAPPER, 0, 0, "-i: -o: -e: --input: --output: --error:"},
    {"catchsegv nohup", STARTER_WRAPPER, 0, 0, ""},
    {"setsid", STARTER_WRAPPER, 0, 0, "-c -f -w --ctty --fork --wait"},
    {"unbuffer", STARTER_WRAPPER, 0, 0, "-p"},

    /* ---- launchers ---- */
    {"mpirun mpiexec mpiexec.hydra mpirun.openmpi mpiexec.openmpi mpirun.mpich mpiexec.mpich "
     "orterun prterun",
     STARTER_LAUNCHER, STARTER_WORDS | STARTER_MANY, 0,
     "-n: -np: -c: -N: -npernode: -npersocket: -ppn: -perhost: -host: -H: -hosts: -hostfile: "
     "-machinefile: -f: -x: -genv:: -env:: -genvlist: -envlist: -genvall -envall -genvnone "
     "-envnone -mca:: -gmca:: -prtemca:: -pmixmca:: -map-by: -bind-to: -rank-by: -rf: "
     "-rankfile: -prefix: -launcher: -bootstrap: -rmk: -iface: -display: -output: "
     "-output-filename: -timeout: -allow-run-as-root -oversubscribe -nooversubscribe "
     "-report-bindings -display-map -use-hwthread-cpus -tag-output -bynode -bycore -q -quiet -v "
     "-l -print-rank-map -verbose"},
    {"srun", STARTER_LAUNCHER, 0, 0,
     "-A: -b: -B: -c: -C: -d: -e: -E -G: -H -i: -J: -k -l -m: -n: -N: -o: -O -p: -q: -Q -r: -s "
     "-S: -t: -u -v -w: -x: -X -Z -D^ --account: --constraint: --cpus-per-task: "
     "--cpu-bind: --distribution: --error: --exact --exclusive --exclude: --export: --gpus: "
     "--gres: --hint: --input: --job-name: --kill-on-bad-exit --label --mem: --mem-bind: "
     "--mem-per-cpu: "
     "--mpi: --nodelist: --nodes: --ntasks: --ntasks-per-node: --output: --overcommit --overlap "
     "--partition: --pty --qos: --quiet --reservation: --threads-per-core: --time: --unbuffered "
     "--verbose --contention-aware --chdir^ --multi-prog^"},
    {"orted prted prun hydra_pmi_proxy pmi_proxy hydra_bstrap_proxy hydra_bstrap_exec "
     "slurm_script mpirun_rsh mpispawn ibrun likwid-mpirun torchrun parallel xargs make",
     STARTER_CLOSED, 0, 0, ""},

    /* ---- what starts a command by a line that is not read here ---- */
    {"setarch linux32 linux64 i386 x86_64 hwloc-bind likwid-pin likwid-perfctr perf strace ltrace "
     "gdb flock sudo su runuser sg chroot unshare nsenter prlimit cgexec systemd-run bwrap "
     "apptainer singularity shifter sarus ch-run podman docker enroot proot firejail tini "
     "dumb-init vtune nsys ncu hpcrun tau_exec conda mamba micromamba uv poetry",
     STARTER_CLOSED, 0, 0, ""},
    {"valgrind memcheck-amd64-linux memcheck-arm64-linux qemu-x86_64 qemu-aarch64 wine box64",
     STARTER_OTHER, 0, 0, ""},

    /* ---- interpreters ---- */
    {"bash sh dash ksh zsh ash", STARTER_INTERPRETER, STARTER_PLUS | STARTER_BY_CPU, 0,
     SHELL_OPTIONS},
    {"csh tcsh fish", STARTER_INTERPRETER, STARTER_BY_CPU, 0, "-c& -f -e -x -v -V -X -l"},
    {"python pypy ipython", STARTER_INTERPRETER, STARTER_READ, 0,
     "-c! -m@ -b -B -d -E -I -O -P -q -R -s -S -u -v -x -W: -X: --check-hash-based-pycs: -i^"},
    {"perl", STARTER_INTERPRETER, STARTER_READ, 0,
     "-e! -E! -I: -M* -m* -F* -C* -D* -d* -i* -x* -w -W -X -t -T -u -U -n -p -a -l -s -f -c -0 -1 "
     "-2 -3 -4 -5 -6 -7 -S^"},
    {"ruby", STARTER_INTERPRETER, STARTER_READ, 0,
     "-e! -I: -r: -E: -W* -K* -T* -i* -x* -F* -0 -1 -2 -3 -4 -5 -6 -7 -a -c -d -l -n -p -s -U -v "
     "-w --enable: --disable: --jit --yjit --encoding: --verbose -C^ -S^"},
    {"Rscript", STARTER_INTERPRETER, STARTER_READ, 0,
     "-e! --verbose --vanilla --no-echo --no-save --no-restore --no-environ --no-site-file "
     "--no-init-file --slave --quiet"},
    {"R", STARTER_INTERPRETER, STARTER_LAX, 0, "-f/ --file/ -e! -q -s -g: -d: --args^"},
    {"julia", STARTER_INTERPRETER, STARTER_READ, 0,
     "-e! -E! --eval! --print! -L: -p: -t: -J: -C: -H: -O* -g* -q -v -i --load: --procs: "
     "--threads: --sysimage: --machine-file: --startup-file: --check-bounds: --math-mode: "
     "--inline: "
     "--compile: --color: --depwarn: --handle-signals: --heap-size-hint: --gcthreads: --project "
     "--quiet "
     "--optimize --banner:"},
    {"java", STARTER_INTERPRETER, STARTER_WORDS | STARTER_LAX | STARTER_CLASS | STARTER_READ, 0,
     "-jar/ -cp+ -classpath+ -class-path+ -p+ -module-path+ -m@ -module@ -add-modules: "
     "-add-opens: -add-exports: -add-reads: -limit-modules: -upgrade-module-path: "
     "-enable-native-access: -source:"},
    {"node nodejs", STARTER_INTERPRETER, STARTER_READ, 0,
     "-e! --eval! -p! --print! -r: --require: --import: -i^ --inspect --trace-warnings "
     "--no-warnings --expose-gc --expose_gc"},
    {"octave octave-cli", STARTER_INTERPRETER, 0, 0,
     "--eval! -q -f -H -W -p: --path: --quiet --silent --no-gui --no-window-system --no-history "
     "--norc"},
    {"matlab", STARTER_INTERPRETER, STARTER_WORDS | STARTER_LAX, 0, "-r! -batch! -sd: -logfile:"},
    {"lua luajit", STARTER_INTERPRETER, 0, 0, "-e! -l: -E -v -W"},
    {"php", STARTER_INTERPRETER, 0, 0, "-r! -f/ -d: -c: -n -q"},
    {"tclsh", STARTER_INTERPRETER, 0, 0, ""},
    {"awk gawk mawk nawk", STARTER_INTERPRETER, STARTER_CODE | STARTER_READ, 0,
     "-f/ --file/ -F: -v: -W: --field-separator: --assign: -b -n -M -O -P"},
};
const size_t nstarters = sizeof(starters) / sizeof(starters[0]);
