/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_told - holds all that is told of two steps against tests/fixtures/told: status, explain and
 * the ledger's record, whole, of a step of which everything was measured and of one of which
 * nothing was. BERTH_GOLDEN=write writes them anew: then read what git says has changed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/daemon/ledger_record.h"
#include "packer/daemon/render.h"
#include "packer/ledger/schema.h"
#include "packer/steps/step_counts.h"
#include "tests/unit/common/fixture.h"

static const char *const two_homes[] = {"0", "1", NULL};

/* A step of two tasks that ran for 20.5 seconds. */
static struct step *ended_step(struct fixture *f)
{
    struct step *step = fixture_put(f, 7, 0, "0-1", NAN, two_homes);

    step->place.home = cpus_of("0-1");
    step->place.cpus = cpus_of("2-3");
    step->started_at = 1000;
    step->ended_at = 1020;
    step->started_mono_s = 5;
    step->ended_mono_s = 25.5;
    return step;
}

static void measure_counts(struct step *step)
{
    struct step_counts *counts = calloc(1, sizeof(*counts));

    assert_non_null(counts);
    step->counts = counts;
    for (enum counter i = 0; i < COUNTERS; i++)
        counters_set(&counts->last, i, 1e9 * (i + 1));
    counts->windows = 5;
    for (size_t i = 0; i < RATES; i++)
        for (int n = 0; n < 3; n++) {
            rate_add(&counts->alone[i], 1, 2e9);
            rate_add(&counts->beside[i], 1, 1e9);
            rate_add(&counts->phase.rate[i], 1, (double)i + 0.5);
        }
}

static void measure_bill(struct step_bill *bill)
{
    for (size_t d = 0; d < ENERGY_DOMAINS; d++) {
        bill->known[d] = true;
        bill->uj[d] = 41000000 * (d + 1);
        bill->idle_uj[d] = 1000000 * (d + 1);
    }
    bill->gaps = 2;
    bill->idle = CONF_IDLE_EVENLY;
    strcpy(bill->source, "rapl-powercap");
    strcpy(bill->by, "counters");
}

static void measure_size(struct step *step)
{
    step->request.options.size = true;
    step->size.cores = 2;
    step->size.given = 1;
    step->size.gbps = 9;
    step->size.gbps_all = 10;
    step->size.verdict = (struct step_verdict){
        .measured = 0.05, .error = 0.01, .counted_s = 1, .freed_core_s = 40, .undone = 1};
}

/* Each figure has a value of its own. */
static void measure(struct step *step)
{
    measure_counts(step);
    measure_bill(&step->bill);
    measure_size(step);
    step->use = (struct step_use){.user_s = 30.25, .system_s = 1.5, .maxrss_kib = 4096};
    step->slowdown = (struct step_slowdown){.now = 0.5,
                                            .home = 1,
                                            .as_if = NAN,
                                            .since_s = step->ended_mono_s - 1,
                                            .sum = 0.3,
                                            .home_sum = 0.6,
                                            .seconds = 3,
                                            .as_if_sum = 0.05,
                                            .as_if_s = 1};
    step->enacted.moves = 4;
    step->place.rank = 1;
    step->place.of = 2;
    step->place.predicted = 0.125;
    step->place.confidence = 0.75;
    step->exit_status = 256;
    step->memory = (struct step_memory){.asked = true,
                                        .bytes = 8e9,
                                        .moved = 4e9,
                                        .failed = 1e6,
                                        .rate = 2e9,
                                        .gain = 0.5,
                                        .lost = 0.25,
                                        .break_even_s = 7};
    step->proposed = (struct step_proposed){.changes = 2, .refused = 1, .at = 1010};
    strcpy(step->proposed.by, "mine");
    strcpy(step->proposed.what, "cpus");
    strcpy(step->proposed.why, "CPU 4 is not in the pool");
    step->inside.any = (struct step_effect){.changes = 3, .seconds = 12.25};
    step->inside.effect[STEP_THROTTLE].changes = 1;
    step->inside.throttled = (struct step_throttled){2, 3.5, 7};
    strcpy(step->enacted.reason, "read back");
}

/* ---- against the files ---- */

static char *read_golden(const char *path)
{
    FILE *in = fopen(path, "r");
    char *text = calloc(1, 1 << 16);

    assert_non_null(text);
    if (!in || fread(text, 1, (1 << 16) - 1, in) == 0)
        fail_msg("%s: %m", path);
    fclose(in);
    return text;
}

/* Returns the same as this json-c writes it: empty lists look different in different versions. */
static char *written_here(char *text)
{
    struct json_object *object = json_tokener_parse(text);
    char *here;

    assert_non_null(object);
    here = strdup(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY));
    json_object_put(object);
    free(text);
    return here;
}

static void write_golden(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");

    if (!out || fprintf(out, "%s\n", text) < 0 || fclose(out) != 0)
        fail_msg("%s: %m", path);
}

/* Releases the object. */
static void assert_golden(const char *name, struct json_object *object)
{
    const char *srcdir = getenv("srcdir"), *golden = getenv("BERTH_GOLDEN");
    const char *text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY);
    char path[512], *wanted;

    snprintf(path, sizeof(path), "%s/tests/fixtures/told/%s.json", srcdir ? srcdir : ".", name);
    if (golden && strcmp(golden, "write") == 0)
        write_golden(path, text);
    wanted = written_here(read_golden(path));
    assert_string_equal(text, wanted);
    free(wanted);
    json_object_put(object);
}

static struct json_object *record_of(struct fixture *f, const struct step *step)
{
    struct json_object *object = json_object_new_object();
    struct ledger_record record;

    ledger_record_fill(&f->packer, step, &record);
    json_write(object, ledger_fields, &record);
    return object;
}

static void test_measured(void **state)
{
    struct fixture *f = *state;
    struct step *step = ended_step(f);

    measure(step);
    assert_golden("measured-status", render_step(&f->packer, step));
    assert_golden("measured-explain", render_explanation(&f->packer, step, 0));
    assert_golden("measured-record", record_of(f, step));
}

static void test_unmeasured(void **state)
{
    struct fixture *f = *state;
    struct step *step = ended_step(f);

    assert_golden("unmeasured-status", render_step(&f->packer, step));
    assert_golden("unmeasured-explain", render_explanation(&f->packer, step, 0));
    assert_golden("unmeasured-record", record_of(f, step));
}

/* A user who may know nothing of others. */
static void test_private(void **state)
{
    struct fixture *f = *state;
    struct step *step = ended_step(f);

    measure(step);
    f->packer.world.private_data = true;
    assert_golden("private-explain", render_explanation(&f->packer, step, 1000));
}

#define test(name) cmocka_unit_test_setup_teardown(name, fixture_on_paper, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {test(test_measured), test(test_unmeasured),
                                       test(test_private)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
