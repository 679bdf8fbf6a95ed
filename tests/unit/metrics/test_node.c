/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_metrics - what is on the page of a node: read by metrics_page, in both formats; what is not
 * measured is not there; how many steps have series; and what users cannot do to it. */
#include "tests/unit/common/fixture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/bill/bill.h"
#include "packer/daemon/ledger_record.h"
#include "packer/daemon/render.h"
#include "packer/metrics/node.h"
#include "packer/observe/window.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/hwmon_tree.h"
#include "tests/unit/common/metrics_page.h"

static int open_plain(void **state)
{
    *state = fixture_open(TWO_BY_TWO);
    return 0;
}

static int open_smt(void **state)
{
    *state = fixture_open(TWO_BY_TWO_SMT);
    return 0;
}

static struct page *get(struct fixture *f, enum metrics_format format, bool with_steps)
{
    size_t length;
    char why[256] = "", *text = metrics_page(&f->packer, format, with_steps, &length);
    struct page *page;

    assert_non_null(text);
    page = page_read(text, length, format == METRICS_OPENMETRICS, why);
    if (!page)
        fail_msg("%s in\n%.*s", why, (int)length, text);
    free(text);
    return page;
}

static void assert_value(const struct page *page, const char *name, const char *labels,
                         double value)
{
    const struct page_sample *sample = page_find(page, name, labels);

    if (!sample)
        fail_msg("no %s{%s}", name, labels);
    else if (sample->value != value)
        fail_msg("%s{%s} is %s, not %g", name, labels, sample->number, value);
}

static void assert_number(const struct page *page, const char *name, const char *labels,
                          const char *number)
{
    const struct page_sample *sample = page_find(page, name, labels);

    assert_non_null(sample);
    assert_string_equal(sample->number, number);
}

static void assert_absent(const struct page *page, const char *name)
{
    if (page_count(page, name) != 0)
        fail_msg("%s is there", name);
}

/* As if all that can be counted of it had been. */
static struct step_counts *count(struct step *step)
{
    struct step_counts *counts = calloc(1, sizeof(*counts));

    assert_non_null(counts);
    free(step->counts);
    step->counts = counts;
    counters_set(&counts->last, COUNTER_CPU_NS, 2.5e9);
    counters_set(&counts->last, COUNTER_RSS_BYTES, 4096);
    counters_set(&counts->last, COUNTER_OCCUPANCY_BYTES, 65536);
    for (size_t i = 0; i < 3; i++) {
        rate_add(&counts->phase.rate[RATE_MISS_PMI], 1, 5000);
        rate_add(&counts->phase.rate[RATE_IPC], 2, 3);
        rate_add(&counts->phase.rate[RATE_BYTES], 1, 1e9);
        rate_add(&counts->alone[RATE_CORE_SPEED], 1, 3e9);
        rate_add(&counts->beside[RATE_CORE_SPEED], 1, 2e9);
    }
    return counts;
}

/* ---- the node ---- */

static void test_empty_node(void **state)
{
    struct fixture *f = *state;

    for (enum metrics_format format = 0; format < METRICS_FORMATS; format++) {
        struct page *page = get(f, format, true);

        assert_value(page, "berth_node_info",
                     "version=" PACKAGE_VERSION ",topology=" TWO_BY_TWO ",enforcement=dryrun", 1);
        assert_value(page, "berth_cores", "", 8);
        assert_value(page, "berth_pool_cores", "", 0);
        assert_value(page, "berth_released", "", 0);
        assert_value(page, "berth_registrations_total", "", 0);
        assert_value(page, "berth_steps", "state=placed", 0);
        assert_value(page, "berth_steps_left_out", "", 0);
        assert_int_equal(page_count(page, "berth_steps"), STEP_ENDED);
        assert_int_equal(page_count(page, "berth_cpu_seconds_total"), 2);
        assert_true(page_find(page, "berth_resident_memory_bytes", "")->value > 100000);
        assert_true(page_find(page, "berth_uptime_seconds", "")->value >= 0);
        assert_absent(page, "berth_step_info");
        assert_absent(page, "berth_cache_miss_pmi");
        assert_absent(page, "berth_cache_occupancy_bytes");
        page_free(page);
    }
}

static void test_node(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(3, 0, "4", "4", 1, NULL);
    struct page *page;

    fixture_run(f, 1, "0-1", NULL);
    fixture_run(f, 2, "2", NULL);
    request.options.mode = WIRE_MODE_OBSERVE;
    fixture_start(f, request);
    f->packer.steps->released = true;
    f->packer.state->tally->decisions = 7;
    f->packer.state->tally->failures = 2;
    page = get(f, METRICS_OPENMETRICS, true);
    assert_value(page, "berth_node_info",
                 "node=here,version=" PACKAGE_VERSION ",topology=" TWO_BY_TWO ",enforcement=dryrun",
                 1);
    assert_value(page, "berth_steps", "state=placed", 2);
    assert_value(page, "berth_steps", "state=observed", 1);
    assert_value(page, "berth_released", "", 1);
    assert_value(page, "berth_registrations_total", "", 3);
    assert_value(page, "berth_decisions_total", "", 7);
    assert_value(page, "berth_failures_total", "", 2);
    assert_value(page, "berth_pool_cores", "", (double)pool_count(f->packer.state->pool));
    page_free(page);
}

/* Does it help? Gained and lost, predicted and measured stand apart. */
static void test_benefit(void **state)
{
    struct fixture *f = *state;
    struct page *page;

    strcpy(f->packer.world.conf.ledger, "off");
    page = get(f, METRICS_OPENMETRICS, true);
    assert_value(page, "berth_launches_failed_open_total", "why=late", 0);
    assert_absent(page, "berth_predicted_core_seconds_total"); /* without a ledger */
    page_free(page);
    *f->packer.state->tally = (struct tally){.failed_open = {2, 3},
                                             .steps = {4, 5},
                                             .core_s = {{100, 7}, {50, 0}},
                                             .energy_j = {{1000, 70}, {500, 0}},
                                             .freed_core_s = 12,
                                             .slowdown[0][PACKER_MEASURED] = {130, 100}};
    strcpy(f->packer.world.conf.ledger, "sqlite:/x/ledger.db");
    page = get(f, METRICS_OPENMETRICS, true);
    assert_value(page, "berth_launches_failed_open_total", "why=late", 2);
    assert_value(page, "berth_launches_failed_open_total", "why=unheard", 3);
    assert_value(page, "berth_ended_steps_total", "predicted=no", 4);
    assert_value(page, "berth_ended_steps_total", "predicted=yes", 5);
    assert_value(page, "berth_predicted_core_seconds_total", "steps=placed,outcome=gained", 100);
    assert_value(page, "berth_predicted_core_seconds_total", "steps=placed,outcome=lost", 7);
    assert_value(page, "berth_predicted_energy_joules_total", "steps=observed,outcome=gained", 500);
    assert_value(page, "berth_freed_core_seconds_total", "", 12);
    assert_value(page, "berth_slowed_core_seconds_total", "steps=placed,by=measured", 130);
    assert_value(page, "berth_slowed_known_core_seconds_total", "steps=placed,by=measured", 100);
    page_free(page);
}

/* ---- energy ---- */

static void assert_joules(const struct page *page, const char *name, const char *labels,
                          uint64_t uj)
{
    char number[40];

    snprintf(number, sizeof(number), "%" PRIu64 ".%06" PRIu64, uj / 1000000, uj % 1000000);
    assert_number(page, name, labels, number);
}

static void assert_zone(const struct page *page, const struct energy_zone *zone,
                        const struct bill_account *account)
{
    static const char *const who[] = {"steps", "idle", "unmanaged"};
    const uint64_t uj[] = {account->steps_uj, account->idle_uj, account->unmanaged_uj};
    char package[32] = "", labels[128], more[160];

    if (zone->domain != ENERGY_NODE)
        snprintf(package, sizeof(package), "package=%u,", zone->package);
    snprintf(labels, sizeof(labels), "domain=%s,%ssource=%s", energy_domain_name[zone->domain],
             package, zone->source);
    assert_joules(page, "berth_energy_metered_joules_total", labels, account->metered_uj);
    assert_value(page, "berth_energy_gaps_total", labels, (double)account->gaps);
    for (size_t i = 0; i < 3; i++) {
        snprintf(more, sizeof(more), "%s,to=%s", labels, who[i]);
        assert_joules(page, "berth_energy_joules_total", more, uj[i]);
    }
}

/* Two packages by the model: what the accounts say is on the page, to the microjoule. */
static void test_energy(void **state)
{
    struct fixture *f = *state;
    struct bill_account account;
    struct energy_zone zone;
    struct page *page;
    size_t zones = 0;

    f->conf.energy[0] = '\0';
    strcpy(f->conf.energy_model, "idle=40W,core=6W");
    f->conf.idle_energy = CONF_IDLE_EVENLY;
    fixture_restart(f);
    fixture_run(f, 1, "0", NULL);
    bill_turn(&f->packer);
    usleep(20000);
    bill_turn(&f->packer);
    page = get(f, METRICS_OPENMETRICS, true);
    for (; bill_zone(&f->packer, zones, &zone, &account); zones++)
        assert_zone(page, &zone, &account);
    assert_int_equal(zones, 2);
    assert_value(page, "berth_node_info",
                 "node=here,version=" PACKAGE_VERSION ",topology=" TWO_BY_TWO
                 ",enforcement=dryrun,idle_energy=evenly",
                 1);
    assert_int_equal(page_count(page, "berth_energy_joules_total"), 3 * zones);
    page_free(page);
}

static void test_no_meter(void **state)
{
    struct fixture *f = *state;
    struct page *page;

    f->conf.energy[0] = '\0';
    fixture_restart(f);
    page = get(f, METRICS_OPENMETRICS, true);
    assert_absent(page, "berth_energy_metered_joules_total");
    assert_absent(page, "berth_energy_joules_total");
    assert_absent(page, "berth_energy_gaps_total");
    page_free(page);
}

/* ---- heat ---- */

/* A core whose sensor cannot be read has no series, nor has any without thermal=on. */
static void test_heat(void **state)
{
    struct fixture *f = *state;
    struct page *page = get(f, METRICS_OPENMETRICS, true);

    assert_absent(page, "berth_core_celsius");
    page_free(page);
    hwmon_tree_make(f->dir, 2, 4);
    hwmon_tree_set(f->dir, 4, 5, 97.5);
    folder_put(f->dir, "sys/class/hwmon/hwmon1/temp2_input", "?\n");
    strcpy(f->conf.device_root, f->dir);
    f->conf.thermal = CONF_ON;
    fixture_restart(f);
    page = get(f, METRICS_OPENMETRICS, true);
    assert_value(page, "berth_core_celsius", "cpu=5", 97.5);
    assert_value(page, "berth_core_celsius", "cpu=1", 40);
    assert_int_equal(page_count(page, "berth_core_celsius"), 7);
    page_free(page);
}

/* ---- caches ---- */

static void test_caches(void **state)
{
    static const char *const first[] = {"0", "1", NULL}, *const second[] = {"1-2", NULL};
    struct fixture *f = *state;
    struct step *devil, *unknown;
    struct page *page;

    devil = fixture_put(f, 1, 0, "0-1", 9000, first);
    devil->class.id = STEP_DEVIL;
    unknown = fixture_put(f, 2, 0, "1-2", NAN, second);
    unknown->class.id = STEP_UNPROFILED;
    page = get(f, METRICS_OPENMETRICS, true);
    assert_value(page, "berth_cache_cores", "cache=0,package=0", 2);
    assert_value(page, "berth_cache_cores_held", "cache=0,package=0", 2);
    assert_value(page, "berth_cache_cores_held", "cache=1,package=0", 1);
    assert_value(page, "berth_cache_cores_held", "cache=3,package=1", 0);
    assert_value(page, "berth_cache_tasks", "cache=0,package=0,class=devil", 2);
    assert_value(page, "berth_cache_tasks", "cache=0,package=0,class=unprofiled", 1);
    assert_value(page, "berth_cache_tasks", "cache=1,package=0,class=unprofiled", 1);
    assert_value(page, "berth_cache_tasks", "cache=1,package=0,class=devil", 0);
    assert_value(page, "berth_cache_miss_pmi", "cache=0,package=0", 18000);
    assert_null(page_find(page, "berth_cache_miss_pmi", "cache=1,package=0"));
    page_free(page);
    unknown->profile.known = true; /* half of it is on each */
    unknown->profile.miss_pmi = 100;
    page = get(f, METRICS_OPENMETRICS, true);
    assert_value(page, "berth_cache_miss_pmi", "cache=0,package=0", 18050);
    assert_value(page, "berth_cache_miss_pmi", "cache=1,package=0", 50);
    page_free(page);
}

/* Known only where it is known of all, and of none that may hold lines of another cache. */
static void test_occupancy(void **state)
{
    static const char *const first[] = {"0", NULL}, *const second[] = {"1", NULL},
                             *const wide[] = {"2-4", NULL};
    struct fixture *f = *state;
    struct step *one = fixture_put(f, 1, 0, "0", NAN, first), *other;
    struct page *page;

    count(one);
    count(fixture_put(f, 3, 0, "2-4", NAN, wide));
    page = get(f, METRICS_OPENMETRICS, true);
    assert_value(page, "berth_cache_occupancy_bytes", "cache=0,package=0", 65536);
    assert_int_equal(page_count(page, "berth_cache_occupancy_bytes"), 1);
    page_free(page);
    other = fixture_put(f, 2, 0, "1", NAN, second);
    page = get(f, METRICS_OPENMETRICS, true);
    assert_absent(page, "berth_cache_occupancy_bytes");
    page_free(page);
    count(other);
    page = get(f, METRICS_OPENMETRICS, true);
    assert_value(page, "berth_cache_occupancy_bytes", "cache=0,package=0", 131072);
    page_free(page);
}

/* Cores, not hardware threads. */
static void test_threads(void **state)
{
    static const char *const homes[] = {"0-1", "2", NULL};
    struct fixture *f = *state;
    struct page *page;

    fixture_put(f, 1, 0, "0-2", NAN, homes);
    page = get(f, METRICS_OPENMETRICS, true);
    assert_value(page, "berth_cores", "", 8);
    assert_value(page, "berth_cache_cores_held", "cache=0,package=0", 2);
    assert_value(page, "berth_step_cores", "jobid=1,step=0", 2);
    assert_value(page, "berth_step_tasks", "jobid=1,step=0", 2);
    page_free(page);
}

/* ---- steps ---- */

static void test_step(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(4711, WIRE_STEP_BATCH, "0-1", "0-1", 1, NULL);
    struct step *step;
    struct page *page;
    uint64_t uj;

    step = fixture_start(f, request);
    strcpy(step->identity.is.account, "physics");
    count(step);
    step->profile.known = true;
    step->profile.miss_pmi = 9000;
    step->enacted.moves = 3;
    step->inside.effect[STEP_SHUFFLE] = (struct step_effect){.changes = 2, .seconds = 12.5};
    step->bill.known[ENERGY_PACKAGE] = true;
    step->bill.uj[ENERGY_PACKAGE] = 1234567890123;
    page = get(f, METRICS_OPENMETRICS, true);
    assert_value(page, "berth_step_info",
                 "jobid=4711,step=batch,uid=1000,account=physics,program=prog", 1);
    assert_value(page, "berth_step_cores", "jobid=4711,step=batch", 2);
    assert_value(page, "berth_step_tasks", "jobid=4711,step=batch", 1);
    assert_value(page, "berth_step_cpu_seconds_total", "jobid=4711,step=batch", 2.5);
    assert_value(page, "berth_step_moves_total", "jobid=4711,step=batch", 3);
    assert_value(page, "berth_step_inside_changes_total", "jobid=4711,step=batch,policy=shuffle",
                 2);
    assert_value(page, "berth_step_inside_seconds_total", "jobid=4711,step=batch,policy=shuffle",
                 12.5);
    assert_int_equal(page_count(page, "berth_step_inside_seconds_total"), 1);
    assert_value(page, "berth_step_profile_miss_pmi", "jobid=4711,step=batch", 9000);
    assert_value(page, "berth_step_miss_pmi", "jobid=4711,step=batch", 5000);
    assert_value(page, "berth_step_instructions_per_cycle", "jobid=4711,step=batch", 1.5);
    assert_value(page, "berth_step_memory_bytes_per_second", "jobid=4711,step=batch", 1e9);
    assert_value(page, "berth_step_resident_memory_bytes", "jobid=4711,step=batch", 4096);
    assert_value(page, "berth_step_cache_occupancy_bytes", "jobid=4711,step=batch", 65536);
    assert_value(page, "berth_step_slowdown_ratio", "jobid=4711,step=batch", 3e9 / 2.5e9 - 1);
    assert_number(page, "berth_step_domain_energy_joules_total",
                  "jobid=4711,step=batch,domain=package", "1234567.890123");
    assert_int_equal(page_count(page, "berth_step_domain_energy_joules_total"), 1);
    assert_true(bill_total(step, &uj));
    assert_joules(page, "berth_step_energy_joules_total", "jobid=4711,step=batch", uj);
    page_free(page);
}

/* Nothing is counted or metered of it, or not enough: nothing is there, no 0. */
static void test_unknown(void **state)
{
    static const char *const names[] = {"berth_step_cpu_seconds_total",
                                        "berth_step_energy_joules_total",
                                        "berth_step_profile_miss_pmi",
                                        "berth_step_domain_energy_joules_total",
                                        "berth_step_miss_pmi",
                                        "berth_step_instructions_per_cycle",
                                        "berth_step_memory_bytes_per_second",
                                        "berth_step_resident_memory_bytes",
                                        "berth_step_cache_occupancy_bytes",
                                        "berth_step_slowdown_ratio"};
    struct fixture *f = *state;
    struct step *step = fixture_run(f, 1, "0", NULL);
    struct page *page = get(f, METRICS_OPENMETRICS, true);

    step->use.user_s = step->use.system_s = -1;
    page_free(page);
    page = get(f, METRICS_OPENMETRICS, true);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_absent(page, names[i]);
    assert_value(page, "berth_step_moves_total", "jobid=1,step=0", 0);
    page_free(page);
    count(step);
    memset(step->counts->alone, 0, sizeof(step->counts->alone)); /* never alone, and no profile */
    page = get(f, METRICS_OPENMETRICS, true);
    assert_absent(page, "berth_step_slowdown_ratio");
    page_free(page);
}

static double measured(struct json_object *told)
{
    struct json_object *slowdown = json_object_object_get(told, "slowdown");
    double value = json_object_get_double(json_object_object_get(slowdown, "measured"));

    json_object_put(told);
    return value;
}

/* It was alone for half of its CPU time, and half as fast beside others. */
static void test_one_slowdown(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_run(f, 1, "0", NULL);
    struct step_counts *counts = count(step);
    struct ledger_record record;
    struct page *page;

    memset(counts->alone, 0, sizeof(counts->alone));
    memset(counts->beside, 0, sizeof(counts->beside));
    for (size_t i = 0; i < 4; i++) {
        rate_add(&counts->alone[RATE_CORE_SPEED], 1, 2e9);
        rate_add(&counts->beside[RATE_CORE_SPEED], 1, 1e9);
    }
    page = get(f, METRICS_OPENMETRICS, true);
    assert_value(page, "berth_step_slowdown_ratio", "jobid=1,step=0", 2e9 / 1.5e9 - 1);
    page_free(page);
    ledger_record_fill(&f->packer, step, &record);
    assert_true(record.slowdown_observed == 2e9 / 1.5e9 - 1);
    assert_true(measured(render_step(&f->packer, step)) == 2e9 / 1.5e9 - 1);
    assert_true(measured(render_explanation(&f->packer, step, 0)) == 2e9 / 1.5e9 - 1);
}

static void test_others_do_not_see_steps(void **state)
{
    struct fixture *f = *state;
    struct page *page;

    count(fixture_run(f, 1, "0", NULL));
    page = get(f, METRICS_OPENMETRICS, false);
    for (size_t i = 0; i < page->n; i++)
        for (size_t j = 0; j < page->sample[i].labels; j++) {
            assert_string_not_equal(page->sample[i].label[j].name, "jobid");
            assert_string_not_equal(page->sample[i].label[j].name, "uid");
        }
    assert_value(page, "berth_steps", "state=placed", 1);
    page_free(page);
}

/* ---- which steps ---- */

static void test_at_most_so_many(void **state)
{
    static const struct {
        uint64_t most;
        size_t shown, left_out;
    } cases[] = {{200, 6, 0}, {6, 6, 0}, {5, 5, 1}, {2, 2, 4}, {0, 0, 6}};
    struct fixture *f = *state;
    struct page *page;

    for (uint32_t job = 1; job <= 6; job++)
        fixture_run(f, job, "0", NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        f->packer.world.conf.metrics_steps = cases[i].most;
        page = get(f, METRICS_OPENMETRICS, true);
        assert_int_equal(page_count(page, "berth_step_info"), cases[i].shown);
        assert_int_equal(page_count(page, "berth_step_moves_total"), cases[i].shown);
        assert_value(page, "berth_steps_left_out", "", (double)cases[i].left_out);
        if (cases[i].shown) /* the first ones stay, others come and go */
            assert_value(page, "berth_step_info", "jobid=1,step=0,uid=1000,program=prog", 1);
        page_free(page);
    }
}

/* One that has just ended is seen once more with what it used, but has no place any more. */
static void test_ended(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_run(f, 1, "0", NULL);
    struct page *page;

    fixture_run(f, 2, "1", NULL);
    count(step);
    fixture_end(f, 1, 0);
    page = get(f, METRICS_OPENMETRICS, true);
    assert_value(page, "berth_step_cpu_seconds_total", "jobid=1,step=0", 2.5);
    assert_value(page, "berth_step_info", "jobid=1,step=0,uid=1000,program=prog", 1);
    assert_null(page_find(page, "berth_step_cores", "jobid=1,step=0"));
    assert_null(page_find(page, "berth_step_miss_pmi", "jobid=1,step=0"));
    assert_non_null(page_find(page, "berth_step_cores", "jobid=2,step=0"));
    page_free(page);
    f->packer.world.conf.metrics_steps = 1; /* who lives comes first */
    page = get(f, METRICS_OPENMETRICS, true);
    assert_non_null(page_find(page, "berth_step_cores", "jobid=2,step=0"));
    assert_value(page, "berth_steps_left_out", "", 1);
    page_free(page);
    f->packer.world.conf.metrics_steps = 200;
    TAILQ_FIRST(&f->packer.steps->ended)->ended_mono_s -= METRICS_LINGER_S + 1;
    page = get(f, METRICS_OPENMETRICS, true);
    assert_int_equal(page_count(page, "berth_step_info"), 1);
    page_free(page);
}

/* The reader refuses a page that has a series twice. */
static void test_requeued(void **state)
{
    struct fixture *f = *state;
    struct page *page;

    for (size_t i = 0; i < 3; i++) {
        fixture_run(f, 1, "0", NULL);
        fixture_end(f, 1, 0);
    }
    page = get(f, METRICS_OPENMETRICS, true);
    assert_int_equal(page_count(page, "berth_step_info"), 1);
    page_free(page);
    fixture_run(f, 1, "0", NULL);
    page = get(f, METRICS_OPENMETRICS, true);
    assert_int_equal(page_count(page, "berth_step_info"), 1);
    assert_non_null(page_find(page, "berth_step_cores", "jobid=1,step=0"));
    page_free(page);
}

static void test_hostile_names(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, 0, "0", "0", 1, NULL);

    request.exe = "/tmp/x\",uid=\"0";
    strcpy(fixture_start(f, request)->identity.is.account, "a\"} 1\nberth_cores 9\n# EOF\n\\\xff");
    for (enum metrics_format format = 0; format < METRICS_FORMATS; format++) {
        struct page *page = get(f, format, true);

        assert_value(page, "berth_cores", "", 8);
        assert_value(page, "berth_step_info",
                     "jobid=1,step=0,uid=1000,account=a\"} 1\nberth_cores 9\n# EOF\n\\?,"
                     "program=x\",uid=\"0",
                     1);
        page_free(page);
    }
}

/* ---- the list ---- */

/* Names and units as the formats want them; help is a sentence. */
static void test_families(void **state)
{
    (void)state;
    for (size_t i = 0; i < METRICS_FAMILIES; i++) {
        const struct metrics_family *family = &metrics_family[i];
        size_t n = strlen(family->name), unit = strlen(family->unit);

        assert_int_equal(strncmp(family->name, "berth_", 6), 0);
        assert_true(n + strlen("_total") < METRICS_NAME_MAX);
        assert_null(strstr(family->name, "_total"));
        assert_null(strstr(family->name, "_info"));
        if (unit)
            assert_string_equal(family->name + n - unit, family->unit);
        assert_true(strlen(family->help) > 10 && family->help[strlen(family->help) - 1] == '.');
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(metrics_family[j].name, family->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_empty_node, open_plain, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_node, open_plain, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_benefit, open_plain, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_energy, open_plain, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_no_meter, open_plain, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_heat, open_plain, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_caches, open_plain, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_occupancy, open_plain, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_threads, open_smt, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_step, open_plain, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_unknown, open_plain, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_one_slowdown, open_plain, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_others_do_not_see_steps, open_plain, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_at_most_so_many, open_plain, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_ended, open_plain, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_requeued, open_plain, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_hostile_names, open_plain, fixture_teardown),
        cmocka_unit_test(test_families),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
