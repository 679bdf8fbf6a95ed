/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_render_bill - a step's energy and the node's accounts as berthctl gets them. */
#include "tests/unit/common/bill_box.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/daemon/render_bill.h"
#include "packer/figures/figures.h"
#include "packer/observe/window.h"

#define J 1000000u

static double number(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;

    assert_true(json_object_object_get_ex(object, key, &value));
    return value ? json_object_get_double(value) : NAN;
}

static void assert_number(struct json_object *object, const char *key, double wanted)
{
    double got = number(object, key);

    if (isnan(wanted) ? !isnan(got) : !(fabs(got - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%s: %g, not %g", key, got, wanted);
}

static void assert_text(struct json_object *object, const char *key, const char *wanted)
{
    struct json_object *value = NULL;

    assert_true(json_object_object_get_ex(object, key, &value));
    assert_string_equal(value ? json_object_get_string(value) : "null", wanted);
}

/* 20 s, 300 J of package and 40 J of memory, 2e9 instructions a second. */
static void test_step(void **state)
{
    struct step step = {.ended_at = 1,
                        .started_mono_s = 100,
                        .ended_mono_s = 120,
                        .bill = {.known = {[ENERGY_PACKAGE] = true, [ENERGY_DRAM] = true},
                                 .uj = {300 * J, 40 * J, 0},
                                 .idle_uj = {100 * J, 10 * J, 7 * J},
                                 .idle = CONF_IDLE_EVENLY,
                                 .gaps = 2,
                                 .source = "rapl-powercap",
                                 .by = "busy time"}};
    struct json_object *object;

    (void)state;
    step.counts = calloc(1, sizeof(*step.counts));
    assert_non_null(step.counts);
    rate_add(&step.counts->alone[RATE_INSTRUCTIONS], 1, 3e9);
    rate_add(&step.counts->beside[RATE_INSTRUCTIONS], 1, 1e9);
    object = figures_object("bill", NULL, &step, false);
    assert_number(object, "energy_j", 340);
    assert_number(object, "package_j", 300);
    assert_number(object, "dram_j", 40);
    assert_number(object, "node_j", NAN);
    assert_number(object, "power_w", 17);
    assert_number(object, "edp", 6800);
    assert_number(object, "edp_per_instruction", 340 / 2e9); /* eq. 9 */
    assert_text(object, "source", "rapl-powercap");
    assert_text(object, "by", "busy time");
    assert_number(object, "gaps", 2);
    assert_number(object, "idle_j", 110);
    assert_text(object, "idle_energy", "evenly");
    json_object_put(object);
    free(step.counts);
    step.counts = NULL;
    object = figures_object("bill", NULL, &step, false);
    assert_number(object, "edp_per_instruction", NAN);
    json_object_put(object);
    step.bill.known[ENERGY_PACKAGE] = false;
    object = figures_object("bill", NULL, &step, false);
    assert_number(object, "idle_j", NAN);
    assert_text(object, "idle_energy", "null");
    json_object_put(object);
}

static void test_accounts(void **state)
{
    struct bill_box *box = bill_box_open(TWO_BY_TWO, BOX_ZONES);
    struct json_object *list, *object;

    (void)state;
    fixture_run(box->f, 1, "4", NULL);
    bill_box_work(box, 4, 0.5);
    bill_box_work(box, 5, 0.5);
    bill_box_use(box, BOX_PACKAGE_1, 30 * J);
    bill_box_use(box, BOX_NODE, 80 * J);
    bill_box_turn(box, 1);
    box->f->packer.world.conf.idle_energy = CONF_IDLE_NOBODY;
    list = render_accounts(&box->f->packer);
    assert_int_equal(json_object_array_length(list), BOX_ZONES);
    object = json_object_array_get_idx(list, BOX_PACKAGE_1);
    assert_text(object, "domain", "package");
    assert_number(object, "package", 1);
    assert_text(object, "source", "rapl-powercap");
    assert_number(object, "metered_j", 30);
    assert_number(object, "steps_j", 15);
    assert_number(object, "idle_j", 0);
    assert_number(object, "unmanaged_j", 15);
    assert_text(object, "idle_energy", "nobody");
    assert_number(object, "gaps", 0);
    object = json_object_array_get_idx(list, BOX_NODE);
    assert_text(object, "domain", "node");
    assert_number(object, "package", NAN);
    assert_number(object, "metered_j", 80);
    json_object_put(list);
    bill_box_close(box);
}

static void test_no_meters(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);
    struct json_object *list = render_accounts(&f->packer);

    (void)state;
    assert_int_equal(json_object_array_length(list), 0);
    json_object_put(list);
    fixture_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_accounts),
        cmocka_unit_test(test_no_meters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
