/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_program - what a step runs is found, and a file system that hangs holds nobody. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
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

#include "plugin/program.h"

#define PATIENCE_MS 10000

void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));

static bool filtered; /* this process can open no file */

/* Counts the lines that a child has run, in a build for gcov. */
void __wrap__exit(int status)
{
#ifdef BERTH_GCOV
    extern void __gcov_dump(void);

    if (!filtered)
        __gcov_dump();
#endif
    __real__exit(status);
}

/* Finds a program as any other. */
static int find(const char *command, const char *dirs, unsigned limit_ms, char exe[PATH_MAX],
                char hash[WIRE_HASH_MAX])
{
    const struct wire_program program = {.kind = WIRE_PROGRAM_FILE, .option = "", .args = 1};
    struct pin pin;
    char *const argv[] = {(char *)(uintptr_t)command, NULL};
    char path[PATH_MAX];
    char *const env[] = {path, NULL};

    snprintf(path, sizeof(path), "PATH=%s", dirs ? dirs : "");
    return program_find(&program, 1, argv, env, limit_ms, exe, hash, &pin);
}

/* What an interpreter reads is found from the working directory, whatever PATH says. */
static void test_script(void **state)
{
    char *argv[] = {(char *)"env", (char *)"sh", (char *)"test_program.script", NULL};
    char *const env[] = {(char *)"PATH=/bin", NULL};
    char exe[PATH_MAX], hash[WIRE_HASH_MAX], sh[PATH_MAX], want[2 * PATH_MAX];
    char none[WIRE_HASH_MAX], *script;
    FILE *file = fopen(argv[2], "w");
    struct wire_program program;
    struct pin pin;

    (void)state;
    assert_true(file && fputs("true\n", file) >= 0 && fclose(file) == 0);
    wire_program_read(3, argv, &program);
    assert_int_equal(program_find(&program, 3, argv, env, PATIENCE_MS, exe, hash, &pin), 0);
    script = realpath(argv[2], NULL);
    assert_true(script && realpath("/bin/sh", sh));
    snprintf(want, sizeof(want), "%s %s", sh, script);
    assert_string_equal(exe, want);
    assert_int_equal(strlen(hash), WIRE_HASH_MAX - 1);
    unlink(argv[2]);
    free(script);
    assert_int_equal(program_find(&program, 3, argv, env, PATIENCE_MS, exe, none, &pin), 0);
    assert_string_equal(none, "");
}

static void test_found(void **state)
{
    char exe[PATH_MAX], hash[WIRE_HASH_MAX], want[PATH_MAX], want_hash[WIRE_HASH_MAX];

    (void)state;
    assert_non_null(realpath("/bin/sh", want));
    assert_int_equal(wire_program_hash(want, want_hash), 0);
    assert_int_equal(find("/bin/sh", NULL, PATIENCE_MS, exe, hash), 0);
    assert_string_equal(exe, want);
    assert_string_equal(hash, want_hash);
    assert_int_equal(find("sh", "/nonexistent::/bin", PATIENCE_MS, exe, hash), 0);
    assert_string_equal(exe, want);
    assert_string_equal(hash, want_hash);
}

static void test_not_found(void **state)
{
    char exe[PATH_MAX] = "x", hash[WIRE_HASH_MAX] = "x";

    (void)state;
    assert_int_equal(find("no-such", "/bin", PATIENCE_MS, exe, hash), -1);
    assert_string_equal(exe, "");
    assert_string_equal(hash, "");
    assert_int_equal(find("no-such", NULL, PATIENCE_MS, exe, hash), -1);
    assert_int_equal(find("/no/such", "/bin", PATIENCE_MS, exe, hash), -1);
}

static void test_what_cannot_be_read_has_no_hash(void **state)
{
    char exe[PATH_MAX], hash[WIRE_HASH_MAX];

    (void)state;
    assert_int_equal(find("/dev/null", NULL, PATIENCE_MS, exe, hash), 0);
    assert_string_equal(exe, "/dev/null");
    assert_string_equal(hash, "");
}

/* No child stays, and no descriptor. */
static void test_nothing_stays(void **state)
{
    char exe[PATH_MAX], hash[WIRE_HASH_MAX];
    int fd = open("/dev/null", O_RDONLY), after;

    (void)state;
    assert_int_equal(find("/bin/sh", NULL, PATIENCE_MS, exe, hash), 0);
    assert_int_equal(find("/no/such", NULL, PATIENCE_MS, exe, hash), -1);
    after = open("/dev/null", O_RDONLY);
    assert_int_equal(after, fd + 1);
    close(after);
    close(fd);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* Has such a call wait for an answer that never comes, as one on a file system whose server is
 * gone: until the caller is killed. Calls of openat count where they open without blocking or a
 * terminal. False: this kernel cannot do that. */
static bool hang(int call)
{
    const unsigned flags = call == SYS_openat ? O_NONBLOCK | O_NOCTTY : 0;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, flags),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, flags, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    int fd;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return false;
    fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                      &program);
    /* The listener outlives what the child closes; it goes with this process. */
    return fd >= 0;
}

/* In a process of its own: a filter is for life. */
static void check_hang(int call)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        char exe[PATH_MAX] = "x", hash[WIRE_HASH_MAX] = "x";

        alarm(30); /* without a limit it would never end */
        filtered = true;
        if (!hang(call))
            _exit(77);
        if (find("/bin/sh", NULL, 20, exe, hash) != -1 || exe[0] || hash[0])
            _exit(1);
        while (waitpid(-1, &status, 0) < 0) /* the killed child ends */
            if (errno == ECHILD)
                _exit(0);
        _exit(WIFSIGNALED(status) ? 0 : 2);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

static void test_a_hung_open(void **state)
{
    (void)state;
    check_hang(SYS_openat);
}

static void test_a_hung_look_up(void **state)
{
    (void)state;
#ifdef SYS_readlink /* realpath(3) takes what there is */
    check_hang(SYS_readlink);
#else
    check_hang(SYS_readlinkat);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_script),
        cmocka_unit_test(test_not_found),
        cmocka_unit_test(test_what_cannot_be_read_has_no_hash),
        cmocka_unit_test(test_nothing_stays),
        cmocka_unit_test(test_a_hung_open),
        cmocka_unit_test(test_a_hung_look_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
