/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_seek - the executable that has used the most CPU time of some processes is found, with what
 * srun would say of it, and those that only start others are not. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/observe/seek.h"
#include "packer/system/process.h"
#include "packer/system/rootfs.h"
#include "tests/unit/common/folder.h"

#define USER 1000
#define LONG_S 600.

struct scene {
    struct rootfs root;
    struct seeker *seeker;
    char folder[PATH_MAX];
    pid_t pid[4];
    size_t n;
};

static int setup(void **state)
{
    struct scene *scene = calloc(1, sizeof(*scene));

    folder_new(scene->folder, sizeof(scene->folder), "test-seek");
    if (rootfs_open(&scene->root, "/", NULL) < 0)
        return -1;
    scene->seeker = seek_open(&scene->root, LONG_S);
    *state = scene;
    return scene->seeker ? 0 : -1;
}

static int teardown(void **state)
{
    struct scene *scene = *state;

    for (size_t i = 0; i < scene->n; i++) {
        kill(scene->pid[i], SIGKILL);
        waitpid(scene->pid[i], NULL, 0);
    }
    seek_close(scene->seeker);
    rootfs_close(&scene->root);
    folder_remove(scene->folder);
    free(scene);
    return 0;
}

static double worked_ns(const struct scene *scene, pid_t pid)
{
    struct process_stat stat;

    return process_stat_get(&scene->root, pid, &stat) < 0 ? -1 : stat.user_ns + stat.system_ns;
}

/* A copy of the shell, under that name, works until it has used so much, and then rests: its
 * executable is what its name says. */
static pid_t work(struct scene *scene, const char *name, double seconds)
{
    const char *loop = seconds > 0 ? "while :; do :; done" : "read nothing";
    char path[PATH_MAX + 32], command[2 * PATH_MAX];
    int end[2];
    pid_t pid;

    snprintf(path, sizeof(path), "%s/%s", scene->folder, name);
    snprintf(command, sizeof(command), "cp -L /bin/sh '%s'", path);
    assert_int_equal(system(command), 0);
    assert_int_equal(pipe(end), 0);
    pid = fork();
    if (pid == 0) {
        dup2(end[0], STDIN_FILENO);
        execl(path, name, "-c", loop, (char *)NULL);
        _exit(127);
    }
    close(end[0]);
    scene->pid[scene->n++] = pid;
    while (worked_ns(scene, pid) < seconds * 1e9)
        usleep(1000);
    kill(pid, SIGSTOP);
    return pid;
}

static struct seek_answer ask(struct scene *scene)
{
    struct seek_answer answer;

    assert_true(seek_ask(scene->seeker, (struct seek_step){7, USER}, scene->pid, scene->n));
    while (!seek_take(scene->seeker, &answer))
        usleep(1000);
    assert_int_equal(answer.serial, 7);
    assert_int_equal(answer.state, HANDS_DONE);
    return answer;
}

static void assert_found(struct scene *scene, const char *name)
{
    char path[PATH_MAX + 32], *canonical, hash[WIRE_HASH_MAX];
    struct seek_answer answer = ask(scene);

    snprintf(path, sizeof(path), "%s/%s", scene->folder, name);
    canonical = realpath(path, NULL);
    assert_non_null(canonical);
    assert_string_equal(answer.exe, canonical);
    assert_int_equal(wire_program_hash(canonical, hash), 0);
    assert_string_equal(answer.hash, hash);
    free(canonical);
}

/* What has worked most is the program, of two that run the same the sum, whatever waits for it. */
static void test_who_works(void **state)
{
    struct scene *scene = *state;

    work(scene, "mpirun", 0.05);
    work(scene, "solver", 0.02);
    assert_found(scene, "solver");
    work(scene, "other", 0.1);
    assert_found(scene, "other");
    work(scene, "solver2", 0.3);
    assert_found(scene, "solver2");
}

static void test_nobody(void **state)
{
    struct scene *scene = *state;
    struct seek_answer answer = ask(scene);

    assert_string_equal(answer.exe, "");
    work(scene, "bash", 0.02);
    work(scene, "slurm_script", 0.02);
    answer = ask(scene);
    assert_string_equal(answer.exe, "");
    assert_string_equal(answer.hash, "");
    kill(scene->pid[0], SIGKILL); /* one that has ended says nothing */
    waitpid(scene->pid[0], NULL, 0);
    answer = ask(scene);
    assert_string_equal(answer.exe, "");
}

/* What an interpreter runs, nobody knows: it has a name, and no hash. */
static void test_interpreter(void **state)
{
    struct scene *scene = *state;
    struct seek_answer answer;

    work(scene, "python3.11", 0.02);
    answer = ask(scene);
    assert_string_equal(strrchr(answer.exe, '/'), "/python3.11");
    assert_string_equal(answer.hash, "");
}

/* A program that was replaced while it runs keeps its name, and is what it was. */
static void test_replaced(void **state)
{
    struct scene *scene = *state;
    char path[PATH_MAX + 32], hash[WIRE_HASH_MAX];
    struct seek_answer answer;

    work(scene, "solver", 0.02);
    snprintf(path, sizeof(path), "%s/solver", scene->folder);
    assert_int_equal(wire_program_hash(path, hash), 0);
    unlink(path);
    answer = ask(scene);
    assert_string_equal(strrchr(answer.exe, '/'), "/solver");
    assert_string_equal(answer.hash, hash);
}

static void test_bound(void **state)
{
    struct scene *scene = *state;
    pid_t many[SEEK_PROCESSES + 10] = {0};
    struct seek_answer answer;
    size_t asked = 0, answered = 0;

    for (size_t i = 0; i < SEEK_PROCESSES + 10; i++)
        many[i] = INT32_MAX - (pid_t)i;
    for (size_t i = 0; i < 4 * SEEK_WAITING; i++) /* those that are answered wait to be taken */
        asked += seek_ask(scene->seeker, (struct seek_step){i, USER}, many, SEEK_PROCESSES + 10);
    assert_int_equal(asked, SEEK_WAITING_USER);
    for (size_t i = 0; i < SEEK_WAITING; i++) /* another user has room */
        asked += seek_ask(scene->seeker, (struct seek_step){i, USER + 1}, many, 1);
    assert_int_equal(asked, SEEK_WAITING);
    assert_false(seek_ask(scene->seeker, (struct seek_step){1, USER + 2}, many, 1));
    while (answered < asked)
        if (seek_take(scene->seeker, &answer))
            answered++;
        else
            usleep(1000);
    assert_true(seek_ask(scene->seeker, (struct seek_step){1, USER}, many, 1));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_who_works), TEST(test_nobody), TEST(test_interpreter),
        TEST(test_replaced),  TEST(test_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
