/* SPDX-License-Identifier: GPL-2.0-or-later */
/* silence_watch - see silence_watch.h
 *
 * A thread that is born between the reading of the list and the opening of its maker's events is in
 * the next list, so the list is read until it has nobody new; later ones inherit the events. The
 * records of one CPU are in the order of time, those of several are not: they are sorted at the
 * end. */
#include "tests/bench/silence_watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "packer/base/array.h"
#include "packer/base/clock.h"
#include "packer/base/file.h"
#include "packer/reuse/perf_ring.h"
#include "packer/system/perf_open.h"
#include "tests/bench/bench.h"

#define RING_ORDER 6      /* pages of records of a CPU: thousands of switches */
#define LOOK_S 0.1        /* between two looks at the records */
#define SCHEDSTAT_S 0.002 /* and at schedstat */

struct record {
    double at_s;
    pid_t thread;
    int cpu;
    bool out, preempted;
};

/* Of one thread: its burst so far, or what schedstat said last. */
struct seen {
    pid_t thread;
    double at_s, since_s, run_s; /* since_s NAN: it has no CPU; at_s NAN: it sleeps */
    unsigned long long run_ns, times;
    size_t bursts, last; /* by schedstat: how many, and where the last one is in the train */
    int fd;              /* of schedstat, -1 */
};

struct silence_watch {
    pid_t process;
    bool schedstat;
    struct silence_train train;
    struct perf_ring *ring; /* [cpus] */
    int *into;              /* [cpus] the event whose ring it is; -1 */
    size_t cpus;
    int *event;
    size_t events, events_room;
    struct record *record;
    size_t records, records_room;
    struct seen *seen;
    size_t seens, seens_room;
};

/* NULL: nobody has seen it yet. */
static struct seen *find_seen(const struct silence_watch *watch, pid_t thread)
{
    for (size_t i = 0; i < watch->seens; i++)
        if (watch->seen[i].thread == thread)
            return &watch->seen[i];
    return NULL;
}

static struct seen *seen_of(struct silence_watch *watch, pid_t thread)
{
    struct seen *seen = find_seen(watch, thread);

    if (seen)
        return seen;
    if (array_grow(&watch->seen, &watch->seens_room, watch->seens + 1, sizeof(*seen)) < 0)
        bench_die("threads", strerror(errno));
    seen = &watch->seen[watch->seens++];
    *seen = (struct seen){.thread = thread, .at_s = NAN, .since_s = NAN, .fd = -1};
    return seen;
}

/* Calls take() for each thread that nobody has seen yet; 0, or -1 when take() says so. */
static int each_new(struct silence_watch *watch, int (*take)(struct silence_watch *, pid_t))
{
    struct dirent *entry;
    char path[64];
    DIR *folder;
    int rc = 0;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)watch->process);
    folder = opendir(path);
    if (!folder)
        bench_die(path, strerror(errno));
    while (rc == 0 && (entry = readdir(folder))) {
        pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);

        if (thread <= 0 || find_seen(watch, thread))
            continue;
        silence_train_know(&watch->train, watch->process, thread);
        rc = take(watch, thread);
        seen_of(watch, thread);
    }
    closedir(folder);
    return rc;
}

/* ---- by records ---- */

static int event_open(pid_t thread, size_t cpu)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof(attr),
                                   .config = PERF_COUNT_SW_DUMMY,
                                   .context_switch = 1,
                                   .inherit = 1,
                                   .sample_id_all = 1,
                                   .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
                                   .use_clockid = 1,
                                   .clockid = CLOCK_MONOTONIC};

    return perf_open(&attr, thread, (int)cpu, -1, 0);
}

/* A ring of a CPU is that of its first event. */
static int event_tell(struct silence_watch *watch, int fd, size_t cpu)
{
    if (watch->into[cpu] >= 0)
        return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, watch->into[cpu]);
    if (perf_ring_map(&watch->ring[cpu], fd, RING_ORDER) < 0)
        return -1;
    watch->into[cpu] = fd;
    return 0;
}

/* One that has ended since is no failure. */
static int events_open(struct silence_watch *watch, pid_t thread)
{
    for (size_t cpu = 0; cpu < watch->cpus; cpu++) {
        int fd = event_open(thread, cpu);

        if (fd < 0 && (errno == ENODEV || errno == ESRCH || errno == EINVAL))
            continue; /* no such CPU now, no such thread */
        if (fd < 0)
            return -1;
        if (array_grow(&watch->event, &watch->events_room, watch->events + 1, sizeof(fd)) < 0)
            bench_die("events", strerror(errno));
        watch->event[watch->events++] = fd;
        if (event_tell(watch, fd, cpu) < 0)
            return -1;
    }
    return 0;
}

static void events_close(struct silence_watch *watch)
{
    for (size_t cpu = 0; watch->ring && cpu < watch->cpus; cpu++)
        perf_ring_unmap(&watch->ring[cpu]);
    for (size_t i = 0; i < watch->events; i++)
        close(watch->event[i]);
    watch->events = 0;
}

/* Returns whether there are records of this process. */
static bool records_open(struct silence_watch *watch)
{
    size_t before;

    watch->cpus = (size_t)sysconf(_SC_NPROCESSORS_CONF);
    watch->ring = calloc(watch->cpus, sizeof(*watch->ring));
    watch->into = calloc(watch->cpus, sizeof(*watch->into));
    if (!watch->ring || !watch->into)
        bench_die("rings", strerror(errno));
    for (size_t cpu = 0; cpu < watch->cpus; cpu++)
        watch->into[cpu] = -1;
    do {
        before = watch->seens;
        if (each_new(watch, events_open) < 0) {
            fprintf(stderr, "silence: no records of switches (%s): schedstat it is\n",
                    strerror(errno));
            events_close(watch);
            watch->seens = 0;
            return false;
        }
    } while (watch->seens > before);
    return watch->events > 0;
}

static void records_take(struct silence_watch *watch, size_t cpu)
{
    struct {
        struct perf_event_header header;
        uint32_t process, thread;
        uint64_t time_ns;
    } from;

    while (watch->ring[cpu].page && perf_ring_next(&watch->ring[cpu], &from, sizeof(from)) > 0) {
        if (from.header.type != PERF_RECORD_SWITCH)
            continue;
        if (array_grow(&watch->record, &watch->records_room, watch->records + 1,
                       sizeof(*watch->record)) < 0)
            bench_die("records", strerror(errno));
        watch->record[watch->records++] =
            (struct record){.at_s = (double)from.time_ns / 1e9,
                            .thread = (pid_t)from.thread,
                            .cpu = (int)cpu,
                            .out = from.header.misc & PERF_RECORD_MISC_SWITCH_OUT,
                            .preempted = from.header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT};
    }
}

static int by_time(const void *a, const void *b)
{
    const struct record *x = a, *y = b;

    return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

/* A thread gets a CPU, or leaves it; it sleeps then, unless somebody else had to have it. What was
 * under way when the watch began is not known, and left out. */
static void record_read(struct silence_watch *watch, const struct record *record)
{
    struct seen *seen = seen_of(watch, record->thread);

    if (!record->out) {
        seen->since_s = record->at_s;
        if (isnan(seen->at_s))
            seen->at_s = record->at_s;
        return;
    }
    if (isnan(seen->since_s))
        return;
    seen->run_s += record->at_s - seen->since_s;
    seen->since_s = NAN;
    if (record->preempted)
        return;
    silence_train_know(&watch->train, watch->process, record->thread);
    silence_train_add(&watch->train, &(struct silence_burst){.at_s = seen->at_s,
                                                             .end_s = record->at_s,
                                                             .run_s = seen->run_s,
                                                             .cpu = record->cpu,
                                                             .thread = record->thread});
    seen->at_s = NAN;
    seen->run_s = 0;
}

static void records_read(struct silence_watch *watch)
{
    if (watch->records > 0)
        qsort(watch->record, watch->records, sizeof(*watch->record), by_time);
    for (size_t i = 0; i < watch->records; i++)
        record_read(watch, &watch->record[i]);
    for (size_t cpu = 0; cpu < watch->cpus; cpu++)
        watch->train.lost += watch->ring[cpu].lost;
}

/* ---- by schedstat ---- */

static int schedstat_read(struct seen *seen, unsigned long long *run_ns, unsigned long long *times)
{
    char text[96] = "";

    if (seen->fd < 0 || pread(seen->fd, text, sizeof(text) - 1, 0) <= 0)
        return -1;
    return sscanf(text, "%llu %*u %llu", run_ns, times) == 2 ? 0 : -1;
}

static int schedstat_open(struct silence_watch *watch, pid_t thread)
{
    struct seen *seen = seen_of(watch, thread);
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)watch->process, (int)thread);
    seen->fd = open(path, O_RDONLY | O_CLOEXEC);
    schedstat_read(seen, &seen->run_ns, &seen->times);
    return 0;
}

/* It had a CPU for some time, and was given one so many times since the last look: so many bursts.
 * None: its last burst goes on. */
static void schedstat_look(struct silence_watch *watch, struct seen *seen, double now_s)
{
    unsigned long long run_ns, times, n;
    double run_s;

    if (schedstat_read(seen, &run_ns, &times) < 0)
        return;
    run_s = (double)(run_ns - seen->run_ns) / 1e9;
    n = times - seen->times;
    seen->run_ns = run_ns;
    seen->times = times;
    if (n == 0 && seen->bursts > 0 && run_s > 0) {
        watch->train.burst[seen->last].run_s += run_s;
        watch->train.burst[seen->last].end_s = now_s;
    }
    for (unsigned long long i = 0; i < n; i++, seen->bursts++) {
        seen->last = watch->train.n;
        silence_train_add(&watch->train, &(struct silence_burst){.at_s = now_s - SCHEDSTAT_S,
                                                                 .end_s = now_s,
                                                                 .run_s = run_s / (double)n,
                                                                 .cpu = SILENCE_CPU_ANY,
                                                                 .thread = seen->thread});
    }
}

/* ---- both ---- */

struct silence_watch *silence_watch_open(pid_t process, bool schedstat)
{
    struct silence_watch *watch = calloc(1, sizeof(*watch));

    if (!watch)
        bench_die("watch", strerror(errno));
    watch->process = process;
    watch->schedstat = schedstat || !records_open(watch);
    if (watch->schedstat)
        each_new(watch, schedstat_open);
    watch->train.by = watch->schedstat ? "schedstat" : "switches";
    watch->train.began_s = clock_s();
    return watch;
}

void silence_watch_look(struct silence_watch *watch)
{
    double now_s = clock_s();

    if (watch->schedstat)
        each_new(watch, schedstat_open);
    for (size_t i = 0; watch->schedstat && i < watch->seens; i++)
        schedstat_look(watch, &watch->seen[i], now_s);
    for (size_t cpu = 0; !watch->schedstat && cpu < watch->cpus; cpu++)
        records_take(watch, cpu);
}

void silence_watch_pass(struct silence_watch *watch, double seconds, void (*each)(double done))
{
    double began_s = clock_s(), told_s = -INFINITY, now_s;

    while ((now_s = clock_s()) < began_s + seconds) {
        if (each && now_s > told_s + 2 * LOOK_S) {
            each((now_s - began_s) / seconds);
            told_s = now_s;
        }
        silence_watch_look(watch);
        usleep((useconds_t)(1e6 * (watch->schedstat ? SCHEDSTAT_S : LOOK_S)));
    }
}

bool silence_watch_by_schedstat(const struct silence_watch *watch)
{
    return watch->schedstat;
}

void silence_watch_close(struct silence_watch *watch, struct silence_train *train)
{
    silence_watch_look(watch);
    watch->train.seconds = clock_s() - watch->train.began_s;
    if (!watch->schedstat)
        records_read(watch);
    silence_train_sort(&watch->train);
    *train = watch->train;
    for (size_t i = 0; i < watch->seens; i++)
        file_close(watch->seen[i].fd);
    events_close(watch);
    free(watch->ring);
    free(watch->into);
    free(watch->event);
    free(watch->record);
    free(watch->seen);
    free(watch);
}
