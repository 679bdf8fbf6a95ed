/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fields - see fields.h; names and widths as sacct has them where it has the field */
#include "packer/base/nearest.h"
#include "packer/report/fields.h"
#include "enum_table.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NUMBER(name, width, key, form, index)                                                      \
    {                                                                                              \
        name, width, key, REPORT_FORM_##form, REPORT_##index, false                                \
    }
#define SAME(name, width, key, form, index)                                                        \
    {                                                                                              \
        name, width, key, REPORT_FORM_##form, REPORT_##index, true                                 \
    }
#define TEXT(name, width, key, index) NUMBER(name, width, key, TEXT, index)

static const struct report_field by_hand[] = {
    SAME("ConsumedEnergy", 14, "energy_j", ENERGY, ENERGY),
    SAME("ConsumedEnergyRaw", 17, "energy_j", ENERGY_RAW, ENERGY),
    NUMBER("CO2", 10, "co2_g", CO2, CO2),
    SAME("CoreHours", 10, "core_hours", HOURS, CPU_TIME_S),
    NUMBER("Cost", 12, "cost", COST, COST),
    TEXT("CountersSource", 14, "counters_source", COUNTERS_SOURCE),
    NUMBER("CPUTime", 11, "cpu_time_s", SPAN, CPU_TIME_S),
    SAME("CPUTimeRAW", 10, "cpu_time_s", WHOLE, CPU_TIME_S),
    {"Currency", 8, "currency", REPORT_FORM_CURRENCY, 0, false},
    {"DRAM", 10, "dram_j", REPORT_FORM_ENERGY, ENERGY_DRAM, false},
    SAME("ElapsedRaw", 10, "elapsed_s", WHOLE, ELAPSED_S),
    {"End", 19, "end", REPORT_FORM_END, 0, false},
    NUMBER("Energy", 10, "energy_j", ENERGY, ENERGY),
    SAME("EnergyRaw", 17, "energy_j", ENERGY_RAW, ENERGY),
    {"ExitCode", 8, "exit_code", REPORT_FORM_EXIT, 0, false},
    {"Group", -12, "group", REPORT_FORM_GROUP, 0, true},
    {"Idle", 10, "idle_j", REPORT_FORM_ENERGY, REPORT_IDLE, false},
    {"JobID", -12, "job_id", REPORT_FORM_JOB_ID, 0, false},
    {"JobIDRaw", -12, "job_id_raw", REPORT_FORM_JOB_ID_RAW, 0, false},
    NUMBER("Jobs", 8, "job_count", WHOLE, JOBS),
    {"Metered", 9, "metered", REPORT_FORM_METERED, 0, false},
    SAME("NCPUS", 10, "alloc_cpus", WHOLE, CORES_GIVEN),
    NUMBER("NNodes", 8, "nnodes", WHOLE, NNODES),
    {"Node", 10, "node_j", REPORT_FORM_ENERGY, ENERGY_NODE, false},
    TEXT("NodeList", 15, "node_list", NODES),
    {"Package", 10, "package_j", REPORT_FORM_ENERGY, ENERGY_PACKAGE, false},
    {"Records", 8, "records", REPORT_FORM_RECORDS, 0, false},
    {"Start", 19, "start", REPORT_FORM_START, 0, false},
    {"State", 10, "state", REPORT_FORM_STATE, 0, false},
    NUMBER("Steps", 8, "step_count", WHOLE, STEPS),
    NUMBER("TotalCPU", 10, "total_cpu_s", TOTAL_CPU, USER_S),
    NUMBER("UnusedHours", 11, "unused_core_hours", HOURS, UNUSED_S),
    NUMBER("WaitedHours", 11, "waited_core_hours", HOURS, WAITED_S),
};

/* What facts.def has for report. */
static const struct report_field of_facts[] = {
#define FACT_COLUMN(ID, name, width, key, form, parts) NUMBER(name, width, key, form, ID),
#define FACT_WORD_COLUMN(ID, name, width, key, parts) TEXT(name, width, key, ID),
#include "packer/fact/facts.def"
};

#define BY_HAND (sizeof(by_hand) / sizeof(by_hand[0]))
#define OF_FACTS (sizeof(of_facts) / sizeof(of_facts[0]))
#define FIELDS (BY_HAND + OF_FACTS)

/* Puts a field behind the last of n whose name comes before its own. */
static void insert(struct report_field *all, size_t n, const struct report_field *field)
{
    while (n > 0 && strcasecmp(all[n - 1].name, field->name) > 0)
        n--;
    memmove(&all[n + 1], &all[n], (FIELDS - n - 1) * sizeof(*all));
    all[n] = *field;
}

/* All FIELDS, in the order of their names: it is that of the columns, and which one a shortened
 * name means. */
static const struct report_field *fields(void)
{
    static struct report_field all[FIELDS];

    if (all[0].name)
        return all;
    memcpy(all, by_hand, sizeof(by_hand));
    for (size_t i = 0; i < OF_FACTS; i++)
        insert(all, BY_HAND + i, &of_facts[i]);
    return all;
}

const char *const TABLE(report_unit_name, REPORT_UNITS + 1) = {
    ROW(REPORT_UNIT_AUTO) = "auto", ROW(REPORT_UNIT_J) = "J",     ROW(REPORT_UNIT_KJ) = "kJ",
    ROW(REPORT_UNIT_MJ) = "MJ",     ROW(REPORT_UNIT_KWH) = "kWh", ROW(REPORT_UNIT_MWH) = "MWh",
    ROW(REPORT_UNITS) = NULL,
};
TABLE_COMPLETE(report_unit_name);

static const struct report_field *find_field(const char *name, size_t length)
{
    const struct report_field *field = fields();

    for (size_t i = 0; i < FIELDS; i++)
        if (strlen(field[i].name) == length && strncasecmp(field[i].name, name, length) == 0)
            return &field[i];
    for (size_t i = 0; i < FIELDS && length; i++)
        if (strncasecmp(field[i].name, name, length) == 0)
            return &field[i];
    return NULL;
}

static struct report_column column_of(const struct report_field *of)
{
    return (struct report_column){of, of->width, of->name, of->key};
}

#define WIDTH_MAX 512

static int no_field(const char *text, size_t length, struct berth_error *err)
{
    char name[101], meant[NEAREST_SAY_MAX];
    struct nearest nearest;

    snprintf(name, sizeof(name), "%.*s", (int)(length < 100 ? length : 100), text);
    nearest = nearest_begin(name);
    for (size_t i = 0; i < FIELDS; i++)
        nearest_try(&nearest, fields()[i].name);
    return berth_error_set(err, "no such field: '%s'%s (see --helpformat)", name,
                           nearest_say(&nearest, meant));
}

/* "FIELD%-20" of so many characters. */
static int parse_one(const char *text, size_t length, struct report_column *column,
                     struct berth_error *err)
{
    const char *percent = memchr(text, '%', length);
    size_t name = percent ? (size_t)(percent - text) : length;
    const struct report_field *of = find_field(text, name);
    char *end;
    long width;

    if (!of)
        return no_field(text, name, err);
    *column = column_of(of);
    if (!percent)
        return 0;
    errno = 0;
    width = strtol(percent + 1, &end, 10);
    if (errno || end != text + length || end == percent + 1 || isspace((unsigned char)percent[1]) ||
        width == 0 || width > WIDTH_MAX || width < -WIDTH_MAX)
        return berth_error_set(err, "%.*s: a width from 1 to %d expected, or a negative one",
                               (int)(length < 100 ? length : 100), text, WIDTH_MAX);
    column->width = (int)width;
    return 0;
}

/* What stands before all others, as a bill has it. */
static const char *const leading[] = {"JobID", "User",   "Account", "Start",
                                      "End",   "Energy", "Cost",    "Currency"};
#define LEADING (sizeof(leading) / sizeof(leading[0]))

static bool leads(const struct report_field *field)
{
    for (size_t i = 0; i < LEADING; i++)
        if (strcmp(field->name, leading[i]) == 0)
            return true;
    return false;
}

int report_columns_all(struct report_column **columns, size_t *n, struct berth_error *err)
{
    const struct report_field *field = fields();
    struct report_column *column = calloc(FIELDS, sizeof(*column));

    if (!column)
        return berth_error_set(err, "%m");
    for (*n = 0; *n < LEADING; ++*n)
        column[*n] = column_of(find_field(leading[*n], strlen(leading[*n])));
    for (size_t i = 0; i < FIELDS; i++)
        if (!field[i].again && !leads(&field[i]))
            column[(*n)++] = column_of(&field[i]);
    *columns = column;
    return 0;
}

struct report_column report_column_group(size_t i)
{
    static const struct report_field field[REPORT_KEYS_MOST] = {
        {"Group", -12, "group", REPORT_FORM_GROUP, 0, true},
        {"Group", -12, "group", REPORT_FORM_GROUP, 1, true},
        {"Group", -12, "group", REPORT_FORM_GROUP, 2, true},
    };

    return column_of(&field[i]);
}

bool report_field_is_text(const struct report_field *field)
{
    return field->form == REPORT_FORM_TEXT || field->form == REPORT_FORM_GROUP ||
           field->form == REPORT_FORM_CURRENCY;
}

bool report_field_is_whole(const struct report_field *field)
{
    return field->form != REPORT_FORM_TEXT && field->form != REPORT_FORM_STATE;
}

int report_columns_parse(const char *format, struct report_column **columns, size_t *n,
                         struct berth_error *err)
{
    size_t room = 1;
    struct report_column *column;

    if (strcasecmp(format, "all") == 0)
        return report_columns_all(columns, n, err);
    for (const char *c = format; *c; c++)
        room += *c == ',';
    column = calloc(room, sizeof(*column));
    if (!column)
        return berth_error_set(err, "%m");
    *n = 0;
    for (const char *at = format;; at++) {
        size_t length = strcspn(at, ",");

        if (length && parse_one(at, length, &column[(*n)++], err) < 0) {
            free(column);
            return -1;
        }
        at += length;
        if (!*at)
            break;
    }
    if (*n == 0) {
        free(column);
        return berth_error_set(err, "names of fields expected (see --helpformat)");
    }
    *columns = column;
    return 0;
}

void report_fields_print(FILE *out)
{
    const struct report_field *field = fields();

    for (size_t i = 0; i < FIELDS; i++)
        fprintf(out, "%-19s%s", field[i].name, i % 4 == 3 || i + 1 == FIELDS ? "\n" : " ");
}
