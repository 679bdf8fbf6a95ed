/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger [-n RECORDS] [-p US] [-u URL] [-d FOLDER] [-s FOLDER] - what one record costs the event
 * loop, and how many of them a second the ledger's thread brings to the database.
 *
 * RECORDS (10000) are added, US (100) microseconds apart (0: as fast as can be), to a ledger in
 * FOLDER (a new one below /tmp, removed again; another disk costs something else) or at URL (a
 * MariaDB database, say; the records stay there), by way of a state folder in
 * /dev/shm, or in the -s FOLDER. Then it is timed how long the rest takes to
 * arrive. Instructions: valgrind --tool=callgrind --toggle-collect=ledger_add. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "packer/base/array.h"
#include "packer/base/clock.h"
#include "packer/conf/conf.h"
#include "packer/ledger/ledger.h"
#include "packer/ledger/schema.h"
#include "tests/bench/bench.h"
#include "tests/unit/common/folder.h"

struct options {
    unsigned records, pause_us;
    const char *url, *folder, *state;
};

/* How often this thread has waited for something. */
static long waits(void)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

/* The n-th record, with everything measured. */
static void make_record(unsigned n, struct ledger_record *record)
{
    ledger_record_init(record);
    strcpy(record->cluster, "cluster");
    strcpy(record->node, "node17");
    record->id = (struct wire_step_id){100000 + n, n % 4};
    record->uid = 1000 + n % 50;
    snprintf(record->user, sizeof(record->user), "user%u", n % 50);
    snprintf(record->identity, sizeof(record->identity), "slurmctld");
    snprintf(record->account, sizeof(record->account), "account%u", n % 10);
    strcpy(record->qos, "normal");
    strcpy(record->partition, "long");
    strcpy(record->job_name, "a job of the usual sort");
    strcpy(record->program, "solver");
    record->start = 1700000000 + n * 7;
    record->end = record->start + 600;
    record->elapsed_s = 600.25;
    record->exit_status = 0;
    strcpy(record->state, "placed");
    record->tasks = record->cores_given = record->cores_used = 8;
    strcpy(record->home, "0-7");
    strcpy(record->cpus, "0-3,8-11");
    strcpy(record->policy, "di");
    record->user_s = 4711.123 + n;
    record->system_s = 12.5;
    record->maxrss_kib = 1234567;
    record->instructions = 5e12 + n;
    record->llc_misses = 3e9;
    record->memory_bytes = 4e11;
    strcpy(record->counters_source, "perf");
    record->uj[ENERGY_PACKAGE] = 38e9 + n;
    record->uj[ENERGY_DRAM] = 4e9;
    strcpy(record->energy_source, "rapl-powercap");
    record->power_w = 70.1;
    record->edp = 42e3 * 600;
    record->edp_per_instruction = 42e3 / 8e9;
    record->slowdown_home = 0.11;
    record->slowdown_predicted = 0.07;
    record->slowdown_observed = 0.09;
    strcpy(record->slowdown_source, "contend, profile");
}

/* Add them all; what each of them took, microseconds. How often one of them waited. */
static long add_all(struct ledger *ledger, const struct options *options, double *took)
{
    struct ledger_record record;
    long waited = 0;
    struct berth_error err;

    for (unsigned i = 0; i < options->records; i++) {
        double begin;

        make_record(i, &record);
        waited -= waits();
        begin = 1e6 * clock_s();
        if (ledger_add(ledger, &record, &err) < 0)
            bench_die("record", err.text);
        took[i] = 1e6 * clock_s() - begin;
        waited += waits();
        if (options->pause_us)
            usleep(options->pause_us);
    }
    return waited;
}

static void report(double *took, unsigned n, long waited)
{
    double median = array_median(took, n);

    printf(
        "event loop: median %.1f us, 99 %% %.1f us, 99.9 %% %.1f us, greatest %.1f us a record\n",
        median, took[n * 99ul / 100], took[n * 999ul / 1000], took[n - 1]);
    printf("it waited %ld times (for the thread's lock; what else is slow is others' CPU time)\n",
           waited);
}

/* Records that wait now go to an empty thread: time until there are none. */
static void drain(struct ledger *ledger)
{
    double begin = 1e6 * clock_s();
    char why[256];
    size_t n = ledger_waiting(ledger, why);

    while (ledger_waiting(ledger, why) > 0) {
        if (why[0])
            bench_die("delivery", why);
        usleep(1000);
    }
    printf("the last %zu records arrived in %.3f s\n", n, (1e6 * clock_s() - begin) / 1e6);
}

/* A queue that was there before the start: no settling, nobody adds to it meanwhile. */
static void deliver(struct conf *conf, const struct options *options, double *took)
{
    struct ledger *ledger;
    struct berth_error err;
    char real[PATH_MAX], why[256];
    double begin;

    strcpy(real, conf->ledger);
    strcpy(conf->ledger, "sqlite:/dev/null/away");
    if (ledger_open(&ledger, conf, &err) < 0)
        bench_die("ledger", err.text);
    add_all(ledger, options, took);
    ledger_close(ledger);
    strcpy(conf->ledger, real);
    begin = 1e6 * clock_s();
    if (ledger_open(&ledger, conf, &err) < 0)
        bench_die("ledger", err.text);
    while (ledger_waiting(ledger, why) > 0)
        usleep(500);
    printf("thread: %.0f records a second\n", options->records / ((1e6 * clock_s() - begin) / 1e6));
    ledger_close(ledger);
}

static void run(const struct options *options, const char *folder)
{
    double *took = calloc(options->records, sizeof(*took));
    struct ledger *ledger;
    struct berth_error err;
    struct conf conf;
    long waited;

    if (!took)
        bench_die("records", "out of memory");
    conf_init(&conf);
    log_open(LOG_TARGET_STDERR, LOG_LEVEL_ERROR);
    snprintf(conf.state_dir, sizeof(conf.state_dir), "%s", options->state);
    snprintf(conf.ledger_queue, sizeof(conf.ledger_queue), "%s/queue", folder);
    snprintf(conf.ledger, sizeof(conf.ledger), "sqlite:%s/ledger.db", folder);
    if (ledger_open(&ledger, &conf, &err) < 0)
        bench_die("ledger", err.text);
    waited = add_all(ledger, options, took);
    report(took, options->records, waited);
    drain(ledger);
    ledger_close(ledger);
    snprintf(conf.ledger, sizeof(conf.ledger), "sqlite:%s/second.db", folder);
    if (options->url)
        snprintf(conf.ledger, sizeof(conf.ledger), "%s", options->url);
    deliver(&conf, &(struct options){.records = options->records}, took);
    free(took);
}

int main(int argc, char **argv)
{
    struct options options = {.records = 10000, .pause_us = 100};
    char folder[64] = "/tmp/berth-bench.XXXXXX", state[64] = "/dev/shm/berth-bench.XXXXXX";
    int option;

    while ((option = getopt(argc, argv, "n:p:u:d:s:")) != -1)
        if (option == 'n')
            options.records = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 'p')
            options.pause_us = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 'u')
            options.url = optarg;
        else if (option == 'd')
            options.folder = optarg;
        else if (option == 's')
            options.state = optarg;
        else
            bench_die("usage", "ledger [-n RECORDS] [-p US] [-u URL] [-d FOLDER] [-s FOLDER]");
    if (options.records == 0)
        bench_die("-n", "a number above 0 expected");
    if (!options.folder && !mkdtemp(folder))
        bench_die(folder, "cannot be made");
    if (!options.state && !(options.state = mkdtemp(state)))
        bench_die(state, "cannot be made");
    run(&options, options.folder ? options.folder : folder);
    if (options.state == state)
        folder_remove(state);
    if (!options.folder)
        folder_remove(folder);
    return 0;
}
