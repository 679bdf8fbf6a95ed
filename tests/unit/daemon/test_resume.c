/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_resume - a berthd that takes over running steps says of each what the one before it said,
 * member by member of `status` and `explain`; those that it cannot know are listed here. */
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "packer/daemon/ledger_record.h"
#include "packer/daemon/render.h"
#include "packer/slurm/steps/pool_marker.h"

#define STEPS 3

/* ---- what is told ---- */

struct told {
    struct json_object *status, *explain;
};

static void tell(struct fixture *f, struct told told[STEPS])
{
    for (uint32_t job = 1; job <= STEPS; job++) {
        const struct step *step = fixture_step(f, job, 0);

        told[job - 1].status = render_step(&f->packer, step);
        told[job - 1].explain = render_explanation(&f->packer, step, 0);
    }
}

static void drop(struct told told[STEPS])
{
    for (size_t i = 0; i < STEPS; i++) {
        json_object_put(told[i].status);
        json_object_put(told[i].explain);
    }
}

/* Means over a step's time are rounded otherwise after another sum. */
static bool same(struct json_object *before, struct json_object *after)
{
    return json_object_equal(before, after) ||
           (json_object_is_type(before, json_type_double) &&
            json_object_is_type(after, json_type_double) &&
            fabs(json_object_get_double(before) - json_object_get_double(after)) < 1e-9);
}

/* Adds the paths of the members that differ, each once and with a blank after it. Time goes on. */
static void compare(const char *path, struct json_object *before, struct json_object *after,
                    char differ[4096])
{
    const char *member = strrchr(path, '.');
    char name[256];

    if (same(before, after) || (member && strcmp(member, ".elapsed_s") == 0))
        return;
    if (json_object_is_type(before, json_type_object) &&
        json_object_is_type(after, json_type_object)) {
        json_object_object_foreach(before, key, value)
        {
            snprintf(name, sizeof(name), "%s.%s", path, key);
            compare(name, value, json_object_object_get(after, key), differ);
        }
        return;
    }
    snprintf(name, sizeof(name), "%s ", path);
    if (!strstr(differ, name))
        strncat(differ, name, 4095 - strlen(differ));
}

/* ---- the node ---- */

/* One core of each node's four asks for half of what its memory gives. */
static const double saturates[] = {0, 8, 10, 10, 10};

static void conf_ledger(struct fixture *f)
{
    snprintf(f->conf.ledger, sizeof(f->conf.ledger), "sqlite:%s/ledger.db", f->dir);
}

static struct wire_register with(uint32_t job, const char *cpus, const char *tag,
                                 enum wire_mode mode, bool size)
{
    struct wire_register request = fixture_request(job, 0, cpus, cpus, 1, tag);

    request.options.mode = mode;
    request.options.size = size;
    return request;
}

/* A step that is sized, one that is only observed, and one of which nothing is known. */
static int open_node(void **state)
{
    struct fixture *f = fixture_open(FOURS_ON_TWO_NODES);

    conf_ledger(f);
    f->conf.policy = WIRE_POLICY_CONTEND;
    fixture_machine(f, 2, 4, saturates);
    fixture_paper(f);
    fixture_timed(f, "stream", 100000, 2e9);
    fixture_profile(f, "high", 90000);
    fixture_start(f, with(1, "0-1", "stream", WIRE_MODE_AUTO, true));
    fixture_start(f, with(2, "2", "high", WIRE_MODE_OBSERVE, false));
    fixture_start(f, with(3, "4", "new", WIRE_MODE_AUTO, false));
    pipeline_observe(&f->packer);
    *state = f;
    return 0;
}

static void resume(struct fixture *f)
{
    struct berth_error err = {""};

    fixture_restart(f);
    if (pipeline_resume(&f->packer, &err) < 0)
        fail_msg("%s", err.text);
    pipeline_observe(&f->packer);
}

/* ---- the tests ---- */

/* Nothing is decided anew for those that are placed: the rank that they had once is not kept. */
static void test_same_is_told(void **state)
{
    struct fixture *f = *state;
    struct told before[STEPS], after[STEPS];
    char differ[4096] = "";

    tell(f, before);
    resume(f);
    tell(f, after);
    for (size_t i = 0; i < STEPS; i++) {
        compare("status", before[i].status, after[i].status, differ);
        compare("explain", before[i].explain, after[i].explain, differ);
    }
    drop(before);
    drop(after);
    assert_string_equal(differ, "explain.place.rank explain.place.of explain.place.reason ");
}

/* Why it stands there is said by a berthd after this one, too, and by the ledger. */
static void test_why_is_kept(void **state)
{
    struct fixture *f = *state;
    struct ledger_record record;
    const struct step *step;
    char before[128];

    pipeline_observe(&f->packer);
    snprintf(before, sizeof(before), "%s", fixture_step(f, 1, 0)->place.why);
    ledger_record_fill(&f->packer, fixture_step(f, 1, 0), &record);
    assert_string_equal(record.reason, before);
    for (int i = 0; i < 2; i++) { /* the second one reads what the first one has compacted */
        resume(f);
        step = fixture_step(f, 1, 0);
        assert_true(step->place.adopted);
        assert_string_equal(step->place.why, before);
        ledger_record_fill(&f->packer, step, &record);
        assert_string_equal(record.reason, before);
    }
}

static int open_two(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);

    fixture_paper(f);
    fixture_start(f, fixture_request(7, 0, "0", "0", 1, NULL));
    fixture_start(f, fixture_request(8, 0, "1", "1", 1, NULL));
    *state = f;
    return 0;
}

static bool marked(const struct fixture *f, const char *name)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/pool/%s", f->dir, name);
    return access(path, F_OK) == 0;
}

/* A step that ended while there was no berthd, whose folder of markers went with the one before it:
 * that is no error, and the job's end is still waited for. */
static void test_markers_of_ended(void **state)
{
    struct fixture *f = *state;
    struct berth_error err = {""};

    pool_marker_remove_all(&f->packer);
    fixture_restart(f);
    f->dead = 8;
    if (pipeline_resume(&f->packer, &err) < 0)
        fail_msg("%s", err.text);
    assert_null(registry_find(f->packer.steps, (struct wire_step_id){8, 0}));
    assert_true(marked(f, "7"));
    assert_false(marked(f, "8"));
    assert_true(marked(f, "8.end"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_is_told, open_node, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_why_is_kept, open_node, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_markers_of_ended, open_two, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
