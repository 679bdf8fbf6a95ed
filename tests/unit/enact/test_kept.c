/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_kept - steps that have to stay, on a node with idle cores, on paper: four caches of two
 * cores. */
#include "tests/unit/common/bound_process.h"
#include "tests/unit/common/fixture.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "packer/enact/bindings.h"
#include "packer/enact/enact.h"
#include "packer/steps/adopt.h"
#include "packer/steps/journal.h"

static int (*locate)(struct enforce *enforce, const char *node, struct enforce_step *step,
                     struct berth_error *err);

/* As on paper, where Slurm confines steps: who starts asks for his cores. */
static int locate_confined(struct enforce *enforce, const char *node, struct enforce_step *step,
                           struct berth_error *err)
{
    strcpy(step->leaf, "paper");
    return locate(enforce, node, step, err);
}

static void folder_of(const struct enforce *enforce, const struct enforce_step *step, char *dir)
{
    (void)enforce;
    sprintf(dir, "/cgroup/%u.%u", step->id.job, step->id.step);
}

static int open_idle(void **state)
{
    struct fixture *f;

    fixture_on_paper(state);
    f = *state;
    locate = f->way.locate;
    f->way.locate = locate_confined;
    f->way.folder = folder_of;
    f->packer.world.conf.idle = CONF_IDLE_ON;
    f->packer.world.conf.move = CONF_MOVE_KNOWN;
    f->packer.world.conf.policy = WIRE_POLICY_CONTEND;
    fixture_timed(f, "memory", 40000, 2e9);
    fixture_timed(f, "compute", 10, 2e9);
    return 0;
}

/* An OpenMP program whose environment binds its threads. */
static struct wire_register bound(uint32_t job, const char *cpus, const char *tag)
{
    struct wire_register request = fixture_request(job, 0, cpus, cpus, 1, tag);

    request.pin = WIRE_PIN_ENVIRONMENT;
    strcpy(request.pin_by, "OMP_PROC_BIND");
    request.pin_within = true;
    return request;
}

static void assert_begun(const struct step *step, const char *cpus)
{
    struct cpus bounds;

    assert_int_equal(step->state, STEP_PLACED);
    assert_true(step->enacted.kept);
    assert_cpus(&step->body.begun, cpus);
    enforce_bounds(&step->body, &bounds);
    assert_true(cpus_subset(&step->body.begun, &bounds));
    assert_true(cpus_subset(&step->body.step_home, &bounds));
}

static void assert_left(const struct step *step, const char *why)
{
    assert_int_equal(step->state, STEP_LEFT);
    assert_false(step->enacted.kept);
    assert_false(step->enacted.away);
    assert_true(cpus_empty(&step->body.begun));
    assert_non_null(strstr(step->enacted.reason, why));
}

/* A program that asks where it runs, and is taken for that or for one that may bind. */
static struct wire_register asks(uint32_t job, const char *cpus, enum wire_pin pin)
{
    struct wire_register request = bound(job, cpus, "memory");

    request.pin_within = false;
    request.pin = pin;
    strcpy(request.pin_by, "sched_getcpu");
    return request;
}

/* Who looks where it runs, and can bind nobody, begins elsewhere, too; one that may bind does not.
 */
static void test_who_looks_begins_elsewhere(void **state)
{
    struct fixture *f = *state;
    struct step *step;

    fixture_run(f, 1, "0", "memory");
    assert_left(fixture_start(f, asks(2, "1", WIRE_PIN_CALLS)), "sched_getcpu");
    fixture_end(f, 2, 0);
    step = fixture_start(f, asks(3, "1", WIRE_PIN_LOOKS));
    assert_true(step->enacted.kept);
    assert_false(cpus_intersect(&step->body.task[0].cpus, &f->packer.world.topo->llc[0].cpus));
    assert_string_equal(
        step->enacted.reason,
        "stays where it began: it may bind its threads, or remember its CPUs (sched_getcpu)");
}

/* Beside a neighbour that takes its cache it begins on an idle cache, and says so; nothing that
 * comes or goes moves it then. */
static void test_begins_elsewhere_and_stays(void **state)
{
    struct fixture *f = *state;
    struct cpus began;
    struct step *step;

    fixture_run(f, 1, "0", "memory");
    step = fixture_start(f, bound(2, "1", "memory"));
    began = step->body.task[0].cpus;
    assert_false(cpus_intersect(&began, &f->packer.world.topo->llc[0].cpus));
    assert_int_equal(step->state, STEP_PLACED);
    assert_true(cpus_equal(&step->body.begun, &began));
    assert_string_equal(step->enacted.reason,
                        "stays where it began: its threads bind themselves (OMP_PROC_BIND is set)");
    for (uint32_t job = 3; job < 8; job++) {
        static const char *const cpus[] = {"2", "3", "4", "5", "6"};

        fixture_run(f, job, cpus[job - 3], "memory");
        fixture_decide(f);
        assert_true(cpus_equal(&step->body.task[0].cpus, &began));
    }
    f->packer.world.conf.policy = WIRE_POLICY_DI;
    for (uint32_t job = 3; job < 8; job++) {
        fixture_end(f, job, 0);
        fixture_decide(f);
        assert_true(cpus_equal(&step->body.task[0].cpus, &began));
    }
}

/* By rule, too. */
static void test_begins_elsewhere_by_rule(void **state)
{
    struct fixture *f = *state;
    const struct step *step;

    f->packer.world.conf.policy = WIRE_POLICY_DI;
    fixture_profile(f, "devil", 20000);
    fixture_run(f, 1, "0", "devil");
    step = fixture_start(f, bound(2, "1", "devil"));
    assert_int_equal(step->state, STEP_PLACED);
    assert_false(cpus_has(&step->body.task[0].cpus, 1));
}

/* Alone on the node it has nothing to gain; a job that refuses others' cores, a program that names
 * CPUs, one of several steps of a job and a site that moves nobody: all at home, and left alone. */
static void test_begins_at_home(void **state)
{
    struct fixture *f = *state;
    struct wire_register request;

    assert_left(fixture_start(f, bound(1, "0", "compute")), "OMP_PROC_BIND");
    fixture_run(f, 2, "2", "memory");
    request = bound(3, "3", "memory");
    request.pin_within = false;
    assert_left(fixture_start(f, request), "OMP_PROC_BIND");
    fixture_end(f, 3, 0);
    request = fixture_request(3, 0, "3-4", "3", 1, "memory");
    request.pin = WIRE_PIN_ENVIRONMENT;
    request.pin_within = true;
    assert_left(fixture_start(f, request), "bind themselves");
    fixture_end(f, 3, 0);
    request = bound(3, "3", "memory");
    request.devices = "gpu:0";
    assert_left(fixture_start(f, request), "OMP_PROC_BIND");
    fixture_end(f, 3, 0);
    f->packer.world.conf.idle = CONF_IDLE_OFF;
    assert_left(fixture_start(f, bound(3, "3", "memory")), "OMP_PROC_BIND");
    fixture_end(f, 3, 0);
    f->packer.world.conf.idle = CONF_IDLE_ON;
    f->packer.world.conf.move = CONF_MOVE_NEVER;
    assert_left(fixture_start(f, bound(3, "3", "memory")), "moves nobody");
}

/* A neighbour that uses memory, and a step that has begun on the other memory node because of it.
 */
static struct step *begin_elsewhere(struct fixture *f, pid_t pid)
{
    struct wire_register request = bound(2, "1", "memory");
    struct step *step;

    fixture_run(f, 1, "0", "memory");
    if (pid)
        request.task[0].pid = pid;
    step = fixture_start(f, request);
    assert_begun(step, "4");
    return step;
}

/* Does the marker say these lines? */
static void assert_marked(const struct fixture *f, const char *lines)
{
    char path[128], text[256] = "";
    FILE *file;

    snprintf(path, sizeof(path), "%s/pool/idle", f->dir);
    file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, lines);
}

/* Who stands on idle cores is in the marker, for those who start while berthd does not answer. */
static void test_the_marker_says_who(void **state)
{
    struct fixture *f = *state;

    begin_elsewhere(f, 0);
    assert_marked(f, "4 1 /cgroup/2.0\n");
    fixture_run(f, 3, "6", "memory");
    assert_marked(f, "4 1 /cgroup/2.0\n");
    fixture_end(f, 2, 0);
    assert_marked(f, "");
}

/* Somebody who asked for nothing gets the core: it goes on, and may bind its threads to where it
 * began as before. It is not left alone: its next look is due. */
static void test_makes_room(void **state)
{
    struct fixture *f = *state;
    struct step *step = begin_elsewhere(f, 0);
    struct wire_register request = fixture_request(3, 0, "4", "4", 1, NULL);

    request.options.mode = WIRE_MODE_OFF;
    fixture_start(f, request);
    assert_cpus(&step->body.task[0].cpus, "1");
    assert_begun(step, "4");
    fixture_decide(f);
    assert_cpus(&step->body.task[0].cpus, "1");
}

/* Who opted in, and to whom Slurm gives the core, begins elsewhere: nobody moves for it. */
static void test_newcomer_begins_elsewhere(void **state)
{
    struct fixture *f = *state;
    const struct step *step = begin_elsewhere(f, 0), *bound_too, *free;

    bound_too = fixture_start(f, bound(3, "4", "compute"));
    free = fixture_run(f, 4, "5", "compute");
    assert_cpus(&step->body.task[0].cpus, "4");
    assert_false(cpus_intersect(&bound_too->body.task[0].cpus, &step->body.task[0].cpus));
    assert_false(cpus_intersect(&free->body.task[0].cpus, &step->body.task[0].cpus));
    assert_int_equal(bound_too->state, STEP_PLACED);
    assert_true(bound_too->enacted.kept);
}

/* The next berthd knows it; one that stops takes its threads home and leaves its cpuset wide. */
static void test_restart_and_stop(void **state)
{
    struct fixture *f = *state;
    struct step *step = begin_elsewhere(f, 0);
    struct berth_error err;
    char calls[64];

    fixture_restart(f);
    f->packer.world.conf.idle = CONF_IDLE_ON;
    assert_int_equal(pipeline_resume(&f->packer, &err), 0);
    step = fixture_step(f, 2, 0);
    assert_begun(step, "4");
    assert_cpus(&step->body.task[0].cpus, "4");
    fixture_forget(f);
    enact_restore(&f->packer, step);
    assert_cpus(&step->body.task[0].cpus, "1");
    snprintf(calls, sizeof(calls), "apply 2.0 1; ");
    assert_string_equal(f->calls, calls);
    assert_false(step->enacted.away);
    assert_begun(step, "4");
    fixture_forget(f);
    fixture_end(f, 2, 0);
    assert_non_null(strstr(f->calls, "restore 2.0 1"));
}

/* A thread that its program binds to where it began, after it has made room, gets what is in its
 * place. (On paper: the process is this machine's, bound to CPU 0, where the step began.) */
static void test_binds_to_where_it_began(void **state)
{
    pid_t pid = bound_process_start("0"); /* before the journal is locked */
    struct fixture *f;
    struct step *step;
    struct berth_error err;
    struct pool next;

    open_idle(state);
    f = *state;
    step = fixture_start(f, fixture_request(1, 0, "2", "2", 1, NULL));
    step->body.task[0].pid = pid;
    step->body.begun = cpus_of("0");
    assert_int_equal(pool_copy(&next, f->packer.state->pool), 0);
    assert_int_equal(enact_change(&f->packer, &next, NULL, 0, &err), 0);
    assert_true(bindings_read(&f->packer, step));
    assert_int_equal(step->state, STEP_PLACED);
    assert_int_equal(step->body.masks.n, 1);
    assert_cpus(&step->body.masks.mask[0].home, "2");
    bound_process_end(pid);
    fixture_teardown(state);
}

/* A thread that the plugin has sent home while berthd did not answer is not one that its program
 * has bound there. (On paper, as above: it stands on CPU 2, and its home is CPU 0.) */
static void test_sent_home_by_the_plugin(void **state)
{
    pid_t pid = bound_process_start("0"); /* before the journal is locked */
    struct wire_register request;
    struct fixture *f;
    struct step *step;
    char path[128];

    open_idle(state);
    f = *state;
    request = fixture_request(1, 0, "0", "0", 1, NULL);
    request.task[0].pid = pid;
    step = fixture_start(f, request);
    fixture_exchange(f, 0, 2);
    assert_cpus(&step->body.task[0].cpus, "2");
    snprintf(path, sizeof(path), "%s/pool/sent", f->dir);
    fclose(fopen(path, "w"));
    assert_true(bindings_read(&f->packer, step));
    assert_int_equal(step->body.masks.n, 0);
    assert_int_equal(unlink(path), 0);
    assert_false(bindings_read(&f->packer, step)); /* its program has, and is respected */
    assert_int_equal(step->state, STEP_LEFT);
    bound_process_end(pid);
    fixture_teardown(state);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, open_idle, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_begins_elsewhere_and_stays),
        CASE(test_who_looks_begins_elsewhere),
        CASE(test_begins_elsewhere_by_rule),
        CASE(test_begins_at_home),
        CASE(test_the_marker_says_who),
        CASE(test_makes_room),
        CASE(test_newcomer_begins_elsewhere),
        CASE(test_restart_and_stop),
        cmocka_unit_test(test_binds_to_where_it_began),
        cmocka_unit_test(test_sent_home_by_the_plugin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
