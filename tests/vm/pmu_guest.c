/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmu_guest - /init of the guest that tests/vm/pmu starts: the perf backend on a PMU, for real.
 *
 * Steps run loops of known length, each in a cgroup of its own that the backend makes, and the
 * backend counts them: alone on the PMU's counters, and with more events than it has counters. Each
 * line says what was seen; PMU-RC 0 at the end that all of it was right. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <unistd.h>

#include <perfmon/pfmlib.h>

#include "packer/base/library.h"
#include "packer/counters/counters.h"
#include "packer/counters/perf_events.h"

#define LOOP 100000000ull /* turns of the shorter loop, two instructions each */

static int failures;

/* ---- libpfm4, which is linked into this program: it has no loader ---- */

void *library_open(const char *name, const struct library_function *function, size_t n, void *table,
                   struct berth_error *err)
{
    static const struct {
        const char *name;
        void *address;
    } linked[] = {
        {"pfm_initialize", (void *)pfm_initialize},
        {"pfm_terminate", (void *)pfm_terminate},
        {"pfm_strerror", (void *)pfm_strerror},
        {"pfm_get_pmu_info", (void *)pfm_get_pmu_info},
        {"pfm_get_os_event_encoding", (void *)pfm_get_os_event_encoding},
    };

    for (size_t i = 0; i < n; i++) {
        size_t j = 0;

        while (j < sizeof(linked) / sizeof(linked[0]) && strcmp(linked[j].name, function[i].name))
            j++;
        if (j == sizeof(linked) / sizeof(linked[0])) {
            berth_error_set(err, "%s: no %s", name, function[i].name);
            return NULL;
        }
        memcpy((char *)table + function[i].offset, &linked[j].address, sizeof(void *));
    }
    return table;
}

void library_close(void *library)
{
    (void)library;
}

static void check(bool good, const char *what)
{
    printf("%s %s\n", good ? "ok" : "NOT OK", what);
    failures += !good;
}

static void need(bool good, const char *what)
{
    if (!good)
        printf("%s: %s\n", what, strerror(errno));
    failures += !good;
}

/* ---- the table's Arm sections, which only an Arm libpfm4 knows ---- */

static void check_section(const struct perf_table *table, const char *pmu)
{
    struct perf_events events;
    struct berth_error err = {""};
    char text[128];
    size_t wanted = 0, found = 0;

    if (perf_events_find(&events, table, pmu, NULL, NULL, &err) < 0)
        printf("%s: %s\n", pmu, err.text);
    for (int c = 0; c < COUNTERS; c++) {
        wanted += perf_table_mentions(table, pmu, (enum counter)c);
        found += events.sum[c].n > 0;
    }
    snprintf(text, sizeof(text), "%s: %zu of %zu counters, %zu events", pmu, found, wanted,
             events.n);
    check(found == wanted && found > 0, text);
}

static void check_table(void)
{
    static const char *const pmus[] = {"arm_n1", "arm_n2", "arm_v1", "arm_v2"};
    struct perf_table *table;
    struct berth_error err = {""};

    if (perf_table_read(&table, "/events.conf", &err) < 0) {
        check(false, err.text);
        return;
    }
    setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
    for (size_t i = 0; i < sizeof(pmus) / sizeof(pmus[0]); i++)
        check_section(table, pmus[i]);
    unsetenv("LIBPFM_ENCODE_INACTIVE");
    perf_table_free(table);
}

/* ---- steps ---- */

struct guest {
    struct rootfs root;
    struct topo topo;
    struct enforce enforce;
    struct conf conf;
    struct counters_node node;
    void *state;
    uint32_t can;
};

static void loop(uint64_t turns)
{
#ifdef __aarch64__
    __asm__ volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(turns) : : "cc");
#else
    for (volatile uint64_t i = 0; i < turns; i++)
        ;
#endif
}

/* A step that waits for a byte, runs the loop in a child, too, and ends. */
static pid_t start(uint64_t turns, int go)
{
    pid_t pid = fork(), child;
    char byte;

    if (pid != 0)
        return pid;
    if (read(go, &byte, 1) != 1)
        _exit(1);
    child = fork();
    loop(turns / 2);
    if (child > 0)
        waitpid(child, NULL, 0);
    _exit(0);
}

/* Read it every 20 ms until it has ended. */
static void watch(const struct guest *guest, const struct counters_target *target, void *step,
                  pid_t pid, struct counters_sample *sample)
{
    struct berth_error err;
    bool over;

    do {
        usleep(20000);
        over = waitpid(pid, NULL, WNOHANG) == pid;
        memset(sample, 0, sizeof(*sample));
        if (counters_perf.read(guest->state, step, target, sample, &err) < 0)
            check(false, err.text);
    } while (!over);
}

static void run_step(const struct guest *guest, uint64_t turns, struct counters_sample *sample)
{
    int go[2];
    struct enforce_task task = {0};
    struct enforce_step body = {.id = {1, 0}, .ntasks = 1, .task = &task};
    struct counters_target target = {.body = &body, .name = "loop", .cpus = guest->topo.cpus};
    struct berth_error err;
    void *step;

    need(pipe(go) == 0, "pipe");
    task.pid = start(turns, go[0]);
    if (counters_perf.attach(guest->state, &target, &step, &err) < 0) {
        check(false, err.text);
        return;
    }
    need(write(go[1], "x", 1) == 1, "write");
    watch(guest, &target, step, task.pid, sample);
    counters_perf.detach(guest->state, step);
    counters_perf.sweep(guest->state, NULL, 0);
    close(go[0]);
    close(go[1]);
}

static bool open_backend(struct guest *guest, const char *table)
{
    char say[COUNTERS_SAY];
    struct berth_error err;

    memset(guest, 0, sizeof(*guest));
    snprintf(guest->conf.event_table, sizeof(guest->conf.event_table), "%s", table);
    if (rootfs_open(&guest->root, "/", &err) < 0 ||
        enforce_open(&guest->enforce, &guest->root, "/sys/fs/cgroup", "dryrun", &err) < 0) {
        check(false, err.text);
        return false;
    }
    cpus_add(&guest->topo.cpus, 0);
    guest->node = (struct counters_node){.root = &guest->root,
                                         .topo = &guest->topo,
                                         .enforce = &guest->enforce,
                                         .conf = &guest->conf};
    if (counters_perf.open(&guest->node, &guest->state, &guest->can, say, &err) < 0) {
        check(false, err.text);
        return false;
    }
    printf("%s\n", say);
    return true;
}

/* ---- what has to come out ---- */

static void print_sample(const char *what, const struct counters_sample *sample)
{
    printf("%s:", what);
    for (int c = 0; c < COUNTERS; c++)
        if (counters_know(sample, (enum counter)c))
            printf(" %s %.0f", counter_info[c].name, sample->value[c]);
    printf("\n");
}

static void check_ratio(const struct counters_sample *once, const struct counters_sample *twice,
                        enum counter counter)
{
    double ratio = twice->value[counter] / once->value[counter];
    char text[128];

    snprintf(text, sizeof(text), "%s: twice the loop counts %.4f times", counter_info[counter].name,
             ratio);
    check(counters_know(once, counter) && counters_know(twice, counter) && ratio > 1.9 &&
              ratio < 2.1,
          text);
}

static void check_loops(const char *table)
{
    struct counters_sample once = {0}, twice = {0};
    struct guest guest;
    char text[128];
    double excess;

    if (!open_backend(&guest, table))
        return;
    run_step(&guest, LOOP, &once);
    run_step(&guest, 2 * LOOP, &twice);
    print_sample("once ", &once);
    print_sample("twice", &twice);
    check_ratio(&once, &twice, COUNTER_INSTRUCTIONS);
    check_ratio(&once, &twice, COUNTER_CYCLES);
    excess = twice.value[COUNTER_INSTRUCTIONS] / (4.0 * (double)LOOP) - 1;
    snprintf(text, sizeof(text), "instructions: %.3f %% more than the loop's own", excess * 100);
    check(excess > 0 && excess < 0.05, text);
    snprintf(text, sizeof(text), "instructions: stated standard error %.2g",
             twice.error[COUNTER_INSTRUCTIONS]);
    check(twice.error[COUNTER_INSTRUCTIONS] < 1e-6, text);
    counters_perf.close(guest.state);
}

/* More events than counters: the estimate is as near as its error says. */
static void check_turns(void)
{
    struct counters_sample sample = {0};
    struct guest guest;
    double got, error, off;
    char text[160];

    if (!open_backend(&guest, "/many.conf"))
        return;
    run_step(&guest, 4 * LOOP, &sample);
    print_sample("in turns", &sample);
    got = sample.value[COUNTER_LLC_MISSES];
    error = sample.error[COUNTER_LLC_MISSES];
    off = got / (8.0 * (double)LOOP) - 1;
    snprintf(text, sizeof(text),
             "instructions in turns with others: %.3f %% off, %.3f %% stated standard error",
             off * 100, error * 100);
    check(counters_know(&sample, COUNTER_LLC_MISSES) && error > 0 && fabs(off) < 4 * error + 0.02,
          text);
    counters_perf.close(guest.state);
}

int main(void)
{
    need(mount("none", "/proc", "proc", 0, NULL) == 0, "proc");
    need(mount("none", "/sys", "sysfs", 0, NULL) == 0, "sysfs");
    need(mount("none", "/sys/fs/cgroup", "cgroup2", 0, NULL) == 0, "cgroup2");
    setvbuf(stdout, NULL, _IOLBF, 0);
    check_table();
    check_loops("/events.conf");
    check_turns();
    printf("PMU-RC %d\n", failures);
    fflush(stdout);
    sync();
    reboot(RB_POWER_OFF);
    return 0;
}
