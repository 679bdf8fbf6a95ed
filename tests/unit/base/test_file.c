/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_file - whole files, and files that are replaced: by all of it or by nothing. */
#include "packer/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64], path[80], beside[96];

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/berth-file-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof(path), "%s/file", dir);
    snprintf(beside, sizeof(beside), "%s.new", path);
    return 0;
}

static size_t files(void)
{
    DIR *list = opendir(dir);
    size_t n = 0;

    while (readdir(list))
        n++;
    closedir(list);
    return n - 2;
}

static int teardown(void **state)
{
    (void)state;
    remove(path);
    remove(beside);
    return rmdir(dir);
}

static void assert_file(const char *text)
{
    size_t length;
    char *found = file_read(path, 1 << 20, &length, NULL);

    assert_non_null(found);
    assert_string_equal(found, text);
    assert_int_equal(length, strlen(text));
    free(found);
}

static void put(const char *text)
{
    assert_int_equal(file_replace(path, 0600, 0, text, strlen(text)), 0);
}

/* Sizes on both sides of those that the buffer has, with NULs in them. */
static void test_reads_all_of_it(void **state)
{
    static const size_t sizes[] = {0, 1, 4094, 4095, 4096, 4097, 8191, 8192, 300000};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char *text = malloc(sizes[i] + 1), *found;
        size_t length = 7;

        for (size_t k = 0; k < sizes[i]; k++)
            text[k] = (char)(k % 251);
        assert_int_equal(file_replace(path, 0600, 0, text, sizes[i]), 0);
        found = file_read(path, sizes[i], &length, NULL);
        assert_non_null(found);
        assert_int_equal(length, sizes[i]);
        assert_memory_equal(found, text, length);
        assert_int_equal(found[length], '\0');
        free(found);
        if (sizes[i] > 0) {
            assert_null(file_read(path, sizes[i] - 1, &length, NULL));
            assert_int_equal(errno, EFBIG);
        }
        free(text);
    }
}

static void test_reads_regular_files_only(void **state)
{
    struct berth_error err;

    (void)state;
    assert_null(file_read(path, 10, NULL, &err));
    assert_int_equal(errno, ENOENT);
    assert_string_equal(err.text, "No such file or directory");
    assert_null(file_read(dir, 10, NULL, &err));
    assert_string_equal(err.text, "not a regular file");
    assert_null(file_read("/dev/zero", 10, NULL, &err));
    assert_string_equal(err.text, "not a regular file");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_null(file_read(path, 10, NULL, &err)); /* and does not wait for a writer */
    assert_string_equal(err.text, "not a regular file");
    unlink(path);
    put("12345678901");
    assert_null(file_read(path, 10, NULL, &err));
    assert_string_equal(err.text, "more than 10 bytes");
}

static void test_reads_a_pipe(void **state)
{
    size_t length;
    char *text;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(file_write_fd(ends[1], "one\ntwo", 7), 7);
    close(ends[1]);
    text = file_read_fd(ends[0], SIZE_MAX, &length);
    assert_non_null(text);
    assert_string_equal(text, "one\ntwo");
    free(text);
    close(ends[0]);
    assert_null(file_read_fd(ends[0], SIZE_MAX, &length));
    assert_int_equal(errno, EBADF);
}

static void test_replaces(void **state)
{
    static const unsigned flags[] = {0, FILE_SYNC, FILE_ANY, FILE_ANY | FILE_SYNC};
    struct stat st;

    (void)state;
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        char text[16];

        snprintf(text, sizeof(text), "the %zu.", i);
        assert_int_equal(file_replace(path, 0640, flags[i], text, strlen(text)), 0);
        assert_file(text);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0640);
        assert_int_equal(files(), 1);
    }
}

static void test_first(void **state)
{
    const unsigned flags = FILE_FIRST | FILE_ANY;

    (void)state;
    assert_int_equal(file_replace(path, 0600, flags, "a", 1), 0);
    assert_int_equal(file_replace(path, 0600, flags, "b", 1), -1);
    assert_int_equal(errno, EEXIST);
    assert_file("a");
    assert_int_equal(files(), 1);
}

/* What lies where the draft is to be written: the rest of a writer that was killed, or a trap. */
static void test_what_lies_beside(void **state)
{
    struct file_draft draft;
    char other[96];

    (void)state;
    assert_int_equal(file_draft_open(&draft, path, 0), 0);
    assert_int_equal(file_write_fd(draft.fd, "a half", 6), 6);
    close(draft.fd);
    put("whole");
    assert_file("whole");
    assert_int_equal(files(), 1);
    snprintf(other, sizeof(other), "%s/other", dir);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink(other, beside), 0);
    put("mine");
    assert_file("mine");
    assert_int_equal(rename(other, path), 0);
    assert_file("whole");
    assert_int_equal(mkdir(beside, 0700), 0);
    assert_int_equal(file_replace(path, 0600, 0, "x", 1), -1);
    assert_file("whole");
}

/* A link is replaced; a folder and a device are not. */
static void test_what_is_there(void **state)
{
    struct stat st;

    (void)state;
    assert_int_equal(symlink("/nowhere/at/all", path), 0);
    put("text");
    assert_file("text");
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(file_replace(path, 0600, 0, "x", 1), -1);
    assert_int_equal(errno, EINVAL);
    rmdir(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(file_replace(path, 0600, FILE_ANY, "x", 1), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    assert_int_equal(files(), 1);
}

static void test_a_full_disk_keeps_the_old_file(void **state)
{
    static char text[1000];
    struct rlimit was, limit;

    (void)state;
    memset(text, 'x', sizeof(text));
    put("old");
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    limit = (struct rlimit){.rlim_cur = 600, .rlim_max = was.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (unsigned flags = 0; flags < 8; flags++) {
        assert_int_equal(file_replace(path, 0600, flags, text, sizeof(text)), -1);
        assert_int_equal(errno, EFBIG);
        assert_int_equal(files(), 1);
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_file("old");
}

static void test_a_draft_that_is_given_up(void **state)
{
    struct file_draft draft;

    (void)state;
    put("old");
    assert_int_equal(file_draft_open(&draft, path, 0), 0);
    assert_int_equal(file_write_fd(draft.fd, "new", 3), 3);
    errno = ENODATA;
    assert_int_equal(file_draft_close(&draft, 0600, false), -1);
    assert_int_equal(errno, ENODATA);
    assert_file("old");
    assert_int_equal(files(), 1);
}

static void test_a_path_that_is_too_long(void **state)
{
    static char text[2 * PATH_MAX];

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    assert_int_equal(file_replace(text, 0600, 0, "x", 1), -1);
    assert_int_equal(errno, ENAMETOOLONG);
}

/* A folder, and those that it is in, whatever the umask. */
static void test_folders(void **state)
{
    char deep[96], deeper[112];
    mode_t mask = umask(077);
    struct stat st;

    (void)state;
    snprintf(deep, sizeof(deep), "%s/a/b", dir);
    snprintf(deeper, sizeof(deeper), "%s/c", deep);
    assert_int_equal(file_folder(deeper, 0700), 0);
    umask(mask);
    assert_int_equal(stat(deep, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0755);
    assert_int_equal(stat(deeper, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(file_folder(deeper, 0755), 0); /* it stays as it is */
    assert_int_equal(stat(deeper, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(file_folder("", 0755), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(rmdir(deeper), 0);
    assert_int_equal(rmdir(deep), 0);
    *strrchr(deep, '/') = '\0';
    assert_int_equal(rmdir(deep), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_reads_all_of_it),
        TEST(test_reads_regular_files_only),
        TEST(test_reads_a_pipe),
        TEST(test_replaces),
        TEST(test_folders),
        TEST(test_first),
        TEST(test_what_lies_beside),
        TEST(test_what_is_there),
        TEST(test_a_full_disk_keeps_the_old_file),
        TEST(test_a_draft_that_is_given_up),
        TEST(test_a_path_that_is_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
