/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_counters_software - real processes are counted as the kernel's own rusage says, counts never
 * fall, and a recorded node is read as it was recorded. */
#include "packer/counters/counters.h"
#include "packer/counters/stat_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/common/folder.h"

/* ---- the backend on a node ---- */

struct fixture {
    char folder[64];
    struct rootfs root;
    struct enforce enforce;
    struct conf conf;
    struct counters_node node;
    void *state;
    uint32_t can;
    char say[COUNTERS_SAY];
    struct enforce_task task;
    struct enforce_step body;
    double elapsed_s; /* the clock of the step, which the test turns */
};

/* The daemon on a tree of files, or on this machine where root is "/". */
static struct fixture *open_node(const char *root, const char *cgroup_root, enum conf_switch lock)
{
    struct fixture *f = calloc(1, sizeof(*f));

    assert_int_equal(rootfs_open(&f->root, root, NULL), 0);
    assert_int_equal(enforce_open(&f->enforce, &f->root, cgroup_root, "dryrun", NULL), 0);
    f->conf.lock_time = lock;
    f->node = (struct counters_node){.root = &f->root,
                                     .enforce = &f->enforce,
                                     .conf = &f->conf,
                                     .stats = stat_reader_open(&f->root, 60, 60)};
    assert_non_null(f->node.stats);
    assert_int_equal(counters_software.open(&f->node, &f->state, &f->can, f->say, NULL), 0);
    f->body = (struct enforce_step){.id = {4711, 0}, .ntasks = 1, .task = &f->task};
    return f;
}

static void close_node(struct fixture *f)
{
    counters_software.close(f->state);
    stat_reader_close(f->node.stats);
    enforce_close(&f->enforce);
    rootfs_close(&f->root);
    free(f);
}

static struct counters_target target_of(struct fixture *f)
{
    return (struct counters_target){.body = &f->body, .name = "", .elapsed_s = f->elapsed_s};
}

static void *attach(struct fixture *f, pid_t pid)
{
    struct counters_target target;
    void *step;

    f->task.pid = pid;
    target = target_of(f);
    assert_int_equal(counters_software.attach(f->state, &target, &step, NULL), 0);
    return step;
}

/* A sample, `after_s` of the step's clock later. */
static struct counters_sample sample_of(struct fixture *f, void *step, double after_s)
{
    struct counters_sample sample = {0};
    struct counters_target target;
    struct berth_error err = {""};

    f->elapsed_s += after_s;
    target = target_of(f);
    assert_int_equal(counters_software.read(f->state, step, &target, &sample, &err), 0);
    return sample;
}

/* The same, once memory by node was read beside. */
static struct counters_sample nodes_of(struct fixture *f, void *step, double after_s)
{
    struct counters_sample sample = sample_of(f, step, after_s);

    while (sample.nodes == 0) {
        nanosleep(&(struct timespec){0, 1000 * 1000}, NULL);
        sample = sample_of(f, step, 0);
    }
    return sample;
}

static double value(const struct counters_sample *sample, enum counter counter)
{
    assert_true(counters_know(sample, counter));
    return sample->value[counter];
}

/* ---- children ---- */

static double thread_cpu_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void burn(double seconds)
{
    double until = thread_cpu_s() + seconds;

    while (thread_cpu_s() < until)
        ;
}

struct child {
    pid_t pid;
    int order, done;
};

/* A child that runs work(n) for each number n that it is sent, until its input ends. */
static struct child child_start(void (*work)(int n))
{
    int order[2], done[2], n;
    struct child child;

    assert_int_equal(pipe(order), 0);
    assert_int_equal(pipe(done), 0);
    child.pid = fork();
    assert_true(child.pid >= 0);
    if (child.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(order[1]);
        close(done[0]);
        while (read(order[0], &n, sizeof(n)) == sizeof(n)) {
            work(n);
            if (write(done[1], &n, sizeof(n)) != sizeof(n))
                _exit(1);
        }
        _exit(0);
    }
    close(order[0]);
    close(done[1]);
    child.order = order[1];
    child.done = done[0];
    return child;
}

static void child_do(const struct child *child, int n)
{
    assert_int_equal(write(child->order, &n, sizeof(n)), sizeof(n));
    assert_int_equal(read(child->done, &n, sizeof(n)), sizeof(n));
}

static struct rusage child_end(struct child *child)
{
    struct rusage usage;
    int status;

    close(child->order);
    close(child->done);
    assert_int_equal(wait4(child->pid, &status, 0, &usage), child->pid);
    assert_int_equal(status, 0);
    return usage;
}

static void work_burn(int n)
{
    burn(n / 1e3);
}

/* A child of the child, which is waited for. */
static void work_fork(int n)
{
    pid_t pid = fork();

    if (pid == 0) {
        burn(n / 1e3);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static void work_sleep(int n)
{
    for (int i = 0; i < n; i++)
        nanosleep(&(struct timespec){0, 2000000}, NULL); /* not over before it began */
}

static void work_touch(int n)
{
    static char *memory;

    if (!memory)
        memory = malloc((size_t)n << 20);
    if (memory)
        memset(memory, 1, (size_t)n << 20);
}

/* Many children that only exist. */
static void work_many(int n)
{
    for (int i = 0; i < n; i++)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                pause();
        }
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* ---- this machine ---- */

static void test_as_rusage(void **state)
{
    struct fixture *f = open_node("/", "/sys/fs/cgroup", CONF_OFF);
    struct child child = child_start(work_burn);
    void *step = attach(f, child.pid);
    struct counters_sample first = sample_of(f, step, 1), second;
    struct rusage usage;
    double counted_s;

    (void)state;
    child_do(&child, 200);
    second = sample_of(f, step, 1);
    usage = child_end(&child);
    counted_s = value(&second, COUNTER_CPU_NS) / 1e9;
    print_message("%s\n", f->say);
    assert_true(value(&first, COUNTER_CPU_NS) <= 0.2e9);
    assert_true(counted_s >= 0.2 - 0.025); /* two clock ticks */
    assert_true(counted_s <= seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime) + 0.025);
    assert_true(value(&second, COUNTER_USER_NS) + value(&second, COUNTER_SYSTEM_NS) ==
                value(&second, COUNTER_CPU_NS));
    assert_true(value(&second, COUNTER_THREADS) == 1);
    assert_true(value(&second, COUNTER_RSS_BYTES) > 100e3);
    assert_true(value(&second, COUNTER_FAULTS) <= usage.ru_minflt + usage.ru_majflt);
    assert_false(counters_know(&second, COUNTER_LOCK_WAIT_NS));
    assert_false(counters_know(&second, COUNTER_MIGRATIONS));
    assert_non_null(strstr(f->say, "lock time absent: lock_time=off"));
    counters_software.detach(f->state, step);
    close_node(f);
}

static void test_switches(void **state)
{
    struct fixture *f = open_node("/", "/sys/fs/cgroup", CONF_OFF);
    struct child child = child_start(work_sleep);
    void *step = attach(f, child.pid);
    struct counters_sample before = sample_of(f, step, 1), after;
    double slept;

    (void)state;
    child_do(&child, 50);
    after = sample_of(f, step, 1);
    slept = value(&after, COUNTER_VOLUNTARY) - value(&before, COUNTER_VOLUNTARY);
    assert_true(slept >= 50 && slept <= 100); /* and the pipe */
    assert_true(value(&after, COUNTER_SWITCHES) - value(&before, COUNTER_SWITCHES) >= 50);
    assert_true(value(&after, COUNTER_RUN_DELAY_NS) >= value(&before, COUNTER_RUN_DELAY_NS));
    child_end(&child);
    counters_software.detach(f->state, step);
    close_node(f);
}

static void test_memory(void **state)
{
    struct fixture *f = open_node("/", "/sys/fs/cgroup", CONF_OFF);
    struct child child = child_start(work_touch);
    struct counters_sample after;
    double sum = 0;
    void *step;

    (void)state;
    child_do(&child, 32);
    step = attach(f, child.pid);
    after = sample_of(f, step, 1);
    assert_int_equal(after.nodes, 0); /* nobody looks that early */
    after = sample_of(f, step, 9);
    assert_true(value(&after, COUNTER_RSS_BYTES) >= 32 << 20);
    if (access("/proc/self/numa_maps", R_OK) < 0) {
        print_message("this kernel has no numa_maps\n");
    } else {
        after = nodes_of(f, step, 0);
        for (size_t i = 0; i < after.nodes; i++)
            sum += after.rss_node[i];
        assert_true(sum >= 32 << 20);
    }
    child_end(&child);
    counters_software.detach(f->state, step);
    close_node(f);
}

static void assert_not_fallen(const struct counters_sample *before,
                              const struct counters_sample *after)
{
    for (int i = 0; i < COUNTERS; i++)
        if (!counter_info[i].gauge && counters_know(before, (enum counter)i) &&
            after->value[i] < before->value[i])
            fail_msg("%s fell from %.0f to %.0f", counter_info[i].name, before->value[i],
                     after->value[i]);
}

/* Children are born, seen or not, and waited for: their time is counted once. */
static void test_children(void **state)
{
    struct fixture *f = open_node("/", "/sys/fs/cgroup", CONF_OFF);
    struct child child = child_start(work_fork);
    void *step = attach(f, child.pid);
    struct counters_sample before = sample_of(f, step, 1), after;
    int n = 40;
    struct rusage usage;

    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(write(child.order, &n, sizeof(n)), sizeof(n));
        for (int j = 0; j < 6; j++) {
            nanosleep(&(struct timespec){0, 10 * 1000 * 1000}, NULL);
            after = sample_of(f, step, 0.5);
            assert_not_fallen(&before, &after);
            before = after;
        }
        assert_int_equal(read(child.done, &n, sizeof(n)), sizeof(n));
    }
    after = sample_of(f, step, 1);
    assert_not_fallen(&before, &after);
    usage = child_end(&child);
    assert_true(value(&after, COUNTER_CPU_NS) >= 5 * 0.03e9);
    /* its rusage does not have its children's; they ran for 0.2 s and forked */
    assert_true(value(&after, COUNTER_CPU_NS) / 1e9 <=
                0.5 + seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime));
    before = sample_of(f, step, 1); /* all have ended */
    assert_not_fallen(&after, &before);
    assert_true(value(&before, COUNTER_THREADS) == 0);
    counters_software.detach(f->state, step);
    close_node(f);
}

/* A thousand processes: not more descriptors than a quarter of what is allowed, two samples in a
 * row, and none until it is time again. */
static void test_many(void **state)
{
    struct fixture *f = open_node("/", "/sys/fs/cgroup", CONF_OFF);
    struct child child = child_start(work_many);
    size_t before = folder_count("/proc/self/fd");
    struct counters_sample sample;
    struct rlimit files;
    void *step;

    (void)state;
    child_do(&child, 1000);
    step = attach(f, child.pid);
    getrlimit(RLIMIT_NOFILE, &files);
    assert_true(folder_count("/proc/self/fd") - before <= files.rlim_cur / 4 + 2);
    sample = sample_of(f, step, 1);
    assert_true(value(&sample, COUNTER_THREADS) == 1001);
    assert_true(value(&sample, COUNTER_SWITCHES) >= 0);
    sample = sample_of(f, step, 1); /* the second one, for a rate */
    assert_true(value(&sample, COUNTER_THREADS) == 1001);
    sample = sample_of(f, step, 1);
    assert_false(counters_know(&sample, COUNTER_THREADS));
    assert_false(counters_know(&sample, COUNTER_SWITCHES));
    sample = sample_of(f, step, 1000);
    assert_true(value(&sample, COUNTER_THREADS) == 1001);
    counters_software.detach(f->state, step);
    assert_int_equal(folder_count("/proc/self/fd"), before);
    child_end(&child);
    close_node(f);
}

static void test_lock_time(void **state)
{
    struct fixture *f = open_node("/", "/sys/fs/cgroup", CONF_ON);
    struct child child = child_start(work_sleep);
    struct counters_sample sample;
    void *step;

    (void)state;
    if (!(f->can & 1u << COUNTER_LOCK_WAIT_NS)) {
        print_message("%s\n", f->say);
        child_end(&child);
        close_node(f);
        skip();
    }
    step = attach(f, child.pid);
    child_do(&child, 10);
    sample = sample_of(f, step, 1);
    assert_true(value(&sample, COUNTER_LOCK_WAIT_NS) == 0); /* it slept, for no lock */
    child_end(&child);
    counters_software.detach(f->state, step);
    close_node(f);
}

/* ---- recorded nodes ---- */

/* /proc/PID/stat with what matters here. */
static void put_stat(const char *root, int pid, int parent, int user, int waited, int faults,
                     int started)
{
    char path[64], text[512];

    snprintf(path, sizeof(path), "proc/%d/stat", pid);
    snprintf(text, sizeof(text),
             "%d (a) b (c)) S %d 1 1 0 -1 4194560 %d 0 0 0 %d 5 %d 0 20 0 2 0 %d 1000000 25 "
             "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
             pid, parent, faults, user, waited, started);
    folder_put(root, path, text);
}

static void put_thread(const char *root, int pid, int tid, long delay, int voluntary)
{
    char path[96], text[256];

    snprintf(path, sizeof(path), "proc/%d/task/%d/schedstat", pid, tid);
    snprintf(text, sizeof(text), "123456 %ld 17\n", delay);
    folder_put(root, path, text);
    snprintf(path, sizeof(path), "proc/%d/task/%d/status", pid, tid);
    snprintf(
        text, sizeof(text),
        "Name:\tx\nThreads:\t2\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t3\n",
        voluntary);
    folder_put(root, path, text);
    snprintf(path, sizeof(path), "proc/%d/task/%d/children", pid, tid);
    folder_put(root, path, "");
}

static void new_tree(char folder[64])
{
    folder_new(folder, 64, "test_software");
}

/* A node without taskstats and without cgroups of Slurm's. */
static void test_recorded_proc(void **state)
{
    double tick = 1e9 / (double)sysconf(_SC_CLK_TCK);
    struct counters_sample sample;
    struct fixture *f;
    char folder[64];
    void *step;

    (void)state;
    new_tree(folder);
    put_stat(folder, 100, 50, 10, 0, 7, 5000);
    put_thread(folder, 100, 100, 1000, 20);
    put_thread(folder, 100, 101, 500, 1);
    folder_put(folder, "proc/self/schedstat", "1 1 1\n");
    folder_put(folder, "proc/100/numa_maps",
               "7f00 default anon=4 dirty=4 N0=3 N1=1 kernelpagesize_kB=4\n"
               "7f10 default file=/dev/hugepages/x huge anon=2 N1=2 kernelpagesize_kB=2048\n");
    f = open_node(folder, "/sys/fs/cgroup", CONF_ON);
    assert_non_null(strstr(f->say, "/proc of each thread (a recorded tree has none)"));
    assert_true(f->can & 1u << COUNTER_RUN_DELAY_NS);
    assert_false(f->can & 1u << COUNTER_LOCK_WAIT_NS);
    step = attach(f, 100);
    put_stat(folder, 100, 50, 110, 30, 9, 5000);
    put_thread(folder, 100, 100, 4000, 25);
    sample = sample_of(f, step, 1);
    assert_true(value(&sample, COUNTER_USER_NS) == 130 * tick);
    assert_true(value(&sample, COUNTER_SYSTEM_NS) == 0);
    assert_true(value(&sample, COUNTER_FAULTS) == 2);
    assert_true(value(&sample, COUNTER_RUN_DELAY_NS) == 3000);
    assert_true(value(&sample, COUNTER_VOLUNTARY) == 5);
    assert_true(value(&sample, COUNTER_INVOLUNTARY) == 0);
    assert_true(value(&sample, COUNTER_SWITCHES) == 5);
    assert_true(value(&sample, COUNTER_THREADS) == 2);
    assert_true(value(&sample, COUNTER_RSS_BYTES) == 25.0 * (double)sysconf(_SC_PAGESIZE));
    sample = nodes_of(f, step, 9);
    assert_int_equal(sample.nodes, 2);
    assert_true(sample.rss_node[0] == 3 * 4096 && sample.rss_node[1] == 4096 + 2 * 2097152.0);
    counters_software.detach(f->state, step);
    close_node(f);
    assert_int_equal(folder_remove(folder), 0);
}

/* A process that lets nobody read its numa_maps (a FIFO into which nobody writes) keeps nothing
 * else of its step from being counted, and the backend ends. */
static void test_hung_maps(void **state)
{
    struct counters_sample sample;
    struct counters_about about;
    struct fixture *f;
    char folder[64], path[128];
    void *step;
    int fd;

    (void)state;
    new_tree(folder);
    put_stat(folder, 100, 50, 10, 0, 7, 5000);
    put_thread(folder, 100, 100, 1000, 20);
    snprintf(path, sizeof(path), "%s/proc/100/numa_maps", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    f = open_node(folder, "/sys/fs/cgroup", CONF_OFF);
    step = attach(f, 100);
    for (int i = 0; i < 5; i++) {
        sample = sample_of(f, step, 60);
        assert_int_equal(sample.nodes, 0);
        assert_true(value(&sample, COUNTER_THREADS) == 2);
    }
    assert_true(counters_software.part(f->state, 2, &about));
    assert_string_equal(about.name, "numa_maps");
    assert_true(about.used);
    assert_false(counters_software.part(f->state, 3, &about));
    counters_software.detach(f->state, step);
    close_node(f);
    assert_int_equal(close(fd), 0); /* who reads finds the end */
    assert_int_equal(folder_remove(folder), 0);
}

/* v1 with Slurm's accounting by cgroups: CPU time of all that ever ran, memory by node. */
static void test_recorded_cgroup1(void **state)
{
    static const char cpuacct[] = "sys/fs/cgroup/cpuacct/slurm_n1/uid_7/job_4711/step_0";
    static const char memory[] = "sys/fs/cgroup/memory/slurm_n1/uid_7/job_4711/step_0";
    struct counters_sample sample;
    char folder[64], path[256];
    struct fixture *f;
    void *step;

    (void)state;
    new_tree(folder);
    put_stat(folder, 100, 50, 10, 0, 7, 5000);
    put_thread(folder, 100, 100, 1000, 20);
    folder_put(folder, "proc/100/cgroup",
               "11:memory:/slurm_n1/uid_7/job_4711/step_0/task_0\n"
               "5:cpu,cpuacct:/slurm_n1/uid_7/job_4711/step_0/task_0\n0::/x\n");
    snprintf(path, sizeof(path), "%s/cpuacct.usage", cpuacct);
    folder_put(folder, path, "1000000000\n");
    snprintf(path, sizeof(path), "%s/cpuacct.stat", cpuacct);
    folder_put(folder, path, "user 90\nsystem 10\n");
    snprintf(path, sizeof(path), "%s/memory.numa_stat", memory);
    folder_put(folder, path,
               "total=9 N0=9 N1=0\nhierarchical_total=30 N0=20 N1=10\n"
               "hierarchical_anon=8 N0=5 N1=3\nhierarchical_unevictable=1 N0=0 N1=1\n");
    f = open_node(folder, "/sys/fs/cgroup", CONF_OFF);
    step = attach(f, 100);
    put_stat(folder, 100, 50, 500, 0, 7, 5000);
    snprintf(path, sizeof(path), "%s/cpuacct.usage", cpuacct);
    folder_put(folder, path, "3000000005\n");
    snprintf(path, sizeof(path), "%s/cpuacct.stat", cpuacct);
    folder_put(folder, path, "user 190\nsystem 110\n");
    sample = sample_of(f, step, 1);
    assert_true(value(&sample, COUNTER_CPU_NS) == 2000000005.0);
    assert_true(value(&sample, COUNTER_USER_NS) == 1e9);
    assert_true(value(&sample, COUNTER_SYSTEM_NS) == 1e9);
    assert_int_equal(sample.nodes, 2);
    assert_true(sample.rss_node[0] == 5.0 * (double)sysconf(_SC_PAGESIZE));
    assert_true(sample.rss_node[1] == 4.0 * (double)sysconf(_SC_PAGESIZE));
    counters_software.detach(f->state, step);
    close_node(f);
    assert_int_equal(folder_remove(folder), 0);
}

#define USER "sys/fs/cgroup/system.slice/slurmstepd.scope/job_4711/step_0/user"
#define FORKED 63

/* What version 2 counts in the folder of a step of 64 processes. */
static void put_folder(const char *folder, int seconds, int faults)
{
    char text[256];

    snprintf(text, sizeof(text), "usage_usec %d000000\nuser_usec %d000000\nsystem_usec 0\n",
             seconds, seconds);
    folder_put(folder, USER "/cpu.stat", text);
    snprintf(text, sizeof(text), "anon 4096\nfile_mapped 1\npgfault %d\n", faults);
    folder_put(folder, USER "/memory.stat", text);
}

/* Returns a descriptor that tells of each look at the stat of a process that is no task: to list
 * them, tasks are looked at, too. */
static int watch_stats(const char *folder)
{
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    char path[128];

    assert_true(fd >= 0);
    for (int pid = 101; pid <= 100 + FORKED; pid++) {
        snprintf(path, sizeof(path), "%s/proc/%d/stat", folder, pid);
        assert_true(inotify_add_watch(fd, path, IN_ACCESS) >= 0);
    }
    return fd;
}

/* How many of them were looked at since it was asked last. */
static size_t looks(int fd)
{
    static _Alignas(struct inotify_event) char events[16384];
    ssize_t got = read(fd, events, sizeof(events));

    return got < 0 ? 0 : (size_t)got / sizeof(struct inotify_event);
}

static void new_step_of_many(char folder[64])
{
    char children[1024] = "";

    new_tree(folder);
    for (int i = 0; i <= FORKED; i++) {
        put_stat(folder, 100 + i, i ? 100 : 50, 10, 0, 7, 5000);
        put_thread(folder, 100 + i, 100 + i, 1000, 20);
        snprintf(children + strlen(children), sizeof(children) - strlen(children), "%d ", 101 + i);
    }
    *strrchr(children, '1') = '\0'; /* of 64 */
    folder_put(folder, "proc/100/task/100/children", children);
    folder_put(folder, "proc/100/cgroup",
               "0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n");
}

/* Of a step with a folder of its own no process is read for what the folder counts: its threads
 * are, each five seconds, and not even they where the folder counts these, too. */
static void test_folder(void **state)
{
    struct counters_sample sample;
    char folder[64], path[256];
    struct fixture *f;
    void *step;
    int fd;

    (void)state;
    new_step_of_many(folder);
    put_folder(folder, 5, 100);
    folder_put(folder, USER "/memory.numa_stat", "anon N0=4096\n");
    f = open_node(folder, "/sys/fs/cgroup", CONF_OFF);
    step = attach(f, 100);
    fd = watch_stats(folder);
    for (int i = 1; i <= 4; i++) {
        put_folder(folder, 5 + i, 100 + i);
        put_stat(folder, 163, 100, 9999, 0, 9999, 5000);
        put_thread(folder, 163, 163, 1000 + i, 20);
        sample = sample_of(f, step, 1);
        assert_true(value(&sample, COUNTER_CPU_NS) == i * 1e9);
        assert_true(value(&sample, COUNTER_FAULTS) == i);
        assert_true(value(&sample, COUNTER_RSS_BYTES) == 4097);
        assert_int_equal(looks(fd), 0);
        if (!counters_know(&sample, COUNTER_THREADS))
            continue; /* they are not all looked at each second */
        assert_true(value(&sample, COUNTER_THREADS) == 2 * (FORKED + 1));
        assert_true(value(&sample, COUNTER_RUN_DELAY_NS) == i);
    }
    sample = sample_of(f, step, 5);
    assert_true(value(&sample, COUNTER_THREADS) == 2 * (FORKED + 1));
    assert_true(value(&sample, COUNTER_FAULTS) == 4);
    assert_int_equal(looks(fd), FORKED);
    counters_software.detach(f->state, step);
    folder_put(folder, USER "/pids.current", "7\n");
    step = attach(f, 100);
    looks(fd);
    sample = sample_of(f, step, 20);
    assert_true(value(&sample, COUNTER_THREADS) == 7);
    assert_true(value(&sample, COUNTER_RUN_DELAY_NS) == 0);
    assert_int_equal(looks(fd), 0);
    counters_software.detach(f->state, step);
    snprintf(path, sizeof(path), "%s/" USER "/memory.stat", folder);
    assert_int_equal(unlink(path), 0); /* then nobody else knows the faults */
    step = attach(f, 100);
    looks(fd);
    sample = sample_of(f, step, 1);
    assert_true(value(&sample, COUNTER_FAULTS) == 0);
    assert_int_equal(looks(fd), FORKED);
    counters_software.detach(f->state, step);
    close(fd);
    close_node(f);
    assert_int_equal(folder_remove(folder), 0);
}

/* Who has ended is not asked about any more; what he waited stays, and his stat, when it is read
 * the next time, tells that he has gone. */
static void test_folder_ends(void **state)
{
    struct counters_sample sample;
    char folder[64], path[128];
    struct fixture *f;
    void *step;

    (void)state;
    new_step_of_many(folder);
    put_folder(folder, 5, 100);
    folder_put(folder, USER "/memory.numa_stat", "anon N0=4096\n");
    f = open_node(folder, "/sys/fs/cgroup", CONF_OFF);
    step = attach(f, 100);
    put_thread(folder, 101, 101, 1500, 20);
    sample = sample_of(f, step, 1);
    assert_true(value(&sample, COUNTER_RUN_DELAY_NS) == 500);
    folder_put(folder, "proc/100/task/100/children", "102 103");
    snprintf(path, sizeof(path), "%s/proc/101/task", folder);
    assert_int_equal(folder_remove(path), 0);
    sample = sample_of(f, step, 1);
    assert_true(value(&sample, COUNTER_RUN_DELAY_NS) == 500);
    put_stat(folder, 101, 1, 10, 0, 7, 5001); /* somebody else has his number by now */
    put_thread(folder, 101, 101, 9000, 20);
    sample = sample_of(f, step, 2.6);
    assert_true(value(&sample, COUNTER_RUN_DELAY_NS) == 500);
    sample = sample_of(f, step, 60);
    assert_true(value(&sample, COUNTER_THREADS) == 2 * FORKED);
    assert_true(value(&sample, COUNTER_RUN_DELAY_NS) == 500);
    counters_software.detach(f->state, step);
    close_node(f);
    assert_int_equal(folder_remove(folder), 0);
}

/* A step that had ended when it was attached, and one whose processes all vanish. */
static void test_vanished(void **state)
{
    struct counters_sample sample;
    struct fixture *f;
    char folder[64];
    void *step;

    (void)state;
    new_tree(folder);
    f = open_node(folder, "/sys/fs/cgroup", CONF_OFF);
    step = attach(f, 100);
    sample = sample_of(f, step, 1);
    assert_true(value(&sample, COUNTER_THREADS) == 0);
    assert_false(counters_know(&sample, COUNTER_RUN_DELAY_NS));
    assert_int_equal(sample.nodes, 0);
    counters_software.detach(f->state, step);
    close_node(f);
    assert_int_equal(folder_remove(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_rusage),     cmocka_unit_test(test_switches),
        cmocka_unit_test(test_memory),        cmocka_unit_test(test_children),
        cmocka_unit_test(test_many),          cmocka_unit_test(test_lock_time),
        cmocka_unit_test(test_recorded_proc), cmocka_unit_test(test_recorded_cgroup1),
        cmocka_unit_test(test_folder),        cmocka_unit_test(test_folder_ends),
        cmocka_unit_test(test_vanished),      cmocka_unit_test(test_hung_maps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
