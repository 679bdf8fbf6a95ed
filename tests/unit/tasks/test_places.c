/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_places - where workers stand: by /sys, by a step's page and what is none, by faked nodes;
 * and that they follow when the page is written anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "tasks/places.h"

static char path[] = "/tmp/berth-test-places-XXXXXX";
static struct rt_page *page; /* as berthd has it mapped */
static struct places places;
static int cpu[2]; /* that this process may use; the same one twice where there is one */

static void fill(struct rt_page *to)
{
    memset(to, 0, sizeof(*to));
    memcpy(to->magic, RT_PAGE_MAGIC, sizeof(to->magic));
    to->version = RT_PAGE_VERSION;
    to->size = sizeof(*to);
    memset(to->node, RT_NO_DOMAIN, sizeof(to->node));
    memset(to->cache, RT_NO_DOMAIN, sizeof(to->cache));
}

static int setup_page(void **state)
{
    cpu_set_t set;
    int fd = mkstemp(path), n = 0;

    (void)state;
    if (fd < 0 || ftruncate(fd, sizeof(*page)) < 0 || sched_getaffinity(0, sizeof(set), &set) < 0)
        return -1;
    page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
        if (CPU_ISSET(i, &set))
            cpu[n++] = i;
    if (n == 1)
        cpu[1] = cpu[0];
    fill(page);
    return setenv(RT_PAGE_ENV, path, 1);
}

static int remove_page(void **state)
{
    (void)state;
    munmap(page, sizeof(*page));
    return unlink(path);
}

static void read_places(void)
{
    struct places_source source;

    places_open(&source);
    places_read(&source, &places);
    places_close(&source);
}

/* ---- /sys ---- */

static void test_sys(void **state)
{
    cpu_set_t set;

    (void)state;
    unsetenv(RT_PAGE_ENV);
    read_places();
    setenv(RT_PAGE_ENV, path, 1);
    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    assert_int_equal(places.n, CPU_COUNT(&set));
    assert_in_range(places.domains, 1, places.n);
    for (unsigned i = 0; i < places.n; i++) {
        assert_true(CPU_ISSET(places.place[i].cpu, &set));
        assert_true(places.place[i].exists);
        assert_true(places.place[i].domain < places.domains);
    }
}

/* ---- faked ---- */

static void test_faked(void **state)
{
    static const struct {
        const char *nodes;
        unsigned n, domains;
    } rows[] = {{"0-1|2-3", 4, 2},  {"0", 1, 1},   {"0,2|1,3", 4, 2}, {"0|1|2|3|4|5|6|7", 8, 8},
                {"nonsense", 1, 1}, {"3-1", 1, 1}, {"0-1|", 2, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        setenv("BERTH_TASKS_NODES", rows[i].nodes, 1);
        read_places();
        assert_int_equal(places.n, rows[i].n);
        assert_int_equal(places.domains, rows[i].domains);
        assert_int_equal(places.place[places.n - 1].domain, rows[i].domains - 1);
        for (unsigned k = 1; k < places.n; k++)
            assert_true(places.place[k].domain >= places.place[k - 1].domain);
    }
    unsetenv("BERTH_TASKS_NODES");
}

/* Workers are spread evenly, also where they are fewer than the places, or more. */
static void test_spread(void **state)
{
    (void)state;
    setenv("BERTH_TASKS_NODES", "0-3|4-7", 1);
    read_places();
    unsetenv("BERTH_TASKS_NODES");
    assert_int_equal(places_of(&places, 0, 2)->cpu, 0);
    assert_int_equal(places_of(&places, 1, 2)->cpu, 4);
    assert_int_equal(places_of(&places, 7, 16)->domain, 0);
    assert_int_equal(places_of(&places, 8, 16)->domain, 1);
}

/* ---- pages ---- */

static void test_page(void **state)
{
    (void)state;
    fill(page);
    page->node[cpu[0]] = 1;
    page->node[cpu[1]] = 1;
    page->cache[cpu[0]] = 2;
    page->cache[cpu[1]] = 3;
    read_places();
    assert_int_equal(places.domains, cpu[0] == cpu[1] ? 1 : 2); /* by caches, in one node */
    page->node[cpu[1]] = 4;
    page->cache[cpu[0]] = 3;
    read_places();
    assert_int_equal(places.domains, cpu[0] == cpu[1] ? 1 : 2); /* by nodes */
    /* the step was moved, and the kernel has not done it yet */
    fill(page);
    page->node[1000] = page->node[1001] = 0;
    read_places();
    assert_int_equal(places.n, 2);
    assert_int_equal(places.place[0].cpu, 1000);
}

/* What is no page, or says nothing, or is switched off, is as if it were not there. */
static void test_no_page(void **state)
{
    cpu_set_t set;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    for (int wrong = 0; wrong < 6; wrong++) {
        fill(page);
        page->node[1000] = 0;
        page->magic[0] = wrong == 0 ? 'x' : page->magic[0];
        page->version += wrong == 1;
        page->size -= wrong == 2;
        page->node[1000] = wrong == 3 ? RT_NO_DOMAIN : 0;
        if (wrong == 4)
            setenv(RT_PAGE_ENV, "/nowhere", 1);
        if (wrong == 5)
            setenv(RT_SWITCH_ENV, "off", 1);
        read_places();
        assert_int_equal(places.n, CPU_COUNT(&set));
        setenv(RT_PAGE_ENV, path, 1);
        unsetenv(RT_SWITCH_ENV);
    }
    assert_int_equal(truncate(path, sizeof(*page) - 1), 0);
    read_places();
    assert_int_equal(places.n, CPU_COUNT(&set));
    assert_int_equal(truncate(path, sizeof(*page)), 0);
}

/* ---- workers follow ---- */

static _Atomic uint64_t seen; /* a bit a domain in which tasks have run, on a CPU of it */

static void note_domain(const void *nothing)
{
    int domain = berth_task_domain();

    (void)nothing;
    if (__atomic_load_n(&page->node[sched_getcpu()], __ATOMIC_RELAXED) == domain)
        atomic_fetch_or(&seen, (uint64_t)1 << domain);
}

static void note_domains(const void *nothing)
{
    (void)nothing;
    for (int i = 0; i < 100; i++)
        berth_task(note_domain, NULL, 0);
}

static void run_until(struct berth_tasks *pool, uint64_t domains)
{
    do {
        atomic_store(&seen, 0);
        berth_tasks_run(pool, note_domains, NULL, 0);
    } while (seen != domains);
}

static void write_nodes(uint8_t first, uint8_t second)
{
    __atomic_add_fetch(&page->generation, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&page->node[cpu[0]], first, __ATOMIC_RELAXED);
    __atomic_store_n(&page->node[cpu[1]], second, __ATOMIC_RELAXED);
    __atomic_add_fetch(&page->generation, 1, __ATOMIC_SEQ_CST);
}

/* Two workers in one domain, then one each in two, which there were not, then these the other way
 * round, for which workers have to change their CPUs, then in one again. Tasks are looked at until
 * they run there: a pool that does not follow is caught by the test's timeout.
 */
static void test_follow(void **state)
{
    struct berth_tasks_options options = {.size = sizeof(options), .workers = 2};
    struct berth_tasks *pool;

    (void)state;
    if (cpu[0] == cpu[1])
        skip();
    fill(page);
    page->node[cpu[0]] = page->node[cpu[1]] = page->cache[cpu[0]] = page->cache[cpu[1]] = 0;
    pool = berth_tasks_start(&options);
    assert_int_equal(berth_tasks_domains(pool), 1);
    run_until(pool, 1);
    __atomic_add_fetch(&page->generation, 1, __ATOMIC_SEQ_CST);
    berth_tasks_run(pool, note_domains, NULL, 0); /* while it is being written */
    __atomic_add_fetch(&page->generation, 1, __ATOMIC_SEQ_CST);
    for (int twice = 0; twice < 2; twice++) {
        write_nodes(0, 1);
        run_until(pool, 3);
        assert_int_equal(berth_tasks_domains(pool), 2);
        write_nodes(1, 0);
        run_until(pool, 3);
        write_nodes(0, 0);
        run_until(pool, 1);
    }
    assert_int_equal(berth_tasks_stop(pool), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sys),  cmocka_unit_test(test_faked),   cmocka_unit_test(test_spread),
        cmocka_unit_test(test_page), cmocka_unit_test(test_no_page), cmocka_unit_test(test_follow),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, setup_page, remove_page);
}
