/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf - see conf.h.
 *
 * Everything about a key stands once, in keys[]. */
#include "packer/conf/conf.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/ini_file.h"
#include "packer/conf/address.h"
#include "packer/conf/watts.h"
#include "packer/wire/wire.h"

enum type {
    TYPE_PATH,
    TYPE_NAME,
    TYPE_TEXT,
    TYPE_ADDRESS, /* of conf/address.h */
    TYPE_WORDS,
    TYPE_CHOICE,
    TYPE_NUMBER,
    TYPE_COUNT,
    TYPE_TIME,
    TYPE_WATTS
};

/* Whether a berthd that runs takes a new value over. */
enum when { START, LIVE };

struct key {
    const char *name;
    enum when when;
    const char *initial; /* the default, as a file would have it */
    enum type type;
    const char *unit;        /* for people; "" none */
    double min, max;         /* of NUMBER, COUNT and TIME (in ms) */
    const char *const *word; /* of WORDS and CHOICE, NULL at its end */
    size_t offset, size;     /* of the field in struct conf */
    const char *help;
};

/* From type to word. */
#define PATH TYPE_PATH, "", 0, 0, NULL
#define NAME TYPE_NAME, "", 0, 0, NULL
#define TEXT TYPE_TEXT, "", 0, 0, NULL
#define ADDRESS TYPE_ADDRESS, "", 0, 0, NULL
#define WATTS TYPE_WATTS, "", 0, 0, NULL
#define WORDS(words) TYPE_WORDS, "", 0, 0, words
#define CHOICE(words) TYPE_CHOICE, "", 0, 0, words
#define NUMBER(unit, min, max) TYPE_NUMBER, unit, min, max, NULL
#define COUNT(unit, min, max) TYPE_COUNT, unit, min, max, NULL
#define TIME(min, max) TYPE_TIME, "ms or s", min, max, NULL
#define FIELD(name) offsetof(struct conf, name), sizeof(((struct conf *)NULL)->name)

static const char *const option_words[] = {
    "off",   "auto",         "observe", "isolate", "edp",     "size",    "policy",
    "cores", "max-slowdown", "mem",     "tag",     "require", "verbose", NULL};
const char *const conf_enforcement_name[] = {"auto", "cgroup1", "cgroup2", "dryrun", NULL};
static const char *const policy_words[] = {
    [WIRE_POLICY_DI] = "di", [WIRE_POLICY_DIO_POWER] = "dio-power", NULL};
static const char *const target_words[] = {"stderr", "syslog", NULL};
static const char *const counters_words[] = {"perf", "resctrl", "software", NULL};
static const char *const energy_words[] = {"powercap", "perf", "hwmon", NULL};
static const char *const switch_words[] = {"off", "on", NULL};
static const char *const level_words[] = {"error", "warn", "info", "debug", NULL};

static const struct key keys[] = {
    {"socket", START, WIRE_SOCKET_DEFAULT, PATH, FIELD(socket),
     "Unix socket that the plugin and berthctl connect to."},
    {"state_dir", START, RUNSTATEDIR "/berth", PATH, FIELD(state_dir),
     "Folder of the journal. It has to outlive berthd, not the kernel: a tmpfs is right."},
    {"profile_db", START, LOCALSTATEDIR "/lib/berth/profiles.db", PATH, FIELD(profile_db),
     "Profile store, written by berthctl profile and read at each launch."},
    {"machine_profile", START, LOCALSTATEDIR "/lib/berth/machine.json", PATH,
     FIELD(machine_profile),
     "What this node's memory can do, written by berthctl calibrate and read at start. Without it "
     "no step is sized by bandwidth."},
    {"topology", START, "", TEXT, FIELD(topology),
     "Empty: this machine. Else an hwloc XML file or an hwloc synthetic string (for tests)."},
    {"cgroup_root", START, "/sys/fs/cgroup", PATH, FIELD(cgroup_root),
     "Where cgroupfs is mounted."},
    {"cgroup_name", START, "berth", NAME, FIELD(cgroup_name),
     "Name of berth's own cgroup; each berthd of a host that runs several needs another."},
    {"allow", LIVE,
     "off,auto,observe,isolate,edp,size,policy,cores,max-slowdown,mem,tag,require,verbose",
     WORDS(option_words), FIELD(allow),
     "What users may ask for with --contention-aware; off, require and verbose always may be."},
    {"isolate_users", LIVE, "", WORDS(NULL), FIELD(isolate_users),
     "Users, by name or number, who may ask for isolate (* is all), and so in the next three keys. "
     "By default nobody: it is their neighbours who pay."},
    {"isolate_groups", LIVE, "", WORDS(NULL), FIELD(isolate_groups),
     "Groups, by name or number, likewise."},
    {"isolate_accounts", LIVE, "", WORDS(NULL), FIELD(isolate_accounts),
     "Slurm accounts, likewise. These and QOS are as the step's environment says: a user can "
     "change that."},
    {"isolate_qos", LIVE, "", WORDS(NULL), FIELD(isolate_qos), "Slurm QOS, likewise."},
    {"policy", LIVE, "di", CHOICE(policy_words), FIELD(policy),
     "How steps are placed that ask for no policy: di spreads them over packages and caches, "
     "dio-power clusters them on few, so that the other packages sleep, where that does not cost "
     "more than it saves (edp in berth(7))."},
    {"enforcement", START, "auto", CHOICE(conf_enforcement_name), FIELD(enforcement),
     "How a placement is made to hold; auto takes the first that this node can do, dryrun moves "
     "nothing."},
    {"log", LIVE, "stderr", CHOICE(target_words), FIELD(log), "Where the log goes."},
    {"log_level", LIVE, "info", CHOICE(level_words), FIELD(log_level),
     "Least urgent line that is logged."},
    {"devil_miss_pmi", LIVE, "2000", NUMBER("cache misses per million instructions", 0, 1e6),
     FIELD(devil_miss_pmi), "A program that misses at least so often is a devil."},
    {"neutral_miss_pmi", LIVE, "1000", NUMBER("cache misses per million instructions", 0, 1e6),
     FIELD(neutral_miss_pmi),
     "Where a program without a profile stands in the order of the placement."},
    {"sweep", LIVE, "5s", TIME(100, 3600e3), FIELD(sweep_ms),
     "How often steps that vanished without a word are looked for."},
    {"history", LIVE, "256", COUNT("steps", 0, 65536), FIELD(history),
     "Ended steps that berthctl explain still knows."},
    {"counters", START, "perf,resctrl,software", WORDS(counters_words), FIELD(counters),
     "Ways to count what steps do; each is used where the node offers it. Empty: nothing is "
     "counted."},
    {"counters_replay", START, "", TEXT, FIELD(counters_replay),
     "A file of samples (berthctl record) played instead of counting (for tests and studies)."},
    {"event_table", START, PKGDATADIR "/events.conf", PATH, FIELD(event_table),
     "Hardware events of each micro-architecture."},
    {"lock_time", START, "off", CHOICE(switch_words), FIELD(lock_time),
     "Measure how long threads wait for locks, by eBPF: every system call of the node then takes "
     "a little longer."},
    {"reuse_sampling", START, "off", CHOICE(switch_words), FIELD(reuse_sampling),
     "Estimate a step's stack-distance profile from sampled accesses (PEBS, IBS) and debug "
     "registers, which a debugger may then find taken. Not tested on such hardware."},
    {"startup", LIVE, "1s", TIME(0, 3600e3), FIELD(startup_ms),
     "How long a step starts up: that time is in no profile."},
    {"first_window", LIVE, "500ms", TIME(10, 3600e3), FIELD(first_window_ms),
     "The first window of counting after it, which classes a step without a profile."},
    {"window", LIVE, "1s", TIME(100, 3600e3), FIELD(window_ms), "Every further window."},
    {"phase_change", LIVE, "0.25", NUMBER("fraction", 0.01, 100), FIELD(phase_change),
     "Two windows in a row that lie off the average by more than that, and by more than four "
     "standard deviations, begin a new phase."},
    {"learn", LIVE, "on", CHOICE(switch_words), FIELD(learn),
     "Store what was counted, so that the program's next run is known at launch."},
    {"profile_age", LIVE, "90", COUNT("days", 0, 36500), FIELD(profile_age_days),
     "Counted samples older than that are forgotten; 0: never."},
    {"replace", LIVE, "on", CHOICE(switch_words), FIELD(replace),
     "Move running steps when what is counted says that another placement is better (DIO)."},
    {"replace_horizon", LIVE, "60s", TIME(1000, 86400e3), FIELD(replace_horizon_ms),
     "A move must be worth its cost within that time."},
    {"replace_limit", LIVE, "20", COUNT("steps per minute", 0, 600), FIELD(replace_limit),
     "At most so many running steps are moved in a minute."},
    {"regret", LIVE, "0.05", NUMBER("fraction", 0, 1), FIELD(regret),
     "A step that is slower after a move by more than that, and more than chance, is put back."},
    {"regret_time", LIVE, "600s", TIME(0, 86400e3), FIELD(regret_ms),
     "For how long a move that was put back is not tried again."},
    {"memory_rate", LIVE, "1000", COUNT("MB/s", 0, 1e6), FIELD(memory_rate),
     "How fast a step's memory follows it to another NUMA node, at most. 0: it stays where it is."},
    {"probe", START, "off", CHOICE(switch_words), FIELD(probe),
     "On nodes without cache counters, time memory accesses now and then on an idle core of a "
     "cache that belongs to no job, to see how much steps disturb it; at most 1 % of one core."},
    {"probe_every", LIVE, "30s", TIME(1000, 3600e3), FIELD(probe_every_ms),
     "The least time between two probes of a cache. None begins before 100 times probe_time have "
     "passed since the last one."},
    {"probe_time", LIVE, "20ms", TIME(1, 1000), FIELD(probe_time_ms),
     "How long one probe may run, its start and the making of its buffer (half of the cache, at "
     "most 32 MiB) included."},
    {"metrics", START, "off", ADDRESS, FIELD(metrics),
     "Where metrics are served for Prometheus (HTTP): off, unix:PATH, 127.0.0.1:PORT or "
     "[::1]:PORT. Series of steps, which are of all users, are on the socket, and on a port only "
     "if everybody may read them."},
    {"metrics_group", START, "", TEXT, FIELD(metrics_group),
     "Group that may read the socket and the text file of the metrics, beside root; * is "
     "everybody, also by a port."},
    {"metrics_steps", LIVE, "200", COUNT("steps", 0, 2000), FIELD(metrics_steps),
     "At most so many steps have series of their own in the metrics."},
    {"metrics_textfile", START, "", TEXT, FIELD(metrics_textfile),
     "A file of the metrics for node_exporter's textfile collector, as "
     "/var/lib/prometheus/node-exporter/berth.prom. Empty: none."},
    {"metrics_interval", LIVE, "15s", TIME(1000, 3600e3), FIELD(metrics_interval_ms),
     "How often that file is written."},
    {"ledger", START, "sqlite:" LOCALSTATEDIR "/lib/berth/ledger.db", TEXT, FIELD(ledger),
     "Where a record of each step that has ended is kept: sqlite:PATH, "
     "mariadb://[USER@]HOST[:PORT]/DATABASE, mariadb://[USER@]/DATABASE?socket=PATH, or off."},
    {"ledger_defaults", START, "", TEXT, FIELD(ledger_defaults),
     "MariaDB option file, its group [berth]: password, TLS."},
    {"ledger_queue", START, LOCALSTATEDIR "/lib/berth/ledger.queue", PATH, FIELD(ledger_queue),
     "Folder of the records that wait for the ledger; one berthd's own."},
    {"ledger_group", START, "", TEXT, FIELD(ledger_group),
     "A group that may read a ledger in a file. Empty: only root may."},
    {"admin_comment", START, "off", CHOICE(switch_words), FIELD(admin_comment),
     "Write a job's figures into its AdminComment at slurmdbd when it has ended: berthd(8), "
     "ACCOUNTING. With a ledger in a file, jobs of one node only."},
    {"comment_program", START, "", TEXT, FIELD(comment_program),
     "The program that does so. Empty: berth-comment, where it was installed."},
    {"energy", START, "powercap,perf,hwmon", WORDS(energy_words), FIELD(energy),
     "Ways to read the node's energy meters; a zone is read by the first of that order that has "
     "it: RAPL by powercap, RAPL by perf, sensors of hwmon. Empty: none is read."},
    {"energy_interval", LIVE, "1s", TIME(100, 20e3), FIELD(energy_interval_ms),
     "How often they are read and their energy is divided among the steps; where none runs, a "
     "tenth as often, but every 20 seconds."},
    {"energy_root", START, "/", PATH, FIELD(energy_root),
     "The meters' files are below this folder (a recorded tree, for tests)."},
    {"energy_model", START, "", WATTS, FIELD(energy_model),
     "What each package takes, where no meter says it, as idle=40W,core=6W or "
     "idle=40W,core=6W,dram=3W: idle (and dram) always, core for each CPU that is busy; with "
     ",sleep=10W, that much in the place of idle while nothing runs on the package, which also "
     "tells dio-power what clustering saves. Its figures are marked as a model's. Empty: what no "
     "meter says is not known."},
};
#define KEYS (sizeof(keys) / sizeof(keys[0]))

static void *field_of(struct conf *conf, const struct key *key)
{
    return (char *)conf + key->offset;
}

/* "a, b, c" */
static void list_words(const char *const *word, char *text, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; word[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", word[i]);
}

static int find_word(const char *const *word, const char *text, size_t length)
{
    for (int i = 0; word[i]; i++)
        if (strlen(word[i]) == length && memcmp(word[i], text, length) == 0)
            return i;
    return -1;
}

static int refuse_word(const struct key *key, const char *text, size_t length,
                       struct berth_error *err)
{
    char list[256];

    list_words(key->word, list, sizeof(list));
    return berth_error_set(err, "%s: '%.*s' is none of: %s", key->name, (int)length, text, list);
}

static bool is_name(const char *value)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

    return value[0] && value[strspn(value, letters)] == '\0';
}

/* ---- one setter for each shape of value: 0, or -1 and err without FILE:LINE ---- */

static int set_text(const struct key *key, char *field, const char *value, struct berth_error *err)
{
    if (key->type == TYPE_PATH && value[0] != '/')
        return berth_error_set(err, "%s: an absolute path expected, not '%s'", key->name, value);
    if (key->type == TYPE_NAME && !is_name(value))
        return berth_error_set(err, "%s: letters, digits, '_' and '-' expected, not '%s'",
                               key->name, value);
    if (strchr(value, '#') || value[0] == ';')
        return berth_error_set(err, "%s: a comment stands on a line of its own", key->name);
    if (strlen(value) >= key->size)
        return berth_error_set(err, "%s: longer than %zu bytes", key->name, key->size - 1);
    memcpy(field, value, strlen(value) + 1);
    return 0;
}

static int set_address(const struct key *key, char *field, const char *value,
                       struct berth_error *err)
{
    struct metrics_address address;
    struct berth_error why;

    if (metrics_address(value, &address, &why) < 0)
        return berth_error_set(err, "%s: %s", key->name, why.text);
    return set_text(key, field, value, err);
}

static int set_watts(const struct key *key, char *field, const char *value, struct berth_error *err)
{
    struct energy_watts watts;
    struct berth_error why;

    if (value[0] && energy_watts_parse(&watts, value, &why) < 0)
        return berth_error_set(err, "%s: %s", key->name, why.text);
    return set_text(key, field, value, err);
}

/* Each word must be known, where the key has a list of them; ours is kept without its blanks. */
static int set_words(const struct key *key, char *field, const char *value, struct berth_error *err)
{
    size_t used = 0;

    field[0] = '\0';
    for (const char *next = value; *next;) {
        const char *word = next + strspn(next, ", \t");
        size_t length = strcspn(word, ", \t");

        next = word + length;
        if (length == 0)
            break;
        if (key->word && find_word(key->word, word, length) < 0)
            return refuse_word(key, word, length, err);
        if (word[0] == '#' || word[0] == ';')
            return berth_error_set(err, "%s: a comment stands on a line of its own", key->name);
        if (used + length + 2 > key->size)
            return berth_error_set(err, "%s: longer than %zu bytes", key->name, key->size - 1);
        used += (size_t)sprintf(field + used, "%s%.*s", used ? "," : "", (int)length, word);
    }
    return 0;
}

static int set_choice(const struct key *key, void *field, const char *value,
                      struct berth_error *err)
{
    int word = find_word(key->word, value, strlen(value));

    if (word < 0)
        return refuse_word(key, value, strlen(value), err);
    *(unsigned *)field = (unsigned)word;
    return 0;
}

/* Milliseconds in one of a unit; 0 where it is no unit of the key. */
static double unit_scale(const struct key *key, const char *unit)
{
    if (key->type != TYPE_TIME)
        return *unit ? 0 : 1;
    return strcmp(unit, "ms") == 0 ? 1 : strcmp(unit, "s") == 0 ? 1000 : 0;
}

static int set_number(const struct key *key, void *field, const char *value,
                      struct berth_error *err)
{
    char *end;
    double number = strtod(value, &end), scale = unit_scale(key, end + strspn(end, " "));
    bool whole = key->type != TYPE_NUMBER;

    if (end == value || !isdigit((unsigned char)value[0]))
        return berth_error_set(err, "%s: a number expected, not '%s'", key->name, value);
    if (scale == 0)
        return berth_error_set(err, "%s: '%s' has a wrong unit%s", key->name, value,
                               key->type == TYPE_TIME ? " (ms or s expected, as 200ms or 5s)"
                                                      : " (a bare number expected)");
    number *= scale;
    if (!(number >= key->min && number <= key->max))
        return berth_error_set(err, "%s: '%s' is not between %.0f and %.0f%s", key->name, value,
                               key->min, key->max, key->type == TYPE_TIME ? " ms" : "");
    if (whole && floor(number) != number)
        return berth_error_set(err, "%s: '%s' is no whole number%s", key->name, value,
                               key->type == TYPE_TIME ? " of ms" : "");
    if (whole)
        *(uint64_t *)field = (uint64_t)number;
    else
        *(double *)field = number;
    return 0;
}

static int set_key(struct conf *conf, const struct key *key, const char *value,
                   struct berth_error *err)
{
    void *field = field_of(conf, key);

    switch (key->type) {
    case TYPE_PATH:
    case TYPE_NAME:
    case TYPE_TEXT:
        return set_text(key, field, value, err);
    case TYPE_ADDRESS:
        return set_address(key, field, value, err);
    case TYPE_WORDS:
        return set_words(key, field, value, err);
    case TYPE_CHOICE:
        return set_choice(key, field, value, err);
    case TYPE_WATTS:
        return set_watts(key, field, value, err);
    default:
        return set_number(key, field, value, err);
    }
}

void conf_init(struct conf *conf)
{
    memset(conf, 0, sizeof(*conf));
    for (size_t i = 0; i < KEYS; i++)
        set_key(conf, &keys[i], keys[i].initial, NULL);
}

/* ---- the file ---- */

struct reading {
    struct conf conf;    /* what is read, handed over only when all is well */
    unsigned seen[KEYS]; /* the line where each key was set; 0 not yet */
};

static int take_pair(void *arg, const struct ini_pair *pair, struct berth_error *err)
{
    struct reading *reading = arg;
    size_t i = 0;

    while (i < KEYS && strcmp(keys[i].name, pair->name) != 0)
        i++;
    if (pair->section[0])
        return berth_error_set(err, "section [%s]: berth.conf has no sections", pair->section);
    if (i == KEYS)
        return berth_error_set(err, "unknown key '%s' (berth.conf(5) lists them)", pair->name);
    if (reading->seen[i])
        return berth_error_set(err, "%s: set before, in line %u", pair->name, reading->seen[i]);
    reading->seen[i] = pair->line;
    return set_key(&reading->conf, &keys[i], pair->value, err);
}

int conf_read(struct conf *conf, const char *path, struct berth_error *err)
{
    struct reading reading = {.conf = *conf};
    int fd = ini_file_open(path, true, err); /* it decides what root does */

    if (fd < 0 || ini_file_read(fd, path, "KEY = VALUE", take_pair, &reading, err) < 0)
        return -1;
    *conf = reading.conf;
    return 0;
}

/* ---- values as text ---- */

static void format_value(const struct conf *conf, const struct key *key, char *text, size_t size)
{
    const void *field = (const char *)conf + key->offset;
    uint64_t ms;

    switch (key->type) {
    case TYPE_CHOICE:
        snprintf(text, size, "%s", key->word[*(const unsigned *)field]);
        break;
    case TYPE_NUMBER:
        snprintf(text, size, "%.15g", *(const double *)field);
        break;
    case TYPE_COUNT:
        snprintf(text, size, "%" PRIu64, *(const uint64_t *)field);
        break;
    case TYPE_TIME:
        ms = *(const uint64_t *)field;
        snprintf(text, size, "%" PRIu64 "%s", ms % 1000 ? ms : ms / 1000, ms % 1000 ? "ms" : "s");
        break;
    default:
        snprintf(text, size, "%s", (const char *)field);
    }
}

/* ---- a configuration that was read again ---- */

/* Adds "name = value" to a list of such. */
static void add_change(char *list, size_t size, const char *name, const char *value)
{
    size_t used = strlen(list);

    snprintf(list + used, size - used, "%s%s = %s", used ? ", " : "", name,
             value[0] ? value : "(empty)");
}

void conf_reload(struct conf *now, const struct conf *next, struct conf_changes *changes)
{
    char before[PATH_MAX], after[PATH_MAX];

    *changes = (struct conf_changes){"", ""};
    for (size_t i = 0; i < KEYS; i++) {
        const struct key *key = &keys[i];
        char *list = key->when == LIVE ? changes->taken : changes->waiting;

        format_value(now, key, before, sizeof(before));
        format_value(next, key, after, sizeof(after));
        if (strcmp(before, after) != 0)
            add_change(list, sizeof(changes->taken), key->name, after);
        if (key->when == LIVE)
            memcpy(field_of(now, key), (const char *)next + key->offset, key->size);
    }
}

/* ---- printing ---- */

/* "ms or s, 100 to 3600000 ms", "one of: a, b", or "" */
static void describe_type(const struct key *key, char *text, size_t size)
{
    char list[256];

    text[0] = '\0';
    if (key->word) {
        list_words(key->word, list, sizeof(list));
        snprintf(text, size, "%s: %s", key->type == TYPE_WORDS ? "Words" : "One of", list);
    } else if (key->type == TYPE_TIME) {
        snprintf(text, size, "Unit: %s (%.0fms to %.0fs)", key->unit, key->min, key->max / 1000);
    } else if (key->unit[0]) {
        snprintf(text, size, "Unit: %s (%.0f to %.0f)", key->unit, key->min, key->max);
    }
}

#define COMMENT 98 /* bytes of a line: inih reads no longer ones than 200 */

/* As comment lines, broken between words. */
static void print_comment(const char *text, FILE *out)
{
    size_t column = 0;

    while (*text) {
        size_t length = strcspn(text, " ");

        if (column && column + 1 + length > COMMENT) {
            fputc('\n', out);
            column = 0;
        }
        fprintf(out, "%s %.*s", column ? "" : "#", (int)length, text);
        column += (column ? 1 : 2) + length;
        text += length + strspn(text + length, " ");
    }
    fputc('\n', out);
}

void conf_print(const struct conf *conf, FILE *out)
{
    char text[PATH_MAX], type[512];

    fputs("# berth.conf - what berthd does on this node: see berth.conf(5)\n", out);
    for (size_t i = 0; i < KEYS; i++) {
        fputc('\n', out);
        print_comment(keys[i].help, out);
        describe_type(&keys[i], type, sizeof(type));
        if (type[0])
            print_comment(type, out);
        if (keys[i].when == START)
            print_comment("A change takes effect when berthd starts the next time.", out);
        format_value(conf, &keys[i], text, sizeof(text));
        fprintf(out, "%s =%s%s\n", keys[i].name, text[0] ? " " : "", text);
    }
}

/* mdoc wants each sentence on a line of its own. */
static void print_sentences(const char *text, FILE *out)
{
    for (; *text; text++) {
        bool ends = text[0] == '.' && text[1] == ' ';

        fputc(*text, out);
        if (ends)
            fputc('\n', out);
        text += ends;
    }
}

void conf_print_mdoc(FILE *out)
{
    char type[512];

    for (size_t i = 0; i < KEYS; i++) {
        describe_type(&keys[i], type, sizeof(type));
        fprintf(out, ".It Ic %s\n", keys[i].name);
        print_sentences(keys[i].help, out);
        fputc('\n', out);
        if (type[0])
            fprintf(out, "%s.\n", type);
        if (keys[i].initial[0])
            fprintf(out, "The default is\n.Ql %s .\n", keys[i].initial);
        else
            fputs("Empty by default.\n", out);
        if (keys[i].when == START)
            fputs("A change takes effect when berthd starts the next time.\n", out);
    }
}
