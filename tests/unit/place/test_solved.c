/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_solved - a standing that is asked for again gets the same answer as from the model, also
 * when others were asked for meanwhile, and another one when the model was told otherwise. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "packer/place/solved.h"

#define WAYS 4
#define CORES 4
#define STANDINGS 40 /* more than are kept */

static const double none[WAYS], hits[WAYS] = {5000, 3000, 1000, 500};

static struct app program(double ipc, const double *sdp, double misses)
{
    return (struct app){.ipc = ipc,
                        .llc_apki = NAN,
                        .llc_mpki = NAN,
                        .llc_demand_mpki = NAN,
                        .llc_wb_apki = NAN,
                        .mem_gbps = NAN,
                        .mem_read_gbps = NAN,
                        .mem_write_gbps = 0,
                        .cores = 1,
                        .sdp = {WAYS, sdp, misses}};
}

static struct contend *two_programs(void)
{
    const struct app app[2] = {program(0.5, none, 10000), program(0.8, hits, 200)};
    const struct app_machine machine = {.llc_bytes = WAYS * 64000,
                                        .dram_gbps = 10,
                                        .clock_ghz = 3,
                                        .llc_ways = WAYS,
                                        .line_bytes = 64,
                                        .dram_calibrated = true};
    struct contend *contend = contend_new(2, app, &machine, NULL);

    assert_non_null(contend);
    return contend;
}

/* The cores of a standing, by the bits of its number: which program, which cache. */
static size_t stand_as(size_t number, struct contend_stand *stand)
{
    memset(stand, 0, CORES * sizeof(*stand));
    for (size_t i = 0; i < CORES; i++) {
        stand[i].program = number >> i & 1;
        stand[i].cache = (number / 3 + i) % 2;
    }
    return CORES - number % 2;
}

static void assert_as_model(struct solved *solved, const struct contend *contend, size_t number)
{
    struct contend_stand stand[CORES];
    double said[CORES], told[CORES];
    size_t n = stand_as(number, stand);

    assert_true(contend_node(contend, n, stand, told) >= 0);
    assert_int_equal(solved_node(solved, contend, n, stand, said), 0);
    assert_memory_equal(said, told, n * sizeof(*said));
}

static void test_as_the_model(void **state)
{
    struct contend *contend = two_programs();
    struct solved *solved = solved_new();

    (void)state;
    assert_non_null(solved);
    for (size_t i = 0; i < STANDINGS; i++)
        for (size_t back = 0; back <= i && back < 8; back++)
            assert_as_model(solved, contend, i - back);
    for (size_t i = 0; i < STANDINGS; i++)
        assert_as_model(NULL, contend, i);
    solved_free(solved);
    solved_free(NULL);
    contend_free(contend);
}

/* What was said is said again until it is to be forgotten. */
static void test_forgets(void **state)
{
    struct contend *contend = two_programs();
    struct solved *solved = solved_new();
    struct contend_stand stand[CORES];
    double before[CORES], after[CORES];
    struct app quiet = program(2, none, 1);
    size_t n = stand_as(6, stand);

    (void)state;
    assert_int_equal(solved_node(solved, contend, n, stand, before), 0);
    assert_true(contend_set(&contend, 0, &quiet) >= 0);
    assert_int_equal(solved_node(solved, contend, n, stand, after), 0);
    assert_memory_equal(after, before, n * sizeof(*after));
    solved_forget(solved);
    assert_int_equal(solved_node(solved, contend, n, stand, after), 0);
    assert_true(memcmp(after, before, n * sizeof(*after)) != 0);
    stand[0].program = 7; /* there is none */
    assert_int_equal(solved_node(solved, contend, n, stand, after), -1);
    assert_int_equal(solved_node(solved, contend, n, stand, after), -1);
    solved_free(solved);
    contend_free(contend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_the_model),
        cmocka_unit_test(test_forgets),
    };

    return cmocka_run_group_tests_name("solved", tests, NULL, NULL);
}
