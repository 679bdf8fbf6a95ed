/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A head that lies. The hand has a node of each series of Slurm, in a folder, on which root's
 * plugin has registered steps of two jobs; a third job is nobody's business, and neither is munged.
 * The head says what is not so: by a list of what somebody would try who has taken it over, and in
 * every field of every message at random (BERTH_SEED). Nothing may change outside of what is
 * registered: no file, no folder, no process. */
#include <ftw.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/base/file.h"
#include "packer/hand/ask.h"
#include "packer/system/process_look.h"
#include "tests/unit/common/fixture.h"
#include "tests/unit/common/slurm_tree.h"

#define STEP ((struct wire_step_id){7, 0})   /* registered, of CPUs 0-1 */
#define FELLOW ((struct wire_step_id){8, 0}) /* registered, of CPUs 2-3 */
#define OTHER ((struct wire_step_id){9, 0})  /* nobody has registered it: CPUs 4-5 */
#define RANDOM_MESSAGES 4000
#define LOOK_EVERY 64

static struct scene {
    struct slurm_tree tree;
    struct hand *hand;
    pid_t task, stepd, victim; /* of STEP, its slurmstepd, and munged */
    struct cpus given;         /* CPUs of everybody here */
    char dir[96];              /* of the tree: what a walk looks at */
} scene;

/* ---- the node ---- */

static pid_t child(void)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        _exit(1);
    while (pid == 0)
        pause();
    return pid;
}

static void make_job(struct wire_step_id id, const char *cpus, pid_t stepd, pid_t task)
{
    const struct slurm_tree_task made = {.pid = task, .parent = stepd};

    slurm_tree_job(&scene.tree, id.job, cpus);
    slurm_tree_step(&scene.tree, id, cpus, stepd);
    slurm_tree_task(&scene.tree, id, &made);
}

static int tell(struct wire_step_id id, const char *cpus, pid_t stepd)
{
    struct hand_message message = {.kind = HAND_STEP, .id = id};
    struct hand_answer answer;

    message.step.uid = 1000;
    message.step.stepd = stepd;
    message.step.job_home = cpus_of(cpus);
    slurm_tree_path(&scene.tree, id, message.step.leaf, sizeof(message.step.leaf));
    hand_answer(scene.hand, HAND_BY_ROOT, &message, hand_message_size(HAND_STEP, 0), &answer);
    return answer.rc;
}

static void open_scene(const struct slurm_series *series)
{
    const struct enforce *enforce = &scene.tree.enforce;

    slurm_tree_open(&scene.tree, series);
    snprintf(scene.dir, sizeof(scene.dir), "%s", scene.tree.dir);
    scene.hand = hand_new(&(struct hand_site){.root = &scene.tree.root,
                                              .cgroup_root = "/cg",
                                              .tree = enforce->tree,
                                              .unified = series->unified});
    assert_non_null(scene.hand);
    scene.task = child();
    scene.stepd = child();
    scene.victim = child();
    assert_int_equal(
        sched_getaffinity(0, sizeof(scene.given.word), (cpu_set_t *)scene.given.word) < 0, 0);
    make_job(STEP, "0-1\n", scene.stepd, scene.task);
    make_job(FELLOW, "2-3\n", INT32_MAX - 1, INT32_MAX - 2);
    make_job(OTHER, "4-5\n", INT32_MAX - 3, INT32_MAX - 4);
    slurm_tree_stranger(&scene.tree, scene.victim, 1, "munged");
    assert_int_equal(tell(STEP, "0-1", scene.stepd), 0);
    assert_int_equal(tell(FELLOW, "2-3", INT32_MAX - 1), 0);
}

static void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void close_scene(void)
{
    hand_free(scene.hand);
    end_child(scene.task);
    end_child(scene.stepd);
    end_child(scene.victim);
    slurm_tree_close(&scene.tree);
}

/* ---- what is outside ---- */

static uint64_t sum;

/* The step's own folders, its job's list, and berth's own, are inside. */
static bool is_inside(const char *path)
{
    return strstr(path, "/job_7/") || strstr(path, "0007/") || strstr(path, "/job_7/cpuset.cpus") ||
           strstr(path, "/job_8/") || strstr(path, "0008/") || strstr(path, "/cpuset/berth") ||
           strstr(path, "/proc/");
}

static void mix(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
}

static int look_at(const char *path, const struct stat *status, int type, struct FTW *where)
{
    char text[4096];
    FILE *file;

    (void)where, (void)status;
    if (strstr(path, "slurm_n2") ||
        strstr(path, "n2_slurmstepd")) /* of another slurmd: outside, whatever its job is called */
        ;
    else if (is_inside(path))
        return 0;
    mix(path, strlen(path));
    if (type == FTW_F && (file = fopen(path, "r"))) {
        mix(text, fread(text, 1, sizeof(text), file));
        fclose(file);
    }
    return 0;
}

/* A number that changes with any file outside. Folders come in any order: so the sum of sums. */
static uint64_t outside(void)
{
    sum = UINT64_C(14695981039346656037);
    nftw(scene.dir, look_at, 8, FTW_PHYS);
    return sum;
}

static void assert_untouched(pid_t pid)
{
    struct cpus now = {{0}};

    assert_true(sched_getaffinity(pid, sizeof(now.word), (cpu_set_t *)now.word) >= 0);
    assert_true(cpus_equal(&now, &scene.given));
    assert_int_equal(sched_getscheduler(pid), SCHED_OTHER);
}

/* Of the lists inside none has a CPU of the job that is nobody's business. */
static void assert_no_foreign_cpu(struct wire_step_id id)
{
    static const char *const below[] = {"/cpuset.cpus", "/user/cpuset.cpus",
                                        "/user/task_0/cpuset.cpus", "/task_0/cpuset.cpus"};
    struct cpus now, foreign = cpus_of("4-2047");
    char text[CPUS_TEXT_MAX];

    for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
        slurm_tree_read(&scene.tree, id, below[i], text, sizeof(text));
        if (cpus_parse(&now, text) == 0)
            assert_false(cpus_intersect(&now, &foreign));
    }
}

static void assert_nothing_outside(uint64_t before)
{
    assert_true(outside() == before);
    assert_untouched(scene.victim);
    assert_untouched(scene.stepd);
    assert_untouched(getpid());
    assert_no_foreign_cpu(STEP);
    assert_no_foreign_cpu(FELLOW);
}

/* ---- what somebody would try ---- */

static struct hand_message lie;

static void give_thread(struct wire_step_id id, pid_t tid, pid_t pid, const char *cpus)
{
    lie = (struct hand_message){.kind = HAND_THREADS, .n = 1, .id = id};
    lie.threads.thread[0] = (struct hand_thread){.tid = tid, .pid = pid, .cpus = cpus_of(cpus)};
}

static void munged_is_pinned(void)
{
    give_thread(STEP, scene.victim, scene.victim, "0");
}

static void munged_is_a_thread_of_a_task(void)
{
    give_thread(STEP, scene.victim, scene.task, "0");
}

static void munged_is_said_to_be_berthd(void)
{
    give_thread((struct wire_step_id){0, 0}, scene.victim, scene.victim, "0");
}

static void slurmstepd_is_pinned(void)
{
    give_thread(STEP, scene.stepd, scene.stepd, "0");
}

static void a_task_gets_foreign_cpus(void)
{
    give_thread(STEP, scene.task, scene.task, "4");
}

static void a_step_of_nobody_is_pinned(void)
{
    give_thread(OTHER, scene.task, scene.task, "0");
}

static void a_task_of_another_step(void)
{
    give_thread(FELLOW, scene.task, scene.task, "2");
}

static void munged_gets_a_class(void)
{
    lie = (struct hand_message){.kind = HAND_CLASS, .n = 1, .id = STEP};
    lie.class.batch = 1;
    lie.class.thread[0].pid = scene.victim;
}

static void a_slice_of_an_hour(void)
{
    lie = (struct hand_message){.kind = HAND_CLASS, .n = 1, .id = STEP};
    lie.class.batch = 1;
    lie.class.slice_ns = UINT64_C(3600000000000);
    lie.class.thread[0].pid = scene.task;
}

static void write_list(struct wire_step_id id, enum hand_place place, const char *cpus)
{
    lie = (struct hand_message){.kind = HAND_LIST, .id = id};
    lie.list.place = place;
    lie.list.cpus = cpus_of(cpus);
}

static void a_leaf_gets_foreign_cpus(void)
{
    write_list(STEP, HAND_LEAF, "0-1,4-5");
}

static void a_job_gets_foreign_cpus(void)
{
    write_list(STEP, HAND_JOB, "0-5");
}

static void user_gets_foreign_cpus(void)
{
    write_list(STEP, HAND_USER, "5");
}

static void berths_own_gets_foreign_cpus(void)
{
    write_list(STEP, HAND_OWN, "5");
}

static void a_step_of_nobody_is_confined(void)
{
    write_list(OTHER, HAND_LEAF, "4");
}

static void all_of_berths_tree(void)
{
    write_list(STEP, HAND_TREE, "0");
}

static void memory_nodes_of_a_leaf(void)
{
    write_list(STEP, HAND_LEAF, "1");
    lie.list.mems = 1;
}

static void a_path_as_a_task(void)
{
    write_list(STEP, HAND_TASK, "0");
    strcpy(lie.list.task, "task_0/../../../job_9");
}

static void a_task_without_an_end(void)
{
    write_list(STEP, HAND_TASK, "0");
    memset(lie.list.task, 'a', sizeof(lie.list.task));
    memcpy(lie.list.task, "task_", 5);
}

static void a_place_that_is_none(void)
{
    write_list(STEP, HAND_PLACES, "0");
}

static void munged_is_moved(void)
{
    lie = (struct hand_message){.kind = HAND_MOVE, .n = 1, .id = STEP};
    lie.move.place = HAND_OWN;
    lie.move.process[0].pid = scene.victim;
}

static void slurmstepd_is_moved(void)
{
    munged_is_moved();
    lie.move.process[0].pid = scene.stepd;
}

static void munged_goes_home(void)
{
    munged_is_moved();
    lie.move.place = HAND_LEAF;
}

static void a_folder_of_slurms(void)
{
    lie = (struct hand_message){.kind = HAND_FOLDER, .id = STEP};
    lie.folder.place = HAND_LEAF;
}

static void a_folder_for_nobody(void)
{
    lie = (struct hand_message){.kind = HAND_FOLDER, .id = OTHER};
    lie.folder = (struct hand_folder){.place = HAND_OWN, .make = 1};
}

static void a_note_of_foreign_cpus(void)
{
    lie = (struct hand_message){.kind = HAND_MARK, .id = STEP};
    lie.mark.put = 1;
    lie.mark.cpus = cpus_of("4-5");
}

static void the_head_registers(void)
{
    lie = (struct hand_message){.kind = HAND_STEP, .id = OTHER};
    lie.step.uid = 1000;
    lie.step.job_home = cpus_of("0-7");
    slurm_tree_path(&scene.tree, OTHER, lie.step.leaf, sizeof(lie.step.leaf));
}

static void the_head_has_a_job_forgotten(void)
{
    lie = (struct hand_message){.kind = HAND_FORGET, .id = FELLOW};
}

static void open_file(const char *format, int pid)
{
    lie = (struct hand_message){.kind = HAND_FILE};
    snprintf(lie.file.path, sizeof(lie.file.path), format, pid);
}

static void a_file_of_roots(void)
{
    open_file("/etc/shadow", 0);
}

static void a_path_out_of_the_meters(void)
{
    open_file("/sys/class/powercap/../../../etc/energy_uj", 0);
}

static void the_memory_of_a_task(void)
{
    open_file("/proc/%d/mem", scene.task);
}

static void the_environment_of_a_task(void)
{
    open_file("/proc/%d/environ", scene.task);
}

static void a_path_out_of_a_task(void)
{
    open_file("/proc/%d/root/etc/shadow", scene.task);
}

static void the_maps_of_munged(void)
{
    open_file("/proc/%d/maps", scene.victim);
}

static void the_program_of_slurmstepd(void)
{
    open_file("/proc/%d/exe", scene.stepd);
}

static void a_path_without_an_end(void)
{
    open_file("/proc/%d/maps", scene.task);
    memset(lie.file.path, '/', sizeof(lie.file.path));
}

static void pages_of_munged(void)
{
    lie = (struct hand_message){.kind = HAND_PAGES, .n = 1};
    lie.pages.pid = scene.victim;
}

static void pages_of_slurmstepd_are_moved(void)
{
    pages_of_munged();
    lie.pages.pid = scene.stepd;
    lie.pages.move = 1;
}

static void pages_of_who_had_that_number(void)
{
    pages_of_munged();
    lie.pages.pid = scene.task;
    lie.pages.started = 1;
}

static void a_question_that_is_none(void)
{
    lie = (struct hand_message){.kind = HAND_USAGE, .n = 2};
    lie.usage.thread = 1;
}

static void a_kind_that_is_none(void)
{
    lie = (struct hand_message){.kind = HAND_KINDS, .id = STEP};
}

static void more_threads_than_there_is_room(void)
{
    give_thread(STEP, scene.task, scene.task, "0");
    lie.n = UINT32_MAX;
}

static const struct attack {
    const char *name;
    void (*say)(void);
} attacks[] = {
#define ATTACK(name)                                                                               \
    {                                                                                              \
#name, name                                                                                \
    }
    ATTACK(munged_is_pinned),
    ATTACK(munged_is_a_thread_of_a_task),
    ATTACK(munged_is_said_to_be_berthd),
    ATTACK(slurmstepd_is_pinned),
    ATTACK(a_task_gets_foreign_cpus),
    ATTACK(a_step_of_nobody_is_pinned),
    ATTACK(a_task_of_another_step),
    ATTACK(munged_gets_a_class),
    ATTACK(a_slice_of_an_hour),
    ATTACK(a_leaf_gets_foreign_cpus),
    ATTACK(a_job_gets_foreign_cpus),
    ATTACK(user_gets_foreign_cpus),
    ATTACK(berths_own_gets_foreign_cpus),
    ATTACK(a_step_of_nobody_is_confined),
    ATTACK(all_of_berths_tree),
    ATTACK(memory_nodes_of_a_leaf),
    ATTACK(a_path_as_a_task),
    ATTACK(a_task_without_an_end),
    ATTACK(a_place_that_is_none),
    ATTACK(munged_is_moved),
    ATTACK(slurmstepd_is_moved),
    ATTACK(munged_goes_home),
    ATTACK(a_folder_of_slurms),
    ATTACK(a_folder_for_nobody),
    ATTACK(a_note_of_foreign_cpus),
    ATTACK(the_head_registers),
    ATTACK(the_head_has_a_job_forgotten),
    ATTACK(a_file_of_roots),
    ATTACK(a_path_out_of_the_meters),
    ATTACK(the_memory_of_a_task),
    ATTACK(the_environment_of_a_task),
    ATTACK(a_path_out_of_a_task),
    ATTACK(the_maps_of_munged),
    ATTACK(the_program_of_slurmstepd),
    ATTACK(a_path_without_an_end),
    ATTACK(pages_of_munged),
    ATTACK(pages_of_slurmstepd_are_moved),
    ATTACK(pages_of_who_had_that_number),
    ATTACK(a_question_that_is_none),
    ATTACK(a_kind_that_is_none),
    ATTACK(more_threads_than_there_is_room),
};

/* 1: refused, 0: taken, but nobody was changed; -1: done. */
static int try_it(void)
{
    size_t size = hand_message_size(lie.kind, lie.n);
    struct hand_answer answer;

    hand_answer(scene.hand, HAND_BY_HEAD, &lie, size ? size : sizeof(lie), &answer);
    if (answer.rc < 0)
        return 1;
    for (uint32_t i = 0; i < answer.n; i++)
        if (answer.status[i] == 1)
            return -1;
    return answer.n ? 0 : -1;
}

static void test_attacks(void **state)
{
    (void)state;
    for (size_t s = 0; s < slurm_series_n; s++) {
        uint64_t before;

        open_scene(&slurm_series[s]);
        before = outside();
        for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++) {
            attacks[i].say();
            if (try_it() < 0)
                fail_msg("%s: %s: it was done", slurm_series[s].name, attacks[i].name);
            assert_nothing_outside(before);
        }
        assert_untouched(scene.task);
        close_scene();
    }
}

/* What is true is done, else the list above would show nothing. */
static void test_the_truth(void **state)
{
    (void)state;
    for (size_t s = 0; s < slurm_series_n; s++) {
        struct cpus now = {{0}}, zero = cpus_of("0");
        char text[64];

        open_scene(&slurm_series[s]);
        give_thread(STEP, scene.task, scene.task, "0");
        assert_int_equal(try_it(), -1);
        sched_getaffinity(scene.task, sizeof(now.word), (cpu_set_t *)now.word);
        assert_true(cpus_equal(&now, &zero));
        write_list(STEP, slurm_series[s].unified ? HAND_USER : HAND_LEAF, "0,2");
        assert_int_equal(try_it(), -1);
        slurm_tree_read(&scene.tree, STEP,
                        slurm_series[s].unified ? "/user/cpuset.cpus" : "/cpuset.cpus", text,
                        sizeof(text));
        assert_string_equal(text, "0,2");
        close_scene();
    }
}

/* A number that was given anew is not the process that is meant. */
static void test_a_number_given_anew(void **state)
{
    (void)state;
    open_scene(&slurm_series[0]);
    give_thread(STEP, scene.task, scene.task, "0");
    lie.threads.thread[0].started = process_started(&scene.tree.root, scene.task) + 1000;
    assert_int_equal(try_it(), 0);
    assert_untouched(scene.task);
    close_scene();
}

/* ---- root's word ---- */

/* A step's folder has the name that Slurm gives it, and no CPU is believed that its job has not. */
static void test_what_root_is_made_to_say(void **state)
{
    static const char *const leaf[] = {
        "slurm/../../etc/uid_1000/job_9/step_0",
        "user/uid_1000/job_9/step_0",
        "slurm/uid_0/job_9/step_0",
        "slurm/uid_1000/job_9/step_1",
        "user.slice/user-1000.slice/slurmstepd.scope/../job_9/step_0",
        "user.slice/user-1000.slice/user@1000.service/job_9/step_0"};
    struct hand_message message;
    struct hand_answer answer;

    (void)state;
    for (size_t s = 0; s < slurm_series_n; s++) {
        open_scene(&slurm_series[s]);
        for (size_t i = 0; i < sizeof(leaf) / sizeof(leaf[0]); i++) {
            message = (struct hand_message){.kind = HAND_STEP, .id = OTHER};
            message.step.uid = 1000;
            strcpy(message.step.leaf, leaf[i]);
            hand_answer(scene.hand, HAND_BY_ROOT, &message, hand_message_size(HAND_STEP, 0),
                        &answer);
            assert_int_equal(answer.rc, -1);
        }
        assert_int_equal(tell(OTHER, "0-7", 0), 0);
        write_list(STEP, slurm_series[s].unified ? HAND_USER : HAND_LEAF, "6");
        assert_int_equal(try_it(), 1); /* 4-5 are in the pool now, 6 is nobody's of those */
        close_scene();
    }
}

/* Says for root that this process is a task of the step, and has it pinned; as try_it(). */
static int name_task(struct wire_step_id id, pid_t pid)
{
    struct hand_message message = {.kind = HAND_STEP, .n = 1, .id = id};
    struct hand_answer answer;

    message.step.job_home = cpus_of("0-7");
    message.step.task[0] = (struct hand_task){.pid = pid};
    hand_answer(scene.hand, HAND_BY_ROOT, &message, hand_message_size(HAND_STEP, 1), &answer);
    give_thread(id, pid, pid, "0");
    return try_it();
}

/* A berthd that is not root's cannot make a task of what Slurm does not track as one. */
static void test_what_the_head_says_for_root(void **state)
{
    (void)state;
    for (size_t s = 0; s < slurm_series_n; s++) {
        open_scene(&slurm_series[s]);
        hand_free(scene.hand);
        scene.hand = hand_new(&(struct hand_site){.root = &scene.tree.root,
                                                  .cgroup_root = "/cg",
                                                  .tree = "berth",
                                                  .unified = slurm_series[s].unified,
                                                  .head = 1});
        assert_int_equal(name_task(OTHER, scene.victim), 1);
        if (!slurm_series[s].sluid) /* which does not say whose job it is */
            assert_int_equal(name_task(OTHER, scene.task), 1);
        assert_untouched(scene.victim);
        assert_untouched(scene.task);
        assert_int_equal(name_task(STEP, scene.task), -1);
        close_scene();
    }
}

/* ---- at random ---- */

static unsigned seed;

static unsigned draw(unsigned n)
{
    return (unsigned)rand_r(&seed) % n;
}

static pid_t any_pid(void)
{
    const pid_t pid[] = {scene.victim, scene.stepd, scene.task,    0, -1,
                         INT32_MIN,    INT32_MAX,   INT32_MAX - 4, 1};

    return pid[draw(sizeof(pid) / sizeof(pid[0]))];
}

static struct cpus any_cpus(void)
{
    static const char *const list[] = {"", "0", "0-1", "2-3", "0-3", "4", "0,5", "6-7", "2047"};

    return cpus_of(list[draw(sizeof(list) / sizeof(list[0]))]);
}

static struct wire_step_id any_id(void)
{
    const struct wire_step_id id[] = {STEP,   FELLOW, OTHER,
                                      {0, 0}, {7, 1}, {UINT32_MAX, UINT32_MAX}};

    return id[draw(sizeof(id) / sizeof(id[0]))];
}

/* Whatever fits the kind. */
static void fill_body(void)
{
    for (size_t i = 0; i < HAND_THREADS_MAX && lie.kind == HAND_THREADS; i++)
        lie.threads.thread[i] =
            (struct hand_thread){.tid = any_pid(), .pid = any_pid(), .cpus = any_cpus()};
    for (size_t i = 0; i < HAND_THREADS_MAX && lie.kind == HAND_MOVE; i++)
        lie.move.process[i].pid = any_pid();
    for (size_t i = 0; i < HAND_THREADS_MAX && lie.kind == HAND_CLASS; i++)
        lie.class.thread[i].pid = any_pid();
    if (lie.kind == HAND_LIST) {
        lie.list.place = draw(HAND_PLACES + 1);
        lie.list.mems = draw(3);
        strcpy(lie.list.task, draw(2) ? "task_0" : "task_0/../..");
        lie.list.cpus = any_cpus();
    }
    if (lie.kind == HAND_MOVE)
        lie.move.place = draw(HAND_PLACES + 1);
    if (lie.kind == HAND_FOLDER)
        lie.folder = (struct hand_folder){.place = draw(HAND_PLACES + 1), .make = draw(3)};
    if (lie.kind == HAND_FILE)
        open_file(draw(2) ? "/proc/%d/exe" : "/proc/%d/../../etc/shadow", any_pid());
    for (size_t i = 0; i < TASKSTATS_BATCH && lie.kind == HAND_USAGE; i++)
        lie.usage.pid[i] = any_pid();
    if (lie.kind == HAND_PAGES) {
        lie.pages.pid = any_pid();
        lie.pages.move = draw(3);
    }
    if (lie.kind == HAND_MARK) {
        lie.mark.put = draw(3);
        lie.mark.cpus = any_cpus();
    }
}

/* A number somewhere in it becomes another one. */
static void spoil(void)
{
    uint32_t word;
    size_t at = draw(sizeof(lie) / sizeof(word)) * sizeof(word);

    word = (uint32_t)rand_r(&seed);
    memcpy((char *)&lie + at, &word, sizeof(word));
}

static void say_anything(void)
{
    struct hand_answer answer;
    size_t size;

    memset(&lie, draw(4) ? 0 : 0xff, sizeof(lie));
    lie.kind = draw(HAND_KINDS + 1);
    lie.n = draw(4) ? draw(4) : draw(HAND_THREADS_MAX + 2);
    fill_body();
    lie.id = any_id();
    if (draw(3) == 0)
        spoil();
    size = draw(8) ? hand_message_size(lie.kind, lie.n) : draw(sizeof(lie) + 1);
    hand_answer(scene.hand, HAND_BY_HEAD, &lie, size, &answer);
    assert_in_range(answer.n, 0, HAND_PAGES_MAX);
    file_close(answer.fd);
}

static void test_at_random(void **state)
{
    const char *given = getenv("BERTH_SEED");
    unsigned first = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)getpid();

    (void)state;
    print_message("BERTH_SEED=%u\n", first);
    for (size_t s = 0; s < slurm_series_n; s++) {
        uint64_t before;

        seed = first + (unsigned)s;
        open_scene(&slurm_series[s]);
        before = outside();
        for (size_t i = 0; i < RANDOM_MESSAGES; i++) {
            say_anything();
            if (i % LOOK_EVERY == 0)
                assert_nothing_outside(before);
        }
        assert_nothing_outside(before);
        close_scene();
    }
}

/* ---- the table ---- */

static void test_each_kind_says_what_is_checked(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < HAND_KINDS; kind++) {
        const struct hand_kind_row *row = hand_kind_row((enum hand_kind)kind);

        assert_non_null(row);
        assert_true(strlen(row->name) > 0 && strlen(row->asks) > 0 && strlen(row->checked) > 0);
        assert_in_range(hand_message_size(kind, 0), 1, sizeof(struct hand_message));
    }
    assert_true(HAND_KINDS <= 14);
    assert_null(hand_kind_row(HAND_KINDS));
    assert_int_equal(hand_message_size(HAND_KINDS, 0), 0);
    assert_int_equal(hand_message_size(HAND_THREADS, HAND_THREADS_MAX + 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind_says_what_is_checked),
        cmocka_unit_test(test_the_truth),
        cmocka_unit_test(test_attacks),
        cmocka_unit_test(test_a_number_given_anew),
        cmocka_unit_test(test_what_root_is_made_to_say),
        cmocka_unit_test(test_what_the_head_says_for_root),
        cmocka_unit_test(test_at_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
