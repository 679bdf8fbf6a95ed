/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bill [STEPS [ROUNDS]] - what the bill costs with STEPS (200) steps on a node of 192 cores, two
 * packages with their memory and a platform meter, over ROUNDS (200) intervals.
 *
 * Meters are powercap's files in a folder; busy time is this machine's /proc/stat with the lines of
 * 192 CPUs. A turn reads both, divides five zones and, when it is time, writes the state file.
 * Timed is the CPU time of this thread. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "packer/base/array.h"
#include "packer/bill/parts.h"
#include "packer/daemon/open.h"
#include "packer/daemon/pipeline.h"
#include "tests/bench/bench.h"
#include "tests/unit/common/folder.h"

static char folder[] = "/tmp/berth-bench.XXXXXX";
static struct packer packer;

/* So much time has passed. */
static void put_files(double s)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    bench_meters(folder, s);
    if (!out)
        bench_die("memory", strerror(errno));
    for (int cpu = 0; cpu < BENCH_CORES; cpu++)
        fprintf(out, "cpu%d %.0f 0 0 0 0 0 0 0 0 0\n", cpu, s * (cpu * 37 % 101));
    fclose(out);
    folder_put(folder, "proc/stat", text);
    free(text);
}

static void open_node(double now_s)
{
    struct berth_error err;
    struct conf conf;

    bench_folder(folder);
    folder_put(folder, "pool/.here", "");
    put_files(0);
    bench_conf(&conf, folder);
    strcpy(conf.energy, "powercap");
    snprintf(conf.energy_root, sizeof(conf.energy_root), "%s", folder);
    if (packer_open(&packer, &conf, &err) < 0)
        bench_die("packer", err.text);
    bill_close(packer.state->bill);
    packer.state->bill = NULL;
    rootfs_close(&packer.world.root);
    if (rootfs_open(&packer.world.root, folder, &err) < 0 ||
        bill_open_at(&packer.state->bill, &packer, now_s, &err) < 0)
        bench_die("bill", err.text);
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 200, rounds = argc > 2 ? atol(argv[2]) : 200;
    double *ms, median,
        now_s = clock_s() + 1e6; /* its own clock: the pipeline's turns do nothing */

    if (steps < 1 || rounds < 1 || argc > 3) {
        fprintf(stderr, "usage: bill [STEPS [ROUNDS]]\n");
        return 2;
    }
    ms = calloc((size_t)rounds, sizeof(*ms));
    if (!ms)
        bench_die("start", strerror(errno));
    open_node(now_s);
    if (packer.state->bill->zones != 5)
        bench_die("meters", "not all of them are read");
    for (long job = 1; job <= steps; job++)
        bench_start(&packer, (uint32_t)job, "");
    for (long i = 0; i < rounds; i++) {
        double began;

        put_files((double)(i + 1));
        began = bench_cpu_ms();
        bill_turn_at(&packer, now_s + (double)(i + 1));
        ms[i] = bench_cpu_ms() - began;
    }
    median = array_median(ms, (size_t)rounds);
    printf("%ld steps, %zu zones: median %.3f ms of CPU time, worst %.3f ms of %ld; once a second "
           "%.3f %% of a core\n",
           steps, packer.state->bill->zones, median, ms[rounds - 1], rounds, median / 10);
    packer_close(&packer);
    free(ms);
    return 0;
}
