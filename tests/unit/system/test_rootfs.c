/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_rootfs - files below a root that is a folder of the test's own. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/system/rootfs.h"
#include "tests/unit/common/folder.h"

struct box {
    char dir[64];
    struct rootfs root;
};

static void put(const struct box *box, const char *name, const char *text, size_t length)
{
    char path[PATH_MAX];
    int fd;

    snprintf(path, sizeof(path), "%s/%s", box->dir, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, length), length);
    close(fd);
}

static int setup(void **state)
{
    struct box *box = calloc(1, sizeof(*box));
    char path[PATH_MAX];

    folder_new(box->dir, sizeof(box->dir), "test_rootfs");
    snprintf(path, sizeof(path), "%s/sub", box->dir);
    assert_int_equal(mkdir(path, 0755), 0);
    put(box, "sub/list", "0-3,8\n", 6);
    put(box, "sub/word", "many\n", 5);
    assert_int_equal(rootfs_open(&box->root, box->dir, NULL), 0);
    *state = box;
    return 0;
}

static int teardown(void **state)
{
    struct box *box = *state;

    rootfs_close(&box->root);
    assert_int_equal(folder_remove(box->dir), 0);
    free(box);
    return 0;
}

static void test_open_names_what_is_missing(void **state)
{
    struct berth_error err = {""};
    struct rootfs root;

    (void)state;
    assert_int_equal(rootfs_open(&root, "/nowhere", &err), -1);
    assert_string_equal(err.text, "/nowhere: No such file or directory");
}

static void test_read(void **state)
{
    static const char *const same[] = {"sub/list", "/sub/list", "//sub/../sub/list"};
    struct box *box = *state;
    char *text;

    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        text = rootfs_read(&box->root, same[i]);
        assert_non_null(text);
        assert_string_equal(text, "0-3,8\n");
        free(text);
    }
    errno = 0;
    assert_null(rootfs_read(&box->root, "sub/none"));
    assert_int_equal(errno, ENOENT);
    assert_null(rootfs_read(&box->root, "sub"));
    assert_int_equal(errno, EISDIR);
}

static void test_read_of_any_size(void **state)
{
    static const size_t sizes[] = {0, 1, 4094, 4095, 4096, 4097, 100000};
    struct box *box = *state;
    char *want = malloc(100000), *text;

    memset(want, 'x', 100000);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        put(box, "big", want, sizes[i]);
        text = rootfs_read(&box->root, "big");
        assert_non_null(text);
        assert_int_equal(strlen(text), sizes[i]);
        free(text);
    }
    free(want);
}

static void test_nothing_leads_out(void **state)
{
    struct box *box = *state;
    char path[PATH_MAX], *text;

    snprintf(path, sizeof(path), "%s/out", box->dir);
    assert_int_equal(symlink("/sub/list", path), 0); /* "/" of the link is the root */
    snprintf(path, sizeof(path), "%s/passwd", box->dir);
    assert_int_equal(symlink("../../../../etc/passwd", path), 0);

    text = rootfs_read(&box->root, "out");
    assert_non_null(text);
    assert_string_equal(text, "0-3,8\n");
    free(text);
    assert_null(rootfs_read(&box->root, "passwd"));
    assert_null(rootfs_read(&box->root, "../../../etc/passwd"));
    assert_false(rootfs_exists(&box->root, "/etc/passwd"));
    assert_true(rootfs_exists(&box->root, "sub"));
    assert_true(rootfs_exists(&box->root, "/"));
}

static void test_write(void **state)
{
    struct box *box = *state;
    struct berth_error err = {""};
    char *text;

    assert_int_equal(rootfs_write(&box->root, "sub/word", "one", &err), 0);
    text = rootfs_read(&box->root, "sub/word");
    assert_string_equal(text, "one");
    free(text);

    errno = 0;
    assert_int_equal(rootfs_write(&box->root, "sub/none", "one", &err), -1);
    assert_int_equal(errno, ENOENT);
    assert_string_equal(err.text, "sub/none: No such file or directory");
    assert_false(rootfs_exists(&box->root, "sub/none"));
}

static void test_a_refused_write_names_file_value_and_reason(void **state)
{
    struct berth_error err = {""};
    struct rootfs dev;

    (void)state;
    assert_int_equal(rootfs_open(&dev, "/dev", NULL), 0);
    assert_int_equal(rootfs_write(&dev, "full", "0-1\n", &err), -1);
    assert_int_equal(errno, ENOSPC);
    assert_string_equal(err.text, "full: cannot write '0-1': No space left on device");
    rootfs_close(&dev);
}

static void test_cpus(void **state)
{
    struct box *box = *state;
    struct berth_error err = {""};
    struct cpus set, back;

    assert_int_equal(rootfs_read_cpus(&box->root, "sub/list", &set, &err), 0);
    assert_int_equal(cpus_count(&set), 5);
    cpus_remove(&set, 2);
    assert_int_equal(rootfs_write_cpus(&box->root, "sub/list", &set, &err), 0);
    assert_int_equal(rootfs_read_cpus(&box->root, "sub/list", &back, &err), 0);
    assert_true(cpus_equal(&set, &back));

    cpus_zero(&back);
    assert_int_equal(rootfs_write_cpus(&box->root, "sub/list", &back, &err), 0);
    assert_int_equal(rootfs_read_cpus(&box->root, "sub/list", &set, &err), 0);
    assert_true(cpus_empty(&set));

    assert_int_equal(rootfs_read_cpus(&box->root, "sub/word", &set, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, "sub/word: 'many' is not a CPU list");
}

static void test_folders(void **state)
{
    struct box *box = *state;
    struct berth_error err = {""};

    assert_int_equal(rootfs_mkdir(&box->root, "sub/a", &err), 0);
    assert_int_equal(rootfs_mkdir(&box->root, "sub/a", &err), 0);
    assert_int_equal(rootfs_mkdir(&box->root, "top", &err), 0);
    assert_true(rootfs_exists(&box->root, "sub/a"));
    assert_int_equal(rootfs_mkdir(&box->root, "none/a", &err), -1);
    assert_string_equal(err.text, "none/a: cannot create: No such file or directory");
    assert_int_equal(rootfs_mkdir(&box->root, "sub/..", &err), -1);

    assert_int_equal(rootfs_rmdir(&box->root, "sub", &err), -1);
    assert_int_equal(errno, ENOTEMPTY);
    assert_int_equal(rootfs_rmdir(&box->root, "sub/a", &err), 0);
    assert_int_equal(rootfs_rmdir(&box->root, "sub/a", &err), 0);
    assert_int_equal(rootfs_rmdir(&box->root, "none/a", &err), 0);
    assert_false(rootfs_exists(&box->root, "sub/a"));
}

/* Programs look into the cgroups that they are in. */
static void test_folders_are_for_all_to_read(void **state)
{
    struct box *box = *state;
    mode_t mask = umask(077);
    char path[PATH_MAX];
    struct stat st;

    assert_int_equal(rootfs_mkdir(&box->root, "sub/a", NULL), 0);
    umask(mask);
    snprintf(path, sizeof(path), "%s/sub/a", box->dir);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
}

static void test_list(void **state)
{
    struct box *box = *state;
    char **names;
    size_t n = 0;

    put(box, "sub/.hidden", "", 0);
    names = rootfs_list(&box->root, "/sub");
    assert_non_null(names);
    for (; names[n]; n++)
        assert_true(strcmp(names[n], "list") == 0 || strcmp(names[n], "word") == 0);
    assert_int_equal(n, 2);
    rootfs_list_free(names);

    assert_int_equal(rootfs_mkdir(&box->root, "sub/folder", NULL), 0);
    names = rootfs_list_folders(&box->root, "/sub");
    assert_non_null(names);
    assert_string_equal(names[0], "folder");
    assert_null(names[1]);
    rootfs_list_free(names);

    errno = 0;
    assert_null(rootfs_list(&box->root, "none"));
    assert_int_equal(errno, ENOENT);
    assert_null(rootfs_list(&box->root, "sub/list"));
    rootfs_list_free(NULL);
}

/* Has openat2 fail from here on, as systemd's RestrictSUIDSGID= does. */
static void forbid_openat2(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        _exit(2);
}

/* A unit file's filter must not keep berthd from the node's own files, and no tree is read without
 * what keeps its links inside. */
static void test_without_openat2(void **state)
{
    struct box *box = *state;
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        struct berth_error err;
        struct rootfs root;
        char *text;

        forbid_openat2();
        if (rootfs_open(&root, box->dir, &err) == 0 || !strstr(err.text, "openat2"))
            _exit(3);
        if (rootfs_open(&root, "/", &err) < 0)
            _exit(4);
        text = rootfs_read(&root, "/proc/self/stat");
        _exit(text && rootfs_exists(&root, "/") && !rootfs_exists(&root, "/no/such") ? 0 : 5);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_names_what_is_missing),
        cmocka_unit_test_setup_teardown(test_read, setup, teardown),
        cmocka_unit_test_setup_teardown(test_read_of_any_size, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_leads_out, setup, teardown),
        cmocka_unit_test_setup_teardown(test_write, setup, teardown),
        cmocka_unit_test(test_a_refused_write_names_file_value_and_reason),
        cmocka_unit_test_setup_teardown(test_cpus, setup, teardown),
        cmocka_unit_test_setup_teardown(test_folders, setup, teardown),
        cmocka_unit_test_setup_teardown(test_folders_are_for_all_to_read, setup, teardown),
        cmocka_unit_test_setup_teardown(test_list, setup, teardown),
        cmocka_unit_test_setup_teardown(test_without_openat2, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
