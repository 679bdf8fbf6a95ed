/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_records - what users ask of the ledger by the socket: each gets his own records, page by
 * page, and nobody's questions keep another's waiting. */
#include "tests/unit/common/fixture.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/json.h"
#include "packer/daemon/record_pages.h"
#include "packer/daemon/requests.h"
#include "packer/ledger/schema.h"
#include "packer/ledger/store.h"
#include "packer/serve/budget.h"
#include "packer/serve/reply.h"
#include "tests/unit/common/ledger_box.h"

#define ALICE 1001
#define BOB 1002
#define MANY 1000 /* records of Bob, some pages of them */

#define ASK(fields) "{\"version\":1,\"op\":\"records\"" fields "}\n"

/* All lines of the answer; static. */
static const char *answer(struct fixture *f, uid_t uid, const char *question)
{
    static char text[1 << 20];
    struct evbuffer *out = evbuffer_new();
    struct reply *reply = reply_open(&f->packer, request_ops, uid, question, strlen(question));
    ssize_t length;

    while (reply_next(reply, out) == REPLY_LATER)
        poll(&(struct pollfd){.fd = record_pages_fd(f->packer.state->record_pages),
                              .events = POLLIN},
             1, -1);
    reply_end(reply);
    length = evbuffer_copyout(out, text, sizeof(text) - 1);
    text[length] = '\0';
    evbuffer_free(out);
    return text;
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;

    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}

/* Jobs 1 to 3 of Alice, then many of Bob, each of which ends with the one after it. */
static void fill(struct fixture *f)
{
    struct ledger_record *record = calloc(3 + MANY, sizeof(*record));
    struct ledger_store *store;
    struct berth_error err;
    bool refused;

    for (unsigned i = 0; i < 3 + MANY; i++) {
        ledger_record_init(&record[i]);
        strcpy(record[i].identity, "slurmctld");
        strcpy(record[i].user, i < 3 ? "alice" : "bob");
        strcpy(record[i].account, i % 2 ? "phys" : "chem");
        strcpy(record[i].node, i == 1 ? "n2" : "n1");
        strcpy(record[i].reason, i < 3 ? "hers" : "his");
        record[i].id = (struct wire_step_id){i + 1, 0};
        record[i].uid = i < 3 ? ALICE : BOB;
        record[i].start = 1000 + i;
        record[i].end = 2000 + i / 2;
    }
    if (ledger_store_open(&store, &f->conf, &err) < 0 ||
        ledger_store_put(store, record, 3 + MANY, &refused, &err) < 0)
        fail_msg("%s", err.text);
    ledger_store_close(store);
    free(record);
}

static struct fixture *open_with(const char *ledger)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);

    snprintf(f->conf.ledger, sizeof(f->conf.ledger), "sqlite:%s/%s", f->dir, ledger);
    fixture_restart(f);
    return f;
}

static int open_filled(void **state)
{
    struct fixture *f = open_with("ledger.db");

    fill(f);
    *state = f;
    return 0;
}

static void test_each_gets_his_own(void **state)
{
    struct fixture *f = *state;
    const char *text = answer(f, ALICE, ASK(""));

    assert_int_equal(count(text, "\"record\":"), 3);
    assert_int_equal(count(text, "\"uid\":1001,"), 3);
    assert_int_equal(count(text, "his"), 0);
    assert_non_null(strstr(text, "\"more\":false}\n"));
    assert_int_equal(count(answer(f, 1003, ASK("")), "\"record\":"), 0);
    assert_int_equal(count(answer(f, 0, ASK(",\"users\":[\"alice\"]")), "\"record\":"), 3);
    assert_int_equal(count(answer(f, 0, ASK("")), "\"uid\":1001,"), 3);
    assert_true(count(answer(f, 0, ASK("")), "\"uid\":1002,") > 3);
}

/* Whatever is asked for, by name, number or job, is asked for among one's own. */
static void test_filters(void **state)
{
    static const struct {
        const char *question;
        size_t n;
    } cases[] = {
        {ASK(",\"users\":[\"bob\"]"), 0},
        {ASK(",\"users\":[\"1002\",\"0\"]"), 0},
        {ASK(",\"users\":[\"bob\",\"alice\"]"), 3},
        {ASK(",\"users\":[\"x' OR '1'='1\"]"), 0},
        {ASK(",\"jobs\":[[10,null],[11,0]]"), 0},
        {ASK(",\"jobs\":[[2,null],[11,0],[3,1]]"), 1},
        {ASK(",\"accounts\":[\"chem\"]"), 2},
        {ASK(",\"partitions\":[\"chem\"]"), 0},
        {ASK(",\"nodes\":[\"n2\",\"n3\"]"), 1},
        {ASK(",\"since\":2001"), 1},
        {ASK(",\"until\":1001"), 2},
        {ASK(",\"after\":{\"end\":2000,\"start\":1000,\"job\":1,\"step\":0,\"restart\":0,"
             "\"cluster\":\"\",\"node\":\"n1\"}"),
         2},
        {ASK(",\"uid\":1002,\"all\":true"), 3},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *text = answer(f, ALICE, cases[i].question);

        if (count(text, "\"record\":") != cases[i].n || strstr(text, "his"))
            fail_msg("%zu rows expected of %s%s", cases[i].n, cases[i].question, text);
    }
}

/* Takes a page's records into seen[], by job. Returns whether there is a next one, whose question
 * is written. */
static bool take_page(const char *text, unsigned *seen, char *question, size_t size)
{
    const char *next = strstr(text, "\"next\":");

    for (const char *at = text; (at = strstr(at, "\"record\":{"));) {
        const char *job = strstr(at, "\"job\":");

        seen[strtoul(job + 6, NULL, 10)]++;
        at = job;
    }
    if (next)
        snprintf(question, size, ASK(",\"after\":%.*s"), (int)(strcspn(next + 7, "}") + 1),
                 next + 7);
    return next;
}

static void test_pages(void **state)
{
    struct fixture *f = *state;
    unsigned seen[MANY + 4] = {0}, pages = 1;
    char question[512] = ASK("");
    const char *text;

    while (take_page(text = answer(f, BOB, question), seen, question, sizeof(question))) {
        assert_true(count(text, "\"record\":") <= RECORD_PAGES_RECORDS);
        assert_true(strlen(text) < RECORD_PAGES_BYTES + 4096);
        pages++;
    }
    assert_true(pages >= MANY / RECORD_PAGES_RECORDS && pages <= MANY / RECORD_PAGES_RECORDS + 2);
    for (unsigned job = 1; job < MANY + 4; job++)
        assert_int_equal(seen[job], job > 3);
}

/* ---- there is nothing to be read ---- */

static void test_none(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);
    const char *line = ASK("");
    struct evbuffer *out = evbuffer_new();
    struct reply *reply = reply_open(&f->packer, request_ops, ALICE, line, strlen(line));
    char *said;

    (void)state;
    assert_int_equal(reply_next(reply, out), REPLY_OVER);
    said = evbuffer_readln(out, NULL, EVBUFFER_EOL_LF);
    assert_non_null(strstr(said, "nothing is kept here of steps that ended"));
    free(said);
    reply_end(reply);
    evbuffer_free(out);
    fixture_close(f);

    f = open_with("none.db"); /* no step has ended: that is no error */
    assert_string_equal(answer(f, ALICE, ASK("")), "{\"version\":1,\"ok\":true,\"more\":false}\n");
    fixture_close(f);
}

/* A ledger that is damaged, and then another one in its place: users are told no names of files. */
static void test_damaged(void **state)
{
    struct fixture *f = *state;
    char path[128], moved[140];
    FILE *file;

    assert_int_equal(count(answer(f, ALICE, ASK("")), "\"record\":"), 3);
    snprintf(path, sizeof(path), "%s/ledger.db", f->dir);
    snprintf(moved, sizeof(moved), "%s.moved", path);
    assert_int_equal(rename(path, moved), 0);
    file = fopen(path, "w");
    for (int i = 0; i < 1000; i++)
        fputs("no database at all\n", file);
    fclose(file);
    assert_non_null(
        strstr(answer(f, ALICE, ASK("")), "\"ok\":false,\"error\":\"the ledger cannot"));
    assert_null(strstr(answer(f, ALICE, ASK("")), f->dir));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rename(moved, path), 0);
    assert_int_equal(count(answer(f, ALICE, ASK("")), "\"record\":"), 3);
}

/* ---- many questions ---- */

struct reader {
    struct record_pages *pages;
    struct record_page *page;
    bool told;
};

static void on_ready(void *arg)
{
    ((struct reader *)arg)->told = true;
}

static void ask(struct reader *reader, struct fixture *f, uid_t uid)
{
    struct wire_records asked = {0};
    struct berth_error err;

    *reader = (struct reader){.pages = f->packer.state->record_pages};
    reader->page =
        record_pages_ask(f->packer.state->record_pages, uid, uid, &asked, on_ready, reader, &err);
    if (!reader->page)
        fail_msg("%s", err.text);
}

static void await(struct reader *reader)
{
    while (!reader->told) {
        poll(&(struct pollfd){.fd = record_pages_fd(reader->pages), .events = POLLIN}, 1, -1);
        record_pages_tell(reader->pages);
    }
    assert_true(record_pages_is_there(reader->page));
}

/* Bob asks a lot and takes nothing: so much of it is read, and Alice is answered. */
static void test_turns(void **state)
{
    struct fixture *f = *state;
    struct reader bob[10], alice;
    size_t there = 0;

    for (size_t i = 0; i < 10; i++)
        ask(&bob[i], f, BOB);
    ask(&alice, f, ALICE);
    await(&alice);
    record_pages_drop(alice.page);
    ask(&alice, f, ALICE);
    await(&alice); /* all that may be read was read before it */
    record_pages_drop(alice.page);
    for (size_t i = 0; i < 10; i++)
        there += record_pages_is_there(bob[i].page);
    assert_in_range(there, 1, BUDGET_PAGES);
    for (size_t i = 0; i < 10; i++) {
        await(&bob[i]); /* in the order in which he has asked */
        record_pages_drop(bob[i].page);
    }
}

/* Who wants no answer any more is not told, whenever that is. */
static void test_dropped(void **state)
{
    struct fixture *f = *state;
    struct reader reader[20];

    for (size_t i = 0; i < 20; i++)
        ask(&reader[i], f, ALICE + (uid_t)i % 3);
    for (size_t i = 0; i < 20; i++) {
        if (i % 4 == 3)
            await(&reader[i]);
        else
            reader[i].told = false;
        record_pages_drop(reader[i].page);
        for (size_t k = 0; k < i; k++)
            assert_true(k % 4 == 3 || !reader[k].told);
    }
    record_pages_tell(f->packer.state->record_pages);
    for (size_t i = 0; i < 20; i++)
        assert_true(i % 4 == 3 || !reader[i].told);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_filled, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_gets_his_own), TEST(test_filters), TEST(test_pages),
        cmocka_unit_test(test_none),  TEST(test_damaged), TEST(test_turns),
        TEST(test_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
