/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replace [STEPS [ROUNDS]] - what berthd's counting and re-placement cost with STEPS (200) steps on
 * a node of 192 cores and 24 caches, over ROUNDS (60) windows.
 *
 * The whole pipeline in this process, its counters played from a recording of 40 programs that miss
 * from 10 to 30000 times per million instructions; enforcement=dryrun, for this machine has not 192
 * cores. A steady round reads every step and finds nothing new; a deciding round finds a rate
 * changed, decides anew where everybody stands, and predicts what that gains; before it is steady,
 * some of these also move steps. Timed is the CPU time
 * of this thread. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/base/array.h"
#include "packer/daemon/open.h"
#include "packer/daemon/pipeline.h"
#include "packer/observe/window.h"
#include "tests/bench/bench.h"
#include "tests/unit/common/folder.h"

#define PROGRAMS 40
#define MOVING 30 /* rounds until everybody stands where he shall */

static char folder[] = "/tmp/berth-bench.XXXXXX";
static struct packer packer;

/* Each program at one second and at two: steady rates. */
static void write_recording(const char *path)
{
    FILE *file = fopen(path, "w");

    if (!file)
        bench_die(path, strerror(errno));
    fprintf(file, "step,at,instructions,cycles,llc_accesses,llc_misses,bytes,cpu_ns\n");
    for (int i = 0; i < PROGRAMS; i++)
        for (int at = 1; at <= 2; at++) {
            double misses = exp(log(10) + log(3000) * i / (PROGRAMS - 1)); /* per 10^6 */
            double instructions = 4e9 / (1 + misses / 3000);

            fprintf(file, "p%d,%d,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f\n", i, at, at * instructions,
                    at * 3e9, at * instructions * misses * 2e-6, at * instructions * misses * 1e-6,
                    at * instructions * misses * 64e-6, at * 1e9);
        }
    fclose(file);
}

static void open_node(void)
{
    struct berth_error err;
    struct conf conf;

    bench_folder(folder);
    bench_conf(&conf, folder);
    conf.replace_limit = 600;
    snprintf(conf.counters_replay, sizeof(conf.counters_replay), "%s/samples.csv", folder);
    write_recording(conf.counters_replay);
    folder_make(folder, "pool");
    if (packer_open(&packer, &conf, &err) < 0)
        bench_die("packer", err.text);
}

/* Every step is so old, and its window over. */
static double round_ms(double age_s, bool decide)
{
    struct step *step;
    double began;

    TAILQ_FOREACH(step, &packer.steps->live, link)
    {
        step->started_mono_s = clock_s() - age_s;
        step->counts->due_s = 0;
    }
    step = TAILQ_FIRST(&packer.steps->live);
    if (decide && step) /* what was counted is off that */
        step->profile.miss_pmi = 2 * step->profile.miss_pmi + 100;
    began = bench_cpu_ms();
    pipeline_observe(&packer);
    return bench_cpu_ms() - began;
}

static void report(const char *what, double *ms, size_t n)
{
    double median = array_median(ms, n);

    printf(
        "%s: median %.3f ms of CPU time, worst %.3f ms of %zu; once a second %.3f %% of a core\n",
        what, median, ms[n - 1], n, median / 10);
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 200, rounds = argc > 2 ? atol(argv[2]) : 60;
    double *steady, *deciding, moving[MOVING], age = 1;
    char tag[32];

    if (steps < 1 || rounds < 1 || argc > 3) {
        fprintf(stderr, "usage: replace [STEPS [ROUNDS]]\n");
        return 2;
    }
    steady = calloc((size_t)rounds, sizeof(*steady));
    deciding = calloc((size_t)rounds, sizeof(*deciding));
    if (!steady || !deciding)
        bench_die("start", strerror(errno));
    open_node();
    for (long job = 1; job <= steps; job++) {
        snprintf(tag, sizeof(tag), "p%ld", job * 7 % PROGRAMS);
        bench_start(&packer, (uint32_t)job, tag);
    }
    packer.world.conf.replace_horizon_ms = 0; /* no proposal pays: there is one each time */
    for (int i = 0; i < 3; i++)
        round_ms(age++, false);
    for (long i = 0; i < rounds; i++)
        deciding[i] = round_ms(age++, true);
    packer.world.conf.replace_horizon_ms = 60000;
    for (int i = 0; i < MOVING; i++) /* until everybody stands where he shall */
        moving[i] = round_ms(age++, true);
    printf("%ld steps, %llu moves before it is steady\n", steps,
           (unsigned long long)packer.state->tally->moves);
    for (long i = 0; i < rounds; i++)
        steady[i] = round_ms(age++, false);
    report("steady round", steady, (size_t)rounds);
    report("deciding round", deciding, (size_t)rounds);
    report("round that may move them", moving, MOVING);
    packer_close(&packer);
    return 0;
}
