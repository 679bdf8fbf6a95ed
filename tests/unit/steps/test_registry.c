/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_registry - every edge of the state machine and none else, what is live and what is history.
 */
#include "packer/base/json.h"
#include "tests/unit/common/fixture.h"
#include "packer/steps/program.h"
#include "enum_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int make(void **state)
{
    struct registry *registry = malloc(sizeof(*registry));

    registry_init(registry, 3);
    *state = registry;
    return 0;
}

static int unmake(void **state)
{
    registry_free(*state);
    free(*state);
    return 0;
}

static struct step *add(struct registry *registry, uint32_t job, uint32_t id)
{
    struct wire_register request = fixture_request(job, id, "0-1", "0", 2, "t");
    struct step *step = registry_add(registry, &request);

    assert_non_null(step);
    assert_null(request.task); /* taken over */
    return step;
}

static void test_edges(void **state)
{
    static const bool SPARSE(edge, STEP_STATES)[STEP_STATES] = {
        [STEP_NEW] =
            {[STEP_PLACED] = true, [STEP_OBSERVED] = true, [STEP_LEFT] = true, [STEP_ENDED] = true},
        [STEP_PLACED] = {[STEP_FAILED] = true, [STEP_LEFT] = true, [STEP_ENDED] = true},
        [STEP_OBSERVED] = {[STEP_LEFT] = true, [STEP_ENDED] = true},
        [STEP_LEFT] = {[STEP_PLACED] = true, [STEP_ENDED] = true},
        [STEP_FAILED] = {[STEP_ENDED] = true},
    };
    struct step step;

    (void)state;
    for (int from = 0; from < STEP_STATES; from++)
        for (int to = 0; to < STEP_STATES; to++) {
            step.state = (enum step_state)from;
            errno = 0;
            assert_int_equal(step_go(&step, (enum step_state)to), edge[from][to] ? 0 : -1);
            assert_int_equal(step.state, edge[from][to] ? to : from);
            assert_int_equal(errno, edge[from][to] ? 0 : EINVAL);
        }
}

static void test_names(void **state)
{
    (void)state;
    for (int i = 0; i < STEP_STATES; i++)
        assert_non_null(step_state_name[i]);
    for (int i = 0; i < STEP_CLASSES; i++)
        assert_non_null(step_class_name[i]);
    assert_string_equal(step_state_name[STEP_LEFT], "left");
    assert_string_equal(step_class_name[STEP_DEVIL], "devil");
}

/* Nothing is known of a new step, and nothing pretends to be. */
static void test_new_step(void **state)
{
    struct step *step = add(*state, 7, 1);

    assert_int_equal(step->state, STEP_NEW);
    assert_int_equal(step->exit_status, -1);
    assert_true(isnan(step->profile.miss_pmi));
    assert_false(step->profile.known);
    assert_true(step->use.user_s < 0 && step->use.system_s < 0);
    assert_int_equal(step->body.ntasks, 2);
    assert_int_equal(step->body.task[1].pid, step->request.task[1].pid);
    assert_int_equal(step->body.uid, 1000);
    assert_true(cpus_empty(&step->body.task[0].home));
}

static void test_find(void **state)
{
    struct registry *registry = *state;
    struct step *a = add(registry, 7, 0), *b = add(registry, 7, 1);

    assert_ptr_equal(registry_find(registry, (struct wire_step_id){7, 0}), a);
    assert_ptr_equal(registry_find(registry, (struct wire_step_id){7, 1}), b);
    assert_null(registry_find(registry, (struct wire_step_id){8, 0}));
    registry_end(registry, a);
    assert_null(registry_find(registry, (struct wire_step_id){7, 0}));
    registry_drop(registry, b);
    assert_null(registry_find(registry, (struct wire_step_id){7, 1}));
    assert_int_equal(registry->nlive, 0);
    assert_int_equal(registry->nended, 1);
}

static void test_order(void **state)
{
    struct registry *registry = *state;
    struct step *a = add(registry, 1, 0), *b = add(registry, 2, 0);

    assert_ptr_equal(TAILQ_FIRST(&registry->live), a);
    registry_end(registry, a);
    registry_end(registry, b);
    assert_ptr_equal(TAILQ_FIRST(&registry->ended), b); /* the newest first */
    assert_int_equal(b->state, STEP_ENDED);
}

static void test_history(void **state)
{
    struct registry *registry = *state;
    struct step *step;
    uint32_t newest = 9;

    for (uint32_t job = 0; job < 10; job++)
        registry_end(registry, add(registry, job, 0));
    assert_int_equal(registry->nended, 3);
    TAILQ_FOREACH(step, &registry->ended, link) assert_int_equal(step->request.id.job, newest--);
    registry->history = 1; /* berth.conf was read again */
    registry_end(registry, add(registry, 20, 0));
    assert_int_equal(registry->nended, 1);
    registry->history = 0;
    registry_end(registry, add(registry, 21, 0));
    assert_int_equal(registry->nended, 0);
    assert_true(TAILQ_EMPTY(&registry->ended));
}

static void test_job_lives(void **state)
{
    struct registry *registry = *state;
    struct step *shell = add(registry, 7, WIRE_STEP_BATCH), *inner;

    assert_true(registry_job_lives(registry, 7));
    assert_false(registry_only_waits(registry, shell));
    assert_false(registry_job_lives(registry, 8));
    inner = add(registry, 7, 0);
    assert_true(registry_only_waits(registry, shell));
    assert_false(registry_only_waits(registry, inner));
    registry_end(registry, inner);
    assert_false(registry_only_waits(registry, shell));
    registry_end(registry, shell);
    assert_false(registry_job_lives(registry, 7));
}

static void test_kinds(void **state)
{
    struct registry *registry = *state;
    struct step *step = add(registry, 1, 0);

    assert_false(step_is_shell(step));
    assert_true(step_is_shell(add(registry, 1, WIRE_STEP_BATCH)));
    assert_true(step_is_shell(add(registry, 1, WIRE_STEP_INTERACTIVE)));
    assert_false(step_is_shell(add(registry, 1, WIRE_STEP_EXTERN)));
    for (int i = 0; i < STEP_STATES; i++) {
        step->state = (enum step_state)i;
        assert_int_equal(step_movable(step), i == STEP_PLACED);
    }
}

/* A step keeps what its request only points at. */
static void test_texts(void **state)
{
    struct wire_register request = fixture_request(1, 0, NULL, NULL, 1, "t");
    char cores[] = "0-1", exe[] = "/bin/a";
    uint32_t group[] = {7, 8};
    struct step *step;

    request.job_cores = cores;
    request.exe = exe;
    request.group = group;
    request.ngroups = 2;
    step = registry_add(*state, &request);
    assert_non_null(step);
    cores[0] = exe[1] = 'x';
    group[0] = 0;
    assert_string_equal(step->request.job_cores, "0-1");
    assert_string_equal(step->request.step_cores, "");
    assert_string_equal(step->request.exe, "/bin/a");
    assert_int_equal(step->request.group[0], 7);
    assert_int_equal(step->request.group[1], 8);
}

static void test_profile_key(void **state)
{
    struct step *step = add(*state, 1, 0);
    char key[PROFILE_KEY_MAX], want[PROFILE_KEY_MAX];

    program_key(step, key);
    assert_string_equal(key, "tag:t");
    step->request.options.tag[0] = '\0';
    program_key(step, key);
    profile_key_exe(want, step->request.exe, step->request.hash);
    assert_string_equal(key, want);
    step->request.hash[0] = '\0'; /* a program that could not be read */
    program_key(step, key);
    assert_string_equal(key, "");
}

/* The longest path there can be. */
static void test_profile_key_fits(void **state)
{
    struct step *step = add(*state, 1, 0);
    char key[PROFILE_KEY_MAX], exe[PATH_MAX];

    step->request.options.tag[0] = '\0';
    memset(exe, 'x', sizeof(exe) - 1);
    exe[sizeof(exe) - 1] = '\0';
    step->request.exe = exe;
    program_key(step, key);
    assert_non_null(strstr(key, "xx#0123456789abcdef0123456789abcdef"));
}

#define test(name) cmocka_unit_test_setup_teardown(name, make, unmake)

/* ---- what sizing found out, as JSON ---- */

static void assert_size(const struct step_size *size, const char *wanted)
{
    struct json_object *object = json_object_new_object();

    json_write(object, step_size_fields, size);
    assert_string_equal(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN), wanted);
    json_object_put(object);
}

static void test_size(void **state)
{
    (void)state;
    assert_size(&(struct step_size){.cores = 4,
                                    .given = 2,
                                    .threads = 2,
                                    .modelled = true,
                                    .constraint = NUMEM_LOCAL_BANDWIDTH,
                                    .gbps = 10.5,
                                    .gbps_all = 11,
                                    .reason = "NuCore"},
                "{\"cores\":4,\"given\":2,\"threads\":2,\"constraint\":\"local bandwidth\","
                "\"gbps\":10.5,\"gbps_all\":11.0,\"reason\":\"NuCore\"}");
}

/* What is not known is null. */
static void test_size_unknown(void **state)
{
    (void)state;
    assert_size(
        &(struct step_size){
            .cores = 4, .given = 4, .gbps = NAN, .gbps_all = NAN, .reason = "no profile of it"},
        "{\"cores\":4,\"given\":4,\"threads\":null,\"constraint\":null,\"gbps\":null,"
        "\"gbps_all\":null,\"reason\":\"no profile of it\"}");
}

static void test_size_again(void **state)
{
    (void)state;
    for (int c = NUMEM_NONE; c <= NUMEM_CONTENTION + 1; c++) {
        struct step_size in = {.cores = 4,
                               .given = 2,
                               .threads = 3,
                               .modelled = c <= NUMEM_CONTENTION,
                               .constraint =
                                   c <= NUMEM_CONTENTION ? (enum numem_constraint)c : NUMEM_NONE,
                               .gbps = 1.25,
                               .gbps_all = NAN,
                               .reason = "because"},
                         out = {.gbps_all = NAN};
        struct json_object *object = json_object_new_object();
        struct berth_error err;

        json_write(object, step_size_fields, &in);
        assert_int_equal(json_read(object, step_size_fields, &out, &err), 0);
        assert_int_equal(out.cores, 4);
        assert_int_equal(out.given, 2);
        assert_int_equal(out.threads, 3);
        assert_int_equal(out.modelled, in.modelled);
        assert_int_equal(out.constraint, in.constraint);
        assert_true(out.gbps == 1.25 && isnan(out.gbps_all));
        assert_string_equal(out.reason, "because");
        json_object_put(object);
    }
}

static void test_size_wrong(void **state)
{
    static const char *const wrong[][2] = {
        {"{}", "cores"},
        {"{\"cores\":1}", "given"},
        {"{\"cores\":-1,\"given\":1,\"reason\":\"\"}", "cores"},
        {"{\"cores\":1,\"given\":1,\"constraint\":\"weather\",\"reason\":\"\"}", "constraint"},
        {"{\"cores\":1,\"given\":1,\"gbps\":\"x\",\"reason\":\"\"}", "gbps"},
        {"{\"cores\":1,\"given\":1}", "reason"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct json_object *object = json_parse(wrong[i][0], strlen(wrong[i][0]), NULL);
        struct berth_error err = {""};
        struct step_size size;

        assert_int_equal(json_read(object, step_size_fields, &size, &err), -1);
        assert_non_null(strstr(err.text, wrong[i][1]));
        json_object_put(object);
    }
}

/* Found by name and by job, whatever the order in which they came. */
static void test_index(void **state)
{
    static const struct wire_step_id ids[] = {{7, 1}, {3, 0}, {7, 0}, {9, WIRE_STEP_BATCH}};
    struct registry registry;
    struct step_index index;

    (void)state;
    registry_init(&registry, 1);
    for (size_t i = 0; i < 4; i++) {
        struct wire_register request = {.id = ids[i]};

        assert_non_null(registry_add(&registry, &request));
    }
    assert_int_equal(step_index_make(&registry, &index), 0);
    assert_int_equal(index.n, 4);
    for (size_t i = 0; i < 4; i++)
        assert_ptr_equal(step_index_find(&index, ids[i]), registry_find(&registry, ids[i]));
    assert_null(step_index_find(&index, (struct wire_step_id){7, 2}));
    assert_null(step_index_find(&index, (struct wire_step_id){10, 0}));
    assert_int_equal(step_index_of_job(&index, 3), 0);
    assert_int_equal(step_index_of_job(&index, 7), 1);
    assert_int_equal(step_index_of_job(&index, 8), 3);
    assert_int_equal(step_index_of_job(&index, 10), 4);
    step_index_free(&index);
    registry_free(&registry);
}

/* What has come and gone is decided for when nothing has for a while; who comes again and again
 * does not put it off for ever. */
static void test_burst(void **state)
{
    struct registry registry;
    double first_s, due_s;

    (void)state;
    registry_init(&registry, 1);
    assert_true(registry_change_due(&registry, 0.05) < 0);
    registry_note_change(&registry);
    first_s = registry.changed_s;
    due_s = registry_change_due(&registry, 0.05);
    assert_float_equal(due_s, first_s + 0.05, 1e-9);
    do
        registry_note_change(&registry);
    while (registry.changed_s < first_s + 0.001);
    assert_true(registry_change_due(&registry, 0.05) > due_s);
    assert_float_equal(registry_change_due(&registry, 60), first_s + REGISTRY_BURST_S, 1e-9);
    registry.changed = false;
    assert_true(registry_change_due(&registry, 0.05) < 0);
    registry_free(&registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_index),
        cmocka_unit_test(test_burst),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_names),
        test(test_new_step),
        test(test_find),
        test(test_order),
        test(test_history),
        test(test_job_lives),
        test(test_kinds),
        test(test_texts),
        test(test_profile_key),
        test(test_profile_key_fits),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_size_unknown),
        cmocka_unit_test(test_size_again),
        cmocka_unit_test(test_size_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
