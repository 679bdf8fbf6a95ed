/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_ledger - each record is in the ledger once: whatever dies, is away, is full or is damaged on
 * the way. With a file, and with a server where there is one. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "packer/base/json.h"
#include "packer/base/log.h"
#include "packer/ledger/line.h"
#include "packer/ledger/outbox.h"
#include "packer/ledger/schema.h"
#include "packer/ledger/spool.h"
#include "packer/sql/sql.h"
#include "tests/unit/common/ledger_box.h"
#include "tests/unit/common/mariadb_box.h"

static struct mariadb_box server;
static char no_server[256];

static int setup_all(void **state)
{
    (void)state;
    log_open(LOG_TARGET_STDERR, LOG_LEVEL_ERROR);
    signal(SIGXFSZ, SIG_IGN);
    mariadb_box_open(&server, no_server);
    return 0;
}

static int teardown_all(void **state)
{
    (void)state;
    if (!no_server[0])
        mariadb_box_close(&server);
    return 0;
}

static int setup(void **state)
{
    struct ledger_box *box = calloc(1, sizeof(*box));

    ledger_box_open(box);
    *state = box;
    return 0;
}

static int teardown(void **state)
{
    ledger_box_close(*state);
    free(*state);
    return 0;
}

static void run_sql(const char *url, const char *text)
{
    struct sql_options options = {.defaults = "", .writable = true, .group = ""};
    struct berth_error err;
    struct sql *sql;

    if (sql_open(&sql, url, &options, &err) < 0 || sql_run(sql, text, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    sql_close(sql);
}

static int setup_server(void **state)
{
    struct ledger_box *box;

    setup(state);
    box = *state;
    box->conf.ledger[0] = '\0';
    if (no_server[0])
        return 0;
    strcpy(box->conf.ledger, server.url);
    run_sql(server.url,
            "DROP TABLE IF EXISTS ledger_record, ledger_schema, steer_node, steer_schema");
    return 0;
}

static struct ledger_box *box_of(void **state)
{
    struct ledger_box *box = *state;

    if (!box->conf.ledger[0]) {
        print_message("skipped: %s\n", no_server);
        skip();
    }
    return box;
}

static struct ledger *open_ledger(const struct ledger_box *box)
{
    struct ledger *ledger;
    struct berth_error err;

    if (ledger_open(&ledger, &box->conf, &err) < 0)
        fail_msg("%s", err.text);
    return ledger;
}

static void add(struct ledger *ledger, unsigned n)
{
    struct ledger_record record = ledger_box_record(n);
    struct berth_error err;

    if (ledger_add(ledger, &record, &err) < 0)
        fail_msg("%s", err.text);
}

/* ---- lines ---- */

static void test_line(void **state)
{
    struct ledger_record record = ledger_box_record(1), read;
    struct berth_error err;
    char *line;

    (void)state;
    for (int i = 0; i < 2; i++) {
        line = ledger_line_encode(&record);
        assert_int_equal(strchr(line, '\n') - line, (long)strlen(line) - 1);
        if (ledger_line_decode(line, strlen(line), &read, &err) < 0)
            fail_msg("%s", err.text);
        assert_true(ledger_box_same(&record, &read));
        free(line);
        ledger_record_init(&record); /* nothing is known */
        record.id.job = 1;
        record.start = 1;
    }
}

static void test_line_texts(void **state)
{
    static const struct {
        const char *text, *clean;
    } row[] = {
        {"plain \"quoted\" \\ / text", "plain \"quoted\" \\ / text"},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"a\nb\tc\x7f", "a?b?c?"},
        {"\xc2\x9b 2J", "?? 2J"},
        {"\xff\xfe", "??"},
        {"\xc0\xaf", "??"},           /* overlong */
        {"\xed\xa0\x80", "???"},      /* a surrogate */
        {"\xf4\x90\x80\x80", "????"}, /* beyond Unicode */
        {"cut \xe2\x82", "cut ??"},
    };
    struct ledger_record record = ledger_box_record(1), read;
    struct berth_error err;
    char *line;

    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        strcpy(record.job_name, row[i].text);
        line = ledger_line_encode(&record);
        assert_int_equal(ledger_line_decode(line, strlen(line), &read, &err), 0);
        assert_string_equal(read.job_name, row[i].clean);
        free(line);
    }
}

static void test_line_garbage(void **state)
{
    static const char *const bad[] = {"",
                                      "\n",
                                      "{",
                                      "[]",
                                      "null",
                                      "{}",
                                      "{\"job\":1}",
                                      "{\"job\":1,\"start\":0}",
                                      "{\"job\":-1,\"start\":5}",
                                      "{\"job\":4294967296,\"start\":5}",
                                      "{\"job\":1,\"start\":5,\"node\":7}",
                                      "{\"job\":1,\"start\":5,\"exit_status\":-2}",
                                      "{\"job\":1,\"start\":5} {}"};
    struct ledger_record record;
    struct berth_error err;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (ledger_line_decode(bad[i], strlen(bad[i]), &record, &err) == 0)
            fail_msg("taken: %s", bad[i]);
}

/* ---- the way to the database ---- */

static void test_off(void **state)
{
    struct ledger_box *box = box_of(state);
    struct ledger *ledger;
    struct berth_error err;

    ledger_close(NULL);
    strcpy(box->conf.ledger, "off");
    assert_int_equal(ledger_open(&ledger, &box->conf, &err), 0);
    assert_null(ledger);
    strcpy(box->conf.ledger, "somewhere");
    assert_int_equal(ledger_open(&ledger, &box->conf, &err), -1);
    strcpy(box->conf.ledger_queue, "/dev/null/queue");
    sprintf(box->conf.ledger, "sqlite:%s/ledger.db", box->folder);
    assert_int_equal(ledger_open(&ledger, &box->conf, &err), -1);
}

struct expected {
    unsigned n, of;
};

static int compare_one(const struct ledger_record *record, void *arg)
{
    struct expected *expected = arg;
    struct ledger_record want = ledger_box_record(expected->n++);

    assert_true(ledger_box_same(record, &want));
    return expected->of && expected->n == expected->of;
}

/* Every field arrives as it was; those that are there already stay. */
static void test_fields(void **state)
{
    struct ledger_box *box = box_of(state);
    struct ledger *ledger = open_ledger(box);
    struct ledger_record twice = ledger_box_record(2);
    struct ledger_filter filter = {.njobs = 0};
    struct expected expected = {0, 0};
    struct berth_error err;

    for (unsigned i = 0; i < 300; i++) /* more than a batch */
        add(ledger, i);
    assert_true(ledger_box_arrived(ledger));
    strcpy(twice.account, "another");
    assert_int_equal(ledger_add(ledger, &twice, &err), 0);
    ledger_close(ledger);
    assert_int_equal(ledger_read(box->conf.ledger, "", &filter, compare_one, &expected, &err), 0);
    assert_int_equal(expected.n, 300);
    expected = (struct expected){0, 5}; /* the callback has enough */
    assert_int_equal(ledger_read(box->conf.ledger, "", &filter, compare_one, &expected, &err), 0);
    assert_int_equal(expected.n, 5);
}

/* A record without, of that job and user, which began then. */
static void add_unknown(struct ledger *ledger, uint32_t job, uint32_t uid, int64_t start)
{
    struct ledger_record record;
    struct berth_error err;

    ledger_record_init(&record);
    strcpy(record.identity, "none");
    strcpy(record.node, "n1");
    record.id = (struct wire_step_id){job, (uint32_t)start};
    record.uid = uid;
    record.start = start;
    assert_int_equal(ledger_add(ledger, &record, &err), 0);
}

static int list_identity(const struct ledger_record *record, void *arg)
{
    char *text = arg, *end = text + strlen(text);

    sprintf(end, "%u/%u@%d %s %s %s %u; ", record->id.job, record->uid, (int)record->start,
            record->identity, record->cluster, record->account, record->restart);
    return 0;
}

static void assert_identities(const struct ledger_box *box, const char *want)
{
    struct ledger_filter filter = {.njobs = 0};
    struct berth_error err = {""};
    char text[1024] = "";

    if (ledger_read(box->conf.ledger, "", &filter, list_identity, text, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(text, want);
}

static void identify(struct ledger *ledger, enum wire_source source, const char *account)
{
    struct ledger_identity identity = {
        "n1", 10, 20, {.source = source, .job = 7, .uid = 1001, .restart = 2, .cluster = "north"}};
    struct berth_error err;

    strcpy(identity.is.account, account);
    assert_int_equal(ledger_identify(ledger, &identity, &err), 0);
}

/* Records that went before are told who their job is: those of that run, user and node only, and
 * once, whatever is brought again. What slurmd has said is said better by slurmctld. */
static void test_identified(void **state)
{
    struct ledger_box *box = box_of(state);
    struct ledger *ledger = open_ledger(box);

    add_unknown(ledger, 7, 1001, 10);
    add_unknown(ledger, 7, 1001, 20);
    add_unknown(ledger, 7, 1001, 21); /* of the next run */
    add_unknown(ledger, 7, 1002, 15); /* another cluster's, say */
    add_unknown(ledger, 8, 1001, 15);
    identify(ledger, WIRE_SOURCE_SLURMD, "physics");
    assert_true(ledger_box_arrived(ledger));
    assert_identities(box, "7/1001@10 slurmd north physics 2; 7/1002@15 none   0; "
                           "8/1001@15 none   0; 7/1001@20 slurmd north physics 2; "
                           "7/1001@21 none   0; ");
    add_unknown(ledger, 7, 1001, 10); /* a crash has brought it back */
    identify(ledger, WIRE_SOURCE_SLURMCTLD, "chemistry");
    assert_true(ledger_box_arrived(ledger));
    ledger_close(ledger);
    assert_identities(box, "7/1001@10 slurmctld north chemistry 2; 7/1002@15 none   0; "
                           "8/1001@15 none   0; 7/1001@20 slurmctld north chemistry 2; "
                           "7/1001@21 none   0; ");
}

/* The columns of what a step has lost. */
#define LOST                                                                                       \
    "lost", "lost_caches", "lost_siblings", "lost_clock", "lost_waiting", "lost_threads",          \
        "lost_rest", "cpus_taken_by", "disturbed_by"

/* Undoes the migrations to the fourth schema and those after it. */
static void drop_fourth(const struct ledger_box *box)
{
    static const char *const column[] = {
        "start_ms",    "end_ms",         "proposed", "slowdown_proposed",
        "knowledge",   "reason",         "uj_idle",  "idle_energy",
        "inside",      "inside_changes", "inside_s", "throttled",
        "throttled_s", "idle_thread_s",  "left_for", "trial",
        LOST,
#define FACT_ADDED(ID, member, type, version) #member,
#include "packer/fact/facts.def"
    };
    char text[128];

    for (size_t i = 0; i < sizeof(column) / sizeof(column[0]); i++) {
        snprintf(text, sizeof(text), "ALTER TABLE ledger_record DROP COLUMN %s", column[i]);
        run_sql(box->conf.ledger, text);
    }
    run_sql(box->conf.ledger, "DELETE FROM ledger_schema WHERE version > 3");
}

static int keep_one(const struct ledger_record *record, void *arg)
{
    *(struct ledger_record *)arg = *record;
    return 0;
}

static int count_all(const struct ledger_record *record, void *arg)
{
    (void)record;
    ++*(size_t *)arg;
    return 0;
}

/* A ledger that no berthd of this version has opened yet: what has no column there is not known,
 * and nothing else is missing. It is known as soon as the column is there, to who reads already,
 * too. */
static void test_older(void **state)
{
    struct ledger_box *box = box_of(state);
    struct ledger *ledger = open_ledger(box);
    const char *physics = "physics";
    struct ledger_filter all = {.njobs = 0}, said = {.naccounts = 1, .account = &physics};
    struct ledger_record full = ledger_box_record(0), read;
    struct ledger_view *view;
    struct berth_error err;
    size_t n = 0;

    assert_int_equal(ledger_add(ledger, &full, &err), 0);
    assert_true(ledger_box_arrived(ledger));
    ledger_close(ledger);
    run_sql(box->conf.ledger, "ALTER TABLE ledger_record DROP COLUMN identity");
    drop_fourth(box);
    if (ledger_view_open(&view, box->conf.ledger, "", &err) < 0 ||
        ledger_view_read(view, &all, keep_one, &read, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(read.program, full.program);
    assert_true(read.uj[ENERGY_PACKAGE] == full.uj[ENERGY_PACKAGE]);
    assert_string_equal(read.reason, "");
    assert_true(isnan(read.uj_idle));
    assert_int_equal(ledger_view_read(view, &said, count_all, &n, &err), 0);
    assert_int_equal(n, 0); /* nobody knows who said so */
    run_sql(box->conf.ledger, "ALTER TABLE ledger_record ADD COLUMN reason TEXT DEFAULT 'now'");
    assert_int_equal(ledger_view_read(view, &all, keep_one, &read, &err), 0);
    assert_string_equal(read.reason, "now");
    ledger_view_close(view);
}

static int list_places(const struct ledger_record *record, void *arg)
{
    char *text = arg, *end = text + strlen(text);

    sprintf(end, "%u %s %s>%s (%s); ", record->id.job, record->state, record->home, record->cpus,
            record->proposed);
    return 0;
}

static void add_place(struct ledger *ledger, uint32_t job, const char *state, const char *cpus)
{
    struct ledger_record record;
    struct berth_error err;

    ledger_record_init(&record);
    strcpy(record.node, "n1");
    strcpy(record.state, state);
    strcpy(record.home, "0-1");
    strcpy(record.cpus, cpus);
    record.id.job = job;
    record.start = job;
    assert_int_equal(ledger_add(ledger, &record, &err), 0);
}

static int list_left(const struct ledger_record *record, void *arg)
{
    sprintf((char *)arg + strlen(arg), "%u %s; ", record->id.job,
            wire_left_name[ledger_left_for(record)]);
    return 0;
}

/* In a ledger of the seventh schema only a sentence says for what a step was left. */
static void test_left_for(void **state)
{
    static const char *const reason[] = {"left alone: did not opt in",
                                         "left alone: bound by hand (--cpu-bind)",
                                         "left alone: released by root (berthctl release)", ""};
    static const char *const later[] = {"left_for", "idle_core_s", "core_speed", "trial", LOST};
    struct ledger_box *box = box_of(state);
    struct ledger *ledger = open_ledger(box);
    struct ledger_filter filter = {.njobs = 0};
    char text[256] = "", update[256];
    struct berth_error err;

    for (uint32_t i = 0; i < 4; i++)
        add_place(ledger, i + 1, "left", "0-1");
    add_place(ledger, 5, "placed", "0-1");
    assert_true(ledger_box_arrived(ledger));
    ledger_close(ledger);
    for (uint32_t i = 0; i < 4; i++) {
        snprintf(update, sizeof(update), "UPDATE ledger_record SET reason = '%s' WHERE job = %u",
                 reason[i], i + 1);
        run_sql(box->conf.ledger, update);
    }
    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
        snprintf(update, sizeof(update), "ALTER TABLE ledger_record DROP COLUMN %s", later[i]);
        run_sql(box->conf.ledger, update);
    }
    run_sql(box->conf.ledger, "DELETE FROM ledger_schema WHERE version > 7");
    ledger = open_ledger(box);
    add_place(ledger, 6, "left", "0-1");
    assert_true(ledger_box_arrived(ledger));
    ledger_close(ledger);
    assert_int_equal(ledger_read(box->conf.ledger, "", &filter, list_left, text, &err), 0);
    assert_string_equal(text, "1 off; 2 bound; 3 other; 4 no; 5 no; 6 no; ");
}

/* A ledger of the third schema has where an observed step would have stood as where it stood: both
 * are told apart, and nothing is lost. */
static void test_places(void **state)
{
    struct ledger_box *box = box_of(state);
    struct ledger *ledger = open_ledger(box);
    struct ledger_filter filter = {.njobs = 0};
    struct berth_error err;
    char text[256] = "";

    add_place(ledger, 1, "placed", "4-5");
    add_place(ledger, 2, "left", "0-1");
    assert_true(ledger_box_arrived(ledger));
    ledger_close(ledger);
    run_sql(box->conf.ledger, "UPDATE ledger_record SET state = 'observed', cpus = '6-7'"
                              " WHERE job = 2");
    drop_fourth(box);
    ledger = open_ledger(box);
    add_place(ledger, 3, "observed", "2-3"); /* a line that an older berth left in its queue */
    assert_true(ledger_box_arrived(ledger));
    ledger_close(ledger);
    assert_int_equal(ledger_read(box->conf.ledger, "", &filter, list_places, text, &err), 0);
    assert_string_equal(text, "1 placed 0-1>4-5 (); 2 observed 0-1>0-1 (6-7); "
                              "3 observed 0-1>0-1 (2-3); ");
}

/* A ledger of the first schema has what users said of their jobs: it is kept, and not believed. */
static void test_believed(void **state)
{
    struct ledger_box *box = box_of(state);
    struct ledger *ledger = open_ledger(box);
    const char *physics = "physics";
    struct ledger_filter filter = {.naccounts = 1, .account = &physics};
    struct berth_error err;
    char text[256] = "";

    add_unknown(ledger, 7, 1001, 10);
    assert_true(ledger_box_arrived(ledger));
    ledger_close(ledger);
    run_sql(box->conf.ledger, "UPDATE ledger_record SET account = 'physics'");
    run_sql(box->conf.ledger, "ALTER TABLE ledger_record DROP COLUMN identity");
    run_sql(box->conf.ledger, "ALTER TABLE ledger_record DROP COLUMN size_loss_asked");
    run_sql(box->conf.ledger, "ALTER TABLE ledger_record DROP COLUMN size_loss_predicted");
    run_sql(box->conf.ledger, "ALTER TABLE ledger_record DROP COLUMN size_loss_measured");
    run_sql(box->conf.ledger, "ALTER TABLE ledger_record DROP COLUMN size_freed_core_s");
    drop_fourth(box);
    run_sql(box->conf.ledger, "DELETE FROM ledger_schema WHERE version > 1");
    ledger = open_ledger(box);
    add_unknown(ledger, 7, 1001, 11);
    assert_true(ledger_box_arrived(ledger));
    ledger_close(ledger);
    assert_identities(box, "7/1001@10 environment  physics 0; 7/1001@11 none   0; ");
    assert_int_equal(ledger_read(box->conf.ledger, "", &filter, list_identity, text, &err), 0);
    assert_string_equal(text, "");
}

/* What is not known comes back as not known; the user's name is looked up on the way. */
static void test_unknown(void **state)
{
    struct ledger_box *box = box_of(state);
    struct ledger *ledger = open_ledger(box);
    struct ledger_filter filter = {.njobs = 0};
    struct ledger_record nothing, read;
    struct berth_error err;

    ledger_record_init(&nothing);
    nothing.id.job = 1;
    nothing.start = 1;
    assert_int_equal(ledger_add(ledger, &nothing, &err), 0);
    assert_true(ledger_box_arrived(ledger));
    ledger_close(ledger);
    assert_int_equal(ledger_read(box->conf.ledger, "", &filter, keep_one, &read, &err), 0);
    assert_string_equal(read.user, "root");
    strcpy(nothing.user, "root");
    assert_true(ledger_box_same(&nothing, &read));
}

/* ---- what is asked for ---- */

/* Records of these: start and end, job, step, array, user, uid, account, partition, node, state. */
static const struct {
    int64_t start, end;
    uint32_t job, step, array_job, uid;
    const char *user, *account, *partition, *node, *state;
} kept[] = {
    {100, 200, 5, 0, 0, 7, "ann", "phys", "long", "n1", "placed"},
    {100, 200, 5, 1, 0, 7, "ann", "phys", "long", "n1", "left"},
    {100, 200, 5, 1, 0, 7, "ann", "phys", "long", "n2", "left"},
    {100, 900, 4, WIRE_STEP_BATCH, 4, 8, "Ann", "chem", "short", "n1", "placed"},
    {300, 400, 6, 0, 4, 8, "Ann", "chem", "short", "n2", "failed"},
    {500, 500, 7, 0, 0, 9, "9lives", "phys", "long", "n3", "placed"},
};

static void fill_kept(struct ledger *ledger)
{
    struct berth_error err;

    for (size_t i = sizeof(kept) / sizeof(kept[0]); i-- > 0;) {
        struct ledger_record record;

        ledger_record_init(&record);
        strcpy(record.identity, "slurmctld");
        record.start = kept[i].start;
        record.end = kept[i].end;
        record.id = (struct wire_step_id){kept[i].job, kept[i].step};
        record.array_job = kept[i].array_job;
        record.uid = kept[i].uid;
        record.tasks = (uint32_t)i;
        strcpy(record.user, kept[i].user);
        strcpy(record.account, kept[i].account);
        strcpy(record.partition, kept[i].partition);
        strcpy(record.node, kept[i].node);
        strcpy(record.state, kept[i].state);
        assert_int_equal(ledger_add(ledger, &record, &err), 0);
    }
}

static int list_one(const struct ledger_record *record, void *arg)
{
    sprintf((char *)arg + strlen(arg), "%u ", record->tasks);
    return 0;
}

static const char *const ann[] = {"ann"}, *const anns[] = {"ann", "Ann"}, *const by_uid[] = {"9"},
                         *const lives[] = {"9lives"}, *const phys[] = {"phys"},
                         *const odd[] = {"x' OR '1'='1"}, *const shorts[] = {"short"},
                         *const n12[] = {"n1", "n2"}, *const failed[] = {"failed", "left"};
static const struct wire_step_id job5 = {5, UINT32_MAX}, step51 = {5, 1}, array4 = {4, UINT32_MAX},
                                 two[] = {{7, 0}, {5, 0}};

static const struct {
    struct ledger_filter filter;
    const char *want;
} asked[] = {
    {{.njobs = 0}, "3 0 1 2 4 5 "}, /* by start, job, step, node */
    {{.njobs = 1, .job = &job5}, "0 1 2 "},
    {{.njobs = 1, .job = &step51}, "1 2 "},
    {{.njobs = 1, .job = &array4}, "3 4 "},
    {{.njobs = 2, .job = two}, "0 5 "},
    {{.nusers = 1, .user = ann}, "0 1 2 "},
    {{.nusers = 2, .user = anns}, "3 0 1 2 4 "},
    {{.nusers = 1, .user = by_uid}, "5 "},
    {{.nusers = 1, .user = lives}, "5 "},
    {{.nusers = 1, .user = odd}, ""},
    {{.naccounts = 1, .account = phys}, "0 1 2 5 "},
    {{.npartitions = 1, .partition = shorts}, "3 4 "},
    {{.nnodes = 2, .node = n12, .nusers = 1, .user = by_uid}, ""},
    {{.nstates = 2, .state = failed}, "1 2 4 "},
    {{.since = 201}, "3 4 5 "},
    {{.since = 200, .until = 299}, "3 0 1 2 "},
    {{.since = 450, .until = 499}, "3 "},
    {{.until = 99}, ""},
    {{.since = 901}, ""},
};

static void test_asked(void **state)
{
    struct ledger_box *box = box_of(state);
    struct ledger *ledger = open_ledger(box);
    struct berth_error err;

    fill_kept(ledger);
    assert_true(ledger_box_arrived(ledger));
    ledger_close(ledger);
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        char got[256] = "";

        if (ledger_read(box->conf.ledger, "", &asked[i].filter, list_one, got, &err) < 0)
            fail_msg("%s", err.text);
        if (strcmp(got, asked[i].want) != 0)
            fail_msg("%zu: %s, not %s", i, got, asked[i].want);
    }
}

/* Pages of two, from an end to the next: each record is on one of them, whatever its neighbours
 * have in common; and one user's are his own. */
static void test_paged(void **state)
{
    static const struct {
        uint32_t uid; /* 0: all */
        int64_t since;
        const char *want;
    } cases[] = {{0, 0, "0 1 | 2 4 | 5 3 | "},
                 {7, 0, "0 1 | 2 | "},
                 {8, 0, "4 3 | "},
                 {0, 401, "5 3 | "},
                 {6, 0, ""}};
    struct ledger_box *box = box_of(state);
    struct ledger *ledger = open_ledger(box);
    struct ledger_view *view;
    struct berth_error err;

    fill_kept(ledger);
    assert_true(ledger_box_arrived(ledger));
    ledger_close(ledger);
    if (ledger_view_open(&view, box->conf.ledger, "", &err) < 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wire_record_place after;
        struct ledger_filter filter = {
            .since = cases[i].since, .uid = cases[i].uid ? &cases[i].uid : NULL, .page = 2};
        char got[256] = "";
        size_t length;

        do {
            length = strlen(got);
            if (ledger_view_read(view, &filter, list_one, got, &err) < 0)
                fail_msg("%s", err.text);
            if (strlen(got) > length) {
                size_t last = (size_t)(got[strlen(got) - 2] - '0');

                after = (struct wire_record_place){.end = kept[last].end,
                                                   .start = kept[last].start,
                                                   .id = {kept[last].job, kept[last].step}};
                strcpy(after.node, kept[last].node);
                filter.after = &after;
                strcat(got, "| ");
            }
        } while (strlen(got) > length);
        assert_string_equal(got, cases[i].want);
    }
    ledger_view_close(view);
}

/* What is written for users says what the record says. */
static void test_put(void **state)
{
    struct ledger_record record[2] = {ledger_box_record(0)}, read;
    struct json_object *object;
    struct berth_error err;
    char *text;
    size_t size;

    (void)state;
    strcpy(record[0].job_name, "a \"b\" \\c, \303\244");
    ledger_record_init(&record[1]);
    record[1].id.job = 1;
    record[1].start = 1;
    for (size_t i = 0; i < 2; i++) {
        FILE *out = open_memstream(&text, &size);

        ledger_record_put(out, &record[i]);
        fclose(out);
        object = json_parse(text, size, &err);
        ledger_record_init(&read);
        if (!object || json_read(object, ledger_fields, &read, &err) < 0)
            fail_msg("%s: %s", text, err.text);
        assert_true(ledger_box_same(&record[i], &read));
        assert_int_equal(i == 1, strcmp(text, "{\"job\":1,\"start\":1}") == 0);
        json_object_put(object);
        free(text);
    }
}

/* A node has one row, which says what it was told last. */
static void test_tell(void **state)
{
    static const struct ledger_pressure told[] = {
        {"n1", 100, 0.25}, {"n2", 100, 1}, {"n1", 130, 0.5}};
    struct ledger_box *box = box_of(state);
    struct sql_options options = {.defaults = ""};
    struct sql_statement *rows;
    struct berth_error err;
    struct sql *sql;

    for (size_t i = 0; i < 3; i++) {
        struct ledger *ledger = open_ledger(box);

        ledger_tell(ledger, &told[i]);
        ledger_close(ledger); /* waits for it */
    }
    if (sql_open(&sql, box->conf.ledger, &options, &err) < 0 ||
        sql_prepare(sql, "SELECT node, \"at\", pressure FROM steer_node ORDER BY node", &rows,
                    &err) < 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < 2; i++) {
        const struct ledger_pressure *last = &told[2 - i];

        assert_int_equal(sql_step(rows, &err), 1);
        assert_string_equal(sql_text(rows, 0), last->node);
        assert_int_equal(sql_int(rows, 1), last->at);
        assert_true(sql_double(rows, 2) == last->pressure);
    }
    assert_int_equal(sql_step(rows, &err), 0);
    sql_finish(rows);
    sql_close(sql);
}

static void test_no_ledger(void **state)
{
    struct ledger_box *box = box_of(state);
    struct ledger_filter filter = {.njobs = 0};
    struct ledger_record read;
    struct berth_error err;

    assert_int_equal(ledger_read(box->conf.ledger, "", &filter, keep_one, &read, &err), -1);
    ledger_close(open_ledger(box));
    assert_int_equal(ledger_read(box->conf.ledger, "", &filter, keep_one, &read, &err), -1);
    run_sql(box->conf.ledger, "CREATE TABLE ledger_schema (version BIGINT)");
    run_sql(box->conf.ledger, "INSERT INTO ledger_schema VALUES (999)");
    assert_int_equal(ledger_read(box->conf.ledger, "", &filter, keep_one, &read, &err), -1);
    assert_non_null(strstr(err.text, "newer berth"));
}

/* ---- garbage ---- */

/* Text of an earlier life in one of the spool's files. */
static void write_spool(const struct ledger_box *box, unsigned file, const char *text)
{
    char path[128];
    FILE *out;

    snprintf(path, sizeof(path), "%s/state", box->folder);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/state/ledger", box->folder);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/state/ledger/%u.jsonl", box->folder, file);
    out = fopen(path, "a");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static size_t refused_lines(const struct ledger_box *box)
{
    char path[128];
    size_t lines = 0;
    FILE *in;
    int c;

    snprintf(path, sizeof(path), "%s/queue/refused.jsonl", box->folder);
    in = fopen(path, "r");
    while (in && (c = getc(in)) != EOF)
        lines += c == '\n';
    if (in)
        fclose(in);
    return lines;
}

/* What was accepted arrives, garbage is set aside; what was torn by a crash was not accepted. */
static void test_garbage(void **state)
{
    struct ledger_box *box = box_of(state);
    struct ledger *ledger;
    char *line;
    size_t n;

    for (unsigned i = 0; i < 2; i++) {
        struct ledger_record record = ledger_box_record(i);

        line = ledger_line_encode(&record);
        write_spool(box, i, "no record at all\n");
        write_spool(box, i, line);
        write_spool(box, i, "{\"job\":1}\n");
        line[strlen(line) / 2] = '\0'; /* torn */
        write_spool(box, i, line);
        free(line);
    }
    ledger = open_ledger(box);
    add(ledger, 2);
    assert_true(ledger_box_arrived(ledger));
    ledger_close(ledger);
    assert_int_equal(ledger_box_stored(box), 3);
    assert_int_equal(refused_lines(box), 4);
    assert_int_equal(ledger_count_waiting(&box->conf, &n, NULL), 0);
    assert_int_equal(n, 0);
}

/* An outbox that is damaged holds up nobody; what comes goes to the database without it, and when
 * it was moved away there is a new one. */
static void test_damaged_outbox(void **state)
{
    struct ledger_box *box = box_of(state);
    char path[128], moved[140], why[256];
    struct ledger *ledger;
    FILE *out;

    ledger_close(open_ledger(box)); /* makes the folders */
    snprintf(path, sizeof(path), "%s/queue/outbox.db", box->folder);
    snprintf(moved, sizeof(moved), "%s.bad", path);
    out = fopen(path, "w");
    for (int i = 0; i < 1000; i++)
        fputs("no database at all\n", out);
    fclose(out);
    ledger = open_ledger(box);
    add(ledger, 0);
    assert_true(ledger_box_arrived(ledger));
    assert_int_equal(rename(path, moved), 0);
    add(ledger, 1);
    assert_true(ledger_box_arrived(ledger));
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(ledger_waiting(ledger, why), 0);
    ledger_close(ledger);
    assert_int_equal(ledger_box_stored(box), 2);
}

/* One record of many that the database will not have: the others arrive. */
static void test_refused(void **state)
{
    struct ledger_box *box = box_of(state);
    bool file = strncmp(box->conf.ledger, "sqlite:", 7) == 0;
    struct ledger *ledger = open_ledger(box);

    add(ledger, 0);
    assert_true(ledger_box_arrived(ledger));
    run_sql(box->conf.ledger,
            file ? "CREATE TRIGGER no BEFORE INSERT ON ledger_record WHEN NEW.job = 6"
                   " BEGIN SELECT RAISE(ABORT, 'not this one'); END"
                 : "ALTER TABLE ledger_record ADD CONSTRAINT no CHECK (job <> 6)");
    for (unsigned i = 1; i < 10; i++)
        add(ledger, i);
    assert_true(ledger_box_arrived(ledger));
    ledger_close(ledger);
    assert_int_equal(ledger_box_stored(box), 9);
    assert_int_equal(refused_lines(box), 1);
}

/* Only one process at a time has a queue. */
static void test_lock(void **state)
{
    struct ledger_box *box = box_of(state);
    struct ledger *first = open_ledger(box), *second;
    struct berth_error err;

    assert_int_equal(ledger_open(&second, &box->conf, &err), -1);
    assert_non_null(strstr(err.text, "in use"));
    ledger_close(first);
    ledger_close(open_ledger(box));
}

/* ---- away ---- */

/* The ledger's folder is a file at first. Nobody is held up; others see what waits. */
static void test_file_away(void **state)
{
    struct ledger_box *box = box_of(state);
    struct ledger *ledger;
    char path[128], why[256];
    size_t n;

    snprintf(path, sizeof(path), "%s/in", box->folder);
    fclose(fopen(path, "w"));
    sprintf(box->conf.ledger, "sqlite:%s/ledger.db", path);
    ledger = open_ledger(box);
    for (unsigned i = 0; i < 10; i++)
        add(ledger, i);
    do
        usleep(10000);
    while (ledger_waiting(ledger, why) == 10 && !why[0]);
    assert_non_null(strstr(why, "Not a directory"));
    assert_int_equal(outbox_count(box->conf.ledger_queue, &n, NULL), 0);
    assert_int_equal(n, 10);
    ledger_close(ledger); /* they stay */
    ledger = open_ledger(box);
    assert_int_equal(ledger_waiting(ledger, why), 10);
    add(ledger, 10);
    unlink(path);
    assert_true(ledger_box_arrived(ledger));
    ledger_close(ledger);
    assert_int_equal(ledger_box_stored(box), 11);
    assert_int_equal(outbox_count(box->conf.ledger_queue, &n, NULL), 0);
    assert_int_equal(n, 0);
}

/* The server crashes again and again while records are added. */
static void test_server_away(void **state)
{
    struct ledger_box *box = box_of(state);
    struct ledger *ledger = open_ledger(box);
    unsigned n = 0;

    for (int round = 0; round < 4; round++) {
        for (unsigned i = 0; i < 500; i++)
            add(ledger, n++);
        usleep(900000 + (unsigned)rand() % 300000); /* about when they are delivered */
        mariadb_box_stop(&server, true);
        for (unsigned i = 0; i < 10; i++)
            add(ledger, n++);
        if (round == 2) { /* and berthd ends meanwhile */
            ledger_close(ledger);
            ledger = open_ledger(box);
        }
        assert_true(mariadb_box_start(&server, no_server));
    }
    assert_true(ledger_box_arrived(ledger));
    ledger_close(ledger);
    assert_int_equal(ledger_box_stored(box), n);
}

/* ---- a full disk ---- */

/* No file may grow, that of the database neither. */
static void test_full(void **state)
{
    struct ledger_box *box = box_of(state);
    struct ledger *ledger = open_ledger(box);
    struct rlimit before, none;
    struct berth_error err;
    unsigned failed_adds = 0;
    char why[256];

    getrlimit(RLIMIT_FSIZE, &before);
    none = before;
    none.rlim_cur = 5000; /* some lines, and a part of one */
    setrlimit(RLIMIT_FSIZE, &none);
    for (unsigned i = 0; i < 20; i++) {
        struct ledger_record record = ledger_box_record(i);

        failed_adds += ledger_add(ledger, &record, &err) < 0;
    }
    assert_true(failed_adds > 0 && failed_adds < 20);
    assert_int_equal(ledger_waiting(ledger, why), 20);
    usleep(1500000); /* it is tried */
    setrlimit(RLIMIT_FSIZE, &before);
    assert_true(ledger_box_arrived(ledger));
    ledger_close(ledger);
    assert_int_equal(ledger_box_stored(box), 20);
    assert_int_equal(refused_lines(box), 0);
}

/* A folder of 64 KiB, full. False: nobody may mount here. */
static bool fill_up(const char *folder, char *ballast, size_t size)
{
    char block[512] = "";
    int fd;

    mkdir(folder, 0700);
    if (mount("none", folder, "tmpfs", 0, "size=64k") < 0)
        return false;
    snprintf(ballast, size, "%s/ballast", folder);
    fd = open(ballast, O_CREAT | O_WRONLY, 0600);
    while (write(fd, block, sizeof(block)) > 0)
        ;
    close(fd);
    return true;
}

/* The queue's disk is full, the database's is not: they arrive from the spool; and from memory
 * where that is full, too. */
static void test_full_queue(void **state)
{
    struct ledger_box *box = box_of(state);
    char ballast[160], spool_ballast[160], spool[128];
    struct ledger_record record;
    struct ledger *ledger;
    struct berth_error err;
    unsigned n = 0;

    ledger_close(open_ledger(box)); /* makes the folders */
    snprintf(spool, sizeof(spool), "%s/state/ledger", box->folder);
    if (!fill_up(box->conf.ledger_queue, ballast, sizeof(ballast))) {
        print_message("skipped: no tmpfs can be mounted\n");
        skip();
    }
    ledger = open_ledger(box);
    for (; n < 50; n++)
        add(ledger, n);
    assert_true(ledger_box_arrived(ledger));
    ledger_close(ledger);
    assert_true(fill_up(spool, spool_ballast, sizeof(spool_ballast)));
    ledger = open_ledger(box);
    for (; n < 100; n++) {
        record = ledger_box_record(n);
        assert_int_equal(ledger_add(ledger, &record, &err), -1);
        assert_non_null(strstr(err.text, "No space left"));
    }
    assert_true(ledger_box_arrived(ledger));
    unlink(spool_ballast);
    add(ledger, n++);
    ledger_close(ledger);
    umount(spool);
    umount(box->conf.ledger_queue);
    assert_int_equal(ledger_box_stored(box), n);
}

/* ---- sudden death ---- */

/* Adds records from n on until it is killed, and says by one byte each which ones are safe. */
static void add_for_ever(const struct ledger_box *box, unsigned n, int out)
{
    struct ledger *ledger;
    struct berth_error err;

    if (ledger_open(&ledger, &box->conf, &err) < 0)
        _exit(1);
    for (;; n++) {
        struct ledger_record record = ledger_box_record(n);

        if (ledger_add(ledger, &record, &err) < 0 || write(out, "", 1) != 1)
            _exit(2);
        if (n % 16 == 0)
            usleep(2000);
    }
}

/* Run one for so long, kill it; how many it said to be safe. */
static unsigned one_life(const struct ledger_box *box, unsigned n, unsigned us)
{
    unsigned safe = 0;
    int ends[2], status;
    char byte;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    if ((pid = fork()) == 0) {
        close(ends[0]);
        add_for_ever(box, n, ends[1]);
    }
    close(ends[1]);
    usleep(us);
    kill(pid, SIGKILL);
    while (read(ends[0], &byte, 1) == 1)
        safe++;
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    return safe;
}

struct tally {
    unsigned char seen[200000];
    unsigned n;
};

static int tally_one(const struct ledger_record *record, void *arg)
{
    struct tally *tally = arg;
    struct ledger_record want = ledger_box_record(record->id.job - 1);

    assert_true(ledger_box_same(record, &want));
    tally->seen[record->id.job - 1]++;
    tally->n++;
    return 0;
}

static void test_killed(void **state)
{
    struct ledger_box *box = box_of(state);
    struct tally *tally = calloc(1, sizeof(*tally));
    struct ledger_filter filter = {.njobs = 0};
    unsigned first[20], safe[20], n = 0, all = 0;
    struct ledger *ledger;
    struct berth_error err;

    srand(7);
    for (int i = 0; i < 20; i++) {
        first[i] = n;
        safe[i] = one_life(box, n, (unsigned)rand() % (i % 4 ? 60000 : 1500000));
        n += safe[i] + 1; /* one more may be there, that it could not say */
        assert_true(n < 190000);
    }
    ledger = open_ledger(box); /* brings the rest */
    assert_true(ledger_box_arrived(ledger));
    ledger_close(ledger);
    assert_int_equal(ledger_read(box->conf.ledger, "", &filter, tally_one, tally, &err), 0);
    for (int i = 0; i < 20; i++) {
        for (unsigned k = 0; k < safe[i]; k++)
            assert_int_equal(tally->seen[first[i] + k], 1);
        all += safe[i];
    }
    assert_in_range(tally->n, all, all + 20);
    print_message("%u records, %u said to be safe\n", tally->n, all);
    assert_int_equal(refused_lines(box), 0);
    free(tally);
}

/* ---- the two threads ---- */

static unsigned pause_us; /* that ledger_add loses its CPU for once, between its two halves */

int __real_spool_append(struct spool *spool, const char *line, struct berth_error *err);
int __wrap_spool_append(struct spool *spool, const char *line, struct berth_error *err);

/* Stands in for spool_append (the linker's --wrap): the caller loses its CPU after it, for longer
 * than the thread takes to deliver what was appended, if it can. */
int __wrap_spool_append(struct spool *spool, const char *line, struct berth_error *err)
{
    int rc = __real_spool_append(spool, line, err);

    usleep(pause_us);
    pause_us = 0;
    return rc;
}

static void on_hang(int sig)
{
    static const char say[] = "test_ledger: the ledger's thread keeps its mutex for ever\n";

    (void)sig;
    (void)!write(STDERR_FILENO, say, sizeof(say) - 1);
    _exit(1);
}

/* However long ledger_add takes between appending a record and saying that there is one: the thread
 * goes on as before. */
static void test_delivered_before_it_was_announced(void **state)
{
    struct ledger_box *box = box_of(state);
    struct ledger *ledger = open_ledger(box);

    signal(SIGALRM, on_hang);
    alarm(30);
    add(ledger, 0); /* the thread is awake for a second */
    pause_us = 2500000;
    add(ledger, 1);
    assert_true(ledger_box_arrived(ledger));
    add(ledger, 2);
    assert_true(ledger_box_arrived(ledger));
    ledger_close(ledger);
    alarm(0);
    assert_int_equal(ledger_box_stored(box), 3);
}

#define FILE_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
#define SERVER_TEST(test) cmocka_unit_test_setup_teardown(test, setup_server, teardown)
#define BOTH(test) FILE_TEST(test), SERVER_TEST(test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_line_texts),
        cmocka_unit_test(test_line_garbage),
        FILE_TEST(test_off),
        BOTH(test_fields),
        BOTH(test_identified),
        BOTH(test_believed),
        BOTH(test_places),
        BOTH(test_older),
        BOTH(test_left_for),
        BOTH(test_unknown),
        BOTH(test_asked),
        BOTH(test_paged),
        cmocka_unit_test(test_put),
        FILE_TEST(test_tell),
        SERVER_TEST(test_tell),
        BOTH(test_no_ledger),
        FILE_TEST(test_garbage),
        FILE_TEST(test_damaged_outbox),
        BOTH(test_refused),
        FILE_TEST(test_lock),
        FILE_TEST(test_delivered_before_it_was_announced),
        FILE_TEST(test_file_away),
        SERVER_TEST(test_server_away),
        FILE_TEST(test_full),
        FILE_TEST(test_full_queue),
        BOTH(test_killed),
    };

    return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
