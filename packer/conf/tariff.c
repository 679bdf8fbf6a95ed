/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tariff - see tariff.h: a time is cut where an entry may begin or end to hold, which is at its
 * hours and at midnight, and each piece has one figure. */
#include "packer/conf/tariff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define DAY_S 86400
#define ALL_DAYS 0x7fu
#define FIGURE_MOST 1e6

/* ---- reading ---- */

static const char *const day_name[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

/* Reads so many digits. Returns what follows; NULL: they are not there. */
static const char *take_digits(const char *text, int digits, int *number)
{
    *number = 0;
    for (; digits > 0; digits--, text++) {
        if (*text < '0' || *text > '9')
            return NULL;
        *number = *number * 10 + (*text - '0');
    }
    return text;
}

/* "2027-01-01": a day that there is. */
static bool take_date(const char *word, struct tariff_entry *entry)
{
    int year, month, day;
    struct tm tm;

    if (!(word = take_digits(word, 4, &year)) || *word++ != '-' ||
        !(word = take_digits(word, 2, &month)) || *word++ != '-' ||
        !(word = take_digits(word, 2, &day)) || *word)
        return false;
    tm = (struct tm){.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day, .tm_hour = 12};
    if (timegm(&tm) == -1 || tm.tm_mday != day || tm.tm_mon != month - 1)
        return false;
    entry->since = (year * 100 + month) * 100 + day;
    return true;
}

static int day_of(const char *name)
{
    for (int i = 0; i < 7; i++)
        if (strncasecmp(name, day_name[i], 3) == 0)
            return i;
    return -1;
}

/* "mon-fri", "sat". */
static bool take_days(const char *word, struct tariff_entry *entry)
{
    size_t length = strlen(word);
    int first = length == 3 || length == 7 ? day_of(word) : -1;
    int last = length == 7 && word[3] == '-' ? day_of(word + 4) : length == 3 ? first : -1;

    if (first < 0 || last < 0)
        return false;
    entry->days = 0;
    for (int day = first;; day = (day + 1) % 7) {
        entry->days |= 1u << day;
        if (day == last)
            return true;
    }
}

static const char *take_time(const char *text, int *seconds)
{
    int hour, minute;

    if (!(text = take_digits(text, 2, &hour)) || *text++ != ':' ||
        !(text = take_digits(text, 2, &minute)) || minute > 59 || hour * 60 + minute > 24 * 60)
        return NULL;
    *seconds = (hour * 60 + minute) * 60;
    return text;
}

/* "08:00-20:00" */
static bool take_hours(const char *word, struct tariff_entry *entry)
{
    return (word = take_time(word, &entry->from_s)) && *word++ == '-' &&
           (word = take_time(word, &entry->to_s)) && !*word && entry->from_s < DAY_S;
}

static bool take_figure(const char *text, struct tariff_entry *entry)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    entry->figure = strtod(text, &end);
    return *end == '\0' && entry->figure <= FIGURE_MOST;
}

/* "CONDITION/..=FIGURE"; the text is cut into pieces. */
static bool take_entry(char *text, struct tariff_entry *entry)
{
    char *figure = strchr(text, '='), *word, *rest;

    *entry = (struct tariff_entry){.days = ALL_DAYS, .to_s = DAY_S};
    if (!figure || figure == text)
        return false;
    *figure++ = '\0';
    for (word = strtok_r(text, "/", &rest); word; word = strtok_r(NULL, "/", &rest))
        if (!take_date(word, entry) && !take_days(word, entry) && !take_hours(word, entry))
            return false;
    return take_figure(figure, entry);
}

int tariff_parse(struct tariff *tariff, const char *text, struct berth_error *err)
{
    char copy[1024], shown[64], *word, *rest;

    tariff->n = 0;
    if (strlen(text) >= sizeof(copy))
        return berth_error_set(err, "longer than %zu bytes", sizeof(copy) - 1);
    strcpy(copy, text);
    for (word = strtok_r(copy, ", \t", &rest); word; word = strtok_r(NULL, ", \t", &rest)) {
        if (tariff->n == TARIFF_ENTRIES)
            return berth_error_set(err, "more than %d entries", TARIFF_ENTRIES);
        snprintf(shown, sizeof(shown), "%.60s", word);
        if (!take_entry(word, &tariff->entry[tariff->n++]))
            return berth_error_set(err,
                                   "'%s': [DATE/][DAYS/][HOURS]=FIGURE expected, as "
                                   "2027-01-01/mon-fri/08:00-20:00=0.35",
                                   shown);
    }
    return 0;
}

/* ---- the mean ---- */

/* Does the entry hold at this second of the day? What began before midnight belongs to the day on
 * which it began. */
static bool holds(const struct tariff_entry *entry, const struct tm *tm, int second)
{
    int date = ((tm->tm_year + 1900) * 100 + tm->tm_mon + 1) * 100 + tm->tm_mday;
    bool over = entry->to_s <= entry->from_s;
    bool yesterday = over && second < entry->to_s;
    int day = yesterday ? (tm->tm_wday + 6) % 7 : tm->tm_wday;

    if (date < entry->since || !(entry->days & 1u << day))
        return false;
    return over ? yesterday || second >= entry->from_s
                : second >= entry->from_s && second < entry->to_s;
}

/* Returns the next second of the day at which an entry may begin or end to hold. */
static int next_limit(const struct tariff *tariff, int second)
{
    int next = DAY_S;

    for (size_t i = 0; i < tariff->n; i++) {
        const int limit[] = {tariff->entry[i].from_s, tariff->entry[i].to_s};

        for (int k = 0; k < 2; k++)
            if (limit[k] > second && limit[k] < next)
                next = limit[k];
    }
    return next;
}

/* Returns the figure at a time, and how many seconds from then on it stays the same. Hours that a
 * change of the clocks inserts or takes away are looked at one by one. */
static double figure_at(const struct tariff *tariff, double otherwise, int64_t at, int64_t *lasts_s)
{
    time_t time = (time_t)at;
    double figure = otherwise;
    struct tm tm;
    int second, left;

    if (!localtime_r(&time, &tm)) {
        *lasts_s = INT32_MAX;
        return otherwise;
    }
    second = (tm.tm_hour * 60 + tm.tm_min) * 60 + tm.tm_sec;
    if (second >= DAY_S)
        second = DAY_S - 1;
    for (size_t i = 0; i < tariff->n; i++)
        if (holds(&tariff->entry[i], &tm, second))
            figure = tariff->entry[i].figure;
    left = next_limit(tariff, second) - second;
    *lasts_s = left < 3600 - second % 3600 ? left : 3600 - second % 3600;
    return figure;
}

double tariff_mean(const struct tariff *tariff, double otherwise, int64_t from_ms, int64_t to_ms)
{
    double sum = 0;
    int64_t lasts_s;

    if (to_ms <= from_ms)
        return figure_at(tariff, otherwise, from_ms / 1000, &lasts_s);
    for (int64_t at = from_ms, next; at < to_ms; at = next) {
        double figure = figure_at(tariff, otherwise, at / 1000, &lasts_s);

        next = (at / 1000 + lasts_s) * 1000;
        if (next > to_ms)
            next = to_ms;
        sum += figure * (double)(next - at);
    }
    return sum / (double)(to_ms - from_ms);
}
