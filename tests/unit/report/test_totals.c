/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_totals - records into steps, jobs and totals; nothing is
 * lost, nothing is made up. */
#include "tests/unit/common/report_box.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/report/intern.h"
#include "packer/report/node_list.h"

static struct report *report;
static struct report_box box;

static int setup(void **state)
{
    (void)state;
    report = report_new();
    return report ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    report_free(report);
    return 0;
}

static void add(struct ledger_record record)
{
    report_box_add(report, &record);
}

static void assert_cell(size_t i, const char *field, const char *wanted)
{
    const char *text = report_box_cell(&box.row[i], field);

    if (strcmp(text, wanted) != 0)
        fail_msg("row %zu, %s: '%s' expected, not '%s'", i, field, wanted, text);
}

static void test_nothing(void **state)
{
    (void)state;
    report_box_walk(report, REPORT_BY_USER, false, &box);
    assert_int_equal(box.n, 0);
    assert_int_equal(box.grand.records, 0);
    assert_string_equal(report_box_cell(&box.grand, "Energy"), "");
}

/* Jobs by number, steps as Slurm orders them, whatever came first. */
static void test_order(void **state)
{
    static const char *const id[] = {"3",        "3.0",  "12",  "12.interactive",
                                     "12.batch", "12.0", "12.7"};

    (void)state;
    add(report_box_record(12, 7));
    add(report_box_record(12, 0));
    add(report_box_record(12, WIRE_STEP_BATCH));
    add(report_box_record(12, WIRE_STEP_INTERACTIVE));
    add(report_box_record(3, 0));
    report_box_walk(report, REPORT_BY_NOTHING, false, &box);
    assert_int_equal(box.n, 8); /* and the total */
    for (size_t i = 0; i < 7; i++)
        assert_cell(i, "JobID", id[i]);
    assert_cell(7, "Jobs", "2");
    assert_cell(7, "Steps", "5");
    assert_cell(7, "Energy", "20.00kJ");
}

/* Steps of a job one after the other: energy adds up, EDP is of the whole time. */
static void test_job(void **state)
{
    struct ledger_record late = report_box_record(12, 1);

    (void)state;
    late.start += 1000;
    late.end += 2000; /* 2000 s */
    late.elapsed_s = 2000;
    late.exit_status = 256 * 3;
    late.maxrss_kib = 4097;
    late.cores_given = 8;
    late.slowdown_observed = late.slowdown_home = NAN;
    add(report_box_record(12, 0));
    add(late);
    report_box_walk(report, REPORT_BY_NOTHING, false, &box);
    assert_cell(0, "Energy", "8.000kJ");
    assert_cell(0, "Elapsed", "00:50:00");
    assert_cell(0, "EDP", "24.00MJs");
    assert_cell(0, "EDPI", "1.200e-05"); /* 24 MJ s / 2e12 */
    assert_cell(0, "AvePower", "2.667W");
    assert_cell(0, "ExitCode", "3:0");
    assert_cell(0, "MaxRSS", "4097K");
    assert_cell(0, "AllocCPUS", "8");
    assert_cell(0, "CPUTime", "05:33:20");
    assert_cell(0, "SlowdownPred", "25.0%");
    assert_cell(0, "SlowdownObs", "6.3%"); /* of the one that knows it */
    assert_cell(0, "Avoided", "18.8%");
    assert_cell(2, "Avoided", "");
    assert_cell(3, "EDP", "24.00MJs");
}

/* What was in effect inside it: on several nodes at the same time, in several steps one after the
 * other. */
static void test_inside(void **state)
{
    struct ledger_record here = report_box_record(12, 0), there = here,
                         next = report_box_record(12, 1), none = report_box_record(13, 0);

    (void)state;
    strcpy(there.node, "n2");
    strcpy(here.inside, "faithful");
    strcpy(there.inside, "faithful");
    strcpy(next.inside, "faithful");
    here.inside_changes = 2;
    there.inside_changes = next.inside_changes = 1;
    here.inside_s = 600;
    there.inside_s = 500;
    next.inside_s = 60;
    next.throttled = 3;
    next.throttled_s = 40;
    next.idle_thread_s = 75;
    add(here);
    add(there);
    add(next);
    add(none);
    report_box_walk(report, REPORT_BY_NOTHING, false, &box);
    assert_cell(0, "Inside", "faithful");
    assert_cell(0, "InsideChanges", "4");
    assert_cell(0, "InsideTime", "00:11:00");
    assert_cell(1, "InsideTime", "00:10:00");
    assert_cell(0, "Throttled", "3");
    assert_cell(0, "ThrottledTime", "00:00:40");
    assert_cell(0, "IdleThreadTime", "00:01:15");
    assert_cell(1, "Throttled", "0");
    assert_cell(1, "ThrottledTime", "");
    assert_cell(2, "IdleThreadTime", "00:01:15");
    assert_cell(3, "Throttled", "0");
    assert_cell(4, "ThrottledTime", "");
    assert_cell(3, "Inside", "");
    assert_cell(3, "InsideTime", "");
    assert_cell(4, "InsideTime", "");
}

/* Means are by CPU time, and what knows nothing weighs nothing. */
static void test_mean(void **state)
{
    struct ledger_record a = report_box_record(1, 0), b = report_box_record(1, 1),
                         c = report_box_record(1, 2);

    (void)state;
    a.slowdown_observed = NAN;
    a.elapsed_s = 1e6;
    b.slowdown_observed = 0.1;
    c.slowdown_observed = 0.4;
    c.elapsed_s = 2000;
    add(a);
    add(b);
    add(c);
    report_box_walk(report, REPORT_BY_NOTHING, false, &box);
    assert_cell(0, "SlowdownObs", "30.0%");
}

/* The memory's meter alone is not the step's energy, and beside the node's own it is a part of
 * that.
 */
static void test_memory_alone(void **state)
{
    struct ledger_record memory = report_box_record(12, 0), node = report_box_record(12, 1);

    (void)state;
    memory.uj[ENERGY_PACKAGE] = node.uj[ENERGY_PACKAGE] = NAN;
    node.uj[ENERGY_NODE] = 7e9;
    add(memory);
    add(node);
    report_box_walk(report, REPORT_BY_NOTHING, false, &box);
    assert_cell(1, "Energy", "");
    assert_cell(1, "DRAM", "1.000kJ");
    assert_cell(2, "Energy", "7.000kJ");
    assert_true(isnan(ledger_energy_j(&memory)));
    assert_true(ledger_energy_j(&node) == 7000);
    memory.uj[ENERGY_PACKAGE] = 1e9;
    assert_true(ledger_energy_j(&memory) == 2000);
}

/* A step on two nodes is one row, its nodes a list; --per-node tells them apart. */
static void test_nodes(void **state)
{
    struct ledger_record other = report_box_record(12, 0);

    (void)state;
    strcpy(other.node, "n2");
    strcpy(other.energy_source, "hwmon,rapl-powercap");
    other.uj[ENERGY_PACKAGE] = other.uj[ENERGY_DRAM] = NAN;
    other.uj[ENERGY_NODE] = 9e9 + 1;
    strcpy(other.idle_energy, "nobody");
    other.uj_idle = 0;
    other.elapsed_s = 1001;
    add(report_box_record(12, 0));
    add(other);
    report_box_walk(report, REPORT_BY_NOTHING, false, &box);
    assert_int_equal(box.n, 3);
    for (size_t i = 0; i < 2; i++) {
        assert_cell(i, "NodeList", "n[1-2]");
        assert_cell(i, "NNodes", "2");
        assert_cell(i, "AllocCPUS", "8");
        assert_cell(i, "CPUs", ""); /* of which node? */
        assert_cell(i, "EnergyRaw", "13000.000001");
        assert_cell(i, "Package", ">=3.000kJ");
        assert_cell(i, "Metered", "2/2");
        assert_cell(i, "EnergySource", "rapl-powercap,hwmon");
        assert_cell(i, "IdleEnergy", "cores,nobody");
        assert_cell(i, "Idle", "500.0J");
        assert_cell(i, "Steps", "1");
    }
    report_box_walk(report, REPORT_BY_NOTHING, true, &box);
    assert_int_equal(box.n, 4);
    assert_cell(0, "NodeList", "n[1-2]");
    assert_cell(0, "AllocCPUS", "8");
    assert_cell(1, "NodeList", "n1");
    assert_cell(2, "NodeList", "n2");
    assert_cell(2, "CPUs", "4-7");
    assert_cell(2, "EnergyRaw", "9000.000001");
}

/* A part that was not metered: the sum is a lower bound, and what follows from it is not known. */
static void test_part_unknown(void **state)
{
    (void)state;
    add(report_box_record(12, 0));
    add(report_box_unknown(12, 1));
    report_box_walk(report, REPORT_BY_NOTHING, false, &box);
    assert_cell(0, "Energy", ">=4.000kJ");
    assert_cell(0, "EnergyRaw", "4000.000000");
    assert_cell(0, "Metered", "1/2");
    assert_cell(0, "EDP", "");
    assert_cell(0, "AvePower", "");
    assert_cell(0, "Instructions", "");
    assert_cell(0, "TotalCPU", "");
    assert_cell(1, "Energy", "4.000kJ");
    assert_cell(2, "Energy", "");
    assert_cell(0, "Account", "");
    assert_cell(0, "User", "alice");
}

static void test_by_user(void **state)
{
    struct ledger_record bob = report_box_record(13, 0), nameless = report_box_record(14, 0);

    (void)state;
    strcpy(bob.user, "bob");
    bob.uid = 1001;
    strcpy(nameless.user, "");
    nameless.uid = 77;
    add(report_box_record(12, 0));
    add(bob);
    add(report_box_record(15, 0));
    add(nameless);
    report_box_walk(report, REPORT_BY_USER, false, &box);
    assert_int_equal(box.n, 11); /* 4 jobs, 4 steps, 3 totals */
    assert_cell(2, "Group", "77");
    assert_cell(7, "Group", "alice");
    assert_cell(7, "User", "alice");
    assert_cell(7, "Jobs", "2");
    assert_cell(7, "Energy", "8.000kJ");
    assert_cell(7, "EDP", "8.000MJs"); /* the sum of its jobs' */
    assert_cell(7, "AvePower", "4.000W");
    assert_cell(7, "JobName", "");
    assert_cell(10, "Group", "bob");
    assert_string_equal(report_box_cell(&box.grand, "Energy"), "16.00kJ");
    assert_string_equal(report_box_cell(&box.grand, "User"), "");
}

/* A job on two nodes is in both totals, and once in the total of all. */
static void test_by_node_and_day(void **state)
{
    struct ledger_record other = report_box_record(12, 0);

    (void)state;
    strcpy(other.node, "n2");
    other.end += 86400;
    add(report_box_record(12, 0));
    add(other);
    report_box_walk(report, REPORT_BY_NODE, false, &box);
    assert_cell(2, "Group", "n1");
    assert_cell(2, "Energy", "4.000kJ");
    assert_cell(5, "Group", "n2");
    assert_string_equal(report_box_cell(&box.grand, "Jobs"), "1");
    assert_string_equal(report_box_cell(&box.grand, "Energy"), "8.000kJ");
    report_box_walk(report, REPORT_BY_DAY, false, &box);
    assert_cell(2, "Group", "2026-11-21");
    assert_cell(5, "Group", "2026-11-22");
    report_box_walk(report, REPORT_BY_PARTITION, false, &box);
    assert_cell(2, "Group", "main");
    report_box_walk(report, REPORT_BY_ACCOUNT, false, &box);
    assert_cell(2, "Group", "phys");
}

/* The runs of a job that was requeued are jobs of their own; so are equal numbers of two clusters.
 */
static void test_apart(void **state)
{
    struct ledger_record again = report_box_record(12, 0), elsewhere = again;

    (void)state;
    again.restart = 1;
    strcpy(elsewhere.cluster, "d");
    add(again);
    add(elsewhere);
    add(report_box_record(12, 0));
    report_box_walk(report, REPORT_BY_NOTHING, false, &box);
    assert_int_equal(box.n, 7);
    assert_cell(0, "Restarts", "0");
    assert_cell(2, "Restarts", "1");
    assert_cell(4, "Cluster", "d");
    assert_cell(6, "Jobs", "3");
}

/* More than 64 bits of microjoules, and not one of them lost. */
static void test_exact(void **state)
{
    uint64_t uj = 0;

    (void)state;
    srand(1);
    for (uint32_t i = 0; i < 5000; i++) {
        struct ledger_record record = report_box_record(i / 3 + 1, i % 3);
        uint64_t part = (uint64_t)rand() * 1000003u;

        record.uj[ENERGY_PACKAGE] = (double)part;
        record.uj[ENERGY_DRAM] = 1;
        uj += part + 1;
        add(record);
    }
    report_walk(report, NULL, false, &(struct report_visitor){0}, &box.grand);
    assert_true(box.grand.energy[REPORT_ENERGY].j == uj / 1000000);
    assert_int_equal(box.grand.energy[REPORT_ENERGY].uj, uj % 1000000);
    for (uint32_t i = 0; i < 3000; i++) {
        struct ledger_record record = report_box_record(10000 + i, 0);

        record.uj[ENERGY_PACKAGE] = 0x1p53 - 1; /* 9007199254.740991 J */
        add(record);
    }
    report_walk(report, NULL, false, &(struct report_visitor){0}, &box.grand);
    assert_true(box.grand.energy[REPORT_ENERGY].j ==
                (uint64_t)(((unsigned __int128)3000 * 9007199254740991u +
                            (unsigned __int128)3000 * 1000000000u + uj) /
                           1000000));
    assert_int_equal(box.grand.energy[REPORT_ENERGY].metered, 8000);
}

static int halt(const struct report_row *job, const struct report_row *steps, size_t n, void *arg)
{
    (void)job;
    (void)steps;
    (void)n;
    ++*(int *)arg;
    return 7;
}

static void test_stop(void **state)
{
    int calls = 0;
    const struct report_visitor visitor = {.job = halt, .arg = &calls};

    (void)state;
    add(report_box_record(12, 0));
    add(report_box_record(13, 0));
    assert_int_equal(report_walk(report, NULL, false, &visitor, NULL), 7);
    assert_int_equal(calls, 1);
}

/* ---- lists of nodes ---- */

static void test_lists(void **state)
{
    static const struct {
        const char *list, *names, *again; /* NULL: bad; again: compressed, where it differs */
    } list[] = {
        {"n1", "n1", NULL},
        {"n[1-3]", "n1 n2 n3", NULL},
        {"n[1-3,7,9-10]", "n1 n2 n3 n7 n9 n10", NULL},
        {"n[08-11]", "n08 n09 n10 n11", NULL},
        {"a,n[2-3],z9", "a n2 n3 z9", NULL},
        {"n3,n1,n2,n1", "n3 n1 n2 n1", "n[1-3]"},
        {"n1,n01", "n1 n01", "n1,n01"},
        {"r1n[1-2],r2n1", "r1n1 r1n2 r2n1", NULL},
        {"n[1-2]-ib", "n1-ib n2-ib", "n1-ib,n2-ib"},
        {"", NULL, NULL},
        {"n1,,n2", NULL, NULL},
        {"n[1-", NULL, NULL},
        {"n[]", NULL, NULL},
        {"n[3-1]", NULL, NULL},
        {"n[x]", NULL, NULL},
        {"n1]", NULL, NULL},
        {"n[1][2]", NULL, NULL},
        {"n[1-99999999]", NULL, NULL},
        {"n[1-9999999999]", NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        struct berth_error err;
        char **name, text[256] = "", *again;
        size_t n;

        if (!list[i].names) {
            assert_int_equal(node_list_expand(list[i].list, &name, &n, &err), -1);
            continue;
        }
        assert_int_equal(node_list_expand(list[i].list, &name, &n, &err), 0);
        for (size_t k = 0; k < n; k++)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", k ? " " : "",
                     name[k]);
        assert_string_equal(text, list[i].names);
        {
            const char *sorted[16];
            size_t count = n;

            memcpy(sorted, name, n * sizeof(*name));
            again = node_list_compress(sorted, &count);
            assert_string_equal(again, list[i].again ? list[i].again : list[i].list);
            free(again);
        }
        node_list_free(name, n);
    }
}

static void test_words(void **state)
{
    struct report_intern *words = report_intern_new();
    const char *kept[5000];
    char text[100000];

    (void)state;
    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof(text), "word%d", i);
        kept[i] = report_intern_keep(words, text);
    }
    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof(text), "word%d", i);
        assert_string_equal(kept[i], text);
        assert_ptr_equal(report_intern_keep(words, text), kept[i]);
    }
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_string_equal(report_intern_keep(words, text), text);
    assert_ptr_equal(report_intern_keep(words, ""), report_intern_keep(words, ""));
    report_intern_free(words);
}

/* A step without: Slurm never said whose it is. */
static struct ledger_record unsaid(uint32_t job, uint32_t step, int64_t after_s)
{
    struct ledger_record record = report_box_unknown(job, step);

    strcpy(record.identity, "none");
    record.cluster[0] = '\0';
    strcpy(record.state, "left");
    record.start += after_s;
    record.end = record.start + 5;
    return record;
}

/* Of a run that was requeued. */
static struct ledger_record run_of(uint32_t step, uint32_t restart, int64_t after_s)
{
    struct ledger_record record = report_box_record(12, step);

    record.restart = restart;
    record.start += after_s;
    record.end = record.start + 100;
    record.elapsed_s = 100;
    return record;
}

/* A step that did not opt in, of which nobody was asked, is of its job. */
static void test_joined(void **state)
{
    struct ledger_record array = report_box_record(14, 0);

    (void)state;
    array.array_job = 13;
    array.array_task = 3;
    add(report_box_record(12, 0));
    add(unsaid(12, 1, 1000));
    add(array);
    add(unsaid(14, 1, 1000));
    report_box_walk(report, REPORT_BY_NOTHING, false, &box);
    assert_int_equal(box.n, 7); /* two jobs of two steps, and the total */
    assert_cell(0, "Steps", "2");
    assert_cell(0, "Account", "phys");
    assert_cell(0, "JobName", "solve");
    assert_cell(2, "Account", "phys");
    assert_cell(2, "Identity", "none"); /* of it itself nobody has said so */
    assert_cell(5, "JobID", "13_3.1");
    assert_cell(6, "Jobs", "2");
    report_box_walk(report, REPORT_BY_ACCOUNT, false, &box);
    assert_cell(box.n - 1, "Group", "phys");
}

/* It is of the run of its time, and of its step's number. */
static void test_joined_to_its_run(void **state)
{
    (void)state;
    add(run_of(0, 0, 0));
    add(run_of(1, 1, 1000));
    add(unsaid(12, 1, 990)); /* long after 12.0, but 12.1 of the next run is another step */
    add(unsaid(12, 0, 995)); /* and that began with another 12.0 */
    report_box_walk(report, REPORT_BY_NOTHING, false, &box);
    assert_cell(0, "Restarts", "0");
    assert_cell(0, "Steps", "2");
    assert_cell(3, "Restarts", "1");
    assert_cell(3, "Steps", "2");
}

/* Another user's, another year's, and what could be of two clusters, stays by itself. */
static void test_not_joined(void **state)
{
    struct ledger_record other = unsaid(12, 1, 500), north = report_box_record(12, 0);

    (void)state;
    other.uid = 1001;
    add(other);
    add(unsaid(12, 1, 86400 * 30));
    add(report_box_record(12, 0));
    report_box_walk(report, REPORT_BY_NOTHING, false, &box);
    assert_cell(box.n - 1, "Jobs", "3");
    add(unsaid(12, 1, 500));
    strcpy(north.cluster, "north");
    strcpy(north.node, "n2");
    north.start += 700;
    add(north);
    report_box_walk(report, REPORT_BY_NOTHING, false, &box);
    assert_cell(box.n - 1, "Jobs", "4"); /* by its node it is of the first cluster */
}

/* A job takes as long as from its first moment to its last, to the millisecond. */
static void test_moments(void **state)
{
    struct ledger_record a = report_box_record(12, 0), b = report_box_record(12, 1);

    (void)state;
    a.start_ms = a.start * 1000 + 900;
    a.end = a.start + 1;
    a.end_ms = a.start_ms + 250;
    a.elapsed_s = 0.25;
    b = a;
    b.id.step = 1;
    b.start_ms += 250;
    b.end_ms += 500;
    b.elapsed_s = 0.5;
    add(a);
    add(b);
    report_box_walk(report, REPORT_BY_NOTHING, false, &box);
    assert_string_equal(report_box_raw(&box.row[0], "ElapsedRaw"), "0.75");
    assert_cell(0, "AvePower", "10.67kW"); /* 8 kJ in 0.75 s */
    assert_cell(0, "EDP", "6.000kJs");
}

/* A record of an older berth has whole seconds: how long it took is better known. */
static void test_older_moments(void **state)
{
    struct ledger_record a = report_box_record(12, 0);

    (void)state;
    a.end = a.start;
    a.elapsed_s = 0.5;
    add(a);
    report_box_walk(report, REPORT_BY_NOTHING, false, &box);
    assert_cell(0, "EDP", "2.000kJs");
    assert_cell(0, "AvePower", "8.000kW");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nothing),
        TEST(test_order),
        TEST(test_job),
        TEST(test_mean),
        TEST(test_inside),
        TEST(test_memory_alone),
        TEST(test_nodes),
        TEST(test_part_unknown),
        TEST(test_by_user),
        TEST(test_by_node_and_day),
        TEST(test_apart),
        TEST(test_exact),
        TEST(test_stop),
        TEST(test_joined),
        TEST(test_joined_to_its_run),
        TEST(test_not_joined),
        TEST(test_moments),
        TEST(test_older_moments),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
