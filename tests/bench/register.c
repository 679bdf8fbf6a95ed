/* SPDX-License-Identifier: GPL-2.0-or-later */
/* register [STEPS [ROUNDS [SAMPLES]]] - how long berthd takes to answer a registration, and its
 * memory, with STEPS (500) steps on a node of 192 cores and 24 caches. Run in the build folder.
 *
 * berthd runs for real, with its socket, journal and profile store in a folder of its own; only the
 * cgroup writes are left out (enforcement=dryrun: this machine has not 192 cores). Steps have one
 * task on one core each, random profiled miss rates, and more than one step shares a core. Each
 * round registers one more step of a new job and ends it again: both are timed from before
 * connect(2) to the whole answer.
 *
 * With SAMPLES, a file of samples (berthctl record), berthd plays it meanwhile: the steps have its
 * names for tags in turn, no profiles, and are counted once a second each. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/array.h"
#include "packer/base/clock.h"
#include "packer/counters/recorded.h"
#include "packer/profiles/profiles.h"
#include "packer/wire/wire.h"
#include "tests/bench/bench.h"

#define PROFILES 32
#define NO_SUCH_PID                                                                                \
    4194304 /* above the kernel's greatest: the step's cores are taken from the message */

static char folder[] = "/tmp/berth-bench.XXXXXX";
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static char samples[PATH_MAX]; /* "": none are played */
static struct recorded *recorded;

/* ---- the daemon ---- */

static void write_conf(const char *path)
{
    FILE *file = fopen(path, "w");

    if (!file)
        bench_die(path, strerror(errno));
    fprintf(file,
            "socket = %s/berthd.sock\nstate_dir = %s\nprofile_db = %s/profiles.db\n"
            "topology = package:2 l3:12 core:8 pu:1\nenforcement = dryrun\nsweep = 3600s\n"
            "log_level = warn\nledger = sqlite:%s/ledger.db\nledger_queue = %s/ledger.queue\n",
            folder, folder, folder, folder, folder);
    if (samples[0])
        fprintf(file, "counters_replay = %s\nstartup = 0s\nlearn = off\n", samples);
    fclose(file);
}

/* Miss rates from a few to 30000 per million instructions, evenly in the logarithm. */
static void store_profiles(const char *path)
{
    struct profile profile = {.llc_bytes = 32 << 20, .llc_ways = 16, .line_bytes = 64};
    struct profiles *store;
    struct berth_error err;
    char tag[16];

    if (profiles_open(&store, path, true, &err) < 0) {
        fprintf(stderr, "register: %s\n", err.text);
        exit(1);
    }
    for (int i = 0; i < PROFILES; i++) {
        snprintf(tag, sizeof(tag), "p%d", i);
        profile_key_tag(profile.key, tag);
        profile.misses = exp(log(3) + drand48() * log(10000));
        if (profiles_put(store, &profile, &err) < 0)
            exit(1);
    }
    profiles_close(store);
}

static pid_t daemon_start(void)
{
    char conf[64], db[64];
    pid_t pid;

    snprintf(conf, sizeof(conf), "%s/berth.conf", folder);
    snprintf(db, sizeof(db), "%s/profiles.db", folder);
    write_conf(conf);
    store_profiles(db);
    pid = fork();
    if (pid == 0) {
        execl("./berthd", "berthd", "-c", conf, NULL);
        bench_die("./berthd", strerror(errno));
    }
    return pid;
}

/* A figure of /proc/PID/status, in KiB. */
static long memory_kib(pid_t pid, const char *name)
{
    char path[64], line[128];
    long value = -1;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtol(line + strlen(name) + 1, NULL, 10);
    if (file)
        fclose(file);
    return value;
}

/* What the daemon has had of a CPU, and waited for one, in microseconds. */
static void cpu_us(pid_t pid, double *run, double *wait)
{
    unsigned long long run_ns = 0, wait_ns = 0;
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
    file = fopen(path, "r");
    if (!file || fscanf(file, "%llu %llu", &run_ns, &wait_ns) != 2)
        bench_die(path, strerror(errno));
    fclose(file);
    *run = (double)run_ns / 1e3;
    *wait = (double)wait_ns / 1e3;
}

/* ---- messages ---- */

/* Send a request as the plugin does; returns how long it took, in microseconds, or -1. */
static double ask(const struct wire_request *request)
{
    char *line = wire_request_encode(request), answer[WIRE_MESSAGE_MAX + 1];
    double began = 1e6 * clock_s();
    size_t got = 0;
    ssize_t n;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        close(fd);
        free(line);
        return -1;
    }
    if (write(fd, line, strlen(line)) < 0)
        bench_die("write", strerror(errno));
    while ((got == 0 || answer[got - 1] != '\n') &&
           (n = read(fd, answer + got, sizeof(answer) - 1 - got)) > 0)
        got += (size_t)n;
    answer[got] = '\0';
    close(fd);
    free(line);
    if (!strstr(answer, "\"ok\":true")) {
        fprintf(stderr, "register: berthd said: %s\n", answer);
        exit(1);
    }
    return 1e6 * clock_s() - began;
}

static double start(uint32_t job)
{
    struct wire_task task = {.id = 0, .pid = NO_SUCH_PID + (pid_t)job};
    struct wire_request request = {.op = WIRE_OP_REGISTER};
    struct wire_register *reg = &request.reg;
    char core[16];

    reg->id.job = job;
    reg->cpus_per_task = 1;
    reg->ntasks = 1;
    reg->task = &task;
    wire_options_init(&reg->options);
    reg->options.mode = WIRE_MODE_AUTO;
    if (recorded)
        snprintf(reg->options.tag, sizeof(reg->options.tag), "%s",
                 recorded_name(recorded, job % recorded_steps(recorded)));
    else
        snprintf(reg->options.tag, sizeof(reg->options.tag), "p%d", (int)(drand48() * PROFILES));
    snprintf(reg->node, sizeof(reg->node), "bench");
    snprintf(core, sizeof(core), "%u", job % BENCH_CORES);
    reg->exe = "/usr/bin/solver";
    reg->job_cores = reg->step_cores = core;
    return ask(&request);
}

static double end(uint32_t job)
{
    struct wire_request request = {.op = WIRE_OP_END, .end = {.id.job = job, .user_s = 1}};

    return ask(&request);
}

/* ---- figures ---- */

static void print_times(const char *what, double *us, size_t n)
{
    double median = array_median(us, n);

    printf("%s: median %.0f us, 99th percentile %.0f us, worst %.0f us (%zu)\n", what, median,
           us[n * 99 / 100], us[n - 1], n);
}

static void wait_ready(void)
{
    for (int i = 0; i < 500; i++, usleep(10000)) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        int ready = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;

        close(fd);
        if (ready)
            return;
    }
    bench_die(address.sun_path, strerror(errno));
}

static void measure(pid_t daemon, uint32_t steps, size_t rounds)
{
    double *fill = calloc(steps, sizeof(*fill)), *starts = calloc(rounds, sizeof(*starts)),
           *ends = calloc(rounds, sizeof(*ends));

    double run[2], wait[2];

    if (!fill || !starts || !ends)
        bench_die("calloc", strerror(errno));
    for (uint32_t job = 0; job < steps; job++)
        fill[job] = start(job + 1);
    print_times("filling the node, a registration", fill, steps);
    cpu_us(daemon, &run[0], &wait[0]);
    for (size_t i = 0; i < rounds; i++) {
        starts[i] = start(steps + 1 + (uint32_t)i);
        ends[i] = end(steps + 1 + (uint32_t)i);
    }
    cpu_us(daemon, &run[1], &wait[1]);
    printf("with %u steps on %d cores:\n", steps, BENCH_CORES);
    print_times("  registration", starts, rounds);
    print_times("  end", ends, rounds);
    printf("  both together: %.0f us of CPU time, and %.0f us of waiting for a CPU, on average\n",
           (run[1] - run[0]) / (double)rounds, (wait[1] - wait[0]) / (double)rounds);
    printf("  berthd: %ld KiB resident, %ld KiB at most\n", memory_kib(daemon, "VmRSS"),
           memory_kib(daemon, "VmHWM"));
    free(fill);
    free(starts);
    free(ends);
}

static void read_samples(const char *path)
{
    struct berth_error err;

    if (!realpath(path, samples))
        bench_die(path, strerror(errno));
    if (recorded_read(&recorded, samples, &err) < 0) {
        fprintf(stderr, "register: %s\n", err.text);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 500, rounds = argc > 2 ? atol(argv[2]) : 2000;
    pid_t daemon;

    if (steps < 1 || rounds < 1) {
        fprintf(stderr, "usage: register [STEPS [ROUNDS [SAMPLES]]]\n");
        return 2;
    }
    if (access("./berthd", X_OK) < 0) {
        fprintf(stderr, "register: no ./berthd: run it in the build folder\n");
        return 2;
    }
    if (argc > 3)
        read_samples(argv[3]);
    srand48(1);
    bench_folder(folder);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/berthd.sock", folder);
    daemon = daemon_start();
    wait_ready();
    measure(daemon, (uint32_t)steps, (size_t)rounds);
    kill(daemon, SIGTERM);
    waitpid(daemon, NULL, 0);
    recorded_free(recorded);
    return 0;
}
