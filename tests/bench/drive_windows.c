/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drive_windows - see drive_windows.h */
#include "tests/bench/drive_windows.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/bench.h"
#include "tests/bench/berthd.h"
#include "tests/bench/known.h"
#include "tests/bench/played.h"
#include "tests/unit/common/folder.h"

#define STEPS 200
#define PROGRAMS 40
#define SAMPLES 400 /* seconds of the recording */
#define PERIOD_S 20 /* so long a program keeps its rates; a quarter of them changes each second */
#define SETTLE 20   /* windows that are not printed */
#define SECOND 1000000000ll
#define NO_SUCH_PID 4194304 /* above the kernel's greatest */

static double misses_of(int program, int at)
{
    bool high = (at + program) / PERIOD_S % 2;

    return exp(log(10) + log(3000) * program / (PROGRAMS - 1)) * (high ? 3 : 1);
}

/* Misses from 10 to 90000 per million instructions. CPU time is known as cgroups know it: nobody
 * has to read processes for that. */
static void write_recording(const char *path)
{
    FILE *file = fopen(path, "w");

    if (!file)
        bench_die(path, strerror(errno));
    fprintf(file, "step,at,instructions,cycles,llc_accesses,llc_misses,bytes,cpu_ns,user_ns,"
                  "system_ns\n");
    for (int i = 0; i < PROGRAMS; i++) {
        double done = 0, missed = 0;

        for (int at = 0; at <= SAMPLES; at++) {
            double now = 4e9 / (1 + misses_of(i, at) / 3000);

            fprintf(file, "p%d,%d,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f\n", i, at, done, at * 3e9,
                    2 * missed, missed, 64 * missed, at * 1e9, at * 0.99e9, at * 0.01e9);
            done += now;
            missed += now * misses_of(i, at) * 1e-6;
        }
    }
    fclose(file);
}

static void write_conf(const char *build, const char *folder)
{
    char lines[2048], path[4200];
    FILE *file;

    snprintf(lines, sizeof(lines),
             "control = 0\nsocket = %s/berthd.sock\nstate_dir = %s\nprofile_db = %s/profiles.db\n"
             "machine_profile = %s/machine.json\nledger_queue = %s/queue\n"
             "topology = package:2 l3:12 core:8 pu:1\n"
             "ledger = off\ncounters_replay = %s/samples.csv\nenforcement = dryrun\n"
             "sweep = 3600s\nenergy =\nmemory_rate = 0\nreplace_limit = 0\nlog_level = error\n",
             folder, folder, folder, folder, folder, folder);
    snprintf(path, sizeof(path), "%s/berth.conf", folder);
    file = fopen(path, "w");
    if (!file)
        bench_die(path, strerror(errno));
    snprintf(path, sizeof(path), "%.4000s/berthd", build);
    if (known_lines(path, lines, file) < 0)
        bench_die(path, strerror(errno));
    fclose(file);
}

static void tick(const struct played *played, int64_t now, int64_t *until)
{
    struct berth_error err;

    if (played_tick(played, now, until, &err) < 0)
        bench_die("drive", err.text);
}

/* All that is due until then. */
static void advance(const struct played *played, int64_t from, int64_t to)
{
    int64_t until = from;

    for (int64_t now = from; now < to;) {
        tick(played, now, &until);
        now = until > now && until < to ? until : to;
    }
    tick(played, to, &until);
}

static void start(uint32_t job)
{
    char tag[16];

    snprintf(tag, sizeof(tag), "p%u", job * 7 % PROGRAMS);
    bench_register(job, tag, NO_SUCH_PID + (pid_t)job);
}

/* The step that came first ends, and another one starts. */
static void follow(uint32_t job)
{
    struct wire_request request = {.op = WIRE_OP_END, .end = {.id.job = job}};

    bench_ask(&request);
    start(job + STEPS);
}

/* Prints the CPU time of each of the windows [from, to); with decisions, a step comes before each,
 * and another one goes. Returns `to`. */
static long windows(const struct played *played, const char *figure, long from, long to,
                    bool decisions)
{
    double run[2], wait;
    int64_t until;

    for (long i = from; i < to; i++) {
        if (decisions)
            follow((uint32_t)i + 1);
        tick(played, i * SECOND, &until);
        bench_cpu_us(played->pid, &run[0], &wait);
        advance(played, i * SECOND, (i + 1) * SECOND);
        bench_cpu_us(played->pid, &run[1], &wait);
        if (figure)
            printf("%s %.6f\n", figure, (run[1] - run[0]) / 1e3);
    }
    return to;
}

void drive_windows(const char *build, const char *folder, long n)
{
    char path[BENCH_FOLDER_MAX + 16];
    struct played played;
    struct berth_error err;
    int64_t until;
    long at;

    snprintf(path, sizeof(path), "%s/samples.csv", folder);
    write_recording(path);
    write_conf(build, folder);
    folder_put(folder, "stat", "cpu  0 0 0 0 0 0 0 0 0 0\n");
    if (played_start(&played, build, folder, &err) < 0)
        bench_die("drive", err.text);
    tick(&played, 0, &until);
    bench_berthd_at(folder);
    for (uint32_t job = 1; job <= STEPS; job++)
        start(job);
    at = windows(&played, NULL, 0, SETTLE, false);
    at = windows(&played, "rates", at, at + n, false);
    windows(&played, "deciding", at, at + n, true);
    played_stop(&played);
}
