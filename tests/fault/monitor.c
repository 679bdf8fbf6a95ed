/* SPDX-License-Identifier: GPL-2.0-or-later */
/* monitor CGROUP_ROOT NODE - looks every 10 ms where the tasks of the node's jobs may run, and
 * tells of two jobs on one core. For tests/fault/run, where Slurm gives each core to one job only.
 *
 * Slurm's and berth's cgroups say which processes are whose, the kernel says where they may run
 * (Cpus_allowed). The steps that users start count (JOB.0, JOB.1, ..), not a batch script's shell,
 * which berth does not place, nor Slurm's own; a suspended task holds no core, and a slurmstepd,
 * also before it has become the task, is root's. When two jobs are off each other's cores again a
 * line says who they were and how long it was seen:
 *
 *   conflict 12.0 14.0 MILLISECONDS
 *
 * SIGUSR1 has it end a chapter: "still A B MILLISECONDS" for whom it sees now, then
 * "looks N gap MILLISECONDS" with the longest time between two of its looks: what was shorter may
 * have been missed. SIGTERM ends it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 10000000l
#define TASKS 512
#define PAIRS 64
#define WORDS 16 /* of 64 CPUs each */
#define FILES 512

struct task {
    pid_t pid;
    unsigned job, step;
    uint64_t cpus[WORDS];
};

struct pair {
    unsigned job[2], step[2];
    double since_s, last_s;
    bool seen;
};

static struct task tasks[TASKS];
static size_t ntasks;
static struct pair pairs[PAIRS];
static size_t npairs;
static long looks;
static double gap_s, last_look_s;
static volatile sig_atomic_t chapter, over;

/* /proc/PID/status, open as long as the process lives. */
static struct {
    pid_t pid;
    int fd;
} files[FILES];

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- one task ---- */

static ssize_t read_status(pid_t pid, char *text, size_t size)
{
    size_t at = (size_t)pid % FILES;
    char path[64];
    ssize_t got = -1;

    if (files[at].pid == pid)
        got = pread(files[at].fd, text, size - 1, 0);
    if (got <= 0) {
        if (files[at].pid)
            close(files[at].fd);
        snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
        files[at].fd = open(path, O_RDONLY | O_CLOEXEC);
        files[at].pid = files[at].fd >= 0 ? pid : 0;
        got = files[at].fd >= 0 ? pread(files[at].fd, text, size - 1, 0) : -1;
    }
    if (got > 0)
        text[got] = '\0';
    return got;
}

/* What follows the word, at the beginning of a line; "" where it is not. */
static const char *field(const char *text, const char *word)
{
    const char *at = strstr(text, word);

    return at ? at + strlen(word) : "";
}

/* Reads the kernel's mask: groups of 8 digits, the last has CPU 0. */
static void read_mask(const char *text, uint64_t cpus[WORDS])
{
    size_t length = strcspn(text, "\n"), bit = 0;

    memset(cpus, 0, WORDS * sizeof(*cpus));
    while (length-- > 0 && bit < WORDS * 64) {
        const char *digits = "0123456789abcdef", *at = strchr(digits, text[length]);

        if (!at || text[length] == ',')
            continue;
        cpus[bit / 64] |= (uint64_t)(at - digits) << (bit % 64);
        bit += 4;
    }
}

static void look_at(pid_t pid, unsigned job, unsigned step)
{
    char text[4096];

    if (ntasks == TASKS || read_status(pid, text, sizeof(text)) <= 0 ||
        strncmp(field(text, "Name:\t"), "slurmstepd", 10) == 0 ||
        strchr("TtZX", field(text, "\nState:\t")[0]))
        return;
    tasks[ntasks] = (struct task){.pid = pid, .job = job, .step = step};
    read_mask(field(text, "\nCpus_allowed:\t"), tasks[ntasks].cpus);
    ntasks++;
}

/* ---- all of them ---- */

static void look_in(int dir, unsigned job, unsigned step)
{
    int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
    char text[8192], *at = text;
    ssize_t got = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = '\0';
    for (char *end; *at; at = end + strspn(end, "\n")) {
        pid_t pid = (pid_t)strtol(at, &end, 10);

        if (end == at)
            break;
        look_at(pid, job, step);
    }
}

/* Takes the numbers of the step from a folder's name: "job_12", "step_0", and berth's "12.0". */
static void name_step(const char *name, long *job, long *step)
{
    unsigned a, b;
    char rest;

    if (sscanf(name, "%u.%u%c", &a, &b, &rest) == 2)
        *job = a, *step = b;
    else if (sscanf(name, "job_%u%c", &a, &rest) == 1)
        *job = a, *step = -1;
    else if (sscanf(name, "step_%u%c", &a, &rest) == 1)
        *step = a;
}

static void walk(int parent, const char *name, long job, long step)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return;
    }
    name_step(name, &job, &step);
    if (job >= 0 && step >= 0)
        look_in(fd, (unsigned)job, (unsigned)step);
    while ((entry = readdir(dir)))
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
            walk(fd, entry->d_name, job, step);
    closedir(dir);
}

/* ---- who is on one core ---- */

static bool share(const struct task *a, const struct task *b)
{
    for (size_t i = 0; i < WORDS; i++)
        if (a->cpus[i] & b->cpus[i])
            return true;
    return false;
}

static void see(const struct task *a, const struct task *b, double at_s)
{
    const struct task *first = a->job < b->job ? a : b, *second = first == a ? b : a;
    struct pair pair = {{first->job, second->job}, {first->step, second->step}, at_s, at_s, true};

    for (size_t i = 0; i < npairs; i++)
        if (memcmp(pairs[i].job, pair.job, sizeof(pair.job)) == 0 &&
            memcmp(pairs[i].step, pair.step, sizeof(pair.step)) == 0) {
            pairs[i].seen = true;
            pairs[i].last_s = at_s;
            return;
        }
    if (npairs < PAIRS)
        pairs[npairs++] = pair;
}

static void say(const char *word, const struct pair *pair, double until_s)
{
    printf("%s %u.%u %u.%u %.0f\n", word, pair->job[0], pair->step[0], pair->job[1], pair->step[1],
           (until_s - pair->since_s) * 1e3);
}

static void look(const char *const *roots)
{
    double at_s = now_s();

    ntasks = 0;
    for (; *roots; roots++)
        walk(AT_FDCWD, *roots, -1, -1);
    for (size_t i = 0; i < ntasks; i++)
        for (size_t j = 0; j < i; j++)
            if (tasks[i].job != tasks[j].job && share(&tasks[i], &tasks[j]))
                see(&tasks[i], &tasks[j], at_s);
    for (size_t i = 0; i < npairs; i++) {
        if (pairs[i].seen) {
            pairs[i].seen = false;
            continue;
        }
        say("conflict", &pairs[i], at_s);
        pairs[i--] = pairs[--npairs];
    }
    if (looks++ > 0 && at_s - last_look_s > gap_s)
        gap_s = at_s - last_look_s;
    last_look_s = at_s;
}

static void end_chapter(void)
{
    for (size_t i = 0; i < npairs; i++)
        say("still", &pairs[i], last_look_s);
    printf("looks %ld gap %.0f\n", looks, gap_s * 1e3);
    fflush(stdout);
    looks = 0;
    gap_s = 0;
    chapter = 0;
}

static void on_signal(int sig)
{
    if (sig == SIGUSR1)
        chapter = 1;
    else
        over = 1;
}

int main(int argc, char **argv)
{
    char root[5][512];
    const char *roots[6] = {root[0], root[1], root[2], root[3], root[4], NULL};
    struct timespec next;

    if (argc != 3) {
        fprintf(stderr, "usage: monitor CGROUP_ROOT NODE\n");
        return 2;
    }
    snprintf(root[0], sizeof(root[0]), "%s/cpuset/slurm_%s", argv[1], argv[2]);
    snprintf(root[1], sizeof(root[1]), "%s/cpuset/berth_%s", argv[1], argv[2]);
    snprintf(root[2], sizeof(root[2]), "%s/system.slice/%s_slurmstepd.scope", argv[1], argv[2]);
    snprintf(root[3], sizeof(root[3]), "%s/cpuset/slurm", argv[1]);
    snprintf(root[4], sizeof(root[4]), "%s/berth_%s", argv[1], argv[2]);
    signal(SIGUSR1, on_signal);
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    /* without it the machine's load would decide when it looks */
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (!over) {
        look(roots);
        if (chapter)
            end_chapter();
        next.tv_nsec += LOOK_NS;
        if (next.tv_nsec >= 1000000000l) {
            next.tv_nsec -= 1000000000l;
            next.tv_sec++;
        }
        if (now_s() > (double)next.tv_sec + (double)next.tv_nsec / 1e9)
            clock_gettime(CLOCK_MONOTONIC, &next); /* late: none is made up for */
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    end_chapter();
    return 0;
}
