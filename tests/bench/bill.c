/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bill [STEPS [ROUNDS]] - what the bill costs with STEPS (200) steps on a node of 192 cores, two
 * packages with their memory and a platform meter, over ROUNDS (200) intervals.
 *
 * Meters are powercap's files in a folder; busy time is this machine's /proc/stat with the lines of
 * 192 CPUs. A turn reads both, divides five zones and, once a second, writes the state file. Timed
 * is the CPU time of this thread. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "packer/bill/parts.h"
#include "packer/daemon/open.h"
#include "packer/daemon/pipeline.h"
#include "tests/bench/folder.h"

#define CORES 192

static char folder[] = "/tmp/berth-bench.XXXXXX";
static struct packer packer;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bill: %s: %s\n", what, why);
    exit(1);
}

static double cpu_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void put(const char *file, const char *text)
{
    char path[256], *slash;
    FILE *out;

    snprintf(path, sizeof(path), "%s/%s", folder, file);
    for (slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    out = fopen(path, "w");
    if (!out || fputs(text, out) < 0 || fclose(out) != 0)
        die(path, strerror(errno));
}

static void put_zone(const char *zone, const char *name, double uj)
{
    char path[128], text[32];

    snprintf(path, sizeof(path), "sys/class/powercap/%s/name", zone);
    put(path, name);
    snprintf(path, sizeof(path), "sys/class/powercap/%s/max_energy_range_uj", zone);
    put(path, "262143328850\n");
    snprintf(path, sizeof(path), "sys/class/powercap/%s/energy_uj", zone);
    snprintf(text, sizeof(text), "%.0f\n", uj);
    put(path, text);
}

/* So much time has passed. */
static void put_files(double s)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    put_zone("intel-rapl:0", "package-0\n", 1e6 + s * 200e6);
    put_zone("intel-rapl:0:0", "dram\n", 1e6 + s * 20e6);
    put_zone("intel-rapl:1", "package-1\n", 1e6 + s * 180e6);
    put_zone("intel-rapl:1:0", "dram\n", 1e6 + s * 20e6);
    put_zone("intel-rapl:2", "psys\n", 1e6 + s * 500e6);
    if (!out)
        die("memory", strerror(errno));
    for (int cpu = 0; cpu < CORES; cpu++)
        fprintf(out, "cpu%d %.0f 0 0 0 0 0 0 0 0 0\n", cpu, s * (cpu * 37 % 101));
    fclose(out);
    put("proc/stat", text);
    free(text);
}

static void open_node(double now_s)
{
    struct berth_error err;
    struct conf conf;

    if (bench_folder(folder) < 0)
        die(folder, strerror(errno));
    put("pool/.here", "");
    put_files(0);
    conf_init(&conf);
    conf.enforcement = CONF_ENFORCE_DRYRUN;
    conf.learn = CONF_OFF;
    conf.counters[0] = '\0';
    strcpy(conf.energy, "powercap");
    snprintf(conf.energy_root, sizeof(conf.energy_root), "%s", folder);
    snprintf(conf.socket, sizeof(conf.socket), "%s/berthd.sock", folder);
    snprintf(conf.state_dir, sizeof(conf.state_dir), "%s", folder);
    snprintf(conf.profile_db, sizeof(conf.profile_db), "%s/profiles.db", folder);
    snprintf(conf.machine_profile, sizeof(conf.machine_profile), "%s/machine.json", folder);
    snprintf(conf.ledger, sizeof(conf.ledger), "off");
    snprintf(conf.topology, sizeof(conf.topology), "package:2 l3:12 core:8 pu:1");
    log_open(LOG_TARGET_STDERR, LOG_LEVEL_ERROR);
    if (packer_open(&packer, &conf, &err) < 0)
        die("packer", err.text);
    bill_close(packer.bill);
    packer.bill = NULL;
    rootfs_close(&packer.root);
    if (rootfs_open(&packer.root, folder, &err) < 0 ||
        bill_open_at(&packer.bill, &packer, now_s, &err) < 0)
        die("bill", err.text);
}

static void start(uint32_t job)
{
    struct wire_register request = {.id.job = job, .cpus_per_task = 1, .ntasks = 1};
    struct wire_answer answer = {0};

    request.task = calloc(1, sizeof(*request.task));
    if (!request.task)
        die("start", strerror(errno));
    request.task->pid = 4194304 + (pid_t)job; /* above the kernel's greatest */
    wire_options_init(&request.options);
    request.options.mode = WIRE_MODE_AUTO;
    snprintf(request.node, sizeof(request.node), "bench");
    snprintf(request.job_cores, sizeof(request.job_cores), "%u", job % CORES);
    snprintf(request.step_cores, sizeof(request.step_cores), "%u", job % CORES);
    pipeline_start(&packer, &request, &answer);
    if (!answer.ok)
        die("registration", answer.error);
    wire_answer_clear(&answer);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 200, rounds = argc > 2 ? atol(argv[2]) : 200;
    double *ms, now_s = clock_s() + 1e6; /* its own clock: the pipeline's turns do nothing */

    if (steps < 1 || rounds < 1 || argc > 3) {
        fprintf(stderr, "usage: bill [STEPS [ROUNDS]]\n");
        return 2;
    }
    ms = calloc((size_t)rounds, sizeof(*ms));
    if (!ms)
        die("start", strerror(errno));
    open_node(now_s);
    if (packer.bill->zones != 5)
        die("meters", "not all of them are read");
    for (long job = 1; job <= steps; job++)
        start((uint32_t)job);
    for (long i = 0; i < rounds; i++) {
        double began;

        put_files((double)(i + 1));
        began = cpu_ms();
        bill_turn_at(&packer, now_s + (double)(i + 1));
        ms[i] = cpu_ms() - began;
    }
    qsort(ms, (size_t)rounds, sizeof(*ms), compare);
    printf("%ld steps, %zu zones: median %.3f ms of CPU time, worst %.3f ms of %ld; once a second "
           "%.3f %% of a core\n",
           steps, packer.bill->zones, ms[rounds / 2], ms[rounds - 1], rounds, ms[rounds / 2] / 10);
    packer_close(&packer);
    free(ms);
    return 0;
}
