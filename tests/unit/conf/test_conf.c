/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_conf - berth.conf: what is read, what is refused and in which words, and that a refused file
 * changes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/conf/conf.h"

static char path[] = "/tmp/berth-conf-XXXXXX";

static void write_bytes(const char *text, size_t length)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static int read_text(struct conf *conf, const char *text, struct berth_error *err)
{
    write_bytes(text, strlen(text));
    return conf_read(conf, path, err);
}

static int make_file(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void test_defaults(void **state)
{
    struct conf conf;

    (void)state;
    conf_init(&conf);
    assert_string_equal(conf.socket, RUNSTATEDIR "/berth/berthd.sock");
    assert_string_equal(conf.state_dir, RUNSTATEDIR "/berth");
    assert_string_equal(conf.profile_db, LOCALSTATEDIR "/lib/berth/profiles.db");
    assert_string_equal(conf.machine_profile, LOCALSTATEDIR "/lib/berth/machine.json");
    assert_string_equal(conf.cgroup_root, "/sys/fs/cgroup");
    assert_string_equal(conf.topology, "");
    assert_true(conf.neutral_miss_pmi == CONF_NEUTRAL_MISS_PMI);
    assert_non_null(strstr(conf.allow, "max-slowdown"));
    assert_int_equal(conf.enforcement, CONF_ENFORCE_AUTO);
    assert_int_equal(conf.log, LOG_TARGET_STDERR);
    assert_int_equal(conf.log_level, LOG_LEVEL_INFO);
    assert_true(conf.devil_miss_pmi == 2000);
    assert_int_equal(conf.sweep_ms, 5000);
    assert_int_equal(conf.history, 256);
}

static void test_every_key(void **state)
{
    struct conf conf;
    struct berth_error err;

    (void)state;
    conf_init(&conf);
    assert_int_equal(read_text(&conf,
                               "# a comment\n; another\n\n"
                               "socket = /x/s\nstate_dir=/x\nprofile_db = /x/p.db\n"
                               "topology = package:2 l3:2 core:4 pu:1\ncgroup_root = /cg\n"
                               "cgroup_name = berth_2\n"
                               "allow = auto, off  policy\nenforcement = dryrun\nlog = syslog\n"
                               "log_level = debug ; as told\ndevil_miss_pmi = 12.5\n"
                               "neutral_miss_pmi = 3\nsweep = 200ms\nhistory = 0\n",
                               &err),
                     0);
    assert_string_equal(conf.socket, "/x/s");
    assert_string_equal(conf.state_dir, "/x");
    assert_string_equal(conf.profile_db, "/x/p.db");
    assert_string_equal(conf.topology, "package:2 l3:2 core:4 pu:1");
    assert_string_equal(conf.cgroup_root, "/cg");
    assert_string_equal(conf.cgroup_name, "berth_2");
    assert_string_equal(conf.allow, "auto,off,policy");
    assert_int_equal(conf.enforcement, CONF_ENFORCE_DRYRUN);
    assert_int_equal(conf.log, LOG_TARGET_SYSLOG);
    assert_int_equal(conf.log_level, LOG_LEVEL_DEBUG);
    assert_true(conf.devil_miss_pmi == 12.5);
    assert_true(conf.neutral_miss_pmi == 3);
    assert_int_equal(conf.sweep_ms, 200);
    assert_int_equal(conf.history, 0);
}

static void test_units(void **state)
{
    static const struct {
        const char *text;
        uint64_t ms;
    } good[] = {{"5s", 5000}, {"5 s", 5000}, {"0.5s", 500}, {"100ms", 100}, {"3600s", 3600000}};
    struct conf conf;
    char line[64];

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        conf_init(&conf);
        snprintf(line, sizeof(line), "sweep = %s\n", good[i].text);
        assert_int_equal(read_text(&conf, line, NULL), 0);
        assert_int_equal(conf.sweep_ms, good[i].ms);
    }
}

static void test_energy(void **state)
{
    struct conf conf;

    (void)state;
    conf_init(&conf);
    assert_string_equal(conf.energy, "powercap,perf,hwmon");
    assert_string_equal(conf.energy_root, "/");
    assert_string_equal(conf.energy_model, "");
    assert_int_equal(read_text(&conf,
                               "energy = hwmon\nenergy_root = /rec\n"
                               "energy_model = idle=40W,core=6.5W,dram=3W\n",
                               NULL),
                     0);
    assert_string_equal(conf.energy, "hwmon");
    assert_string_equal(conf.energy_root, "/rec");
    assert_string_equal(conf.energy_model, "idle=40W,core=6.5W,dram=3W");
}

static void test_empty_values(void **state)
{
    struct conf conf;

    (void)state;
    conf_init(&conf);
    assert_int_equal(read_text(&conf, "topology =\nallow =\n", NULL), 0);
    assert_string_equal(conf.topology, "");
    assert_string_equal(conf.allow, "");
    assert_int_equal(read_text(&conf, "", NULL), 0);
}

/* Each with the line that is blamed and a part of the reason. */
static const struct {
    const char *text;
    unsigned line;
    const char *why;
} refused[] = {
    {"log = stderr\nsokcet = /x\n", 2, "unknown key 'sokcet'"},
    {"\n\nlog\n", 3, "KEY = VALUE expected"},
    {"[berthd]\nlog = stderr\n", 1, "no sections"},
    {"log = stderr\n\n[berthd]\n", 3, "section [berthd]: berth.conf has no sections"},
    {" [berthd] ; a comment\n", 1, "no sections"},
    {"log = stderr\nlog = syslog\n", 2, "set before, in line 1"},
    {"topology = a\n  b\n", 2, "set before"},
    {"log = file\n", 1, "'file' is none of: stderr, syslog"},
    {"log = STDERR\n", 1, "none of"},
    {"enforcement =\n", 1, "none of: auto, cgroup1, cgroup2, dryrun"},
    {"allow = auto,fast\n", 1, "'fast' is none of: off, auto"},
    {"energy = powercap,ipmi\n", 1, "'ipmi' is none of: powercap, perf, hwmon"},
    {"energy_root = sys\n", 1, "an absolute path expected"},
    {"energy_model = idle=40,core=6W\n", 1, "energy_model: 'idle=40,core=6W' is not of the form"},
    {"energy_model = idle=40W\n", 1, "lacks idle or core"},
    {"sweep = 5\n", 1, "wrong unit (ms or s expected"},
    {"sweep = 5m\n", 1, "wrong unit"},
    {"sweep = 5s # five\n", 1, "wrong unit"},
    {"sweep = 99ms\n", 1, "not between 100 and 3600000 ms"},
    {"sweep = 3601s\n", 1, "not between"},
    {"sweep = 100.5ms\n", 1, "no whole number"},
    {"sweep = -5s\n", 1, "a number expected"},
    {"sweep = soon\n", 1, "a number expected, not 'soon'"},
    {"devil_miss_pmi = nan\n", 1, "a number expected"},
    {"devil_miss_pmi = 1e400\n", 1, "not between"},
    {"devil_miss_pmi = 3s\n", 1, "a bare number expected"},
    {"history = 1.5\n", 1, "no whole number"},
    {"history = 65537\n", 1, "not between 0 and 65536"},
    {"history =\n", 1, "a number expected"},
    {"socket = run/x\n", 1, "an absolute path expected, not 'run/x'"},
    {"cgroup_name = ../x\n", 1, "letters, digits, '_' and '-' expected"},
    {"cgroup_name =\n", 1, "letters, digits"},
    {"socket =\n", 1, "an absolute path expected"},
    {"rcr_idle = 0.8\nrcr_saturated = 0.8\n", 2, "rcr_idle is 0.8, and has to be below rcr_satur"},
    {"socket = /x # here\n", 1, "a comment stands on a line of its own"},
    {"socket = "
     "/1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901"
     "234567890123456789\n",
     1, "longer than 107 bytes"},
};

static void test_refused(void **state)
{
    struct conf conf, before;
    struct berth_error err;
    char where[64];

    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        conf_init(&conf);
        conf.history = 7;
        before = conf;
        assert_int_equal(read_text(&conf, refused[i].text, &err), -1);
        snprintf(where, sizeof(where), "%s:%u: ", path, refused[i].line);
        if (strncmp(err.text, where, strlen(where)) != 0 || !strstr(err.text, refused[i].why))
            fail_msg("%s gave '%s', not '%s%s'", refused[i].text, err.text, where, refused[i].why);
        assert_memory_equal(&conf, &before, sizeof(conf));
    }
}

/* The good lines before the bad one must not come through either. */
static void test_nothing_half_done(void **state)
{
    struct conf conf, before;

    (void)state;
    conf_init(&conf);
    before = conf;
    assert_int_equal(read_text(&conf, "history = 9\nlog = syslog\nx = 1\n", NULL), -1);
    assert_memory_equal(&conf, &before, sizeof(conf));
}

static void test_long_lines_and_nul(void **state)
{
    struct conf conf;
    struct berth_error err;
    char text[5000];

    (void)state;
    conf_init(&conf);
    memset(text, 'a', sizeof(text));
    memcpy(text, "history = 3\ntopology = ", 23);
    write_bytes(text, sizeof(text));
    assert_int_equal(conf_read(&conf, path, &err), -1);
    assert_non_null(strstr(err.text, ":2: the line is too long"));
    write_bytes("log = std\0err\n", 14);
    assert_int_equal(conf_read(&conf, path, &err), -1);
    assert_non_null(strstr(err.text, ":1: the line is too long or has a NUL"));
}

static void test_unsafe_files(void **state)
{
    struct conf conf;
    struct berth_error err;

    (void)state;
    conf_init(&conf);
    write_bytes("history = 3\n", 12);
    assert_int_equal(chmod(path, 0664), 0);
    assert_int_equal(conf_read(&conf, path, &err), -1);
    assert_non_null(strstr(err.text, "mode 0664"));
    assert_int_equal(chmod(path, 0602), 0);
    assert_int_equal(conf_read(&conf, path, &err), -1);
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(conf_read(&conf, "/dev/null", &err), -1);
    assert_non_null(strstr(err.text, "not a regular file"));
    assert_int_equal(conf_read(&conf, "/tmp", &err), -1);
    assert_int_equal(conf_read(&conf, "/nowhere/berth.conf", &err), -1);
    assert_non_null(strstr(err.text, "/nowhere/berth.conf: No such file"));
    assert_int_equal(conf.history, 256);
}

/* A FIFO must not hang the daemon's start. */
static void test_fifo(void **state)
{
    struct conf conf;
    struct berth_error err;
    char fifo[64];

    (void)state;
    conf_init(&conf);
    snprintf(fifo, sizeof(fifo), "%s.fifo", path);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(conf_read(&conf, fifo, &err), -1);
    assert_non_null(strstr(err.text, "not a regular file"));
    unlink(fifo);
}

static void test_foreign_owner(void **state)
{
    struct conf conf;
    struct berth_error err;

    (void)state;
    if (geteuid() != 0)
        skip(); /* only root can give a file away */
    conf_init(&conf);
    assert_int_equal(chown(path, 12345, 12345), 0);
    assert_int_equal(conf_read(&conf, path, &err), -1);
    assert_non_null(strstr(err.text, "owned by user 12345"));
    assert_int_equal(chown(path, 0, 0), 0);
}

static char *printed(const struct conf *conf)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    if (conf)
        conf_print(conf, out);
    else
        conf_print_mdoc(out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void test_print_reads_back(void **state)
{
    struct conf conf, again;
    struct berth_error err;
    char *text;

    (void)state;
    conf_init(&conf);
    conf.sweep_ms = 1500;
    conf.history = 12;
    conf.devil_miss_pmi = 0.1;
    conf.enforcement = CONF_ENFORCE_CGROUP1;
    conf.log_level = LOG_LEVEL_WARN;
    memset(conf.allow, 0, sizeof(conf.allow));
    memset(conf.socket, 0, sizeof(conf.socket));
    memcpy(conf.allow, "auto,off", 8);
    memcpy(conf.socket, "/a/b", 4);
    text = printed(&conf);
    memset(&again, 0, sizeof(again));
    if (read_text(&again, text, &err) < 0)
        fail_msg("%s", err.text);
    assert_memory_equal(&conf, &again, sizeof(conf));
    free(text);
}

static void test_mdoc_names_every_key(void **state)
{
    struct conf conf;
    char *mdoc = printed(NULL), *text, *save, *line, item[64];
    size_t keys = 0;

    (void)state;
    conf_init(&conf);
    text = printed(&conf);
    for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (line[0] == '#')
            continue;
        snprintf(item, sizeof(item), ".It Ic %.*s\n", (int)strcspn(line, " "), line);
        assert_non_null(strstr(mdoc, item));
        keys++;
    }
    assert_true(keys >= 28);
    free(text);
    free(mdoc);
}

/* ---- read again ---- */

/* Every key with another value than its default: those that a running berthd takes over, in the
 * order of the table, and those that wait for its next start. */
#define LIVE_KEYS                                                                                  \
    "private_data = on\nslurm_conf = /x/slurm.conf\nprofile_sharing = median\n"                    \
    "allow = auto\nisolate_users = 7\nisolate_groups = 8\nisolate_accounts = physics\n"            \
    "isolate_qos = high\nthrottle_users = 7\nprefetch_users = 8\npropose_users = 9\npolicy = "     \
    "dio-power\n"                                                                                  \
    "share = adapt\ndio_power_order = printed\nedp_power = above-idle\n"                           \
    "log = syslog\nlog_level = warn\n"                                                             \
    "devil_miss_pmi = 1\ntranquil_rule = printed\ntranquil_miss_pmi = 20\ntranquil_pass = 21s\n"   \
    "adapt_light_mpa = 0.2\nadapt_light_lock = 22\nneutral_miss_pmi = 2\nsweep = 1s\nhistory = "   \
    "3\nstartup = 4s\n"                                                                            \
    "first_window = 5s\nwindow = 6s\nrest = 7s\ntogether = off\n"                                  \
    "phase_change = 0.5\nlearn = off\nprofile_age = 7\n"                                           \
    "move = all\ncontrol = 10\ndevice_near = prefer\nidle = near\nreplace = off\nreplace_horizon " \
    "= 8s\n"                                                                                       \
    "replace_limit = "                                                                             \
    "9\nsacrifice = 0.2\nregret = "                                                                \
    "0.1\nregret_time = 10s\n"                                                                     \
    "memory_rate = 11\nprobe_every = 12s\nprobe_time = 13ms\nmetrics_steps = 14\n"                 \
    "metrics_interval = 16s\nenergy_interval = 17s\nidle_energy = evenly\nenergy_price = 18\n"     \
    "energy_currency = CHF\nenergy_tariff = sat=0.2\nenergy_co2 = 19\n"                            \
    "energy_co2_tariff = sun=100\nreport_fields = Cost\n"
#define START_KEYS                                                                                 \
    "socket = /x/s\nstate_dir = /x\nprofile_db = /x/p\nprofile_group = users\nmachine_profile = "  \
    "/x/m\n"                                                                                       \
    "topology = pu:2\nplaces = threads\ncgroup_root = /x/cg\ncgroup_name = berth_2\nenforcement "  \
    "= dryrun\n"                                                                                   \
    "counters = software\ncounters_replay = /x/c\nevent_table = /x/e\nlock_time = on\n"            \
    "reuse_sampling = on\ncontrol_key = /x/key\nthermal = on\nprobe = on\nmetrics = "              \
    "unix:/x/m.sock\nmetrics_group = "                                                             \
    "users\n"                                                                                      \
    "metrics_textfile = /x/t\nblackboard = on\nrcr_rate = 50\nrcr_saturated = 0.8\nrcr_idle = "    \
    "0.5\nrcr_hold = 5\nledger = off\nledger_defaults = /x/d\nledger_queue = /x/q\n"               \
    "ledger_group = users\nsteer = on\nadmin_comment = on\ntres_energy = on\ncomment_program = "   \
    "/x/b\njob_program = "                                                                         \
    "/x/j\nenergy = hwmon\n"                                                                       \
    "energy_root = /x\ndevice_root = /x\nenergy_model = idle=1W,core=2W\n"

/* "a = b\nc = d\n" is "a = b, c = d". */
static void assert_changes(const char *list, const char *lines)
{
    char want[4096] = "";
    size_t used = 0;

    for (const char *c = lines; *c; c++)
        if (*c != '\n')
            want[used++] = *c;
        else if (c[1])
            used += (size_t)sprintf(want + used, ", ");
    want[used] = '\0';
    assert_string_equal(list, want);
}

static void test_reload(void **state)
{
    struct conf now, next, want;
    struct conf_changes changes;
    struct berth_error err;
    char *before, *after;

    (void)state;
    conf_init(&now);
    conf_init(&next);
    conf_init(&want);
    if (read_text(&next, LIVE_KEYS START_KEYS, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(read_text(&want, LIVE_KEYS, &err), 0);
    conf_reload(&now, &next, &changes);
    assert_changes(changes.taken, LIVE_KEYS);
    assert_changes(changes.waiting, START_KEYS);
    before = printed(&want);
    after = printed(&now);
    assert_string_equal(before, after);
    conf_reload(&now, &now, &changes);
    assert_string_equal(changes.taken, "");
    assert_string_equal(changes.waiting, "");
    free(before);
    free(after);
}

#define WAITS "A change takes effect when berthd starts the next time."

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;

    while ((text = strstr(text, part))) {
        text += strlen(part);
        n++;
    }
    return n;
}

/* No key is missing above, and people are told of each one that waits. */
static void test_reload_knows_every_key(void **state)
{
    struct conf conf;
    char *text, *mdoc = printed(NULL), *save, *line, item[64];
    bool waits = false;

    (void)state;
    conf_init(&conf);
    text = printed(&conf);
    for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (line[0] == '#') {
            waits = strcmp(line, "# " WAITS) == 0;
            continue;
        }
        snprintf(item, sizeof(item), "\n%.*s =", (int)strcspn(line, " "), line);
        assert_int_equal(count_of("\n" START_KEYS, item), waits);
        assert_int_equal(count_of("\n" LIVE_KEYS, item), !waits);
    }
    assert_int_equal(count_of(mdoc, WAITS), count_of(START_KEYS, "\n"));
    free(text);
    free(mdoc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_every_key),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_energy),
        cmocka_unit_test(test_empty_values),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_nothing_half_done),
        cmocka_unit_test(test_long_lines_and_nul),
        cmocka_unit_test(test_unsafe_files),
        cmocka_unit_test(test_fifo),
        cmocka_unit_test(test_foreign_owner),
        cmocka_unit_test(test_print_reads_back),
        cmocka_unit_test(test_mdoc_names_every_key),
        cmocka_unit_test(test_reload),
        cmocka_unit_test(test_reload_knows_every_key),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
