/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_follow - a step that asked for threads=follow: what stands in its page while it has all of
 * its cores, fewer, and again all; what its processes say, be it nonsense; and that the page is one
 * and the same until the step has ended. */
#include "tests/unit/common/step_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "packer/base/json.h"
#include "packer/figures/figures.h"
#include "packer/inside/inside.h"

static int begin(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);

    strcat(f->conf.allow, ",follow");
    fixture_paper(f);
    fixture_restart(f);
    *state = f;
    return 0;
}

static struct step *start(struct fixture *f)
{
    struct wire_register request = fixture_request(1, 0, "0-3", "0-3", 1, "t");

    request.options.threads_follow = true;
    return fixture_start(f, request);
}

/* ---- the files ---- */

static struct rt_said record(uint32_t first, uint64_t followed)
{
    struct rt_said said = {.version = RT_SAID_VERSION, .first = first, .followed = followed};

    memcpy(said.magic, RT_SAID_MAGIC, sizeof(said.magic));
    return said;
}

/* ---- the step ---- */

/* The step may use these of its CPUs from now on. */
static void use(struct fixture *f, struct step *step, const char *cpus)
{
    assert_int_equal(cpus_parse(&step->body.task[0].use, cpus), 0);
    inside_turn(&f->packer);
}

/* A number that explain tells; -1: null. */
static double told(struct fixture *f, const struct step *step, const char *key)
{
    struct json_object *explain = json_object_new_object(), *value;
    double number;

    figures_inside(&f->packer, step, explain);
    value = json_object_object_get(json_object_object_get(explain, "follow"), key);
    number = value ? json_object_get_double(value) : -1;
    json_object_put(explain);
    return number;
}

/* ---- tests ---- */

static void test_follows(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f);
    struct rt_page page = step_files_page(f);

    assert_int_equal(page.features, RT_THREADS);
    assert_int_equal(page.threads, 0);
    assert_int_equal(page.node[0], 0);
    assert_int_equal(page.cache[0], 0);
    assert_int_equal(page.cache[2], 1);
    assert_int_equal(page.cache[4], RT_NO_DOMAIN);
    use(f, step, "0-1");
    assert_int_equal(step_files_page(f).threads, 2);
    assert_int_not_equal(step_files_page(f).generation, page.generation);
    assert_true(step->inside.effect[STEP_FOLLOW].since_s > 0);
    use(f, step, "0-2");
    assert_int_equal(step_files_page(f).threads, 3);
    assert_int_equal(told(f, step, "threads"), 3);
    use(f, step, "0-3");
    assert_int_equal(step_files_page(f).threads, 0);
    assert_true(step->inside.effect[STEP_FOLLOW].since_s == 0);
    assert_int_equal(step->inside.effect[STEP_FOLLOW].changes, 3);
    assert_int_equal(told(f, step, "threads"), 4);
}

/* The environment names the page; without the word there is none. */
static void test_environment(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, 0, "0-3", "0-3", 1, "t");
    struct wire_answer answer;
    char path[STEP_FILES_PATH];
    bool found = false;

    request.options.threads_follow = true;
    pipeline_start(&f->packer, &request, &answer);
    step_files_path(f, "1.0", path);
    for (size_t i = 0; i < answer.nenv; i++)
        found |=
            strcmp(answer.env[i].name, RT_PAGE_ENV) == 0 && strcmp(answer.env[i].value, path) == 0;
    assert_true(found);
    wire_answer_clear(&answer);
    request = fixture_request(2, 0, "4-5", "4-5", 1, "t");
    pipeline_start(&f->packer, &request, &answer);
    for (size_t i = 0; i < answer.nenv; i++)
        assert_string_not_equal(answer.env[i].name, RT_PAGE_ENV);
    wire_answer_clear(&answer);
    assert_int_equal(step_files_inode(f, "2.0"), 0);
}

/* One user may read the one file and write the other; nobody else anything. */
static void test_who_may(void **state)
{
    struct fixture *f = *state;
    struct stat file;
    char path[STEP_FILES_PATH], acl[256];

    start(f);
    step_files_path(f, "1.0", path);
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 0007, 0);
    assert_true(getxattr(path, "system.posix_acl_access", acl, sizeof(acl)) > 0);
    step_files_path(f, "1.0" RT_SAID_SUFFIX, path);
    assert_int_equal(stat(path, &file), 0);
    assert_true(S_ISFIFO(file.st_mode));
    assert_int_equal(file.st_mode & 0007, 0);
    assert_true(getxattr(path, "system.posix_acl_access", acl, sizeof(acl)) > 0);
    step_files_path(f, "", path);
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 0777, 0711);
}

/* What a process of this user can open of the step's files as the library does; 'r', 's' or '-'
 * each. */
static void opened_by(const struct fixture *f, uid_t uid, char opened[3])
{
    char page[STEP_FILES_PATH], said[STEP_FILES_PATH];
    int status;
    pid_t pid;

    step_files_path(f, "1.0", page);
    step_files_path(f, "1.0" RT_SAID_SUFFIX, said);
    pid = fork();
    if (pid == 0)
        _exit(setresuid(uid, uid, uid) < 0
                  ? 4
                  : (open(page, O_RDONLY) >= 0) + 2 * (open(said, O_RDWR | O_NONBLOCK) >= 0) +
                        8 * (open(page, O_WRONLY) >= 0));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 4);
    opened[0] = WEXITSTATUS(status) & 1 ? 'r' : '-';
    opened[1] = WEXITSTATUS(status) & 2 ? 's' : '-';
    opened[2] = '\0';
}

static void test_each_user(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, 0, "0-3", "0-3", 1, "t");
    char opened[3], path[STEP_FILES_PATH];

    if (geteuid() != 0)
        skip();
    request.options.threads_follow = true;
    request.uid = 12345;
    fixture_start(f, request);
    step_files_path(f, "..", path); /* the fixture's own folder */
    assert_int_equal(chmod(path, 0711), 0);
    opened_by(f, 12345, opened);
    assert_string_equal(opened, "rs");
    opened_by(f, 12346, opened);
    assert_string_equal(opened, "--");
}

static void test_said(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f);
    struct rt_said one = record(1, 10), more = record(0, 5), odd = record(1, 7);

    inside_turn(&f->packer);
    assert_int_equal(told(f, step, "processes"), 0);
    one.threads = 2;
    more.surprise = RT_NO_RUNTIME;
    step_files_say(f, &one, sizeof(one));
    step_files_say(f, &more, sizeof(more));
    odd.version = 77;
    odd.surprise = RT_SURPRISES + 1;
    step_files_say(f, &odd, sizeof(odd));
    inside_turn(&f->packer);
    assert_int_equal(told(f, step, "processes"), 1);
    assert_int_equal(told(f, step, "regions"), 15);
    assert_int_equal(told(f, step, "region_threads"), 2);
    assert_int_equal(step->inside.run != NULL, true);
}

/* Whatever a user writes hurts nobody, and does not keep berthd. */
static void test_nonsense(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f);
    struct rt_said odd = record(1, 1);
    char noise[4096];
    char path[STEP_FILES_PATH];
    int fd;

    odd.surprise = UINT32_MAX;
    odd.threads = UINT32_MAX;
    step_files_say(f, &odd, sizeof(odd));
    memset(noise, 'x', sizeof(noise));
    step_files_path(f, "1.0" RT_SAID_SUFFIX, path);
    fd = open(path, O_WRONLY | O_NONBLOCK);
    assert_true(fd >= 0);
    while (write(fd, noise, 1000) > 0)
        ;
    assert_int_equal(errno, EAGAIN);
    inside_turn(&f->packer);
    close(fd);
    inside_turn(&f->packer);
    assert_int_equal(told(f, step, "processes"), 1);
    assert_int_equal(told(f, step, "region_threads"), -1);
    use(f, step, "0");
    assert_int_equal(step_files_page(f).threads, 1);
}

static void test_release(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f);
    struct berth_error err;

    use(f, step, "0-1");
    assert_int_equal(pipeline_release(&f->packer, step->request.id, &err), 0);
    assert_int_equal(step_files_page(f).threads, 0);
}

/* A berthd that stops gives programs their own number; the next one goes on in the same page. */
static void test_stop(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f);
    ino_t page = step_files_inode(f, "1.0"), said = step_files_inode(f, "1.0" RT_SAID_SUFFIX);
    struct berth_error err;

    use(f, step, "0-1");
    pipeline_undo(&f->packer);
    assert_int_equal(step_files_page(f).threads, 0);
    fixture_restart(f);
    assert_int_equal(pipeline_resume(&f->packer, &err), 0);
    use(f, fixture_step(f, 1, 0), "0-1");
    assert_int_equal(step_files_page(f).threads, 2);
    assert_int_equal(step_files_inode(f, "1.0"), page);
    assert_int_equal(step_files_inode(f, "1.0" RT_SAID_SUFFIX), said);
}

/* So does one that follows one that was killed; what is of no live step goes. */
static void test_kill(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f);
    ino_t page = step_files_inode(f, "1.0");
    struct berth_error err;
    char path[STEP_FILES_PATH];

    use(f, step, "0-1");
    step_files_path(f, "1.00", path);
    close(open(path, O_WRONLY | O_CREAT, 0600));
    fixture_restart(f);
    assert_int_equal(step_files_page(f).threads, 2);
    assert_int_equal(pipeline_resume(&f->packer, &err), 0);
    assert_int_equal(step_files_inode(f, "1.0"), page);
    assert_int_equal(step_files_inode(f, "1.00"), 0);
    inside_turn(&f->packer);
    assert_int_equal(step_files_page(f).threads, 0); /* it has all of its cores again */
}

static void test_end(void **state)
{
    struct fixture *f = *state;

    start(f);
    fixture_end(f, 1, 0);
    assert_int_equal(step_files_inode(f, "1.0"), 0);
    assert_int_equal(step_files_inode(f, "1.0" RT_SAID_SUFFIX), 0);
}

/* Where the folder cannot be, the step runs as without the word, and explain says why. */
static void test_no_folder(void **state)
{
    struct fixture *f = *state;
    struct json_object *explain = json_object_new_object();
    char path[STEP_FILES_PATH];

    step_files_path(f, "", path);
    path[strlen(path) - 1] = '\0';
    close(open(path, O_WRONLY | O_CREAT, 0600));
    figures_inside(&f->packer, start(f), explain);
    assert_non_null(strstr(json_object_to_json_string(explain), "Not a directory"));
    json_object_put(explain);
    unlink(path);
}

/* A word of the site's own: threads alone is not enough. */
static void test_refused(void **state)
{
    struct fixture *f = *state;
    struct json_object *explain = json_object_new_object();

    strcpy(f->packer.world.conf.allow, "auto,threads,tag");
    figures_inside(&f->packer, start(f), explain);
    assert_non_null(strstr(json_object_to_json_string(explain), "berth.conf does not allow it"));
    json_object_put(explain);
    assert_int_equal(step_files_inode(f, "1.0"), 0);
}

/* ---- regions (RT_REGIONS) ---- */

static void say_region(struct fixture *f, uint64_t most, double share, uint64_t now)
{
    struct rt_region region = {.version = RT_SAID_VERSION,
                               .most = most,
                               .most_ns = (uint64_t)(share * 1e9),
                               .all_ns = 1000000000,
                               .now = now,
                               .begun = 1};

    memcpy(region.magic, RT_REGION_MAGIC, sizeof(region.magic));
    step_files_say(f, &region, sizeof(region));
}

/* Only a step that is sized, too, is asked for its regions; it is in the one that has most of its
 * time, or, where nothing more was said, in the last that began. */
static void test_regions(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, 0, "0-3", "0-3", 1, "t");
    struct step *step;

    request.options.threads_follow = request.options.size = true;
    step = fixture_start(f, request);
    assert_int_equal(step_files_page(f).features, RT_THREADS | RT_REGIONS);
    assert_int_equal(step->inside.region, 0);
    say_region(f, 7, 1, 8);
    inside_turn(&f->packer);
    assert_int_equal(step->inside.region, 7);
    inside_turn(&f->packer);
    assert_int_equal(step->inside.region, 8);
    say_region(f, 8, 0.7, 9); /* several had it */
    inside_turn(&f->packer);
    assert_int_equal(step->inside.region, 0);
    say_region(f, 8, 1, 9); /* two processes, which are not alike */
    say_region(f, 9, 1, 8);
    inside_turn(&f->packer);
    assert_int_equal(step->inside.region, 0);
    for (uint64_t i = 1; i <= 20; i++) /* more than there is room for */
        say_region(f, i, 1, i);
    inside_turn(&f->packer);
    assert_int_equal(step->inside.region, 0);
    say_region(f, 5, 1e9, 5); /* nonsense is its user's */
    inside_turn(&f->packer);
    assert_int_equal(step->inside.region, 5);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_follows), TEST(test_environment), TEST(test_who_may),   TEST(test_each_user),
        TEST(test_said),    TEST(test_nonsense),    TEST(test_release),   TEST(test_stop),
        TEST(test_kill),    TEST(test_end),         TEST(test_no_folder), TEST(test_refused),
        TEST(test_regions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
