/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_isolation - who is isolated, where everybody goes then, and what explain and the plugin's
 * note say of it. */
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <string.h>

#include "packer/daemon/answer.h"
#include "packer/observe/classify.h"
#include "packer/place/isolation.h"
#include "packer/place/place.h"

#define ONE(home) ((const char *const[]){home, NULL})

static int open_it(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);

    strcpy(f->packer.world.conf.isolate_users, "1000");
    *state = f;
    return 0;
}

/* A step of one task with all of its job. */
static struct step *put(struct fixture *f, uint32_t job, const char *home, double miss_pmi)
{
    struct step *step = fixture_put(f, job, 0, home, miss_pmi, ONE(home));

    classify_step(&f->packer, step);
    return step;
}

static struct step *put_asker(struct fixture *f, uint32_t job, const char *home, double miss_pmi)
{
    struct step *step = put(f, job, home, miss_pmi);

    step->request.options.isolate = true;
    return step;
}

/* It has so many hits per million instructions in the last of 16 ways. */
static void give_hits(struct step *step, double hits)
{
    step->profile.ways = 16;
    step->profile.hits[15] = hits;
}

static void decide(struct fixture *f)
{
    struct step *step;

    fixture_decide(f);
    TAILQ_FOREACH(step, &f->packer.steps->live, link)
    place_describe(&f->packer, f->packer.state->pool, step);
}

static void assert_at(const struct step *step, const char *cpus)
{
    assert_cpus(&step->place.cpus, cpus);
}

static void assert_granted(struct fixture *f, const struct step *step, const char *domain)
{
    struct isolation isolation;

    isolation_of(&f->packer, step, &isolation);
    assert_true(isolation.asked);
    assert_string_equal(isolation.domain, domain);
    assert_int_equal(isolation.granted, domain[0] != '\0');
    assert_true(isolation.reason[0]);
}

static void assert_reason(struct fixture *f, const struct step *step, const char *words)
{
    struct isolation isolation;

    isolation_of(&f->packer, step, &isolation);
    if (!strstr(isolation.reason, words))
        fail_msg("no '%s' in '%s'", words, isolation.reason);
}

/* Three devils on two packages: two must share one, and it is not the one of who is isolated. A
 * turtle may come. */
static void test_devil(void **state)
{
    struct fixture *f = *state;
    struct step *b = put(f, 2, "1", 9000), *c = put(f, 3, "4", 8000);
    struct step *a = put_asker(f, 1, "0", 7000), *d = put(f, 4, "5", 10);

    decide(f);
    assert_at(a, "0");
    assert_at(d, "1");
    assert_int_equal(cpus_next(&b->place.cpus, 0) / 4, 1);
    assert_int_equal(cpus_next(&c->place.cpus, 0) / 4, 1);
    assert_granted(f, a, "package 0");
    assert_reason(f, a, "no other devil is in package 0");
    a->request.options.isolate =
        false; /* the same without it: the least of the devils has company */
    decide(f);
    assert_int_equal(cpus_next(&b->place.cpus, 0) / 4, 0);
    assert_int_equal(cpus_next(&c->place.cpus, 0) / 4, 1);
    assert_int_equal(cpus_next(&a->place.cpus, 0) / 4, 1);
}

/* With devils in both packages there is still a cache. */
static void test_cache(void **state)
{
    struct fixture *f = *state;
    struct step *a = put_asker(f, 1, "0", 9000);

    put(f, 2, "1", 8000);
    put(f, 3, "2", 7000);
    put(f, 4, "4-7", 6000);
    fixture_put(f, 5, 0, "3", 10, ONE("3"));
    decide(f);
    assert_granted(f, a, "cache 0");
}

static void test_no_room(void **state)
{
    struct fixture *f = *state;
    struct step *a = put_asker(f, 1, "0", 9000), *b = put(f, 2, "1", 8000);

    put(f, 3, "4", 7000);
    put(f, 4, "5", 6000);
    decide(f);
    assert_granted(f, a, "");
    assert_reason(f, a, "too few cores");
    b->request.options.isolate = true; /* nor for two */
    decide(f);
    assert_granted(f, b, "");
}

/* A chosen turtle is isolated where it has hits to lose. */
static void test_sensitive(void **state)
{
    struct fixture *f = *state;
    struct step *a = put_asker(f, 1, "0", 10);

    put(f, 2, "1", 8000);
    put(f, 3, "4", 7000);
    put(f, 4, "5", 6000);
    assert_false(isolation_wanted(a));
    assert_granted(f, a, "");
    assert_reason(f, a, "not sensitive: a turtle");
    give_hits(a, 530); /* S = 16 / 17 of them */
    assert_false(isolation_wanted(a));
    assert_reason(f, a, "499 hits");
    give_hits(a, 540);
    assert_true(isolation_wanted(a));
    a->request.options.isolate = false;
    assert_false(isolation_wanted(a));
}

static void test_rabbit(void **state)
{
    struct fixture *f = *state;
    struct step *a = put_asker(f, 1, "0", 10), *b = put_asker(f, 2, "1", 20);
    struct step *c = put(f, 3, "4", 7000), *d = put(f, 4, "5", 6000);

    give_hits(a, 1000);
    give_hits(b, 1000);
    decide(f);
    assert_granted(f, a, "package 0");
    assert_granted(f, b, "package 0"); /* peaceful ones share it */
    assert_at(c, "4");
    assert_at(d, "5");
}

static void test_unprofiled(void **state)
{
    struct fixture *f = *state;
    struct step *a = put_asker(f, 1, "0", NAN);

    put(f, 2, "1", 8000);
    decide(f);
    assert_granted(f, a, "");
    assert_reason(f, a, "not sensitive: nothing is known");
}

/* All tasks of a step share its domain. */
static void test_tasks(void **state)
{
    struct fixture *f = *state;
    struct step *a = fixture_put(f, 1, 0, "0,4", 9000, (const char *const[]){"0", "4", NULL});
    struct step *b = put(f, 2, "1", 8000), *c = put(f, 3, "5", 7000);

    classify_step(&f->packer, a);
    a->request.options.isolate = true;
    decide(f);
    assert_at(a, "0-1");
    assert_granted(f, a, "package 0");
    assert_cpus(&b->place.cpus, "4");
    assert_cpus(&c->place.cpus, "5");
}

static void test_refused(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, 0, "0", "0", 1, "devil");
    struct wire_answer answer;
    struct step *a;

    fixture_profile(f, "devil", 20000);
    f->packer.world.conf.isolate_users[0] = '\0';
    request.options.isolate = true;
    pipeline_start(&f->packer, &request, &answer);
    assert_true(answer.ok && answer.managed);
    assert_non_null(strstr(answer.note, "not isolated: berth.conf names neither"));
    wire_answer_clear(&answer);
    a = registry_find(f->packer.steps, (struct wire_step_id){1, 0});
    assert_int_equal(a->state, STEP_PLACED);
    assert_granted(f, a, "");
    assert_reason(f, a, "its key grant");
}

static void test_note(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, 0, "0", "0", 1, "devil");
    struct wire_answer answer;

    fixture_profile(f, "devil", 20000);
    request.options.isolate = true;
    pipeline_start(&f->packer, &request, &answer);
    assert_non_null(strstr(answer.note, "; isolated in package 0"));
    wire_answer_clear(&answer);
    request = fixture_request(2, 0, "1", "1", 1, "devil");
    pipeline_start(&f->packer, &request, &answer);
    assert_null(strstr(answer.note, "isolated")); /* who did not ask hears nothing of it */
    wire_answer_clear(&answer);
}

/* What berth does not place is not driven away, and is told. */
static void test_stranger(void **state)
{
    struct fixture *f = *state;
    struct step *a = put_asker(f, 1, "0", 9000), *b = put(f, 2, "1", 8000);

    b->state = STEP_LEFT;
    decide(f);
    assert_granted(f, a, "");
    assert_reason(f, a, "berth does not place");
    a->state = STEP_LEFT;
    assert_reason(f, a, "berth does not place it");
}

/* Others have not moved for an observed step: nothing can be said of its company. */
static void test_observed(void **state)
{
    struct fixture *f = *state;
    struct step *a = put_asker(f, 1, "0", 9000);

    put(f, 2, "1", 8000);
    a->state = STEP_OBSERVED;
    decide(f);
    assert_true(isolation_wanted(a));
    assert_granted(f, a, "");
    assert_reason(f, a, "only observed");
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_it, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_devil),  test(test_cache),      test(test_no_room),  test(test_sensitive),
        test(test_rabbit), test(test_unprofiled), test(test_tasks),    test(test_refused),
        test(test_note),   test(test_stranger),   test(test_observed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
