/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registrations [N [LIVE [PER_MINUTE]]] - what N (1,000,000) registrations do to berthd with LIVE
 * (500) steps on a node of 192 cores and 24 caches, the ledger on: how long each is waited for,
 * the first thousand and the last, the CPU time that all takes, and whether memory and descriptors
 * grow. One after the other, or so many a minute. Run in the build folder.
 *
 * berthd runs for real as in tests/bench/register; each round registers a step of a new job and
 * ends the oldest one. At the end the ledger's records are counted: each step that ended has one.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "packer/base/array.h"
#include "packer/base/clock.h"
#include "packer/wire/wire.h"
#include "tests/bench/bench.h"
#include "tests/bench/berthd.h"

#define NO_SUCH_PID 4194304 /* above the kernel's greatest: the cores are those of the message */
#define PROGRAMS 32
#define LOOKS 200 /* at berthd's memory and descriptors */
#define PATIENCE_S 60
#define SOME 1000     /* of the first, and of the last ones */
#define LATE_US 50000 /* the plugin waits no longer for a registration */

struct look {
    long rss_kib, fds;
};

static char folder[] = "/tmp/berth-bench.XXXXXX";

static double start(uint32_t job)
{
    char tag[16];

    snprintf(tag, sizeof(tag), "p%u", job % PROGRAMS);
    return bench_register(job, tag, NO_SUCH_PID + (pid_t)job);
}

static double end(uint32_t job)
{
    struct wire_request request = {.op = WIRE_OP_END, .end = {.id.job = job, .user_s = 1}};

    return bench_ask(&request);
}

/* ---- berthd from outside ---- */

static long count_fds(pid_t pid)
{
    char path[64];
    long n = -2; /* . and .. */
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    dir = opendir(path);
    if (!dir)
        bench_die(path, strerror(errno));
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static struct look look(pid_t pid)
{
    return (struct look){bench_memory_kib(pid, "VmRSS"), count_fds(pid)};
}

static uint64_t count_records(void)
{
    char path[64];
    uint64_t n = 0;
    sqlite3_stmt *query;
    sqlite3 *db;

    snprintf(path, sizeof(path), "%s/ledger.db", folder);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, "select count(*) from ledger_record", -1, &query, NULL) ==
            SQLITE_OK) {
        if (sqlite3_step(query) == SQLITE_ROW)
            n = (uint64_t)sqlite3_column_int64(query, 0);
        sqlite3_finalize(query);
    }
    sqlite3_close(db);
    return n;
}

/* Waits until the ledger has so many records, or has got none for PATIENCE_S. */
static uint64_t wait_records(uint64_t wanted)
{
    uint64_t n = count_records(), before = n;

    for (int rest_s = 0; n < wanted && rest_s < PATIENCE_S; before = n) {
        sleep(1);
        n = count_records();
        rest_s = n == before ? rest_s + 1 : 0;
    }
    return n;
}

/* ---- figures ---- */

static float median_of(const float *us, size_t n)
{
    double *sorted = calloc(n + 1, sizeof(*sorted)), median;

    if (!sorted)
        bench_die("calloc", strerror(errno));
    for (size_t i = 0; i < n; i++)
        sorted[i] = (double)us[i];
    median = array_median(sorted, n);
    free(sorted);
    return (float)median;
}

static void print_drift(const float *us, size_t n)
{
    size_t some = n < SOME ? n : SOME;

    printf("the first %-4zu           p50 %7.3f ms, the last %zu p50 %7.3f ms\n", some,
           (double)median_of(us, some) / 1e3, some, (double)median_of(us + n - some, some) / 1e3);
}

static int by_value(const void *a, const void *b)
{
    const float *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void print_times(const char *what, float *us, size_t n)
{
    size_t late = 0;

    qsort(us, n, sizeof(*us), by_value);
    while (late < n && us[n - 1 - late] > LATE_US)
        late++;
    printf("%-14s %9zu  p50 %7.3f  p99 %7.3f  p99.9 %7.3f  max %8.3f ms  later than 50 ms: %zu\n",
           what, n, (double)us[n / 2] / 1e3, (double)us[n - 1 - n / 100] / 1e3,
           (double)us[n - 1 - n / 1000] / 1e3, (double)us[n - 1] / 1e3, late);
}

/* The greatest of the looks [from, to). */
static struct look greatest(const struct look *looks, size_t from, size_t to)
{
    struct look most = looks[from];

    for (size_t i = from; i < to; i++) {
        if (looks[i].rss_kib > most.rss_kib)
            most.rss_kib = looks[i].rss_kib;
        if (looks[i].fds > most.fds)
            most.fds = looks[i].fds;
    }
    return most;
}

static void print_looks(const struct look *looks, size_t n)
{
    struct look third = greatest(looks, n / 2, n - n / 4), last = greatest(looks, n - n / 4, n);

    printf("memory         %9.1f MiB at half, %.1f at the end; at most %.1f in the third quarter, "
           "%.1f in the last\n",
           (double)looks[n / 2].rss_kib / 1024, (double)looks[n - 1].rss_kib / 1024,
           (double)third.rss_kib / 1024, (double)last.rss_kib / 1024);
    printf("descriptors    %9ld at half, %ld at the end; at most %ld in the third quarter, %ld in "
           "the last\n",
           looks[n / 2].fds, looks[n - 1].fds, third.fds, last.fds);
}

static void show_progress(size_t done, size_t n, double began_s)
{
    double s = clock_s() - began_s;

    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%3zu %%, %.0f s left ", done * 100 / n,
                s * (double)(n - done) / (double)done);
    if (isatty(STDERR_FILENO) && done == n)
        fputc('\n', stderr);
}

/* Waits until the i-th of so many a minute is due; 0: at once. */
static void wait_turn(double began_s, size_t i, double per_minute)
{
    double left_s = per_minute > 0 ? began_s + (double)i * 60 / per_minute - clock_s() : 0;

    if (left_s > 0)
        usleep((useconds_t)(left_s * 1e6));
}

/* Returns whether all is well. */
static bool measure(pid_t daemon, uint32_t live, size_t n, double per_minute)
{
    double run[2], wait;
    float *starts = calloc(n, sizeof(*starts)), *ends = calloc(n, sizeof(*ends));
    struct look *looks = calloc(LOOKS + 1, sizeof(*looks));
    double began_s = clock_s();
    size_t nlooks = 0;
    uint64_t records;

    if (!starts || !ends || !looks)
        bench_die("calloc", strerror(errno));
    for (uint32_t job = 1; job <= live; job++)
        start(job);
    began_s = clock_s();
    bench_cpu_us(daemon, &run[0], &wait);
    for (size_t i = 0; i < n; i++) {
        wait_turn(began_s, i, per_minute);
        starts[i] = (float)start(live + 1 + (uint32_t)i);
        ends[i] = (float)end(1 + (uint32_t)i);
        if ((i + 1) % (n / LOOKS + 1) == 0 || i + 1 == n) {
            looks[nlooks++] = look(daemon);
            show_progress(i + 1, n, began_s);
        }
    }
    bench_cpu_us(daemon, &run[1], &wait);
    printf("CPU time       %9.3f ms for each and an end, %.1f %% of a core\n",
           (run[1] - run[0]) / 1e3 / (double)n,
           100 * (run[1] - run[0]) / 1e6 / (clock_s() - began_s));
    print_drift(starts, n);
    print_times("registrations", starts, n);
    print_times("ends", ends, n);
    print_looks(looks, nlooks);
    records = wait_records(n);
    printf("records        %9lu of %zu in the ledger%s\n", records, n,
           records == n ? "" : ": SOME ARE MISSING");
    free(starts);
    free(ends);
    free(looks);
    return records == n;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000000, live = argc > 2 ? atol(argv[2]) : 500;
    double per_minute = argc > 3 ? atof(argv[3]) : 0;
    pid_t daemon;
    bool well;

    if (n < 8 || live < 0 || live > UINT16_MAX || n > INT32_MAX - live || per_minute < 0) {
        fprintf(stderr, "usage: registrations [N [LIVE [PER_MINUTE]]]\n");
        return 2;
    }
    bench_folder(folder);
    daemon = bench_berthd_start(folder, "sweep = 3600s\ncounters = software\n");
    well = measure(daemon, (uint32_t)live, (size_t)n, per_minute);
    bench_berthd_stop(daemon);
    return well ? 0 : 1;
}
