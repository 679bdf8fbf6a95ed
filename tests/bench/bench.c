/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bench - see bench.h */
#include "tests/bench/bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/daemon/pipeline.h"
#include "tests/unit/common/folder.h"

#define NO_SUCH_PID                                                                                \
    4194304 /* above the kernel's greatest: the cores are taken from the message                   \
             */

static const char *made;
static pid_t owner; /* children that exit do not remove it */

void bench_die(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, why);
    exit(1);
}

double bench_cpu_ms(void)
{
    return (double)clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1e6;
}

static void remove_folder(void)
{
    if (getpid() == owner)
        folder_remove(made);
}

void bench_folder(char *path)
{
    if (!mkdtemp(path))
        bench_die(path, strerror(errno));
    made = path;
    owner = getpid();
    atexit(remove_folder);
}

void bench_folder_make(char *path, size_t size)
{
    const char *wish = getenv("TMPDIR");

    snprintf(path, size, "%.60s/berth-bench.XXXXXX", wish && *wish ? wish : "/tmp");
    bench_folder(path);
}

void bench_conf(struct conf *conf, const char *folder)
{
    conf_init(conf);
    strcpy(conf->job_program, "off");
    conf->enforcement = CONF_ENFORCE_DRYRUN;
    conf->learn = CONF_OFF;
    conf->counters[0] = conf->energy[0] = '\0';
    strcpy(conf->ledger, "off");
    strcpy(conf->topology, "package:2 l3:12 core:8 pu:1");
    snprintf(conf->socket, sizeof(conf->socket), "%s/berthd.sock", folder);
    snprintf(conf->state_dir, sizeof(conf->state_dir), "%s", folder);
    conf->control = 0;
    snprintf(conf->profile_db, sizeof(conf->profile_db), "%s/profiles.db", folder);
    snprintf(conf->machine_profile, sizeof(conf->machine_profile), "%s/machine.json", folder);
    log_open(LOG_TARGET_STDERR, LOG_LEVEL_ERROR);
}

void bench_start(struct packer *packer, uint32_t job, const char *tag)
{
    struct wire_register request = {.id.job = job, .cpus_per_task = 1, .ntasks = 1};
    struct wire_answer answer = {0};
    char core[16];

    request.task = calloc(1, sizeof(*request.task));
    if (!request.task)
        bench_die("start", strerror(errno));
    request.task->pid = NO_SUCH_PID + (pid_t)job;
    wire_options_init(&request.options);
    request.options.mode = WIRE_MODE_AUTO;
    snprintf(request.options.tag, sizeof(request.options.tag), "%s", tag);
    snprintf(request.node, sizeof(request.node), "bench");
    snprintf(core, sizeof(core), "%u", job % BENCH_CORES);
    request.job_cores = request.step_cores = core;
    pipeline_start(packer, &request, &answer);
    if (!answer.ok)
        bench_die("registration", answer.error);
    wire_answer_clear(&answer);
}

static void put_zone(const char *folder, const char *zone, const char *name, double uj)
{
    char path[128], text[32];

    snprintf(path, sizeof(path), "sys/class/powercap/%s/name", zone);
    folder_put(folder, path, name);
    snprintf(path, sizeof(path), "sys/class/powercap/%s/max_energy_range_uj", zone);
    folder_put(folder, path, "262143328850\n");
    snprintf(path, sizeof(path), "sys/class/powercap/%s/energy_uj", zone);
    snprintf(text, sizeof(text), "%.0f\n", uj);
    folder_put(folder, path, text);
}

void bench_meters(const char *folder, double s)
{
    put_zone(folder, "intel-rapl:0", "package-0\n", 1e6 + s * 200e6);
    put_zone(folder, "intel-rapl:0:0", "dram\n", 1e6 + s * 20e6);
    put_zone(folder, "intel-rapl:1", "package-1\n", 1e6 + s * 180e6);
    put_zone(folder, "intel-rapl:1:0", "dram\n", 1e6 + s * 20e6);
    put_zone(folder, "intel-rapl:2", "psys\n", 1e6 + s * 500e6);
}

static void write_memory_node(FILE *file, unsigned node, unsigned cores)
{
    fprintf(file, "%s{\"node\":%u,\"cpus\":\"%u-%u\",\"cores\":%u,\"local_gbps\":[0",
            node ? "," : "", node, node * cores, (node + 1) * cores - 1, cores);
    for (unsigned i = 1; i <= cores; i++)
        fprintf(file, ",%u", i < cores / 2 ? i : cores / 2);
    fputs("]}", file);
}

void bench_machine(const char *folder, unsigned nodes, unsigned cores)
{
    char path[BENCH_FOLDER_MAX + 16];
    FILE *file;

    snprintf(path, sizeof(path), "%s/machine.json", folder);
    file = fopen(path, "w");
    if (!file)
        bench_die(path, strerror(errno));
    fputs("{\"version\":1,\"source\":\"made up\",\"runs\":1,\"nodes\":[", file);
    for (unsigned i = 0; i < nodes; i++)
        write_memory_node(file, i, cores);
    fputs("]}\n", file);
    fclose(file);
}
