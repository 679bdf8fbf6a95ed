/* SPDX-License-Identifier: GPL-2.0-or-later */
/* value - what a key of berth.conf is set to: read by its type, refused with what would be right.
 */
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/nearest.h"
#include "packer/conf/address.h"
#include "packer/conf/key.h"
#include "packer/conf/tariff.h"
#include "packer/conf/watts.h"

static int find_word(const char *const *word, const char *text, size_t length)
{
    for (int i = 0; word[i]; i++)
        if (strlen(word[i]) == length && memcmp(word[i], text, length) == 0)
            return i;
    return -1;
}

static int refuse_word(const struct conf_key *key, const char *text, size_t length,
                       struct berth_error *err)
{
    char list[256], word[65], meant[NEAREST_SAY_MAX];
    struct nearest nearest;

    snprintf(word, sizeof(word), "%.*s", (int)(length < 64 ? length : 64), text);
    nearest = nearest_begin(word);
    for (size_t i = 0; key->word[i]; i++)
        nearest_try(&nearest, key->word[i]);
    conf_format_words(key, list, sizeof(list));
    return berth_error_set(err, "%s: '%s' is none of: %s%s", key->name, word, list,
                           nearest_say(&nearest, meant));
}

static bool is_name(const char *value)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

    return value[0] && value[strspn(value, letters)] == '\0';
}

/* ---- one setter for each shape of value: 0, or -1 and err without FILE:LINE ---- */

static int set_text(const struct conf_key *key, char *field, const char *value,
                    struct berth_error *err)
{
    if (key->type == CONF_TYPE_PATH && value[0] != '/')
        return berth_error_set(err, "%s: an absolute path expected, not '%s'", key->name, value);
    if (key->type == CONF_TYPE_NAME && !is_name(value))
        return berth_error_set(err, "%s: letters, digits, '_' and '-' expected, not '%s'",
                               key->name, value);
    if (strchr(value, '#') || value[0] == ';')
        return berth_error_set(err, "%s: a comment stands on a line of its own", key->name);
    if (strlen(value) >= key->size)
        return berth_error_set(err, "%s: longer than %zu bytes", key->name, key->size - 1);
    memcpy(field, value, strlen(value) + 1);
    return 0;
}

/* A text that another function parses when it is used. */
static int set_parsed(const struct conf_key *key, char *field, const char *value,
                      struct berth_error *err)
{
    struct metrics_address address;
    struct energy_watts watts;
    struct tariff tariff;
    struct berth_error why;
    int rc;

    if (key->type == CONF_TYPE_ADDRESS)
        rc = metrics_address(value, &address, &why);
    else if (key->type == CONF_TYPE_TARIFF)
        rc = tariff_parse(&tariff, value, &why);
    else
        rc = value[0] ? energy_watts_parse(&watts, value, &why) : 0;
    if (rc < 0)
        return berth_error_set(err, "%s: %s", key->name, why.text);
    return set_text(key, field, value, err);
}

/* Each word must be known, where the key has a list of them; ours is kept without its blanks. */
static int set_words(const struct conf_key *key, char *field, const char *value,
                     struct berth_error *err)
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

static int set_choice(const struct conf_key *key, void *field, const char *value,
                      struct berth_error *err)
{
    int word = find_word(key->word, value, strlen(value));

    if (word < 0)
        return refuse_word(key, value, strlen(value), err);
    *(unsigned *)field = (unsigned)word;
    return 0;
}

/* Milliseconds in one of a unit; 0 where it is no unit of the key. */
static double unit_scale(const struct conf_key *key, const char *unit)
{
    if (key->type != CONF_TYPE_TIME)
        return *unit ? 0 : 1;
    return strcmp(unit, "ms") == 0 ? 1 : strcmp(unit, "s") == 0 ? 1000 : 0;
}

static int set_number(const struct conf_key *key, void *field, const char *value,
                      struct berth_error *err)
{
    char *end;
    double number = strtod(value, &end), scale = unit_scale(key, end + strspn(end, " "));
    bool whole = key->type != CONF_TYPE_NUMBER;

    if (end == value || !isdigit((unsigned char)value[0]))
        return berth_error_set(err, "%s: a number expected, not '%s' (%.0f to %.0f%s)", key->name,
                               value, key->min, key->max, key->type == CONF_TYPE_TIME ? " ms" : "");
    if (scale == 0)
        return berth_error_set(err, "%s: '%s' has a wrong unit%s", key->name, value,
                               key->type == CONF_TYPE_TIME ? " (ms or s expected, as 200ms or 5s)"
                                                           : " (a bare number expected)");
    number *= scale;
    if (!(number >= key->min && number <= key->max))
        return berth_error_set(err, "%s: '%s' is not between %.0f and %.0f%s", key->name, value,
                               key->min, key->max, key->type == CONF_TYPE_TIME ? " ms" : "");
    if (whole && floor(number) != number)
        return berth_error_set(err, "%s: '%s' is no whole number%s", key->name, value,
                               key->type == CONF_TYPE_TIME ? " of ms" : "");
    if (whole)
        *(uint64_t *)field = (uint64_t)number;
    else
        *(double *)field = number;
    return 0;
}

/* Can a list have that value? A comma at its end, or before a piece with a '=', would be taken for
 * one between two entries; the blanks between words become commas. */
static bool list_holds(const struct conf_key *key, const char *value)
{
    const char *comma = strchr(value, ',');

    if (value[0] == ',' || (value[0] && value[strlen(value) - 1] == ','))
        return false;
    if (key->type == CONF_TYPE_WORDS)
        return !strchr(value, '=');
    while (comma && comma[1 + strcspn(comma + 1, "=,")] != '=')
        comma = strchr(comma + 1, ',');
    return !comma;
}

int conf_set(struct conf *conf, const struct conf_key *key, const char *value,
             struct berth_error *err)
{
    void *field = (char *)conf + key->offset;

    if (conf_section[key->section].list && !list_holds(key, value))
        return berth_error_set(err,
                               "%s: '%.64s': a comma stands between values, and no '=' in them",
                               key->name, value);
    switch (key->type) {
    case CONF_TYPE_PATH:
    case CONF_TYPE_NAME:
    case CONF_TYPE_TEXT:
        return set_text(key, field, value, err);
    case CONF_TYPE_ADDRESS:
    case CONF_TYPE_WATTS:
    case CONF_TYPE_TARIFF:
        return set_parsed(key, field, value, err);
    case CONF_TYPE_WORDS:
        return set_words(key, field, value, err);
    case CONF_TYPE_CHOICE:
        return set_choice(key, field, value, err);
    default:
        return set_number(key, field, value, err);
    }
}
