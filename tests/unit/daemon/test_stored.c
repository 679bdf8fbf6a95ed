/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_stored - what users ask of the profile store by the socket: each sees, puts and forgets his
 * own rows. */
#include "tests/unit/common/fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/daemon/requests.h"
#include "packer/observe/orders.h"
#include "packer/profiles/profiles.h"
#include "packer/serve/reply.h"

#define ATTACKER 1001
#define VICTIM 1002

#define ROW(key, uid, misses)                                                                      \
    "{\"version\":1,\"kind\":\"sample\",\"key\":\"tag:" key "\"," uid                              \
    "\"co_run\":false,\"source\":\"perf\",\"measured_at\":4102444800,\"runs\":1,\"windows\":1,"    \
    "\"seconds\":1,\"instructions\":1,\"rates\":{\"misses\":[" misses ",1]}}"
#define PUT(key, uid, misses)                                                                      \
    "{\"version\":1,\"op\":\"profile_put\",\"row\":" ROW(key, uid, misses) "}\n"
#define LIST "{\"version\":1,\"op\":\"profiles\"}\n"
#define OF(key) "{\"version\":1,\"op\":\"profiles\",\"key\":\"tag:" key "\"}\n"

/* All lines of the answer; static. */
static const char *answer_now(struct fixture *f, uid_t uid, const char *question)
{
    static char text[1 << 20];
    struct evbuffer *out = evbuffer_new();
    struct reply *reply = reply_open(&f->packer, request_ops, uid, question, strlen(question));
    ssize_t length;

    while (reply_next(reply, out))
        ;
    reply_end(reply);
    length = evbuffer_copyout(out, text, sizeof(text) - 1);
    text[length] = '\0';
    evbuffer_free(out);
    return text;
}

/* The same, when nobody writes the store just then. */
static const char *answer(struct fixture *f, uid_t uid, const char *question)
{
    const char *text = answer_now(f, uid, question);

    for (int i = 0; i < 3000 && strstr(text, "busy"); i++) {
        usleep(10000);
        text = answer_now(f, uid, question);
    }
    return text;
}

static size_t rows(const char *text)
{
    size_t n = 0;

    while ((text = strstr(text, "\"row\":"))) {
        text++;
        n++;
    }
    return n;
}

/* Waits until that user is told of so many rows. */
static void await_rows(struct fixture *f, uid_t uid, size_t n)
{
    for (int i = 0; i < 3000; i++) {
        if (rows(answer(f, uid, LIST)) == n)
            return;
        usleep(10000);
    }
    fail_msg("%zu rows expected: %s", n, answer(f, uid, LIST));
}

#define DONE "{\"version\":1,\"ok\":true}\n"

static void test_each_sees_his_own(void **state)
{
    struct fixture *f = *state;
    const char *text;

    fixture_profile(f, "of-root", 7);
    assert_string_equal(answer(f, ATTACKER, PUT("theirs", "", "20000")), DONE);
    assert_string_equal(answer(f, VICTIM, PUT("mine", "\"uid\":1002,", "5")), DONE);
    await_rows(f, ATTACKER, 2);
    await_rows(f, VICTIM, 2);
    text = answer(f, VICTIM, LIST);
    assert_non_null(strstr(text, "tag:mine"));
    assert_non_null(strstr(text, "tag:of-root"));
    assert_null(strstr(text, "tag:theirs"));
    assert_null(strstr(text, "1001"));
    assert_int_equal(rows(answer(f, VICTIM, OF("theirs"))), 0);
    assert_int_equal(rows(answer(f, VICTIM, OF("mine"))), 1);
    assert_int_equal(rows(answer(f, ATTACKER, OF("mine"))), 0);
}

/* Nobody speaks for another, or for all; nonsense is refused at once. */
static void test_refused(void **state)
{
    static const char *const wrong[] = {PUT("a", "\"uid\":0,", "1"),
                                        PUT("a", "\"uid\":1002,", "1"),
                                        PUT("a", "", "-1"),
                                        "{\"version\":1,\"op\":\"profile_put\"}\n",
                                        "{\"version\":1,\"op\":\"profile_put\",\"row\":7}\n",
                                        "{\"version\":1,\"op\":\"profiles\",\"key\":7}\n"};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (strncmp(answer(f, ATTACKER, wrong[i]), "{\"version\":1,\"ok\":false,", 24) != 0)
            fail_msg("%s%s", wrong[i], answer(f, ATTACKER, wrong[i]));
    assert_non_null(strstr(answer(f, ATTACKER, wrong[0]), "uid: 1001 expected, or nothing"));
    await_rows(f, VICTIM, 0);
    await_rows(f, 0, 0);
}

static void test_forget(void **state)
{
    static const char *const forget = "{\"version\":1,\"op\":\"profile_forget\"}\n";
    static const char *const of_a =
        "{\"version\":1,\"op\":\"profile_forget\",\"key\":\"tag:a\",\"samples\":true}\n";
    struct fixture *f = *state;

    answer(f, ATTACKER, PUT("a", "", "1"));
    answer(f, ATTACKER, PUT("b", "", "1"));
    answer(f, VICTIM, PUT("a", "", "1"));
    await_rows(f, ATTACKER, 2);
    await_rows(f, VICTIM, 1);
    assert_non_null(strstr(answer(f, ATTACKER, of_a), "\"forgotten\":1"));
    await_rows(f, ATTACKER, 1);
    assert_non_null(strstr(answer(f, ATTACKER, forget), "\"forgotten\":1"));
    await_rows(f, ATTACKER, 0);
    assert_non_null(strstr(answer(f, ATTACKER, forget), "\"forgotten\":0"));
    await_rows(f, VICTIM, 1);
}

/* Of a program that is named, the median of three others, without a word of who they are. */
static void test_median(void **state)
{
    struct fixture *f = *state;
    const char *text;

    answer(f, ATTACKER, PUT("a", "", "20000"));
    answer(f, 1003, PUT("a", "", "10"));
    answer(f, 1004, PUT("a", "", "12"));
    await_rows(f, ATTACKER, 1);
    await_rows(f, 1003, 1);
    await_rows(f, 1004, 1);
    assert_int_equal(rows(answer(f, VICTIM, OF("a"))), 0);
    f->packer.world.conf.profile_sharing = CONF_SHARING_MEDIAN;
    assert_int_equal(rows(answer(f, VICTIM, LIST)), 0);
    text = answer(f, VICTIM, OF("a"));
    assert_int_equal(rows(text), 1);
    assert_non_null(strstr(text, "\"misses\":[12"));
    assert_non_null(strstr(text, "\"uid\":4294967294"));
    assert_null(strstr(text, "100"));
    assert_int_equal(rows(answer(f, VICTIM, OF("b"))), 0);
}

/* One user's orders do not fill the queue while somebody keeps the store locked. */
static void test_bounded(void **state)
{
    struct fixture *f = *state;
    sqlite3 *lock;

    fixture_profile(f, "of-root", 7);
    assert_int_equal(sqlite3_open(f->conf.profile_db, &lock), SQLITE_OK);
    assert_int_equal(sqlite3_exec(lock, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    for (int i = 0; i < ORDERS_OF_ONE_MAX; i++)
        assert_string_equal(answer(f, ATTACKER, PUT("a", "", "1")), DONE);
    assert_non_null(strstr(answer(f, ATTACKER, PUT("a", "", "1")), "try again"));
    assert_string_equal(answer(f, VICTIM, PUT("a", "", "1")), DONE);
    assert_int_equal(sqlite3_exec(lock, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(lock);
    await_rows(f, ATTACKER, 2);
    await_rows(f, VICTIM, 2);
}

/* Returns what the user pays, beside what the event loop takes, when he puts a row. */
static double pays_s(struct fixture *f, uid_t uid)
{
    const char *question = PUT("b", "", "1");
    struct reply *reply = reply_open(&f->packer, request_ops, uid, question, strlen(question));
    struct evbuffer *out = evbuffer_new();
    double cpu_s;

    reply_next(reply, out);
    cpu_s = reply->cpu_s;
    reply_end(reply);
    evbuffer_free(out);
    return cpu_s;
}

/* A thread takes them in, together with what comes meanwhile; with the next one he pays for it. */
static void test_paid(void **state)
{
    struct fixture *f = *state;
    double paid_s = 0;

    for (int i = 0; i < 8; i++)
        assert_string_equal(answer(f, ATTACKER, PUT("a", "", "1")), DONE);
    await_rows(f, ATTACKER, 1);
    assert_true(pays_s(f, VICTIM) == 0);
    for (int i = 0; i < 3000 && paid_s <= 0; i++) {
        usleep(10000);
        paid_s = pays_s(f, ATTACKER);
    }
    assert_true(paid_s > 0);
}

static int open_node(void **state)
{
    *state = fixture_open(TWO_BY_TWO);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_node, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_sees_his_own), TEST(test_refused), TEST(test_forget), TEST(test_median),
        TEST(test_bounded),           TEST(test_paid),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
