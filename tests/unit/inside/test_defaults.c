/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_defaults - nothing that berth can do inside a step, and inside a task, is done unless its
 * user asks for it and its site allows it, or the site turns it on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "packer/base/text.h"
#include "packer/conf/conf.h"
#include "packer/figures/figures.h"
#include "packer/inside/inside.h"
#include "packer/steps/effect.h"
#include "tests/unit/common/fixture.h"
#include "tests/unit/common/step_files.h"

#define ALL_WORDS "auto,faithful,tranquil,shuffle,adapt,follow,throttle,flex,locks,prefetch"

static int begin(void **state)
{
    struct fixture *f = fixture_open(FOURS_ON_TWO_NODES);

    fixture_paper(f);
    *state = f;
    return 0;
}

/* A step of --contention-aware, with no word of a policy or with all of them. */
static struct wire_register request_of(bool all)
{
    struct wire_register request = fixture_request(1, 0, "0-3", "0-3", 1, "t");
    struct wire_options *o = &request.options;

    o->threads_follow = o->flex = o->locks_cohort = all;
    o->faithful = o->tranquil = o->shuffle = o->adapt = all;
    o->mem_auto = all;
    o->throttle = all ? WIRE_THROTTLE_BASELINE : WIRE_THROTTLE_OFF;
    o->prefetch = all ? WIRE_PREFETCH_ON : WIRE_PREFETCH_NONE;
    return request;
}

/* Says whether a variable of the tasks' environment begins so. */
static bool sets(const struct wire_answer *answer, const char *name)
{
    for (size_t i = 0; i < answer->nenv; i++)
        if (strncmp(answer->env[i].name, name, strlen(name)) == 0)
            return true;
    return false;
}

/* Nothing was given, and no file is there by which a program could be given something. */
static void assert_untouched(const struct step *step)
{
    assert_null(step->inside.run);
    assert_null(inside_page(step));
    for (enum step_policy i = 0; i < STEP_POLICIES; i++)
        assert_int_equal(step->inside.effect[i].changes, 0);
}

static struct json_object *explained(struct fixture *f, const struct step *step)
{
    struct json_object *explain = json_object_new_object();

    figures_inside(&f->packer, step, explain);
    return explain;
}

/* Who asks for placement alone is given nothing else, be all of it allowed. */
static void test_no_word(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = request_of(false);
    struct wire_answer answer;
    struct json_object *explain;
    struct step *step;

    strcpy(f->packer.world.conf.allow, ALL_WORDS);
    pipeline_start(&f->packer, &request, &answer);
    step = fixture_step(f, 1, 0);
    assert_false(sets(&answer, "BERTH_RT"));
    wire_answer_clear(&answer);
    assert_untouched(step);
    inside_turn(&f->packer);
    assert_untouched(step);
    assert_int_equal(step_files_inode(f, "1.0"), 0);
    explain = explained(f, step);
    for (enum step_policy i = 0; i < STEP_POLICIES; i++)
        assert_null(json_object_object_get(explain, step_policy_word[i]));
    json_object_put(explain);
}

/* Who asks for all of it is told of each word that his site does not allow it. */
static void test_no_leave(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = request_of(true);
    struct wire_answer answer;
    struct json_object *explain;
    char told[64];

    pipeline_start(&f->packer, &request, &answer);
    for (enum step_policy i = 0; i < STEP_WORDS; i++) {
        snprintf(told, sizeof(told), "%s has no effect: berth.conf does not allow it",
                 step_policy_word[i]);
        assert_non_null(strstr(answer.warning, told));
    }
    assert_false(sets(&answer, "BERTH_RT"));
    wire_answer_clear(&answer);
    inside_turn(&f->packer);
    assert_untouched(fixture_step(f, 1, 0));
    assert_int_equal(step_files_inode(f, "1.0"), 0);
    explain = explained(f, fixture_step(f, 1, 0));
    for (enum step_policy i = 0; i < STEP_WORDS; i++)
        assert_string_equal(json_object_get_string(json_object_object_get(
                                json_object_object_get(explain, step_policy_word[i]), "refused")),
                            "berth.conf does not allow it");
    json_object_put(explain);
}

/* What no user has a word for is off until the site turns it on. */
static void test_keys(void **state)
{
    struct conf conf;

    (void)state;
    conf_init(&conf);
    for (enum step_policy i = 0; i < STEP_POLICIES; i++)
        assert_false(text_lists(conf.allow, step_policy_word[i]));
    assert_int_equal(conf.share, CONF_SHARE_NEED);
    assert_int_equal(conf.thermal, CONF_OFF);
    assert_int_equal(conf.blackboard, CONF_OFF);
    assert_int_equal(conf.lock_time, CONF_OFF);
}

/* What the ledger keeps of a step in which all of them were in effect is whole words. */
static void test_words_that_fit(void **state)
{
    struct step *step = calloc(1, sizeof(*step));
    char words[EFFECT_WORDS_MAX], *rest = words;
    size_t n = 0;

    (void)state;
    for (enum step_policy i = 0; i < STEP_POLICIES; i++)
        step->inside.effect[i].changes = 1;
    effect_words(step, words);
    for (const char *word; (word = strsep(&rest, ",")); n++)
        assert_true(text_lists(ALL_WORDS, word));
    assert_true(n >= STEP_WORDS - 1);
    free(step);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_no_word),
        CASE(test_no_leave),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_words_that_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
