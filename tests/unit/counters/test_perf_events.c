/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_perf_events - the event table that is installed names events that libpfm4 knows, of every
 * micro-architecture; and what is wrong in a table is said with its line. */
#include "packer/counters/perf_events.h"

#include <perfmon/pfmlib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- tables of the test's own ---- */

static int read_text(struct perf_table **table, const char *text, char path[64],
                     struct berth_error *err)
{
    FILE *file;
    int fd, rc;

    strcpy(path, "/tmp/test_perf_events.XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    file = fdopen(fd, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    rc = perf_table_read(table, path, err);
    unlink(path);
    return rc;
}

static struct perf_table *table_of(const char *text)
{
    struct perf_table *table = NULL;
    struct berth_error err = {""};
    char path[64];

    if (read_text(&table, text, path, &err) < 0)
        fail_msg("%s", err.text);
    return table;
}

static const struct {
    const char *text, *line, *says;
} wrong[] = {
    {"cycles = A\n", "1", "a [SECTION] expected first"},
    {"[x]\n\n# more\ncycles\n", "4", "COUNTER = EVENTS expected"},
    {"[x\n", "1", "COUNTER = EVENTS expected"},
    {"[x]\ncicles = A\n", "2", "no such counter"},
    {"[x]\nrss_bytes = A\n", "2", "no such counter"},
    {"[x]\ncycles = A\ncycles = B\n", "3", "set before in this section"},
    {"[x]\ncycles =\n", "2", "EVENT + EVENT | EVENT"},
    {"[x]\ncycles = A +\n", "2", "EVENT + EVENT | EVENT"},
    {"[x]\ncycles = A | | B\n", "2", "EVENT + EVENT | EVENT"},
    {"[x]\ncycles = A B\n", "2", "EVENT + EVENT | EVENT"},
    {"[x]\ncycles = A\n  B\n", "3", "EVENT + EVENT | EVENT"},
    {"[x]\ncycles = A\n\t+\n", "3", "EVENT + EVENT | EVENT"},
    {"[a b c d e f g h i j k l m n o p q r s t u v w x y z]\ncycles = A\n", "2",
     "the section's line is too long"},
};

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct perf_table *table;
        struct berth_error err = {""};
        char path[64], want[256];

        assert_int_equal(read_text(&table, wrong[i].text, path, &err), -1);
        snprintf(want, sizeof(want), "%s:%s: %s", path, wrong[i].line, wrong[i].says);
        if (strncmp(err.text, want, strlen(want)) != 0)
            fail_msg("'%s' says '%s', not '%s'", wrong[i].text, err.text, want);
    }
}

static void test_long_line(void **state)
{
    struct perf_table *table;
    struct berth_error err = {""};
    char path[64], text[400], want[128];

    (void)state;
    snprintf(text, sizeof(text), "[x]\ncycles = %0300d\n", 1);
    assert_int_equal(read_text(&table, text, path, &err), -1);
    snprintf(want, sizeof(want), "%s:2: the line is too long", path);
    assert_memory_equal(err.text, want, strlen(want));
}

static void test_no_file(void **state)
{
    struct perf_table *table;
    struct berth_error err = {""};

    (void)state;
    assert_int_equal(perf_table_read(&table, "/no/such/events.conf", &err), -1);
    assert_string_equal(err.text, "/no/such/events.conf: No such file or directory");
    assert_int_equal(perf_table_read(&table, "/dev/null", &err), -1);
    assert_string_equal(err.text, "/dev/null: not a regular file");
}

/* ---- what is taken of a table ---- */

#define GENERIC                                                                                    \
    "[generic]\n"                                                                                  \
    "cycles = PERF_COUNT_HW_CPU_CYCLES\n"                                                          \
    "stalls = NO_SUCH_EVENT + PERF_COUNT_HW_CPU_CYCLES | PERF_COUNT_HW_CACHE_REFERENCES\n"         \
    "  + perf::PERF_COUNT_HW_CACHE_MISSES | PERF_COUNT_HW_INSTRUCTIONS\n"                          \
    "llc_accesses = NO_SUCH_EVENT\n"                                                               \
    "llc_misses = PERF_COUNT_HW_CPU_CYCLES + perf_raw::r1234\n"

static bool no_misses(const struct perf_event_attr *attr, void *arg)
{
    ++*(int *)arg;
    return !(attr->type == PERF_TYPE_HARDWARE && attr->config == PERF_COUNT_HW_CACHE_MISSES);
}

/* The first alternative of which every event is known; events that two counters share are one. */
static void test_alternatives(void **state)
{
    struct perf_table *table = table_of(GENERIC);
    struct perf_events events;
    struct berth_error err = {""};

    (void)state;
    assert_int_equal(perf_events_find(&events, table, "generic", NULL, NULL, &err), 0);
    assert_string_equal(events.pmu, "generic");
    assert_int_equal(events.n, 4);
    assert_int_equal(events.event[0].type, PERF_TYPE_HARDWARE);
    assert_int_equal(events.event[0].config, PERF_COUNT_HW_CPU_CYCLES);
    assert_int_equal(events.event[1].config, PERF_COUNT_HW_CACHE_REFERENCES);
    assert_int_equal(events.event[2].config, PERF_COUNT_HW_CACHE_MISSES);
    assert_int_equal(events.event[3].type, PERF_TYPE_RAW);
    assert_int_equal(events.event[3].config, 0x1234);
    assert_int_equal(events.sum[COUNTER_CYCLES].n, 1);
    assert_int_equal(events.sum[COUNTER_STALLS].n, 2);
    assert_int_equal(events.sum[COUNTER_STALLS].event[0], 1);
    assert_int_equal(events.sum[COUNTER_STALLS].event[1], 2);
    assert_int_equal(events.sum[COUNTER_LLC_ACCESSES].n, 0);
    assert_int_equal(events.sum[COUNTER_LLC_MISSES].n, 2);
    assert_int_equal(events.sum[COUNTER_LLC_MISSES].event[0], 0);
    assert_true(perf_table_mentions(table, "generic", COUNTER_LLC_ACCESSES));
    assert_false(perf_table_mentions(table, "generic", COUNTER_INSTRUCTIONS));
    perf_table_free(table);
}

/* What the kernel refuses is as what libpfm4 does not know; nothing of that alternative stays. */
static void test_refused(void **state)
{
    struct perf_table *table = table_of(GENERIC);
    struct perf_events events;
    struct berth_error err = {""};
    int asked = 0;

    (void)state;
    assert_int_equal(perf_events_find(&events, table, "generic", no_misses, &asked, &err), 0);
    assert_int_equal(events.n, 3);
    assert_int_equal(events.sum[COUNTER_STALLS].n, 1);
    assert_int_equal(events.event[1].config, PERF_COUNT_HW_INSTRUCTIONS);
    assert_int_equal(asked, 5); /* cycles were known before */
    perf_table_free(table);
}

static void test_sections(void **state)
{
    struct perf_table *table = table_of("[x86_a x86_b intel*]\ncycles = perf_raw::r1\n"
                                        "[x86_?]\ncycles = perf_raw::r2\n"
                                        "[generic]\ninstructions = perf_raw::r3\n");
    struct perf_events events;
    struct berth_error err = {""};

    (void)state;
    perf_events_find(&events, table, "intel_new", NULL, NULL, &err);
    assert_int_equal(events.event[0].config, 1);
    perf_events_find(&events, table, "x86_b", NULL, NULL, &err);
    assert_int_equal(events.event[0].config, 1);
    perf_events_find(&events, table, "x86_c", NULL, NULL, &err);
    assert_int_equal(events.event[0].config, 2);
    assert_int_equal(perf_events_find(&events, table, "other", NULL, NULL, &err), -1);
    assert_string_equal(err.text, "no section of the event table fits other");
    perf_events_find(&events, table, NULL, NULL, NULL, &err); /* this machine is in no section */
    assert_string_equal(events.pmu, "generic");
    assert_int_equal(events.event[0].config, 3);
    perf_table_free(table);
}

/* ---- the table that is installed ---- */

static bool libpfm_knows(const char *pmu)
{
    bool known = strcmp(pmu, "generic") == 0;
    int i;

    assert_int_equal(pfm_initialize(), PFM_SUCCESS);
    pfm_for_all_pmus(i)
    {
        pfm_pmu_info_t info = {.size = sizeof(info)};

        if (pfm_get_pmu_info((pfm_pmu_t)i, &info) == PFM_SUCCESS && strcmp(info.name, pmu) == 0)
            known = true;
    }
    pfm_terminate();
    return known;
}

/* Every counter that the PMU's section mentions has its first alternative or a later one, and it
 * needs no more than one counter beyond what the smallest of such PMUs has. */
static void check_pmu(const struct perf_table *table, const char *pmu)
{
    struct perf_events events;
    struct berth_error err = {""};

    if (perf_events_find(&events, table, pmu, NULL, NULL, &err) < 0)
        fail_msg("%s", err.text);
    for (int c = 0; c < COUNTERS; c++)
        if (perf_table_mentions(table, pmu, (enum counter)c) && events.sum[c].n == 0)
            fail_msg("%s: libpfm4 does not know the events of %s", pmu, counter_info[c].name);
    assert_true(events.sum[COUNTER_CYCLES].n && events.sum[COUNTER_INSTRUCTIONS].n);
    assert_true(events.sum[COUNTER_LLC_MISSES].n > 0);
    assert_true(events.n <= 8);
}

static void test_installed(void **state)
{
    const char *srcdir = getenv("srcdir");
    struct perf_table *table;
    struct berth_error err = {""};
    size_t checked = 0, unknown = 0;
    char path[512], line[512];
    FILE *file;

    (void)state;
    snprintf(path, sizeof(path), "%s/etc/events.conf", srcdir ? srcdir : ".");
    if (perf_table_read(&table, path, &err) < 0)
        fail_msg("%s", err.text);
    file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        char *save;

        if (line[0] != '[')
            continue;
        for (char *pmu = strtok_r(line, "[] \n", &save); pmu;
             pmu = strtok_r(NULL, "[] \n", &save)) {
            if (libpfm_knows(pmu))
                check_pmu(table, pmu);
            checked += libpfm_knows(pmu);
            unknown += !libpfm_knows(pmu);
        }
    }
    fclose(file);
    perf_table_free(table);
    print_message("%zu PMUs checked; %zu are unknown to this libpfm4 (too new, or of another "
                  "architecture)\n",
                  checked, unknown);
    assert_true(checked >= 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),    cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_no_file),   cmocka_unit_test(test_alternatives),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_sections),
        cmocka_unit_test(test_installed),
    };

    setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); /* events of PMUs that this machine has not */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
