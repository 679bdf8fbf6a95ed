/* SPDX-License-Identifier: GPL-2.0-or-later */
/* berthd - see berthd.h */
#include "tests/bench/berthd.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "tests/bench/bench.h"

static struct sockaddr_un address = {.sun_family = AF_UNIX};

static void write_conf(const char *path, const char *folder, const char *more)
{
    FILE *file = fopen(path, "w");

    if (!file)
        bench_die(path, strerror(errno));
    fprintf(file,
            "socket = %s\nstate_dir = %s\nprofile_db = %s/profiles.db\n"
            "machine_profile = %s/machine.json\n"
            "topology = package:2 l3:12 core:8 pu:1\nenforcement = dryrun\n"
            "log_level = warn\nledger = sqlite:%s/ledger.db\nledger_queue = %s/ledger.queue\n%s",
            address.sun_path, folder, folder, folder, folder, folder, more);
    fclose(file);
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

pid_t bench_berthd_start(const char *folder, const char *more)
{
    char conf[96];
    pid_t pid;

    if (access("./berthd", X_OK) < 0)
        bench_die("./berthd", "run it in the build folder");
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/berthd.sock", folder);
    snprintf(conf, sizeof(conf), "%s/berth.conf", folder);
    write_conf(conf, folder, more);
    pid = fork();
    if (pid == 0) {
        execl("./berthd", "berthd", "-c", conf, NULL);
        bench_die("./berthd", strerror(errno));
    }
    wait_ready();
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

double bench_register_throttled(uint32_t job, const char *tag, pid_t pid,
                                enum wire_throttle throttle)
{
    struct wire_task task = {.id = 0, .pid = pid};
    struct wire_request request = {.op = WIRE_OP_REGISTER};
    struct wire_register *reg = &request.reg;
    char core[16];

    reg->id.job = job;
    reg->cpus_per_task = 1;
    reg->ntasks = 1;
    reg->task = &task;
    wire_options_init(&reg->options);
    reg->options.mode = WIRE_MODE_AUTO;
    reg->options.throttle = throttle;
    snprintf(reg->options.tag, sizeof(reg->options.tag), "%s", tag);
    snprintf(reg->node, sizeof(reg->node), "bench");
    snprintf(core, sizeof(core), "%u", job % BENCH_CORES);
    reg->exe = "/usr/bin/solver";
    reg->job_cores = reg->step_cores = core;
    return bench_ask(&request);
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
