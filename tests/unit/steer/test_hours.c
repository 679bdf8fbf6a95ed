/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_hours - the hours that the lot leaves to Slurm alone: they stand in the database, the lot is
 * drawn once for each, and what cannot be written down is steered. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "packer/ledger/ledger.h"
#include "packer/sql/sql.h"
#include "steer/hours.h"

#define NOW (1795219200 + 600)

struct place {
    char folder[64], path[80], url[96];
};

static int make_place(void **state)
{
    static struct place place;

    strcpy(place.folder, "/tmp/test_hours.XXXXXX");
    assert_non_null(mkdtemp(place.folder));
    snprintf(place.path, sizeof(place.path), "%s/ledger.db", place.folder);
    snprintf(place.url, sizeof(place.url), "sqlite:%s", place.path);
    *state = &place;
    return 0;
}

static int remove_place(void **state)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf %s", ((struct place *)*state)->folder);
    return system(command);
}

static void make_table(const struct place *place)
{
    const struct sql_options options = {.defaults = "", .group = "", .writable = true};
    struct berth_error err;
    struct sql *sql;

    assert_int_equal(sql_open(&sql, place->url, &options, &err), 0);
    assert_int_equal(sql_run(sql,
                             "CREATE TABLE steer_hour (hour BIGINT NOT NULL PRIMARY KEY, begins "
                             "BIGINT NOT NULL, ends BIGINT NOT NULL, steered INTEGER NOT NULL)",
                             &err),
                     0);
    sql_close(sql);
}

/* What is not there is steered, and says why. */
static void test_unwritten(void **state)
{
    const struct place *place = *state;
    struct steer_hour hour;
    struct berth_error err;

    assert_int_equal(hours_draw(place->url, "", 50, NOW, &hour, &err), -1);
    assert_true(hour.steered && !hour.kept);
    assert_non_null(strstr(err.text, "no berthd of this version has written to it yet"));
    assert_int_equal(hours_draw(place->url, "", 0, NOW, &hour, &err), 0);
    assert_true(hour.steered && !hour.kept);
}

/* The first draw of an hour stands; so many in a hundred are left. */
static void test_lot(void **state)
{
    const struct place *place = *state;
    struct ledger_hours hours;
    struct steer_hour hour, again;
    struct berth_error err;
    size_t left = 0;

    make_table(place);
    for (int i = 0; i < 400; i++) {
        int64_t now = NOW + 3600 * i;

        assert_int_equal(hours_draw(place->url, "", 25, now, &hour, &err), 0);
        assert_true(hour.kept);
        assert_int_equal(hours_draw(place->url, "", 25, now + 40, &again, &err), 0);
        assert_int_equal(again.steered, hour.steered);
        left += !hour.steered;
    }
    assert_in_range(left, 60, 145); /* 100 are to be expected, +- 8.7 */
    assert_int_equal(ledger_hours_read(place->url, "", 0, &hours, &err), 0);
    assert_int_equal(hours.n, 400);
    assert_int_equal(hours.hour[1].begins, NOW + 3600);
    free(hours.hour);
}

/* What is not known to be as the lot says is of no hour: before the first round and after the last
 * one. */
static void test_ends(void **state)
{
    const struct place *place = *state;
    struct ledger_hours hours;
    struct steer_hour hour;
    struct berth_error err;

    make_table(place);
    assert_int_equal(hours_draw(place->url, "", 25, NOW, &hour, &err), 0);
    assert_int_equal(hours_note(place->url, "", NOW, NOW + 30, &err), 0);
    assert_int_equal(ledger_hours_read(place->url, "", 0, &hours, &err), 0);
    assert_int_equal(hours.n, 1);
    assert_int_equal(hours.hour[0].begins, NOW);
    assert_int_equal(hours.hour[0].ends, NOW + 30);
    free(hours.hour);
    assert_int_equal(hours_note(place->url, "", NOW + 2990, NOW + 3020, &err), 0);
    assert_int_equal(ledger_hours_read(place->url, "", 0, &hours, &err), 0);
    assert_int_equal(hours.hour[0].ends, NOW + 3000); /* the hour's end */
    free(hours.hour);
    assert_int_equal(ledger_hours_read(place->url, "", NOW + 3000, &hours, &err), 0);
    assert_int_equal(hours.n, 0);
}

static void test_none(void **state)
{
    const struct place *place = *state;
    struct ledger_hours hours;
    struct berth_error err;

    assert_int_equal(ledger_hours_read("sqlite:/nowhere/ledger.db", "", 0, &hours, &err), -1);
    make_table(place);
    assert_int_equal(ledger_hours_read(place->url, "", 0, &hours, &err), 0);
    assert_int_equal(hours.n, 0);
    free(hours.hour);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_unwritten, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_lot, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_ends, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_none, make_place, remove_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
