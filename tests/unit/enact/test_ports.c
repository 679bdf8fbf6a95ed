/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_ports - streams that start on one of several last-level caches of one memory node, beside
 * programs that hardly use memory: whatever is known of the bandwidth, they are parted. */
#include "tests/unit/common/clock_stands.h"
#include "tests/unit/common/fixture.h"

#include <stdio.h>
#include <string.h>

#define WINDOWS 40
#define STREAMS_MAX 8

/* A second: a stream reads memory with all its accesses, so many times per million instructions. */
static void write_sample(FILE *file, const char *step, int at, double instructions, double accesses,
                         double misses)
{
    fprintf(file,
            "{\"version\":1,\"step\":\"%s\",\"at\":%d,\"instructions\":%.0f,\"cycles\":%.0f,"
            "\"llc_accesses\":%.0f,\"llc_misses\":%.0f,\"cpu_ns\":%.0f,\"rss_node\":[4096]}\n",
            step, at, at * instructions, at * 3e9, at * accesses, at * misses, at * 1e9);
}

static void write_recording(const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    for (int at = 1; at <= WINDOWS + 10; at++) {
        write_sample(file, "stream", at, 1.5e9, 36e6, 36e6);
        write_sample(file, "turtle", at, 4e9, 400e3, 40e3);
    }
    fclose(file);
}

struct place_case {
    const char *name, *topology;
    size_t caches, cores; /* of the node, of a cache */
    size_t streams;       /* on the first cores */
    double node_gbps;     /* calibrated; 0: it was not */
    bool packages_apart;  /* there are two, with two caches each: the streams end on both */
};

static struct fixture *open_case(const struct place_case *it)
{
    struct fixture *f = fixture_open(it->topology);

    snprintf(f->conf.counters_replay, sizeof(f->conf.counters_replay), "%s/samples.jsonl", f->dir);
    write_recording(f->conf.counters_replay);
    f->conf.policy = WIRE_POLICY_CONTEND;
    if (it->node_gbps > 0) {
        double local[MACHINE_CORES_MAX + 1];

        for (size_t c = 0; c <= it->caches * it->cores; c++)
            local[c] = (double)c * 20 < it->node_gbps ? (double)c * 20 : it->node_gbps;
        fixture_machine(f, 1, it->caches * it->cores, local);
    } else {
        fixture_restart(f);
    }
    rootfs_close(&f->packer.world.root);
    assert_int_equal(rootfs_open(&f->packer.world.root, f->dir, NULL), 0);
    fixture_busy(f, NULL);
    fixture_paper(f);
    return f;
}

static void run_on(struct fixture *f, uint32_t job, size_t core, const char *tag)
{
    char cpu[16];

    snprintf(cpu, sizeof(cpu), "%zu", core);
    fixture_run(f, job, cpu, tag);
}

static void check(const struct place_case *it)
{
    struct fixture *f = open_case(it);
    size_t on[STREAMS_MAX] = {0}, most = 0;
    uint32_t job = 1;

    for (; job <= it->streams; job++)
        run_on(f, job, job - 1, "stream");
    for (size_t cache = 1; cache < it->caches; cache++)
        for (size_t i = 0; i < (it->streams + it->caches - 1) / it->caches; i++)
            run_on(f, job++, cache * it->cores + i, "turtle");
    for (double age = 1; age < WINDOWS; age++) {
        clock_stands_s += 10;
        fixture_age(f, age);
    }
    for (uint32_t i = 1; i <= it->streams; i++) {
        const struct step *step = fixture_step(f, i, 0);
        size_t llc = f->packer.world.topo->core[cpus_next(&step->place.cpus, 0)].llc;

        on[llc]++;
        most = on[llc] > most ? on[llc] : most;
    }
    if (most != (it->streams + it->caches - 1) / it->caches)
        fail_msg("%s: %zu streams on one cache", it->name, most);
    if (it->packages_apart && on[0] + on[1] != it->streams / 2)
        fail_msg("%s: %zu streams on one package", it->name, on[0] + on[1]);
    fixture_close(f);
}

static void streams_are_parted(void **state)
{
    static const struct place_case cases[] = {
        {"eight caches", "package:1 [numa] l3:8 core:8 pu:1", 8, 8, 8, 0, false},
        {"eight caches, calibrated", "package:1 [numa] l3:8 core:8 pu:1", 8, 8, 8, 193, false},
        {"two caches", "package:1 [numa] l3:2 core:2 pu:1", 2, 2, 2, 0, false},
        {"two caches, calibrated", "package:1 [numa] l3:2 core:2 pu:1", 2, 2, 2, 11, false},
        {"two caches, calibrated", "package:1 [numa] l3:2 core:2 pu:1", 2, 2, 2, 60, false},
        {"four caches", "package:2 l2:2 core:2 pu:1", 4, 2, 2, 0, true},
        {"four caches, calibrated", "package:2 l2:2 core:2 pu:1", 4, 2, 2, 11, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check(&cases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(streams_are_parted)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
