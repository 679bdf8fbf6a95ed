/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_store - what the journal holds comes back as it was, whatever else stands in the file; and
 * the pool markers. */
#include "tests/unit/common/fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/enact/enact.h"
#include "packer/steps/adopt.h"
#include "packer/steps/journal.h"
#include "packer/slurm/steps/pool_marker.h"
#include "packer/steps/rank_tasks.h"

static int open_plain(void **state)
{
    *state = fixture_open(TWO_BY_TWO);
    return 0;
}

static int load(struct fixture *f, struct berth_error *err)
{
    fixture_restart(f);
    return journal_load(&f->packer, err);
}

static void load_well(struct fixture *f)
{
    struct berth_error err = {""};

    if (load(f, &err) < 0)
        fail_msg("%s", err.text);
}

static struct step *find(struct fixture *f, uint32_t job, uint32_t step)
{
    return registry_find(f->packer.steps, (struct wire_step_id){job, step});
}

static struct step *put(struct fixture *f, uint32_t job)
{
    struct step *step = fixture_put(f, job, 0, "0-3", 5, (const char *const[]){"0", "2-3", NULL});

    step->started_at = 1700000000;
    step->started_mono_s = 12.25;
    step->enacted.moves = 3;
    strcpy(step->enacted.reason, "because");
    strcpy(step->refused, "isolate");
    step->isolate_refused = step->slowdown_refused = true;
    strcpy(step->body.leaf, "slurm/uid_1/job_1/step_0");
    step->body.mems_home = cpus_of("1");
    step->body.stepd = 4711;
    step->body.stepd_started = 99;
    step->body.task[1].started = 12345678901;
    return step;
}

static void test_start(void **state)
{
    struct fixture *f = *state;
    struct step *step = put(f, 1);

    assert_int_equal(journal_start(&f->packer, step, NULL), 0);
    load_well(f);
    step = find(f, 1, 0);
    assert_non_null(step);
    assert_int_equal(step->state, STEP_PLACED);
    assert_int_equal(step->started_at, 1700000000);
    assert_true(step->started_mono_s == 12.25);
    assert_int_equal(step->enacted.moves, 3);
    assert_string_equal(step->enacted.reason, "because");
    assert_string_equal(step->refused, "isolate");
    assert_true(step->isolate_refused && step->slowdown_refused);
    assert_string_equal(step->body.leaf, "slurm/uid_1/job_1/step_0");
    assert_cpus(&step->body.job_home, "0-3");
    assert_cpus(&step->body.step_home, "0,2-3");
    assert_cpus(&step->body.mems_home, "1");
    assert_int_equal(step->body.ntasks, 2);
    assert_cpus(&step->body.task[1].home, "2-3");
    assert_cpus(&step->body.task[1].cpus, "2-3");
    assert_int_equal(step->body.task[1].pid, step->request.task[1].pid);
    assert_string_equal(step->request.exe, "/usr/bin/prog");
    assert_int_equal(step->body.stepd, 4711);
    assert_int_equal(step->body.stepd_started, 99);
    assert_int_equal(step->body.task[0].started, 0);
    assert_int_equal(step->body.task[1].started, 12345678901);
}

/* Ranks that are a step's tasks come back, and so do the tasks that Slurm has started. */
static void test_ranks(void **state)
{
    struct fixture *f = *state;
    struct step *step = put(f, 1);
    const struct step_rank rank[] = {{.pid = 700, .started = 7, .cpus = cpus_of("3")},
                                     {.pid = 701, .started = 8, .cpus = cpus_of("0")},
                                     {.pid = 702, .started = 9, .cpus = cpus_of("2")}};

    step->enacted.unread = true;
    step->enacted.left_for = WIRE_LEFT_BOUND;
    assert_int_equal(rank_tasks_take(step, rank, 3), 0);
    assert_int_equal(journal_start(&f->packer, step, NULL), 0);
    load_well(f);
    step = find(f, 1, 0);
    assert_non_null(step);
    assert_true(step->enacted.unread);
    assert_int_equal(step->enacted.left_for, WIRE_LEFT_BOUND);
    assert_true(rank_tasks_are(step, rank, 3));
    assert_cpus(&step->body.task[0].home, "3");
    assert_cpus(&step->body.task[2].cpus, "2");
    assert_int_equal(step->body.task[1].started, 8);
    rank_tasks_drop(step);
    assert_int_equal(step->body.ntasks, 2);
    assert_cpus(&step->body.task[1].home, "2-3");
    assert_int_equal(step->body.task[1].started, 12345678901);
    assert_int_equal(journal_start(&f->packer, step, NULL), 0);
    load_well(f);
    assert_false(find(f, 1, 0)->body.ranks);
}

/* In the journal, the first `is` becomes `other`, which is as long. */
static void rewrite(struct fixture *f, const char *is, const char *other)
{
    char text[4096], *at;
    char path[256];
    int fd;

    snprintf(path, sizeof(path), "%s/journal", f->dir);
    fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    text[read(fd, text, sizeof(text) - 1)] = '\0';
    at = strstr(text, is);
    assert_non_null(at);
    assert_int_equal(strlen(is), strlen(other));
    memcpy(at, other, strlen(other));
    assert_int_equal(pwrite(fd, text, strlen(text), 0), strlen(text));
    close(fd);
}

/* That a step's memory is dealt is there, and not in the journal of a berth that did not say it; a
 * later one may say more. */
static void test_dealt(void **state)
{
    struct fixture *f = *state;
    struct step *step = put(f, 1);

    step->inside.deal.dealt = true;
    assert_int_equal(journal_start(&f->packer, step, NULL), 0);
    rewrite(f, "\"late\":", "\"over\":");
    load_well(f);
    assert_true(find(f, 1, 0)->inside.deal.dealt);
    rewrite(f, "\"dealt\":", "\"heaps\":");
    load_well(f);
    assert_false(find(f, 1, 0)->inside.deal.dealt);
    assert_string_equal(find(f, 1, 0)->enacted.reason, "because");
}

/* The journal of a berth that did not say when tasks began. */
static void test_start_of_an_older_berth(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(journal_start(&f->packer, put(f, 1), NULL), 0);
    rewrite(f, "\"started\":[", "\"unknown\":[");
    load_well(f);
    assert_int_equal(find(f, 1, 0)->body.task[1].started, 0);
    assert_cpus(&find(f, 1, 0)->body.task[1].home, "2-3");
}

static void test_end(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(journal_start(&f->packer, put(f, 1), NULL), 0);
    assert_int_equal(journal_start(&f->packer, put(f, 2), NULL), 0);
    assert_int_equal(journal_end(&f->packer, (struct wire_step_id){1, 0}, NULL), 0);
    assert_int_equal(journal_end(&f->packer, (struct wire_step_id){9, 9}, NULL), 0);
    load_well(f);
    assert_null(find(f, 1, 0));
    assert_non_null(find(f, 2, 0));
    assert_int_equal(f->packer.steps->nlive, 1);
    assert_int_equal(f->packer.steps->nended, 0);
}

/* An end that could not be written (a full disk) must not leave two of a name. */
static void test_started_twice(void **state)
{
    struct fixture *f = *state;
    struct step *step = put(f, 1);

    assert_int_equal(journal_start(&f->packer, step, NULL), 0);
    step->started_at++;
    assert_int_equal(journal_start(&f->packer, step, NULL), 0);
    load_well(f);
    assert_int_equal(f->packer.steps->nlive, 1);
    assert_int_equal(find(f, 1, 0)->started_at, 1700000001);
}

static void test_stand(void **state)
{
    struct fixture *f = *state;
    struct pool *pool = f->packer.state->pool;

    for (size_t core = 0; core < 4; core++)
        pool_join(pool, core);
    assert_int_equal(journal_stand(&f->packer, pool, NULL), 0);
    assert_int_equal(pool_assign(pool, 2, (size_t[]){0, 3}, (size_t[]){3, 0}), 0);
    assert_int_equal(journal_stand(&f->packer, pool, NULL), 0);
    load_well(f);
    assert_stand(f->packer.state->pool, "3 1 2 0 - - - -"); /* the last word */
}

static void test_compact(void **state)
{
    struct fixture *f = *state;
    struct step *ended = put(f, 1);
    size_t size;

    assert_int_equal(journal_start(&f->packer, ended, NULL), 0);
    assert_int_equal(journal_start(&f->packer, put(f, 2), NULL), 0);
    pool_join(f->packer.state->pool, 5);
    registry_end(f->packer.steps, ended);
    size = journal_size(&f->packer);
    assert_int_equal(journal_compact(&f->packer, false, NULL), 0);
    assert_int_equal(journal_size(&f->packer), size); /* small enough */
    assert_int_equal(journal_compact(&f->packer, true, NULL), 0);
    assert_true(journal_size(&f->packer) < size);
    load_well(f);
    assert_null(find(f, 1, 0));
    assert_non_null(find(f, 2, 0));
    assert_stand(f->packer.state->pool, "- - - - - 5 - -");
}

/* One that somebody has removed is there again, however small. */
static void test_removed(void **state)
{
    struct fixture *f = *state;
    char path[PATH_MAX];

    assert_int_equal(journal_start(&f->packer, put(f, 1), NULL), 0);
    snprintf(path, sizeof(path), "%s/journal", f->dir);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(journal_compact(&f->packer, false, NULL), 0);
    load_well(f);
    assert_non_null(find(f, 1, 0));
}

/* As many tasks as a message just holds come back. */
/* What sizing took away is journaled; a journal of a berth that did not size has all. */
static void test_size(void **state)
{
    struct fixture *f = *state;
    struct step *step = put(f, 1);

    step->body.task[1].sized = step->body.task[1].use = cpus_of("3");
    step->size.cores = 3;
    step->size.given = 2;
    strcpy(step->size.reason, "so");
    strcpy(step->size.others, ", with others");
    step->size.others_at = 1;
    assert_int_equal(journal_start(&f->packer, step, NULL), 0);
    load_well(f);
    step = find(f, 1, 0);
    assert_cpus(&step->body.task[0].use, "0");
    assert_cpus(&step->body.task[1].use, "3");
    assert_cpus(&step->body.task[1].home, "2-3");
    assert_int_equal(step->size.given, 2);
    assert_string_equal(step->size.reason, "so");
    assert_string_equal(step->size.others, ", with others");
    assert_int_equal(step->size.others_at, 1);
}

/* Of cores that several jobs have, each has a part; where it stands, which is to be known before
 * anybody's threads are read. */
static void test_parts(void **state)
{
    struct fixture *f = *state;
    struct step *step = put(f, 1);

    step->body.task[1].use = cpus_of("2");
    assert_int_equal(journal_start(&f->packer, step, NULL), 0);
    load_well(f);
    step = find(f, 1, 0);
    assert_cpus(&step->body.task[1].sized, "2-3");
    assert_cpus(&step->body.task[1].use, "2");
    adopt_places(&f->packer);
    assert_cpus(&step->body.task[1].cpus, "2");
}

static void test_many_tasks(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, 0, "0", "0", 3400, NULL);
    struct step *step = registry_add(f->packer.steps, &request);

    assert_non_null(step);
    assert_int_equal(journal_start(&f->packer, step, NULL), 0);
    load_well(f);
    assert_int_equal(find(f, 1, 0)->body.ntasks, 3400);
}

/* More tasks than a message can hold cannot come over the wire, and are not journaled half. */
static void test_too_many_tasks(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, 0, "0", "0", 8000, NULL);
    struct berth_error err = {""};
    struct step *step = registry_add(f->packer.steps, &request);
    size_t size = journal_size(&f->packer);

    assert_non_null(step);
    assert_int_equal(journal_start(&f->packer, step, &err), -1);
    assert_non_null(strstr(err.text, "journal"));
    assert_int_equal(journal_size(&f->packer), size);
}

/* ---- what else may stand in the file ---- */

static void append_text(struct fixture *f, const char *text)
{
    char path[256];
    int fd;

    snprintf(path, sizeof(path), "%s/journal", f->dir);
    fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void test_unreadable(void **state)
{
    static const struct {
        const char *line, *why;
    } cases[] = {
        {"{\"op\":\"start\"}\n", "request: missing"},
        {"{\"op\":\"start\",\"request\":{}}\n", "version: missing"},
        {"{\"op\":\"start\",\"request\":{\"version\":1,\"op\":\"status\"}}\n", "no registration"},
        {"{\"op\":\"end\",\"job\":1}\n", "step: missing"},
        {"{\"op\":\"stand\"}\n", "stand: missing"},
        {"{\"op\":\"stand\",\"stand\":7}\n", "stand: array"},
        {"{\"op\":\"sit\"}\n", "op: 'sit'"},
        {"[]\n", "not a JSON object"},
        {"x\n", "not a JSON object"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fixture *f = fixture_open(TWO_BY_TWO);
        struct berth_error err = {""};

        assert_int_equal(journal_start(&f->packer, put(f, 1), NULL), 0);
        append_text(f, cases[i].line);
        assert_int_equal(load(f, &err), -1);
        if (!strstr(err.text, cases[i].why))
            fail_msg("%s'%s'", cases[i].line, err.text);
        fixture_close(f);
    }
}

/* A start with one field of its body wrong: not a step that could not be put back. */
static void test_body_fields(void **state)
{
    static const char *const fields[] = {"leaf", "job_home", "step_home", "mems_home", "homes"};

    (void)state;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        struct fixture *f = fixture_open(TWO_BY_TWO);
        struct berth_error err = {""};
        char path[256], line[8192], *at;
        FILE *file;

        assert_int_equal(journal_start(&f->packer, put(f, 1), NULL), 0);
        snprintf(path, sizeof(path), "%s/journal", f->dir);
        file = fopen(path, "re");
        assert_non_null(fgets(line, sizeof(line), file));
        fclose(file);
        at = strstr(line, fields[i]);
        assert_non_null(at);
        *at = 'X';
        assert_int_equal(truncate(path, 0), 0);
        append_text(f, line);
        assert_int_equal(load(f, &err), -1);
        assert_non_null(strstr(err.text, fields[i]));
        assert_int_equal(f->packer.steps->nlive, 0);
        fixture_close(f);
    }
}

/* Placements of another topology, or none at all: everybody starts from home. */
static void test_stand_of_another_machine(void **state)
{
    static const char *const lines[] = {
        "{\"op\":\"stand\",\"stand\":[[0,1],[1,99]]}\n",
        "{\"op\":\"stand\",\"stand\":[[0,1],[1,1]]}\n",
        "{\"op\":\"stand\",\"stand\":[[0,5]]}\n",
        "{\"op\":\"stand\",\"stand\":[[0,-1]]}\n",
    };
    struct fixture *f = *state;

    log_open(LOG_TARGET_STDERR, LOG_LEVEL_ERROR);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        append_text(f, lines[i]);
    append_text(f, "{\"op\":\"stand\",\"stand\":[7,[0],[\"a\",\"b\"],[99,1]]}\n");
    load_well(f);
    assert_true(pool_count(f->packer.state->pool) <= 1); /* ["a","b"] reads as [0,0] */
    for (size_t core = 0; core < f->packer.pool->cores; core++)
        assert_true(!pool_has(f->packer.state->pool, core) || f->packer.pool->stand[core] == core);
}

static void test_torn_line(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(journal_start(&f->packer, put(f, 1), NULL), 0);
    append_text(f, "{\"op\":\"end\",\"job\":1,\"st");
    load_well(f);
    assert_non_null(find(f, 1, 0));
}

/* ---- markers ---- */

static bool marked(const struct fixture *f, const char *name)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/pool/%s", f->dir, name);
    return access(path, F_OK) == 0;
}

static void test_mark(void **state)
{
    struct fixture *f = *state;
    struct step *step = put(f, 7);

    step->request.options.mode = WIRE_MODE_OFF;
    pool_marker_update(&f->packer, 7);
    assert_false(marked(f, "7"));
    step->request.options.mode = WIRE_MODE_OBSERVE;
    pool_marker_update(&f->packer, 7);
    pool_marker_update(&f->packer, 7);
    assert_true(marked(f, "7"));
    registry_end(f->packer.steps, step);
    pool_marker_update(&f->packer, 7);
    assert_false(marked(f, "7"));
}

/* After its last step here a job has the marker that only asks for its end. */
static void test_mark_end(void **state)
{
    struct fixture *f = *state;
    struct known_jobs *jobs = f->packer.state->jobs;
    struct step *step = put(f, 7);

    known_jobs_begin(jobs, 7, step->request.uid, step->started_at);
    known_jobs_begin(jobs, 8, step->request.uid, step->started_at);
    pool_marker_update(&f->packer, 7);
    pool_marker_update(&f->packer, 8); /* no step of it opted in */
    assert_true(marked(f, "7"));
    assert_false(marked(f, "7.end"));
    assert_true(marked(f, "8.end"));
    registry_end(f->packer.steps, step);
    pool_marker_update(&f->packer, 7);
    assert_false(marked(f, "7"));
    assert_true(marked(f, "7.end"));
    known_jobs_find(jobs, 7)->over = true;
    known_jobs_find(jobs, 8)->over = true;
    pool_marker_update(&f->packer, 7);
    assert_false(marked(f, "7.end"));
    assert_true(marked(f, "8.end"));
    pool_marker_tidy(&f->packer); /* nobody told of it */
    assert_false(marked(f, "8.end"));
}

static void test_mark_all(void **state)
{
    struct fixture *f = *state;
    struct stat st;
    char path[256];

    snprintf(path, sizeof(path), "%s/pool/99", f->dir);
    assert_int_equal(close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644)), 0);
    put(f, 7);
    put(f, 8)->request.options.mode = WIRE_MODE_OFF;
    pool_marker_update_all(&f->packer);
    assert_true(marked(f, "7"));
    assert_false(marked(f, "8"));
    assert_false(marked(f, "99")); /* what a dead daemon left */
    snprintf(path, sizeof(path), "%s/pool", f->dir);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0711); /* users do not list whose jobs are here */
    pool_marker_remove_all(&f->packer);
    assert_false(marked(f, "."));
    pool_marker_remove_all(&f->packer);
    pool_marker_update_all(&f->packer);
    assert_true(marked(f, "7"));
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_plain, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_start),
        test(test_ranks),
        test(test_dealt),
        test(test_start_of_an_older_berth),
        test(test_end),
        test(test_started_twice),
        test(test_stand),
        test(test_compact),
        test(test_removed),
        test(test_size),
        test(test_parts),
        test(test_many_tasks),
        test(test_too_many_tasks),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_body_fields),
        test(test_stand_of_another_machine),
        test(test_torn_line),
        test(test_mark),
        test(test_mark_end),
        test(test_mark_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
