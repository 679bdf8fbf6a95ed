/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_packer - the machine profile that the daemon reads at its start: one that fits, and those
 * without which it goes on. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"

#define TWO_NODES "package:2 [numa] l3:2 core:2 pu:1"

/* The daemon starts again with that file (NULL: none). Returns what it logged. */
static const char *start_with(struct fixture *f, const char *text)
{
    static char log[512];
    FILE *file, *caught = tmpfile();
    int saved = dup(STDERR_FILENO);
    size_t length;

    assert_non_null(caught);
    unlink(f->conf.machine_profile);
    if (text) {
        file = fopen(f->conf.machine_profile, "we");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
    }
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

static void test_machine(void **state)
{
    struct fixture *f = fixture_open(TWO_NODES);

    (void)state;
    assert_null(f->packer.machine);
    assert_string_equal(
        start_with(f, "{\"version\":1,\"nodes\":[{\"cores\":4},{\"node\":1,\"cores\":3}]}"), "");
    assert_non_null(f->packer.machine);
    assert_int_equal(f->packer.machine->nodes, 2);
    assert_string_equal(start_with(f, NULL), "");
    assert_null(f->packer.machine);
    fixture_close(f);
}

static void test_bad_machine(void **state)
{
    static const struct {
        const char *text, *why;
    } row[] = {
        {"{", "machine.json: not "},
        {"{\"version\":1,\"nodes\":[{\"cores\":-1}]}", "machine.json: nodes[0].cores: negative"},
        {"{\"version\":1,\"nodes\":[{\"cores\":5}]}",
         "of another machine: its NUMA node 0 has 5 cores, this one's 4"},
        {"{\"version\":1,\"nodes\":[{\"cores\":1,\"node\":2}]}",
         "of another machine: its NUMA node 2 has 1 cores, this one's 0"},
    };
    struct fixture *f = fixture_open(TWO_NODES);

    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        const char *log = start_with(f, row[i].text);

        assert_null(f->packer.machine);
        if (!strstr(log, row[i].why) || !strstr(log, "going on without") ||
            strchr(log, '\n') != log + strlen(log) - 1)
            fail_msg("%s: %s", row[i].text, log);
    }
    fixture_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machine),
        cmocka_unit_test(test_bad_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
