/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_day_slurm - which cores Slurm gives, as a slurmctld 22.05 gave them
 * (tests/cluster/t18-cores.sh asks one), and which of them each task has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/bench/day_slurm.h"

/* "0-2|8-10": the cores of each task. */
static void say(const size_t *core, size_t tasks, size_t width, char *text, size_t size)
{
    *text = '\0';
    for (size_t t = 0; t < tasks; t++) {
        size_t at = strlen(text);
        struct cpus cpus = {0};

        for (size_t c = 0; c < width; c++)
            cpus_add(&cpus, core[t * width + c]);
        if (t > 0)
            text[at++] = '|';
        cpus_format(&cpus, text + at, size - at);
    }
}

static const struct {
    const char *machine, *taken;
    size_t tasks, width;
    enum day_socket socket;
    const char *given; /* NULL: refused */
} cases[] = {
#define FOUR "package:4 core:8 pu:1"
    {FOUR, "-", 1, 1, DAY_SOCKET_PACKAGE, "0"},
    {FOUR, "0-4", 1, 1, DAY_SOCKET_PACKAGE, "5"},
    {FOUR, "-", 4, 1, DAY_SOCKET_PACKAGE, "0|8|16|24"},
    {FOUR, "0-1,8,16,24", 6, 1, DAY_SOCKET_PACKAGE, "2|9|17|25|3|10"},
    {FOUR, "0-3", 1, 4, DAY_SOCKET_PACKAGE, "4-7"},
    {FOUR, "0-10,16-17,24-25", 2, 3, DAY_SOCKET_PACKAGE, "11-13|18-20"},
    {FOUR, "-", 2, 4, DAY_SOCKET_PACKAGE, "0-3|4-7"},
    {FOUR, "0-5,8-13", 3, 4, DAY_SOCKET_PACKAGE, "16-19|24-27|20-23"},
    {FOUR, "-", 1, 12, DAY_SOCKET_PACKAGE, "0-2,8-10,16-18,24-26"},
    {FOUR, "0-13", 1, 12, DAY_SOCKET_PACKAGE, "14-20,24-28"},
    {FOUR, "0-30", 2, 1, DAY_SOCKET_PACKAGE, NULL},
    {"package:8 core:4 pu:1", "1,3,14-16,24-31", 4, 4, DAY_SOCKET_PACKAGE,
     "4-7|8-11|20-23|0,2,12,17"},
#define TWO "package:2 l3:4 core:4 pu:1"
    {TWO, "-", 4, 1, DAY_SOCKET_PACKAGE, "0|16|1|17"},
    {TWO, "-", 4, 1, DAY_SOCKET_L3, "0|4|8|12"},
    {TWO, "-", 1, 6, DAY_SOCKET_PACKAGE, "0-5"},
    {TWO, "-", 1, 8, DAY_SOCKET_L3, "0,4,8,12,16,20,24,28"},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        bool is_free[CPUS_MAX];
        struct berth_error err;
        struct cpus taken = {0};
        struct topo *topo;
        size_t core[64];
        char text[256];
        int rc;

        assert_int_equal(topo_read(&topo, cases[i].machine, &err), 0);
        if (strcmp(cases[i].taken, "-") != 0)
            assert_int_equal(cpus_parse(&taken, cases[i].taken), 0);
        for (size_t c = 0; c < topo->cores; c++)
            is_free[c] = !cpus_has(&taken, c);
        rc = day_slurm_give(topo, cases[i].socket, is_free, cases[i].tasks, cases[i].width, core);
        assert_int_equal(rc, cases[i].given ? 0 : -1);
        if (cases[i].given) {
            say(core, cases[i].tasks, cases[i].width, text, sizeof(text));
            assert_string_equal(text, cases[i].given);
        }
        topo_free(topo);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
