/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_verdict - what is said of the standing trial until it can tell, and then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "packer/cli/node/verdict.h"

#define NOW 1700000000
#define DAY 86400

static void test_untold(void **state)
{
    static const struct {
        struct benefit_verdict verdict;
        int64_t days; /* since the first job of it ended; 0: none has */
        const char *said;
    } cases[] = {
        {{.trial = false, .slurm_n = 30},
         0,
         "cannot be told yet: no program was measured both where the lot left it and where berth "
         "put it"},
        {{.trial = true, .slurm_n = 0},
         3,
         "cannot be told yet: no program was measured both where the lot left it and where berth "
         "put it"},
        {{.trial = true, .slurm_n = 1, .needed = 10},
         1,
         "cannot be told yet: 1 job that the lot left where Slurm put it, of about 10 that it "
         "takes; at this rate that is about 9 days more"},
        {{.trial = true, .slurm_n = 12, .needed = 40},
         6,
         "cannot be told yet: 12 jobs that the lot left where Slurm put them, of about 40 that it "
         "takes; at this rate that is about 14 days more"},
        {{.trial = true, .slurm_n = 480, .needed = 490},
         10,
         "cannot be told yet: 480 jobs that the lot left where Slurm put them, of about 490 that "
         "it takes; at this rate that is about 5 hours more"},
        {{.trial = true, .slurm_n = 40, .needed = 40},
         6,
         "cannot be told yet: 40 jobs that the lot left where Slurm put them"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct benefit_result result = {.verdict = cases[i].verdict};
        const struct verdict_read read = {.trial = cases[i].days ? NOW - cases[i].days * DAY : 0};
        char text[BENEFIT_SENTENCE_MAX];

        result.verdict.word = BENEFIT_UNTOLD;
        verdict_say(&result, &read, NOW, text);
        assert_string_equal(text, cases[i].said);
    }
}

static void test_told(void **state)
{
    const struct benefit_result result = {.steps = 900,
                                          .verdict = {.word = BENEFIT_HURTS,
                                                      .gain = -0.05,
                                                      .low = -0.07,
                                                      .high = -0.03,
                                                      .programs = 4,
                                                      .slurm_n = 40,
                                                      .berth_n = 800,
                                                      .trial = true}};
    const struct verdict_read read = {.trial = NOW - DAY};
    char text[BENEFIT_SENTENCE_MAX], sentence[BENEFIT_SENTENCE_MAX];

    (void)state;
    verdict_say(&result, &read, NOW, text);
    benefit_sentence(&result, sentence);
    assert_string_equal(text, sentence);
    assert_non_null(strstr(text, "berth HURTS: the same programs took 5.0% more time"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_untold),
        cmocka_unit_test(test_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
