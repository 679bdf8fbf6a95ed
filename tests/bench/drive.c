/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drive WHAT BUILD [N] - asks the berthd of a build folder, which may be of another tree, by its
 * socket alone, and prints what tests/bench/compare makes its table of: lines "FIGURE VALUE".
 *
 *   filling   answers to the N registrations that fill an empty node, ms, and their CPU time
 *   register  answers to registrations and ends, ms: N more beside 200 live steps and beside 500;
 *             the CPU time of a pair of them; resident KiB
 *   memory    resident KiB after N steps, of which 16 live at a time
 *   deciding  CPU time of each of N windows of 200 steps, ms (drive_windows.h)
 *   start     from fork(2) until it answers, ms, with the files of an earlier run, N times
 *
 * `drive run NAME COMMAND..` prints the CPU time of a command, ms, and its largest memory, KiB:
 * "NAME VALUE", "NAME.kib VALUE".
 *
 * The node has 192 cores and 24 caches (berthd.h). Steps have a task and a core each and random
 * profiled miss rates; berthctl of the build folder has stored the profiles. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "tests/bench/bench.h"
#include "tests/bench/berthd.h"
#include "tests/bench/drive_windows.h"

#define PROFILES 32
#define LIVE 16
#define NO_SUCH_PID 4194304 /* above the kernel's greatest: the cores are those of the message */

static char folder[BENCH_FOLDER_MAX];
static const char *build;

/* ---- a node ---- */

/* Miss rates from a few to 30000 per million instructions, evenly in the logarithm. */
static void write_profiles(const char *path)
{
    FILE *file = fopen(path, "w");

    if (!file)
        bench_die(path, strerror(errno));
    for (int i = 0; i < PROFILES; i++) {
        double misses = exp(log(3) + drand48() * log(10000));

        fprintf(file,
                "{\"version\":1,\"kind\":\"profile\",\"key\":\"tag:p%d\",\"source\":\"made up\","
                "\"measured_at\":1767571200,\"llc_bytes\":33554432,\"llc_ways\":16,"
                "\"line_bytes\":64,\"misses\":%.3f,\"accesses\":%.3f,\"instructions\":1000000000,"
                "\"references\":1000000000,\"hits\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}\n",
                i, misses, misses);
    }
    fclose(file);
}

static void store_profiles(void)
{
    char command[2 * BENCH_FOLDER_MAX + 4200], path[BENCH_FOLDER_MAX + 16];

    snprintf(path, sizeof(path), "%s/profiles.json", folder);
    write_profiles(path);
    snprintf(command, sizeof(command),
             "'%.4000s/berthctl' profile import --db '%s/profiles.db' '%s' >'%s/import' 2>&1",
             build, folder, path, folder);
    if (system(command) != 0)
        bench_die(build, "berthctl profile import fails");
}

static pid_t start_node(void)
{
    store_profiles();
    return bench_berthd_start(folder, "sweep = 3600s\n");
}

static double start(uint32_t job)
{
    char tag[16];

    snprintf(tag, sizeof(tag), "p%d", (int)(drand48() * PROFILES));
    return bench_register(job, tag, NO_SUCH_PID + (pid_t)job) / 1e3;
}

static double end(uint32_t job)
{
    struct wire_request request = {.op = WIRE_OP_END, .end = {.id.job = job, .user_s = 1}};

    return bench_ask(&request) / 1e3;
}

static void print_rss(const char *figure, pid_t pid)
{
    printf("%s %ld\n", figure, bench_memory_kib(pid, "VmRSS"));
}

/* ---- registrations ---- */

/* One step more and one less, so many times; the job's number is the first that nobody has. */
static void pairs(pid_t pid, uint32_t live, long n)
{
    double run[2], wait;

    bench_cpu_us(pid, &run[0], &wait);
    for (long i = 0; i < n; i++) {
        uint32_t job = 100000 + (uint32_t)i;

        printf("register.%u %.6f\n", live, start(job));
        printf("end.%u %.6f\n", live, end(job));
    }
    bench_cpu_us(pid, &run[1], &wait);
    printf("cpu.%u %.6f\n", live, (run[1] - run[0]) / 1e3 / (double)n);
}

static void filling(long n)
{
    pid_t pid = start_node();
    double run[2], wait;

    bench_cpu_us(pid, &run[0], &wait);
    for (long job = 1; job <= n; job++)
        printf("filling %.6f\n", start((uint32_t)job));
    bench_cpu_us(pid, &run[1], &wait);
    printf("cpu.filling %.6f\n", (run[1] - run[0]) / 1e3 / (double)n);
    bench_berthd_stop(pid);
}

static void registrations(long n)
{
    pid_t pid = start_node();
    uint32_t job = 0;

    print_rss("rss.0", pid);
    while (job < 200)
        start(++job);
    pairs(pid, 200, n);
    while (job < 500)
        start(++job);
    pairs(pid, 500, n);
    print_rss("rss.500", pid);
    bench_berthd_stop(pid);
}

static void memory(long n)
{
    pid_t pid = start_node();

    for (long job = 1; job <= n; job++) {
        start((uint32_t)job);
        if (job > LIVE)
            end((uint32_t)job - LIVE);
    }
    print_rss("rss.after", pid);
    bench_berthd_stop(pid);
}

static void deciding(long n)
{
    drive_windows(build, folder, n);
}

/* ---- its start ---- */

static void starts(long n)
{
    double began_s;
    pid_t pid = start_node();

    for (uint32_t job = 1; job <= 200; job++)
        start(job);
    bench_berthd_stop(pid);
    for (long i = 0; i < n; i++) {
        struct wire_request status = {.op = WIRE_OP_EXPLAIN};

        began_s = clock_s();
        pid = bench_berthd_start(folder, "sweep = 3600s\n");
        bench_ask(&status);
        printf("start %.6f\n", 1e3 * (clock_s() - began_s));
        bench_berthd_stop(pid);
    }
}

/* ---- a command ---- */

static double seconds(struct timeval at)
{
    return (double)at.tv_sec + (double)at.tv_usec / 1e6;
}

static int run_command(const char *name, char **command)
{
    struct rusage used;
    int status, out;
    pid_t pid = fork();

    if (pid == 0) {
        out = open("/dev/null", O_WRONLY);
        dup2(out, STDOUT_FILENO);
        execvp(command[0], command);
        fprintf(stderr, "drive: %s: %s\n", command[0], strerror(errno));
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &used) < 0)
        bench_die(command[0], strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return 1;
    printf("%s %.3f\n%s.kib %ld\n", name, 1e3 * (seconds(used.ru_utime) + seconds(used.ru_stime)),
           name, used.ru_maxrss);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(long n);
        long n;
    } what[] = {{"filling", filling, LIVE},
                {"register", registrations, 200},
                {"memory", memory, 10000},
                {"deciding", deciding, 60},
                {"start", starts, 10}};
    long n = argc == 4 ? atol(argv[3]) : 0;

    if (argc > 3 && strcmp(argv[1], "run") == 0)
        return run_command(argv[2], argv + 3);
    for (size_t i = 0; (argc == 3 || n > 0) && i < sizeof(what) / sizeof(what[0]); i++)
        if (strcmp(argv[1], what[i].name) == 0) {
            srand48(1);
            build = argv[2];
            bench_folder_make(folder, sizeof(folder));
            bench_berthd_of(build);
            what[i].run(n > 0 ? n : what[i].n);
            return 0;
        }
    fprintf(stderr, "usage: drive filling|register|memory|deciding|start BUILD [N]\n"
                    "       drive run NAME COMMAND..\n");
    return 2;
}
