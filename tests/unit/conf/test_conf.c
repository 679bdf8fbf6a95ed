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

#include "packer/conf/key.h"

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
    conf->for_tests = true;
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
    {"tune = sweep\n", 1, "tune: NAME=VALUE expected, not 'sweep'"},
    {"log = stderr\ntune = history=3, swep=2s\n", 2, "unknown tune 'swep' (sweep?)"},
    {"tune = policy=di\n", 1, "unknown tune 'policy'"},
    {"tune = sweep=5\n", 1, "wrong unit (ms or s expected"},
    {"event_table = /x,y=3\n", 1, "event_table: '/x,y=3': a comma stands between values, "},
    {"isolate_users = a = b\n", 1, "a comma stands between values, and no '=' in them"},
    {"tune = sweep=2s\nsweep = 3s\n", 2, "sweep: set before, in line 1"},
    {"tune = sweep=2s, sweep=3s\n", 1, "set before"},
    {"grant = isolat=7\n", 1, "unknown grant 'isolat' (isolate?)"},
    {"grant = isolate=7\nisolate_users = 8\n", 2, "set before"},
    {"isolate = 7\n", 1, "unknown key 'isolate'"},
    {"readers = *\n", 1, "everybody may read metrics only: metrics=*"},
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
        conf.for_tests = true;
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
    conf.for_tests = true;
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

/* Lists: what a comma means, several lines, blanks, and a group for all readers. */
static void test_lists(void **state)
{
    struct conf conf;
    struct berth_error err;

    (void)state;
    conf_init(&conf);
    if (read_text(&conf,
                  "tune = counters=perf,software, sweep = 2 s\n  history=3,\ntune =\n"
                  "grant = isolate=anna,ben, isolate:group=chem,throttle=\n"
                  "readers = hpc, metrics=*\n",
                  &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(conf.counters, "perf,software");
    assert_int_equal(conf.sweep_ms, 2000);
    assert_int_equal(conf.history, 3);
    assert_string_equal(conf.isolate_users, "anna,ben");
    assert_string_equal(conf.isolate_groups, "chem");
    assert_string_equal(conf.throttle_users, "");
    assert_string_equal(conf.metrics_group, "*");
    assert_string_equal(conf.ledger_group, "hpc");
    assert_string_equal(conf.profile_group, "hpc");
    assert_string_equal(conf.older, "");
}

/* What is for tests has no effect without their flag, and is no error. */
static void test_keys_of_tests(void **state)
{
    struct conf conf;
    struct berth_error err;

    (void)state;
    conf_init(&conf);
    write_bytes("topology = pu:2\nenergy_root = sys\nlog = syslog\n", 46);
    assert_int_equal(conf_read(&conf, path, &err), 0);
    assert_string_equal(conf.topology, "");
    assert_string_equal(conf.energy_root, "/");
    assert_int_equal(conf.log, LOG_TARGET_SYSLOG);
    assert_string_equal(conf.older, "topology (line 1) is for tests, and has no effect, "
                                    "energy_root (line 2) is for tests, and has no effect");
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
    char *text, *same;

    (void)state;
    conf_init(&conf);
    conf.for_tests = true;
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
    conf_init(&again);
    if (read_text(&again, text, &err) < 0)
        fail_msg("%s", err.text);
    same = printed(&again);
    assert_string_equal(text, same);
    assert_string_equal(again.socket, "/a/b");
    assert_string_equal(again.allow, "auto,off");
    free(text);
    free(same);
}

static void test_mdoc_names_every_key(void **state)
{
    char *mdoc = printed(NULL), item[64];
    size_t own = 0;

    (void)state;
    for (const struct conf_key *key = conf_key; key->name; key++) {
        snprintf(item, sizeof(item), ".It Ic %s\n", key->name);
        assert_true(!strstr(mdoc, item) == (key->section == CONF_TEST));
        own += !conf_section[key->section].list && key->section != CONF_TEST;
    }
    for (enum conf_section_id id = 0; id < CONF_SECTIONS; id++) {
        snprintf(item, sizeof(item), ".It Ic %s\n", conf_section[id].list);
        assert_true(!conf_section[id].list || strstr(mdoc, item));
        own += conf_section[id].list != NULL;
    }
    assert_true(own <= 28); /* a new key that few sites need is an entry of tune */
    free(mdoc);
}

/* ---- files of older versions ---- */

static FILE *open_fixture(const char *name)
{
    const char *srcdir = getenv("srcdir");
    char fixture[512];
    FILE *file;

    snprintf(fixture, sizeof(fixture), "%s/tests/fixtures/conf/%s", srcdir ? srcdir : ".", name);
    file = fopen(fixture, "re");
    assert_non_null(file);
    return file;
}

static bool is_own(const char *name)
{
    for (const struct conf_key *key = conf_key; key->name; key++)
        if (strcmp(key->name, name) == 0 && !conf_section[key->section].list)
            return true;
    return false;
}

/* Each default that a key ever had is read, with one note where the key is none any more. */
static void test_older_defaults(void **state)
{
    FILE *file = open_fixture("older-defaults");
    struct conf conf;
    struct berth_error err;
    char line[512], name[64];
    size_t keys = 0;

    (void)state;
    while (fgets(line, sizeof(line), file)) {
        if (line[0] == '#')
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(line, " "), line);
        conf_init(&conf);
        if (read_text(&conf, line, &err) < 0)
            fail_msg("%s", err.text);
        assert_true(!conf.older[0] == is_own(name));
        assert_true(is_own(name) || strncmp(conf.older, name, strlen(name)) == 0);
        keys++;
    }
    fclose(file);
    assert_int_equal(keys, 101);
}

/* ---- read again ---- */

/* Every key with another value than its default: those that a running berthd takes over, in the
 * order of the table, and those that wait for its next start. */
#define LIVE_KEYS                                                                                  \
    "allow = auto\nprivate_data = on\nprofile_sharing = median\ngrant = isolate=7\n"               \
    "grant = isolate:group=8\ngrant = isolate:account=physics\ngrant = isolate:qos=high\n"         \
    "grant = throttle=7\ngrant = prefetch=8\ngrant = propose=9\npolicy = dio-power\n"              \
    "move = all\nidle = near\ncontrol = 10\nreport_fields = Cost\nenergy_price = 18\n"             \
    "energy_currency = CHF\nenergy_tariff = sat=0.2\nenergy_co2 = 19\n"                            \
    "energy_co2_tariff = sun=100\nidle_energy = evenly\nlog = syslog\nlog_level = warn\n"          \
    "tune = slurm_conf=/x/slurm.conf\ntune = startup=4s\ntune = first_window=5s\n"                 \
    "tune = window=6s\ntune = rest=7s\ntune = together=off\ntune = phase_change=0.5\n"             \
    "tune = sweep=1s\ntune = history=3\ntune = learn=off\ntune = profile_age=7\n"                  \
    "tune = devil_miss_pmi=1\ntune = neutral_miss_pmi=2\ntune = share=adapt\n"                     \
    "tune = device_near=prefer\ntune = replace=off\ntune = replace_horizon=8s\n"                   \
    "tune = replace_limit=9\ntune = sacrifice=0.2\ntune = regret=0.1\n"                            \
    "tune = regret_time=10s\ntune = memory_rate=11\ntune = dio_power_order=printed\n"              \
    "tune = edp_power=above-idle\ntune = tranquil_rule=printed\ntune = tranquil_miss_pmi=20\n"     \
    "tune = tranquil_pass=21s\ntune = adapt_light_mpa=0.2\ntune = adapt_light_lock=22\n"           \
    "tune = probe_every=12s\ntune = probe_time=13ms\ntune = energy_interval=17s\n"                 \
    "tune = metrics_steps=14\ntune = metrics_interval=16s\n"
#define START_KEYS                                                                                 \
    "enforcement = dryrun\nledger = off\nledger_defaults = /x/d\nadmin_comment = on\n"             \
    "tres_energy = on\nmetrics = unix:/x/m.sock\nmetrics_textfile = /x/t\n"                        \
    "readers = metrics=users\nreaders = ledger=users\nreaders = profiles=users\n"                  \
    "energy_model = idle=1W,core=2W\ntune = user=nobody\ntune = socket=/x/s\ntune = "              \
    "state_dir=/x\n"                                                                               \
    "tune = profile_db=/x/p\ntune = machine_profile=/x/m\ntune = event_table=/x/e\n"               \
    "tune = ledger_queue=/x/q\ntune = cgroup_name=berth_2\ntune = control_key=/x/key\n"            \
    "tune = job_program=/x/j\ntune = comment_program=/x/b\ntune = counters=software\n"             \
    "tune = lock_time=on\ntune = reuse_sampling=on\ntune = places=threads\n"                       \
    "tune = thermal=on\ntune = probe=on\ntune = energy=hwmon\ntune = steer=on\n"                   \
    "tune = blackboard=on\ntune = rcr_rate=50\ntune = rcr_saturated=0.8\n"                         \
    "tune = rcr_idle=0.5\ntune = rcr_hold=5\ntopology = pu:2\ncounters_replay = /x/c\n"            \
    "cgroup_root = /x/cg\nenergy_root = /x\ndevice_root = /x\n"

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
    now.for_tests = true;
    before = printed(&want);
    after = printed(&now);
    assert_string_equal(before, after);
    conf_reload(&now, &now, &changes);
    assert_string_equal(changes.taken, "");
    assert_string_equal(changes.waiting, "");
    free(before);
    free(after);
}

#define NEWER_KEYS "tune = user=nobody\n" /* than the files of older versions here */

/* A whole file of an older version says the same as one of now. */
static void test_older_file(void **state)
{
    FILE *file = open_fixture("older-set");
    char text[8192] = "", *before, *after;
    struct conf now, older;
    struct berth_error err;

    (void)state;
    conf_init(&now);
    conf_init(&older);
    assert_int_equal(read_text(&now, LIVE_KEYS START_KEYS, &err), 0);
    assert_string_equal(now.older, "");
    assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
    fclose(file);
    strcat(text, NEWER_KEYS);
    if (read_text(&older, text, &err) < 0)
        fail_msg("%s", err.text);
    before = printed(&now);
    after = printed(&older);
    assert_string_equal(before, after);
    assert_non_null(strstr(older.older, "isolate_users (line 7) is grant = isolate=7, "));
    assert_non_null(strstr(older.older, " more"));
    assert_null(strchr(older.older, '\n'));
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
    char *mdoc = printed(NULL), line[128], value[] = "";
    size_t waiting = 0, for_tests = 0;

    (void)state;
    for (const struct conf_key *key = conf_key; key->name; key++) {
        conf_format_line(key, value, line, sizeof(line));
        assert_int_equal(count_of(START_KEYS, line), key->when == CONF_START);
        assert_int_equal(count_of(LIVE_KEYS, line), key->when == CONF_LIVE);
        waiting += key->when == CONF_START;
        for_tests += key->section == CONF_TEST;
    }
    assert_int_equal(count_of(mdoc, WAITS), waiting - for_tests);
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
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_keys_of_tests),
        cmocka_unit_test(test_print_reads_back),
        cmocka_unit_test(test_mdoc_names_every_key),
        cmocka_unit_test(test_older_defaults),
        cmocka_unit_test(test_older_file),
        cmocka_unit_test(test_reload),
        cmocka_unit_test(test_reload_knows_every_key),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
