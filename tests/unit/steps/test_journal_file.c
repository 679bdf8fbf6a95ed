/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_journal - what the journal keeps when its writer dies, its disk is full or a second one
 * comes. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/steps/journal_file.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/steps.h"

struct box {
    char dir[64], path[128];
    struct journal_file *journal;
};

static void open_it(struct box *box)
{
    struct berth_error err = {""};

    if (journal_file_open(&box->journal, box->path, &err) < 0)
        fail_msg("%s", err.text);
}

static int setup(void **state)
{
    struct box *box = calloc(1, sizeof(*box));

    assert_non_null(box);
    folder_new(box->dir, sizeof(box->dir), "test_journal");
    snprintf(box->path, sizeof(box->path), "%s/journal", box->dir);
    *state = box;
    return 0;
}

static int teardown(void **state)
{
    struct box *box = *state;

    journal_file_close(box->journal);
    assert_int_equal(folder_remove(box->dir), 0);
    free(box);
    return 0;
}

static struct json_object *entry_of(int number)
{
    struct json_object *entry = json_object_new_object();

    json_object_object_add(entry, "n", json_object_new_int(number));
    return entry;
}

static int append(struct box *box, int number, struct berth_error *err)
{
    struct json_object *entry = entry_of(number);
    int rc = journal_file_append(box->journal, entry, err);

    json_object_put(entry);
    return rc;
}

struct seen {
    size_t n, stop_after;
    int number[64];
};

static int see(struct json_object *entry, void *arg)
{
    struct seen *seen = arg;

    assert_true(seen->n < 64);
    seen->number[seen->n++] = json_object_get_int(json_object_object_get(entry, "n"));
    return seen->stop_after && seen->n == seen->stop_after;
}

/* The journal holds first, first + 1, ... n of them. */
static void expect(struct box *box, int first, size_t n)
{
    struct berth_error err = {""};
    struct seen seen = {0};

    if (journal_file_replay(box->journal, see, &seen, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(seen.n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(seen.number[i], first + (int)i);
}

static void test_entries_outlive_the_writer(void **state)
{
    struct box *box = *state;
    struct seen seen = {.stop_after = 2};
    struct stat info;

    open_it(box);
    assert_int_equal(journal_file_size(box->journal), 0);
    expect(box, 1, 0);
    for (int i = 1; i <= 3; i++)
        assert_int_equal(append(box, i, NULL), 0);
    expect(box, 1, 3);
    assert_int_equal(journal_file_size(box->journal), 3 * strlen("{\"n\":1}\n"));
    journal_file_close(box->journal);
    open_it(box);
    expect(box, 1, 3);
    assert_int_equal(append(box, 4, NULL), 0);
    expect(box, 1, 4);

    assert_int_equal(journal_file_replay(box->journal, see, &seen, NULL), 0);
    assert_int_equal(seen.n, 2);
    assert_int_equal(stat(box->path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
}

static void test_a_torn_line_was_never_written(void **state)
{
    static const struct {
        const char *text;
        size_t entries;
    } cases[] = {
        {"", 0},
        {"{", 0},
        {"{\"n\":1}", 0},
        {"{\"n\":1}\n", 1},
        {"{\"n\":1}\n{\"n\":2", 1},
        {"{\"n\":1}\n{\"n\":2}\n{\"n\":3}", 2},
    };
    struct box *box = *state;
    int next;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        file_put(box->path, cases[i].text);
        open_it(box);
        expect(box, 1, cases[i].entries);
        next = (int)cases[i].entries + 1;
        assert_int_equal(append(box, next, NULL), 0);
        expect(box, 1, cases[i].entries + 1);
        journal_file_close(box->journal);
        box->journal = NULL;
    }
}

static void test_a_bad_line_is_named(void **state)
{
    static const struct {
        const char *text;
        const char *line;
    } cases[] = {
        {"{\"n\":1}\nnonsense\n{\"n\":2}\n", ":2: not a JSON object"},
        {"[1]\n", ":1: not a JSON object"},
        {"null\n", ":1: not a JSON object"},
        {"{\"n\":1}\n\n", ":2: not a JSON object"},
    };
    struct box *box = *state;
    struct berth_error err;
    struct seen seen;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        file_put(box->path, cases[i].text);
        open_it(box);
        seen = (struct seen){0};
        assert_int_equal(journal_file_replay(box->journal, see, &seen, &err), -1);
        assert_non_null(strstr(err.text, cases[i].line));
        journal_file_close(box->journal);
        box->journal = NULL;
    }
}

/* As a berthd that was killed while one of its threads waited for the disk. */
static void test_one_that_is_dying_is_waited_for(void **state)
{
    struct box *box = *state;
    int ready[2], status;
    pid_t holder;
    char byte;

    assert_int_equal(pipe(ready), 0);
    holder = fork();
    assert_true(holder >= 0);
    if (holder == 0) {
        open_it(box);
        if (write(ready[1], "", 1) != 1)
            _exit(1);
        usleep(300000);
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    open_it(box);
    assert_int_equal(waitpid(holder, &status, 0), holder);
    assert_int_equal(status, 0);
    close(ready[0]);
    close(ready[1]);
}

static void test_a_second_berthd_is_refused(void **state)
{
    struct box *box = *state;
    struct journal_file *second = NULL;
    struct json_object *entry = entry_of(1);
    struct berth_error err;
    char want[256];

    open_it(box);
    snprintf(want, sizeof(want), "%s: in use by process %d", box->path, (int)getpid());
    assert_int_equal(journal_file_open(&second, box->path, &err), -1);
    assert_string_equal(err.text, want);
    assert_null(second);

    assert_int_equal(journal_file_rewrite(box->journal, 1, &entry, NULL), 0);
    json_object_put(entry);
    assert_int_equal(journal_file_open(&second, box->path, &err),
                     -1); /* renamed over, still locked */
    journal_file_close(box->journal);
    open_it(box);
    expect(box, 1, 1);
}

static void test_a_killed_writer_leaves_no_lock(void **state)
{
    struct box *box = *state;
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        if (journal_file_open(&box->journal, box->path, NULL) == 0 && append(box, 1, NULL) == 0)
            kill(getpid(), SIGKILL);
        _exit(1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    open_it(box);
    expect(box, 1, 1);
}

static void test_rewrite(void **state)
{
    struct json_object *entry[2] = {entry_of(7), entry_of(8)};
    struct box *box = *state;
    char path[160];

    open_it(box);
    for (int i = 1; i <= 3; i++)
        assert_int_equal(append(box, i, NULL), 0);
    assert_int_equal(journal_file_rewrite(box->journal, 2, entry, NULL), 0);
    expect(box, 7, 2);
    assert_int_equal(append(box, 9, NULL), 0);
    expect(box, 7, 3);
    journal_file_close(box->journal);
    open_it(box);
    expect(box, 7, 3);
    assert_int_equal(journal_file_rewrite(box->journal, 0, NULL, NULL), 0);
    assert_int_equal(journal_file_size(box->journal), 0);
    expect(box, 0, 0);
    snprintf(path, sizeof(path), "%s.new", box->path);
    assert_int_equal(access(path, F_OK), -1);
    json_object_put(entry[0]);
    json_object_put(entry[1]);
}

/* Who has removed the file, or put another one in its place, is noticed. */
static void test_a_removed_file_is_noticed(void **state)
{
    struct json_object *entry = entry_of(7);
    struct box *box = *state;

    open_it(box);
    assert_true(journal_file_is_there(box->journal));
    assert_int_equal(unlink(box->path), 0);
    assert_false(journal_file_is_there(box->journal));
    assert_int_equal(symlink("/dev/null", box->path), 0);
    assert_false(journal_file_is_there(box->journal));
    assert_int_equal(journal_file_rewrite(box->journal, 1, &entry, NULL), 0);
    assert_true(journal_file_is_there(box->journal));
    journal_file_close(box->journal);
    open_it(box);
    expect(box, 7, 1);
    json_object_put(entry);
}

/* The file may hold two entries and a half; a write(2) across the limit is cut short, the next one
 * fails. */
static void test_a_full_disk_changes_nothing(void **state)
{
    const size_t line = strlen("{\"n\":1}\n");
    struct json_object *entry[3] = {entry_of(4), entry_of(5), entry_of(6)};
    struct box *box = *state;
    struct rlimit was, limit;
    struct berth_error err = {""};
    char path[160];

    open_it(box);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    limit = (struct rlimit){.rlim_cur = 2 * line + line / 2, .rlim_max = was.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(append(box, 1, NULL), 0);
    assert_int_equal(append(box, 2, NULL), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(append(box, 3, &err), -1);
        assert_non_null(strstr(err.text, "/journal: cannot append: "));
        assert_int_equal(journal_file_size(box->journal), 2 * line);
    }
    assert_int_equal(journal_file_rewrite(box->journal, 3, entry, &err), -1);
    assert_non_null(strstr(err.text, "/journal.new: cannot write: "));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    signal(SIGXFSZ, SIG_DFL);

    expect(box, 1, 2);
    snprintf(path, sizeof(path), "%s.new", box->path);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(append(box, 3, NULL), 0);
    journal_file_close(box->journal);
    open_it(box);
    expect(box, 1, 3);
    for (size_t i = 0; i < 3; i++)
        json_object_put(entry[i]);
}

static void test_paths_that_do_not_work(void **state)
{
    struct box *box = *state;
    struct berth_error err;
    char long_path[PATH_MAX + 10], link[160];

    assert_int_equal(journal_file_open(&box->journal, "/nowhere/journal", &err), -1);
    assert_string_equal(err.text, "/nowhere/journal.lock: No such file or directory");
    memset(long_path, 'x', sizeof(long_path) - 1);
    long_path[sizeof(long_path) - 1] = '\0';
    assert_int_equal(journal_file_open(&box->journal, long_path, &err), -1);
    assert_non_null(strstr(err.text, "the path is too long"));

    snprintf(link, sizeof(link), "%s/elsewhere", box->dir);
    assert_int_equal(symlink(link, box->path), 0);
    assert_int_equal(journal_file_open(&box->journal, box->path, &err), -1);
    assert_int_equal(access(link, F_OK), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_entries_outlive_the_writer),
        TEST(test_a_torn_line_was_never_written),
        TEST(test_a_bad_line_is_named),
        TEST(test_one_that_is_dying_is_waited_for),
        TEST(test_a_second_berthd_is_refused),
        TEST(test_a_killed_writer_leaves_no_lock),
        TEST(test_rewrite),
        TEST(test_a_removed_file_is_noticed),
        TEST(test_a_full_disk_changes_nothing),
        TEST(test_paths_that_do_not_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
