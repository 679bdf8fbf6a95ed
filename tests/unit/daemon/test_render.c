/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_render - the JSON that berthctl gets: every stage in the order of the way of the data, and
 * null for what was not measured. */
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <string.h>

#include "packer/daemon/render.h"
#include "packer/daemon/render_course.h"
#include "packer/observe/course.h"
#include "packer/place/place.h"

static int open_plain(void **state)
{
    *state = fixture_open(TWO_BY_TWO);
    return 0;
}

/* The field at "a.b.c" (numbers index arrays) must print as that. */
static void assert_field(struct json_object *object, const char *path, const char *json)
{
    char part[64];

    for (const char *at = path; *at;) {
        size_t length = strcspn(at, ".");

        memcpy(part, at, length);
        part[length] = '\0';
        if (json_object_is_type(object, json_type_array))
            object = json_object_array_get_idx(object, (size_t)(part[0] - '0'));
        else if (!json_object_object_get_ex(object, part, &object))
            fail_msg("%s: no %s", path, part);
        at += length + (at[length] == '.');
    }
    assert_string_equal(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN), json);
}

static void assert_keys(struct json_object *object, const char *keys)
{
    char now[512] = "";

    json_object_object_foreach(object, key, value)
    {
        (void)value;
        strcat(strcat(now, now[0] ? " " : ""), key);
    }
    assert_string_equal(now, keys);
}

static void test_node(void **state)
{
    struct fixture *f = *state;
    struct json_object *node;

    node = render_node(&f->packer);
    assert_field(node, "name", "null"); /* no step has said it yet */
    assert_field(node, "pool", "\"\"");
    assert_field(node, "steps", "0");
    json_object_put(node);
    fixture_profile(f, "high", 9000);
    fixture_run(f, 1, "0-1", NULL);
    fixture_run(f, 2, "2", "high");
    node = render_node(&f->packer);
    assert_field(node, "name", "\"here\"");
    assert_field(node, "topology", "\"" TWO_BY_TWO "\"");
    assert_field(node, "packages", "2");
    assert_field(node, "llcs", "4");
    assert_field(node, "cores", "8");
    assert_field(node, "pool", "\"0-2\"");
    assert_field(node, "steps", "2");
    assert_field(node, "enforcement", "\"dryrun\"");
    assert_field(node, "rungs",
                 "{\"measured pairs\":0,\"stack distances\":1,\"counters\":0,\"miss rate\":0,"
                 "\"probe\":0,\"average\":1,\"nothing\":0}");
    assert_field(node, "policy", "\"di\"");
    assert_field(node, "registrations", "2");
    assert_field(node, "failures", "0");
    assert_field(node, "refused", "0");
    json_object_put(node);
}

static void test_pool_has_all_threads(void **state)
{
    struct fixture *f = *state;
    struct json_object *node;

    pool_join(f->packer.state->pool, 1);
    node = render_node(&f->packer);
    assert_field(node, "pool", "\"2-3\"");
    json_object_put(node);
}

static void test_step(void **state)
{
    struct fixture *f = *state;
    struct step *step;
    struct json_object *object;

    fixture_profile(f, "low", 10);
    fixture_profile(f, "high", 9000);
    step = fixture_run(f, 1, "0", "low");
    fixture_run(f, 2, "2", "high");
    fixture_exchange(f, 0, 2);
    object = render_step(&f->packer, step);
    assert_keys(object, "id job step state verified uid command tasks class miss_pmi policy "
                        "predicted_slowdown rung confidence home cpus llc mems "
                        "elapsed_s user_s system_s cpu_wait_s trial energy_j ipc clock_ghz bytes_s "
                        "slowdown");
    assert_field(object, "id", "\"1.0\"");
    assert_field(object, "state", "\"placed\"");
    assert_field(object, "command", "\"prog\"");
    assert_field(object, "class", "\"turtle\"");
    assert_field(object, "miss_pmi", "10.0");
    assert_field(object, "home", "\"0\"");
    assert_field(object, "cpus", "\"2\"");
    assert_field(object, "llc", "[1]");
    assert_field(object, "user_s", "null");
    json_object_put(object);
}

static void test_unknown_is_null(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, WIRE_STEP_BATCH, "0-3", "0-3", 1, NULL);
    struct json_object *object;
    struct step *step;

    request.exe = "";
    request.hash[0] = '\0';
    step = fixture_start(f, request);
    object = render_step(&f->packer, step);
    assert_field(object, "id", "\"1.batch\"");
    assert_field(object, "command", "null");
    assert_field(object, "miss_pmi", "null");
    assert_field(object, "class", "\"unprofiled\"");
    assert_field(object, "llc", "[0,1]");
    json_object_put(object);
    object = render_explanation(&f->packer, step, 0);
    assert_field(object, "request.exe", "null");
    assert_field(object, "profile.key", "null");
    assert_field(object, "profile.known", "false");
    assert_field(object, "profile.miss_pmi", "null");
    assert_field(object, "observe.maxrss_kib", "null");
    assert_field(object, "observe.cores_used", "null");
    assert_field(object, "bill.energy_j", "null");
    assert_field(object, "bill.package_j", "null");
    assert_field(object, "bill.power_w", "null");
    assert_field(object, "bill.edp", "null");
    assert_field(object, "bill.edp_per_instruction", "null");
    assert_field(object, "bill.source", "null");
    json_object_put(object);
}

static void test_explanation(void **state)
{
    struct fixture *f = *state;
    struct json_object *object;
    struct step *step;

    fixture_profile(f, "high", 9000);
    step = fixture_run(f, 1, "0", "high");
    fixture_start(f, fixture_request(2, 3, "1", "1", 1, NULL));
    object = render_explanation(&f->packer, step, 0);
    assert_keys(
        object,
        "id state was started_at ended_at exit_status request identity profile class size place "
        "enforce ranks replace thermal proposed memory faithful tranquil shuffle adapt follow throttle flex "
        "locks "
        "prefetch frequency observe "
        "bill slowdown loss course");
    assert_field(object, "was", "null");
    assert_field(object, "ended_at", "null");
    assert_field(object, "exit_status", "null");
    assert_field(object, "request.options", "\"auto,tag=high\"");
    assert_field(object, "request.job_cores", "\"0\"");
    assert_field(object, "profile.key", "\"tag:high\"");
    assert_field(object, "profile.miss_pmi", "9000.0");
    assert_field(object, "profile.source", "\"valgrind\"");
    assert_field(object, "class.name", "\"devil\"");
    assert_field(object, "profile.core_gbps", "null");
    assert_field(object, "size.cores", "1");
    assert_field(object, "size.constraint", "null");
    assert_field(object, "size.gbps", "null");
    assert_field(object, "size.nodes", "[{\"node\":0,\"cores\":1,\"given\":1}]");
    assert_field(object, "size.idle", "\"\"");
    assert_field(object, "size.offered", "\"\"");
    assert_field(object, "place.rank", "1");
    assert_field(object, "place.of", "2");
    assert_field(object, "place.rung", "\"stack distances\"");
    assert_field(object, "place.max_slowdown", "null");
    assert_field(object, "place.neighbours",
                 "[{\"id\":\"2.3\",\"program\":\"prog\",\"class\":\"unprofiled\",\"miss_pmi\":null,"
                 "\"llc\":0,\"shared\":\"\"}]");
    json_object_put(object);
    object =
        render_explanation(&f->packer, step, 65534); /* somebody else's neighbours have no name */
    assert_field(object, "place.neighbours",
                 "[{\"id\":null,\"program\":\"prog\",\"class\":\"unprofiled\",\"miss_pmi\":null,"
                 "\"llc\":0,\"shared\":\"\"}]");
    assert_field(object, "enforce.way", "\"dryrun\"");
    assert_field(object, "enforce.tasks.0.id", "0");
    assert_field(object, "enforce.tasks.0.cpus", "\"0\"");
    assert_field(object, "slowdown.proposed", "null"); /* it is placed */
    json_object_put(object);
    step->slowdown = (struct step_slowdown){
        .now = NAN, .home = NAN, .as_if = NAN, .as_if_sum = 0.5, .as_if_s = 2};
    object = render_explanation(&f->packer, step, 0);
    assert_field(object, "slowdown.proposed", "0.25");
    json_object_put(object);
}

/* DIO-POWER's two predictions; a step that DI places has none. */
/* A batch script that waits for its job's steps is nobody's neighbour and takes no core; one that
 * works alone is both. */
static void test_batch_script(void **state)
{
    struct fixture *f = *state;
    struct step *step;
    struct json_object *object;

    step = fixture_run(f, 1, "0", NULL);
    fixture_start(f, fixture_request(2, WIRE_STEP_BATCH, "1", "1", 1, NULL));
    object = render_explanation(&f->packer, step, 0);
    assert_field(object, "place.neighbours",
                 "[{\"id\":\"2.batch\",\"program\":\"prog\",\"class\":\"unprofiled\",\"miss_pmi\":"
                 "null,\"llc\":0,\"shared\":\"\"}]");
    json_object_put(object);
    fixture_start(f, fixture_request(2, 0, "1", "1", 1, NULL));
    object = render_explanation(&f->packer, step, 0);
    assert_field(object, "place.neighbours",
                 "[{\"id\":\"2.0\",\"program\":\"prog\",\"class\":\"unprofiled\",\"miss_pmi\":null,"
                 "\"llc\":0,\"shared\":\"\"}]");
    json_object_put(object);
}

/* Who shares a core is told, and on which CPUs, where each hardware thread is a place. */
static void test_siblings(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO_SMT);
    struct json_object *object;
    struct step *step;

    (void)state;
    fixture_split(f);
    step = fixture_start(f, fixture_request(1, 0, "0,3", "0,3", 1, NULL));
    fixture_start(f, fixture_request(2, 0, "1", "1", 1, NULL));
    fixture_start(f, fixture_request(3, 0, "4", "4", 1, NULL));
    object = render_explanation(&f->packer, step, 0);
    assert_field(object, "place.neighbours",
                 "[{\"id\":\"2.0\",\"program\":\"prog\",\"class\":\"unprofiled\",\"miss_pmi\":null,"
                 "\"llc\":0,\"shared\":\"0\"}]");
    json_object_put(object);
    object = render_node(&f->packer);
    assert_field(object, "places", "\"threads\"");
    assert_field(object, "cores", "16");
    json_object_put(object);
    fixture_close(f);
}

/* What pages draw: each cache, its cores, those of the pool, those with a step. */
static void test_caches(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, 0, "0-2", "0", 1, NULL);
    struct json_object *node;

    fixture_start(f, request);
    node = render_node_to(&f->packer, 0);
    assert_field(node, "caches.0.package", "0");
    assert_field(node, "caches.0.cpus", "\"0-1\"");
    assert_field(node, "caches.0.cores", "2");
    assert_field(node, "caches.0.pool", "2");
    assert_field(node, "caches.0.used", "1");
    assert_field(node, "caches.1.pool", "1");
    assert_field(node, "caches.1.used", "0");
    assert_field(node, "caches.3.package", "1");
    assert_field(node, "caches.3.pool", "0");
    json_object_put(node);
}

static void test_edp(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(2, 0, "4-7", "4", 1, "none");
    struct json_object *object;
    struct step *plain;

    fixture_profile(f, "none", 0);
    strcpy(f->packer.world.conf.energy_model, "idle=40W,core=5W,sleep=10W");
    plain = fixture_run(f, 1, "0", "none");
    request.options.edp = true;
    object = render_explanation(&f->packer, fixture_start(f, request), 0);
    assert_field(object, "place.policy", "\"dio-power\"");
    assert_field(object, "place.policy_asked", "\"dio-power\"");
    assert_field(object, "place.edp_choice", "\"cluster\"");
    assert_field(object, "place.edp_source", "\"model\"");
    assert_field(object, "place.edp_cluster", "90.0"); /* nothing is to be gained: on package 1 */
    assert_field(object, "place.edp_spread", "90.0");
    json_object_put(object);
    object = render_explanation(&f->packer, plain, 0);
    assert_field(object, "place.policy", "\"di\"");
    assert_field(object, "place.edp_choice", "null");
    assert_field(object, "place.edp_source", "null");
    assert_field(object, "place.edp_cluster", "null");
    assert_field(object, "place.edp_spread", "null");
    json_object_put(object);
    f->packer.world.conf.policy = WIRE_POLICY_DIO_POWER;
    object = render_node(&f->packer);
    assert_field(object, "policy", "\"dio-power\"");
    json_object_put(object);
}

/* What is only observed stands where Slurm put it, whatever was decided. */
static void test_observed(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(2, 0, "1-2", "1", 1, "high");
    struct json_object *object;
    struct step *step;

    fixture_profile(f, "high", 9000);
    fixture_run(f, 1, "0", "high");
    request.options.mode = WIRE_MODE_OBSERVE;
    step = fixture_start(f, request);
    object = render_step(&f->packer, step);
    assert_field(object, "state", "\"observed\"");
    assert_field(object, "home", "\"1\"");
    assert_field(object, "cpus", "\"1\"");
    assert_field(object, "llc", "[0]");
    json_object_put(object);
    object = render_explanation(&f->packer, step, 0);
    assert_field(object, "place.cpus", "\"2\"");
    json_object_put(object);
}

static void test_ended(void **state)
{
    struct fixture *f = *state;
    struct json_object *object;
    struct wire_end end = {
        .id = {1, 0}, .exit_status = 9, .user_s = 2, .system_s = 1, .maxrss_kib = 5};
    struct step *step = fixture_run(f, 1, "0", NULL);

    fixture_run(f, 2, "1", NULL);
    step->started_mono_s -= 10;
    pipeline_end(&f->packer, &end);
    object = render_explanation(&f->packer, TAILQ_FIRST(&f->packer.steps->ended), 0);
    assert_field(object, "state", "\"ended\"");
    assert_field(object, "was", "\"placed\"");
    assert_field(object, "exit_status", "9");
    assert_field(object, "place.neighbours", "[]"); /* of now, not of then */
    assert_field(object, "observe.user_s", "2.0");
    assert_field(object, "observe.maxrss_kib", "5");
    json_object_put(object);
}

/* What its processes let nobody see is named, and whether it is their own doing. */
static void test_unread(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_run(f, 1, "0", NULL);
    struct json_object *object = render_explanation(&f->packer, step, 0);

    assert_field(object, "observe.unread", "[]");
    json_object_put(object);
    step->seek.looked = HANDS_HUNG;
    step->ranks.looked = HANDS_REFUSED;
    object = render_explanation(&f->packer, step, 0);
    assert_field(object, "observe.unread",
                 "[{\"what\":\"program\",\"hung\":true},{\"what\":\"ranks\",\"hung\":false}]");
    json_object_put(object);
}

static double cores_used(struct fixture *f, struct step *step)
{
    struct json_object *object = render_explanation(&f->packer, step, 0), *observe, *used;
    double value;

    assert_true(json_object_object_get_ex(object, "observe", &observe));
    assert_true(json_object_object_get_ex(observe, "cores_used", &used));
    value = used ? json_object_get_double(used) : NAN;
    json_object_put(object);
    return value;
}

/* Half a measurement is none. */
static void test_cores_used(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_run(f, 1, "0", NULL);

    step->ended_at = 1;
    step->ended_mono_s = step->started_mono_s + 10;
    step->use = (struct step_use){.user_s = 4, .system_s = 1};
    assert_float_equal(cores_used(f, step), 0.5, 1e-9);
    step->use.system_s = -1;
    assert_true(isnan(cores_used(f, step)));
}

/* However many tasks a step has, what is said of it fits a message. */
static void test_many_tasks(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_start(f, fixture_request(1, 0, "0-3", "0-3", 1000, NULL));
    struct json_object *object = render_explanation(&f->packer, step, 0), *tasks;

    tasks = json_object_object_get(json_object_object_get(object, "enforce"), "tasks");
    assert_int_equal(json_object_array_length(tasks), 512);
    assert_in_range(strlen(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN)), 1,
                    WIRE_MESSAGE_MAX - 64);
    assert_int_equal(json_object_get_int(json_object_object_get(
                         json_object_object_get(object, "request"), "tasks")),
                     1000);
    json_object_put(object);
}

/* Text of users stays text. */
static void test_hostile_name(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, 0, "0", "0", 1, NULL);
    struct json_object *object;

    request.exe = "/tmp/a\"},\n{\"x";
    object = render_step(&f->packer, fixture_start(f, request));
    assert_field(object, "command", "\"a\\\"},\\n{\\\"x\"");
    json_object_put(object);
}

/* With PrivateData a user is told nothing of others: not how many steps there are, nor on which
 * cores, nor who is beside him. Root is told all. */
static void test_private_data(void **state)
{
    static const char *const hidden[] = {
        "pool",     "steps",     "rungs",   "energy",           "registrations", "moves",
        "failures", "strangers", "refused", "refused_in_a_row", "failed_open",   "silence"};
    struct fixture *f = *state;
    struct wire_register request = fixture_request(7, 0, "0", "0", 1, NULL);
    struct json_object *object;
    struct step *step;

    f->packer.world.private_data = true;
    request.uid = 1001;
    step = fixture_start(f, request);
    request = fixture_request(8, 0, "1", "1", 1, NULL);
    request.uid = 1002;
    fixture_start(f, request);
    object = render_node_to(&f->packer, 1001);
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        assert_field(object, hidden[i], "null");
    assert_field(object, "cores", "8");
    assert_field(object, "caches.0.used", "null");
    assert_field(object, "caches.0.pool", "null");
    json_object_put(object);
    object = render_node_to(&f->packer, 0);
    assert_field(object, "steps", "2");
    assert_field(object, "caches.0.used", "2");
    json_object_put(object);
    object = render_explanation(&f->packer, step, 1001);
    assert_field(object, "place.neighbours", "[]");
    assert_field(object, "place.rank", "null");
    assert_field(object, "place.of", "null");
    assert_field(object, "place.share", "null");
    assert_null(strstr(json_object_to_json_string(object), " of 2 by"));
    json_object_put(object);
    object = render_explanation(&f->packer, step, 0);
    assert_field(object, "place.of", "2");
    assert_non_null(strstr(json_object_to_json_string(object), " of 2 by"));
    json_object_put(object);
}

/* What happened beside a step is told to all, unless others are hidden; who it was to root and its
 * owner only. */
static void test_course(void **state)
{
    static const struct course_event came = {
        .at_s = 11, .kind = COURSE_CAME, .other = {.id = {7, 0}, .uid = 4000, .program = "p"}};
    struct fixture *f = *state;
    struct step *step = fixture_run(f, 1, "0", NULL);
    struct json_object *object;

    assert_null(render_course(step, false, 0)); /* no window has ended */
    course_add(step->course, &(struct course_point){1, 11.04, NAN, 1.5});
    course_happened(step->course, &came);
    object = render_course(step, true, 4000);
    assert_field(object, "from_s", "[1.0]");
    assert_field(object, "to_s", "[11.0]");
    assert_field(object, "instructions_s", "[null]");
    assert_field(object, "cpu", "[1.5]");
    assert_field(object, "events",
                 "[{\"at_s\":11.0,\"what\":\"came\",\"id\":\"7.0\",\"program\":\"p\"}]");
    json_object_put(object);
    object = render_course(step, false, 4001);
    assert_field(object, "events",
                 "[{\"at_s\":11.0,\"what\":\"came\",\"id\":null,\"program\":\"p\"}]");
    json_object_put(object);
    object = render_course(step, true, 4001);
    assert_field(object, "events", "[]");
    json_object_put(object);
}

static int open_smt(void **state)
{
    *state = fixture_open(TWO_BY_TWO_SMT);
    return 0;
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_plain, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_node),
        cmocka_unit_test_setup_teardown(test_pool_has_all_threads, open_smt, fixture_teardown),
        cmocka_unit_test(test_siblings),
        test(test_step),
        test(test_unknown_is_null),
        test(test_explanation),
        test(test_batch_script),
        test(test_caches),
        test(test_edp),
        test(test_observed),
        test(test_ended),
        test(test_cores_used),
        test(test_unread),
        test(test_many_tasks),
        test(test_hostile_name),
        test(test_course),
        test(test_private_data),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
