/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steps - see steps.h */
#include "tests/unit/common/steps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/common/folder.h"

#define FORKS_MAX 20000 /* a forking task ends by itself then */
#define CHAINS 24
#define LINK_US 300
#define STEP_TREE_STACK 32768

/* ---- inside the step; no cmocka here ---- */

static void *sleep_forever(void *arg)
{
    for (;;)
        pause();
    return arg;
}

static void *end_at_once(void *arg)
{
    usleep(200);
    return arg;
}

static void bind_to(unsigned cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

static void enter_cgroup(const char *dir)
{
    char path[PATH_MAX];
    int fd;

    snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
    fd = open(path, O_WRONLY);
    if (fd < 0 || write(fd, "0", 1) != 1)
        _exit(1);
    close(fd);
}

static pid_t fork_sleeper(bool orphan)
{
    pid_t pid = -1;
    int fd[2];

    if (pipe(fd) < 0)
        _exit(1);
    if (fork() == 0) {
        pid = getpid();
        if (orphan && fork() != 0)
            _exit(0);
        while (orphan && getppid() == pid)
            usleep(100);
        if (orphan)
            prctl(PR_SET_NAME, "slurmstepd"); /* anybody may */
        prctl(PR_SET_PDEATHSIG, SIGKILL);     /* nothing survives a test that crashes */
        pid = getpid();
        if (write(fd[1], &pid, sizeof(pid)) != sizeof(pid))
            _exit(1);
        sleep_forever(NULL);
    }
    if (read(fd[0], &pid, sizeof(pid)) != sizeof(pid))
        _exit(1);
    if (orphan)
        wait(NULL);
    close(fd[0]);
    close(fd[1]);
    return pid;
}

/* A tree that is being made. Its processes only sleep, so they share their memory: copies of copies
 * would take the kernel most of the test's time. */
struct tree {
    char *stack; /* of the next one */
    int chain;   /* so many are still to be below each other */
    int out;     /* where the last of them says its number */
};

static void clone_into(struct tree *tree, int (*is)(void *tree))
{
    tree->stack += STEP_TREE_STACK;
    if (clone(is, tree->stack, CLONE_VM | SIGCHLD, tree) < 0)
        _exit(1);
}

static int leaf(void *tree)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sleep_forever(NULL);
    return tree == NULL;
}

static int link_of_chain(void *arg)
{
    struct tree *tree = arg;
    pid_t pid = getpid();

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (--tree->chain > 0)
        clone_into(tree, link_of_chain);
    else if (write(tree->out, &pid, sizeof(pid)) != sizeof(pid))
        _exit(1);
    sleep_forever(NULL);
    return 1;
}

/* Returns the last of the chain, when all are there. */
static pid_t fork_tree(void)
{
    struct tree tree = {.chain = STEP_TREE_CHAIN};
    pid_t pid = 0;
    int fd[2];

    tree.stack = mmap(NULL, STEP_TREE_SIZE * STEP_TREE_STACK, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (tree.stack == MAP_FAILED || pipe(fd) < 0)
        _exit(1);
    tree.out = fd[1];
    for (int i = 0; i < STEP_TREE_SIZE - STEP_TREE_CHAIN - 1; i++)
        clone_into(&tree, leaf);
    clone_into(&tree, link_of_chain);
    if (read(fd[0], &pid, sizeof(pid)) != sizeof(pid))
        _exit(1);
    close(fd[0]);
    close(fd[1]);
    return pid;
}

static void fork_on_and_on(void)
{
    pthread_t thread;

    for (int i = 0; i < FORKS_MAX; i++) {
        if (fork() == 0) {
            if (i % 4 == 0)
                fork();
            usleep(2000);
            _exit(0);
        }
        if (pthread_create(&thread, NULL, end_at_once, NULL) == 0)
            pthread_detach(thread);
        while (waitpid(-1, NULL, i % 16 == 15 ? 0 : WNOHANG) > 0)
            ;
    }
}

static void chain(void)
{
    for (int i = 0; i < FORKS_MAX; i++) {
        usleep(LINK_US);
        if (fork() != 0)
            _exit(0);
    }
    _exit(0);
}

/* The signal is blocked in all of the step. */
static void chain_on_signal(void)
{
    sigset_t set;
    int got;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigwait(&set, &got);
    for (int i = 0; i < CHAINS; i++)
        if (fork() == 0)
            chain();
}

static void block_signal(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

/* What a task tells the test when it is ready. */
struct ready {
    size_t index;
    pid_t task, child;
};

static const char *const *program; /* of STEP_PROGRAM */

static void run_program(int out, const struct ready *ready)
{
    if (write(out, ready, sizeof(*ready)) != sizeof(*ready))
        _exit(1);
    execv(program[0], (char *const *)program);
    _exit(127);
}

static void run_task(int out, size_t index, unsigned home, enum step_kind kind)
{
    struct ready ready = {.index = index, .task = getpid()};
    pthread_t thread;

    if (kind == STEP_PROGRAM)
        run_program(out, &ready);
    prctl(PR_SET_NAME, "task");
    bind_to(home);
    pthread_create(&thread, NULL, sleep_forever, NULL);
    if (kind == STEP_QUIET || kind == STEP_ORPHAN)
        ready.child = fork_sleeper(kind == STEP_ORPHAN);
    if (kind == STEP_TREE)
        ready.child = fork_tree();
    if (write(out, &ready, sizeof(ready)) != sizeof(ready))
        _exit(1);
    if (kind == STEP_FORKING)
        fork_on_and_on();
    if (kind == STEP_CHAINS)
        chain_on_signal();
    if (kind == STEP_HEADLESS)
        pthread_exit(NULL);
    sleep_forever(NULL);
}

static void run_stepd(int out, const char *dir, size_t n, const unsigned *home, enum step_kind kind)
{
    prctl(PR_SET_NAME, "slurmstepd");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, kind == STEP_CHAINS);
    block_signal();
    setpgid(0, 0);
    if (dir)
        enter_cgroup(dir);
    if (kind == STEP_INNER && unshare(CLONE_NEWPID) < 0)
        _exit(1);
    for (size_t i = 0; i < n; i++)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            run_task(out, i, home[i], kind);
        }
    for (;;)
        if (waitpid(-1, NULL, 0) < 0)
            pause();
}

/* ---- in the test ---- */

void step_start(struct step_processes *step, const char *dir, size_t n, const unsigned *home,
                enum step_kind kind)
{
    struct ready ready;
    int fd[2];

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    *step = (struct step_processes){.n = n};
    assert_int_equal(pipe(fd), 0);
    step->stepd = fork();
    assert_true(step->stepd >= 0);
    if (step->stepd == 0)
        run_stepd(fd[1], dir, n, home, kind);
    setpgid(step->stepd, step->stepd);
    close(fd[1]);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(read(fd[0], &ready, sizeof(ready)), sizeof(ready));
        step->task[ready.index] = ready.task;
        step->child[ready.index] = ready.child;
    }
    close(fd[0]);
}

void step_start_program(struct step_processes *step, const char *dir, const char *const *argv)
{
    const unsigned any = 0;

    program = argv;
    step_start(step, dir, 1, &any, STEP_PROGRAM);
}

/* It is a fork of the test, so its arguments are where the test's are. */
void step_give_title(const struct step_processes *step, const char *title)
{
    size_t room = strlen(program_invocation_name) + 1;
    char path[64], text[PATH_MAX] = "";
    int fd;

    assert_true(strlen(title) < room && room < sizeof(text));
    strcpy(text, title);
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)step->stepd);
    fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, text, room, (off_t)(uintptr_t)program_invocation_name), room);
    close(fd);
}

void step_let_fork(const struct step_processes *step)
{
    for (size_t i = 0; i < step->n; i++)
        kill(step->task[i], SIGUSR1);
    usleep(100000);
}

void step_stop(struct step_processes *step)
{
    if (step->stepd <= 0)
        return;
    kill(-step->stepd, SIGKILL);
    while (waitpid(-step->stepd, NULL, 0) > 0)
        ;
    step->stepd = 0;
}

void step_end_tasks(struct step_processes *step)
{
    char path[64];

    for (size_t i = 0; i < step->n; i++) {
        if (step->child[i] > 0)
            kill(step->child[i], SIGKILL);
        kill(step->task[i], SIGKILL);
    }
    for (size_t i = 0; i < step->n; i++) {
        snprintf(path, sizeof(path), "/proc/%d", (int)step->child[i]);
        while (step->child[i] > 0 && access(path, F_OK) == 0 &&
               waitpid(step->child[i], NULL, 0) < 0)
            usleep(1000); /* its parent, the slurmstepd or we reap it */
        snprintf(path, sizeof(path), "/proc/%d", (int)step->task[i]);
        while (access(path, F_OK) == 0)
            usleep(1000);
    }
}

/* The value of "KEY:\tVALUE" in a status file. */
static void status_value(const char *path, const char *key, char *value, size_t size)
{
    char line[256];
    FILE *file = fopen(path, "r");

    value[0] = '\0';
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, key, strlen(key)) == 0) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(value, size, "%s", line + strlen(key));
        }
    if (file)
        fclose(file);
}

bool step_runs_on(pid_t pid, const char *list)
{
    char path[PATH_MAX], value[256], state[64];
    struct dirent *entry;
    bool same = true;
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    dir = opendir(path);
    if (!dir)
        return false;
    while ((entry = readdir(dir))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "/proc/%d/task/%s/status", (int)pid, entry->d_name);
        status_value(path, "Cpus_allowed_list:\t", value, sizeof(value));
        status_value(path, "State:\t", state, sizeof(state));
        if (value[0] && state[0] != 'Z' && state[0] != 'X' && strcmp(value, list) != 0) {
            print_error("thread %s of %d: on %s, not %s\n", entry->d_name, (int)pid, value, list);
            same = false;
        }
    }
    closedir(dir);
    return same;
}

void step_cpuset(pid_t pid, char *path, size_t size)
{
    char file[64], line[PATH_MAX];
    const char *at;
    FILE *in;

    snprintf(file, sizeof(file), "/proc/%d/cgroup", (int)pid);
    in = fopen(file, "r");
    path[0] = '\0';
    while (in && fgets(line, sizeof(line), in)) {
        line[strcspn(line, "\n")] = '\0';
        at = strstr(line, ":cpuset:");
        if (at)
            snprintf(path, size, "%s", at + strlen(":cpuset:"));
    }
    if (in)
        fclose(in);
}
