/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_energy_sampler - powers integrated on a thread: constant ones, so that what the clock does
 * meanwhile does not matter; a sensor that fails, one that comes back, one that is silent. */
#include "packer/energy/sampler.h"

#include "tests/unit/common/meters.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "packer/base/clock.h"

#define EVERY_MS 5

static void wait_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* Wait until it says at least that much, or with at_least 0 until it says something. */
static uint64_t wait_for(struct energy_sampler *sampler, size_t i, uint64_t at_least)
{
    uint64_t uj, gaps;

    for (unsigned tries = 0; tries < 10000; tries++) {
        if (energy_sampler_get(sampler, i, clock_s(), &uj, &gaps) == 0 && uj >= at_least) {
            assert_int_equal(gaps, 0);
            return uj;
        }
        wait_ms(2);
    }
    fail_msg("it does not come");
    return 0;
}

static struct energy_sampler *start(const struct meters *meters, size_t n)
{
    struct energy_file file[2] = {{.path = "/a"}, {.path = "/b"}};
    struct energy_sampler *sampler;
    struct berth_error err;

    assert_int_equal(energy_sampler_start(&sampler, &meters->root, file, n, EVERY_MS, &err), 0);
    return sampler;
}

static void test_constant(void **state)
{
    struct energy_sampler *sampler;
    struct meters meters;
    double began_s = clock_s();
    uint64_t uj;

    (void)state;
    meters_open(&meters, NULL);
    meters_put(&meters, "/a", "100000000");
    meters_put(&meters, "/b", "0");
    sampler = start(&meters, 2);
    uj = wait_for(sampler, 0, 3000000); /* 30 ms of 100 W */
    assert_true((double)uj <= 1e8 * (clock_s() - began_s));
    assert_true(wait_for(sampler, 0, uj) >= uj);
    assert_int_equal(wait_for(sampler, 1, 0), 0); /* nothing is a figure, too */
    energy_sampler_stop(sampler);
    meters_close(&meters);
}

/* A sensor that fails is not known; when it is back, the time between is bridged. */
static void test_fails(void **state)
{
    struct energy_sampler *sampler;
    struct meters meters;
    uint64_t uj, gaps, before;
    double failed_s;

    (void)state;
    meters_open(&meters, NULL);
    sampler = start(&meters, 1);
    assert_int_equal(energy_sampler_get(sampler, 0, clock_s(), &uj, &gaps), -1);
    assert_int_equal(errno, ENOENT);
    meters_put(&meters, "/a", "200000000");
    wait_for(sampler, 0, 1000000);
    meters_put(&meters, "/a", "%s", "");
    while (energy_sampler_get(sampler, 0, clock_s(), &before, &gaps) == 0)
        wait_ms(2);
    assert_int_equal(errno, EPROTO);
    failed_s = clock_s();
    wait_ms(50);
    meters_put(&meters, "/a", "200000000");
    uj = wait_for(sampler, 0, before + 10000000); /* 50 ms of 200 W */
    assert_true((double)(uj - before) >= 2e8 * 0.05);
    assert_true(clock_s() > failed_s);
    energy_sampler_stop(sampler);
    meters_close(&meters);
}

/* One whose last sample is old is stuck in a read: it is not known. */
static void test_silent(void **state)
{
    struct energy_sampler *sampler;
    struct meters meters;
    uint64_t uj, gaps;

    (void)state;
    meters_open(&meters, NULL);
    meters_put(&meters, "/a", "5");
    sampler = start(&meters, 1);
    wait_for(sampler, 0, 0);
    assert_int_equal(energy_sampler_get(sampler, 0, clock_s() + ENERGY_SILENT_S + 100, &uj, &gaps),
                     -1);
    assert_int_equal(errno, ETIMEDOUT);
    energy_sampler_stop(sampler);
    meters_close(&meters);
}

/* From 2 W four seconds before the last sample, of 2 W too, and what nobody had been told of. */
static void test_resume(void **state)
{
    struct energy_file file = {.path = "/a"};
    struct energy_sampler *sampler;
    struct energy_last last;
    struct meters meters;
    struct berth_error err;
    uint64_t uj, gaps;

    (void)state;
    meters_open(&meters, NULL);
    meters_put(&meters, "/a", "2000000");
    assert_int_equal(energy_sampler_start(&sampler, &meters.root, &file, 1, 3600000, &err), 0);
    assert_int_equal(energy_sampler_keep(sampler, 0, &last), 1);
    assert_true(last.uj == 0 && last.figure == 2);
    last.at_s -= 4;
    last.uj = 5;
    assert_true(energy_sampler_resume(sampler, 0, &last));
    assert_int_equal(energy_sampler_get(sampler, 0, clock_s(), &uj, &gaps), 0);
    assert_in_range(uj, 8000004, 8000006);
    assert_int_equal(gaps, 0);
    last.at_s -= ENERGY_BRIDGE_S;
    assert_true(energy_sampler_resume(sampler, 0, &last));
    energy_sampler_get(sampler, 0, clock_s(), &uj, &gaps);
    assert_int_equal(gaps, 1);
    energy_sampler_stop(sampler);
    meters_close(&meters);
}

/* It ends at once, and not after the next sample. */
static void test_stop(void **state)
{
    struct energy_file file = {.path = "/a"};
    struct energy_sampler *sampler;
    struct meters meters;
    struct berth_error err;
    uint64_t uj, gaps;

    (void)state;
    meters_open(&meters, NULL);
    meters_put(&meters, "/a", "5");
    assert_int_equal(energy_sampler_start(&sampler, &meters.root, &file, 1, 3600000, &err), 0);
    assert_int_equal(energy_sampler_get(sampler, 0, clock_s(), &uj, &gaps), 0);
    energy_sampler_stop(sampler);
    meters_close(&meters);
}

/* A read that hangs is left alone: here of a FIFO that nobody writes to, where a file was. */
static void test_stop_of_one_that_hangs(void **state)
{
    static struct energy_sampler *sampler; /* is never freed: the leak checker shall find it here */
    struct meters meters;
    double began_s = clock_s();
    char path[80];
    int fd;

    (void)state;
    meters_open(&meters, NULL);
    sampler = start(&meters, 1); /* there is no file yet */
    snprintf(path, sizeof(path), "%s/a", meters.dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    wait_ms(20 * EVERY_MS);
    energy_sampler_stop(sampler);
    assert_true(clock_s() - began_s > 1);
    fd = open(path, O_WRONLY | O_NONBLOCK); /* it is in there, and may go on now */
    assert_true(fd >= 0);
    close(fd);
    meters_close(&meters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constant), cmocka_unit_test(test_fails),
        cmocka_unit_test(test_silent),   cmocka_unit_test(test_resume),
        cmocka_unit_test(test_stop),     cmocka_unit_test(test_stop_of_one_that_hangs),
    };

    return cmocka_run_group_tests_name("energy_sampler", tests, NULL, NULL);
}
