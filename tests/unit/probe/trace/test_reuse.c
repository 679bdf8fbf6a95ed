/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_profile_reuse - the stack-distance profiles that `berthctl profile` measures of kernels
 * whose reuse is known, against theory that knows nothing of the simulator.
 *
 * Each kernel runs twice, of different length; the difference is of its loop alone, without the
 * start of the program and its data's first touches. What is expected of it:
 *   sequential  a set that k lines are mapped to, k > ways of L1, finds each of them at position k,
 *               or misses it where the LLC has fewer ways: by counting the lines of each set
 *   strided     the same, with fewer sets used
 *   random      an LRU set of `ways` of the m lines mapped to it holds any of them with equal
 *               chances, so a load hits with ways/m in the LLC or before it, and with ways1/m1 in
 *               the L1; the numbers m that a set gets are counted. By position: 1/m each, but for
 *               the first, which the L1 answers
 *   ring        as sequential: a ring comes to each line once in a round
 *   matrix      by brute force: of each reference, how many different lines of its set were used
 *               since its line was
 * BERTHCTL names the program, PROGRAMS the folder of reuse. */
#include <json-c/json.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/common/folder.h"
#include "tests/unit/common/thorough.h"

#define LINE 64
#define L1_SETS 64
#define L1_WAYS 8 /* what is taken where the topology does not tell */
#define WAYS 16
#define SETS 256 /* of the LLC: 256 KiB */
#define SKIPPED 77

/* Counts of a run, or of what one run has more than another. */
struct counts {
    double hits[WAYS], misses, instructions, references, error;
};

static const char *berthctl(void)
{
    const char *named = getenv("BERTHCTL");

    return named ? named : "./berthctl";
}

static double member(struct json_object *object, const char *key)
{
    return json_object_get_double(json_object_object_get(object, key));
}

/* Profile reuse with these arguments. */
static void run(const char *options, const char *arguments, struct counts *counts)
{
    static char command[1024], line[16384];
    const char *programs = getenv("PROGRAMS");
    struct json_object *object, *sdp;
    FILE *pipe;

    snprintf(
        command, sizeof(command),
        "%s profile --db \"$REUSE_DB\" --topology 'package:1 l3:1 core:2 pu:1' --llc 256K:16:64 "
        "--no-timing --json %s '%s/reuse' %s 2>/dev/null </dev/null",
        berthctl(), options, programs ? programs : "./tests/fixtures/programs", arguments);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    if (!fgets(line, sizeof(line), pipe))
        line[0] = '\0';
    assert_int_equal(pclose(pipe), 0);
    object = json_tokener_parse(line);
    assert_non_null(object);
    sdp = json_object_object_get(object, "sdp");
    counts->instructions = member(object, "instructions");
    counts->references = member(object, "references");
    counts->misses = member(sdp, "misses") * counts->instructions / 1e6;
    counts->error = member(object, "miss_pmi_error") * counts->instructions / 1e6;
    for (size_t i = 0; i < WAYS; i++)
        counts->hits[i] = json_object_get_double(
                              json_object_array_get_idx(json_object_object_get(sdp, "hits"), i)) *
                          counts->instructions / 1e6;
    json_object_put(object);
}

/* ---- theory ---- */

/* Sets with k lines each, lines from 0 in steps of `step` lines, referred to in turn. Per pass. */
static void expect_turns(size_t lines, size_t step, struct counts *expected)
{
    static size_t in_set[SETS];

    memset(in_set, 0, sizeof(in_set));
    memset(expected, 0, sizeof(*expected));
    for (size_t i = 0; i < lines; i++)
        in_set[i * step % SETS]++;
    for (size_t set = 0; set < SETS; set++)
        if (in_set[set] > WAYS)
            expected->misses += (double)in_set[set];
        else if (in_set[set] > 0)
            expected->hits[in_set[set] - 1] += (double)in_set[set];
}

/* Hits of a load drawn from `lines`, in a cache of that many sets and ways. */
static double chance(size_t lines, size_t sets, size_t ways)
{
    double sum = 0;

    for (size_t set = 0; set < sets; set++) {
        size_t in_set = lines / sets + (set < lines % sets);

        sum += (double)(in_set < ways ? in_set : ways) / (double)lines;
    }
    return sum;
}

/* One reference of a stream, by brute force: each set a list of lines by last use. */
struct list {
    size_t length, line[2 * WAYS];
};

/* The line's position in the list, or `ways`; it is the first of the list afterwards. */
static size_t list_use(struct list *list, size_t ways, size_t line)
{
    size_t position = 0, last;

    while (position < list->length && list->line[position] != line)
        position++;
    last = position < list->length ? position : list->length < ways ? list->length++ : ways - 1;
    memmove(list->line + 1, list->line, last * sizeof(list->line[0]));
    list->line[0] = line;
    return position < ways ? position : ways;
}

struct caches {
    struct list l1[L1_SETS], llc[SETS];
};

static void use(struct caches *caches, size_t address, struct counts *counts)
{
    size_t line = address / LINE, position;

    if (list_use(&caches->l1[line % L1_SETS], L1_WAYS, line) < L1_WAYS)
        return;
    position = list_use(&caches->llc[line % SETS], WAYS, line);
    if (position < WAYS)
        counts->hits[position]++;
    else
        counts->misses++;
}

/* One product of reuse's matrices, as its source has it. */
static void multiply(struct caches *caches, size_t rows, struct counts *counts)
{
    size_t a = 0, b = a + rows * rows, c = b + rows * rows;

    for (size_t block = 0; block < rows * rows * rows / 512; block++) {
        size_t blocks = rows / 8, block_i = block / blocks / blocks * 8;
        size_t block_k = block / blocks % blocks * 8, block_j = block % blocks * 8;

        for (size_t n = 0; n < 512; n++) {
            size_t i = block_i + n / 64, k = block_k + n / 8 % 8, j = block_j + n % 8;

            use(caches, (a + i * rows + k) * 8, counts);
            use(caches, (b + k * rows + j) * 8, counts);
            use(caches, (c + i * rows + j) * 8, counts);
        }
    }
}

static void expect_matrix(size_t rows, struct counts *expected)
{
    struct caches *caches = calloc(1, sizeof(*caches));

    assert_non_null(caches);
    multiply(caches, rows, expected); /* the first touches */
    memset(expected, 0, sizeof(*expected));
    multiply(caches, rows, expected);
    free(caches);
}

/* ---- measured ---- */

/* What a run of `more` passes has over one of `fewer`, per pass. */
static void difference(const char *options, const char *kernel, size_t lines, unsigned long fewer,
                       unsigned long more, const char *after, struct counts *each)
{
    char arguments[128];
    struct counts a, b;
    double n = (double)(more - fewer);

    snprintf(arguments, sizeof(arguments), "%s %zu %lu %s", kernel, lines, fewer, after);
    run(options, arguments, &a);
    snprintf(arguments, sizeof(arguments), "%s %zu %lu %s", kernel, lines, more, after);
    run(options, arguments, &b);
    each->instructions = (b.instructions - a.instructions) / n;
    each->references = (b.references - a.references) / n;
    each->misses = (b.misses - a.misses) / n;
    each->error = hypot(b.error, a.error) / n;
    for (size_t i = 0; i < WAYS; i++)
        each->hits[i] = (b.hits[i] - a.hits[i]) / n;
}

/* Within 2 % of what is expected; a count that is next to nothing, within 1/4 % of all accesses. */
static void near(const char *what, double measured, double expected, double accesses, double margin)
{
    double off = fabs(measured - expected);

    if (off > 0.02 * expected && off > 0.0025 * accesses && off > margin)
        fail_msg("%s: measured %.1f, expected %.1f", what, measured, expected);
}

static double sum_of(const struct counts *counts)
{
    double sum = counts->misses;

    for (size_t i = 0; i < WAYS; i++)
        sum += counts->hits[i];
    return sum;
}

/* Hits at each position, misses, and the same per million instructions: those are measured, so the
 * rates agree when the counts do. margin: of misses and of each position, where sets are sampled.
 */
static void compare(const char *kernel, const struct counts *measured,
                    const struct counts *expected, double times, double margin)
{
    double accesses = times * sum_of(expected);
    char what[64];

    snprintf(what, sizeof(what), "%s: misses", kernel);
    near(what, measured->misses, times * expected->misses, accesses, margin);
    snprintf(what, sizeof(what), "%s: accesses", kernel);
    near(what, sum_of(measured), accesses, accesses, 0);
    for (size_t i = 0; i < WAYS; i++) {
        snprintf(what, sizeof(what), "%s: hits at %zu", kernel, i + 1);
        near(what, measured->hits[i], times * expected->hits[i], accesses, margin);
    }
    assert_true(measured->instructions > 0);
}

/* ---- tests ---- */

static const struct {
    const char *kernel;
    size_t lines, step;
    unsigned long fewer, more, each; /* each: loads of one pass, where COUNT counts loads */
} turns[] = {
    {"sequential", 2048, 1, 2, 22, 1},    /* 8 in each set */
    {"sequential", 3000, 1, 2, 22, 1},    /* 11 or 12 */
    {"sequential", 4096, 1, 2, 22, 1},    /* 16: as many as there are ways */
    {"sequential", 4296, 1, 2, 22, 1},    /* 16 or 17: some sets hold theirs */
    {"sequential", 20000, 1, 2, 12, 1},   /* a stream */
    {"strided", 320, 8, 2, 102, 1},       /* 10 in each of 32 sets, 40 in each of 8 of the L1 */
    {"strided", 640, 8, 2, 102, 1},       /* 20 in each of 32 sets */
    {"ring", 2560, 1, 5120, 56320, 2560}, /* 10 in each set, in random order */
    {"ring", 8192, 1, 16384, 98304, 8192},
};

/* The first of them, and each `step`-th after it. */
static void check_turns(const char *options, const char *after, double times, size_t step)
{
    for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i += step) {
        struct counts measured, expected;
        double each = (double)turns[i].each;

        difference(options, turns[i].kernel, turns[i].lines, turns[i].fewer, turns[i].more, after,
                   &measured);
        expect_turns(turns[i].lines, turns[i].step, &expected);
        for (size_t k = 0; k < WAYS; k++)
            measured.hits[k] *= each;
        measured.misses *= each;
        measured.references *= each;
        compare(turns[i].kernel, &measured, &expected, times, 3 * measured.error * each);
        near("references", measured.references, times * (double)turns[i].lines, measured.references,
             0);
    }
}

static void test_turns(void **state)
{
    (void)state;
    check_turns("", "", 1, 1);
}

static void test_matrix(void **state)
{
    static const size_t rows[] = {72, 104, 136};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct counts measured, expected = {.misses = 0};

        difference("", "matrix", rows[i], 2, 6, "", &measured);
        expect_matrix(rows[i], &expected);
        /* the program's stack has its lines, too, in some of the sets */
        compare("matrix", &measured, &expected, 1, 0.01 * sum_of(&expected));
    }
}

/* Of `count` loads the chances are known to one part in the root of so many. */
static void check_random(const char *options, double factor)
{
    static const size_t lines[] = {2048, 5000, 8192, 40000};

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        double held = chance(lines[i], SETS, WAYS), held_l1 = chance(lines[i], L1_SETS, L1_WAYS);
        double each = (double)SETS / (double)lines[i];
        struct counts measured;

        difference(options, "random", lines[i], 200000, 1200000, "", &measured);
        near("random: misses", measured.misses, 1 - held, 1, factor * measured.error);
        near("random: hits", sum_of(&measured) - measured.misses, held - held_l1, 1,
             factor * measured.error);
        for (size_t k = L1_WAYS; held < 1 && k < WAYS; k++)
            if (fabs(measured.hits[k] - each) > 0.05 * each)
                fail_msg("random %zu: hits at %zu: measured %g, expected %g", lines[i], k + 1,
                         measured.hits[k], each);
    }
}

static void test_random(void **state)
{
    (void)state;
    check_random("", 0);
}

/* Threads have data of their own, and the LLC is one: the sum of all, and where each would fit
 * alone and all do not, misses. */
static void test_threads(void **state)
{
    struct counts measured, expected;

    (void)state;
    difference("", "sequential", 1024, 2, 1602, "3", &measured); /* 3 * 4 lines in a set */
    near("threads: references", measured.references, 3 * 1024, 3072, 0);
    near("threads: misses", measured.misses, 0, 3072, 0);
    near("threads: accesses", sum_of(&measured), 3072, 3072, 0);
    difference("", "sequential", 4096, 2, 102, "2", &measured); /* 2 * 16, of 16 */
    near("threads: all missed", measured.misses, 2 * 4096, 8192, 0);
    difference("", "sequential", 256, 2, 4002, "4", &measured); /* fits the L1 of each */
    near("threads: private caches", sum_of(&measured), 0, 1024, 0);
    expect_turns(20000, 1, &expected);
    difference("", "sequential", 20000, 2, 12, "4", &measured);
    compare("threads", &measured, &expected, 4, 0);
}

/* Each process has caches of its own: what fits one fits all. */
static void test_processes(void **state)
{
    (void)state;
    check_turns("", "1 3", 3, thorough() ? 1 : 3); /* 8 lines in a set; some sets full; 20 of 16 */
}

static void test_sampled(void **state)
{
    (void)state;
    check_turns("--sample 4", "", 1, thorough() ? 1 : 4); /* 8 lines in a set; a stream; a ring */
    check_random("--sample 4", 3);
}

static int make_store(void **state)
{
    static char folder[64], path[80];

    folder_new(folder, sizeof(folder), "test_profile_reuse");
    *state = folder;
    snprintf(path, sizeof(path), "%s/p.db", folder);
    return setenv("REUSE_DB", path, 1);
}

static int remove_store(void **state)
{

    return folder_remove((const char *)*state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns),     cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_random),    cmocka_unit_test(test_threads),
        cmocka_unit_test(test_processes), cmocka_unit_test(test_sampled),
    };
    char command[1024];

    if (system("command -v valgrind >/dev/null") != 0) {
        printf("SKIP: valgrind is not installed\n");
        return SKIPPED;
    }
    snprintf(command, sizeof(command),
             "%s profile --db /dev/null --llc 256K:16:64 true 2>&1 | grep 'built without its tool'",
             berthctl());
    if (system(command) == 0)
        return SKIPPED;
    return cmocka_run_group_tests(tests, make_store, remove_store);
}
