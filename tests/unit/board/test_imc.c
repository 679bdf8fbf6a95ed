/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_imc - the traffic of each package by its memory controllers: trees as the kernel makes them
 * for servers, clients and free-running counters; the kernel's counts are files. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "packer/board/imc.h"
#include "tests/unit/common/folder.h"

#define MIB 1048576.0
#define OPENED 16

/* What was opened, and the other end of each group. */
struct kernel {
    size_t n;
    struct {
        int cpu, leader, fd;
        uint64_t config;
        uint32_t type;
    } event[OPENED];
    int refuse_cpu, why; /* why 0: none */
};

struct scene {
    char dir[64];
    struct rootfs root;
    struct topo *topo;
    struct kernel kernel;
    struct imc *imc;
    double traffic[2];
};

static int play(const struct perf_event_attr *attr, int cpu, int leader, void *arg)
{
    struct kernel *kernel = arg;
    int fd;

    assert_in_range(kernel->n, 0, OPENED - 1);
    assert_int_equal(attr->size, sizeof(*attr));
    assert_int_equal(attr->read_format, PERF_FORMAT_GROUP);
    if (kernel->why && kernel->refuse_cpu == cpu) {
        errno = kernel->why;
        return -1;
    }
    fd = memfd_create("event", MFD_CLOEXEC);
    kernel->event[kernel->n].cpu = cpu;
    kernel->event[kernel->n].leader = leader;
    kernel->event[kernel->n].config = attr->config;
    kernel->event[kernel->n].type = attr->type;
    kernel->event[kernel->n].fd = dup(fd); /* both have one offset */
    kernel->n++;
    return fd;
}

/* The group that the i-th event leads has counted so much; the next read gets it. */
static void count(struct scene *scene, size_t i, uint64_t first, uint64_t second)
{
    uint64_t value[3] = {2, first, second};
    int fd = scene->kernel.event[i].fd;

    assert_int_equal(scene->kernel.event[i].leader, -1);
    assert_int_equal(pwrite(fd, value, sizeof(value), 0), sizeof(value));
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
}

/* Two packages of two CPUs; what counts in them is put by each test. */
static int set_up(void **state)
{
    struct scene *scene = calloc(1, sizeof(*scene));
    struct berth_error err;

    folder_new(scene->dir, sizeof(scene->dir), "berth-imc");
    folder_make(scene->dir, "sys/bus/event_source/devices");
    assert_int_equal(rootfs_open(&scene->root, scene->dir, &err), 0);
    assert_int_equal(topo_read(&scene->topo, "package:2 l3:1 core:2 pu:1", &err), 0);
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    imc_close(scene->imc);
    for (size_t i = 0; i < scene->kernel.n; i++)
        close(scene->kernel.event[i].fd);
    topo_free(scene->topo);
    rootfs_close(&scene->root);
    folder_remove(scene->dir);
    free(scene);
    return 0;
}

static void put(struct scene *scene, const char *pmu, const char *file, const char *text)
{
    char path[160];

    snprintf(path, sizeof(path), "sys/bus/event_source/devices/%s/%s", pmu, file);
    folder_put(scene->dir, path, text);
}

/* An event of that name, of 64 bytes a count. */
static void put_event(struct scene *scene, const char *pmu, const char *name, const char *terms)
{
    char file[64];

    snprintf(file, sizeof(file), "events/%s", name);
    put(scene, pmu, file, terms);
    snprintf(file, sizeof(file), "events/%s.scale", name);
    put(scene, pmu, file, "6.103515625e-5\n");
    snprintf(file, sizeof(file), "events/%s.unit", name);
    put(scene, pmu, file, "MiB\n");
}

static void put_pmu(struct scene *scene, const char *pmu, const char *type, const char *cpus,
                    const char *reads, const char *writes)
{
    put(scene, pmu, "type", type);
    put(scene, pmu, "cpumask", cpus);
    put(scene, pmu, "format/event", "config:0-7\n");
    put(scene, pmu, "format/umask", "config:8-15\n");
    put_event(scene, pmu, reads, "event=0x04,umask=0x03\n");
    put_event(scene, pmu, writes, "event=0x04,umask=0x0c\n");
}

static int begin(struct scene *scene, struct berth_error *err)
{
    return imc_open(&scene->imc, &scene->root, scene->topo, play, &scene->kernel, err);
}

static void read_at(struct scene *scene, double at_s)
{
    imc_read(scene->imc, at_s, scene->traffic);
}

/* Two channels, each on both packages. */
static void test_server(void **state)
{
    struct scene *scene = *state;
    struct berth_error err;

    put_pmu(scene, "uncore_imc_0", "14\n", "0,2\n", "cas_count_read", "cas_count_write");
    put_pmu(scene, "uncore_imc_1", "15\n", "0,2\n", "cas_count_read", "cas_count_write");
    put_pmu(scene, "uncore_imc_free_running_0", "16\n", "0,2\n", "read", "write");
    put(scene, "uncore_cha_0", "type", "17\n");
    assert_int_equal(begin(scene, &err), 0);
    assert_int_equal(scene->kernel.n, 8);
    assert_int_equal(scene->kernel.event[0].config, 0x304);
    assert_int_equal(scene->kernel.event[1].config, 0xc04);
    for (size_t i = 0; i < 8; i += 2)
        count(scene, i, 1000, 500);
    read_at(scene, 10);
    assert_true(isnan(scene->traffic[0]) && isnan(scene->traffic[1]));
    for (size_t i = 0; i < 8; i += 2)
        count(scene, i, scene->kernel.event[i].cpu ? 1000 : 3000, 500 + 16384);
    read_at(scene, 12);
    assert_true(fabs(scene->traffic[0] - 2 * (2000 * 64 + MIB) / 2) < 1);
    assert_true(fabs(scene->traffic[1] - 2 * MIB / 2) < 1);
}

/* A controller that says nothing makes a sum that would be too low, and is not told; the other
 * package's is. */
static void test_silent(void **state)
{
    struct scene *scene = *state;
    struct berth_error err;

    put_pmu(scene, "uncore_imc_0", "14\n", "0,2\n", "cas_count_read", "cas_count_write");
    assert_int_equal(begin(scene, &err), 0);
    count(scene, 0, 0, 0);
    count(scene, 2, 0, 0);
    read_at(scene, 1);
    count(scene, 2, 0, 64);
    read_at(scene, 2); /* the first one's file is at its end */
    assert_true(isnan(scene->traffic[0]));
    assert_true(scene->traffic[1] == 64 * 64);
    count(scene, 0, 100, 0);
    count(scene, 2, 0, 64);
    read_at(scene, 3);
    assert_true(isnan(scene->traffic[0])); /* of how long is that? */
    assert_true(scene->traffic[1] == 0);
    count(scene, 0, 110, 0);
    count(scene, 2, 0, 64);
    read_at(scene, 4);
    assert_true(scene->traffic[0] == 640);
}

static void test_refused(void **state)
{
    struct scene *scene = *state;
    struct berth_error err;

    put_pmu(scene, "uncore_imc_0", "14\n", "0,2\n", "cas_count_read", "cas_count_write");
    scene->kernel.why = EACCES;
    scene->kernel.refuse_cpu = 2;
    assert_int_equal(begin(scene, &err), 0);
    count(scene, 0, 0, 0);
    read_at(scene, 1);
    count(scene, 0, 1, 1);
    read_at(scene, 2);
    assert_true(scene->traffic[0] == 128);
    assert_true(isnan(scene->traffic[1]));
    imc_close(scene->imc);
    scene->imc = NULL;
    put(scene, "uncore_imc_0", "cpumask", "2\n");
    assert_int_equal(begin(scene, &err), -1);
    assert_non_null(strstr(err.text, "perf_event_open"));
}

static void test_client(void **state)
{
    struct scene *scene = *state;
    struct berth_error err;

    put_pmu(scene, "uncore_imc", "14\n", "0\n", "data_reads", "data_writes");
    assert_int_equal(begin(scene, &err), 0);
    assert_int_equal(scene->kernel.n, 2);
    count(scene, 0, 0, 0);
    read_at(scene, 1);
    count(scene, 0, 16384, 0);
    read_at(scene, 2);
    assert_true(scene->traffic[0] == MIB);
    assert_true(isnan(scene->traffic[1])); /* nothing counts it */
}

static void test_free_running(void **state)
{
    struct scene *scene = *state;
    struct berth_error err;

    put_pmu(scene, "uncore_imc_free_running_0", "14\n", "0,2\n", "read", "write");
    assert_int_equal(begin(scene, &err), 0);
    assert_int_equal(scene->kernel.n, 4);
}

static void test_none(void **state)
{
    struct scene *scene = *state;
    struct berth_error err;

    assert_int_equal(begin(scene, &err), -1);
    assert_non_null(strstr(err.text, "no counters of memory controllers"));
    put_pmu(scene, "uncore_imc_0", "14\n", "0,2\n", "clockticks", "rpq_inserts");
    assert_int_equal(begin(scene, &err), -1);
    assert_int_equal(imc_open(&scene->imc, &scene->root, scene->topo, NULL, NULL, &err), -1);
    assert_non_null(strstr(err.text, "recorded tree"));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(test_server),       CASE(test_silent),
                                       CASE(test_refused),      CASE(test_client),
                                       CASE(test_free_running), CASE(test_none)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
