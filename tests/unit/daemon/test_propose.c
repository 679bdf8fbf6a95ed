/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_propose - a site's own policy, by the lines of its messages, on a made machine whose sensors
 * (hwmon_tree.h), clocks (cpufreq_tree.h) and prefetchers (msr_tree.h) are files: who may, what is
 * done, what is refused and how it says why, and that all of it is undone. */
#include "tests/unit/common/clock_stands.h"
#include "tests/unit/common/cpufreq_tree.h"
#include "tests/unit/common/fixture.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/hwmon_tree.h"
#include "tests/unit/common/msr_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/daemon/requests.h"
#include "packer/enact/propose.h"
#include "packer/figures/figures.h"
#include "packer/serve/reply.h"
#include "packer/steps/journal.h"
#include "packer/steps/registers.h"

#define CPUS 8
#define ALICE 1000

static char devices[128];

static int begin_on(void **state, const char *topology, size_t together)
{
    struct fixture *f = fixture_open(topology);

    snprintf(devices, sizeof(devices), "%s/devices", f->dir);
    folder_make(f->dir, "devices");
    msr_tree_make(devices, 2 * CPUS, MSR_TREE_HASWELL);
    hwmon_tree_make(devices, 2, 4);
    if (together)
        cpufreq_tree_make(devices, 2 * CPUS, together);
    snprintf(f->conf.device_root, sizeof(f->conf.device_root), "%s", devices);
    f->conf.replace = CONF_OFF;
    fixture_paper(f);
    fixture_restart(f);
    fixture_busy(f, NULL);
    *state = f;
    return 0;
}

static int setup(void **state)
{
    return begin_on(state, TWO_BY_TWO, 1);
}

static int begin_pairs(void **state)
{
    return begin_on(state, TWO_BY_TWO, 2);
}

static int begin_smt(void **state)
{
    return begin_on(state, TWO_BY_TWO_SMT, 1);
}

static int begin_bare(void **state)
{
    return begin_on(state, TWO_BY_TWO, 0);
}

/* Asks as the user; the answer's lines, static. */
static const char *ask(struct fixture *f, uid_t uid, const char *question)
{
    static char text[16384];
    struct evbuffer *out = evbuffer_new();
    struct reply *reply = reply_open(&f->packer, request_ops, uid, question, strlen(question));
    ssize_t n;

    while (reply_next(reply, out) == REPLY_MORE)
        ;
    reply_end(reply);
    n = evbuffer_copyout(out, text, sizeof(text) - 1);
    assert_true(n > 0);
    text[n] = '\0';
    evbuffer_free(out);
    return text;
}

static const char *propose_as(struct fixture *f, uid_t uid, const char *what)
{
    char question[512];

    snprintf(question, sizeof(question),
             "{\"version\":1,\"op\":\"propose\",\"policy\":\"mine\",\"job\":1,\"step\":0,%s}\n",
             what);
    return ask(f, uid, question);
}

static void done(struct fixture *f, const char *what)
{
    assert_string_equal(propose_as(f, 0, what), "{\"version\":1,\"ok\":true}\n");
}

/* It is refused, and says so. */
static void refused(struct fixture *f, const char *what, const char *why)
{
    char wanted[512];

    snprintf(wanted, sizeof(wanted), "{\"version\":1,\"ok\":false,\"error\":\"%s\"}\n", why);
    assert_string_equal(propose_as(f, 0, what), wanted);
}

/* The CPUs of the step. */
static const char *at(const struct step *step)
{
    static char text[CPUS_TEXT_MAX];
    struct cpus its;

    enforce_union(&step->body, ENFORCE_PLACE, &its);
    assert_int_equal(cpus_format(&its, text, sizeof(text)), 0);
    return text;
}

static void assert_clocks(size_t from, size_t to, long khz)
{
    for (size_t cpu = from; cpu <= to; cpu++)
        assert_int_equal(cpufreq_tree_get(devices, cpu), khz);
}

/* ---- who may ---- */

static void test_who(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_start(f, fixture_request(1, 0, "0-3", "0", 1, "p"));

    assert_non_null(strstr(propose_as(f, ALICE, "\"cpus\":\"2\""),
                           "\"error\":\"only root and whom berth.conf grants propose may\""));
    assert_non_null(strstr(ask(f, ALICE, "{\"version\":1,\"op\":\"cores\"}\n"), "\"ok\":false"));
    assert_string_equal(at(step), "0");
    strcpy(f->packer.world.conf.propose_users, "7,1000");
    assert_string_equal(propose_as(f, ALICE, "\"cpus\":\"2\""), "{\"version\":1,\"ok\":true}\n");
    assert_string_equal(at(step), "2");
    assert_non_null(strstr(ask(f, ALICE, "{\"version\":1,\"op\":\"status\"}\n"), "\"id\":\"1.0\""));
    assert_null(strstr(ask(f, 1001, "{\"version\":1,\"op\":\"status\"}\n"), "\"id\":\"1.0\""));
}

/* ---- places ---- */

static void test_to_a_free_core(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_start(f, fixture_request(1, 0, "0-3", "0", 1, "p"));

    done(f, "\"cpus\":\"3\"");
    assert_string_equal(at(step), "3");
    done(f, "\"cpus\":\"3\""); /* it stands there already */
    assert_int_equal(step->proposed.changes, 2);
    fixture_restart(f); /* the journal has it */
    assert_int_equal(journal_load(&f->packer, NULL), 0);
    assert_stand(f->packer.pool, "3 1 2 0 - - - -");
}

/* Who stands there changes places with it. */
static void test_exchange(void **state)
{
    struct fixture *f = *state;
    struct step *a = fixture_run(f, 1, "0-1", "a"), *b = fixture_run(f, 2, "2-3", "b");

    done(f, "\"cpus\":\"1-2\"");
    assert_string_equal(at(a), "1-2");
    assert_string_equal(at(b), "0,3");
    fixture_end(f, 1, 0);
    assert_string_equal(at(b), "2-3"); /* nobody stands on cores that were given back */
}

/* Of a step of two tasks one is moved; two of them can change places. */
static void test_a_task(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_start(f, fixture_request(1, 0, "0-3", "0-1", 2, "p"));

    done(f, "\"cpus\":\"3\",\"task\":1");
    assert_string_equal(at(step), "0,3");
    assert_cpus(&step->body.task[1].cpus, "3");
    done(f, "\"cpus\":\"3\",\"task\":0");
    assert_cpus(&step->body.task[0].cpus, "3");
    assert_cpus(&step->body.task[1].cpus, "0");
    refused(f, "\"cpus\":\"3\",\"task\":2", "step 1.0: task 2: it has 2");
}

static void test_refusals(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_start(f, fixture_request(1, 0, "0-3", "0", 1, "p")), *other;

    refused(f, "\"cpus\":\"4\"", "step 1.0: CPU 4 is not in the pool");
    refused(f, "\"cpus\":\"1-2\"", "step 1.0: it has 1 core, not 2");
    refused(f, "\"cpus\":\"99\"", "step 1.0: the node has not all of these CPUs");
    refused(f, "\"cpus\":\"1\",\"khz\":1200000", "one of cpus, khz and prefetch expected, not 2");
    refused(f, "\"for_s\":5", "one of cpus, khz and prefetch expected, not 0");
    refused(f, "\"khz\":1200000,\"task\":0", "task: only beside cpus");
    refused(f, "\"prefetch\":\"auto\"", "prefetch: on or off expected");
    other = fixture_run(f, 2, "4-5", "b");
    other->enacted.kept = true;
    refused(f, "\"cpus\":\"5\"", "step 1.0: CPU 5: step 2.0 may not go to CPU 0: it stays there");
    other->enacted.kept = false;
    other->request.options.isolate = true;
    refused(f, "\"cpus\":\"5\"",
            "step 1.0: CPU 0: step 1.0 may not go to CPU 5: somebody is to be isolated there");
    assert_string_equal(at(step), "0");
    assert_int_equal(step->proposed.refused, 5);
    assert_string_equal(step->proposed.why,
                        "CPU 0: step 1.0 may not go to CPU 5: somebody is to be isolated there");
    fixture_end(f, 1, 0);
    refused(f, "\"cpus\":\"1\"", "step 1.0: it is not here");
}

/* One that cannot be verified is put back. */
static void test_it_fails(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_start(f, fixture_request(1, 0, "0-3", "0", 1, "p"));

    f->fails = 1;
    assert_non_null(strstr(propose_as(f, 0, "\"cpus\":\"2\""), "step 1.0: it was put back: "));
    assert_string_equal(at(step), "0");
}

/* No more in a minute than replace_limit; they come back one by one. */
static void test_rate(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_start(f, fixture_request(1, 0, "0-3", "0", 1, "p"));

    f->packer.world.conf.replace_limit = 2;
    done(f, "\"cpus\":\"1\"");
    refused(f, "\"cpus\":\"5\"", "step 1.0: CPU 5 is not in the pool"); /* costs nothing */
    done(f, "\"cpus\":\"2\"");
    refused(f, "\"cpus\":\"3\"",
            "step 1.0: replace_limit: 2 proposals were carried out in a minute, the next may be in "
            "30 s");
    assert_string_equal(at(step), "2");
    clock_stands_s += 30;
    done(f, "\"cpus\":\"3\"");
}

/* ---- the greatest frequency ---- */

static void test_khz(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_start(f, fixture_request(1, 0, "0-3", "0-1", 1, "p"));

    done(f, "\"khz\":1900000"); /* the driver has 1.8 GHz */
    assert_clocks(0, 1, 1800000);
    assert_clocks(2, 7, CPUFREQ_TREE_HIGHEST);
    done(f, "\"khz\":1400000");
    assert_clocks(0, 1, 1400000);
    done(f, "\"cpus\":\"2-3\""); /* it follows the step */
    pipeline_observe(&f->packer);
    assert_clocks(0, 1, CPUFREQ_TREE_HIGHEST);
    assert_clocks(2, 3, 1400000);
    refused(f, "\"khz\":900000", "step 1.0: CPU 2 has from 1200000 to 2400000 kHz");
    assert_clocks(2, 3, 1400000);
    fixture_end(f, 1, 0);
    assert_clocks(0, 7, CPUFREQ_TREE_HIGHEST);
    assert_int_equal(f->packer.state->registers->n, 0);
    (void)step;
}

/* It holds for a minute, unless it is proposed again; or ends at once. */
static void test_it_ends_by_itself(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, fixture_request(1, 0, "0-3", "0-1", 1, "p"));
    done(f, "\"khz\":1200000");
    clock_stands_s += 50;
    done(f, "\"khz\":1200000,\"for_s\":20");
    clock_stands_s += 19;
    pipeline_observe(&f->packer);
    assert_clocks(0, 1, 1200000);
    clock_stands_s += 1;
    pipeline_observe(&f->packer);
    assert_clocks(0, 1, CPUFREQ_TREE_HIGHEST);
    done(f, "\"khz\":1200000");
    done(f, "\"khz\":1200000,\"for_s\":0");
    assert_clocks(0, 1, CPUFREQ_TREE_HIGHEST);
}

/* What a machine's administrator has written is less: it is not raised; or is another value
 * meanwhile: it is his. */
static void test_somebody_else(void **state)
{
    struct fixture *f = *state;

    cpufreq_tree_put(devices, 0, 1600000);
    fixture_start(f, fixture_request(1, 0, "0-3", "0-1", 1, "p"));
    done(f, "\"khz\":2000000");
    assert_int_equal(cpufreq_tree_get(devices, 0), 1600000);
    assert_int_equal(cpufreq_tree_get(devices, 1), 2000000);
    cpufreq_tree_put(devices, 1, 2200000);
    fixture_end(f, 1, 0);
    assert_int_equal(cpufreq_tree_get(devices, 0), 1600000);
    assert_int_equal(cpufreq_tree_get(devices, 1), 2200000);
}

/* berthd is killed: the next one gives them back, as the journal says. */
static void test_killed(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, fixture_request(1, 0, "0-3", "0-1", 1, "p"));
    done(f, "\"khz\":2000000");
    done(f, "\"khz\":1200000");
    assert_clocks(0, 1, 1200000);
    fixture_restart(f);
    assert_int_equal(pipeline_resume(&f->packer, NULL), 0);
    assert_clocks(0, 7, CPUFREQ_TREE_HIGHEST);
}

/* Two cores have a clock together: it is nobody's who has not both; hardware threads have each
 * their own, and are the step's where it has the whole core. */
static void test_a_shared_clock(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, fixture_request(1, 0, "0-3", "0", 1, "p"));
    refused(f, "\"khz\":1200000", "step 1.0: others run on the cores whose clock its own have");
    fixture_end(f, 1, 0);
    fixture_start(f, fixture_request(1, 0, "0-3", "1-3", 1, "p"));
    done(f, "\"khz\":1200000");
    assert_int_equal(cpufreq_tree_get(devices, 2), 1200000);
    assert_int_equal(cpufreq_tree_get(devices, 0), CPUFREQ_TREE_HIGHEST);
}

static void test_hardware_threads(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, fixture_request(1, 0, "0-7", "0-3", 1, "p"));
    done(f, "\"khz\":1200000");
    assert_clocks(0, 3, 1200000);
    assert_clocks(4, 15, CPUFREQ_TREE_HIGHEST);
}

static void test_no_cpufreq(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, fixture_request(1, 0, "0-3", "0-1", 1, "p"));
    refused(f, "\"khz\":1200000",
            "step 1.0: no clock can be changed here: "
            "\\/sys\\/devices\\/system\\/cpu\\/cpu7\\/cpufreq\\/cpuinfo_min_freq: No such file or "
            "directory");
}

/* What nothing measures is null. */
static void test_nothing_known(void **state)
{
    struct fixture *f = *state;

    folder_remove(devices);
    assert_non_null(
        strstr(ask(f, 0, "{\"version\":1,\"op\":\"cores\"}\n"),
               "\"celsius\":null,\"t1\":null,\"t2\":null,\"khz\":null,\"khz_limit\":null"));
}

/* ---- prefetchers ---- */

static void test_prefetch(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, 0, "0-3", "0-1", 1, "p");

    fixture_start(f, request);
    done(f, "\"prefetch\":\"off\"");
    assert_int_equal(msr_tree_get(devices, 0), 0xf);
    assert_int_equal(msr_tree_get(devices, 2), 0);
    clock_stands_s += 60;
    pipeline_observe(&f->packer);
    assert_int_equal(msr_tree_get(devices, 0), 0);
    fixture_end(f, 1, 0);
    strcat(f->packer.world.conf.allow, ",prefetch");
    request = fixture_request(1, 0, "0-3", "0-1", 1, "p");
    request.options.prefetch = WIRE_PREFETCH_ON;
    fixture_start(f, request);
    refused(f, "\"prefetch\":\"off\"", "step 1.0: its user has asked for prefetch=on");
}

/* ---- what is told ---- */

static void test_cores(void **state)
{
    struct fixture *f = *state;
    const char *text;

    fixture_start(f, fixture_request(1, 0, "0-3", "0-1", 1, "p"));
    hwmon_tree_set(devices, 4, 1, 97);
    done(f, "\"khz\":1200000");
    text = ask(f, 0, "{\"version\":1,\"op\":\"cores\"}\n");
    assert_non_null(
        strstr(text, "{\"version\":1,\"ok\":true,\"more\":true,\"core\":{\"cpus\":\"1\",\"nodes\":"
                     "\"0\",\"pool\":true,\"off\":false,\"steps\":[[1,0]],\"celsius\":97.0,"
                     "\"t1\":82.0,\"t2\":100.0,\"khz\":1800000.0,\"khz_limit\":1200000.0,"
                     "\"khz_lowest\":1200000.0,\"khz_highest\":2400000.0}}\n"));
    assert_non_null(strstr(text, "\"cpus\":\"7\",\"nodes\":\"0\",\"pool\":false,\"off\":false,"
                                 "\"steps\":[],\"celsius\":40.0"));
    assert_non_null(strstr(text, "\n{\"version\":1,\"ok\":true,\"more\":false}\n"));
}

static void test_explained(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_start(f, fixture_request(1, 0, "0-3", "0-1", 1, "p"));
    struct json_object *explain = json_object_new_object(), *its;

    done(f, "\"khz\":1200000");
    refused(f, "\"cpus\":\"4-5\"", "step 1.0: CPU 4 is not in the pool");
    its = figures_object("proposed", &f->packer, step, false);
    json_object_object_del(its, "at");
    assert_string_equal(json_object_to_json_string_ext(its, JSON_C_TO_STRING_PLAIN),
                        "{\"by\":\"mine\",\"what\":\"cpus\",\"why\":\"CPU 4 is not in the pool\","
                        "\"changes\":1,\"refused\":1}");
    json_object_put(its);
    figures_inside(&f->packer, step, explain);
    its = json_object_object_get(explain, "frequency");
    assert_string_equal(json_object_to_json_string_ext(its, JSON_C_TO_STRING_PLAIN),
                        "{\"refused\":null,\"seconds\":0.0,\"khz\":1200000.0,\"own_clocks\":2,"
                        "\"changed_clocks\":2,\"changes\":1}");
    json_object_put(explain);
}

int main(void)
{
#define ON(test, setup) cmocka_unit_test_setup_teardown(test, setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        ON(test_who, setup),
        ON(test_to_a_free_core, setup),
        ON(test_exchange, setup),
        ON(test_a_task, setup),
        ON(test_refusals, setup),
        ON(test_it_fails, setup),
        ON(test_rate, setup),
        ON(test_khz, setup),
        ON(test_it_ends_by_itself, setup),
        ON(test_somebody_else, setup),
        ON(test_killed, setup),
        ON(test_a_shared_clock, begin_pairs),
        ON(test_hardware_threads, begin_smt),
        ON(test_no_cpufreq, begin_bare),
        ON(test_nothing_known, begin_bare),
        ON(test_prefetch, setup),
        ON(test_cores, setup),
        ON(test_explained, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
