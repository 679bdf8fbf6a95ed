/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf - see conf.h: reading the file, and taking over what was read again. */
#include "packer/conf/conf.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "packer/base/ini_file.h"
#include "packer/base/nearest.h"
#include "packer/conf/key.h"

/* Bytes that conf.older keeps for its end, " and 80 more". */
#define OLDER_END 16

void conf_init(struct conf *conf)
{
    memset(conf, 0, sizeof(*conf));
    for (const struct conf_key *key = conf_key; key->name; key++)
        conf_set(conf, key, key->initial, NULL);
}

/* ---- the file ---- */

struct reading {
    struct conf conf;             /* what is read, handed over only when all is well */
    unsigned seen[CONF_KEYS_MAX]; /* the line where each key was set; 0 not yet */
    unsigned untold;              /* keys of older versions that conf.older has no room for */
};

static bool own_key(const struct conf_key *key)
{
    return !conf_section[key->section].list;
}

/* Returns the row of an entry of a list, or where `section` is CONF_SECTIONS of a key of its own;
 * NULL: there is none. */
static const struct conf_key *find_key(enum conf_section_id section, const char *name)
{
    for (const struct conf_key *key = conf_key; key->name; key++)
        if ((section == CONF_SECTIONS ? own_key(key) : key->section == section) &&
            strcmp(key->name, name) == 0)
            return key;
    return NULL;
}

/* Returns the row of what was a key of its own in older versions, or NULL. */
static const struct conf_key *find_older(const char *name)
{
    for (const struct conf_renamed *row = conf_renamed; row->old; row++)
        if (strcmp(row->old, name) == 0)
            return find_key(row->section, row->name);
    return find_key(CONF_TUNE, name);
}

/* Returns the section whose list has that name; CONF_SECTIONS: none. */
static enum conf_section_id find_list(const char *name)
{
    enum conf_section_id section = 0;

    while (section < CONF_SECTIONS &&
           !(conf_section[section].list && strcmp(conf_section[section].list, name) == 0))
        section++;
    return section;
}

/* Refuses a key, or an entry of a section's list. */
static int refuse_key(enum conf_section_id section, const char *name, struct berth_error *err)
{
    struct nearest nearest = nearest_begin(name);
    char meant[NEAREST_SAY_MAX];

    for (const struct conf_key *key = conf_key; key->name; key++)
        if (section == CONF_SECTIONS || key->section == section)
            nearest_try(&nearest, key->name);
    for (size_t i = 0; section == CONF_SECTIONS && i < CONF_SECTIONS; i++)
        if (conf_section[i].list)
            nearest_try(&nearest, conf_section[i].list);
    return berth_error_set(err, "unknown %s '%.64s'%s (berth.conf(5) lists them)",
                           section == CONF_SECTIONS ? "key" : conf_section[section].list, name,
                           nearest_say(&nearest, meant));
}

/* What was read until now has to fit together. */
static int check_rules(const struct conf *conf, struct berth_error *err)
{
    if (conf->rcr_saturated <= 0 || conf->rcr_idle < conf->rcr_saturated)
        return 0;
    return berth_error_set(err, "rcr_idle is %g, and has to be below rcr_saturated, %g",
                           conf->rcr_idle, conf->rcr_saturated);
}

static int take_value(struct reading *reading, const struct conf_key *key, const char *value,
                      unsigned line, struct berth_error *err)
{
    unsigned *seen = &reading->seen[key - conf_key];

    if (*seen)
        return berth_error_set(err, "%s: set before, in line %u", key->name, *seen);
    *seen = line;
    if (conf_set(&reading->conf, key, value, err) < 0)
        return -1;
    return check_rules(&reading->conf, err);
}

/* ---- lists ---- */

/* Cuts the first entry off a list. A comma ends it where the next piece has a '=', and is part of
 * its value elsewhere. */
static char *cut_entry(char **list)
{
    char *entry = *list, *comma = entry;

    while ((comma = strchr(comma, ',')) && comma[1 + strcspn(comma + 1, "=,")] != '=')
        comma++;
    if (comma)
        *comma++ = '\0';
    *list = comma;
    return entry;
}

static char *trim(char *text)
{
    size_t length;

    text += strspn(text, ", \t");
    length = strlen(text);
    while (length && strchr(", \t", text[length - 1]))
        text[--length] = '\0';
    return text;
}

/* Takes one group for all readers but those that have one of their own. */
static int take_readers(struct reading *reading, const char *group, struct berth_error *err)
{
    if (strcmp(group, "*") == 0)
        return berth_error_set(err, "readers: everybody may read metrics only: metrics=*");
    for (const struct conf_key *key = conf_key; key->name; key++)
        if (key->section == CONF_READERS && !reading->seen[key - conf_key] &&
            conf_set(&reading->conf, key, group, err) < 0)
            return -1;
    return 0;
}

/* Takes NAME=VALUE, which it cuts. */
static int take_entry(struct reading *reading, enum conf_section_id section, char *name,
                      unsigned line, struct berth_error *err)
{
    char *value = strchr(name, '=');
    const struct conf_key *key;

    if (!value && section == CONF_READERS)
        return take_readers(reading, name, err);
    if (!value)
        return berth_error_set(err, "%s: NAME=VALUE expected, not '%.64s'",
                               conf_section[section].list, name);
    *value++ = '\0';
    key = find_key(section, trim(name));
    if (!key)
        return refuse_key(section, name, err);
    return take_value(reading, key, trim(value), line, err);
}

static int take_list(struct reading *reading, enum conf_section_id section,
                     const struct ini_pair *pair, struct berth_error *err)
{
    char copy[512], *next = copy;

    if ((size_t)snprintf(copy, sizeof(copy), "%s", pair->value) >= sizeof(copy))
        return berth_error_set(err, "%s: write it in several lines", pair->name);
    while (next) {
        char *entry = trim(cut_entry(&next));

        if (entry[0] && take_entry(reading, section, entry, pair->line, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- files of older versions ---- */

/* Notes that a key of a line is written otherwise now. */
static void note_older(struct reading *reading, const struct ini_pair *pair, const char *now)
{
    char *note = reading->conf.older;
    size_t used = strlen(note), size = sizeof(reading->conf.older) - OLDER_END;
    int length = snprintf(note + used, used < size ? size - used : 0, "%s%s (line %u) is %s",
                          used ? ", " : "", pair->name, pair->line, now);

    if (!reading->untold && used + (size_t)length < size)
        return;
    note[used] = '\0';
    reading->untold++;
}

static int take_older(struct reading *reading, const struct conf_key *key,
                      const struct ini_pair *pair, struct berth_error *err)
{
    char now[128];

    conf_format_line(key, pair->value, now, sizeof(now));
    note_older(reading, pair, now);
    return take_value(reading, key, pair->value, pair->line, err);
}

static int take_pair(void *arg, const struct ini_pair *pair, struct berth_error *err)
{
    struct reading *reading = arg;
    enum conf_section_id list;
    const struct conf_key *key;

    if (!pair->name || pair->section[0])
        return berth_error_set(err, "section [%s]: berth.conf has no sections", pair->section);
    list = find_list(pair->name);
    if (list != CONF_SECTIONS)
        return take_list(reading, list, pair, err);
    key = find_key(CONF_SECTIONS, pair->name);
    if (key && (key->section != CONF_TEST || reading->conf.for_tests))
        return take_value(reading, key, pair->value, pair->line, err);
    if (key)
        return note_older(reading, pair, "for tests, and has no effect"), 0;
    if ((key = find_older(pair->name)))
        return take_older(reading, key, pair, err);
    return refuse_key(CONF_SECTIONS, pair->name, err);
}

bool conf_settles(const struct conf *conf)
{
    return conf->admin_comment == CONF_ON || conf->tres_energy == CONF_ON;
}

int conf_read(struct conf *conf, const char *path, struct berth_error *err)
{
    struct reading reading = {.conf = *conf};
    int fd = ini_file_open(path, true, err); /* it decides what root does */

    reading.conf.older[0] = '\0';
    if (fd < 0 || ini_file_read(fd, path, "KEY = VALUE", take_pair, &reading, err) < 0)
        return -1;
    *conf = reading.conf;
    if (reading.untold)
        sprintf(conf->older + strlen(conf->older), " and %u more", reading.untold);
    return 0;
}

/* ---- a configuration that was read again ---- */

/* Adds what a file has for the new value to a list of such. */
static void add_change(char *list, size_t size, const struct conf_key *key, const char *value)
{
    size_t used = strlen(list);
    char line[PATH_MAX + 64];

    conf_format_line(key, value[0] ? value : "(empty)", line, sizeof(line));
    snprintf(list + used, size - used, "%s%s", used ? ", " : "", line);
}

void conf_reload(struct conf *now, const struct conf *next, struct conf_changes *changes)
{
    char before[PATH_MAX], after[PATH_MAX];

    *changes = (struct conf_changes){"", ""};
    for (const struct conf_key *key = conf_key; key->name; key++) {
        char *list = key->when == CONF_LIVE ? changes->taken : changes->waiting;

        conf_format(now, key, before, sizeof(before));
        conf_format(next, key, after, sizeof(after));
        if (strcmp(before, after) != 0)
            add_change(list, sizeof(changes->taken), key, after);
        if (key->when == CONF_LIVE)
            memcpy((char *)now + key->offset, (const char *)next + key->offset, key->size);
    }
}
