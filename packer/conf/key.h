/* SPDX-License-Identifier: GPL-2.0-or-later */
/* key - the table of berth.conf's keys, for the files of this room. A new key is a row of keys.c
 * and a field of struct conf. Few are keys of their own: most are entries of a list that is one
 * key, as "tune = window=2s, history=1000". */
#ifndef BERTH_CONF_KEY_H
#define BERTH_CONF_KEY_H

#include <stddef.h>

#include "packer/conf/conf.h"

enum conf_type {
    CONF_TYPE_PATH,
    CONF_TYPE_NAME,
    CONF_TYPE_TEXT,
    CONF_TYPE_ADDRESS, /* of conf/address.h */
    CONF_TYPE_WORDS,
    CONF_TYPE_CHOICE,
    CONF_TYPE_NUMBER,
    CONF_TYPE_COUNT,
    CONF_TYPE_TIME,
    CONF_TYPE_WATTS,
    CONF_TYPE_TARIFF /* of conf/tariff.h */
};

/* Says when a new value is taken over: by the next start, or at SIGHUP. */
enum conf_when { CONF_START, CONF_LIVE };

/* The parts of berth.conf, in the order in which they are printed. */
enum conf_section_id {
    CONF_USERS,
    CONF_GRANT,
    CONF_PLACING,
    CONF_RECORDS,
    CONF_METRICS,
    CONF_READERS,
    CONF_ENERGY,
    CONF_LOG,
    CONF_TUNE,
    CONF_TEST, /* taken only where struct conf says for_tests */
    CONF_SECTIONS
};

struct conf_section {
    const char *title;
    const char *list; /* the key whose entries its rows are; NULL: they are keys of their own */
    const char *help;
};

struct conf_key {
    enum conf_section_id section;
    const char *name; /* unique in its section */
    enum conf_when when;
    const char *initial; /* the default, as a file would have it */
    enum conf_type type;
    const char *unit;        /* for people; "" none */
    double min, max;         /* of NUMBER, COUNT and TIME (in ms) */
    const char *const *word; /* of WORDS and CHOICE, NULL at its end */
    size_t offset, size;     /* of the field in struct conf */
    const char *help;
};

/* A key of older versions, which is an entry of a list now. Entries of tune were keys of the same
 * name, and need no row. */
struct conf_renamed {
    const char *old;
    enum conf_section_id section;
    const char *name;
};

#define CONF_KEYS_MAX 128

extern const struct conf_key conf_key[]; /* its end has no name */
extern const struct conf_section conf_section[CONF_SECTIONS];
extern const struct conf_renamed conf_renamed[]; /* its end has no name */

/* Sets a key's field to a value that a file has. Returns 0, or -1 and err: what is wrong, and what
 * would be right. */
int conf_set(struct conf *conf, const struct conf_key *key, const char *value,
             struct berth_error *err);

/* Writes the value of a key as the file would have it. */
void conf_format(const struct conf *conf, const struct conf_key *key, char *text, size_t size);

/* Writes what a file has for a key and a value: "sweep = 2s" of a key of its own, else
 * "tune = sweep=2s". */
void conf_format_line(const struct conf_key *key, const char *value, char *text, size_t size);

/* Writes the words of a key, "a, b, c". */
void conf_format_words(const struct conf_key *key, char *text, size_t size);

#endif
