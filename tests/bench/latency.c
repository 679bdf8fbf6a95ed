/* SPDX-License-Identifier: GPL-2.0-or-later */
/* latency - asks berthd as the plugin does, as root, and tells how long that takes:
 *
 *     latency SOCKET measure SECONDS
 *         registers and ends a step again and again, each on a connection of its own
 *     latency SOCKET history UID JOB STEPS TASKS
 *         leaves so many ended steps
 *     latency SOCKET hold UID JOB idle N
 *     latency SOCKET hold UID JOB tree N DEPTH
 *         registers a step of so many processes, of which a chain is so deep, until SIGTERM
 *     latency SOCKET start UID JOB NODE CORE TAG PID
 *         registers a step of that task, and prints the milliseconds
 *     latency SOCKET end JOB STEP
 *         ends one, and prints the milliseconds
 *
 * measure prints one line: of registrations and ends how many there were, the median, the 99th
 * percentile and the greatest in ms, and how many took longer than 50 and 200 ms. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/wire/wire.h"
#include "packer/wire/wire_client.h"

#define PATIENCE_S 20
#define MANY 100000
#define PAUSE_US 10000
#define JOBS 3000000 /* numbers of the steps that are measured begin here */
#define CORES 192

static const char *path;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "latency: %s: %s\n", what, why);
    exit(2);
}

/* ---- as the plugin ---- */

static struct wire_client *dial(void)
{
    char plugin[256];
    struct wire_client *client;

    snprintf(plugin, sizeof(plugin), "%s" WIRE_PLUGIN_SUFFIX, path);
    client = wire_client_open(plugin, PATIENCE_S);
    return client ? client : wire_client_open(path, PATIENCE_S);
}

/* Returns the milliseconds from connect(2) to the whole answer. */
static double ask(const struct wire_request *request)
{
    char *line = wire_request_encode(request);
    double began_s = clock_s();
    struct wire_client *client = dial();
    const char *answer = "";

    if (!line || !client || wire_client_send(client, line) < 0 ||
        wire_client_receive(client, &answer) < 0)
        die(path, strerror(errno));
    began_s = clock_s() - began_s;
    if (!strstr(answer, "\"ok\":true"))
        die("berthd said", answer);
    wire_client_close(client);
    free(line);
    return 1e3 * began_s;
}

/* Registers a step of ntasks tasks that are that process, whose job has that core. */
static double register_on(uint32_t job, uint32_t step, uid_t uid, pid_t pid, size_t ntasks,
                          const char *node, const char *core, const char *tag)
{
    struct wire_task task[256];
    struct wire_request request = {.op = WIRE_OP_REGISTER};
    struct wire_register *reg = &request.reg;

    reg->id = (struct wire_step_id){job, step};
    reg->uid = uid;
    reg->cpus_per_task = 1;
    for (size_t i = 0; i < ntasks; i++)
        task[i] = (struct wire_task){.id = (uint32_t)i, .pid = pid};
    reg->ntasks = ntasks;
    reg->task = task;
    wire_options_init(&reg->options);
    reg->options.mode = WIRE_MODE_AUTO;
    snprintf(reg->node, sizeof(reg->node), "%s", node);
    snprintf(reg->options.tag, sizeof(reg->options.tag), "%s", tag);
    reg->exe = "/usr/bin/solver";
    reg->job_cores = reg->step_cores = core;
    return ask(&request);
}

static double register_step(uint32_t job, uint32_t step, uid_t uid, pid_t pid, size_t ntasks)
{
    char core[16];

    snprintf(core, sizeof(core), "%u", job % CORES);
    return register_on(job, step, uid, pid, ntasks, "trust", core, "");
}

static double end_step(uint32_t job, uint32_t step)
{
    struct wire_request request = {
        .op = WIRE_OP_END,
        .end = {.id = {job, step}, .exit_status = 0, .user_s = -1, .system_s = -1}};

    return ask(&request);
}

/* ---- figures ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void print_figures(const char *what, double *ms, size_t n, double late_ms)
{
    size_t late = 0;

    qsort(ms, n, sizeof(*ms), compare);
    while (late < n && ms[n - 1 - late] > late_ms)
        late++;
    printf("%s %zu %.2f %.2f %.2f %zu ", what, n, ms[n / 2], ms[n - 1 - n / 100], ms[n - 1], late);
}

static void measure(double seconds)
{
    static double registered[MANY], ended[MANY];
    double until_s = clock_s() + seconds;
    size_t n = 0;

    for (uint32_t job = JOBS; clock_s() < until_s && n < MANY; job++, n++) {
        registered[n] = register_step(job, 0, 0, getpid(), 1);
        ended[n] = end_step(job, 0);
        usleep(PAUSE_US);
    }
    print_figures("register", registered, n, 50);
    print_figures("end", ended, n, 200);
    puts("");
}

/* ---- steps ---- */

static void put_history(uid_t uid, uint32_t job, uint32_t steps, size_t tasks)
{
    for (uint32_t step = 0; step < steps; step++) {
        register_step(job, step, uid, getpid(), tasks);
        end_step(job, step);
    }
}

static void on_term(int sig)
{
    (void)sig;
}

static void sleep_on(uid_t uid)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (setgid(uid) < 0 || setuid(uid) < 0)
        _exit(2);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* setuid has taken it back */
    for (;;)
        pause();
}

/* Makes so many children; the last one makes the next ones, as deep as it goes. */
static void breed(uid_t uid, size_t n, size_t depth)
{
    size_t here = depth > 1 ? 1 : n;

    for (size_t i = 0; i < here; i++) {
        pid_t pid = fork();

        if (pid < 0)
            die("fork", strerror(errno));
        if (pid > 0)
            continue;
        if (depth > 1 && n > 1)
            breed(uid, n - 1, depth - 1);
        sleep_on(uid);
    }
}

/* The step's task is a child, which is the father of the others. */
static void hold(uid_t uid, uint32_t job, size_t n, size_t depth)
{
    struct sigaction term = {.sa_handler = on_term};
    pid_t task;

    prctl(PR_SET_CHILD_SUBREAPER, 1); /* nobody else has to bury them */
    task = fork();
    if (task < 0)
        die("fork", strerror(errno));
    if (task == 0) {
        breed(uid, n - 1, depth);
        sleep_on(uid);
    }
    sigaction(SIGTERM, &term, NULL);
    sleep(1); /* until all of them are there */
    register_step(job, 0, uid, task, 1);
    puts("held");
    fflush(stdout);
    pause();
    end_step(job, 0);
    kill(task, SIGKILL); /* the others follow */
    while (waitpid(-1, NULL, 0) > 0)
        ;
}

static size_t number(const char *text)
{
    return text ? strtoul(text, NULL, 10) : 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[2] : "";

    path = argc > 1 ? argv[1] : "";
    if (strcmp(what, "measure") == 0 && argc == 4)
        measure(strtod(argv[3], NULL));
    else if (strcmp(what, "history") == 0 && argc == 7 && number(argv[6]) <= 256)
        put_history((uid_t)number(argv[3]), (uint32_t)number(argv[4]), (uint32_t)number(argv[5]),
                    number(argv[6]));
    else if (strcmp(what, "hold") == 0 && argc >= 7 && number(argv[6]) <= 4000)
        hold((uid_t)number(argv[3]), (uint32_t)number(argv[4]), number(argv[6]), number(argv[7]));
    else if (strcmp(what, "start") == 0 && argc == 9)
        printf("%.2f\n", register_on((uint32_t)number(argv[4]), 0, (uid_t)number(argv[3]),
                                     (pid_t)number(argv[8]), 1, argv[5], argv[6], argv[7]));
    else if (strcmp(what, "end") == 0 && argc == 5)
        printf("%.2f\n", end_step((uint32_t)number(argv[3]), (uint32_t)number(argv[4])));
    else
        return fputs("usage: latency SOCKET measure SECONDS | history UID JOB STEPS TASKS | hold "
                     "UID JOB idle|tree N [DEPTH] | "
                     "start UID JOB NODE CORE TAG PID | end JOB STEP\n",
                     stderr),
               2;
    return 0;
}
