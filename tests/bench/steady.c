/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steady [STEPS [SECONDS [KIND [BUILD]]]] - what berthd costs while nothing happens: the CPU time
 * of all its threads with STEPS (200) steps on a node of 192 cores and 24 caches, over SECONDS
 * (20), of all that runs by itself with berth.conf as it is: counting, classes, re-placement, the
 * bill of five meters, the ledger's thread, sweeps. Run in the build folder, or with BUILD, that of
 * a berthd which may be of another tree.
 *
 * KIND replay: the counters of 40 programs, from a recording with 3 % noise; steps stand on cores
 * of their own and have no processes, so there are no sweeps. processes: each step is a process of
 * this machine, which works 0.1 ms every 100 ms, and is counted by what the kernel counts (and by
 * perf, where the machine has a PMU); they share this machine's cores. throttle: as replay, and the
 * blackboard is written a hundred times a second, because the first step asks for throttle; the
 * node has a machine profile then, of which a blackboard has its states. All,
 * one after the other, where it is not said. The meters are files, which this program keeps
 * counting. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "tests/bench/bench.h"
#include "tests/bench/berthd.h"
#include "tests/unit/common/folder.h"

#define PROGRAMS 40
#define SAMPLES 120
#define NOISE 0.03
#define NO_SUCH_PID 4194304 /* above the kernel's greatest */
#define SETTLE_S 5          /* start-ups, first windows, moves */

static char folder[BENCH_FOLDER_MAX];

/* ---- what is counted ---- */

/* Misses from 10 to 30000 per million instructions. */
static void write_recording(const char *path)
{
    FILE *file = fopen(path, "w");

    if (!file)
        bench_die(path, strerror(errno));
    fprintf(file, "step,at,instructions,cycles,llc_accesses,llc_misses,bytes,cpu_ns,user_ns,"
                  "system_ns,switches,voluntary\n");
    for (int i = 0; i < PROGRAMS; i++) {
        double misses = exp(log(10) + log(3000) * i / (PROGRAMS - 1)), done = 0, missed = 0;

        for (int at = 0; at <= SAMPLES; at++) {
            fprintf(file, "p%d,%d,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%d,%d\n", i, at, done,
                    at * 3e9, 2 * missed, missed, 64 * missed, at * 1e9, at * 0.99e9, at * 0.01e9,
                    at * 10, at * 5);
            double now = 4e9 / (1 + misses / 3000) * (1 + NOISE * (2 * drand48() - 1));

            done += now;
            missed += now * misses * 1e-6 * (1 + NOISE * (2 * drand48() - 1));
        }
    }
    fclose(file);
}

/* A process of a step, on one CPU; that is where Slurm put it. */
static pid_t worker_start(long step)
{
    cpu_set_t all, one;
    pid_t pid;
    int cpu = 0;

    sched_getaffinity(0, sizeof(all), &all);
    for (long skip = step % CPU_COUNT(&all); skip >= 0; cpu++)
        skip -= CPU_ISSET(cpu, &all) != 0;
    CPU_ZERO(&one);
    CPU_SET(cpu - 1, &one);
    sched_setaffinity(0, sizeof(one), &one);
    pid = fork();
    if (pid > 0)
        sched_setaffinity(0, sizeof(all), &all);
    if (pid < 0)
        bench_die("fork", strerror(errno));
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;; usleep(100000))
        for (double until_s = clock_s() + 1e-4; clock_s() < until_s;)
            ;
}

/* So many seconds pass. */
static void pass(double s)
{
    static double now_s;

    for (double until_s = now_s + s; now_s < until_s; now_s += 0.25) {
        bench_meters(folder, now_s);
        usleep(250000);
    }
}

/* ---- the run ---- */

static void measure(pid_t berthd, double s, const char *kind, long steps)
{
    double run[2], wait[2], began_s;

    pass(SETTLE_S);
    bench_cpu_us(berthd, &run[0], &wait[0]);
    began_s = clock_s();
    pass(s);
    bench_cpu_us(berthd, &run[1], &wait[1]);
    s = clock_s() - began_s;
    printf("%ld steps, %s: %.2f ms of CPU time a second, %.3f %% of a core (over %.0f s; %.2f ms a "
           "second of waiting for a CPU); %ld KiB resident\n",
           steps, kind, (run[1] - run[0]) / 1e3 / s, (run[1] - run[0]) / 1e4 / s, s,
           (wait[1] - wait[0]) / 1e3 / s, bench_memory_kib(berthd, "VmRSS"));
}

static void run(const char *kind, long steps, double s)
{
    bool throttle = strcmp(kind, "throttle") == 0, replay = strcmp(kind, "processes") != 0;
    pid_t *worker = calloc((size_t)steps, sizeof(*worker)), berthd;
    char more[512], tag[16];

    if (!worker)
        bench_die("start", strerror(errno));
    bench_meters(folder, 0);
    if (throttle)
        bench_machine(folder, 1, BENCH_CORES);
    snprintf(more, sizeof(more), "energy_root = %s\n%s%s%s%s", folder,
             replay ? "sweep = 3600s\ncounters_replay = " : "", replay ? folder : "",
             replay ? "/samples.csv\n" : "",
             throttle ? "blackboard = on\nallow = auto,tag,throttle\n" : "");
    berthd = bench_berthd_start(folder, more);
    for (long i = 0; i < steps; i++) {
        worker[i] = replay ? NO_SUCH_PID + (pid_t)i : worker_start(i);
        snprintf(tag, sizeof(tag), "p%ld", i * 7 % PROGRAMS);
        bench_register_throttled((uint32_t)i + 1, tag, worker[i],
                                 throttle && i == 0 ? WIRE_THROTTLE_BASELINE : WIRE_THROTTLE_OFF);
    }
    measure(berthd, s, kind, steps);
    bench_berthd_stop(berthd);
    for (long i = 0; i < steps && !replay; i++) {
        kill(worker[i], SIGKILL);
        waitpid(worker[i], NULL, 0);
    }
    free(worker);
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"replay", "processes", "throttle"};
    long steps = argc > 1 ? atol(argv[1]) : 200;
    double s = argc > 2 ? atof(argv[2]) : 20;
    bool known = argc < 4;
    char path[BENCH_FOLDER_MAX + 16];

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        known |= argc > 3 && strcmp(argv[3], kinds[i]) == 0;
    if (steps < 1 || !(s > 0) || argc > 5 || !known) {
        fprintf(stderr, "usage: steady [STEPS [SECONDS [replay|processes|throttle [BUILD]]]]\n");
        return 2;
    }
    bench_folder_make(folder, sizeof(folder));
    if (argc > 4)
        bench_berthd_of(argv[4]);
    snprintf(path, sizeof(path), "%s/samples.csv", folder);
    write_recording(path);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (argc < 4 || strcmp(argv[3], kinds[i]) == 0)
            run(kinds[i], steps, s);
    return 0;
}
