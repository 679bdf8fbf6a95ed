/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor - `berthctl doctor`: one screen of what works on this node. Each check is made as
 * berthd would make it, by the same functions, with the rights of whoever asks. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/json.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/verb.h"
#include "packer/cli/options/options.h"
#include "packer/cli/doctor/doctor.h"
#include "packer/cli/common/verbs.h"
#include "packer/enforce/enforce.h"
#include "packer/ledger/ledger.h"
#include "packer/profiles/profiles.h"
#include "packer/system/run_program.h"
#include "enum_table.h"

#define PART_S 6 /* a part of berthctl answers within */

static const char *const TABLE(state_name, DOCTOR_STATES) = {
    ROW(DOCTOR_OK) = "ok",
    ROW(DOCTOR_WARN) = "warn",
    ROW(DOCTOR_ABSENT) = "absent",
    ROW(DOCTOR_OFF) = "off",
};
TABLE_COMPLETE(state_name);

/* ---- what is berth's own ---- */

static void check_privileges(struct doctor *doctor)
{
    if (geteuid() == 0)
        doctor_add(doctor, "privileges", DOCTOR_OK, "", "root");
    else
        doctor_add(doctor, "privileges", DOCTOR_WARN,
                   "the rows here say what this user may do; berthd runs as root", "user %u",
                   geteuid());
}

static void check_conf(struct doctor *doctor, const char *path)
{
    struct berth_error err;
    bool there = path || access(CONF_DEFAULT_PATH, F_OK) == 0;

    if (ctl_conf(path, &doctor->conf, &err) == 0)
        doctor_add(doctor, "configuration", DOCTOR_OK, "", "%.200s%s%s",
                   path ? path : CONF_DEFAULT_PATH, there ? "" : " is not there: the defaults hold",
                   doctor->conf.older[0] ? ", of an older version, which is read: berthd "
                                           "--print-config --changed prints it anew"
                                         : "");
    else
        doctor_add(doctor, "configuration", DOCTOR_ABSENT, "berthd does not start", "%.300s",
                   err.text);
    doctor_essential(doctor);
}

static void check_enforcement(struct doctor *doctor)
{
    const char *asked = conf_enforcement_name[doctor->conf.enforcement];
    struct enforce enforce;
    struct berth_error err;

    if (enforce_open(&enforce, &doctor->root, doctor->conf.cgroup_root, asked, &err) == 0) {
        doctor_add(doctor, "enforcement", DOCTOR_OK, "", "%s (enforcement = %s)", enforce.way->name,
                   asked);
        enforce_close(&enforce);
    } else
        doctor_add(doctor, "enforcement", DOCTOR_ABSENT,
                   "berthd does not start, unless with enforcement = dryrun", "%.300s", err.text);
    doctor_essential(doctor);
}

/* The part of berthctl that runs programs under valgrind knows whether it can. */
static void check_valgrind(struct doctor *doctor)
{
    static const char without[] = "berthctl profile cannot measure programs";
    char path[PATH_MAX], said[256] = "";
    char tracer[] = "tracer", *const asks[] = {path, tracer, NULL};
    struct berth_error err;

    if (ctl_part_find("berth-probe", path, &err) < 0)
        doctor_add(doctor, "valgrind", DOCTOR_ABSENT, without, "berth-probe %.200s", err.text);
    else if (run_program(asks, RUN_FIRST_OUTPUT, PART_S, NULL, said, sizeof(said)) != 0)
        doctor_add(doctor, "valgrind", DOCTOR_ABSENT, without, "%s", said);
    else
        doctor_add(doctor, "valgrind", DOCTOR_OK, "", "%s", said);
}

static int count_profile(const struct profile *profile, void *arg)
{
    (void)profile;
    ++*(size_t *)arg;
    return 0;
}

/* Says how many profiles there are. A user who may not read them is told nothing of what berthd,
 * which may, knows by them. */
static void check_profiles(struct doctor *doctor)
{
    static const char without[] = "every program is placed as neutral";
    const char *path = doctor->conf.profile_db;
    bool theirs = access(path, F_OK) == 0 && access(path, R_OK) < 0;
    struct profiles *store;
    struct berth_error err;
    size_t n = 0;

    if (theirs) {
        doctor_add(doctor, "profiles", DOCTOR_OK, "", "%.200s, which this user may not read", path);
        return;
    }
    if (profiles_open(&store, path, false, &err) < 0) {
        doctor_add(doctor, "profiles", DOCTOR_ABSENT, without, "%.300s", err.text);
        return;
    }
    if (profiles_each(store, NULL, count_profile, &n, &err) < 0)
        doctor_add(doctor, "profiles", DOCTOR_ABSENT, without, "%.300s", err.text);
    else
        doctor_add(doctor, "profiles", n ? DOCTOR_OK : DOCTOR_WARN, without,
                   "%zu profiles in %.200s", n, path);
    profiles_close(store);
}

static int ignore(const struct ledger_record *record, void *arg)
{
    (void)record, (void)arg;
    return 0;
}

/* Writes ", 3 records wait"; "" where this user may not look. */
static void describe_waiting(const struct doctor *doctor, char *text, size_t size)
{
    size_t n;

    text[0] = '\0';
    if (ledger_count_waiting(&doctor->conf, &n, NULL) < 0)
        return;
    snprintf(text, size, ", %zu record%s wait%s", n, n == 1 ? "" : "s", n == 1 ? "s" : "");
}

static void check_ledger(struct doctor *doctor)
{
    const struct conf *conf = &doctor->conf;
    const struct ledger_filter none = {.since = INT64_MAX};
    struct berth_error err;
    char waiting[64];

    if (strcmp(conf->ledger, "off") == 0) {
        doctor_add(doctor, "ledger", DOCTOR_ABSENT,
                   "no records of steps are kept: berthctl report has nothing to report", "off");
        return;
    }
    describe_waiting(doctor, waiting, sizeof(waiting));
    if (ledger_read(conf->ledger, conf->ledger_defaults, &none, ignore, NULL, &err) == 0)
        doctor_add(doctor, "ledger", DOCTOR_OK, "", "%.200s%s", conf->ledger, waiting);
    else
        doctor_add(doctor, "ledger", DOCTOR_WARN,
                   "records of steps wait in the queue until it can be written; it is made when "
                   "the first step has ended",
                   "%.220s%s", err.text, waiting);
}

/* ---- the list ---- */

/* Has this user found out what the running berthd knows better? */
static bool is_outdone(const struct doctor *doctor, const struct doctor_row *row)
{
    static const char *const by_berthd[] = {"bandwidth",   "counters", "meters",
                                            "enforcement", "ledger",   "privileges"};

    for (size_t i = 0; doctor->told && i < sizeof(by_berthd) / sizeof(by_berthd[0]); i++)
        if (strncmp(row->name, by_berthd[i], strlen(by_berthd[i])) == 0)
            return true;
    return false;
}

static bool missing(const struct doctor *doctor, const struct doctor_row *row)
{
    return row->essential && row->state != DOCTOR_OK && row->state != DOCTOR_OFF &&
           !is_outdone(doctor, row);
}

static int print_json(const struct doctor *doctor)
{
    struct json_object *object = json_object_new_object(), *gone = json_object_new_array();
    struct json_object *checks = json_object_new_array();
    bool works;

    for (size_t i = 0; i < doctor->n; i++) {
        const struct doctor_row *row = &doctor->row[i];
        struct json_object *check = json_object_new_object();

        json_add_text(check, "name", row->name);
        json_add_text(check, "state", state_name[row->state]);
        json_add_bool(check, "essential", row->essential);
        json_add_text(check, "found", row->found);
        json_add_text(check, "without", row->state == DOCTOR_OK ? NULL : row->without);
        json_append(checks, check);
        if (missing(doctor, row))
            json_append(gone, json_object_new_string(row->name));
    }
    works = json_object_array_length(gone) == 0;
    json_add_bool(object, "works", works);
    json_add(object, "missing", gone);
    json_add(object, "checks", checks);
    return ctl_print_json(object) != 0 || !works;
}

#define FOUND_AT 34 /* the column where what was found begins */

/* Prints a row, wrapped to the terminal: what stands at its end is what to do. */
static void print_row(const struct doctor_row *row, size_t columns)
{
    char title[FOUND_AT], so[512];

    snprintf(title, sizeof(title), "%-24s  %-6s", row->name, state_name[row->state]);
    ctl_put_paragraph(stdout, title, FOUND_AT, row->found, columns);
    if (row->state == DOCTOR_OK || row->state == DOCTOR_OFF)
        return;
    snprintf(so, sizeof(so), "so: %s", row->without);
    ctl_put_paragraph(stdout, "", FOUND_AT + 2, so, columns);
}

/* What a row means for berth. */
enum verdict { STOPS, WORSE, FINE, OFF, VERDICTS, OUTDONE };

static enum verdict judge(const struct doctor *doctor, const struct doctor_row *row)
{
    if (is_outdone(doctor, row))
        return OUTDONE;
    if (missing(doctor, row))
        return STOPS;
    return row->state == DOCTOR_OK ? FINE : row->state == DOCTOR_OFF ? OFF : WORSE;
}

/* Writes the names of the rows of a verdict as "a, b, c". Returns whether there is one. */
static bool list_names(const struct doctor *doctor, enum verdict verdict, char *list, size_t size)
{
    size_t used = 0;

    list[0] = '\0';
    for (size_t i = 0; i < doctor->n && used < size; i++)
        if (judge(doctor, &doctor->row[i]) == verdict)
            used += (size_t)snprintf(list + used, size - used, "%s%s", used ? ", " : "",
                                     doctor->row[i].name);
    return used > 0;
}

/* Prints the rows of a verdict below its title, or, where nobody has to do anything about them and
 * --all was not given, their names. */
static void print_verdict(const struct doctor *doctor, enum verdict verdict, const char *title,
                          size_t columns)
{
    char list[2048];

    if (!list_names(doctor, verdict, list, sizeof(list)))
        return;
    if (verdict >= FINE && !doctor->all) {
        ctl_put_paragraph(stdout, title, 20, list, columns ? columns : 80);
        return;
    }
    printf("%s\n", title);
    for (size_t i = 0; i < doctor->n; i++)
        if (judge(doctor, &doctor->row[i]) == verdict)
            print_row(&doctor->row[i], columns);
}

static int print_rows(const struct doctor *doctor)
{
    static const char *const TABLE(title, VERDICTS) = {
        ROW(STOPS) = "stops berth",
        ROW(WORSE) = "berth does less",
        ROW(FINE) = "fine",
        ROW(OFF) = "off, as configured",
    };
    TABLE_COMPLETE(title);
    size_t columns = ctl_columns();
    char list[2048];

    for (enum verdict verdict = 0; verdict < VERDICTS; verdict++)
        print_verdict(doctor, verdict, title[verdict], columns);
    if (list_names(doctor, STOPS, list, sizeof(list)))
        return ctl_fail("doctor", "berth cannot place steps here: see %s", list);
    return 0;
}

static int examine(struct doctor *doctor, const char *conf, bool json)
{
    struct berth_error err;

    if (rootfs_open(&doctor->root, "/", &err) < 0)
        return ctl_fail("doctor", "%s", err.text);
    check_privileges(doctor);
    check_conf(doctor, conf);
    doctor_slurm(doctor);
    doctor_hardware(doctor);
    doctor_movers(doctor);
    check_enforcement(doctor);
    check_valgrind(doctor);
    check_profiles(doctor);
    check_ledger(doctor);
    doctor_berthd(doctor);
    rootfs_close(&doctor->root);
    return json ? print_json(doctor) : print_rows(doctor);
}

struct args {
    const char *conf, *socket; /* NULL: not given */
    bool json, all;
};

static const struct ctl_option option_rows[] = {
    {"all", 'a', NULL, "show each row, also of what is fine or switched off",
     CTL_FLAG(struct args, all)},
    {"json", 0, NULL, "{\"works\":...,\"missing\":[...],\"checks\":[...]}",
     CTL_FLAG(struct args, json)},
    {"config", 0, "FILE", "the configuration to check (" CONF_DEFAULT_PATH ")",
     CTL_TEXT(struct args, conf)},
    CTL_OPTION_SOCKET(struct args),
};
static const struct ctl_options options = {
    .verb = "doctor",
    .synopsis = "[--all] [--json] [--config FILE] [--socket PATH]",
    .about = "What stops berth on this node, what makes it do less, and what is fine, as the "
             "running berthd\n"
             "found it. Exit status 1: berth cannot place steps here, and the last line says why.",
    CTL_OPTIONS(option_rows),
};

int ctl_doctor(int argc, char **argv)
{
    struct args args = {0};
    int status = ctl_options_read(&options, argc, argv, &args);
    struct doctor doctor = {.socket = args.socket, .conf_path = args.conf, .all = args.all};

    return status >= 0 ? status : examine(&doctor, args.conf, args.json);
}
