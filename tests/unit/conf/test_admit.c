/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_admit - which words of a request the site's `allow` takes out, and who may ask for isolate.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/text.h"
#include "packer/conf/admit.h"
#include "packer/conf/admit_names.h"

/* Nobody says who the job is. */
static const struct wire_identity nobody = {.source = WIRE_SOURCE_NONE};

/* Everything asked for. */
static struct wire_options all(void)
{
    struct wire_options options;

    wire_options_init(&options);
    options.mode = WIRE_MODE_AUTO;
    options.isolate = options.edp = options.size = options.require = options.verbose = true;
    options.spread = options.pack = true; /* a plugin lets nobody ask for both */
    options.policy_given = true;
    options.cores_min = options.cores_max = 2;
    options.max_slowdown_pct = 5;
    options.mem = WIRE_MEM_BIND;
    options.threads_auto = options.threads_follow = true;
    options.throttle = WIRE_THROTTLE_LAZY;
    options.flex = options.locks_cohort = true;
    options.flex_threads = 64;
    options.faithful = true;
    options.tranquil = true;
    options.shuffle = true;
    options.adapt = true;
    options.prefetch = WIRE_PREFETCH_ON;
    strcpy(options.tag, "t");
    return options;
}

static void test_admit(void **state)
{
    static const struct {
        const char *allow, *refused, *left;
    } cases[] = {
        {"off,auto,observe,isolate,edp,size,spread,pack,policy,cores,max-slowdown,mem,threads,"
         "follow,throttle,flex,locks,faithful,tranquil,shuffle,adapt,prefetch,tag",
         "",
         "auto,isolate,edp,size,spread,pack,policy=di,mem=bind,threads=auto,threads=follow,"
         "throttle=lazy,flex=64,locks=cohort,"
         "faithful,tranquil,"
         "shuffle,"
         "adapt,prefetch=on,tag=t,"
         "require,"
         "verbose,cores=2-2,"
         "max-slowdown=5"},
        {"auto, isolate, tag",
         "edp,size,spread,pack,policy,cores,max-slowdown,mem,threads,follow,throttle,flex,locks,"
         "faithful,tranquil,"
         "shuffle,"
         "adapt,prefetch",
         "auto,isolate,tag=t,require,verbose"},
        {"",
         "auto,isolate,edp,size,spread,pack,policy,cores,max-slowdown,mem,threads,follow,throttle,"
         "flex,locks,faithful,"
         "tranquil,shuffle,adapt,prefetch,"
         "tag",
         "off,require,verbose"},
        {"autobahn,xauto,isolated",
         "auto,isolate,edp,size,spread,pack,policy,cores,max-slowdown,mem,threads,follow,throttle,"
         "flex,locks,faithful,"
         "tranquil,shuffle,adapt,prefetch,"
         "tag",
         "off,require,verbose"}, /* whole words only */
        {"xauto,auto",
         "isolate,edp,size,spread,pack,policy,cores,max-slowdown,mem,threads,follow,throttle,flex,"
         "locks,faithful,"
         "tranquil,"
         "shuffle,"
         "adapt,prefetch,tag",
         "auto,require,verbose"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wire_register request = {.options = all()};
        struct conf conf = {.isolate_users = "*", .throttle_users = "*", .prefetch_users = "*"};
        char refused[160], left[256];

        strcpy(conf.allow, cases[i].allow);
        admit_options(&conf, &request, &nobody, refused, sizeof(refused));
        assert_string_equal(refused, cases[i].refused);
        wire_options_format(&request.options, left, sizeof(left));
        assert_string_equal(left, cases[i].left);
    }
}

static void test_nothing_asked(void **state)
{
    struct wire_register request = {0};
    struct conf conf = {0};
    char refused[160] = "x";

    (void)state;
    wire_options_init(&request.options);
    admit_options(&conf, &request, &nobody, refused, sizeof(refused));
    assert_string_equal(refused, "");
    assert_int_equal(request.options.mode, WIRE_MODE_OFF);
}

/* ---- isolate ---- */

static void test_isolate(void **state)
{
    static const struct {
        const char *users, *groups, *accounts, *qos;
        bool may;
    } cases[] = {
        {"", "", "", "", false},
        {"1000", "", "", "", true},
        {"7,1000", "", "", "", true},
        {"100,10000,01000", "", "", "", false}, /* whole numbers only */
        {"*", "", "", "", true},
        {"", "100", "", "", true}, /* its own group, and the others */
        {"", "5,28", "", "", true},
        {"", "1000", "", "", false}, /* a user is no group */
        {"", "*", "", "", true},
        {"", "", "physics", "", true},
        {"", "", "physic,physics2", "", false},
        {"", "", "*", "", true},
        {"", "", "", "high", true},
        {"high", "high", "high", "physics", false},
    };
    struct wire_register request = {
        .uid = 1000, .gid = 100, .ngroups = 2, .group = (const uint32_t[]){27, 28}};

    const struct wire_identity is = {
        .source = WIRE_SOURCE_SLURMCTLD, .account = "physics", .qos = "high"};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct conf conf = {.allow = "auto,isolate"};
        char refused[160];

        strcpy(conf.isolate_users, cases[i].users);
        strcpy(conf.isolate_groups, cases[i].groups);
        strcpy(conf.isolate_accounts, cases[i].accounts);
        strcpy(conf.isolate_qos, cases[i].qos);
        wire_options_init(&request.options);
        request.options.mode = WIRE_MODE_AUTO;
        request.options.isolate = true;
        admit_options(&conf, &request, &is, refused, sizeof(refused));
        assert_int_equal(request.options.isolate, cases[i].may);
        assert_int_equal(request.options.mode, WIRE_MODE_AUTO); /* it runs as auto */
        assert_string_equal(refused, cases[i].may ? "" : "isolate");
        if (cases[i].may)
            assert_null(admit_priority(&conf, &request, &is, "isolate"));
        else
            assert_non_null(
                strstr(admit_priority(&conf, &request, &is, "isolate"), "names neither"));
    }
}

/* An account that is not known is named by nobody, and `allow` comes first. */
static void test_isolate_unknown(void **state)
{
    struct conf conf = {.allow = "auto,isolate", .isolate_accounts = "*", .isolate_qos = "*"};
    struct wire_register request = {.uid = 1000};

    (void)state;
    assert_true(admit_unknown(&conf, &request, &nobody, "isolate"));
    assert_non_null(
        strstr(admit_priority(&conf, &request, &nobody, "isolate"), "slurmctld has not said"));
    assert_non_null(
        strstr(admit_refusal(&conf, &request, &nobody, true, "isolate"), "waiting for slurmctld"));
    strcpy(conf.isolate_users, "1000");
    assert_false(admit_unknown(&conf, &request, &nobody, "isolate"));
    assert_null(admit_priority(&conf, &request, &nobody, "isolate"));
    strcpy(conf.allow, "auto");
    assert_non_null(strstr(admit_priority(&conf, &request, &nobody, "isolate"), "does not allow"));
}

/* A word is taken off the list that the refused ones are in, and no other one. */
static void test_strike(void **state)
{
    static const struct {
        const char *list, *word, *left;
    } cases[] = {
        {"isolate", "isolate", ""},
        {"isolate,edp", "isolate", "edp"},
        {"edp,isolate", "isolate", "edp"},
        {"edp,isolate,tag", "isolate", "edp,tag"},
        {"isolated,xisolate", "isolate", "isolated,xisolate"},
        {"", "isolate", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char list[96];

        strcpy(list, cases[i].list);
        admit_strike(list, cases[i].word);
        assert_string_equal(list, cases[i].left);
    }
}

/* max-slowdown is for those who may ask for isolate, but `allow` has each of them by its name. */
static void test_slowdown(void **state)
{
    struct conf conf = {.allow = "auto,isolate,max-slowdown"};
    struct wire_register request = {.uid = 1000};
    char refused[160];

    (void)state;
    wire_options_init(&request.options);
    request.options.mode = WIRE_MODE_AUTO;
    request.options.max_slowdown_pct = 5;
    strcpy(conf.isolate_users, "1000");
    admit_options(&conf, &request, &nobody, refused, sizeof(refused));
    assert_string_equal(refused, "");
    assert_true(request.options.max_slowdown_pct == 5);
    strcpy(conf.isolate_users, "1001");
    admit_options(&conf, &request, &nobody, refused, sizeof(refused));
    assert_string_equal(refused, "max-slowdown");
    assert_true(request.options.max_slowdown_pct < 0);
    strcpy(conf.isolate_users, "*");
    strcpy(conf.allow, "auto,isolate");
    assert_null(admit_priority(&conf, &request, &nobody, "isolate"));
    assert_non_null(
        strstr(admit_priority(&conf, &request, &nobody, "max-slowdown"), "does not allow"));
    assert_non_null(
        strstr(admit_refusal(&conf, &request, &nobody, false, "isolate"), "when the step began"));
}

/* throttle and prefetch are for those whom their keys name, where `allow` has them. */
static void test_users(void **state)
{
    struct conf conf = {
        .allow = "auto,throttle,prefetch", .throttle_users = "7,1000", .prefetch_users = "1001"};
    struct wire_register request = {.uid = 1000};
    char refused[160];

    (void)state;
    request.options = all();
    admit_options(&conf, &request, &nobody, refused, sizeof(refused));
    assert_false(text_lists(refused, "throttle"));
    assert_int_equal(request.options.throttle, WIRE_THROTTLE_LAZY);
    assert_true(text_lists(refused, "prefetch"));
    assert_int_equal(request.options.prefetch, WIRE_PREFETCH_NONE);
    strcpy(conf.allow, "auto");
    admit_options(&conf, &request, &nobody, refused, sizeof(refused));
    assert_true(text_lists(refused, "throttle"));
    conf_init(&conf);
    assert_string_equal(conf.throttle_users, "*");
    assert_string_equal(conf.prefetch_users, "*");
}

static void test_names(void **state)
{
    const struct group *group = getgrgid(0);
    const struct passwd *user = getpwuid(0);
    struct conf conf = {0};

    (void)state;
    if (!group || !user)
        skip();
    log_open(LOG_TARGET_STDERR, LOG_LEVEL_ERROR);
    snprintf(conf.isolate_users, sizeof(conf.isolate_users), "7,%s,nobody-of-that-name,*",
             user->pw_name);
    snprintf(conf.isolate_groups, sizeof(conf.isolate_groups), "%s", group->gr_name);
    snprintf(conf.prefetch_users, sizeof(conf.prefetch_users), "%s", user->pw_name);
    strcpy(conf.isolate_accounts, "root");
    admit_prepare(&conf);
    assert_string_equal(conf.prefetch_users, "0");
    assert_string_equal(conf.isolate_users, "7,0,*");
    assert_string_equal(conf.isolate_groups, "0");
    assert_string_equal(conf.isolate_accounts, "root");
    assert_string_equal(conf.isolate_qos, "");
}

/* ---- names of a configuration that is read again ---- */

static bool slow;          /* the directory service is the test's own */
static atomic_int answers; /* how many questions the directory service may answer */
static atomic_int questions;

int __real_getpwnam_r(const char *name, struct passwd *entry, char *room, size_t size,
                      struct passwd **found);
int __wrap_getpwnam_r(const char *name, struct passwd *entry, char *room, size_t size,
                      struct passwd **found);

/* Stands in for getpwnam_r (the linker's --wrap): a service that does not answer before it may. */
int __wrap_getpwnam_r(const char *name, struct passwd *entry, char *room, size_t size,
                      struct passwd **found)
{
    if (!slow)
        return __real_getpwnam_r(name, entry, room, size, found);
    questions++;
    while (answers == 0)
        usleep(1000);
    answers--;
    *entry = (struct passwd){.pw_uid = strcmp(name, "ann") == 0 ? 1001 : 1002};
    *found = entry;
    return 0;
}

static struct conf with_users(const char *users)
{
    struct conf conf = {.allow = "isolate"};

    strcpy(conf.isolate_users, users);
    return conf;
}

static void wait_for_answer(struct admit_names *names, struct conf *conf)
{
    struct pollfd fd = {.fd = admit_names_fd(names), .events = POLLIN};

    assert_int_equal(poll(&fd, 1, 10000), 1);
    assert_true(admit_names_take(names, conf));
    assert_false(admit_names_take(names, conf));
}

/* Nobody waits for a directory service: what held before holds until it has answered, and only its
 * last answer counts. */
static void test_names_beside(void **state)
{
    struct conf now = with_users("7"), next = with_users("8,ann");
    struct admit_names *names;
    struct berth_error err;

    (void)state;
    slow = true;
    assert_int_equal(admit_names_open(&names, &err), 0);
    admit_names_ask(names, &now, &next);
    assert_string_equal(next.isolate_users, "7");
    assert_false(admit_names_take(names, &now));
    answers = 1;
    wait_for_answer(names, &now);
    assert_string_equal(now.isolate_users, "8,1001");

    next = with_users("ann");
    admit_names_ask(names, &now, &next);
    while (questions < 2)
        usleep(1000);
    next = with_users("bob"); /* the service thinks of ann still */
    admit_names_ask(names, &now, &next);
    answers = 2;
    wait_for_answer(names, &now);
    assert_string_equal(now.isolate_users, "1002");

    next = with_users("ann");
    admit_names_ask(names, &now, &next);
    while (questions < 4)
        usleep(1000);
    next = with_users("9"); /* nothing to look up: taken at once */
    admit_names_ask(names, &now, &next);
    assert_string_equal(next.isolate_users, "9");
    answers = 1;
    while (answers)
        usleep(1000);
    admit_names_close(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_admit),    cmocka_unit_test(test_nothing_asked),
        cmocka_unit_test(test_isolate),  cmocka_unit_test(test_isolate_unknown),
        cmocka_unit_test(test_strike),   cmocka_unit_test(test_slowdown),
        cmocka_unit_test(test_slowdown), cmocka_unit_test(test_users),
        cmocka_unit_test(test_names),    cmocka_unit_test(test_names_beside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
