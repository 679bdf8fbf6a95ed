/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_packer - the machine profile that the daemon reads at its start: one that fits, and those
 * without which it goes on; and a profile store that is damaged. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/common/fixture.h"

#define TWO_NODES "package:2 [numa] l3:2 core:2 pu:1"

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* The daemon starts again. Returns what it logged. */
static const char *start(struct fixture *f)
{
    static char log[512];
    FILE *caught = tmpfile();
    int saved = dup(STDERR_FILENO);
    size_t length;

    assert_non_null(caught);
    log_open(LOG_TARGET_STDERR, LOG_LEVEL_WARN);
    fflush(stderr);
    dup2(fileno(caught), STDERR_FILENO);
    fixture_restart(f);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(caught);
    length = fread(log, 1, sizeof(log) - 1, caught);
    log[length] = '\0';
    fclose(caught);
    return log;
}

/* The daemon starts again with that machine profile (NULL: none). Returns what it logged. */
static const char *start_with(struct fixture *f, const char *text)
{
    unlink(f->conf.machine_profile);
    if (text)
        write_file(f->conf.machine_profile, text);
    return start(f);
}

static void test_machine(void **state)
{
    struct fixture *f = fixture_open(TWO_NODES);

    (void)state;
    assert_null(f->packer.world.machine);
    assert_string_equal(
        start_with(f, "{\"version\":1,\"nodes\":[{\"cores\":4},{\"node\":1,\"cores\":3}]}"), "");
    assert_non_null(f->packer.world.machine);
    assert_int_equal(f->packer.world.machine->nodes, 2);
    assert_string_equal(start_with(f, NULL), "");
    assert_null(f->packer.world.machine);
    fixture_close(f);
}

static void test_bad_machine(void **state)
{
    static const struct {
        const char *text, *why;
    } row[] = {
        {"{", "machine.json: not "},
        {"{\"version\":1,\"nodes\":[{\"cores\":-1}]}",
         "machine.json: nodes[0].cores: -1: between 1 and 4096"},
        {"{\"version\":1,\"nodes\":[{\"cores\":5}]}",
         "of another machine: its NUMA node 0 has 5 cores, this one's 4"},
        {"{\"version\":1,\"nodes\":[{\"cores\":1,\"node\":2}]}",
         "of another machine: its NUMA node 2 has 1 cores, this one's 0"},
    };
    struct fixture *f = fixture_open(TWO_NODES);

    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        const char *log = start_with(f, row[i].text);

        assert_null(f->packer.world.machine);
        if (!strstr(log, row[i].why) || !strstr(log, "going on without") ||
            strchr(log, '\n') != log + strlen(log) - 1)
            fail_msg("%s: %s", row[i].text, log);
    }
    fixture_close(f);
}

/* Overwritten while berthd was dead: it starts, adopts what it left and undoes it; a launch finds
 * nothing about its program, until the file has been moved away. */
static void test_damaged_profiles(void **state)
{
    struct fixture *f = fixture_open(TWO_NODES);
    const char *log, *devil = "devil";
    struct berth_error err;

    (void)state;
    fixture_paper(f);
    fixture_profile(f, devil, 20000);
    assert_true(fixture_run(f, 1, "0", devil)->profile.known);
    write_file(f->conf.profile_db, "nothing that SQLite would know, and longer than its head\n");
    log = start(f);
    if (!strstr(log, "profiles.db: damaged") || !strstr(log, "going on without") ||
        strchr(log, '\n') != log + strlen(log) - 1)
        fail_msg("%s", log);
    assert_int_equal(pipeline_resume(&f->packer, &err), 0);
    assert_non_null(registry_find(f->packer.steps, (struct wire_step_id){1, 0}));
    assert_false(fixture_run(f, 2, "1", devil)->profile.known);
    assert_int_equal(unlink(f->conf.profile_db), 0);
    fixture_profile(f, devil, 20000);
    assert_true(fixture_run(f, 3, "2", devil)->profile.known);
    fixture_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machine),
        cmocka_unit_test(test_bad_machine),
        cmocka_unit_test(test_damaged_profiles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
