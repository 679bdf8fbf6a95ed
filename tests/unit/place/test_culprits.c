/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_culprits - whose programs press on a step's caches, and who is told of them. */
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <string.h>

#include "packer/place/culprits.h"
#include "packer/place/forecast.h"

static int open_four(void **state)
{
    *state = fixture_open(FOURS_ON_TWO_NODES);
    return 0;
}

static struct step *put(struct fixture *f, uint32_t job, const char *core, const char *exe,
                        double miss_pmi)
{
    struct step *step = fixture_put(f, job, 0, core, miss_pmi, (const char *const[]){core, NULL});

    step->profile.accesses = 2 * miss_pmi;
    step->profile.ipc = 1;
    step->request.uid = 1000 + job;
    step->place.cpus = step->body.task[0].home;
    step->request.exe = exe;
    return step;
}

/* So it stands for so many seconds. */
static void stand(struct fixture *f, double from_s)
{
    assert_true(forecast_update(&f->packer));
    culprits_note(&f->packer, from_s);
}

static const char *told(const struct step *step, double now_s)
{
    static char text[96];

    return culprits_of(step, now_s, text, sizeof(text));
}

static void test_who_presses(void **state)
{
    struct fixture *f = *state;
    struct step *victim = put(f, 1, "0", "/opt/calm", 100),
                *far = put(f, 2, "4", "/opt/far", 30000);

    stand(f, 0);
    assert_null(told(victim, 10)); /* on its cache nobody else is */
    put(f, 3, "1", "/opt/sweep", 20000);
    put(f, 4, "2", "/opt/stream", 30000);
    stand(f, 10);
    assert_null(told(victim, 10));
    assert_string_equal(told(victim, 20), "stream, sweep");
    assert_null(told(far, 20));
    stand(f, 20);
    assert_string_equal(told(victim, 20), "stream, sweep");
    assert_string_equal(told(victim, 30), "stream, sweep");
}

/* Two steps of one program are one name; who presses a tenth of what all do has none. */
static void test_one_name(void **state)
{
    struct fixture *f = *state;
    struct step *victim = put(f, 1, "0", "/opt/calm", 100);

    put(f, 2, "1", "/opt/sweep", 30000);
    put(f, 3, "2", "/opt/sweep", 30000);
    put(f, 4, "3", "/opt/quiet", 10);
    stand(f, 0);
    assert_string_equal(told(victim, 10), "sweep");
}

/* Where users are told nothing of others, others' programs are not even noted. */
static void test_private(void **state)
{
    struct fixture *f = *state;
    struct step *victim = put(f, 1, "0", "/opt/calm", 100),
                *other = put(f, 2, "1", "/opt/sweep", 30000);

    f->packer.world.private_data = true;
    stand(f, 0);
    assert_null(told(victim, 10));
    other->request.uid = victim->request.uid;
    stand(f, 10);
    assert_string_equal(told(victim, 20), "sweep");
}

/* More programs than there are rows: those that press most stay. */
static void test_many(void **state)
{
    struct fixture *f = *state;
    struct step *victim = put(f, 1, "0", "/opt/calm", 100), *other;
    static char name[3 * STEP_CULPRITS][16];

    for (uint32_t i = 0; i < 3 * STEP_CULPRITS; i++) {
        snprintf(name[i], sizeof(name[i]), "/opt/p%u", i);
        other = put(f, 2 + i, "1", name[i], i == 5 ? 60000 : 20000);
        stand(f, 10 * i);
        registry_drop(f->packer.steps, other);
    }
    assert_non_null(strstr(told(victim, 10 * 3 * STEP_CULPRITS), "p5"));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, open_four, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_who_presses),
        CASE(test_one_name),
        CASE(test_private),
        CASE(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
