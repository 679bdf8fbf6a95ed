/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_stages - what happens to a step from its beginning to its end, in order, is what the page
 * says (CONTRIBUTING.md, The way of a step). */
#include "tests/unit/common/fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/daemon/stages.h"
#include "packer/steps/journal.h"

#define ROWS_MAX 64
#define EVENTS 8

static const char *const event_name[EVENTS] = {"open", "begin", "adopt", "turn",
                                               "end",  "gone",  "undo",  "close"};

/* ---- the page ---- */

struct row {
    char name[32], events[96];
};

static struct row page[ROWS_MAX];
static size_t rows;

/* Reads the lines "| stage | events |" of the section. */
static void read_page(void)
{
    const char *srcdir = getenv("srcdir");
    char path[512], line[1024];
    bool in = false;
    FILE *file;

    snprintf(path, sizeof(path), "%s/CONTRIBUTING.md", srcdir ? srcdir : ".");
    file = fopen(path, "r");
    assert_non_null(file);
    rows = 0;
    while (fgets(line, sizeof(line), file)) {
        if (strncmp(line, "## ", 3) == 0)
            in = strcmp(line, "## The way of a step\n") == 0;
        if (!in || rows == ROWS_MAX ||
            sscanf(line, "| %31[a-z' ] | %95[a-z, ] |", page[rows].name, page[rows].events) != 2 ||
            strncmp(page[rows].name, "stage ", 6) == 0)
            continue;
        *strrchr(page[rows].name, ' ') = '\0';
        rows++;
    }
    fclose(file);
}

static bool page_has(size_t row, const char *event)
{
    return strstr(page[row].events, event) != NULL;
}

/* Does the stage do something at this event? */
static bool stage_has(const struct stage *stage, size_t event)
{
    const bool has[EVENTS] = {stage->open, stage->begin, stage->adopt, stage->turn,
                              stage->end,  stage->gone,  stage->undo,  stage->close};

    return has[event];
}

static void test_page_is_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < rows; i++) {
        assert_non_null(stages_row(i));
        assert_string_equal(stages_row(i)->name, page[i].name);
        for (size_t event = 0; event < EVENTS; event++)
            if (page_has(i, event_name[event]) != stage_has(stages_row(i), event))
                fail_msg("%s: %s: the page and the table differ", page[i].name, event_name[event]);
    }
    assert_null(stages_row(rows));
}

/* ---- what happens ---- */

static char told[65536]; /* "EVENT STAGE;" one after the other, in the order in which they were */

/* Has the debug log go to a file, which read_log() turns into what was told. */
static int divert_log(int *log)
{
    int was = dup(STDERR_FILENO);

    *log = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    assert_true(*log >= 0);
    assert_true(dup2(*log, STDERR_FILENO) >= 0);
    log_open(LOG_TARGET_STDERR, LOG_LEVEL_DEBUG);
    return was;
}

/* Takes in what the log has of an event: "EVENT: STAGE, STAGE, ..". */
static void take_event(char *text)
{
    char *event = strtok(text, ":\n"), *name;

    for (size_t i = 0; i < EVENTS; i++)
        if (event && strcmp(event, event_name[i]) == 0)
            while ((name = strtok(NULL, ",\n")))
                snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s%s;", event, name);
}

static void read_log(int log, int was, uint32_t job)
{
    FILE *file = fdopen(log, "r");
    char line[2048], wanted[64], *at;

    log_open(LOG_TARGET_STDERR, LOG_LEVEL_ERROR);
    assert_true(dup2(was, STDERR_FILENO) >= 0);
    close(was);
    snprintf(wanted, sizeof(wanted), "step %u.0: ", job);
    told[0] = '\0';
    rewind(file);
    while (fgets(line, sizeof(line), file))
        if ((at = strstr(line, wanted)))
            take_event(at + strlen(wanted));
    fclose(file);
}

/* Adds what the page says of an event: from the top, or from the bottom. */
static void expect(char *text, size_t size, const char *event, bool from_bottom)
{
    for (size_t i = 0; i < rows; i++) {
        size_t row = from_bottom ? rows - 1 - i : i;
        bool has = page_has(row, event) || (strcmp(event, "adopt") == 0 && page_has(row, "begin"));

        if (has)
            snprintf(text + strlen(text), size - strlen(text), "%s %s;", event, page[row].name);
    }
}

static void test_a_life(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);
    char expected[sizeof(told)] = "";
    int log, was;

    (void)state;
    was = divert_log(&log);
    fixture_run(f, 1, "0", "prog");
    pipeline_observe(&f->packer);
    fixture_end(f, 1, 0);
    read_log(log, was, 1);
    expect(expected, sizeof(expected), "begin", false);
    expect(expected, sizeof(expected), "end", true);
    expect(expected, sizeof(expected), "gone", false);
    assert_string_equal(told, expected);
    fixture_close(f);
}

/* One that runs while berthd is stopped and started again. */
static void test_adopted(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);
    struct berth_error err = {""};
    char expected[sizeof(told)] = "";
    struct step *step;
    int log, was;

    (void)state;
    step = fixture_run(f, 1, "0", "prog");
    step->body.task[0].pid = getpid();
    journal_note(&f->packer, step);
    was = divert_log(&log);
    pipeline_undo(&f->packer);
    fixture_restart(f);
    fixture_paper(f);
    assert_int_equal(pipeline_resume(&f->packer, &err), 0);
    read_log(log, was, 1);
    expect(expected, sizeof(expected), "undo", true);
    expect(expected, sizeof(expected), "adopt", false);
    assert_string_equal(told, expected);
    fixture_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page_is_the_table),
        cmocka_unit_test(test_a_life),
        cmocka_unit_test(test_adopted),
    };

    read_page();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
