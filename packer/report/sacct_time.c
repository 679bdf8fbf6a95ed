/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/report/sacct_time.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

struct said {
    struct tm at; /* what the text has said so far; hour, month, year -1: not that */
    struct tm now;
    int64_t now_s;
};

static bool take_word(const char **text, const char *word)
{
    size_t length = strlen(word);

    if (strncasecmp(*text, word, length) != 0)
        return false;
    *text += length;
    return true;
}

/* At least `least` and at most `most` digits, in [low, high]. */
static bool take_number(const char **text, int least, int most, int low, int high, int *out)
{
    int digits = 0, value = 0;

    for (; digits < most && isdigit((unsigned char)**text); digits++)
        value = value * 10 + *(*text)++ - '0';
    *out = value;
    return digits >= least && value >= low && value <= high;
}

static bool take_char(const char **text, const char *set)
{
    if (!**text || !strchr(set, **text))
        return false;
    (*text)++;
    return true;
}

static bool take_half(const char **text, int *hour)
{
    while (isspace((unsigned char)**text))
        (*text)++;
    if (take_word(text, "pm"))
        *hour = *hour == 12 ? 12 : *hour + 12;
    else if (take_word(text, "am"))
        return *hour <= 12 && (*hour %= 12, true);
    return *hour < 24;
}

/* HH:MM[:SS] [AM|PM] */
static bool take_clock(const char **text, struct said *said)
{
    said->at.tm_sec = 0;
    return take_number(text, 1, 2, 0, 23, &said->at.tm_hour) && take_char(text, ":") &&
           take_number(text, 2, 2, 0, 59, &said->at.tm_min) &&
           (!take_char(text, ":") || take_number(text, 2, 2, 0, 59, &said->at.tm_sec)) &&
           take_half(text, &said->at.tm_hour);
}

/* YYYY-MM-DD, or MMDD[YY] with an optional "/" or "." in between. */
static bool take_date(const char **text, struct said *said)
{
    bool iso = strspn(*text, "0123456789") == 4 && (*text)[4] == '-' && strchr(*text + 5, '-');
    int year = -1;

    if (iso && (!take_number(text, 4, 4, 1900, 9999, &year) || !take_char(text, "-")))
        return false;
    if (!take_number(text, 1, 2, 1, 12, &said->at.tm_mon))
        return false;
    if (iso && !take_char(text, "-"))
        return false;
    if (!iso)
        take_char(text, "/.");
    if (!take_number(text, 1, 2, 1, 31, &said->at.tm_mday))
        return false;
    if (!iso && (take_char(text, "/."), isdigit((unsigned char)**text))) {
        if (!take_number(text, 2, 2, 0, 99, &year))
            return false;
        year += 2000;
    }
    said->at.tm_mon--;
    said->at.tm_year = year < 0 ? -1 : year - 1900;
    return true;
}

static void say_day(struct said *said, const struct tm *day)
{
    said->at.tm_year = day->tm_year;
    said->at.tm_mon = day->tm_mon;
    said->at.tm_mday = day->tm_mday;
}

/* So many seconds after now, its clock with it where `whole`, else its day alone. */
static bool say_later(struct said *said, int64_t delta_s, bool whole)
{
    time_t at;
    struct tm day;

    if (__builtin_add_overflow(said->now_s, delta_s, &at) || !localtime_r(&at, &day))
        return false;
    if (!whole) {
        say_day(said, &day);
        return true;
    }
    said->at = day; /* with its tm_isdst: in autumn an hour comes twice */
    return true;
}

/* What follows "now": nothing, or a signed count and its unit. */
static bool take_delta(const char **text, struct said *said)
{
    static const struct {
        const char *name;
        int64_t seconds;
    } unit[] = {{"seconds", 1},    {"second", 1},   {"minutes", 60}, {"minute", 60},
                {"hours", 3600},   {"hour", 3600},  {"days", 86400}, {"day", 86400},
                {"weeks", 604800}, {"week", 604800}};
    bool back;
    int64_t delta;
    char *end;

    *text += strspn(*text, " \t");
    if (!**text)
        return say_later(said, 0, true);
    back = **text == '-';
    if (!take_char(text, "+-"))
        return false;
    *text += strspn(*text, " \t");
    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    delta = strtoll(*text, &end, 10);
    if (errno)
        return false;
    *text = end + strspn(end, " \t");
    for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++)
        if (take_word(text, unit[i].name)) {
            if (__builtin_mul_overflow(delta, unit[i].seconds, &delta))
                return false;
            break;
        }
    return !**text && say_later(said, back ? -delta : delta, true);
}

static bool take_named_hour(const char **text, struct said *said)
{
    bool noon = take_word(text, "noon");

    if (!noon && !take_word(text, "midnight"))
        return false;
    said->at.tm_hour = noon ? 12 : 0;
    said->at.tm_min = said->at.tm_sec = 0;
    return true;
}

static bool take_part(const char **text, struct said *said)
{
    if (take_word(text, "today"))
        return say_later(said, 0, false);
    if (take_word(text, "tomorrow"))
        return say_later(said, 86400, false);
    if (take_word(text, "now"))
        return take_delta(text, said);
    if (take_named_hour(text, said))
        return true;
    if (!isdigit((unsigned char)**text))
        return false;
    return (*text)[1] == ':' || (isdigit((unsigned char)(*text)[1]) && (*text)[2] == ':')
               ? take_clock(text, said)
               : take_date(text, said);
}

/* The point in time that was said, or that sacct would take for it. No month has a 30th of
 * February: mktime() would take another day. */
static bool conclude(struct said *said, int64_t *at)
{
    struct tm *tm = &said->at;
    int day;

    if (tm->tm_hour < 0 && tm->tm_mon < 0)
        return false;
    if (tm->tm_hour < 0)
        tm->tm_hour = tm->tm_min = tm->tm_sec = 0;
    if (tm->tm_mon < 0)
        say_day(said, &said->now);
    if (tm->tm_year < 0)
        tm->tm_year = said->now.tm_year - (tm->tm_mon > said->now.tm_mon);
    day = tm->tm_mday;
    *at = mktime(tm);
    return *at != -1 && tm->tm_mday == day;
}

/* "uts1700000000": unix seconds, from 1000000 on as with Slurm. */
static bool read_uts(const char *text, int64_t *at)
{
    char *end;
    long long value;

    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    value = strtoll(text, &end, 10);
    *at = value;
    return errno == 0 && *end == '\0' && value >= 1000000;
}

static bool read_said(const char *text, int64_t now, int64_t *at)
{
    struct said said = {.at = {.tm_hour = -1, .tm_mon = -1, .tm_year = -1, .tm_isdst = -1},
                        .now_s = now};
    time_t now_t = (time_t)now;

    if (take_word(&text, "uts"))
        return read_uts(text, at);
    if (!localtime_r(&now_t, &said.now))
        return false;
    for (;;) {
        text += strspn(text, " \t-");
        if (!*text)
            return conclude(&said, at);
        if (*text == 'T' && isdigit((unsigned char)text[1]))
            text++;
        if (!take_part(&text, &said))
            return false;
    }
}

int sacct_time_parse(const char *text, int64_t now, int64_t *at, struct berth_error *err)
{
    int64_t result;

    if (!read_said(text, now, &result))
        return berth_error_set(err,
                               "a time as sacct takes it expected (2026-11-21T08:00, 11/21, 8:00, "
                               "today, now-2hours, ..), not '%.100s'",
                               text);
    *at = result;
    return 0;
}

int64_t sacct_time_midnight(int64_t at)
{
    time_t seconds = (time_t)at;
    struct tm day;

    if (!localtime_r(&seconds, &day))
        return at;
    day.tm_hour = day.tm_min = day.tm_sec = 0;
    day.tm_isdst = -1;
    return mktime(&day);
}

size_t sacct_time_format(int64_t at, char *text, size_t size)
{
    time_t seconds = (time_t)at;
    struct tm tm;

    text[0] = '\0';
    if (at <= 0 || !localtime_r(&seconds, &tm))
        return 0;
    return strftime(text, size, "%Y-%m-%dT%H:%M:%S", &tm);
}
