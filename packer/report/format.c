/* SPDX-License-Identifier: GPL-2.0-or-later */
/* format - writes what a row says in a column, for people and for programs: fields.h.
 *
 * A report has a million cells, and most are numbers: printf(3) took a third of its time, so whole
 * numbers are written here. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "packer/report/fields.h"
#include "packer/report/sacct_time.h"
#include "enum_table.h"

/* Writes a short text as printf(3) does. Returns its length. */
static size_t put(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static size_t put(char *text, const char *format, ...)
{
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(text, REPORT_NUMBER_MAX, format, args);
    va_end(args);
    return length < REPORT_NUMBER_MAX ? (size_t)length : REPORT_NUMBER_MAX - 1;
}

/* ---- numbers ---- */

/* Writes a number with so many digits at least. Returns where it ends. */
static char *add_whole(char *to, uint64_t value, int width)
{
    char digits[24];
    int n = 0;

    for (; value > 0 || n < width; value /= 10)
        digits[n++] = (char)('0' + value % 10);
    while (n > 0)
        *to++ = digits[--n];
    *to = '\0';
    return to;
}

/* Writes such a number behind a separator. */
static char *add_part(char *to, char separator, uint64_t value, int width)
{
    *to = separator;
    return add_whole(to + 1, value, width);
}

static size_t put_whole(int64_t value, char *text)
{
    char *to = text;

    if (value < 0)
        *to++ = '-';
    return (size_t)(add_whole(to, value < 0 ? -(uint64_t)value : (uint64_t)value, 1) - text);
}

/* A number with so many digits after the point, or as 1.234e+20 where it is too long. A half is
 * rounded up, and there is no "-0". */
static size_t put_fixed(double value, int digits, const char *unit, char *text)
{
    static const uint64_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
    uint64_t scaled;
    char *to = text;

    if (!(fabs(value) < 1e15))
        return put(text, "%.3e%s", value, unit);
    scaled = (uint64_t)llround(fabs(value) * (double)power[digits]);
    if (value < 0 && scaled > 0)
        *to++ = '-';
    to = add_whole(to, scaled / power[digits], 1);
    if (digits > 0)
        to = add_part(to, '.', scaled % power[digits], digits);
    return (size_t)(stpcpy(to, unit) - text);
}

/* Four digits that count, and a unit: of scale[i] <= value the greatest. */
static size_t put_scaled(double value, const double *scale, const char *const *unit, int n,
                         char *text)
{
    int i = n - 1;

    while (i > 0 && value < scale[i] * 0.99995)
        i--;
    value /= scale[i];
    return put_fixed(value,
                     value < 9.9995   ? 3
                     : value < 99.995 ? 2
                     : value < 999.95 ? 1
                                      : 0,
                     unit[i], text);
}

static const double TABLE(joules_of, REPORT_UNITS) = {
    ROW(REPORT_UNIT_AUTO) = 0, ROW(REPORT_UNIT_J) = 1,       ROW(REPORT_UNIT_KJ) = 1e3,
    ROW(REPORT_UNIT_MJ) = 1e6, ROW(REPORT_UNIT_KWH) = 3.6e6, ROW(REPORT_UNIT_MWH) = 3.6e9,
};
TABLE_COMPLETE(joules_of);

size_t report_format_energy(double joules, enum report_unit unit, char text[REPORT_NUMBER_MAX])
{
    text[0] = '\0';
    if (!(joules >= 0))
        return 0;
    if (unit == REPORT_UNIT_AUTO)
        return put_scaled(joules, joules_of + 1, report_unit_name + 1, REPORT_UNITS - 1, text);
    return put_scaled(joules, &joules_of[unit], &report_unit_name[unit], 1, text);
}

/* ---- times ---- */

/* [D-]HH:MM:SS */
static size_t put_clock(uint64_t s, char *text)
{
    char *to = text;

    if (s >= 86400) {
        to = add_whole(to, s / 86400, 1);
        *to++ = '-';
    }
    to = add_part(add_whole(to, s / 3600 % 24, 2), ':', s / 60 % 60, 2);
    return (size_t)(add_part(to, ':', s % 60, 2) - text);
}

/* As sacct: milliseconds where it took less than an hour, and where there are some. */
static size_t put_cpu(double seconds, char *text)
{
    uint64_t ms = (uint64_t)(seconds * 1e3), whole = ms / 1000;
    char *to;

    if (whole >= 3600 || ms % 1000 == 0)
        return put_clock(whole, text);
    to = add_part(add_whole(text, whole / 60, 2), ':', whole % 60, 2);
    return (size_t)(add_part(to, '.', ms % 1000, 3) - text);
}

/* ---- names ---- */

/* "12_3.batch", or the job's own number */
static size_t put_id(const struct report_row *row, bool raw, char *text)
{
    char name[WIRE_STEP_NAME_MAX] = "";
    const char *step = NULL;
    char *to;

    if (row->kind == REPORT_TOTAL)
        return 0;
    if (row->kind == REPORT_STEP) {
        wire_step_name(row->id, name);
        step = strchr(name, '.');
    }
    if (row->array_job && !raw)
        to = add_part(add_whole(text, row->array_job, 1), '_', row->array_task, 1);
    else
        to = add_whole(text, row->id.job, 1);
    return (size_t)(stpcpy(to, step ? step : "") - text);
}

static const char *state_of(const struct report_row *row)
{
    if (row->kind == REPORT_TOTAL || row->exit_status < 0)
        return "";
    return row->exit_status ? "FAILED" : "COMPLETED";
}

static size_t put_text(const char *from, char *text)
{
    size_t length = strlen(from);

    if (length >= REPORT_CELL_MAX)
        length = REPORT_CELL_MAX - 1;
    memcpy(text, from, length);
    text[length] = '\0';
    return length;
}

static size_t put_exit(const struct report_row *row, char *text)
{
    int status = row->exit_status;
    char *to;

    if (row->kind == REPORT_TOTAL || status < 0)
        return 0;
    to = add_whole(text, WIFSIGNALED(status) ? 0 : (uint64_t)WEXITSTATUS(status), 1);
    to = add_part(to, ':', WIFSIGNALED(status) ? (uint64_t)WTERMSIG(status) : 0, 1);
    return (size_t)(to - text);
}

/* ---- energy ---- */

/* Joules with all six digits: nothing is lost. */
static size_t put_joules(const struct report_energy *energy, char *text)
{
    if (!energy->metered)
        return 0;
    return (size_t)(add_part(add_whole(text, energy->j, 1), '.', energy->uj, 6) - text);
}

/* A sum that lacks some of its parts is known to be at least that much. */
static size_t put_at_least(const struct report_row *row, uint32_t metered, char *text)
{
    bool part = metered && metered < row->records;

    strcpy(text, part ? ">=" : "");
    return part ? 2 : 0;
}

static size_t put_energy(const struct report_row *row, const struct report_energy *energy,
                         enum report_unit unit, char *text)
{
    size_t length = put_at_least(row, energy->metered, text);

    return length + report_format_energy(report_energy_j(energy), unit, text + length);
}

static double kwh_of(const struct report_row *row)
{
    const struct report_energy *energy = &row->energy[REPORT_ENERGY];

    return energy->metered ? report_energy_j(energy) / joules_of[REPORT_UNIT_KWH] : NAN;
}

/* With two digits that count at least: what is below a cent has as many as that takes. */
static size_t put_money(double cost, const char *currency, char *text)
{
    int digits = 2;

    for (double least = 0.1; cost > 0 && cost < least * 0.995 && digits < 12; least /= 10)
        digits++;
    return put(text, "%.*f%s", digits, cost, currency ? currency : "");
}

static size_t put_grams(double grams, char *text)
{
    static const double scale[] = {1, 1e3, 1e6};
    static const char *const unit[] = {"g", "kg", "t"};

    return put_scaled(grams, scale, unit, 3, text);
}

static size_t put_terms(const struct report_row *row, enum report_form form,
                        const struct report_terms *terms, char *text)
{
    double value = row->number[form == REPORT_FORM_COST ? REPORT_COST : REPORT_CO2];
    size_t length;

    if (isnan(value))
        return 0;
    length = put_at_least(row, row->energy[REPORT_ENERGY].metered, text);
    return length + (form == REPORT_FORM_COST ? put_money(value, terms->currency, text + length)
                                              : put_grams(value, text + length));
}

static size_t put_metered(const struct report_row *row, char *text)
{
    return put(text, "%u/%u", row->energy[REPORT_ENERGY].metered, row->records);
}

/* ---- cells ---- */

static double number_of(const struct report_row *row, const struct report_field *field)
{
    if (field->form == REPORT_FORM_TOTAL_CPU)
        return row->number[REPORT_USER_S] + row->number[REPORT_SYSTEM_S];
    return row->number[field->index];
}

static size_t put_kib(double kib, char *text)
{
    bool mib = kib >= 1024 && fmod(kib, 1024) == 0;

    return put_fixed(mib ? kib / 1024 : kib, 0, mib ? "M" : "K", text);
}

/* Hours with three digits that count, and with one behind the point at least. */
static size_t put_hours(double seconds, char *text)
{
    double hours = seconds / 3600;

    return put_fixed(hours, fabs(hours) < 9.995 ? 3 : 1, "", text);
}

static size_t put_human(const struct report_row *row, const struct report_field *field,
                        double value, char *text)
{
    static const double scale[] = {1, 1e3, 1e6, 1e9, 1e12, 1e15};
    static const char *const byte[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    static const char *const watt[] = {"W", "kW", "MW"};
    static const char *const js[] = {"Js", "kJs", "MJs", "GJs", "TJs", "PJs"};
    size_t length = 0;

    if (isnan(value))
        return 0;
    switch (field->form) {
    case REPORT_FORM_SPAN:
        return put_clock((uint64_t)fmax(value, 0), text);
    case REPORT_FORM_HOURS:
        return put_hours(value, text);
    case REPORT_FORM_CPU:
    case REPORT_FORM_TOTAL_CPU:
        return put_cpu(fmax(value, 0), text);
    case REPORT_FORM_KIB:
        return put_kib(value, text);
    case REPORT_FORM_BYTES:
        return put_scaled(value, scale, byte, 6, text);
    case REPORT_FORM_WATT:
        return put_scaled(value, scale, watt, 3, text);
    case REPORT_FORM_EDP:
        length = put_at_least(row, row->energy[REPORT_ENERGY].metered, text);
        return length + put_scaled(value, scale, js, 6, text + length);
    case REPORT_FORM_TINY:
        return put(text, "%.3e", value);
    case REPORT_FORM_PERCENT:
        return put_fixed(value * 100, 1, "%", text);
    default:
        return put_fixed(value, 0, "", text);
    }
}

/* What is no number; SIZE_MAX where it is one. */
static size_t put_word(const struct report_row *row, const struct report_field *field,
                       const struct report_terms *terms, char *text)
{
    switch (field->form) {
    case REPORT_FORM_TEXT:
        return put_text(row->text[field->index], text);
    case REPORT_FORM_GROUP:
        return put_text(row->group[field->index] ? row->group[field->index] : "", text);
    case REPORT_FORM_CURRENCY:
        return put_text(report_terms_price(terms) && terms->currency ? terms->currency : "", text);
    case REPORT_FORM_JOB_ID:
    case REPORT_FORM_JOB_ID_RAW:
        return put_id(row, field->form == REPORT_FORM_JOB_ID_RAW, text);
    case REPORT_FORM_STATE:
        return put_text(state_of(row), text);
    case REPORT_FORM_EXIT:
        return put_exit(row, text);
    case REPORT_FORM_START:
        return sacct_time_format(row->start, text, REPORT_NUMBER_MAX);
    case REPORT_FORM_END:
        return sacct_time_format(row->end, text, REPORT_NUMBER_MAX);
    case REPORT_FORM_RECORDS:
        return put(text, "%u", row->records);
    case REPORT_FORM_METERED:
        return put_metered(row, text);
    default:
        return SIZE_MAX;
    }
}

static bool is_in_terms(enum report_form form)
{
    return form == REPORT_FORM_COST || form == REPORT_FORM_CO2;
}

size_t report_format_cell(const struct report_row *row, const struct report_field *field,
                          const struct report_terms *terms, char text[REPORT_CELL_MAX])
{
    size_t length;

    text[0] = '\0';
    length = put_word(row, field, terms, text);
    if (length != SIZE_MAX)
        return length;
    if (is_in_terms(field->form))
        return put_terms(row, field->form, terms, text);
    if (field->form == REPORT_FORM_ENERGY)
        return put_energy(row, &row->energy[field->index], terms->unit, text);
    if (field->form == REPORT_FORM_ENERGY_RAW)
        return put_joules(&row->energy[field->index], text);
    return put_human(row, field, number_of(row, field), text);
}

#define SIXTH 1e6
#define EXACT 9e15 /* whole numbers below it have no rounding */
#define SMALL 1e-3 /* what is smaller has a power of ten */

/* A figure as a program reads it: whole numbers, and what six digits behind the point tell without
 * rounding, have all their digits; others twelve that count. */
static size_t put_raw(double value, char *text)
{
    double sixths;
    size_t length;

    if (!isfinite(value))
        return 0;
    if (fabs(value) < 1e15 && value == (double)(int64_t)value)
        return put_whole((int64_t)value, text);
    sixths = nearbyint(fabs(value) * SIXTH);
    if (fabs(value) < SMALL || !(sixths < EXACT) || sixths / SIXTH != fabs(value))
        return put(text, "%.12g", value);
    length = put_fixed(value, 6, "", text);
    while (text[length - 1] == '0')
        text[--length] = '\0';
    return length;
}

size_t report_format_raw(const struct report_row *row, const struct report_field *field,
                         const struct report_terms *terms, char text[REPORT_CELL_MAX])
{
    size_t length;

    text[0] = '\0';
    if (field->form == REPORT_FORM_METERED)
        return put(text, "%u", row->energy[REPORT_ENERGY].metered);
    length = put_word(row, field, terms, text);
    if (length != SIZE_MAX)
        return length;
    if (field->form == REPORT_FORM_HOURS)
        return put_raw(number_of(row, field) / 3600, text);
    if (field->form == REPORT_FORM_ENERGY || field->form == REPORT_FORM_ENERGY_RAW)
        return put_joules(&row->energy[field->index], text);
    return put_raw(number_of(row, field), text);
}

const char *report_format_type(const struct report_field *field)
{
    switch (field->form) {
    case REPORT_FORM_TEXT:
    case REPORT_FORM_GROUP:
    case REPORT_FORM_CURRENCY:
    case REPORT_FORM_JOB_ID:
    case REPORT_FORM_JOB_ID_RAW:
    case REPORT_FORM_STATE:
    case REPORT_FORM_EXIT:
        return "string";
    case REPORT_FORM_START:
    case REPORT_FORM_END:
    case REPORT_FORM_RECORDS:
    case REPORT_FORM_METERED:
    case REPORT_FORM_WHOLE:
        return "integer";
    default:
        return "number";
    }
}

struct json_object *report_format_json(const struct report_row *row,
                                       const struct report_field *field,
                                       const struct report_terms *terms)
{
    char text[REPORT_CELL_MAX];
    size_t length;

    if (field->form == REPORT_FORM_START || field->form == REPORT_FORM_END) {
        int64_t at = field->form == REPORT_FORM_START ? row->start : row->end;

        return at > 0 ? json_object_new_int64(at) : NULL;
    }
    if (field->form == REPORT_FORM_METERED)
        return json_object_new_int64(row->energy[REPORT_ENERGY].metered);
    if (field->form == REPORT_FORM_RECORDS)
        return json_object_new_int64(row->records);
    length = put_word(row, field, terms, text);
    if (length != SIZE_MAX)
        return length ? json_object_new_string_len(text, (int)length) : NULL;
    if (report_format_raw(row, field, terms, text) == 0)
        return NULL;
    if (field->form == REPORT_FORM_ENERGY || field->form == REPORT_FORM_ENERGY_RAW)
        return json_object_new_double_s(report_energy_j(&row->energy[field->index]), text);
    return strpbrk(text, ".e") ? json_object_new_double_s(strtod(text, NULL), text)
                               : json_object_new_int64(strtoll(text, NULL, 10));
}

#define MANY_KWH 9999.5 /* of which four digits would not do */

/* "(0.3EUR a kWh)"; by the time it is a mean. */
static void put_of_kwh(FILE *out, double of_kwh, const char *unit, const struct tariff *tariff)
{
    bool mean = tariff && tariff->n;

    fprintf(out, mean ? " (%.4g%s a kWh on average)" : " (%g%s a kWh)", of_kwh, unit);
}

void report_format_terms(FILE *out, const struct report_row *row, const struct report_terms *terms)
{
    char text[REPORT_CELL_MAX];
    double kwh = kwh_of(row);

    if (isnan(kwh) || (!report_terms_price(terms) && !report_terms_co2(terms)))
        return;
    put_at_least(row, row->energy[REPORT_ENERGY].metered, text);
    fprintf(out, kwh < MANY_KWH ? "%s%.4gkWh" : "%s%.4gMWh", text,
            kwh < MANY_KWH ? kwh : kwh / 1000);
    if (put_terms(row, REPORT_FORM_COST, terms, text)) {
        fprintf(out, ", %s", text);
        put_of_kwh(out, row->number[REPORT_COST] / kwh, terms->currency ? terms->currency : "",
                   terms->tariff);
    }
    if (put_terms(row, REPORT_FORM_CO2, terms, text)) {
        fprintf(out, ", %s of CO2", text);
        put_of_kwh(out, row->number[REPORT_CO2] / kwh, "g", terms->co2);
    }
    fputc('\n', out);
}
