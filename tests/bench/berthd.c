/* SPDX-License-Identifier: GPL-2.0-or-later */
/* berthd - see berthd.h */
#include "tests/bench/berthd.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "tests/bench/bench.h"
#include "tests/bench/known.h"

#define PAUSE_US 200 /* between two looks whether it can be asked */
#define PATIENCE_S 20

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static char program[PATH_MAX] = "./berthd";
static bool ledger = true;
static const char *topology = "package:2 l3:12 core:8 pu:1";

void bench_berthd_of(const char *build)
{
    snprintf(program, sizeof(program), "%.4000s/berthd", build);
}

void bench_berthd_ledger(bool on)
{
    ledger = on;
}

void bench_berthd_topology(const char *synthetic)
{
    topology = synthetic;
}

static void write_conf(const char *path, const char *folder, const char *more)
{
    const char *user = getenv("BENCH_USER"); /* whom berthd runs as, beside berth-hand */
    FILE *file = fopen(path, "w");
    char *lines;

    if (!file)
        bench_die(path, strerror(errno));
    if (asprintf(&lines,
                 "control = 0\nsocket = %s\nstate_dir = %s\nprofile_db = %s/profiles.db\n"
                 "machine_profile = %s/machine.json\n"
                 "topology = %s\nenforcement = dryrun\n"
                 "log_level = warn\nledger = %s%s%s\nledger_queue = %s/ledger.queue\n"
                 "user = %s\n%s",
                 address.sun_path, folder, folder, folder, topology, ledger ? "sqlite:" : "off",
                 ledger ? folder : "", ledger ? "/ledger.db" : "", folder, user ? user : "root",
                 more) < 0 ||
        known_lines(program, lines, file) < 0)
        bench_die(program, strerror(errno));
    free(lines);
    fclose(file);
}

static void wait_ready(pid_t pid)
{
    for (double end_s = clock_s() + PATIENCE_S; clock_s() < end_s; usleep(PAUSE_US)) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        int ready = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;

        close(fd);
        if (ready)
            return;
        if (waitpid(pid, NULL, WNOHANG) != 0)
            bench_die(program, "ended at its start");
    }
    bench_die(address.sun_path, strerror(errno));
}

void bench_berthd_at(const char *folder)
{
    snprintf(address.sun_path, sizeof(address.sun_path), "%.90s/berthd.sock", folder);
}

pid_t bench_berthd_start(const char *folder, const char *more)
{
    char conf[PATH_MAX];
    pid_t pid;

    if (access(program, X_OK) < 0)
        bench_die(program, "run it in the build folder");
    bench_berthd_at(folder);
    snprintf(conf, sizeof(conf), "%s/berth.conf", folder);
    write_conf(conf, folder, more);
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl(program, "berthd", "-c", conf, known_option(program), NULL);
        fprintf(stderr, "%s: %s\n", program, strerror(errno));
        _exit(127);
    }
    wait_ready(pid);
    return pid;
}

void bench_berthd_stop(pid_t pid)
{
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
}

/* ---- messages ---- */

double bench_ask(const struct wire_request *request)
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
    if (!strstr(answer, "\"ok\":true"))
        bench_die("berthd said", answer);
    return 1e6 * clock_s() - began;
}

double bench_register(uint32_t job, const char *tag, pid_t pid)
{
    return bench_register_throttled(job, tag, pid, WIRE_THROTTLE_OFF);
}

/* The registration of a job's step 0, less its tasks and cores. */
static struct wire_request registration(uint32_t job, const char *tag)
{
    struct wire_request request = {.op = WIRE_OP_REGISTER};
    struct wire_register *reg = &request.reg;

    reg->id.job = job;
    reg->cpus_per_task = 1;
    wire_options_init(&reg->options);
    reg->options.mode = WIRE_MODE_AUTO;
    snprintf(reg->options.tag, sizeof(reg->options.tag), "%s", tag);
    snprintf(reg->node, sizeof(reg->node), "bench");
    reg->exe = "/usr/bin/solver";
    return request;
}

double bench_register_throttled(uint32_t job, const char *tag, pid_t pid,
                                enum wire_throttle throttle)
{
    struct wire_task task = {.id = 0, .pid = pid};
    struct wire_request request = registration(job, tag);
    struct wire_register *reg = &request.reg;
    char core[16];

    reg->ntasks = 1;
    reg->task = &task;
    reg->options.throttle = throttle;
    snprintf(core, sizeof(core), "%u", job % BENCH_CORES);
    reg->job_cores = reg->step_cores = core;
    return bench_ask(&request);
}

double bench_register_whole(uint32_t job, const char *tag, const pid_t *pid, size_t n)
{
    struct wire_task *task = calloc(n, sizeof(*task));
    struct wire_request request = registration(job, tag);
    struct wire_register *reg = &request.reg;
    char cores[32];
    double us;

    if (!task)
        bench_die("registration", strerror(errno));
    for (size_t i = 0; i < n; i++)
        task[i] = (struct wire_task){.id = (uint32_t)i, .pid = pid[i]};
    reg->ntasks = n;
    reg->task = task;
    snprintf(cores, sizeof(cores), "0-%zu", n - 1);
    reg->job_cores = reg->step_cores = cores;
    us = bench_ask(&request);
    free(task);
    return us;
}

/* ---- what it costs ---- */

static void add_schedstat(pid_t pid, const char *thread, double *run, double *wait)
{
    unsigned long long run_ns = 0, wait_ns = 0;
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/task/%.16s/schedstat", (int)pid, thread);
    file = fopen(path, "r");
    if (!file)
        return;
    if (fscanf(file, "%llu %llu", &run_ns, &wait_ns) == 2) {
        *run += (double)run_ns / 1e3;
        *wait += (double)wait_ns / 1e3;
    }
    fclose(file);
}

void bench_cpu_us(pid_t pid, double *run, double *wait)
{
    struct dirent *entry;
    char path[64];
    DIR *folder;

    *run = *wait = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    folder = opendir(path);
    if (!folder)
        bench_die(path, strerror(errno));
    while ((entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            add_schedstat(pid, entry->d_name, run, wait);
    closedir(folder);
}

long bench_memory_kib(pid_t pid, const char *name)
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
