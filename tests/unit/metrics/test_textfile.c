/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_metrics_file - the text file: whole at any time, again and again, for its group only, gone
 * at the end; and what becomes of it when it cannot be written. */
#include "tests/unit/common/fixture.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "packer/metrics/textfile.h"
#include "tests/unit/common/metrics_page.h"

struct stand {
    struct fixture *f;
    struct event_base *base;
    struct metrics_textfile *file;
    const char *path;
};

static int set_up(void **state)
{
    struct stand *stand = calloc(1, sizeof(*stand));
    struct conf *conf;

    stand->f = fixture_open(TWO_BY_TWO);
    stand->base = event_base_new();
    conf = &stand->f->packer.world.conf;
    snprintf(conf->metrics_textfile, sizeof(conf->metrics_textfile), "%s/berth.prom",
             stand->f->dir);
    stand->path = conf->metrics_textfile;
    fixture_run(stand->f, 1, "0", NULL);
    *state = stand;
    return 0;
}

static int tear_down(void **state)
{
    struct stand *stand = *state;

    metrics_textfile_close(stand->file);
    event_base_free(stand->base);
    fixture_close(stand->f);
    free(stand);
    return 0;
}

static void open_file(struct stand *stand)
{
    struct berth_error err = {""};

    if (metrics_textfile_open(&stand->file, stand->base, &stand->f->packer, &err) < 0)
        fail_msg("%s", err.text);
    assert_non_null(stand->file);
}

/* The file, waited for; NULL after 20 seconds. Nobody reads a part of it. */
static struct page *read_file(const char *path)
{
    for (size_t i = 0; i < 2000; i++) {
        char text[1 << 16], why[256] = "";
        FILE *file = fopen(path, "r");
        struct page *page;
        size_t length;

        if (!file) {
            usleep(10000);
            continue;
        }
        length = fread(text, 1, sizeof(text), file);
        fclose(file);
        page = page_read(text, length, false, why);
        if (!page)
            fail_msg("%s", why);
        return page;
    }
    return NULL;
}

static void test_written_and_removed(void **state)
{
    struct stand *stand = *state;
    struct page *page;

    open_file(stand);
    page = read_file(stand->path);
    assert_non_null(page);
    assert_non_null(page_find(page, "berth_cores", ""));
    assert_non_null(page_find(page, "berth_step_cores", "jobid=1,step=0"));
    page_free(page);
    metrics_textfile_close(stand->file);
    stand->file = NULL;
    assert_int_equal(access(stand->path, F_OK), -1);
}

static void test_mode(void **state)
{
    static const struct {
        const char *group;
        mode_t mode;
    } cases[] = {{"", 0640}, {"*", 0644}};
    struct stand *stand = *state;
    struct stat st;

    for (size_t i = 0; i < 2; i++) {
        strcpy(stand->f->packer.world.conf.metrics_group, cases[i].group);
        open_file(stand);
        page_free(read_file(stand->path));
        assert_int_equal(stat(stand->path, &st), 0);
        assert_int_equal(st.st_mode & 0777, cases[i].mode);
        metrics_textfile_close(stand->file);
        stand->file = NULL;
    }
}

/* With the time, and by another file: who has the old one open reads it to its end. */
static void test_again(void **state)
{
    struct stand *stand = *state;
    struct stat first, now;
    double cores;

    stand->f->packer.world.conf.metrics_interval_ms = 50;
    open_file(stand);
    page_free(read_file(stand->path));
    assert_int_equal(stat(stand->path, &first), 0);
    fixture_run(stand->f, 2, "1", NULL);
    for (size_t i = 0; i < 400; i++) {
        struct page *page;
        bool both;

        event_base_loop(stand->base, EVLOOP_ONCE);
        page = read_file(stand->path);
        cores = page_find(page, "berth_cores", "")->value;
        both = page_find(page, "berth_step_cores", "jobid=2,step=0");
        page_free(page);
        assert_true(cores == 8);
        if (both)
            break;
        assert_true(i < 399);
    }
    assert_int_equal(stat(stand->path, &now), 0);
    assert_true(first.st_mtim.tv_sec != now.st_mtim.tv_sec ||
                first.st_mtim.tv_nsec != now.st_mtim.tv_nsec);
}

/* What lies in the way of the temporary file is not written through. */
static void test_link_in_the_way(void **state)
{
    struct stand *stand = *state;
    char other[160], temporary[160];
    struct stat st;

    snprintf(other, sizeof(other), "%s/other", stand->f->dir);
    snprintf(temporary, sizeof(temporary), "%s/berth.prom.new", stand->f->dir);
    fclose(fopen(other, "w"));
    assert_int_equal(symlink(other, temporary), 0);
    open_file(stand);
    page_free(read_file(stand->path));
    assert_int_equal(stat(other, &st), 0);
    assert_int_equal(st.st_size, 0);
    assert_int_equal(lstat(stand->path, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_int_equal(access(temporary, F_OK), -1);
}

/* A folder that comes later, as of a node_exporter installed later, is found. */
static void test_no_folder_yet(void **state)
{
    struct stand *stand = *state;
    struct conf *conf = &stand->f->packer.world.conf;
    char folder[128];

    snprintf(folder, sizeof(folder), "%s/later", stand->f->dir);
    snprintf(conf->metrics_textfile, sizeof(conf->metrics_textfile), "%s/berth.prom", folder);
    conf->metrics_interval_ms = 50;
    log_open(LOG_TARGET_SYSLOG, LOG_LEVEL_ERROR);
    open_file(stand);
    for (size_t i = 0; i < 3; i++)
        event_base_loop(stand->base, EVLOOP_ONCE);
    assert_int_equal(access(stand->path, F_OK), -1);
    assert_int_equal(mkdir(folder, 0755), 0);
    for (size_t i = 0; i < 400 && access(stand->path, F_OK) < 0; i++)
        event_base_loop(stand->base, EVLOOP_ONCE);
    page_free(read_file(stand->path));
    assert_int_equal(access(stand->path, F_OK), 0);
}

static void test_none(void **state)
{
    struct stand *stand = *state;
    struct berth_error err = {""};

    stand->f->packer.world.conf.metrics_textfile[0] = '\0';
    assert_int_equal(metrics_textfile_open(&stand->file, stand->base, &stand->f->packer, &err), 0);
    assert_null(stand->file);
    strcpy(stand->f->packer.world.conf.metrics_textfile, "/tmp/x");
    strcpy(stand->f->packer.world.conf.metrics_group, "no such group");
    assert_int_equal(metrics_textfile_open(&stand->file, stand->base, &stand->f->packer, &err), -1);
    assert_null(stand->file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_written_and_removed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_mode, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_link_in_the_way, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_folder_yet, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_none, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
