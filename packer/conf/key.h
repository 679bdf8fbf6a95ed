/* SPDX-License-Identifier: GPL-2.0-or-later */
/* key - the table of berth.conf's keys, for the files of this room. A new key is a row of keys.c
 * and a field of struct conf. */
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

struct conf_key {
    const char *name;
    enum conf_when when;
    const char *initial; /* the default, as a file would have it */
    enum conf_type type;
    const char *unit;        /* for people; "" none */
    double min, max;         /* of NUMBER, COUNT and TIME (in ms) */
    const char *const *word; /* of WORDS and CHOICE, NULL at its end */
    size_t offset, size;     /* of the field in struct conf */
    const char *help;
};

#define CONF_KEYS_MAX 128

extern const struct conf_key conf_key[]; /* its end has no name */

/* Writes the value of a key as the file would have it. */
void conf_format(const struct conf *conf, const struct conf_key *key, char *text, size_t size);

/* Writes the words of a key, "a, b, c". */
void conf_format_words(const struct conf_key *key, char *text, size_t size);

#endif
