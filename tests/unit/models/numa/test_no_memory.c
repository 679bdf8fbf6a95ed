/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_no_memory - NuCore where memory runs out, at each place in turn: an error, or the same
 * answer as ever, and nothing is kept. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "models/numa/nucore.h"
#include "tests/bench/numa_random.h"

#define NODES 4

#ifdef __SANITIZE_ADDRESS__
int main(void)
{
    return 77; /* it has an allocator of its own */
}
#else

/* ---- an allocator that fails ---- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void __libc_free(void *block);

static bool counting, lasting; /* lasting: what comes after the first failure fails, too */
static size_t asked, fail_at;  /* fail_at: 0, never */
static long live;              /* blocks */

static bool fails(void)
{
    if (!counting)
        return false;
    asked++;
    return fail_at > 0 && (lasting ? asked >= fail_at : asked == fail_at);
}

static void *count(void *block)
{
    live += block != NULL;
    if (!block)
        errno = ENOMEM;
    return block;
}

void *malloc(size_t size)
{
    return count(fails() ? NULL : __libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
    return count(fails() ? NULL : __libc_calloc(n, size));
}

void *realloc(void *old, size_t size)
{
    void *block = fails() ? NULL : __libc_realloc(old, size);

    return old ? block : count(block);
}

void free(void *block)
{
    live -= block != NULL;
    __libc_free(block);
}

/* ---- a machine, and its answer ---- */

struct answer {
    unsigned allocation[2 * NODES];
    struct numem_usage usage[2];
    struct nucore_result result;
    int rc, error;
};

static void solve(const struct nucore *nucore, size_t at, struct answer *a)
{
    *a = (struct answer){0};
    a->result = (struct nucore_result){.allocation = a->allocation, .usage = a->usage};
    asked = 0;
    fail_at = at;
    counting = true;
    a->rc = nucore_solve(nucore, &a->result);
    a->error = errno;
    counting = false;
}

/* Memory fails at each of the first places, and at some of the others. */
static void fail_everywhere(const struct nucore *nucore)
{
    struct answer good, bad;
    size_t places, refused = 0;
    long before;

    before = live;
    solve(nucore, 0, &good);
    places = asked;
    assert_int_equal(good.rc, 0);
    assert_int_equal(good.result.status, NUCORE_FOUND);
    for (size_t at = 1; at <= places; at += at < 200 ? 1 : 1 + places / 97) {
        solve(nucore, at, &bad);
        assert_int_equal(live, before);
        if (bad.rc < 0) {
            assert_int_equal(bad.error, ENOMEM);
            refused++;
            continue;
        }
        assert_int_equal(bad.result.status, NUCORE_FOUND);
        assert_memory_equal(bad.allocation, good.allocation, sizeof(good.allocation));
    }
    assert_true(refused > 20);
    solve(nucore, 0, &bad);
    assert_int_equal(bad.rc, 0);
    assert_memory_equal(bad.allocation, good.allocation, sizeof(good.allocation));
}

static void try_machine(const struct numa_wish *wish, size_t programs)
{
    struct numa numa, other;
    struct nucore_program program[2];
    struct nucore nucore = {.machine = &numa.machine, .program = program, .programs = programs};

    numa_make(&numa, wish);
    numa_make(&other, &(struct numa_wish){.traffic = NUMA_DENSE,
                                          .nodes = wish->nodes,
                                          .cores = wish->cores,
                                          .seed = wish->seed + 1});
    program[0] = numa.program;
    program[1] = other.program;
    program[0].weight = program[1].weight = 1;
    for (int i = 0; i < 2; i++) {
        lasting = i == 1;
        fail_everywhere(&nucore);
    }
    numa_free(&numa);
    numa_free(&other);
}

static void test_one_program(void **state)
{
    const struct numa_wish wish = {.traffic = NUMA_DENSE,
                                   .nodes = NODES,
                                   .cores = 12,
                                   .hops = true,
                                   .uneven = true,
                                   .seed = 5};

    (void)state;
    try_machine(&wish, 1);
}

static void test_two_programs(void **state)
{
    const struct numa_wish wish = {.traffic = NUMA_RING, .nodes = NODES, .cores = 6, .seed = 7};

    (void)state;
    try_machine(&wish, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_program),
        cmocka_unit_test(test_two_programs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
