/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_features - what berthd does, what it was told to leave, and what it is not allowed. */
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/base/json.h"
#include "packer/daemon/features.h"
#include "packer/daemon/privileges.h"
#include "packer/slurm/steps/strangers.h"
#include "tests/unit/common/cpufreq_tree.h"
#include "tests/unit/common/fixture.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/hwmon_tree.h"
#include "tests/unit/common/msr_tree.h"

static struct feature find(const struct packer *packer, const char *name)
{
    struct feature feature;

    for (size_t i = 0; features_get(packer, i, &feature); i++)
        if (strcmp(feature.name, name) == 0)
            return feature;
    fail_msg("no feature %s", name);
    return feature;
}

static void is(const struct packer *packer, const char *name, enum feature_state state)
{
    struct feature feature = find(packer, name);

    assert_string_equal(feature_state_name[feature.state], feature_state_name[state]);
    assert_true(feature.say[0] != '\0');
    assert_int_equal(feature.missing != 0, state == FEATURE_DENIED);
}

static void test_what_berth_conf_says(void **state)
{
    struct fixture *f = *state;

    is(&f->packer, "placement", FEATURE_OFF); /* dryrun */
    is(&f->packer, "lock_time", FEATURE_OFF);
    is(&f->packer, "probe", FEATURE_OFF);
    is(&f->packer, "metrics", FEATURE_OFF);
    is(&f->packer, "metrics_textfile", FEATURE_OFF);
    is(&f->packer, "blackboard", FEATURE_OFF);
    f->packer.world.conf.blackboard = CONF_ON;
    lacks_note(&f->packer, LACK_BOARD, "No space left on device");
    is(&f->packer, "blackboard", FEATURE_ABSENT);
    f->packer.world.conf.control = 0;
    is(&f->packer, "trial", FEATURE_OFF);
    f->packer.world.conf.control = 5; /* and no key was made: it was not so when berthd started */
    is(&f->packer, "trial", FEATURE_ABSENT);
    is(&f->packer, "admin_comment", FEATURE_OFF);
    f->packer.world.conf.admin_comment = CONF_ON;
    is(&f->packer, "admin_comment", FEATURE_ABSENT);
    is(&f->packer, "tres_energy", FEATURE_OFF);
    f->packer.world.conf.tres_energy = CONF_ON;
    is(&f->packer, "tres_energy", FEATURE_ABSENT);
    is(&f->packer, "identity", FEATURE_OFF);
    strcpy(f->packer.world.conf.job_program, "/nowhere/berth-job");
    is(&f->packer, "identity", FEATURE_ABSENT);
}

/* Whether steps may stand on cores of nobody, and who says no. */
static void test_idle(void **state)
{
    struct fixture *f = *state;

    is(&f->packer, "idle", FEATURE_OFF);
    f->packer.world.conf.idle = CONF_IDLE_ON;
    is(&f->packer, "idle", FEATURE_OFF); /* dryrun */
    fixture_paper(f);
    f->way.touches = true;
    is(&f->packer, "idle", FEATURE_ON); /* nobody is there who would be in the way */
    f->packer.world.conf.idle = CONF_IDLE_AUTO;
    assert_string_equal(
        find(&f->packer, "idle").say,
        "idle=auto: not before 3 jobs in a row have asked for their cores (0 so far)");
    f->packer.state->idle.asked = STRANGERS_ASKED_MIN;
    is(&f->packer, "idle", FEATURE_ON);
    fixture_run(f, 1, "0", "")->body.leaf[0] = '\0';
    is(&f->packer, "idle", FEATURE_ABSENT);
    lacks_note(&f->packer, LACK_IDLE, "slurm.conf has CpuSpecList");
    assert_string_equal(find(&f->packer, "idle").say, "slurm.conf has CpuSpecList");
}

/* Words of what threads of a step are given: what berth.conf allows, and what the node lacks. */
static void test_words(void **state)
{
    static const struct {
        const char *word, *say;
        enum feature_state state;
    } rows[] = {
        {"faithful", "lock_time", FEATURE_ABSENT},
        {"tranquil", "counted", FEATURE_ABSENT},
        {"shuffle", "lock time", FEATURE_ABSENT},
        {"adapt", "berthctl model adapt", FEATURE_ON},
        {"follow", "may have it", FEATURE_ON},
        {"throttle", "no blackboard", FEATURE_ABSENT},
        {"flex", "berthctl model flexthread", FEATURE_ON},
        {"locks", "berthctl model cohort", FEATURE_ON},
    };
    struct fixture *f = *state;

    for (enum step_policy i = 0; i < STEP_POLICIES; i++)
        is(&f->packer, step_policy_word[i], FEATURE_OFF);
    f->packer.world.conf.share = CONF_SHARE_ADAPT;
    strcat(f->packer.world.conf.allow,
           ",faithful,tranquil,shuffle,follow,throttle,flex,locks,prefetch");
    is(&f->packer, "adapt", FEATURE_ABSENT); /* dryrun */
    fixture_paper(f);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        is(&f->packer, rows[i].word, rows[i].state);
        assert_non_null(strstr(find(&f->packer, rows[i].word).say, rows[i].say));
    }
}

/* Registers and sensors of a made machine, of one that has none, and of an AMD's. */
static void test_devices(void **state)
{
    struct fixture *f = *state;

    is(&f->packer, "prefetch", FEATURE_OFF);
    is(&f->packer, "thermal", FEATURE_OFF);
    is(&f->packer, "frequency", FEATURE_OFF);
    strcpy(f->conf.propose_users, "7");
    strcpy(f->conf.device_root, f->dir);
    strcat(f->conf.allow, ",prefetch");
    f->conf.thermal = CONF_ON;
    log_open(LOG_TARGET_SYSLOG, LOG_LEVEL_ERROR);
    folder_put(f->dir, "sys/class/hwmon/hwmon0/name", "k10temp\n");
    fixture_restart(f);
    is(&f->packer, "prefetch", FEATURE_ABSENT);
    is(&f->packer, "thermal", FEATURE_ABSENT);
    is(&f->packer, "frequency", FEATURE_ABSENT);
    assert_non_null(strstr(find(&f->packer, "thermal").say, "k10temp"));
    msr_tree_make(f->dir, 8, MSR_TREE_HASWELL);
    hwmon_tree_make(f->dir, 2, 4);
    cpufreq_tree_make(f->dir, 8, 1);
    fixture_restart(f);
    is(&f->packer, "frequency", FEATURE_ABSENT); /* dryrun */
    fixture_paper(f);
    is(&f->packer, "frequency", FEATURE_ON);
    is(&f->packer, "prefetch", FEATURE_ON);
    is(&f->packer, "thermal", FEATURE_ON);
    assert_non_null(strstr(find(&f->packer, "thermal").say, "8 of 8"));
}

static void test_why_metrics_are_not_shown(void **state)
{
    struct fixture *f = *state;

    strcpy(f->packer.world.conf.metrics, "127.0.0.1:1");
    is(&f->packer, "metrics", FEATURE_ON);
    lacks_note(&f->packer, LACK_METRICS, "127.0.0.1:1: Address already in use");
    is(&f->packer, "metrics", FEATURE_ABSENT);
    assert_string_equal(find(&f->packer, "metrics").say, lacks_why(&f->packer, LACK_METRICS));
}

/* Says in a child without any capability what a feature is. */
static int state_without_any(struct packer *packer, const char *name, uint64_t missing)
{
    struct berth_error err;
    struct feature feature;

    if (capabilities_keep(0, &err) < 0)
        return 1;
    feature = find(packer, name);
    if (feature.state != FEATURE_DENIED)
        return 2;
    return feature.missing == missing ? 0 : 3;
}

static void test_what_is_not_allowed(void **state)
{
    static const struct {
        const char *name;
        uint64_t missing;
    } cases[] = {
        {"placement", PRIVILEGES_PLACE},
        {"reuse_sampling", PRIVILEGES_REUSE},
        {"metrics", PRIVILEGES_GROUP},
    };
    struct fixture *f = *state;

    const struct enforce_way *own = f->packer.world.enforce->way;

    f->packer.world.enforce->way = &enforce_cgroup1;
    f->packer.world.conf.reuse_sampling = CONF_ON;
    strcpy(f->packer.world.conf.metrics, "unix:/nowhere");
    strcpy(f->packer.world.conf.metrics_group, "staff");
    lacks_note(&f->packer, LACK_METRICS, "Operation not permitted");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pid_t pid = fork();
        int status;

        if (pid == 0)
            _exit(state_without_any(&f->packer, cases[i].name, cases[i].missing));
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
    f->packer.world.enforce->way = own;
}

static void test_watchdog(void **state)
{
    struct fixture *f = *state;

    is(&f->packer, "watchdog", FEATURE_OFF);
    f->packer.world.watchdog_s = 30;
    is(&f->packer, "watchdog", FEATURE_ON);
}

static void test_json(void **state)
{
    struct fixture *f = *state;
    struct json_object *list = features_render(&f->packer);

    assert_true(json_object_array_length(list) > 10);
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        struct json_object *object = json_object_array_get_idx(list, i);

        assert_true(json_object_object_get_ex(object, "name", NULL));
        assert_true(json_object_object_get_ex(object, "state", NULL));
        assert_true(json_object_object_get_ex(object, "say", NULL));
        assert_true(json_object_object_get_ex(object, "missing", NULL));
    }
    json_object_put(list);
}

static int setup(void **state)
{
    *state = fixture_open(TWO_BY_TWO);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_berth_conf_says),
        TEST(test_idle),
        TEST(test_words),
        TEST(test_devices),
        TEST(test_why_metrics_are_not_shown),
        TEST(test_what_is_not_allowed),
        TEST(test_watchdog),
        TEST(test_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
